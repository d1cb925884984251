// The examples of "Authenticating Requests: Using the Authorization Header" in the Amazon S3 API Reference.
#include "store/s3_signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cofferdam::store {
namespace {

using testing::Contains;
using testing::Pair;

S3Credentials example_credentials() {
  return {.access_key_id = "AKIAIOSFODNN7EXAMPLE",
          .secret_access_key = crypto::SecretString("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
          .session_token = {}};
}

std::string authorization_of(S3Request request) {
  request.host = "examplebucket.s3.amazonaws.com";
  for (const auto& [name, value] : signed_headers(request, example_credentials(), "us-east-1", "20130524T000000Z")) {
    if (name == "authorization") return value;
  }
  return "";
}

std::string expected(const std::string& headers, const std::string& signature) {
  return "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=" +
         headers + ",Signature=" + signature;
}

TEST(S3SignatureTest, GetObject) {
  EXPECT_EQ(authorization_of({.method = "GET", .path = "/test.txt", .headers = {{"Range", "bytes=0-9"}}}),
            expected("host;range;x-amz-content-sha256;x-amz-date",
                     "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"));
}

TEST(S3SignatureTest, PutObject) {
  EXPECT_EQ(authorization_of(
                {.method = "PUT",
                 .path = uri_encoded("/test$file.text", true),
                 .headers = {{"Date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
                 .body = "Welcome to Amazon S3."}),
            expected("date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
                     "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"));
}

TEST(S3SignatureTest, GetBucketLifecycle) {
  EXPECT_EQ(authorization_of({.method = "GET", .query = {{"lifecycle", ""}}}),
            expected("host;x-amz-content-sha256;x-amz-date",
                     "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
}

TEST(S3SignatureTest, ListObjects) {
  EXPECT_EQ(authorization_of({.method = "GET", .query = {{"prefix", "J"}, {"max-keys", "2"}}}),
            expected("host;x-amz-content-sha256;x-amz-date",
                     "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST(S3SignatureTest, ASessionSendsAndSignsItsToken) {
  S3Credentials credentials = example_credentials();
  credentials.session_token = crypto::SecretString("the-token");
  const auto headers = signed_headers({.method = "GET", .host = "h"}, credentials, "us-east-1", "20130524T000000Z");
  EXPECT_THAT(headers, Contains(Pair("x-amz-security-token", "the-token")));
  EXPECT_THAT(headers.back().second, testing::HasSubstr("x-amz-date;x-amz-security-token,"));
}

TEST(S3SignatureTest, EncodesEveryByteButTheUnreserved) {
  EXPECT_EQ(uri_encoded("a/B 9-._~\xff+", false), "a%2FB%209-._~%FF%2B");
  EXPECT_EQ(uri_encoded("a/b", true), "a/b");
  EXPECT_EQ(canonical_query({{"b", "2"}, {"a", "x y"}, {"a-", ""}}), "a-=&a=x%20y&b=2");
  EXPECT_EQ(amz_date(1369353600), "20130524T000000Z");
}

}  // namespace
}  // namespace cofferdam::store
