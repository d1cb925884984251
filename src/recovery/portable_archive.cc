#include "recovery/portable_archive.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/strings.h"
#include "recovery/command_source.h"
#include "recovery/failure.h"

namespace cofferdam::recovery {
namespace {

constexpr int kCannotExecute = 126;
constexpr int kNotFound = 127;
constexpr int kFileChanged = 1;                              // tar's
constexpr std::size_t kPiece = std::size_t{8} << 20;         // of the archive, read at a time
constexpr std::size_t kReportBytes = std::size_t{64} << 10;  // of a helper
constexpr std::chrono::minutes kArchiveTime{60};
constexpr std::string_view kNoSpace = ": No space left on device";
constexpr std::string_view kNoQuota = ": Disk quota exceeded";

// tar and dd tell each how they ended, on the helper's standard output; what dd says stands there too, apart from
// everything that tar or find could say about a file.
//
// Where the scratch holds a history, that is packed in the place of `.git`.
constexpr std::string_view kHelper = R"(# Cofferdam's capture helper: ROOT SCRATCH TAR-WORDS...
root=$1 scratch=$2
shift 2
cd -- "$root" || exit 2
exec 3>&1
skip=
if [ -d "$scratch/history/.git" ]; then
  skip='! -name .git'
  set -- "$@" -C "$scratch/history" .git
fi
{
  find . -mindepth 1 -maxdepth 1 $skip -printf '%P\0' | tar "$@"
  echo "tar $?" >&3
} | dd "of=$scratch/archive.tar" bs=64K iflag=fullblock conv=excl,fsync status=none 2>&3
echo "dd $?" >&3
)";

// A Git directory that stands alone, below SCRATCH, of a workspace whose own does not: every object that a reference or
// the index names, references, HEAD and index. The repository is only read.
constexpr const char* kMirror = R"sh(set -e
cd -- "$1"
export GIT_OPTIONAL_LOCKS=0
own=$(git rev-parse --absolute-git-dir)
common=$(cd -- "$(git rev-parse --git-common-dir)" && pwd)
made=$2/history/.git
mkdir -p "$made/objects/pack" "$made/objects/info" "$made/refs" "$made/info"
printf '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n' >"$made/config"
if [ "$(git rev-parse --show-object-format)" = sha256 ]; then
  printf '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n' >>"$made/config"
fi
cp -- "$own/HEAD" "$made/HEAD"
for file in "$own/index" "$own"/sharedindex.* "$common/shallow";
do
  [ ! -f "$file" ] || cp -- "$file" "$made/"; done
[ ! -f "$common/info/exclude" ] || cp -- "$common/info/exclude" "$made/info/exclude"
git for-each-ref --format='%(objectname) %(refname)' >"$made/packed-refs"
# git makes a pack in the object directory first: not in that of the repository.
GIT_OBJECT_DIRECTORY=$made/objects GIT_ALTERNATE_OBJECT_DIRECTORIES=$common/objects \
  git pack-objects -q --all --indexed-objects --delta-base-offset "$made/objects/pack/pack" </dev/null >/dev/null
)sh";

// The number in the line "<program> <number>".
std::optional<int> status_of(std::string_view report, std::string_view program) {
  const std::string wanted = std::string(program) + " ";
  for (const std::string_view line : split(report, '\n')) {
    if (!line.starts_with(wanted)) continue;
    if (const auto code = parse_decimal(line.substr(wanted.size()))) return static_cast<int>(*code);
  }
  return std::nullopt;
}

Error could_not_write(const std::string& what, int exit_code, std::string_view words) {
  const bool missing = exit_code == kCannotExecute || exit_code == kNotFound;
  return failure(missing ? Failure::kExportUnsupported : Failure::kDownload,
                 what + " could not be written in the sandbox: " +
                     (trimmed(words).empty() ? "exit code " + std::to_string(exit_code) : printable(trimmed(words))));
}

// The last line that `program` itself said; empty when it said nothing.
std::string_view last_words(std::string_view program, std::string_view words) {
  const std::string begin = std::string(program) + ": ";
  std::string_view last;
  for (const std::string_view line : split(words, '\n')) {
    if (line.starts_with(begin)) last = line;
  }
  return last;
}

Result<PortableArchive> judged(const std::string& what, std::string_view program, int exit_code,
                               std::string_view words) {
  const WriteEnd end = judge_write(program, exit_code, words);
  if (end == WriteEnd::kFailed) return could_not_write(what, exit_code, words);
  return PortableArchive{.end = end, .words = printable(last_words(program, words))};
}

}  // namespace

WriteEnd judge_write(std::string_view program, int exit_code, std::string_view words) {
  if (exit_code == 0) return WriteEnd::kDone;
  const std::string_view last = last_words(program, words);
  if (last.ends_with(kNoSpace)) return WriteEnd::kDiskFull;
  return last.ends_with(kNoQuota) ? WriteEnd::kQuota : WriteEnd::kFailed;
}

std::string PortableScratch::absolute(std::string_view name) const {
  return source_.root() + "/" + path_ + (name.empty() ? "" : "/" + std::string(name));
}

Result<PortableArchive> PortableScratch::make_archive(const workspace::PathSet& exclude, bool with_mirror) {
  ASSIGN_OR_RETURN(PortableArchive helper, write_helper());
  if (helper.end != WriteEnd::kDone) return helper;
  if (with_mirror) RETURN_IF_ERROR(make_mirror());
  return run_helper(exclude);
}

Status PortableScratch::make_mirror() {
  ASSIGN_OR_RETURN(const auto run,
                   source_.exec({.command = in_plain_english({"sh", "-c", kMirror, "sh", source_.root(), absolute("")}),
                                 .input = {},
                                 .timeout = kArchiveTime}));
  ASSIGN_OR_RETURN(const ExecResult ran, collect(*run, kReportBytes));
  if (ran.outcome.exit_code == 0) return {};
  return failure(Failure::kGitLayout, "the history lies elsewhere in the sandbox and could not be copied there: " +
                                          printable(trimmed(ran.outcome.error_text)));
}

Result<PortableArchive> PortableScratch::write_helper() {
  ASSIGN_OR_RETURN(const auto make,
                   source_.exec({.command = in_plain_english({"mkdir", "-m", "700", absolute("")}), .input = {}}));
  ASSIGN_OR_RETURN(const ExecResult made, collect(*make, kReportBytes));
  ASSIGN_OR_RETURN(PortableArchive directory,
                   judged("the helper", "mkdir", made.outcome.exit_code, made.outcome.error_text));
  if (directory.end != WriteEnd::kDone) return directory;
  ASSIGN_OR_RETURN(const auto write,
                   source_.exec({.command = in_plain_english({"dd", "of=" + absolute("capture.sh"), "bs=64K",
                                                              "conv=excl,fsync", "status=none"}),
                                 .input = std::string(kHelper)}));
  ASSIGN_OR_RETURN(const ExecResult written, collect(*write, kReportBytes));
  return judged("the helper", "dd", written.outcome.exit_code, written.outcome.error_text);
}

Result<PortableArchive> PortableScratch::run_helper(const workspace::PathSet& exclude) {
  std::vector<std::string> command = {"sh", absolute("capture.sh"), source_.root(), absolute("")};
  workspace::PathSet left_out = exclude;
  left_out.add(path_);
  for (std::string& word : tar_arguments(left_out)) command.push_back(std::move(word));
  ASSIGN_OR_RETURN(
      const auto run,
      source_.exec({.command = in_plain_english(std::move(command)), .input = {}, .timeout = kArchiveTime}));
  ASSIGN_OR_RETURN(const ExecResult ran, collect(*run, kReportBytes));
  const auto writer = status_of(ran.output, "dd");
  if (!writer) return could_not_write("the archive", ran.outcome.exit_code, ran.outcome.error_text);
  ASSIGN_OR_RETURN(PortableArchive archive, judged("the archive", "dd", *writer, ran.output));
  if (archive.end != WriteEnd::kDone) return archive;
  const int packer = status_of(ran.output, "tar").value_or(kNotFound);
  if (packer != 0 && packer != kFileChanged) return could_not_write("the archive", packer, ran.outcome.error_text);
  archive.changed = packer == kFileChanged;
  return archive;
}

workspace::ByteSource PortableScratch::archive() {
  struct Position {
    std::string piece;
    std::size_t used = 0;
    std::uint64_t read = 0;
    bool ended = false;
  };
  const auto at = std::make_shared<Position>();
  return [this, at](char* buffer, std::size_t size) -> Result<std::size_t> {
    if (at->used == at->piece.size() && !at->ended) {
      ASSIGN_OR_RETURN(at->piece, source_.read(path_ + "/archive.tar", at->read, kPiece));
      at->used = 0;
      at->read += at->piece.size();
      at->ended = at->piece.size() < kPiece;
    }
    const std::size_t count = std::min(size, at->piece.size() - at->used);
    std::copy_n(at->piece.begin() + static_cast<std::ptrdiff_t>(at->used), count, buffer);
    at->used += count;
    return count;
  };
}

Status PortableScratch::remove() {
  ASSIGN_OR_RETURN(const auto execution,
                   source_.exec({.command = in_plain_english({"rm", "-rf", "--", absolute("")}), .input = {}}));
  ASSIGN_OR_RETURN(const ExecResult result, collect(*execution, kReportBytes));
  if (result.outcome.exit_code == 0) return {};
  return failure(Failure::kDownload, "what was written in the sandbox could not be removed: " + absolute("") + ": " +
                                         printable(trimmed(result.outcome.error_text)));
}

}  // namespace cofferdam::recovery
