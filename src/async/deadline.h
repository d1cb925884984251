// A bound on how long something may take.
#pragma once

#include <functional>
#include <memory>

#include "async/loop.h"

namespace cofferdam::async {

// Calls `on_expiry` on the loop when `after` has passed and the deadline still exists; never once it is destroyed.
// What to do then (close a socket, cancel an operation) is the owner's business; the waiting operation fails and
// expired() tells why.
class Deadline {
 public:
  Deadline(Executor executor, Clock::duration after, std::function<void()> on_expiry);
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline();

  bool expired() const { return state_->expired; }

 private:
  struct State {
    Timer timer;
    std::function<void()> on_expiry;
    bool expired = false;
  };
  std::shared_ptr<State> state_;  // shared with the pending wait, which may outlive this object
};

}  // namespace cofferdam::async
