#include "s3_peers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/strings.h"
#include "store/s3_client.h"
#include "system/file.h"

namespace cofferdam::store {
namespace {

constexpr auto kLongestStart = std::chrono::seconds(40);
constexpr auto kPause = std::chrono::milliseconds(50);
constexpr std::size_t kLongestLog = 1 << 20;
constexpr const char* kKeyId = "COFFERDAMTESTKEY";
constexpr const char* kSecret = "cofferdam-test-secret-of-32-bytes";

std::string cache_root() {
  const char* const cache = std::getenv("COFFERDAM_CACHE");
  const char* const home = std::getenv("HOME");
  return cache != nullptr ? cache : std::string(home == nullptr ? "" : home) + "/.cache/cofferdam";
}

std::string program_of(const std::string& name) {
  return cache_root() + "/s3-servers/" + (name == "moto" ? "moto/bin/moto_server" : name);
}

// Free a moment ago; nobody else on the machine asks for this very one.
std::string free_port() {
  const UniqueFd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  EXPECT_EQ(::bind(probe.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  EXPECT_EQ(::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  return std::to_string(ntohs(address.sin_port));
}

}  // namespace

S3Credentials test_credentials() {
  return {.access_key_id = kKeyId, .secret_access_key = crypto::SecretString(kSecret), .session_token = {}};
}

RetryPolicy quick_retries() {
  return {.attempts = 4, .first_pause_ms = 1, .longest_pause_ms = 5};
}

std::string S3Peer::missing(const std::string& name) {
  return ::access(program_of(name).c_str(), X_OK) == 0 ? "" : name + " is not installed (./dev test installs it)";
}

std::unique_ptr<S3Peer> S3Peer::make() {
  auto folder = system::TemporaryDirectory::create("/tmp", "cfd-s3-");
  EXPECT_TRUE(folder);
  if (!folder) return nullptr;
  return std::unique_ptr<S3Peer>(new S3Peer(std::move(*folder)));
}

// The server ends when the test does, however that ends.
bool S3Peer::spawn(const std::vector<std::string>& command, int output) {
  const std::string log = folder_.path() + "/server.log";
  const UniqueFd errors(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  std::vector<std::string> words = {"setpriv", "--pdeathsig", "KILL"};
  words.insert(words.end(), command.begin(), command.end());
  auto server =
      system::ChildProcess::spawn({.program = "/usr/bin/setpriv",
                                   .arguments = words,
                                   .environment = {"PATH=/usr/bin:/bin", "HOME=" + folder_.path(), "LC_ALL=C.UTF-8"},
                                   .descriptors = {-1, output < 0 ? errors.get() : output, errors.get()}});
  EXPECT_TRUE(server) << server.error().to_string();
  if (server) server_ = std::make_unique<system::ChildProcess>(std::move(*server));
  return server.has_value();
}

// Making the bucket shows that it answers.
bool S3Peer::wait_until_it_answers() {
  S3Client client(location(), test_credentials(), quick_retries());
  const auto deadline = std::chrono::steady_clock::now() + kLongestStart;
  while (std::chrono::steady_clock::now() < deadline) {
    const auto made = client.call_once({.method = "PUT", .key = ""});
    if (made && made->status == 200) return true;
    const auto ended = server_->try_wait();
    if (!ended || *ended) break;
    std::this_thread::sleep_for(kPause);
  }
  ADD_FAILURE() << "the server does not answer: "
                << system::read_file(folder_.path() + "/server.log", kLongestLog).value_or("");
  return false;
}

std::unique_ptr<S3Peer> S3Peer::start_rclone() {
  auto peer = make();
  if (peer == nullptr) return nullptr;
  peer->port_ = free_port();
  const std::string data = peer->folder_.path() + "/data";
  EXPECT_TRUE(system::make_private_directories(data));
  const bool started = peer->spawn({program_of("rclone"), "serve", "s3", "--addr", "127.0.0.1:" + peer->port_,
                                    "--auth-key", std::string(kKeyId) + "," + kSecret, data});
  return started && peer->wait_until_it_answers() ? std::move(peer) : nullptr;
}

std::unique_ptr<S3Peer> S3Peer::start_moto() {
  auto peer = make();
  if (peer == nullptr) return nullptr;
  peer->port_ = free_port();
  const bool started = peer->spawn({program_of("moto"), "-H", "127.0.0.1", "-p", peer->port_});
  return started && peer->wait_until_it_answers() ? std::move(peer) : nullptr;
}

std::unique_ptr<S3Peer> S3Peer::start_trouble(const std::vector<std::string>& faults) {
  auto peer = make();
  if (peer == nullptr) return nullptr;
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd from_server(ends[0]);
  UniqueFd to_us(ends[1]);
  std::vector<std::string> command = {"/usr/bin/python3", COFFERDAM_TEST_PEERS "/s3_trouble.py",
                                      peer->folder_.path() + "/requests"};
  command.insert(command.end(), faults.begin(), faults.end());
  if (!peer->spawn(command, to_us.get())) return nullptr;
  to_us.reset();
  char port[16] = "";
  const ssize_t count = ::read(from_server.get(), port, sizeof port - 1);
  EXPECT_GT(count, 0) << "no port";
  peer->port_ = std::string(trimmed(port));
  return peer;
}

S3Location S3Peer::location() const {
  return {.endpoint = "http://127.0.0.1:" + port_, .region = "us-east-1", .bucket = "test-bucket", .path_style = true};
}

std::unique_ptr<ObjectStore> S3Peer::open() const {
  auto store = open_s3_store(location(), test_credentials(), quick_retries());
  EXPECT_TRUE(store);
  return store ? std::move(*store) : nullptr;
}

std::vector<std::string> S3Peer::requests() const {
  const std::string log = system::read_file(folder_.path() + "/requests", kLongestLog).value_or("");
  std::vector<std::string> lines;
  for (const std::string_view line : split(log, '\n')) {
    if (!line.empty()) lines.emplace_back(trimmed(line));
  }
  return lines;
}

}  // namespace cofferdam::store
