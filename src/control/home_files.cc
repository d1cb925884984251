#include "control/home_files.h"

#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>

#include "base/strings.h"
#include "system/file.h"

namespace cofferdam::control {
namespace {

namespace json = boost::json;

constexpr std::size_t kFileBytes = std::size_t{64} << 20;

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

// The members of `changed` that the rest of a dotted path names, as `original` has them.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the path has parts
void restore_member(const json::object* original, json::object& changed, std::span<const std::string_view> path) {
  const auto restore_one = [&](const std::string& name) {
    const json::value* before = original == nullptr ? nullptr : original->if_contains(name);
    if (path.size() == 1) {
      if (before != nullptr) {
        changed[name] = *before;
      } else {
        changed.erase(name);
      }
      return;
    }
    json::value* now = changed.if_contains(name);
    if (now == nullptr || !now->is_object()) return;
    restore_member(before == nullptr ? nullptr : before->if_object(), now->get_object(), path.subspan(1));
  };
  if (path[0] != "*") return restore_one(std::string(path[0]));
  std::vector<std::string> names;
  for (const auto& member : changed) names.emplace_back(member.key());
  for (const std::string& name : names) restore_one(name);
}

}  // namespace

std::optional<std::string> with_original_members(const std::string& original_text, const std::string& changed_text,
                                                 const std::vector<std::string>& members) {
  std::optional<json::object> changed = parse_object(changed_text);
  if (!changed) return std::nullopt;
  const json::object original = parse_object(original_text).value_or(json::object());
  for (const std::string& member : members) {
    const std::vector<std::string_view> path = split(member, '.');
    restore_member(&original, *changed, path);
  }
  return json::serialize(*changed);
}

std::vector<std::string> set_aside(const std::vector<std::string>& paths, const confinement::Identity& user) {
  constexpr const char* kSuffix = ".from-a-sandbox";
  const ActingAs acting(user);
  std::vector<std::string> remarks;
  for (const std::string& path : paths) {
    std::string aside = path + kSuffix;
    bool renamed = ::rename(path.c_str(), aside.c_str()) == 0;
    if (!renamed && errno != ENOENT && errno != ENOTDIR) {
      // The run has taken that name. It cannot know this one.
      aside += "." + std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
      renamed = ::rename(path.c_str(), aside.c_str()) == 0;
    }
    if (renamed) {
      remarks.push_back(path + " was made by the run, and would be obeyed outside: it is " + aside + " now");
    } else if (errno != ENOENT && errno != ENOTDIR) {
      remarks.push_back(
          Error::from_errno(errno, path + " was made by the run, would be obeyed outside, and cannot be renamed")
              .message());
    }
  }
  return remarks;
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

Result<std::string> HomeFiles::bring_home(const std::string& inside_path, const UniqueFd& file) const {
  const ActingAs acting(user_);
  for (std::size_t index = 0; index < files_.size(); ++index) {
    if (files_[index].inside_path != inside_path) continue;
    const std::string& path = files_[index].host_path;
    ASSIGN_OR_RETURN(std::string content, system::read_up_to(file.get(), kFileBytes));
    if (content == contents_[index]) return std::string();
    ASSIGN_OR_RETURN(const std::string now, read_if_there(path));
    if (now != contents_[index])
      return path + " was changed on the host during the run; the run's changes to it are dropped";
    if (const auto& members = files_[index].guarded_members; !members.empty()) {
      auto safe = with_original_members(contents_[index], content, members);
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
