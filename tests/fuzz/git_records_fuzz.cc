// What a sandbox's repository gives beside its configuration: the header of a bundle, packed references, and git's
// lists of changes. The first byte chooses.
//
// links: cofferdam_git
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "git/bundle_header.h"
#include "git/refs.h"
#include "git/staged.h"

namespace {

using namespace cofferdam::git;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_bundle(std::string_view text) {
  constexpr std::size_t kMostRefs = 16;
  const auto header = parse_bundle_header(text, kMostRefs);
  if (!header) return;
  require(header->size <= text.size() && header->refs.size() <= kMostRefs);
  for (const Ref& ref : header->refs) {
    require(ref.name == "HEAD" || is_ref_name(ref.name));
    require(is_object_id(ref.id, header->format));
  }
}

void check_packed_refs(std::string_view text) {
  const auto refs = parse_packed_refs(text, ObjectFormat::kSha1);
  require(std::ranges::all_of(refs, [](const Ref& ref) { return is_ref_name(ref.name); }));
  require(parse_packed_refs(render_packed_refs(refs), ObjectFormat::kSha1) == refs);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 3) {
    case 0:
      check_bundle(text);
      break;
    case 1:
      check_packed_refs(text);
      break;
    default:
      (void)parse_raw_changes(text);
  }
  return 0;
}
