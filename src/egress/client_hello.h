// Reads the first bytes of a TLS connection far enough to know which server it is for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cofferdam::egress {

// A hello longer than this is refused; the longest known (post-quantum key shares, many extensions) are below 4 KiB.
inline constexpr std::size_t kMaxClientHelloBytes = 16 * 1024;

struct ClientHello {
  enum class State : std::uint8_t {
    kIncomplete,  // could become a hello; more bytes are needed
    kNotTls,      // the bytes are something else
    kMalformed,   // TLS, but not a hello that can be read without doubt
    kComplete,
  };
  State state = State::kIncomplete;
  std::string server_name;  // as sent; empty when the hello names no server
};

// Pure; asked again from the start whenever more bytes have come. The hello may be split over records.
ClientHello read_client_hello(std::string_view bytes);

}  // namespace cofferdam::egress
