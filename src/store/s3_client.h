// Signed requests to one bucket, sent again while that can help.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/http_client.h"
#include "store/s3_signature.h"
#include "store/store_config.h"

namespace cofferdam::store {

// One request, said without the bucket.
struct S3Call {
  std::string method;
  std::string key;  // whole, with the location's prefix; empty: the bucket itself
  std::vector<NameValue> query = {};
  std::vector<NameValue> headers = {};
  std::string_view body = {};
  std::uint64_t longest_answer = 64 * 1024;  // bytes
};

// Thread-safe.
class S3Client {
 public:
  S3Client(S3Location location, S3Credentials credentials, RetryPolicy retry)
      : location_(std::move(location)), credentials_(std::move(credentials)), retry_(retry) {}

  // An answer that sending again would not change, whatever its status; or the error of the last try. A refusal may be
  // that of a repetition: an earlier try may have been carried out and its answer lost.
  Result<HttpAnswer> call(const S3Call& call);
  // One try only.
  Result<HttpAnswer> call_once(const S3Call& call);

  const S3Location& location() const { return location_; }

 private:
  S3Location location_;
  S3Credentials credentials_;
  RetryPolicy retry_;
  HttpClient http_;
};

// Whether the same request may have another answer later: the storage is busy, or got it damaged or late.
bool may_change(const HttpAnswer& answer);

// What a refusal means, for the object or bucket `what`. Takes nothing from the answer but its status and its <Code>.
Error error_of_answer(const HttpAnswer& answer, const std::string& what);

}  // namespace cofferdam::store
