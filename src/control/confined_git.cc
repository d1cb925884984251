#include "control/confined_git.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "confinement/bubblewrap.h"
#include "confinement/linux_host_view.h"
#include "confinement/trusted_program.h"
#include "domain/path.h"
#include "git/hardened_git.h"

namespace cofferdam::control {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view kBubblewrapWords = "bwrap: ";

// /usr, and the directories beside it that are links into it or, on older systems, directories of their own.
Words system_arguments(const confinement::HostView& host) {
  Words out = {"--ro-bind", "/usr", "/usr"};
  for (const char* path : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    const auto fact = host.inspect(path);
    if (!fact) continue;
    if (fact->type == confinement::PathFact::Type::kSymlink) {
      const auto target = host.read_link(path);
      if (target) out.insert(out.end(), {"--symlink", *target, path});
    } else {
      out.insert(out.end(), {"--ro-bind", path, path});
    }
  }
  return out;
}

// Each path with the most that is asked for it or for a directory above; a directory comes before what lies in it.
Words path_arguments(const git::GitCommand& command) {
  Words writable = command.writable;
  if (command.writes_repository) writable.push_back(command.repository);
  std::map<std::string, std::string_view> binds;
  for (const std::string& path : writable) binds.emplace(path, "--bind-try");
  const auto add_readable = [&](const std::string& path) {
    const auto covers = [&](const std::string& directory) { return domain::is_inside(path, directory); };
    if (std::ranges::none_of(writable, covers)) binds.emplace(path, "--ro-bind-try");
  };
  add_readable(command.repository);
  for (const std::string& path : command.readable) add_readable(path);
  Words out;
  for (const auto& [path, bind] : binds) out.insert(out.end(), {std::string(bind), path, path});
  return out;
}

}  // namespace

Result<ConfinedGit> ConfinedGit::create(const confinement::HostView& host) {
  ASSIGN_OR_RETURN(std::string bubblewrap, confinement::find_bubblewrap(host, "", {}));
  ASSIGN_OR_RETURN(std::string program, git::find_git());
  return ConfinedGit(std::move(bubblewrap), std::move(program), system_arguments(host));
}

Result<git::GitOutput> ConfinedGit::run(const git::GitCommand& command) {
  Words words = {bubblewrap_,
                 "--unshare-user",
                 "--unshare-pid",
                 "--unshare-ipc",
                 "--unshare-uts",
                 "--unshare-net",
                 "--unshare-cgroup-try",
                 "--die-with-parent",
                 "--new-session",
                 "--cap-drop",
                 "ALL"};
  const auto add = [&](const Words& more) { words.insert(words.end(), more.begin(), more.end()); };
  add(system_);
  add({"--tmpfs", "/tmp", "--dev", "/dev", "--proc", "/proc"});
  add(path_arguments(command));
  add({"--chdir", command.repository, "--", program_});
  ASSIGN_OR_RETURN(git::GitOutput output, git::run_hardened(std::move(words), command));
  if (output.exit_code == 1 && output.standard_error.starts_with(kBubblewrapWords)) {
    return confinement::explain_bubblewrap_failure(output.standard_error);
  }
  return output;
}

Result<std::unique_ptr<git::GitProgram>> confined_git() {
  ASSIGN_OR_RETURN(const confinement::LinuxHostView host, confinement::LinuxHostView::create());
  ASSIGN_OR_RETURN(ConfinedGit git, ConfinedGit::create(host));
  return std::make_unique<ConfinedGit>(std::move(git));
}

}  // namespace cofferdam::control
