// Servers that the tests of the S3 store talk to, on the loopback address, gone with their owner.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/store_config.h"
#include "system/child_process.h"
#include "system/tree.h"

namespace cofferdam::store {

S3Credentials test_credentials();
// Quick: a test must not wait for seconds.
RetryPolicy quick_retries();

// A program that serves S3, and the folder it works in.
class S3Peer {
 public:
  // Real servers that others wrote; installed outside the tree by ./dev test. Empty when it is there.
  static std::string missing(const std::string& name);
  static std::unique_ptr<S3Peer> start_rclone();
  static std::unique_ptr<S3Peer> start_moto();
  // tests/peers/s3_trouble.py with its faults ("PUT:slowdown:2").
  static std::unique_ptr<S3Peer> start_trouble(const std::vector<std::string>& faults);

  // A bucket of its own.
  S3Location location() const;
  std::unique_ptr<ObjectStore> open() const;
  // Of start_trouble only: one line for each request.
  std::vector<std::string> requests() const;

 private:
  explicit S3Peer(system::TemporaryDirectory folder) : folder_(std::move(folder)) {}
  static std::unique_ptr<S3Peer> make();
  bool spawn(const std::vector<std::string>& command, int output = -1);
  bool wait_until_it_answers();

  system::TemporaryDirectory folder_;
  std::unique_ptr<system::ChildProcess> server_;
  std::string port_;
};

}  // namespace cofferdam::store
