#include "git/staged.h"

#include <algorithm>
#include <optional>

#include "base/ranges.h"
#include "base/strings.h"

namespace cofferdam::git {
namespace {

constexpr std::string_view kAbsentMode = "000000";

Error unexpected() {
  return Error(ErrorCode::kDataLoss, "git gave a list of changes that cannot be read");
}

// The pieces of a NUL-terminated list.
class Records {
 public:
  explicit Records(std::string_view text) : rest_(text) {}
  std::optional<std::string_view> next() {
    const std::size_t end = rest_.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view record = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return record;
  }
  bool is_at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

PathEntries one_entry(std::string_view mode, std::string_view id) {
  if (mode == kAbsentMode) return {};
  return {{.mode = std::string(mode), .id = std::string(id)}};
}

GitCommand with_index(GitCommand command, const std::string& index_file) {
  if (!index_file.empty()) command.environment.push_back("GIT_INDEX_FILE=" + index_file);
  return command;
}

// The stages of every conflict: "<mode> <id> <stage>\t<path>".
Status add_conflicts(StagedPaths& staged, std::string_view output) {
  Records records(output);
  while (const auto record = records.next()) {
    const std::size_t tab = record->find('\t');
    const std::vector<std::string_view> words = split(record->substr(0, tab), ' ');
    if (tab == std::string_view::npos || words.size() != 3 || words[2].size() != 1) return unexpected();
    StagedPath& path = staged[std::string(record->substr(tab + 1))];
    path.in_index.push_back(
        {.mode = std::string(words[0]), .id = std::string(words[1]), .stage = words[2].front() - '0'});
  }
  return {};
}

class IndexMerger {
 public:
  explicit IndexMerger(const IndexMergeInput& input) : input_(input) {}

  IndexMerge merge() {
    std::set<std::string> paths;
    for (const auto* side : {&input_.sandbox, &input_.host}) {
      for (const auto& [path, staged] : *side) paths.insert(path);
    }
    for (const auto& [path, entries] : input_.moved) {
      if (!paths.contains(path)) out_.changes.emplace(path, entries);
    }
    for (const std::string& path : paths) decide(path);
    return std::move(out_);
  }

 private:
  static const StagedPath* find(const StagedPaths& side, const std::string& path) {
    const auto found = side.find(path);
    return found == side.end() ? nullptr : &found->second;
  }
  static bool same_staging(const StagedPath* left, const StagedPath* right) {
    return left != nullptr && right != nullptr && left->in_index == right->in_index;
  }

  void decide(const std::string& path) {
    const StagedPath* const base = find(input_.base, path);
    const StagedPath* const sandbox = find(input_.sandbox, path);
    const StagedPath* const host = find(input_.host, path);
    if (sandbox == nullptr) {
      // The agent has what was sent no longer staged: committed, or taken back.
      if (same_staging(base, host)) follow_head(path, host->in_head);
    } else if (host == nullptr) {
      if (same_staging(base, sandbox)) return follow_head(path, std::nullopt);  // the host took it back
      stage(path, *sandbox);
    } else if (!same_staging(sandbox, host) && !same_staging(base, sandbox)) {
      if (!same_staging(base, host)) return conflict(path);
      stage(path, *sandbox);
    }
  }

  // The entry of the host's new HEAD. `old` is what its HEAD had before; without it, the index has that already.
  void follow_head(const std::string& path, const std::optional<PathEntries>& old) {
    if (const auto moved = input_.moved.find(path); moved != input_.moved.end()) {
      out_.changes.insert_or_assign(path, moved->second);
    } else if (old) {
      out_.changes.insert_or_assign(path, *old);
    }
  }

  // Staged work of the agent stands on the agent's HEAD; on another one it could undo what came from there.
  void stage(const std::string& path, const StagedPath& sandbox) {
    if (!input_.differs_from_sandbox.contains(path)) {
      out_.changes.insert_or_assign(path, sandbox.in_index);
      return;
    }
    conflict(path);
    if (find(input_.host, path) == nullptr) follow_head(path, std::nullopt);
  }

  void conflict(const std::string& path) { out_.conflicts.push_back(path); }

  const IndexMergeInput& input_;
  IndexMerge out_;
};

}  // namespace

bool is_index_path(std::string_view path) {
  return std::ranges::none_of(split(path, '/'), [](std::string_view name) {
    return name.empty() || name == "." || name == ".." || equals_ignoring_case(name, ".git") ||
           equals_ignoring_case(name, "git~1");
  });
}

Result<StagedPaths> parse_raw_changes(std::string_view output) {
  StagedPaths out;
  Records records(output);
  while (const auto record = records.next()) {
    const auto path = records.next();
    const std::vector<std::string_view> words = split(*record, ' ');
    if (!path || path->empty() || words.size() != 5 || !words[0].starts_with(':')) return unexpected();
    StagedPath staged{.in_head = one_entry(words[0].substr(1), words[2]), .in_index = one_entry(words[1], words[3])};
    // A conflict is listed beside what it is about; its stages are added by who knows them.
    if (words[4] == "U") staged.in_index.clear();
    const auto [known, is_new] = out.emplace(*path, staged);
    if (!is_new && known->second.in_head.empty()) known->second.in_head = staged.in_head;
    if (!is_new) known->second.in_index.clear();
  }
  if (!records.is_at_end()) return unexpected();
  return out;
}

Result<StagedPaths> read_staged(GitProgram& git, const RepositoryView& view, const std::string& head,
                                const std::string& index_file) {
  const std::string tree = head.empty() ? empty_tree_id(view.layout().format) : head;
  const auto list = [&](const char* intents) {
    return run_successfully(git, with_index(view.command({"diff-index", "--cached", "--raw", "-z", "--no-renames",
                                                          "--no-abbrev", intents, tree, "--"}),
                                            index_file));
  };
  ASSIGN_OR_RETURN(const std::string with_intents, list("--ita-visible-in-index"));
  ASSIGN_OR_RETURN(StagedPaths staged, parse_raw_changes(with_intents));
  if (staged.empty()) return staged;  // conflicts are among them
  ASSIGN_OR_RETURN(const std::string without_intents, list("--ita-invisible-in-index"));
  ASSIGN_OR_RETURN(const StagedPaths plain, parse_raw_changes(without_intents));
  for (auto& [path, entry] : staged) {
    if (!plain.contains(path) && !entry.in_index.empty()) entry.in_index.front().intent_to_add = true;
  }
  ASSIGN_OR_RETURN(const std::string conflicts,
                   run_successfully(git, with_index(view.command({"ls-files", "--unmerged", "-z"}), index_file)));
  RETURN_IF_ERROR(add_conflicts(staged, conflicts));
  return staged;
}

Result<PathChanges> read_tree_changes(GitProgram& git, const RepositoryView& view, const std::string& from,
                                      const std::string& to) {
  const std::string empty = empty_tree_id(view.layout().format);
  ASSIGN_OR_RETURN(const std::string output,
                   view.run(git, {"diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev",
                                  from.empty() ? empty : from, to.empty() ? empty : to, "--"}));
  ASSIGN_OR_RETURN(StagedPaths changes, parse_raw_changes(output));
  PathChanges out;
  for (auto& [path, change] : changes) out.emplace(path, std::move(change.in_index));
  return out;
}

IndexMerge merge_indexes(const IndexMergeInput& input) {
  return IndexMerger(input).merge();
}

}  // namespace cofferdam::git
