#include "confinement/system_layout.h"

#include <array>
#include <string_view>

#include "base/strings.h"
#include "domain/path.h"

namespace cofferdam::confinement {
namespace {

using domain::Access;
using domain::FilesystemScope;
using domain::NetworkScope;
using Type = PathFact::Type;

constexpr std::array<std::string_view, 7> kRootEntries = {"/bin",   "/sbin",   "/lib",      "/lib32",
                                                          "/lib64", "/libx32", "/nix/store"};

// Configuration that programs need to start and that says nothing about the host's people or services.
constexpr std::string_view kEtcEntries[] = {
    "alternatives", "ca-certificates", "ssl",         "pki",       "crypto-policies", "ld.so.cache",    "os-release",
    "lsb-release",  "debian_version",  "host.conf",   "gai.conf",  "nsswitch.conf",   "services",       "protocols",
    "localtime",    "timezone",        "locale.conf", "gitconfig", "inputrc",         "profile",        "bash.bashrc",
    "magic",        "mime.types",      "fonts",       "maven",     "openssl",         "default/locale", "npmrc",
};
// Entries whose names carry a version, by their beginning.
constexpr std::string_view kEtcPrefixes[] = {"java-", "php"};
constexpr std::size_t kEtcListed = 4096;
constexpr mode_t kSharedMode = 01777;

std::string passwd(const Identity& identity, const std::string& home, const std::string& shell) {
  std::string out = "root:x:0:0:root:/root:/usr/sbin/nologin\n";
  out += identity.user_name + ":x:" + std::to_string(identity.inside_uid) + ":" + std::to_string(identity.inside_gid) +
         "::" + home + ":" + shell + "\n";
  return out + "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
}

std::string group(const Identity& identity) {
  return "root:x:0:\n" + identity.user_name + ":x:" + std::to_string(identity.inside_gid) + ":\nnogroup:x:65534:\n";
}

constexpr std::string_view kHosts = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n";
// Programs want one to exist; the host's would tell machines apart.
constexpr std::string_view kMachineId = "00000000000000000000000000000000\n";

void add_root_entries(MountSet& mounts, const HostView& host) {
  mounts.add_unless_present(bind_mount("/usr", Access::kReadOnly, "the system's programs and libraries"));
  for (const std::string_view entry : kRootEntries) {
    const std::string path(entry);
    const auto fact = host.inspect(path);
    if (!fact) continue;
    if (fact->type == Type::kSymlink) {
      Mount link;
      link.kind = Mount::Kind::kSymlink;
      link.source = host.read_link(path).value_or("");
      link.target = path;
      link.reason = "as on the host";
      mounts.add_unless_present(std::move(link));
    } else if (fact->type == Type::kDirectory) {
      mounts.add_unless_present(bind_mount(path, Access::kReadOnly, "the system's programs and libraries"));
    }
  }
}

// Small files are copied: a few dozen mounts would be most of the time that a start takes.
void add_etc_entry(MountSet& mounts, const HostView& host, const std::string& path) {
  constexpr std::size_t kCopiedBytes = 65536;
  constexpr const char* kReason = "system configuration that programs need";
  const auto real = host.real_path(path);
  const auto fact = real ? host.inspect(*real) : std::nullopt;
  if (!fact) return;
  if (fact->type == Type::kFile) {
    auto content = host.read_file(*real, kCopiedBytes + 1);
    if (!content) return;
    if (content->size() <= kCopiedBytes) {
      mounts.add_unless_present(file_mount(path, std::move(*content), kReason));
      return;
    }
  }
  mounts.add_unless_present(bind_mount(path, Access::kReadOnly, kReason));
}

void add_etc(MountSet& mounts, const HostView& host, const SystemLayoutRequest& request) {
  for (const std::string_view entry : kEtcEntries) add_etc_entry(mounts, host, "/etc/" + std::string(entry));
  for (const std::string& name : host.list("/etc", kEtcListed)) {
    for (const std::string_view prefix : kEtcPrefixes) {
      if (name.starts_with(prefix)) add_etc_entry(mounts, host, "/etc/" + name);
    }
  }
  constexpr const char* kAccounts = "only the accounts of the sandbox";
  mounts.add_unless_present(
      file_mount("/etc/passwd", passwd(request.identity, request.home, login_shell(host)), kAccounts));
  mounts.add_unless_present(file_mount("/etc/group", group(request.identity), kAccounts));
  mounts.add_unless_present(file_mount("/etc/machine-id", std::string(kMachineId), "no trace of the host"));
  if (request.network == NetworkScope::kOpen) {
    add_etc_entry(mounts, host, "/etc/hosts");
    add_etc_entry(mounts, host, "/etc/resolv.conf");
  } else {
    mounts.add_unless_present(file_mount("/etc/hosts", std::string(kHosts), "names of the sandbox only"));
  }
}

void add_private_directory(MountSet& mounts, const std::string& path, mode_t mode) {
  Mount directory = directory_mount(path, "private and empty");
  directory.mode = mode;
  mounts.add_unless_present(std::move(directory));
}

void add_devices(MountSet& mounts, std::uint64_t tmpfs_bytes) {
  Mount dev;
  dev.kind = Mount::Kind::kDev;
  dev.target = "/dev";
  dev.reason = "a minimal set of devices";
  mounts.add_unless_present(std::move(dev));
  Mount shared = tmpfs_mount("/dev/shm", tmpfs_bytes, "private shared memory, bounded");
  shared.mode = kSharedMode;
  mounts.add_unless_present(std::move(shared));
  Mount sealed;
  sealed.kind = Mount::Kind::kRemountReadOnly;
  sealed.target = "/dev";
  sealed.reason = "no files beside the devices";
  (void)mounts.add(std::move(sealed));
}

// A nested sandbox may mount a /proc of its own only when nothing covers this one, so it is left bare for one unless
// the kernel's uid 0 would have the right to write.
void add_proc(MountSet& mounts, const HostView& host, const SystemLayoutRequest& request) {
  Mount proc;
  proc.kind = Mount::Kind::kProc;
  proc.target = "/proc";
  proc.reason = "shows only the sandbox's processes";
  mounts.add_unless_present(std::move(proc));
  const bool is_root = request.identity.host_uid == 0;
  if (is_root || !request.nested_sandboxes) {
    mounts.add_unless_present(bind_mount("/proc/sys", Access::kReadOnly, "settings of the kernel"));
  }
  if (is_root && host.inspect("/proc/sysrq-trigger")) {
    mounts.add_unless_present(
        bind_mount("/proc/sysrq-trigger", Access::kReadOnly, "owned by the kernel's uid 0, which this run has"));
  }
  if (!request.nested_sandboxes && host.inspect("/proc/keys")) {
    Mount hidden = bind_mount("/dev/null", Access::kReadOnly, "hides the names of the caller's keys");
    hidden.target = "/proc/keys";
    mounts.add_unless_present(std::move(hidden));
  }
}

// With the host's file system shown, whatever carries its running services is covered.
Status add_host_root(MountSet& mounts, const HostView& host, const SystemLayoutRequest& request) {
  RETURN_IF_ERROR(mounts.add(bind_mount("/", Access::kReadWrite, "--filesystem host")));
  for (const char* path : {"/run", "/tmp", "/var/tmp"}) {
    const auto fact = host.inspect(path);
    if (!fact || fact->type != Type::kDirectory) continue;
    Mount cover = tmpfs_mount(path, request.tmpfs_bytes, "hides the sockets of the host's services");
    cover.mode = path == std::string_view("/run") ? 0755 : kSharedMode;
    mounts.add_unless_present(std::move(cover));
  }
  const auto runtime = host.facts().environment.find("XDG_RUNTIME_DIR");
  if (runtime != host.facts().environment.end()) {
    const auto path = domain::normalized_absolute(runtime->second);
    if (path && *path != "/" && !domain::is_inside(*path, "/run") && host.inspect(*path)) {
      mounts.add_unless_present(tmpfs_mount(*path, request.tmpfs_bytes, "hides the sockets of the caller's session"));
    }
  }
  if (host.inspect("/sys")) {
    mounts.add_unless_present(bind_mount("/sys", Access::kReadOnly, "control groups and devices stay as they are"));
  }
  const auto resolver = host.real_path("/etc/resolv.conf");
  if (request.network == NetworkScope::kOpen && resolver && domain::is_inside(*resolver, "/run")) {
    mounts.add_unless_present(bind_mount(*resolver, Access::kReadOnly, "name resolution"));
  }
  return {};
}

}  // namespace

Status add_system_layout(MountSet& mounts, const HostView& host, const SystemLayoutRequest& request) {
  if (request.filesystem == FilesystemScope::kHost) {
    RETURN_IF_ERROR(add_host_root(mounts, host, request));
  } else {
    RETURN_IF_ERROR(mounts.add(tmpfs_mount("/", request.tmpfs_bytes, "an empty throw-away root, bounded")));
    add_root_entries(mounts, host);
    add_etc(mounts, host, request);
    add_private_directory(mounts, "/etc", 0755);
    add_private_directory(mounts, "/tmp", kSharedMode);
    add_private_directory(mounts, "/var/tmp", kSharedMode);
    add_private_directory(mounts, "/run", 0755);
    add_private_directory(mounts, request.home, 0700);
  }
  add_proc(mounts, host, request);
  add_devices(mounts, request.tmpfs_bytes);
  return {};
}

std::string login_shell(const HostView& host) {
  const auto& environment = host.facts().environment;
  const auto variable = environment.find("SHELL");
  const auto path = variable == environment.end() ? std::nullopt : domain::normalized_absolute(variable->second);
  if (path && path->find(':') == std::string::npos) {
    for (const std::string_view system : {"/usr", "/bin"}) {
      if (domain::is_inside(*path, system) && host.follow(*path)) return *path;
    }
  }
  return "/bin/sh";
}

}  // namespace cofferdam::confinement
