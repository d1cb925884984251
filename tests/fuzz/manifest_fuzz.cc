// links: cofferdam_snapshot
// The encoding of a manifest: whatever decodes must encode to the same bytes again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "snapshot/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto manifest = cofferdam::snapshot::decode(bytes);
  if (manifest && cofferdam::snapshot::encode(*manifest) != bytes) std::abort();
  return 0;
}
