// The names under which the rest of the program knows its event loop.
//
// One loop, one thread: coroutines share state without locks as long as they run here. Blocking work goes to a
// BlockingPool, every task to a TaskScope.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

namespace cofferdam::async {

namespace asio = boost::asio;

using Loop = asio::io_context;
using Executor = Loop::executor_type;
using Clock = std::chrono::steady_clock;
using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;
using Tcp = asio::ip::tcp;
using Socket = asio::basic_stream_socket<Tcp, Executor>;

// A coroutine on the loop. Parameters by value: the frame outlives the statement that made it.
template <class T>
using Task = asio::awaitable<T, Executor>;

// co_await operation(kOutcome) gives (error code, results...); for failures that are part of the job.
inline constexpr asio::as_tuple_t<asio::use_awaitable_t<Executor>> kOutcome{asio::use_awaitable_t<Executor>()};

}  // namespace cofferdam::async
