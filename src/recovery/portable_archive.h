// The first attempt: a helper and an archive, written in the sandbox, and how that write ended.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "recovery/source.h"
#include "workspace/byte_stream.h"

namespace cofferdam::recovery {

// What a program that writes said of its end.
enum class WriteEnd : std::uint8_t { kDone, kDiskFull, kQuota, kFailed };

// Decided from the words of the writer alone: of its last line "<program>: …: No space left on device" only the end
// counts, so that no name in it can be taken for the answer. Lines of others are not looked at. Pure.
WriteEnd judge_write(std::string_view program, int exit_code, std::string_view words);

struct PortableArchive {
  WriteEnd end = WriteEnd::kFailed;
  std::string words;     // of the writer that failed, for the user
  bool changed = false;  // tar saw a file change
};

// Below the root.
inline std::string portable_scratch_path(const std::string& name) {
  return ".paperclip-upload-" + name;
}

// Owns a directory of mode 0700 in the workspace until remove().
class PortableScratch {
 public:
  // Nothing is made yet. `source` must live as long.
  PortableScratch(Source& source, const std::string& name) : source_(source), path_(portable_scratch_path(name)) {}

  const std::string& path() const { return path_; }  // below the root

  // Writes the helper, then lets it write the archive. `with_mirror`: the history lies elsewhere in the sandbox; git
  // there makes one that stands alone, which is archived in its place. A failure is of the sandbox or the way there;
  // how the writes of helper and archive ended is in the value.
  Result<PortableArchive> make_archive(const workspace::PathSet& exclude, bool with_mirror);

  // The archive's bytes, piece by piece; to be used while this lives.
  workspace::ByteSource archive();

  // Takes it away, as far as it was made.
  Status remove();

 private:
  Result<PortableArchive> write_helper();
  Status make_mirror();
  Result<PortableArchive> run_helper(const workspace::PathSet& exclude);
  std::string absolute(std::string_view name) const;

  Source& source_;
  std::string path_;
};

}  // namespace cofferdam::recovery
