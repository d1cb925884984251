// What cofferdam-init and its supervisor tell each other.
//
// The specification is one anonymous file, read whole before anything happens. Then packets go both ways over a
// SOCK_SEQPACKET pair that only the two hold. Both programs are always of one version, so there is no negotiation;
// kVersion only guards against a broken installation.
//
// Header-only and free of allocation surprises: the static init program includes it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace cofferdam::confinement::init {

inline constexpr std::uint32_t kVersion = 2;

// Descriptors that the first process inherits. 0 and 1 are the command's own; 2 is the supervisor's error pipe
// until the command starts.
inline constexpr int kErrorFd = 2;
inline constexpr int kArgumentsFd = 3;  // read and closed by bubblewrap
inline constexpr int kControlFd = 4;
inline constexpr int kSpecificationFd = 5;
inline constexpr int kCommandErrorFd = 6;  // stderr of the command
inline constexpr int kEgressFd = 7;        // absent without an egress proxy
inline constexpr int kFirstDataFd = 8;

struct MountCheck {
  std::string path;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool read_only = false;
  bool no_links = false;  // no component of the path may be a symbolic link
};

struct ListenerSpecification {
  std::string payload;
  std::string address;
  std::uint16_t port = 0;
  bool required = true;
};

struct LandlockPath {
  std::string path;
  bool writable = false;
};

struct ResourceLimit {
  std::uint32_t resource = 0;
  std::uint64_t value = 0;
};

struct Specification {
  std::vector<std::string> command;
  std::vector<std::string> environment;
  std::string working_directory;
  std::string search_path;
  std::uint32_t umask = 022;
  std::vector<MountCheck> checks;
  std::vector<ListenerSpecification> listeners;
  std::vector<ResourceLimit> limits;
  std::vector<LandlockPath> landlock;
  std::uint32_t landlock_abi = 0;
  bool nested_sandboxes = false;
  std::uint32_t terminal_descriptors = 0;  // bit n: descriptor n of the command becomes the private terminal
  std::uint16_t rows = 0;
  std::uint16_t columns = 0;
  std::string terminal_modes;                // struct termios of the caller's terminal
  std::vector<std::string> files_to_return;  // sent back when the command has ended
};

// Packets from init to the supervisor.
enum class Event : std::uint32_t {
  kTerminal,     // with the terminal's master descriptor
  kStarted,      // the command runs
  kStartFailed,  // value = errno; the text says what was tried
  kSetupFailed,  // value = errno; the text says what failed before the command
  kStopped,      // value = signal; the command's group was stopped from its terminal
  kEnded,        // value = exit code; or, with `signalled`, the signal
  kFile,         // with a descriptor; the text is the path
};

// Packets from the supervisor to init.
enum class Request : std::uint32_t {
  kSignal,    // value = signal for the command's process group
  kContinue,  // let a stopped command go on in the foreground of its terminal
  kKill,      // end everything
};

inline constexpr std::size_t kTextBytes = 1024;

struct Packet {
  std::uint32_t kind = 0;
  std::int32_t value = 0;
  std::uint32_t signalled = 0;
  char text[kTextBytes] = {};
};

// ---- encoding of the specification: little-endian as in memory, strings with a length before them ---------------

class Writer {
 public:
  template <class Number>
  void number(Number value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    bytes_ += value;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <class Number>
  void number(Number& value) {
    if (bytes_.size() < sizeof value) {
      good_ = false;
      return;
    }
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
  }
  void text(std::string& value) {
    std::uint32_t length = 0;
    number(length);
    if (!good_ || bytes_.size() < length) {
      good_ = false;
      return;
    }
    value.assign(bytes_.substr(0, length));
    bytes_.remove_prefix(length);
  }
  bool good() const { return good_; }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

// One description of the format for both directions: `Archive` is Writer or Reader.
template <class Archive, class List, class Each>
void each_of(Archive& archive, List& list, Each each) {
  auto count = static_cast<std::uint32_t>(list.size());
  archive.number(count);
  if constexpr (std::is_same_v<Archive, Reader>) {
    for (std::uint32_t index = 0; index < count && archive.good(); ++index) each(list.emplace_back());
  } else {
    for (auto& item : list) each(item);
  }
}

template <class Archive, class AnySpecification>
void exchange(Archive& archive, AnySpecification& spec) {
  std::uint32_t version = kVersion;
  archive.number(version);
  const auto texts = [&](auto& list) { each_of(archive, list, [&](auto& item) { archive.text(item); }); };
  texts(spec.command);
  texts(spec.environment);
  archive.text(spec.working_directory);
  archive.text(spec.search_path);
  archive.number(spec.umask);
  each_of(archive, spec.checks, [&](auto& check) {
    archive.text(check.path);
    archive.number(check.device);
    archive.number(check.inode);
    archive.number(check.read_only);
    archive.number(check.no_links);
  });
  each_of(archive, spec.listeners, [&](auto& listener) {
    archive.text(listener.payload);
    archive.text(listener.address);
    archive.number(listener.port);
    archive.number(listener.required);
  });
  each_of(archive, spec.limits, [&](auto& limit) {
    archive.number(limit.resource);
    archive.number(limit.value);
  });
  each_of(archive, spec.landlock, [&](auto& rule) {
    archive.text(rule.path);
    archive.number(rule.writable);
  });
  archive.number(spec.landlock_abi);
  archive.number(spec.nested_sandboxes);
  archive.number(spec.terminal_descriptors);
  archive.number(spec.rows);
  archive.number(spec.columns);
  archive.text(spec.terminal_modes);
  texts(spec.files_to_return);
}

inline std::string encode(const Specification& spec) {
  Writer writer;
  exchange(writer, spec);
  return writer.take();
}

// False when the bytes are not a whole specification.
inline bool decode(std::string_view bytes, Specification& spec) {
  std::uint32_t version = 0;
  Reader(bytes).number(version);
  if (version != kVersion) return false;
  Reader reader(bytes);
  exchange(reader, spec);
  return reader.good();
}

}  // namespace cofferdam::confinement::init
