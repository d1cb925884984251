#include "egress/client_hello.h"

#include <gtest/gtest.h>

#include "hello_bytes.h"

namespace cofferdam::egress {
namespace {

using State = ClientHello::State;

TEST(ClientHelloTest, FindsTheServerName) {
  const ClientHello hello = read_client_hello(hello_for("example.com"));
  EXPECT_EQ(hello.state, State::kComplete);
  EXPECT_EQ(hello.server_name, "example.com");
}

TEST(ClientHelloTest, AHelloMayNameNoServer) {
  const ClientHello hello = read_client_hello(hello_for(""));
  EXPECT_EQ(hello.state, State::kComplete);
  EXPECT_EQ(hello.server_name, "");
}

TEST(ClientHelloTest, WaitsForEveryPrefix) {
  const std::string whole = hello_for("example.com");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_EQ(read_client_hello(std::string_view(whole).substr(0, length)).state, State::kIncomplete) << length;
  }
}

TEST(ClientHelloTest, ReadsAHelloSplitOverRecords) {
  for (const std::size_t piece : {1UZ, 2UZ, 3UZ, 7UZ, 50UZ, 100UZ}) {
    const ClientHello hello = read_client_hello(hello_for("example.com", piece));
    EXPECT_EQ(hello.state, State::kComplete) << piece;
    EXPECT_EQ(hello.server_name, "example.com") << piece;
  }
}

TEST(ClientHelloTest, IgnoresWhatFollows) {
  EXPECT_EQ(read_client_hello(hello_for("a.com") + "garbage").server_name, "a.com");
}

TEST(ClientHelloTest, TellsOtherProtocolsApart) {
  using namespace std::literals;
  for (const std::string_view text :
       {"GET / HTTP/1.1\r\n"sv, "SSH-2.0-x"sv, "\x80\x2e\x01\x03\x01"sv, "\x16\x02"sv, "\x16\x03\x09"sv,
        "\x15\x03\x01\x00\x02"sv, "\x16\x03\x01\x00\x00"sv, "\x16\x03\x01\xff\xff"sv, "\0"sv}) {
    EXPECT_EQ(read_client_hello(text).state, State::kNotTls);
  }
}

TEST(ClientHelloTest, RefusesWhatCanBeReadInTwoWays) {
  const std::string name = server_name_extension("a.com");
  EXPECT_EQ(read_client_hello(hello_with(name + server_name_extension("b.com"))).state, State::kMalformed);
  EXPECT_EQ(read_client_hello(hello_with(name + name)).state, State::kMalformed);
  // Two names in one extension.
  const std::string two = entry("a.com") + entry("b.com");
  EXPECT_EQ(read_client_hello(hello_with(extension(0, counted16(two)))).state, State::kMalformed);
  EXPECT_EQ(read_client_hello(hello_with(extension(0, counted16(entry(""))))).state, State::kMalformed);
  EXPECT_EQ(read_client_hello(hello_with(extension(0, counted16(entry("a.com")) + "x"))).state, State::kMalformed);
  EXPECT_EQ(read_client_hello(hello_with(extension(0, ""))).state, State::kMalformed);
  EXPECT_EQ(read_client_hello(hello_with(name.substr(0, name.size() - 1))).state, State::kMalformed);
  // A second record that is no handshake, before the hello is complete.
  const std::string whole = hello_for("example.com", 40);
  EXPECT_EQ(read_client_hello(whole.substr(0, 45) + "\x17\x03\x03").state, State::kMalformed);
  // Another handshake message.
  std::string other = hello_for("example.com");
  other[5] = 2;
  EXPECT_EQ(read_client_hello(other).state, State::kMalformed);
}

TEST(ClientHelloTest, KeepsItsBound) {
  EXPECT_EQ(
      read_client_hello(hello_with(server_name_extension("a.com") + extension(21, std::string(15'000, '\0')))).state,
      State::kComplete);
  EXPECT_EQ(read_client_hello(hello_with(extension(21, std::string(kMaxClientHelloBytes, '\0')), 16'000)).state,
            State::kMalformed);
}

}  // namespace
}  // namespace cofferdam::egress
