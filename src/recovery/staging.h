// The private copy of a workspace on this machine: received, read back, removed whatever happens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "recovery/source.h"
#include "system/tree.h"
#include "workspace/entry.h"
#include "workspace/extract.h"

namespace cofferdam::recovery {

// Owns a directory of mode 0700; it goes with the owner, read-only directories in it too. Whoever makes the next one
// removes those of processes that were killed. One thread.
class Staging {
 public:
  // `scratch`: a private directory of ours.
  static Result<Staging> create(const std::string& scratch);

  const std::string& tree() const { return tree_; }             // the copy
  const std::string& scratch() const { return place_.path(); }  // for Git's views, beside it

  // kControllerDiskFull when so many bytes and entries have no room here.
  Status check_room(std::uint64_t bytes, std::uint64_t entries) const;

  // Unpacks into the empty copy. `bytes` is any archive that ArchiveReader takes.
  Result<workspace::Extracted> receive(const workspace::ByteSource& bytes, const workspace::ArchiveRules& rules) const;

  // Gives the copy's root the permission bits `mode`; its owner keeps all of his.
  Status set_root_mode(std::uint32_t mode) const;

  // What lies there now, read from the disk.
  Result<workspace::Inventory> inventory() const;

 private:
  Staging(system::TemporaryDirectory place, UniqueFd root, std::string tree)
      : place_(std::move(place)), root_(std::move(root)), tree_(std::move(tree)) {}

  system::TemporaryDirectory place_;
  UniqueFd root_;
  std::string tree_;
};

// What a stream gives, as the source of an archive; `stream` must live as long.
workspace::ByteSource bytes_of(Execution& stream);

// The path of an entry that is not the same in both (names, kinds, permission bits, sizes, targets, digests); both are
// sorted. Nothing when all are.
std::optional<std::string> first_difference(const std::vector<workspace::Entry>& left,
                                            const std::vector<workspace::Entry>& right);

// The same entries with digests of nothing, for comparing with a list that has none.
std::vector<workspace::Entry> without_content(std::vector<workspace::Entry> entries);

// Whether an error of ours, not of the sandbox's, says that the disk or the quota is full.
bool is_disk_full(const Error& error);

}  // namespace cofferdam::recovery
