#include "egress/client_hello.h"

#include <optional>

namespace cofferdam::egress {
namespace {

using State = ClientHello::State;

constexpr std::size_t kRecordHeaderBytes = 5;
constexpr std::size_t kHandshakeHeaderBytes = 4;
constexpr std::size_t kMaxRecordBytes = 16384;
constexpr std::uint8_t kHandshakeRecord = 22;
constexpr std::uint8_t kClientHelloMessage = 1;
constexpr std::uint16_t kServerNameExtension = 0;

// Takes big-endian numbers and counted pieces off the front; every taker fails on too few bytes.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }

  std::optional<std::string_view> take(std::size_t count) {
    if (bytes_.size() < count) return std::nullopt;
    const std::string_view out = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return out;
  }
  std::optional<std::size_t> number(std::size_t width) {
    const std::optional<std::string_view> digits = take(width);
    if (!digits) return std::nullopt;
    std::size_t value = 0;
    for (const char byte : *digits) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }
  std::optional<std::string_view> counted(std::size_t width) {
    const std::optional<std::size_t> count = number(width);
    if (!count) return std::nullopt;
    return take(*count);
  }

 private:
  std::string_view bytes_;
};

std::uint8_t byte_at(std::string_view bytes, std::size_t index) {
  return static_cast<std::uint8_t>(bytes[index]);
}

// The name inside a server_name extension: exactly one entry, of the type host name.
std::optional<std::string> server_name(std::string_view extension) {
  Reader outer(extension);
  const std::optional<std::string_view> list = outer.counted(2);
  if (!list || !outer.empty()) return std::nullopt;
  Reader entries(*list);
  const std::optional<std::size_t> type = entries.number(1);
  const std::optional<std::string_view> name = entries.counted(2);
  if (!type || *type != 0 || !name || name->empty() || !entries.empty()) return std::nullopt;
  return std::string(*name);
}

ClientHello parse_body(std::string_view body) {
  const ClientHello malformed{.state = State::kMalformed, .server_name = {}};
  Reader reader(body);
  const auto version_and_random = reader.take(2 + 32);
  const auto session = reader.counted(1);
  const auto ciphers = reader.counted(2);
  const auto compression = reader.counted(1);
  if (!version_and_random || !session || !ciphers || !compression) return malformed;
  ClientHello out{.state = State::kComplete, .server_name = {}};
  if (reader.empty()) return out;  // no extensions at all: TLS 1.2 allows it
  const auto extensions = reader.counted(2);
  if (!extensions || !reader.empty()) return malformed;
  Reader rest(*extensions);
  while (!rest.empty()) {
    const std::optional<std::size_t> type = rest.number(2);
    const std::optional<std::string_view> content = rest.counted(2);
    if (!type || !content) return malformed;
    if (*type != kServerNameExtension) continue;
    const std::optional<std::string> name = server_name(*content);
    // A second server_name extension would let two readers see two names.
    if (!name || !out.server_name.empty()) return malformed;
    out.server_name = *name;
  }
  return out;
}

// Whether the bytes so far can be the header of a handshake record.
State record_state(std::string_view bytes) {
  if (byte_at(bytes, 0) != kHandshakeRecord) return State::kNotTls;
  if (bytes.size() > 1 && byte_at(bytes, 1) != 3) return State::kNotTls;
  if (bytes.size() > 2 && byte_at(bytes, 2) > 4) return State::kNotTls;
  return bytes.size() < kRecordHeaderBytes ? State::kIncomplete : State::kComplete;
}

}  // namespace

ClientHello read_client_hello(std::string_view bytes) {
  if (bytes.empty()) return {};
  std::string message;
  bool first = true;
  while (!bytes.empty()) {
    const State header = record_state(bytes);
    if (header == State::kNotTls) return {first ? State::kNotTls : State::kMalformed, {}};
    if (header == State::kIncomplete) return {};
    const std::size_t length = static_cast<std::size_t>(byte_at(bytes, 3)) << 8 | byte_at(bytes, 4);
    if (length == 0 || length > kMaxRecordBytes) return {first ? State::kNotTls : State::kMalformed, {}};
    bytes.remove_prefix(kRecordHeaderBytes);
    message += bytes.substr(0, length);
    bytes.remove_prefix(std::min(length, bytes.size()));
    first = false;
    if (!message.empty() && byte_at(message, 0) != kClientHelloMessage) return {State::kMalformed, {}};
    if (message.size() < kHandshakeHeaderBytes) continue;
    Reader reader(std::string_view(message).substr(1));
    const std::size_t body_bytes = *reader.number(3);
    if (body_bytes > kMaxClientHelloBytes) return {State::kMalformed, {}};
    if (const std::optional<std::string_view> body = reader.take(body_bytes)) return parse_body(*body);
  }
  return {};
}

}  // namespace cofferdam::egress
