#include "workspace/archive_pack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/strings.h"
#include "crypto/sha256.h"
#include "system/tree.h"
#include "workspace/stable_read.h"
#include "workspace/tar_format.h"

namespace cofferdam::workspace {
namespace {

constexpr std::uint32_t kPermissions = 0777;
constexpr std::uint32_t kSpecialModes = 07000;
constexpr std::size_t kPiece = std::size_t{256} << 10;  // of a large file, read at once
constexpr int kReadFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

std::string text_of(int error_number) {
  return std::generic_category().message(error_number);
}

ArchiveProblem cannot_open(const std::string& path, int error_number) {
  if (error_number == ENOENT) return {.path = path, .kind = ProblemKind::kVanished};
  return {.path = path, .kind = ProblemKind::kUnreadable, .why = text_of(error_number)};
}

ssize_t read_some(int file, char* buffer, std::size_t size) {
  while (true) {
    const ssize_t count = ::read(file, buffer, size);
    if (count >= 0 || errno != EINTR) return count;
  }
}

struct OpenFile {
  UniqueFd fd;
  struct stat status{};
};

// Packs the names of one batch, one after the other.
class Packer {
 public:
  Packer(const PackBatch& batch, const PackRules& rules, PackFindings& findings)
      : batch_(batch), rules_(rules), findings_(findings) {}

  Result<std::vector<PackedPiece>> pack_all() {
    if (batch_.self) add_header(*batch_.self);
    for (const PackName& name : batch_.names) {
      RETURN_IF_ERROR(name.is_link ? pack_link(name.name) : pack_file(name.name));
    }
    pieces_.push_back(std::move(piece_));
    return std::move(pieces_);
  }

  // Opens a regular file; nothing, and a finding, when it is none or cannot be opened.
  std::optional<OpenFile> open(const std::string& name) {
    OpenFile file{.fd = UniqueFd(::openat(batch_.directory->get(), name.c_str(), kReadFlags))};
    if (!file.fd) {
      // A socket cannot be opened.
      if (errno == ENXIO) return leave_out(name, OmissionReason::kSocket);
      findings_.problems.push_back(cannot_open(path_of(name), errno));
      return std::nullopt;
    }
    if (::fstat(file.fd.get(), &file.status) != 0) {
      findings_.problems.push_back(cannot_open(path_of(name), errno));
      return std::nullopt;
    }
    if (const auto reason = omission_of(file.status, rules_)) return leave_out(name, *reason);
    // Something else took its place since the directory was read.
    if (!S_ISREG(file.status.st_mode)) {
      findings_.problems.push_back({.path = path_of(name), .kind = ProblemKind::kVanished});
      return std::nullopt;
    }
    return file;
  }

  std::string path_of(const std::string& name) const { return batch_.prefix + name; }

 private:
  std::nullopt_t leave_out(const std::string& name, OmissionReason reason) {
    findings_.omissions.push_back({path_of(name), reason});
    return std::nullopt;
  }

  void add_header(const Entry& entry) {
    piece_.bytes += tar_header(entry);
    findings_.entries.push_back(entry);
  }

  Status pack_link(const std::string& name) {
    struct stat status{};
    if (::fstatat(batch_.directory->get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      findings_.problems.push_back(cannot_open(path_of(name), errno));
      return {};
    }
    auto target = system::read_link_at(batch_.directory->get(), name);
    if (!target) {
      findings_.problems.push_back({path_of(name), ProblemKind::kUnreadable, target.error().message()});
      return {};
    }
    ASSIGN_OR_RETURN(Entry entry, begin_entry(path_of(name), status, rules_, findings_));
    entry.target = std::move(*target);
    add_header(entry);
    return {};
  }

  Status pack_file(const std::string& name) {
    for (int attempt = 1;; ++attempt) {
      const std::optional<OpenFile> file = open(name);
      if (!file) return {};
      if (static_cast<std::uint64_t>(file->status.st_size) > kSmallFile) {
        leave_to_the_writer(name);
        return {};
      }
      const int error_number = read_content(*file);
      if (error_number != 0) {
        findings_.problems.push_back(cannot_open(path_of(name), error_number));
        return {};
      }
      if (is_unchanged(*file)) return add_file(name, *file);
      if (attempt < kReadAttempts) continue;
      findings_.problems.push_back({.path = path_of(name), .kind = ProblemKind::kChanged});
      return add_file(name, *file);
    }
  }

  void leave_to_the_writer(const std::string& name) {
    piece_.large_name = name;
    pieces_.push_back(std::exchange(piece_, {}));
  }

  // As much as the file had when it was opened. An errno value, 0 for success.
  int read_content(const OpenFile& file) {
    std::size_t have = 0;
    content_.resize(static_cast<std::size_t>(file.status.st_size));
    while (have < content_.size()) {
      const ssize_t count = read_some(file.fd.get(), content_.data() + have, content_.size() - have);
      if (count < 0) return errno;
      if (count == 0) break;
      have += static_cast<std::size_t>(count);
    }
    content_.resize(have);
    return 0;
  }

  bool is_unchanged(const OpenFile& file) const {
    struct stat now{};
    return ::fstat(file.fd.get(), &now) == 0 && system::identity_of(now) == system::identity_of(file.status) &&
           content_.size() == static_cast<std::uint64_t>(now.st_size);
  }

  Status add_file(const std::string& name, const OpenFile& file) {
    ASSIGN_OR_RETURN(Entry entry, begin_entry(path_of(name), file.status, rules_, findings_));
    hash_.update(content_);
    entry.size = content_.size();
    entry.digest = hash_.finish();
    add_header(entry);
    piece_.bytes += content_;
    piece_.bytes.append(tar_padding(entry.size), '\0');
    return {};
  }

  const PackBatch& batch_;
  const PackRules& rules_;
  PackFindings& findings_;
  std::vector<PackedPiece> pieces_;
  PackedPiece piece_;
  std::string content_;
  crypto::Sha256 hash_;
};

// Exactly as many bytes as the header announced, whatever the file does.
class LargeFile {
 public:
  LargeFile(const OpenFile& file, std::string path, const ByteSink& sink)
      : file_(file), path_(std::move(path)), sink_(sink), buffer_(kPiece, '\0') {}

  Result<Digest> copy(PackFindings& findings) {
    auto left = static_cast<std::uint64_t>(file_.status.st_size);
    const std::uint64_t size = left;
    while (left > 0) {
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer_.size()));
      const ssize_t count = read_some(file_.fd.get(), buffer_.data(), wanted);
      if (count <= 0) {
        note(findings, count == 0 ? ProblemKind::kShrank : ProblemKind::kCutOff, count == 0 ? "" : text_of(errno));
        break;
      }
      RETURN_IF_ERROR(put({buffer_.data(), static_cast<std::size_t>(count)}));
      left -= static_cast<std::uint64_t>(count);
    }
    if (left == 0) check_end(findings);
    RETURN_IF_ERROR(put_zeros(left));
    RETURN_IF_ERROR(sink_(std::string(tar_padding(size), '\0')));
    return hash_.finish();
  }

 private:
  Status put(std::string_view bytes) {
    hash_.update(bytes);
    return sink_(bytes);
  }

  Status put_zeros(std::uint64_t count) {
    std::ranges::fill(buffer_, '\0');
    for (std::uint64_t left = count; left > 0;) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer_.size()));
      RETURN_IF_ERROR(put({buffer_.data(), size}));
      left -= size;
    }
    return {};
  }

  void check_end(PackFindings& findings) {
    struct stat now{};
    if (::fstat(file_.fd.get(), &now) != 0 || system::identity_of(now) == system::identity_of(file_.status)) return;
    note(findings, now.st_size > file_.status.st_size ? ProblemKind::kGrew : ProblemKind::kChanged, "");
  }

  void note(PackFindings& findings, ProblemKind kind, std::string why) {
    findings.problems.push_back({path_, kind, std::move(why)});
  }

  const OpenFile& file_;
  std::string path_;
  const ByteSink& sink_;
  std::string buffer_;
  crypto::Sha256 hash_;
};

EntryKind kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return EntryKind::kDirectory;
  return S_ISLNK(mode) ? EntryKind::kSymlink : EntryKind::kFile;
}

template <class Item>
void append(std::vector<Item>& to, std::vector<Item>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

void PackFindings::take(PackFindings&& other) {
  append(entries, std::move(other.entries));
  append(omissions, std::move(other.omissions));
  append(problems, std::move(other.problems));
  append(stripped_modes, std::move(other.stripped_modes));
}

std::optional<OmissionReason> omission_of(const struct stat& status, const PackRules& rules) {
  if (S_ISSOCK(status.st_mode)) return OmissionReason::kSocket;
  if (S_ISFIFO(status.st_mode)) return OmissionReason::kFifo;
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) return OmissionReason::kDevice;
  if (status.st_dev != rules.device) return OmissionReason::kOtherFileSystem;
  return std::nullopt;
}

Result<Entry> begin_entry(const std::string& path, const struct stat& status, const PackRules& rules,
                          PackFindings& findings) {
  if (!S_ISLNK(status.st_mode) && (status.st_mode & kSpecialModes) != 0) {
    if (rules.refuse_special_modes) {
      return Error(ErrorCode::kFailedPrecondition,
                   printable(path) + " has a set-user-id, set-group-id or sticky bit: it cannot be sent");
    }
    findings.stripped_modes.push_back(path);
  }
  return Entry{.path = path,
               .kind = kind_of(status.st_mode),
               .mode = S_ISLNK(status.st_mode) ? kPermissions : status.st_mode & kPermissions,
               .mtime_ns = system::identity_of(status).mtime_ns};
}

Result<PackedBatch> pack(const PackBatch& batch, const PackRules& rules) {
  PackedBatch packed;
  ASSIGN_OR_RETURN(packed.pieces, Packer(batch, rules, packed.findings).pack_all());
  return packed;
}

Status pack_large(const PackBatch& batch, const std::string& name, const PackRules& rules, PackFindings& findings,
                  const ByteSink& sink) {
  Packer packer(batch, rules, findings);
  const std::optional<OpenFile> file = packer.open(name);
  if (!file) return {};
  ASSIGN_OR_RETURN(Entry entry, begin_entry(packer.path_of(name), file->status, rules, findings));
  entry.size = static_cast<std::uint64_t>(file->status.st_size);
  RETURN_IF_ERROR(sink(tar_header(entry)));
  ASSIGN_OR_RETURN(entry.digest, LargeFile(*file, entry.path, sink).copy(findings));
  findings.entries.push_back(std::move(entry));
  return {};
}

}  // namespace cofferdam::workspace
