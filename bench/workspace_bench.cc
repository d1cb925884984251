// The parts of the workspace benches that no verb of the program does alone.
//
//   workspace_bench archive TREE                  writes TREE as an archive to standard output, hashing everything
//   workspace_bench git TREE STAGE                the same of a Git workspace: its history one commit deep, made at
//                                                 STAGE (absent), and what differs from it
//   workspace_bench remember TREE CACHE RECORD    fills the stat cache and writes the record of what was sent
//   workspace_bench unchanged TREE CACHE          looks at TREE and plans the merge of a sandbox that changed nothing
//   workspace_bench unchanged TREE CACHE RECORD   the same, reading the record too
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "git/hardened_git.h"
#include "git/inbound.h"
#include "git/layout.h"
#include "system/file.h"
#include "system/tree.h"
#include "workspace/archive_writer.h"
#include "workspace/baseline.h"
#include "workspace/byte_stream.h"
#include "workspace/inventory.h"
#include "workspace/merge_plan.h"
#include "workspace/stat_cache.h"

using namespace cofferdam;

namespace {

constexpr std::size_t kRecordBytes = std::size_t{1} << 30;

Status archive(const std::string& tree) {
  ASSIGN_OR_RETURN(const UniqueFd root, system::open_directory(tree));
  ASSIGN_OR_RETURN(const auto report, workspace::write_archive(root.get(), {}, workspace::sink_to(STDOUT_FILENO)));
  if (report.problems.empty()) return {};
  return Error(ErrorCode::kInternal, report.problems.front().path + " is not whole in the archive");
}

Status archive_git(const std::string& tree, const std::string& stage) {
  namespace fs = std::filesystem;
  ASSIGN_OR_RETURN(const std::string program, git::find_git());
  git::HardenedGit git(program);
  ASSIGN_OR_RETURN(const git::Layout layout, git::read_layout(tree));
  const std::string scratch = stage + ".scratch";
  fs::create_directories(stage);
  fs::create_directories(scratch);
  ASSIGN_OR_RETURN(const git::WorkingTree working, git::list_working_tree(git, layout, scratch));
  RETURN_IF_ERROR(git::check_sendable(layout, working));
  RETURN_IF_ERROR(git::make_standalone_history(git, layout, git::Depth::kOne, stage + "/.git", scratch));
  for (const std::string& path : working.overlay) {
    const fs::path target = fs::path(stage) / path;
    fs::create_directories(target.parent_path());
    fs::copy(fs::path(tree) / path, target, fs::copy_options::copy_symlinks);
  }
  return archive(stage);
}

Status remember(const std::string& tree, const std::string& cache_file, const std::string& record) {
  ASSIGN_OR_RETURN(const UniqueFd root, system::open_directory(tree));
  workspace::StatCache cache = workspace::StatCache::load(cache_file);
  workspace::InventoryOptions options;
  options.cache = &cache;
  ASSIGN_OR_RETURN(workspace::Inventory inventory, workspace::take_inventory(root.get(), options));
  RETURN_IF_ERROR(cache.store());
  return system::replace_file(record, workspace::to_json({.exclude = {}, .entries = std::move(inventory.entries)}),
                              0600);
}

Status unchanged(const std::string& tree, const std::string& cache_file, const std::string& record) {
  ASSIGN_OR_RETURN(const UniqueFd root, system::open_directory(tree));
  workspace::StatCache cache = workspace::StatCache::load(cache_file);
  workspace::InventoryOptions options;
  options.cache = &cache;
  ASSIGN_OR_RETURN(const workspace::Inventory inventory, workspace::take_inventory(root.get(), options));
  workspace::Baseline base;
  if (!record.empty()) {
    ASSIGN_OR_RETURN(const std::string text, system::read_file(record, kRecordBytes));
    ASSIGN_OR_RETURN(base, workspace::parse_baseline(text));
  }
  workspace::MergeOptions merge;
  merge.run_id = "bench";
  ASSIGN_OR_RETURN(
      const workspace::MergePlan plan,
      workspace::plan_merge(record.empty() ? inventory.entries : base.entries, inventory, inventory, merge));
  if (plan.changes_nothing()) return {};
  return Error(ErrorCode::kInternal, "the plan of nothing changes something");
}

Status run(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == "archive") return archive(words[1]);
  if (words.size() == 3 && words[0] == "git") return archive_git(words[1], words[2]);
  if (words.size() == 4 && words[0] == "remember") return remember(words[1], words[2], words[3]);
  if (words.size() == 3 && words[0] == "unchanged") return unchanged(words[1], words[2], {});
  if (words.size() == 4 && words[0] == "unchanged") return unchanged(words[1], words[2], words[3]);
  return Error(ErrorCode::kInvalidArgument, "usage: archive, git, remember or unchanged; see the source");
}

}  // namespace

int main(int argc, char** argv) {
  const Status done = run({argv + 1, argv + argc});
  if (done) return 0;
  std::fprintf(stderr, "workspace_bench: %s\n", done.error().message().c_str());
  return 1;
}
