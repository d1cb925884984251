#include "git/repository_view.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/strings.h"
#include "git/files.h"
#include "git/portable_config.h"
#include "system/file.h"

namespace cofferdam::git {
namespace {

constexpr std::uint64_t kIndexBytes = std::uint64_t{2} << 30;
constexpr std::size_t kShallowBytes = std::size_t{16} << 20;
constexpr std::size_t kRulesBytes = std::size_t{1} << 20;
constexpr std::string_view kSharedIndex = "sharedindex.";

Status make_directory(int root, const std::string& path, unsigned mode = 0700) {
  if (::mkdirat(root, path.c_str(), mode) != 0 && errno != EEXIST) return Error::from_errno(errno, "make " + path);
  return {};
}

Status make_link(int root, const std::string& target, const std::string& path) {
  if (::symlinkat(target.c_str(), root, path.c_str()) != 0) return Error::from_errno(errno, "link " + path);
  return {};
}

// What git must know to read the repository right, and nothing that makes it do more.
std::string view_config(const Layout& layout) {
  std::vector<ConfigSetting> settings = portable_settings(layout.config);
  std::erase_if(settings, [](const ConfigSetting& setting) {
    return setting.section == "user" || setting.section == "remote" || setting.section == "branch";
  });
  return render_config(settings);
}

std::string head_text(const Head& head) {
  return (head.branch.empty() ? head.id : "ref: " + head.branch) + "\n";
}

bool keeps_logs(const Layout& layout) {
  const std::string* const value = config_value(layout.config, "core", "logallrefupdates");
  return value == nullptr ? layout.kind != Layout::Kind::kBare : !equals_ignoring_case(*value, "false");
}

}  // namespace

Result<RepositoryView> RepositoryView::copy_of(const Layout& layout, const std::string& scratch) {
  ASSIGN_OR_RETURN(auto directory, system::TemporaryDirectory::create(scratch, "git-view-"));
  RepositoryView view(layout, std::move(directory), false);
  ASSIGN_OR_RETURN(const UniqueFd git_dir, system::open_directory(layout.git_dir));
  ASSIGN_OR_RETURN(const UniqueFd common_dir, system::open_directory(layout.common_dir));
  RETURN_IF_ERROR(view.write_common(git_dir.get(), common_dir.get()));
  RETURN_IF_ERROR(view.add_copies());
  return view;
}

Result<RepositoryView> RepositoryView::in_place(const Layout& layout, const std::string& scratch) {
  ASSIGN_OR_RETURN(auto directory, system::TemporaryDirectory::create(scratch, "git-view-"));
  RepositoryView view(layout, std::move(directory), true);
  ASSIGN_OR_RETURN(const UniqueFd git_dir, system::open_directory(layout.git_dir));
  ASSIGN_OR_RETURN(const UniqueFd common_dir, system::open_directory(layout.common_dir));
  RETURN_IF_ERROR(view.write_common(git_dir.get(), common_dir.get()));
  RETURN_IF_ERROR(view.link_in_place(git_dir.get(), common_dir.get()));
  return view;
}

Status RepositoryView::write_common(int git_dir, int common_dir) const {
  RETURN_IF_ERROR(write_new(fd(), "config", view_config(layout_)));
  RETURN_IF_ERROR(write_new(fd(), "HEAD", head_text(layout_.head)));
  ASSIGN_OR_RETURN(const auto shallow, read_optional(common_dir, "shallow", kShallowBytes));
  if (shallow) RETURN_IF_ERROR(write_new(fd(), "shallow", *shallow));
  // Rules about names; a driver that an attribute asks for has no program here.
  RETURN_IF_ERROR(make_directory(fd(), "info"));
  for (const char* name : {"info/exclude", "info/attributes"}) {
    RETURN_IF_ERROR(copy_optional(common_dir, name, fd(), name, kRulesBytes));
  }
  RETURN_IF_ERROR(copy_index(git_dir, fd()));
  return {};
}

Status RepositoryView::add_copies() const {
  for (const char* name : {"objects", "objects/info", "objects/pack", "refs"}) {
    RETURN_IF_ERROR(make_directory(fd(), name));
  }
  RETURN_IF_ERROR(write_new(fd(), "objects/info/alternates", join(object_directories(layout_), "\n") + "\n"));
  return set_refs(layout_.refs);
}

Status RepositoryView::link_in_place(int git_dir, int common_dir) const {
  for (const char* name : {"objects", "refs", "packed-refs"}) {
    RETURN_IF_ERROR(make_link(fd(), layout_.common_dir + "/" + name, name));
  }
  if (!keeps_logs(layout_)) return {};
  // git makes missing directories, but not behind a link that leads nowhere.
  constexpr unsigned kUsualMode = 0777;
  RETURN_IF_ERROR(make_directory(common_dir, "logs", kUsualMode));
  RETURN_IF_ERROR(make_directory(common_dir, "logs/refs", kUsualMode));
  RETURN_IF_ERROR(make_directory(git_dir, "logs", kUsualMode));
  RETURN_IF_ERROR(make_directory(fd(), "logs"));
  RETURN_IF_ERROR(make_link(fd(), layout_.git_dir + "/logs/HEAD", "logs/HEAD"));
  return make_link(fd(), layout_.common_dir + "/logs/refs", "logs/refs");
}

GitCommand RepositoryView::command(std::vector<std::string> arguments) const {
  GitCommand command{.repository = path(),
                     .arguments = std::move(arguments),
                     .input = {},
                     .readable = layout_.alternates,
                     .writable = {},
                     .writes_repository = true,
                     .environment = paperclip_identity()};
  command.environment.push_back("GIT_DIR=" + path());
  const std::string& common = layout_.common_dir;
  if (in_place_) {
    // Neither hooks nor configuration.
    command.readable.push_back(common + "/packed-refs");
    command.writable = {common + "/objects", common + "/refs", common + "/logs", layout_.git_dir + "/logs"};
  } else {
    command.readable.push_back(common + "/objects");
  }
  return command;
}

Result<std::string> RepositoryView::run(GitProgram& git, std::vector<std::string> arguments) const {
  return run_successfully(git, command(std::move(arguments)));
}

Status RepositoryView::set_refs(const std::vector<Ref>& refs) const {
  return system::replace_file(path() + "/packed-refs", render_packed_refs(refs), 0600);
}

Result<bool> copy_index(int git_dir, int to, const std::string& name) {
  ASSIGN_OR_RETURN(const bool copied, copy_optional(git_dir, "index", to, name, kIndexBytes));
  if (!copied) return false;
  ASSIGN_OR_RETURN(const std::vector<std::string> names, system::names_in(git_dir));
  for (const std::string& shared : names) {
    // Named by its content: one that is there already is the same.
    if (!shared.starts_with(kSharedIndex) || system::status_beneath(to, shared)) continue;
    RETURN_IF_ERROR(copy_optional(git_dir, shared, to, shared, kIndexBytes));
  }
  return true;
}

std::vector<std::string> object_directories(const Layout& layout) {
  std::vector<std::string> out = {layout.common_dir + "/objects"};
  out.insert(out.end(), layout.alternates.begin(), layout.alternates.end());
  return out;
}

std::vector<std::string> paperclip_identity() {
  return {"GIT_AUTHOR_NAME=Paperclip", "GIT_AUTHOR_EMAIL=noreply@paperclip.ing", "GIT_COMMITTER_NAME=Paperclip",
          "GIT_COMMITTER_EMAIL=noreply@paperclip.ing"};
}

}  // namespace cofferdam::git
