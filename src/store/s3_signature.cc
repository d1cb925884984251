#include "store/s3_signature.h"

#include <algorithm>
#include <ctime>

#include "base/strings.h"
#include "crypto/hmac.h"
#include "crypto/sha256.h"

namespace cofferdam::store {
namespace {

constexpr const char* kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::size_t kDayLength = 8;  // of "20130524T000000Z"

bool is_unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

std::string scope_of(const std::string& date, const std::string& region) {
  return date.substr(0, kDayLength) + "/" + region + "/s3/aws4_request";
}

// Names in lower case, sorted: the order in which they are signed.
std::vector<NameValue> canonical_headers(std::vector<NameValue> headers) {
  for (auto& [name, value] : headers) {
    name = ascii_lower(name);
    value = std::string(trimmed(value));
  }
  std::ranges::sort(headers);
  return headers;
}

std::string names_of(const std::vector<NameValue>& headers) {
  std::vector<std::string> names;
  for (const auto& [name, value] : headers) names.push_back(name);
  return join(names, ";");
}

std::string canonical_request(const S3Request& request, const std::vector<NameValue>& headers,
                              const std::string& payload_hash) {
  std::string text = request.method + "\n" + request.path + "\n" + canonical_query(request.query) + "\n";
  for (const auto& [name, value] : headers) text += name + ":" + value + "\n";
  return text + "\n" + names_of(headers) + "\n" + payload_hash;
}

Digest signing_key(const S3Credentials& credentials, const std::string& date, const std::string& region) {
  const crypto::SecretString secret("AWS4" + std::string(credentials.secret_access_key.reveal()));
  const Digest day = crypto::hmac_sha256(secret.reveal(), date.substr(0, kDayLength));
  const Digest in_region = crypto::hmac_sha256(day.view(), region);
  const Digest service = crypto::hmac_sha256(in_region.view(), "s3");
  return crypto::hmac_sha256(service.view(), "aws4_request");
}

}  // namespace

std::string uri_encoded(std::string_view text, bool keep_slash) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (is_unreserved(c) || (keep_slash && c == '/')) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return encoded;
}

std::string canonical_query(const std::vector<NameValue>& query) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : query) parts.push_back(uri_encoded(name, false) + "=" + uri_encoded(value, false));
  std::ranges::sort(parts);
  return join(parts, "&");
}

std::string amz_date(std::int64_t seconds_since_epoch) {
  const std::time_t time = seconds_since_epoch;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[sizeof "20130524T000000Z"];
  (void)std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
  return text;
}

std::vector<NameValue> signed_headers(const S3Request& request, const S3Credentials& credentials,
                                      const std::string& region, const std::string& date) {
  const std::string payload_hash = crypto::sha256(request.body).hex();
  std::vector<NameValue> headers = request.headers;
  headers.emplace_back("host", request.host);
  headers.emplace_back("x-amz-content-sha256", payload_hash);
  headers.emplace_back("x-amz-date", date);
  if (!credentials.session_token.empty()) {
    headers.emplace_back("x-amz-security-token", credentials.session_token.reveal());
  }
  headers = canonical_headers(std::move(headers));

  const std::string to_sign = std::string(kAlgorithm) + "\n" + date + "\n" + scope_of(date, region) + "\n" +
                              crypto::sha256(canonical_request(request, headers, payload_hash)).hex();
  const Digest signature = crypto::hmac_sha256(signing_key(credentials, date, region).view(), to_sign);
  const std::string authorization = std::string(kAlgorithm) + " Credential=" + credentials.access_key_id + "/" +
                                    scope_of(date, region) + ",SignedHeaders=" + names_of(headers) +
                                    ",Signature=" + signature.hex();
  headers.emplace_back("authorization", authorization);
  return headers;
}

}  // namespace cofferdam::store
