// What a provider can do beyond the contract's core.
#pragma once

#include <string_view>
#include <utility>

namespace cofferdam::provider {

struct Capabilities {
  bool reusable_leases = false;     // resume() finds a released sandbox again
  bool native_sync_in = false;      // sync_in(); else files go through execute()
  bool native_sync_out = false;     // sync_out()
  bool concurrent_sync = false;     // several syncs of one lease at once
  bool incremental_output = false;  // output arrives while the command runs, not at its end
  bool streaming_input = false;     // input is read as it comes, not collected before the start
  bool terminal = false;            // ExecuteRequest::terminal
  bool signals = false;             // signal() reaches a running execution
  bool attach = false;              // attach() finds an execution again after its starter died
  bool pause = false;               // pause(); resume() wakes it
  bool egress_grants = false;       // AcquireRequest::grant is enforced
  bool expiry = false;              // the sandbox ends itself at Lease::expires_at
  bool listing = false;             // list(): what exists, for the reaper

  bool operator==(const Capabilities&) const = default;
};

// Calls use(name, value) for each, in the order above; the names are interface (`provider show`, the API, reports).
template <class Use>
void for_each_capability(const Capabilities& capabilities, Use use) {
  constexpr std::pair<std::string_view, bool Capabilities::*> kAll[] = {
      {"reusableLeases", &Capabilities::reusable_leases},
      {"nativeSyncIn", &Capabilities::native_sync_in},
      {"nativeSyncOut", &Capabilities::native_sync_out},
      {"concurrentSyncOperations", &Capabilities::concurrent_sync},
      {"incrementalSessionOutput", &Capabilities::incremental_output},
      {"streamingInput", &Capabilities::streaming_input},
      {"terminal", &Capabilities::terminal},
      {"signals", &Capabilities::signals},
      {"attach", &Capabilities::attach},
      {"pause", &Capabilities::pause},
      {"egressGrants", &Capabilities::egress_grants},
      {"expiry", &Capabilities::expiry},
      {"listing", &Capabilities::listing},
  };
  for (const auto& [name, member] : kAll) use(name, capabilities.*member);
}

}  // namespace cofferdam::provider
