// A Git index out of a sandbox. Whatever is accepted has names within their bound.
//
// links: cofferdam_git
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "git/index_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cofferdam::git;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const ObjectFormat format : {ObjectFormat::kSha1, ObjectFormat::kSha256}) {
    const auto names = parse_index(bytes, format, {.entries = 10'000});
    if (!names) continue;
    for (const IndexName& name : *names) {
      if (name.path.size() > IndexBounds{}.path_bytes) std::abort();
    }
  }
  return 0;
}
