#include "workspace/merge_journal.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "base/hex.h"
#include "base/strings.h"
#include "crypto/seal.h"
#include "system/file.h"
#include "system/tree.h"

namespace cofferdam::workspace {
namespace {

constexpr std::string_view kFormat = "cofferdam-merge-1";
constexpr std::size_t kIdBytes = 16;
constexpr std::size_t kLongestRecord = std::size_t{2} << 30;
constexpr std::array kVerbs = {
    MergeVerb::kDelete, MergeVerb::kRemoveDirectory, MergeVerb::kMoveAside, MergeVerb::kMakeDirectory,
    MergeVerb::kAdd,    MergeVerb::kUpdate,          MergeVerb::kSetMode};

using Words = std::vector<std::string_view>;

Error damaged(std::string_view name) {
  return Error(ErrorCode::kDataLoss, "the journal of an interrupted merge is damaged: " + std::string(name))
      .with_hint("What the merge replaced is in 'originals' beside it; copy what you need and remove the directory.");
}

std::optional<MergeVerb> verb_named(std::string_view name) {
  const auto found = std::ranges::find_if(kVerbs, [&](MergeVerb verb) { return name == to_string(verb); });
  return found == kVerbs.end() ? std::nullopt : std::optional(*found);
}

// Every record is lines of words; paths are hexadecimal, since they may hold anything.
std::vector<Words> lines_of(std::string_view text) {
  std::vector<Words> lines;
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty()) lines.push_back(split(line, ' '));
  }
  return lines;
}

std::string step_line(std::size_t number, const MergeAction& action) {
  const std::uint32_t before = action.before ? action.before->mode : 0;
  const std::uint32_t after = action.after ? action.after->mode : 0;
  return std::to_string(number) + " " + to_string(action.verb) + " " + std::to_string(before) + " " +
         std::to_string(after) + " " + to_hex(action.path) + "\n";
}

std::string plan_text(const std::string& id, const MergePlan& plan) {
  std::string text = std::string(kFormat) + " " + id + " " + plan.run_id + "\n";
  for (std::size_t number = 0; number < plan.actions.size(); ++number) {
    if (plan.actions[number].verb != MergeVerb::kKeep) text += step_line(number, plan.actions[number]);
  }
  return text;
}

std::optional<JournalStep> parse_step(const Words& words) {
  if (words.size() != 5) return std::nullopt;
  const auto number = parse_decimal(words[0]);
  const auto verb = verb_named(words[1]);
  const auto before = parse_decimal(words[2]);
  const auto after = parse_decimal(words[3]);
  const auto path = from_hex(words[4]);
  if (!number || !verb || !before || !after || !path || path->empty()) return std::nullopt;
  return JournalStep{*number, *verb, static_cast<std::uint32_t>(*before), static_cast<std::uint32_t>(*after), *path};
}

std::string prepared_text(const std::map<std::size_t, Prepared>& prepared) {
  std::string text;
  for (const auto& [number, object] : prepared) {
    text += std::to_string(number) + " " + std::to_string(object.inode) + " " + std::to_string(object.size) + " " +
            std::to_string(object.mtime_ns) + "\n";
  }
  return text;
}

Result<std::map<std::size_t, Prepared>> parse_prepared(std::string_view text) {
  std::map<std::size_t, Prepared> prepared;
  for (const Words& words : lines_of(text)) {
    if (words.size() != 4) return damaged("staged");
    const auto number = parse_decimal(words[0]);
    const auto inode = parse_decimal(words[1]);
    const auto size = parse_decimal(words[2]);
    const auto mtime = parse_decimal(words[3]);
    if (!number || !inode || !size || !mtime) return damaged("staged");
    prepared[*number] = {*inode, *size, static_cast<std::int64_t>(*mtime)};
  }
  return prepared;
}

std::string aside_text(const std::map<std::size_t, std::string>& asides) {
  std::string text;
  for (const auto& [number, path] : asides) text += std::to_string(number) + " " + to_hex(path) + "\n";
  return text;
}

Result<std::map<std::size_t, std::string>> parse_asides(std::string_view text) {
  std::map<std::size_t, std::string> asides;
  for (const Words& words : lines_of(text)) {
    if (words.size() != 2) return damaged("aside");
    const auto number = parse_decimal(words[0]);
    const auto path = from_hex(words[1]);
    if (!number || !path) return damaged("aside");
    asides[*number] = *path;
  }
  return asides;
}

// Nothing when the record was never written.
Result<std::optional<std::string>> read_record(const std::string& directory, const char* name) {
  auto text = system::read_file(directory + "/" + name, kLongestRecord);
  if (text) return std::optional(std::move(*text));
  if (text.error().code() == ErrorCode::kNotFound) return std::optional<std::string>();
  return std::move(text.error());
}

}  // namespace

Status MergeJournal::write(const char* name, const std::string& text) const {
  RETURN_IF_ERROR(system::replace_file(path_ + "/" + name, text, 0600));
  return system::synchronise(directory_.get(), path_);
}

Result<MergeJournal> MergeJournal::create(const std::string& directory, const MergePlan& plan) {
  RETURN_IF_ERROR(system::make_private_directories(directory));
  ASSIGN_OR_RETURN(UniqueFd opened, system::open_directory(directory));
  ASSIGN_OR_RETURN(const std::optional<MergeJournal> earlier, load(directory));
  if (earlier) {
    return Error(ErrorCode::kFailedPrecondition, "an earlier merge of this workspace was interrupted")
        .with_hint("It must be recovered before the next one begins.");
  }
  MergeJournal journal(directory, std::move(opened));
  journal.id_ = crypto::random_hex(kIdBytes);
  journal.run_id_ = plan.run_id;
  RETURN_IF_ERROR(journal.write("plan", plan_text(journal.id_, plan)));
  return journal;
}

Result<std::optional<MergeJournal>> MergeJournal::load(const std::string& directory) {
  auto opened = system::open_directory(directory);
  if (!opened && opened.error().code() == ErrorCode::kNotFound) return std::optional<MergeJournal>();
  if (!opened) return std::move(opened.error());
  MergeJournal journal(directory, std::move(*opened));
  ASSIGN_OR_RETURN(const auto committed, read_record(directory, "committed"));
  ASSIGN_OR_RETURN(const auto plan, read_record(directory, "plan"));
  if (!plan && !committed) return std::optional<MergeJournal>();
  const std::vector<Words> lines = lines_of(plan ? *plan : *committed);
  if (lines.empty() || lines[0].size() != 3 || lines[0][0] != kFormat || !from_hex(lines[0][1])) return damaged("plan");
  journal.committed_ = committed.has_value();
  journal.id_ = lines[0][1];
  journal.run_id_ = lines[0][2];
  for (std::size_t line = 1; line < lines.size(); ++line) {
    const auto step = parse_step(lines[line]);
    if (!step) return damaged("plan");
    journal.steps_.push_back(*step);
  }
  ASSIGN_OR_RETURN(const auto staged, read_record(directory, "staged"));
  journal.staged_ = staged.has_value();
  if (staged) {
    ASSIGN_OR_RETURN(journal.prepared_, parse_prepared(*staged));
  }
  ASSIGN_OR_RETURN(const auto aside, read_record(directory, "aside"));
  if (aside) {
    ASSIGN_OR_RETURN(journal.asides_, parse_asides(*aside));
  }
  return std::optional(std::move(journal));
}

Status MergeJournal::record_prepared(std::map<std::size_t, Prepared> prepared) {
  RETURN_IF_ERROR(write("staged", prepared_text(prepared)));
  prepared_ = std::move(prepared);
  staged_ = true;
  return {};
}

Status MergeJournal::record_asides(std::map<std::size_t, std::string> paths) {
  if (paths.empty()) return {};
  asides_ = std::move(paths);
  return write("aside", aside_text(asides_));
}

Status MergeJournal::record_aside(std::size_t number, const std::string& path) {
  std::string& recorded = asides_[number];
  if (recorded == path) return {};
  recorded = path;
  return write("aside", aside_text(asides_));
}

Status MergeJournal::commit() {
  RETURN_IF_ERROR(write("committed", std::string(kFormat) + " " + id_ + " " + run_id_ + "\n"));
  committed_ = true;
  return {};
}

// "plan" or "committed" goes last: while one of them is there, the rest is found.
Status MergeJournal::erase() {
  ASSIGN_OR_RETURN(std::vector<std::string> names, system::names_in(directory_.get()));
  std::erase_if(names, [](const std::string& name) { return name == "plan" || name == "committed"; });
  names.insert(names.end(), {"plan", "committed"});
  for (const std::string& name : names) RETURN_IF_ERROR(system::remove_tree_at(directory_.get(), name));
  return system::synchronise(directory_.get(), path_);
}

}  // namespace cofferdam::workspace
