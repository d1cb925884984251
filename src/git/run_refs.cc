#include "git/run_refs.h"

#include <algorithm>

#include "base/strings.h"

namespace cofferdam::git {
namespace {

constexpr std::size_t kLongestRun = 64;
constexpr std::string_view kRefs = "refs/";

bool is_run_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

// "a" and "a/b" cannot both be references: only one can be a file.
bool lies_below_another(const std::vector<Ref>& refs, const Ref& ref) {
  return std::ranges::any_of(refs, [&](const Ref& other) { return ref.name.starts_with(other.name + "/"); });
}

}  // namespace

Status check_run_name(std::string_view run) {
  if (!run.empty() && run.size() <= kLongestRun && std::ranges::all_of(run, is_run_character)) return {};
  return Error(ErrorCode::kInvalidArgument, "\"" + printable(run) + "\" cannot be the name of a run");
}

std::string run_prefix(std::string_view run) {
  return "refs/paperclip/git-sync/imported/sandbox/" + std::string(run);
}

std::string run_ref(std::string_view run, std::string_view name) {
  if (name.starts_with(kRefs)) name.remove_prefix(kRefs.size());
  return run_prefix(run) + "/" + std::string(name);
}

std::vector<Ref> run_refs(const ExportedHistory& exported) {
  std::vector<Ref> out;
  for (const Ref& ref : exported.refs) {
    if (!lies_below_another(exported.refs, ref)) out.push_back({run_ref(exported.run, ref.name), ref.id});
  }
  if (!exported.head.is_unborn() && exported.head.id != exported.base_head.id) {
    out.push_back({run_ref(exported.run, "HEAD"), exported.head.id});
  }
  if (!exported.index_id.empty()) out.push_back({run_ref(exported.run, "index"), exported.index_id});
  std::erase_if(out, [](const Ref& ref) { return !is_ref_name(ref.name); });
  std::ranges::sort(out);
  return out;
}

}  // namespace cofferdam::git
