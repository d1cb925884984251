#include "control/git_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <cstdint>
#include <string_view>

#include "domain/path.h"

namespace cofferdam::control {

void GitConfigWatch::watch(const std::string& lock_file) {
  lock_file_ = lock_file;
  if (lock_file.empty()) return;
  inotify_ = UniqueFd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  const std::string directory = domain::parent_of(lock_file);
  constexpr std::uint32_t kEvents = IN_CREATE | IN_ONLYDIR;
  if (inotify_) ::inotify_add_watch(inotify_.get(), directory.c_str(), kEvents);
}

bool GitConfigWatch::saw_attempt() const {
  bool out = false;
  if (!inotify_) return out;
  const std::string_view lock_name = domain::name_of(lock_file_);
  alignas(inotify_event) char buffer[16384];
  for (;;) {
    const ssize_t size = ::read(inotify_.get(), buffer, sizeof buffer);
    if (size <= 0) return out;
    for (const char* at = buffer; at < buffer + size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      out = out || (event->len > 0 && lock_name == event->name);
      at += sizeof(inotify_event) + event->len;
    }
  }
}

std::string GitConfigWatch::config() const {
  return lock_file_.substr(0, lock_file_.rfind('.'));
}

}  // namespace cofferdam::control
