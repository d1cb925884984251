// Notices that something tried to change a Git configuration that the run protects.
#pragma once

#include <string>

#include "base/unique_fd.h"
#include "system/slow_close.h"

namespace cofferdam::control {

// Watches for the lock file that Git makes before it rewrites its configuration. Git then reports only
// "Device or resource busy"; with this the run can say why and which switch allows it.
class GitConfigWatch {
 public:
  GitConfigWatch() = default;
  GitConfigWatch(const GitConfigWatch&) = delete;
  GitConfigWatch& operator=(const GitConfigWatch&) = delete;
  ~GitConfigWatch() { system::close_in_background(std::move(inotify_)); }
  // An empty path watches nothing.
  void watch(const std::string& lock_file);
  // Whether the lock file was made since the last time it was asked.
  bool saw_attempt() const;
  // The configuration that the lock file is for.
  std::string config() const;

 private:
  std::string lock_file_;
  UniqueFd inotify_;
};

}  // namespace cofferdam::control
