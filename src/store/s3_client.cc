#include "store/s3_client.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <random>
#include <thread>

#include "base/ranges.h"
#include "base/strings.h"
#include "store/s3_xml.h"

namespace cofferdam::store {
namespace {

struct Target {
  std::string scheme_and_host;  // "https://host"
  std::string host;
  std::string path;  // encoded
};

Target target_of(const S3Location& location, const std::string& key) {
  const std::size_t host_at = location.endpoint.find("://") + 3;
  const std::string host = (location.path_style ? "" : location.bucket + ".") + location.endpoint.substr(host_at);
  const std::string before_key = location.path_style ? "/" + location.bucket : "";
  const std::string path = before_key + (key.empty() && location.path_style ? "" : "/") + uri_encoded(key, true);
  return {.scheme_and_host = location.endpoint.substr(0, host_at) + host, .host = host, .path = path};
}

HttpRequest signed_request(const S3Location& location, const S3Credentials& credentials, const S3Call& call) {
  const Target target = target_of(location, call.key);
  const S3Request request{.method = call.method,
                          .host = target.host,
                          .path = target.path,
                          .query = call.query,
                          .headers = call.headers,
                          .body = call.body};
  const std::string query = call.query.empty() ? "" : "?" + canonical_query(call.query);
  return {.method = call.method,
          .url = target.scheme_and_host + target.path + query,
          .headers = signed_headers(request, credentials, location.region, amz_date(::time(nullptr))),
          .body = call.body,
          .longest_answer = call.longest_answer};
}

void pause_before(int attempt, const RetryPolicy& retry) {
  std::int64_t bound = retry.first_pause_ms;
  for (int i = 1; i < attempt && bound < retry.longest_pause_ms; ++i) bound *= 2;
  // All of the pause is random: writers that were refused together must not come back together.
  std::minstd_rand random{std::random_device()()};
  const auto pause =
      std::uniform_int_distribution<std::int64_t>(0, std::min<std::int64_t>(bound, retry.longest_pause_ms))(random);
  std::this_thread::sleep_for(std::chrono::milliseconds(pause));
}

ErrorCode code_of_status(int status) {
  if (status == 401 || status == 403) return ErrorCode::kPermissionDenied;
  if (status == 404) return ErrorCode::kNotFound;
  if (status == 409 || status == 412) return ErrorCode::kAlreadyExists;
  if (status == 416) return ErrorCode::kDataLoss;
  if (status == 507) return ErrorCode::kResourceExhausted;
  if (status == 429 || status >= 500) return ErrorCode::kUnavailable;
  return ErrorCode::kFailedPrecondition;
}

std::string hint_for(int status, const std::string& code) {
  if (code == "NoSuchBucket") return "Make the bucket first, or correct its name or the endpoint.";
  if (code == "RequestTimeTooSkewed") return "Set this machine's clock.";
  if (status >= 300 && status < 400) return "The bucket is in another region: set COFFERDAM_STORE_S3_REGION.";
  if (status == 401 || status == 403) return "Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and the bucket's policy.";
  return "";
}

}  // namespace

bool may_change(const HttpAnswer& answer) {
  static constexpr int kStatuses[] = {408, 429, 500, 502, 503, 504};
  if (contains(kStatuses, answer.status)) return true;
  if (answer.status != 400 && answer.status != 409) return false;
  static constexpr std::string_view kCodes[] = {"RequestTimeout", "BadDigest", "XAmzContentSHA256Mismatch",
                                                "OperationAborted", "ConditionalRequestConflict"};
  return contains(kCodes, std::string_view(parse_error_code(answer.body)));
}

Error error_of_answer(const HttpAnswer& answer, const std::string& what) {
  const std::string code = printable(parse_error_code(answer.body)).substr(0, 80);
  ErrorCode kind = code_of_status(answer.status);
  if (code == "NoSuchBucket") kind = ErrorCode::kFailedPrecondition;
  Error error(
      kind, what + ": the storage answered " + std::to_string(answer.status) + (code.empty() ? "" : " (" + code + ")"));
  if (kind == ErrorCode::kUnavailable) error = std::move(error).with_retry(RetryClass::kLater);
  return std::move(error).with_hint(hint_for(answer.status, code));
}

Result<HttpAnswer> S3Client::call_once(const S3Call& call) {
  return http_.send(signed_request(location_, credentials_, call));
}

Result<HttpAnswer> S3Client::call(const S3Call& call) {
  for (int attempt = 1;; ++attempt) {
    auto answer = call_once(call);
    const bool may_help = answer ? may_change(*answer) : answer.error().code() == ErrorCode::kUnavailable;
    if (!may_help || attempt >= retry_.attempts) return answer;
    pause_before(attempt, retry_);
  }
}

}  // namespace cofferdam::store
