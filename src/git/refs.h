// Object names and references of a repository, read as data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cofferdam::git {

enum class ObjectFormat : std::uint8_t { kSha1, kSha256 };
std::string_view to_string(ObjectFormat format);  // as extensions.objectFormat has it

// Whether `text` is a whole object name in lower-case hexadecimal.
bool is_object_id(std::string_view text, ObjectFormat format);
std::string null_id(ObjectFormat format);
std::string empty_tree_id(ObjectFormat format);  // known to every git without being stored
std::string short_id(std::string_view id);       // the 12 digits that messages show

// A full name ("refs/heads/main") that git check-ref-format accepts and that is at most 1,024 bytes long.
bool is_ref_name(std::string_view name);

struct Ref {
  std::string name;
  std::string id;
  auto operator<=>(const Ref&) const = default;
};

struct RefBounds {
  std::size_t count = 100'000;
  std::size_t packed_bytes = std::size_t{64} << 20;
  int depth = 32;  // of directories
};

// Where HEAD points.
struct Head {
  std::string branch;  // full name; empty when detached
  std::string id;      // the commit; empty when the branch is unborn
  bool is_unborn() const { return id.empty(); }
  bool operator==(const Head&) const = default;
};

// The text of a packed-refs file. Lines that git would not accept are left out.
std::vector<Ref> parse_packed_refs(std::string_view text, ObjectFormat format);
// The text that holds `refs`, which are in order of their names.
std::string render_packed_refs(const std::vector<Ref>& refs);

// All references below the common Git directory, in order of their names; loose ones win over packed ones. What is no
// valid reference is left out, as git does; symbolic ones that lead to another of them have its value.
Result<std::vector<Ref>> read_refs(int common_dir, ObjectFormat format, const RefBounds& bounds = {});

// HEAD below a Git directory. kFailedPrecondition when there is none or it is neither a branch nor an object name.
Result<Head> read_head(int git_dir, const std::vector<Ref>& refs, ObjectFormat format);

// The value of a reference; nullptr when it is not among `refs`, which are in order.
const std::string* find_ref(const std::vector<Ref>& refs, std::string_view name);

}  // namespace cofferdam::git
