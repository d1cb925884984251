#include "control/home_files.h"

#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>

#include "system/file.h"

namespace cofferdam::control {
namespace {

namespace json = boost::json;

constexpr std::size_t kFileBytes = std::size_t{64} << 20;
constexpr std::string_view kServers = "mcpServers";

// While it lives, this thread touches files as `user` does.
class ActingAs {
 public:
  explicit ActingAs(const confinement::Identity& user) : active_(user.switch_user) {
    if (!active_) return;
    group_ = ::setfsgid(user.host_gid);
    user_ = ::setfsuid(user.host_uid);
  }
  ActingAs(const ActingAs&) = delete;
  ActingAs& operator=(const ActingAs&) = delete;
  ~ActingAs() {
    if (!active_) return;
    ::setfsuid(static_cast<uid_t>(user_));
    ::setfsgid(static_cast<gid_t>(group_));
  }

 private:
  bool active_;
  int user_ = 0;
  int group_ = 0;
};

Result<std::string> read_if_there(const std::string& path) {
  auto content = system::read_file(path, kFileBytes);
  if (!content && content.error().code() == ErrorCode::kNotFound) return std::string();
  return content;
}

std::optional<json::object> parse_object(const std::string& text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error, {}, {.max_depth = 64});
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

const json::object* object_at(const json::object& holder, std::string_view key) {
  const json::value* value = holder.if_contains(key);
  return value == nullptr ? nullptr : value->if_object();
}

void restore_servers(const json::object* original, json::object& changed) {
  const json::value* servers = original == nullptr ? nullptr : original->if_contains(kServers);
  if (servers != nullptr) {
    changed[kServers] = *servers;
  } else {
    changed.erase(kServers);
  }
}

}  // namespace

std::optional<std::string> with_original_servers(const std::string& original_text, const std::string& changed_text) {
  std::optional<json::object> changed = parse_object(changed_text);
  if (!changed) return std::nullopt;
  const json::object original = parse_object(original_text).value_or(json::object());
  restore_servers(&original, *changed);
  const json::object* original_projects = object_at(original, "projects");
  if (json::value* projects = changed->if_contains("projects"); projects != nullptr && projects->is_object()) {
    for (auto& [name, project] : projects->get_object()) {
      if (!project.is_object()) continue;
      restore_servers(original_projects == nullptr ? nullptr : object_at(*original_projects, name),
                      project.get_object());
    }
  }
  return json::serialize(*changed);
}

Result<HomeFiles> HomeFiles::read(const std::vector<confinement::HomeFile>& files, const confinement::Identity& user) {
  const ActingAs acting(user);
  HomeFiles out;
  out.user_ = user;
  out.files_ = files;
  for (const confinement::HomeFile& file : files) {
    ASSIGN_OR_RETURN(std::string content, read_if_there(file.host_path));
    out.contents_.push_back(std::move(content));
  }
  return out;
}

Result<std::string> HomeFiles::bring_home(const std::string& inside_path, const UniqueFd& file,
                                          bool keep_settings) const {
  const ActingAs acting(user_);
  for (std::size_t index = 0; index < files_.size(); ++index) {
    if (files_[index].inside_path != inside_path) continue;
    const std::string& path = files_[index].host_path;
    ASSIGN_OR_RETURN(std::string content, system::read_up_to(file.get(), kFileBytes));
    if (content == contents_[index]) return std::string();
    ASSIGN_OR_RETURN(const std::string now, read_if_there(path));
    if (now != contents_[index])
      return path + " was changed on the host during the run; the run's changes to it are dropped";
    if (keep_settings) {
      auto safe = with_original_servers(contents_[index], content);
      if (!safe) return path + " is not readable JSON after the run; the run's changes to it are dropped";
      content = std::move(*safe);
    }
    struct stat status{};
    const unsigned mode = ::stat(path.c_str(), &status) == 0 ? status.st_mode & 0777 : 0600;
    RETURN_IF_ERROR(system::replace_file(path, content, mode));
    return std::string();
  }
  return Error(ErrorCode::kInternal, "the sandbox returned a file that nobody asked for: " + inside_path);
}

}  // namespace cofferdam::control
