// What the proxy process gives up before it hears from anybody.
#pragma once

#include "base/result.h"
#include "egress/config.h"

namespace cofferdam::egress {

// Not dumpable, no new privileges, another user when the configuration names one, no capabilities; as many open
// files as the system allows. Must run while the process has one thread only.
Status harden_process(const EgressConfig& config);

}  // namespace cofferdam::egress
