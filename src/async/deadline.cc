#include "async/deadline.h"

#include <utility>

namespace cofferdam::async {

Deadline::Deadline(Executor executor, Clock::duration after, std::function<void()> on_expiry)
    : state_(std::make_shared<State>(Timer(executor, after), std::move(on_expiry))) {
  state_->timer.async_wait([state = state_](const boost::system::error_code& failure) {
    if (failure || !state->on_expiry) return;
    state->expired = true;
    state->on_expiry();
  });
}

Deadline::~Deadline() {
  state_->on_expiry = nullptr;
  state_->timer.cancel();
}

}  // namespace cofferdam::async
