#include "confinement/sandbox.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "base/strings.h"
#include "confinement/bubblewrap.h"
#include "domain/path.h"
#include "system/file.h"

namespace cofferdam::confinement {
namespace {

constexpr std::size_t kErrorBytes = 16384;

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error::from_errno(errno, "make a pipe");
  return Pipe{.read = UniqueFd(ends[0]), .write = UniqueFd(ends[1])};
}

// True when some confined command may have written the path that leads to `target`.
bool below_writable_bind(const ConfinementPlan& plan, const std::string& target) {
  for (const Mount& mount : plan.mounts) {
    if (mount.kind == Mount::Kind::kReadWrite && mount.target != "/" && mount.target != target &&
        domain::is_inside(target, mount.target)) {
      return true;
    }
  }
  return false;
}

std::vector<init::MountCheck> mount_checks(const ConfinementPlan& plan) {
  std::vector<init::MountCheck> checks;
  for (const Mount& mount : plan.mounts) {
    if (!mount.identity) continue;
    checks.push_back({.path = mount.target,
                      .device = mount.identity->device,
                      .inode = mount.identity->inode,
                      .read_only = mount.kind == Mount::Kind::kReadOnly,
                      .no_links = below_writable_bind(plan, mount.target)});
  }
  return checks;
}

std::vector<init::ResourceLimit> resource_limits(const ConfinementPlan& plan) {
  std::vector<init::ResourceLimit> out = {{.resource = RLIMIT_CORE, .value = 0}};
  for (const PlannedLimit& limit : plan.limits) {
    if (limit.means != PlannedLimit::Means::kRlimit) continue;
    std::uint32_t resource = RLIMIT_NOFILE;
    if (limit.name == "pids") resource = RLIMIT_NPROC;
    if (limit.name == "file_size") resource = RLIMIT_FSIZE;
    if (limit.name == "cpu_time") resource = RLIMIT_CPU;
    out.push_back({.resource = resource, .value = static_cast<std::uint64_t>(limit.value)});
  }
  return out;
}

init::Specification specification_of(const ConfinementPlan& plan, const SandboxTerminal& terminal) {
  init::Specification spec;
  spec.command = plan.command;
  for (const PlannedVariable& variable : plan.environment) {
    spec.environment.push_back(variable.name + "=" + variable.value);
    if (variable.name == "PATH") spec.search_path = variable.value;
  }
  spec.working_directory = plan.working_directory;
  spec.umask = plan.umask;
  spec.checks = mount_checks(plan);
  for (const Listener& listener : plan.listeners) {
    spec.listeners.push_back({.payload = listener.payload,
                              .address = listener.address,
                              .port = listener.port,
                              .required = listener.required});
  }
  spec.limits = resource_limits(plan);
  for (const LandlockRule& rule : plan.landlock.rules) {
    spec.landlock.push_back({.path = rule.path, .writable = rule.access == domain::Access::kReadWrite});
  }
  spec.landlock_abi = static_cast<std::uint32_t>(plan.landlock.abi);
  spec.nested_sandboxes = plan.nested_sandboxes;
  spec.terminal_descriptors = terminal.descriptors;
  spec.rows = terminal.rows;
  spec.columns = terminal.columns;
  spec.terminal_modes = terminal.modes;
  for (const HomeFile& file : plan.home_files) spec.files_to_return.push_back(file.inside_path);
  return spec;
}

std::vector<UniqueFd> pin_sources(const ConfinementPlan& plan) {
  std::vector<UniqueFd> pinned;
  for (const Mount& mount : plan.mounts) {
    if (!mount.identity || !below_writable_bind(plan, mount.target)) continue;
    pinned.push_back(system::open_without_links(mount.source, O_PATH));
  }
  return pinned;
}

system::SpawnRequest spawn_request(const ConfinementPlan& plan) {
  system::SpawnRequest request;
  std::vector<std::string> bubblewrap = {plan.bubblewrap, "--args", std::to_string(init::kArgumentsFd), "--",
                                         std::string(kInsideInit)};
  if (plan.identity.switch_user) {
    request.program = plan.init;
    request.arguments = {"cofferdam-init", "launch", std::to_string(plan.identity.host_uid),
                         std::to_string(plan.identity.host_gid)};
    for (std::string& word : bubblewrap) request.arguments.push_back(std::move(word));
  } else {
    request.program = plan.bubblewrap;
    request.arguments = std::move(bubblewrap);
    request.arguments[0] = "bwrap";
  }
  request.working_directory = "/";
  // Signals for the caller's process group are ours to forward; they must not meet bubblewrap or init first.
  request.new_session = true;
  return request;
}

std::string zero_separated(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    out += word;
    out += '\0';
  }
  return out;
}

}  // namespace

Result<Sandbox> Sandbox::start(const ConfinementPlan& plan, const std::vector<std::string>& home_files,
                               const SandboxDescriptors& descriptors, const SandboxTerminal& terminal,
                               const Cgroup* cgroup) {
  int control[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0) {
    return Error::from_errno(errno, "make the control channel");
  }
  UniqueFd own_end(control[0]);
  UniqueFd init_end(control[1]);
  ASSIGN_OR_RETURN(Pipe arguments, make_pipe());
  ASSIGN_OR_RETURN(Pipe error, make_pipe());
  ASSIGN_OR_RETURN(const UniqueFd specification,
                   system::memory_file("specification", init::encode(specification_of(plan, terminal))));
  const BubblewrapArguments words = bubblewrap_arguments(plan, home_files, init::kFirstDataFd);

  system::SpawnRequest request = spawn_request(plan);
  request.descriptors = {descriptors.input, descriptors.output,  error.write.get(), arguments.read.get(),
                         init_end.get(),    specification.get(), descriptors.error, descriptors.egress};
  std::vector<UniqueFd> contents;
  for (const std::string& content : words.contents) {
    ASSIGN_OR_RETURN(UniqueFd file, system::memory_file("content", content));
    request.descriptors.push_back(file.get());
    contents.push_back(std::move(file));
  }
  std::vector<UniqueFd> pinned = pin_sources(plan);
  ASSIGN_OR_RETURN(system::ChildProcess bubblewrap, system::ChildProcess::spawn(request));
  Sandbox sandbox(std::move(bubblewrap), std::move(own_end), std::move(error.read), std::move(pinned));
  // Bubblewrap does nothing before it has read its arguments, so everything it starts is in the group.
  if (cgroup != nullptr) RETURN_IF_ERROR(cgroup->add(sandbox.bubblewrap_.pid()));
  arguments.read.reset();
  // A failed write means that it has ended already; what it said explains why.
  (void)system::write_all(arguments.write.get(), zero_separated(words.arguments), "bubblewrap's arguments");
  return sandbox;
}

Result<std::optional<SandboxEvent>> Sandbox::next_event() {
  init::Packet packet;
  iovec piece{.iov_base = &packet, .iov_len = sizeof packet};
  alignas(cmsghdr) char buffer[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = buffer;
  message.msg_controllen = sizeof buffer;
  ssize_t size = 0;
  do {
    size = ::recvmsg(control_.get(), &message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0 && errno != ECONNRESET) return Error::from_errno(errno, "hear from the sandbox");
  if (size != sizeof packet) return std::optional<SandboxEvent>();
  SandboxEvent event;
  event.kind = static_cast<init::Event>(packet.kind);
  event.value = packet.value;
  event.signalled = packet.signalled != 0;
  packet.text[sizeof packet.text - 1] = '\0';
  event.text = packet.text;
  if (const cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    event.descriptor = UniqueFd(fd);
  }
  return std::optional(std::move(event));
}

void Sandbox::request(init::Request kind, int value) const {
  init::Packet packet;
  packet.kind = static_cast<std::uint32_t>(kind);
  packet.value = value;
  (void)::send(control_.get(), &packet, sizeof packet, MSG_NOSIGNAL);
}

Error Sandbox::failure() {
  const auto words = system::read_up_to(error_.get(), kErrorBytes);
  return explain_bubblewrap_failure(words ? *words : std::string_view());
}

}  // namespace cofferdam::confinement
