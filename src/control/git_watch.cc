#include "control/git_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <string_view>

#include "domain/path.h"

namespace cofferdam::control {

GitConfigWatch::GitConfigWatch(const std::string& lock_file) : name_(domain::name_of(lock_file)) {
  if (lock_file.empty()) return;
  inotify_ = UniqueFd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  const std::string directory = domain::parent_of(lock_file);
  if (inotify_) ::inotify_add_watch(inotify_.get(), directory.c_str(), IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
}

bool GitConfigWatch::triggered() const {
  if (!inotify_) return false;
  alignas(inotify_event) char buffer[16384];
  for (;;) {
    const ssize_t size = ::read(inotify_.get(), buffer, sizeof buffer);
    if (size <= 0) return false;
    for (const char* at = buffer; at < buffer + size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      if (event->len > 0 && name_ == event->name) return true;
      at += sizeof(inotify_event) + event->len;
    }
  }
}

}  // namespace cofferdam::control
