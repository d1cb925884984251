// The life of the proxy process, over the descriptors that its supervisor gives it:
//
//   0  end of the run when it ends        1  the summary, one JSON line      2  messages
//   3  configuration, JSON to its end     4  channel that brings listeners   5  decision log (may be closed)
#pragma once

namespace cofferdam::egress {

// Returns the exit status: 0 after a complete run, 1 when it could not start.
int run_proxy_process();

}  // namespace cofferdam::egress
