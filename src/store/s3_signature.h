// AWS Signature Version 4 for S3, as pure functions.
// Source: "Authenticating Requests: Using the Authorization Header" of the Amazon S3 API Reference.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crypto/secret.h"

namespace cofferdam::store {

using NameValue = std::pair<std::string, std::string>;

struct S3Credentials {
  std::string access_key_id;
  crypto::SecretString secret_access_key;
  crypto::SecretString session_token;  // empty: none
};

struct S3Request {
  std::string method;
  std::string host;                // with its port unless that is the scheme's own
  std::string path = "/";          // already encoded
  std::vector<NameValue> query;    // not encoded, in any order
  std::vector<NameValue> headers;  // without host and those that signing adds
  std::string_view body;           // not owned
};

// Everything but A-Z a-z 0-9 - . _ ~ as %XX; a slash too unless `keep_slash`.
std::string uri_encoded(std::string_view text, bool keep_slash);

// "a=1&b=", sorted by the encoded names: as it is signed and as it is sent.
std::string canonical_query(const std::vector<NameValue>& query);

// "20130524T000000Z"
std::string amz_date(std::int64_t seconds_since_epoch);

// Every header to send: the request's own, host, x-amz-date, x-amz-content-sha256, x-amz-security-token if there is
// a session, and Authorization.
std::vector<NameValue> signed_headers(const S3Request& request, const S3Credentials& credentials,
                                      const std::string& region, const std::string& date);

}  // namespace cofferdam::store
