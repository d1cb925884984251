// What find prints in a sandbox. Whatever is accepted is in order, and can be planned and judged.
//
// links: cofferdam_recovery
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "recovery/listing.h"
#include "recovery/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cofferdam::recovery;
  const auto entries = parse_listing({reinterpret_cast<const char*>(data), size});
  if (!entries) return 0;
  if (first_change(*entries, *entries)) std::abort();
  const CapturePlan plan = choose_entries(*entries, {}, {}, false);
  if (plan.entries.size() + 1 > entries->size()) std::abort();
  (void)check_plan(plan, {}, {});
  (void)history_is_inside(*entries);
  return 0;
}
