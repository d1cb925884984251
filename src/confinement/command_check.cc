#include "confinement/command_check.h"

#include <optional>

#include "base/strings.h"
#include "domain/path.h"

namespace cofferdam::confinement {
namespace {

using domain::joined;
using domain::parent_of;

class Checker {
 public:
  Checker(const MountSet& mounts, const HostView& host, const CommandCheckRequest& request)
      : mounts_(mounts), host_(host), request_(request) {}

  CommandCheck check() const {
    bool seen = false;
    for (const std::string& candidate : candidates()) {
      const auto fact = inside(candidate);
      if (!fact) continue;
      if (fact->type == PathFact::Type::kFile && (fact->mode & 0111) != 0) return {.note = shim_note(candidate)};
      seen = true;
    }
    const std::string name = printable(request_.program);
    return {.warning = name + (seen ? ": it cannot be executed" : ": command not found in the sandbox")};
  }

 private:
  std::vector<std::string> candidates() const {
    const std::string& program = request_.program;
    if (program.empty()) return {};
    if (program.starts_with('/')) return {program};
    if (program.contains('/')) return {joined(request_.working_directory, program)};
    std::vector<std::string> out;
    for (const std::string_view directory : split(request_.search_path, ':')) {
      if (directory.starts_with('/')) out.push_back(joined(directory, program));
    }
    return out;
  }

  // What a path names inside; nothing when nothing is seen there.
  std::optional<PathFact> inside(const std::string& candidate) const {
    const auto path = domain::normalized_absolute(candidate);
    const Mount* mount = path ? mounts_.covering(*path) : nullptr;
    if (mount == nullptr) return std::nullopt;
    if (is_text(*mount)) return PathFact{.type = PathFact::Type::kFile, .mode = 0444};
    std::string place = *path;
    if (is_bind(*mount) && mount->source != mount->target) place = mount->source + place.substr(mount->target.size());
    const auto real = host_.real_path(place);
    if (!real) return std::nullopt;
    const bool direct = is_bind(*mount) && domain::is_inside(*real, mount->source);
    if (!direct && !mounts_.shows(*real)) return std::nullopt;
    return is_bind(*mount) || mount->kind == Mount::Kind::kSymlink ? host_.follow(*real) : std::nullopt;
  }

  static bool is_text(const Mount& mount) {
    return mount.kind == Mount::Kind::kData || mount.kind == Mount::Kind::kFile;
  }

  // Version managers (pyenv, asdf, mise, …) put small scripts in a directory `shims`; the programs that those start lie
  // beside that directory, which showing the command alone does not open.
  std::string shim_note(const std::string& path) const {
    const std::string directory = parent_of(path);
    const std::string root = parent_of(directory);
    if (domain::name_of(directory) != "shims" || mounts_.shows(root)) return "";
    return printable(path) + " is a shim: what it starts lies in " + printable(root) +
           ", which the run does not see. --ro " + printable(shell_quoted(root)) + " shows it";
  }

  const MountSet& mounts_;
  const HostView& host_;
  const CommandCheckRequest& request_;
};

}  // namespace

CommandCheck check_command(const MountSet& mounts, const HostView& host, const CommandCheckRequest& request) {
  return Checker(mounts, host, request).check();
}

}  // namespace cofferdam::confinement
