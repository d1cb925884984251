// What of a workspace is carried out of its sandbox, and whether it may be. Pure: no process, no file.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "git/index_file.h"
#include "recovery/source.h"
#include "workspace/entry.h"
#include "workspace/path_set.h"

namespace cofferdam::recovery {

// Upper bounds of the capture from this side. Beyond one it is refused, before git is started for the first time.
struct CaptureLimits {
  std::uint64_t entries = 100'000;
  std::uint64_t bytes = std::uint64_t{8} << 30;  // of all files
  std::size_t repositories = 64;
  std::uint64_t repository_entries = 50'000;                // of one repository's own files
  std::uint64_t repository_bytes = std::uint64_t{4} << 30;  // likewise
  std::size_t exclusions = 1'000;                           // paths that must be named to be left out
  std::size_t refspecs = 256;                               // of one configuration
  std::size_t refspec_bytes = 4'096;
  std::size_t settings = 1'024;  // of one configuration
  std::size_t config_bytes = std::size_t{256} << 10;
  std::chrono::milliseconds verification{120'000};  // and normalisation, together
};

struct CapturePlan {
  std::vector<workspace::Entry> entries;  // what travels, without digests; sorted
  std::vector<workspace::Omission> omissions;
  workspace::PathSet exclude;             // to be named to whoever streams: with what the caller excluded
  std::vector<std::string> repositories;  // working trees with a `.git` of their own; "" is the workspace
  std::vector<std::string> special_modes;
  std::uint64_t bytes = 0;
};

// What is left out: sockets, FIFOs, devices, other file systems, and unless `with_dependencies` what a save leaves out
// as dependencies, by the same rule: a directory node_modules or one with a file pyvenv.cfg, outside of `.git`, below
// which `tracked` names nothing. `listing` as of Source::inventory.
CapturePlan choose_entries(const std::vector<SourceEntry>& listing, const std::vector<git::IndexName>& tracked,
                           const workspace::PathSet& exclude, bool with_dependencies);

// Whether the capture from this side may carry the plan out: budgets, repositories that stand alone and hide nothing,
// no special modes and files, no link that leads out.
Status check_plan(const CapturePlan& plan, const std::vector<git::IndexName>& tracked, const CaptureLimits& limits);

// Whether the history of the workspace itself lies in it. When it does not, a failure for a pointer further below,
// whose target would be in no copy.
Result<bool> history_is_inside(const std::vector<SourceEntry>& listing);

}  // namespace cofferdam::recovery
