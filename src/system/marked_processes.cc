#include "system/marked_processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "base/strings.h"
#include "base/unique_fd.h"
#include "system/file.h"

namespace cofferdam::system {
namespace {

constexpr std::size_t kEnvironmentBytes = std::size_t{4} << 20;

bool is_marked(int proc, const std::string& process, const std::string& variable) {
  const UniqueFd file(::openat(proc, (process + "/environ").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return false;
  const auto environment = read_up_to(file.get(), kEnvironmentBytes);
  if (!environment) return false;
  for (const std::string_view entry : split(*environment, '\0')) {
    if (entry == variable) return true;
  }
  return false;
}

}  // namespace

std::vector<pid_t> marked_processes(const std::string& variable) {
  std::vector<pid_t> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  if (!proc) return found;
  while (const dirent* const entry = ::readdir(proc.get())) {
    const std::optional<std::uint64_t> number = parse_decimal(entry->d_name);
    if (!number || static_cast<pid_t>(*number) == ::getpid()) continue;
    if (is_marked(::dirfd(proc.get()), entry->d_name, variable)) found.push_back(static_cast<pid_t>(*number));
  }
  return found;
}

std::size_t signal_marked(const std::string& variable, int number) {
  const std::vector<pid_t> found = marked_processes(variable);
  for (const pid_t process : found) ::kill(process, number);
  return found.size();
}

bool kill_marked(const std::string& variable) {
  constexpr int kRounds = 100;
  constexpr std::chrono::milliseconds kPause{10};
  for (int round = 0; round < kRounds; ++round) {
    if (signal_marked(variable, SIGKILL) == 0) return true;
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

}  // namespace cofferdam::system
