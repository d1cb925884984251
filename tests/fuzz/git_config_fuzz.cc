// The text of a Git configuration from a repository that somebody else wrote. Whatever is accepted must be rendered and
// read back the same, and what is filtered must be portable.
//
// links: cofferdam_git
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "git/config_file.h"
#include "git/portable_config.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cofferdam::git;
  const auto settings = parse_config({reinterpret_cast<const char*>(data), size});
  if (!settings) return 0;
  const auto again = parse_config(render_config(*settings), {.bytes = size * 8 + 64});
  require(again && *again == *settings);
  require(nonportable_settings(portable_settings(*settings)).empty());
  return 0;
}
