// The single operations on files that carrying out and undoing a merge are made of. Names are single names in open
// directories; nothing follows a symbolic link.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "workspace/entry.h"
#include "workspace/merge_journal.h"

namespace cofferdam::workspace {

// A name in an open directory.
struct Place {
  int directory = -1;
  std::string name;
};

// Nothing when there is no such name.
Result<std::optional<struct stat>> look_at(const Place& place);

// Renames when the new name is free; false when it is taken. kNotFound when there is nothing to rename.
Result<bool> rename_to_free(const Place& from, const Place& to);

// Swaps two names in one step. kNotFound when one of them is missing. Both renames are kUnsupported on a file system
// that cannot do this.
Status exchange(const Place& left, const Place& right);

// What is at `place` now, read anew, as an entry for `path`. Nothing when it is absent or neither a file, a directory
// nor a link.
Result<std::optional<Entry>> read_entry(const Place& place, const std::string& path);

Result<std::optional<Prepared>> identify(const Place& place);

// Copies `entry` from below `source` to the free name `to`: a file by reflink where the file system can, else by
// reading, with its zeros left out; a link; an empty directory, open to its owner. Permission bits are set before
// anybody can find it, special bits never. kFailedPrecondition when the file is not what `entry` says. With `durable` a
// file is on the disk when this returns.
Status prepare(int source, const Entry& entry, const Place& to, bool durable);

// Gives what was prepared to the owner of `like`, when we are root and somebody else owns that: a workspace does not
// change hands because root brought the results home.
Status give_to_owner_of(const struct stat& like, const Place& place);

// Sets the permission bits of a file or directory that may be closed to us. Special bits that the host gave it stay.
Status change_mode(const Place& place, std::uint32_t mode);

}  // namespace cofferdam::workspace
