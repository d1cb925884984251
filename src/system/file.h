// Whole-file reading and writing on descriptors, with bounds.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace cofferdam::system {

// At most `limit` bytes from the current position on.
Result<std::string> read_up_to(int fd, std::size_t limit);

// Reads a regular file; an error when it is longer than `limit` bytes.
Result<std::string> read_file(const std::string& path, std::size_t limit);

// Writes everything, whatever the kernel takes at a time. `name` is what an error calls the file.
Status write_all(int fd, std::string_view bytes, std::string_view name);

// An anonymous file that holds `content`, positioned at its start.
Result<UniqueFd> memory_file(const char* name, std::string_view content);

// Opens `path` when no component of it is a symbolic link; for trees that others may write.
UniqueFd open_without_links(const std::string& path, int flags);

// Replaces `path` by a file with `content`: a temporary file beside it, synchronised, then renamed over it.
Status replace_file(const std::string& path, std::string_view content, unsigned mode);

// Whether replace_file could make its temporary file beside `path`; leaves nothing behind.
Status can_make_beside(const std::string& path);

// Makes `path` and its missing parents, mode 0700. For directories of our own, never in an untrusted tree.
Status make_private_directories(const std::string& path);

}  // namespace cofferdam::system
