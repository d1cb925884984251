// Moves bytes between two connected sockets until both directions have ended.
#pragma once

#include <cstdint>
#include <string>

#include "async/loop.h"
#include "egress/pipe_pool.h"

namespace cofferdam::egress {

// Closes so that the peer sees a reset: it must not take what it has for the whole.
void reset_connection(async::Socket& socket);

// One tunnel. Lives in the frame of the coroutine that awaits pump() for both directions; the sockets, the pool and
// the counter belong to others and outlive it. Loop thread only.
//
// The end of one direction is passed on as a half-close; a reset of either side resets the other. While nothing
// moves a relay holds neither buffer nor pipe.
class Relay {
 public:
  Relay(async::Socket& client, async::Socket& upstream, PipePool& pipes)
      : client_(client), upstream_(upstream), pipes_(pipes) {}
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // Both directions at once.
  async::Task<void> run();

  // Moves what one side sends until it ends, then waits until the other direction has ended too.
  async::Task<void> pump_up() { return pump(client_, upstream_, bytes_up, up_done_, down_done_); }
  async::Task<void> pump_down() { return pump(upstream_, client_, bytes_down, down_done_, up_done_); }

  // Ends both directions at once and lets both peers see a reset.
  void abort();

  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;

 private:
  enum class Moved : bool { kAgain, kEnd };

  async::Task<void> pump(async::Socket& from, async::Socket& to, std::uint64_t& counter, bool& done, bool& other_done);
  async::Task<Moved> move_spliced(async::Socket& from, async::Socket& to, std::uint64_t& counter);
  async::Task<Moved> move_copied(async::Socket& from, async::Socket& to, std::uint64_t& counter);

  async::Socket& client_;
  async::Socket& upstream_;
  PipePool& pipes_;
  bool up_done_ = false;
  bool down_done_ = false;
  bool aborted_ = false;
};

}  // namespace cofferdam::egress
