#include "checks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "report.h"

namespace cofferdam::init {
namespace {

int open_path(const std::string& path, bool no_links) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_MAGICLINKS;
  if (no_links) how.resolve |= RESOLVE_NO_SYMLINKS;
  return static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how));
}

}  // namespace

void check_mounts(const confinement::init::Specification& spec) {
  for (const auto& check : spec.checks) {
    const int file = open_path(check.path, check.no_links);
    if (file < 0) fail_setup(errno, "examine the mount at " + check.path);
    struct stat status{};
    struct statvfs mounted{};
    if (::fstat(file, &status) != 0 || ::fstatvfs(file, &mounted) != 0) {
      fail_setup(errno, "examine the mount at " + check.path);
    }
    if (status.st_dev != check.device || status.st_ino != check.inode) {
      fail_setup(ESTALE, check.path + " was replaced while the sandbox was being built");
    }
    if (check.read_only && (mounted.f_flag & ST_RDONLY) == 0) {
      fail_setup(EROFS, check.path + " should be read-only and is not");
    }
    ::close(file);
  }
}

}  // namespace cofferdam::init
