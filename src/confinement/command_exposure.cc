#include "confinement/command_exposure.h"

#include <sys/stat.h>

#include "base/ranges.h"
#include "base/strings.h"
#include "domain/path.h"

namespace cofferdam::confinement {
namespace {

using domain::Access;
using domain::joined;
using domain::parent_of;
using Type = PathFact::Type;

constexpr int kMostLinks = 40;        // as the kernel's own bound
constexpr int kMostInterpreters = 4;  // a script whose interpreter is a script …
constexpr std::size_t kFirstLineBytes = 256;

class Exposure {
 public:
  Exposure(MountSet& mounts, const HostView& host, const CommandExposureRequest& request)
      : mounts_(mounts), host_(host), request_(request) {}

  Status expose(const std::string& program, int depth) {
    const auto path = locate(program);
    if (!path) return {};
    ASSIGN_OR_RETURN(const std::string file, follow_links(*path));
    RETURN_IF_ERROR(show_package(file));
    if (depth >= kMostInterpreters) return {};
    const std::string interpreter = interpreter_of(file);
    return interpreter.empty() ? Status() : expose(interpreter, depth + 1);
  }

 private:
  std::optional<std::string> locate(const std::string& program) const {
    if (program.find('/') != std::string::npos) {
      const auto path =
          domain::normalized_absolute(program.starts_with('/') ? program : joined(request_.working_directory, program));
      return path && host_.follow(*path) ? path : std::nullopt;
    }
    for (const std::string_view directory : split(request_.search_path, ':')) {
      if (!directory.starts_with('/')) continue;
      const auto candidate = domain::normalized_absolute(joined(directory, program));
      const auto fact = candidate ? host_.follow(*candidate) : std::nullopt;
      if (fact && fact->type == Type::kFile && (fact->mode & 0111) != 0) return candidate;
    }
    return std::nullopt;
  }

  bool is_closed(const std::string& directory) const {
    if (directory == "/") return true;
    for (const std::string& closed : request_.closed) {
      if (domain::is_inside(closed, directory)) return true;  // it or a parent of it
    }
    return false;
  }

  // Walks the path component by component, recreates every link that is not visible yet and returns the file at
  // the end. The directory in which the program was found is shown whole: programs look for their neighbours.
  Result<std::string> follow_links(const std::string& start) {
    const std::string directory = parent_of(start);
    if (!mounts_.shows(start) && !is_closed(directory) && host_.real_path(directory) == directory) {
      mounts_.add_unless_present(bind_mount(directory, Access::kReadOnly, "the directory of the command"));
    }
    std::string path = start;
    for (int links = 0; links < kMostLinks; ++links) {
      const auto link = first_link(path);
      if (!link) return path;
      if (!mounts_.shows(link->at)) {
        Mount mount;
        mount.kind = Mount::Kind::kSymlink;
        mount.source = link->text;
        mount.target = link->at;
        mount.reason = "leads to the command";
        mounts_.add_unless_present(std::move(mount));
      }
      path = link->rest;
    }
    return Error(ErrorCode::kInvalidArgument, "too many symbolic links from " + start);
  }

  struct Link {
    std::string at;
    std::string text;
    std::string rest;  // the whole path with this link replaced by what it names
  };
  std::optional<Link> first_link(const std::string& path) const {
    std::string prefix;
    const std::vector<std::string_view> parts = domain::components(path);
    for (std::size_t index = 0; index < parts.size(); ++index) {
      prefix += '/';
      prefix += parts[index];
      const auto fact = host_.inspect(prefix);
      if (!fact || fact->type != Type::kSymlink) continue;
      const std::string text = host_.read_link(prefix).value_or("");
      std::string target = text.starts_with('/') ? text : joined(parent_of(prefix), text);
      for (std::size_t rest = index + 1; rest < parts.size(); ++rest) target = joined(target, parts[rest]);
      const auto normalized = domain::normalized_absolute(target);
      if (!normalized) return std::nullopt;
      return Link{.at = prefix, .text = text, .rest = *normalized};
    }
    return std::nullopt;
  }

  // The outermost node_modules above the file, since a package finds what it needs beside itself; else the nearest
  // directory that holds a package.json; both below every closed directory. Else the file's own directory, or the
  // file alone when that directory is closed.
  Status show_package(const std::string& file) {
    if (mounts_.shows(file)) return {};
    std::string shown = is_closed(parent_of(file)) ? file : parent_of(file);
    std::string package;
    std::string modules;
    for (std::string directory = parent_of(file); !is_closed(directory); directory = parent_of(directory)) {
      if (domain::name_of(directory) == "node_modules") modules = directory;
      if (package.empty() && host_.inspect(joined(directory, "package.json"))) package = directory;
    }
    if (!package.empty()) shown = package;
    if (!modules.empty()) shown = modules;
    mounts_.add_unless_present(bind_mount(shown, Access::kReadOnly, "the package of the command"));
    return {};
  }

  // The program that the file's `#!` line names; what follows `env` where that is the interpreter.
  std::string interpreter_of(const std::string& file) const {
    const auto start = host_.read_file(file, kFirstLineBytes);
    if (!start || !start->starts_with("#!")) return "";
    std::vector<std::string_view> words;
    for (const std::string_view word : split(std::string_view(*start).substr(2, start->find('\n') - 2), ' ')) {
      if (!trimmed(word).empty()) words.push_back(trimmed(word));
    }
    if (words.empty()) return "";
    if (domain::name_of(words[0]) != "env") return std::string(words[0]);
    for (std::size_t index = 1; index < words.size(); ++index) {
      if (!words[index].starts_with('-') && words[index].find('=') == std::string_view::npos) {
        return std::string(words[index]);
      }
    }
    return "";
  }

  MountSet& mounts_;
  const HostView& host_;
  const CommandExposureRequest& request_;
};

}  // namespace

Status expose_command(MountSet& mounts, const HostView& host, const CommandExposureRequest& request) {
  return Exposure(mounts, host, request).expose(request.program, 0);
}

}  // namespace cofferdam::confinement
