#include "git/refs.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "base/ranges.h"
#include "base/strings.h"
#include "git/files.h"
#include "system/tree.h"

namespace cofferdam::git {
namespace {

constexpr std::size_t kLongestName = 1'024;
constexpr std::size_t kLooseBytes = 4'096;
constexpr std::string_view kSymbolic = "ref:";
constexpr int kSymbolicDepth = 5;  // as Git's own bound

std::size_t id_length(ObjectFormat format) {
  return format == ObjectFormat::kSha1 ? 40 : 64;
}

bool is_forbidden_in_name(char c) {
  constexpr std::string_view kForbidden = " ~^:?*[\\\x7F";
  return static_cast<unsigned char>(c) < ' ' || kForbidden.contains(c);
}

bool is_ref_component(std::string_view part) {
  return !part.empty() && !part.starts_with('.') && !part.ends_with(".lock");
}

struct LooseRef {
  std::string id;      // or
  std::string target;  // of a symbolic one
};
using RefMap = std::map<std::string, LooseRef, std::less<>>;

std::optional<LooseRef> parse_loose(std::string_view text, ObjectFormat format) {
  if (text.starts_with(kSymbolic)) {
    const std::string_view target = trimmed(text.substr(kSymbolic.size()));
    if (!is_ref_name(target)) return std::nullopt;
    return LooseRef{.id = {}, .target = std::string(target)};
  }
  const std::string_view id = text.substr(0, id_length(format));
  const std::string_view rest = text.substr(id.size());
  if (!is_object_id(id, format) || !trimmed(rest.substr(0, 1)).empty()) return std::nullopt;
  return LooseRef{.id = std::string(id), .target = {}};
}

// Walks refs/ with the loose references in it.
class LooseReader {
 public:
  LooseReader(RefMap& refs, ObjectFormat format, const RefBounds& bounds)
      : refs_(refs), format_(format), bounds_(bounds) {}

  Status read(int directory, const std::string& name, int depth) {
    if (depth > bounds_.depth) return too_much("directories nest too deeply");
    ASSIGN_OR_RETURN(const std::vector<std::string> names, system::names_in(directory));
    for (const std::string& child : names) RETURN_IF_ERROR(read_child(directory, child, name + "/" + child, depth));
    return {};
  }

 private:
  static Error too_much(const std::string& why) {
    return Error(ErrorCode::kResourceExhausted, "The references of the repository are too many to read: " + why);
  }

  Status read_child(int directory, const std::string& child, const std::string& name, int depth) {
    if (++seen_ > bounds_.count) return too_much("more than " + std::to_string(bounds_.count));
    auto file = system::open_beneath(directory, child, O_RDONLY);
    if (!file) return {};  // a link, or gone: git ignores what it cannot read
    ASSIGN_OR_RETURN(const system::FileIdentity identity, system::identity_of(file->get()));
    if (S_ISDIR(identity.mode)) return read(file->get(), name, depth + 1);
    if (!S_ISREG(identity.mode) || !is_ref_name(name)) return {};
    ASSIGN_OR_RETURN(const auto text, read_optional(directory, child, kLooseBytes));
    if (auto loose = parse_loose(text.value_or(""), format_)) refs_.insert_or_assign(name, *std::move(loose));
    return {};
  }

  RefMap& refs_;
  ObjectFormat format_;
  const RefBounds& bounds_;
  std::size_t seen_ = 0;
};

std::string resolved(const RefMap& refs, std::string_view name) {
  for (int step = 0; step < kSymbolicDepth; ++step) {
    const auto found = refs.find(name);
    if (found == refs.end()) return "";
    if (found->second.target.empty()) return found->second.id;
    name = found->second.target;
  }
  return "";
}

}  // namespace

std::string_view to_string(ObjectFormat format) {
  return format == ObjectFormat::kSha1 ? "sha1" : "sha256";
}

bool is_object_id(std::string_view text, ObjectFormat format) {
  return text.size() == id_length(format) &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string null_id(ObjectFormat format) {
  return std::string(id_length(format), '0');
}

std::string empty_tree_id(ObjectFormat format) {
  return format == ObjectFormat::kSha1 ? "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
                                       : "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";
}

std::string short_id(std::string_view id) {
  return std::string(id.substr(0, 12));
}

bool is_ref_name(std::string_view name) {
  if (!name.starts_with("refs/") || name.size() > kLongestName || name.ends_with('.')) return false;
  if (name.contains("..") || name.contains("@{") || std::ranges::any_of(name, is_forbidden_in_name)) return false;
  return std::ranges::all_of(split(name, '/'), is_ref_component);
}

std::vector<Ref> parse_packed_refs(std::string_view text, ObjectFormat format) {
  std::vector<Ref> out;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const std::string_view id = line.substr(0, space);
    const std::string_view name = line.substr(space + 1);
    if (is_object_id(id, format) && is_ref_name(name)) out.push_back({std::string(name), std::string(id)});
  }
  return out;
}

std::string render_packed_refs(const std::vector<Ref>& refs) {
  std::string out = "# pack-refs with: sorted \n";
  for (const Ref& ref : refs) out += ref.id + " " + ref.name + "\n";
  return out;
}

Result<std::vector<Ref>> read_refs(int common_dir, ObjectFormat format, const RefBounds& bounds) {
  RefMap refs;
  ASSIGN_OR_RETURN(const auto packed, read_optional(common_dir, "packed-refs", bounds.packed_bytes));
  for (Ref& ref : parse_packed_refs(packed.value_or(""), format)) {
    refs.insert_or_assign(std::move(ref.name), LooseRef{.id = std::move(ref.id), .target = {}});
  }
  ASSIGN_OR_RETURN(const UniqueFd directory, system::open_beneath(common_dir, "refs", O_RDONLY | O_DIRECTORY));
  RETURN_IF_ERROR(LooseReader(refs, format, bounds).read(directory.get(), "refs", 0));
  if (refs.size() > bounds.count) {
    return Error(ErrorCode::kResourceExhausted,
                 "The repository has more than " + std::to_string(bounds.count) + " references");
  }
  std::vector<Ref> out;
  for (const auto& [name, ref] : refs) {
    if (std::string id = resolved(refs, name); !id.empty()) out.push_back({name, std::move(id)});
  }
  return out;
}

Result<Head> read_head(int git_dir, const std::vector<Ref>& refs, ObjectFormat format) {
  ASSIGN_OR_RETURN(const auto text, read_optional(git_dir, "HEAD", kLooseBytes));
  const auto head = text ? parse_loose(*text, format) : std::nullopt;
  if (!head) return Error(ErrorCode::kFailedPrecondition, "The repository has no valid HEAD");
  if (head->target.empty()) return Head{.branch = {}, .id = head->id};
  const std::string* const id = find_ref(refs, head->target);
  return Head{.branch = head->target, .id = id == nullptr ? "" : *id};
}

const std::string* find_ref(const std::vector<Ref>& refs, std::string_view name) {
  const auto found = std::ranges::lower_bound(refs, name, {}, &Ref::name);
  return found != refs.end() && found->name == name ? &found->id : nullptr;
}

}  // namespace cofferdam::git
