#include "workspace/archive_writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <ranges>
#include <string_view>
#include <thread>
#include <utility>

#include "base/unique_fd.h"
#include "system/tree.h"
#include "workspace/archive_pack.h"
#include "workspace/tar_format.h"

namespace cofferdam::workspace {
namespace {

// 12 batches of 16 files of 128 KiB are 24 MiB, and twice as much with the room that a growing text keeps.
constexpr std::size_t kBatchesAhead = 12;
constexpr std::size_t kOutputChunk = std::size_t{256} << 10;

struct Named {
  std::string name;
  unsigned char type = DT_UNKNOWN;
};

unsigned char type_of(int directory, const char* name) {
  struct stat status{};
  if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
  return static_cast<unsigned char>(IFTODT(status.st_mode));
}

// Sorted by name. Takes the descriptor's position.
Result<std::vector<Named>> list(int directory) {
  UniqueFd own(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!own) return Error::from_errno(errno, "open a directory for listing");
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(own.get()), ::closedir);
  if (stream == nullptr) return Error::from_errno(errno, "list a directory");
  (void)own.release();
  std::vector<Named> names;
  while (true) {
    errno = 0;
    const dirent* const entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    names.push_back(
        {std::string(name), entry->d_type == DT_UNKNOWN ? type_of(directory, entry->d_name) : entry->d_type});
  }
  if (errno != 0) return Error::from_errno(errno, "list a directory");
  std::ranges::sort(names, {}, &Named::name);
  return names;
}

// Batches in their order: made by the walk, packed by whoever is free, taken when their turn has come.
class Line {
 public:
  // Waits for room. False when the work was stopped.
  bool put(PackBatch batch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || line_.size() < kBatchesAhead; });
    if (stopped_) return false;
    line_.push_back(std::make_shared<Place>(std::move(batch)));
    changed_.notify_all();
    return true;
  }

  void finish() {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

  // Packs batches until none is left.
  void work(const PackRules& rules) {
    while (const std::shared_ptr<Place> place = claim()) {
      auto packed = pack(place->batch, rules);
      const std::lock_guard lock(mutex_);
      place->packed.emplace(std::move(packed));
      changed_.notify_all();
    }
  }

  struct Turn {
    PackBatch batch;
    Result<PackedBatch> packed;
  };
  // Waits for the first batch to be packed. Nothing at the end.
  std::optional<Turn> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return line_.empty() ? finished_ : line_.front()->packed.has_value(); });
    if (line_.empty()) return std::nullopt;
    Turn turn{std::move(line_.front()->batch), std::move(*line_.front()->packed)};
    line_.pop_front();
    --claimed_;
    changed_.notify_all();
    return turn;
  }

 private:
  struct Place {
    explicit Place(PackBatch named) : batch(std::move(named)) {}
    PackBatch batch;
    std::optional<Result<PackedBatch>> packed;
  };

  std::shared_ptr<Place> claim() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || claimed_ < line_.size() || finished_; });
    if (stopped_ || claimed_ == line_.size()) return nullptr;
    return line_[claimed_++];
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Place>> line_;
  std::size_t claimed_ = 0;  // of the line, from its front
  bool finished_ = false;
  bool stopped_ = false;
};

// Goes through the tree and puts batches into the line. Not walk_tree(): reading begins while this is still under way,
// and the kind of a file is taken from its directory, without a look at each.
class Sender {
 public:
  Sender(int root, const ArchiveOptions& options, const PackRules& rules, Line& line)
      : root_(root), options_(options), rules_(rules), line_(line) {}

  void run() {
    failure_ = walk();
    line_.finish();
  }

  // After run().
  Status take_failure() { return std::move(failure_); }
  PackFindings take_findings() { return std::move(findings_); }

 private:
  Status walk() {
    std::vector<std::string> pending = {""};
    while (!pending.empty()) {
      const std::string path = std::move(pending.back());
      pending.pop_back();
      ASSIGN_OR_RETURN(std::vector<std::string> below, visit(path));
      std::ranges::move(below | std::views::reverse, std::back_inserter(pending));
    }
    return {};
  }

  // Sends what is in one directory; the directories in it, sorted.
  Result<std::vector<std::string>> visit(const std::string& path) {
    auto directory = system::open_beneath(root_, path, O_RDONLY | O_DIRECTORY);
    if (!directory) return without_contents(path, directory.error());
    struct stat status{};
    if (::fstat(directory->get(), &status) != 0) return Error::from_errno(errno, "look at a directory");
    if (const auto reason = omission_of(status, rules_)) {
      findings_.omissions.push_back({path, *reason});
      return std::vector<std::string>();
    }
    auto names = list(directory->get());
    if (!names) return without_contents(path, names.error());
    PackBatch first;
    if (!path.empty()) {
      ASSIGN_OR_RETURN(first.self, begin_entry(path, status, rules_, findings_));
    }
    first.prefix = path.empty() ? "" : path + "/";
    first.directory = std::make_shared<UniqueFd>(std::move(*directory));
    return send(std::move(first), *names);
  }

  Result<std::vector<std::string>> without_contents(const std::string& path, const Error& why) {
    if (path.empty()) return why;
    const auto status = system::status_beneath(root_, path);
    if (!status || !S_ISDIR(status->st_mode)) {
      findings_.problems.push_back({.path = path, .kind = ProblemKind::kVanished});
      return std::vector<std::string>();
    }
    findings_.problems.push_back({path, ProblemKind::kUnreadable, why.message()});
    PackBatch alone;
    ASSIGN_OR_RETURN(alone.self, begin_entry(path, *status, rules_, findings_));
    (void)line_.put(std::move(alone));
    return std::vector<std::string>();
  }

  Result<std::vector<std::string>> send(PackBatch batch, const std::vector<Named>& names) {
    std::vector<std::string> below;
    const PackBatch next{.directory = batch.directory, .prefix = batch.prefix};
    for (const Named& named : names) {
      const std::string path = batch.prefix + named.name;
      if (options_.exclude.covers(path)) {
        findings_.omissions.push_back({path, OmissionReason::kExcluded});
      } else if (const auto reason = omission_of_type(named.type)) {
        findings_.omissions.push_back({path, *reason});
      } else if (named.type == DT_DIR) {
        below.push_back(path);
      } else {
        batch.names.push_back({named.name, named.type == DT_LNK});
      }
      if (batch.names.size() < kNamesInBatch) continue;
      if (!line_.put(std::exchange(batch, next))) return std::vector<std::string>();
    }
    if ((batch.self || !batch.names.empty()) && !line_.put(std::move(batch))) return std::vector<std::string>();
    return below;
  }

  static std::optional<OmissionReason> omission_of_type(unsigned char type) {
    switch (type) {
      case DT_SOCK:
        return OmissionReason::kSocket;
      case DT_FIFO:
        return OmissionReason::kFifo;
      case DT_CHR:
      case DT_BLK:
        return OmissionReason::kDevice;
      default:
        return std::nullopt;
    }
  }

  int root_;
  const ArchiveOptions& options_;
  const PackRules& rules_;
  Line& line_;
  PackFindings findings_;
  Status failure_;
};

// Collects small writes, counts, and compresses if asked.
class Output {
 public:
  Output(const ByteSink& sink, std::optional<int> zstd_level)
      : counting_([this, &sink](std::string_view bytes) {
          bytes_ += bytes.size();
          return sink(bytes);
        }) {
    if (zstd_level) compressor_ = std::make_unique<Compressor>(counting_, *zstd_level);
  }

  Status write(std::string_view bytes) {
    if (pending_.size() + bytes.size() < kOutputChunk) {
      pending_ += bytes;
      return {};
    }
    RETURN_IF_ERROR(flush());
    return pass(bytes);
  }

  Status finish() {
    RETURN_IF_ERROR(flush());
    return compressor_ ? compressor_->finish() : Status();
  }

  std::uint64_t bytes() const { return bytes_; }

 private:
  Status pass(std::string_view bytes) {
    if (bytes.empty()) return {};
    return compressor_ ? compressor_->write(bytes) : counting_(bytes);
  }
  Status flush() {
    RETURN_IF_ERROR(pass(pending_));
    pending_.clear();
    return {};
  }

  ByteSink counting_;
  std::unique_ptr<Compressor> compressor_;
  std::string pending_;
  std::uint64_t bytes_ = 0;
};

Status write_turn(Line::Turn& turn, const PackRules& rules, Output& output, PackFindings& findings) {
  RETURN_IF_ERROR(turn.packed);
  findings.take(std::move(turn.packed->findings));
  for (const PackedPiece& piece : turn.packed->pieces) {
    RETURN_IF_ERROR(output.write(piece.bytes));
    if (piece.large_name.empty()) continue;
    RETURN_IF_ERROR(pack_large(turn.batch, piece.large_name, rules, findings,
                               [&](std::string_view bytes) { return output.write(bytes); }));
  }
  return {};
}

Status write_line(Line& line, const PackRules& rules, Output& output, PackFindings& findings) {
  while (std::optional<Line::Turn> turn = line.take()) RETURN_IF_ERROR(write_turn(*turn, rules, output, findings));
  return {};
}

ArchiveReport report_of(PackFindings findings, std::uint64_t bytes) {
  std::ranges::sort(findings.entries, {}, &Entry::path);
  std::ranges::sort(findings.omissions, {}, &Omission::path);
  std::ranges::sort(findings.problems, {}, &ArchiveProblem::path);
  std::ranges::sort(findings.stripped_modes);
  return {.sent = {.entries = std::move(findings.entries),
                   .omissions = std::move(findings.omissions),
                   .stripped_modes = std::move(findings.stripped_modes)},
          .problems = std::move(findings.problems),
          .bytes = bytes};
}

unsigned threads_for(unsigned wanted) {
  return wanted != 0 ? wanted : std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

const char* to_string(ProblemKind kind) {
  switch (kind) {
    case ProblemKind::kVanished:
      return "vanished while the archive was made";
    case ProblemKind::kUnreadable:
      return "cannot be read";
    case ProblemKind::kCutOff:
      return "could not be read to its end";
    case ProblemKind::kShrank:
      return "became shorter while it was read";
    case ProblemKind::kGrew:
      return "became longer while it was read";
    case ProblemKind::kChanged:
      return "changed while it was read";
  }
  return "";
}

Result<ArchiveReport> write_archive(int root, const ArchiveOptions& options, const ByteSink& sink) {
  struct stat status{};
  if (::fstat(root, &status) != 0) return Error::from_errno(errno, "look at the directory to send");
  const PackRules rules{.device = status.st_dev, .refuse_special_modes = options.refuse_special_modes};
  Line line;
  Sender sender(root, options, rules, line);
  PackFindings findings;
  Output output(sink, options.zstd_level);
  Status written;
  {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] { sender.run(); });
    for (unsigned count = threads_for(options.threads); count > 0; --count) {
      threads.emplace_back([&] { line.work(rules); });
    }
    written = write_line(line, rules, output, findings);
    line.stop();
  }
  RETURN_IF_ERROR(written);
  RETURN_IF_ERROR(sender.take_failure());
  findings.take(sender.take_findings());
  RETURN_IF_ERROR(output.write(std::string(kTarEnd, '\0')));
  RETURN_IF_ERROR(output.finish());
  return report_of(std::move(findings), output.bytes());
}

}  // namespace cofferdam::workspace
