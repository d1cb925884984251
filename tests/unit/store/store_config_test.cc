#include "store/store_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cofferdam::store {
namespace {

using testing::HasSubstr;
using testing::Not;

StoreConfig resolved(const Environment& environment, const StoreFlags& flags = {}) {
  auto config = resolve_store_config(environment, flags, "/state");
  EXPECT_TRUE(config) << config.error().to_string();
  return config.value_or(StoreConfig{});
}

std::string directory(const Environment& environment, const StoreFlags& flags = {}) {
  const StoreConfig config = resolved(environment, flags);
  const auto* const location = std::get_if<DirectoryLocation>(&config.objects);
  return location == nullptr ? "not a directory" : location->path;
}

S3Location s3(const Environment& environment, const StoreFlags& flags = {}) {
  const StoreConfig config = resolved(environment, flags);
  const auto* const location = std::get_if<S3Location>(&config.objects);
  EXPECT_NE(location, nullptr);
  return location == nullptr ? S3Location{} : *location;
}

TEST(StoreConfigTest, LiesBelowTheStateDirectoryByDefault) {
  EXPECT_EQ(directory({}), "/state/store/objects");
  EXPECT_EQ(directory({{"COFFERDAM_STORE_URL", ""}}), "/state/store/objects");
  EXPECT_EQ(resolved({}).catalog_url, "/state/store/catalog.sqlite");
}

TEST(StoreConfigTest, AFlagWinsOverOurVariableAndThatOverPaperclips) {
  const Environment environment = {{"COFFERDAM_STORE_URL", "/ours"},
                                   {"COFFERDAM_CATALOG_URL", "postgresql://h/ours"},
                                   {"PAPERCLIP_STORAGE_PROVIDER", "s3"}};
  EXPECT_EQ(directory(environment), "/ours");
  EXPECT_EQ(directory(environment, {.store_url = "file:/flag"}), "/flag");
  EXPECT_EQ(directory({}, {.store_url = "file:///flag"}), "/flag");
  EXPECT_EQ(resolved(environment).catalog_url, "postgresql://h/ours");
  EXPECT_EQ(resolved(environment, {.catalog_url = "/c"}).catalog_url, "/c");
}

TEST(StoreConfigTest, PaperclipsNamesAreTakenInAFolderOfOurOwn) {
  EXPECT_EQ(directory({{"PAPERCLIP_STORAGE_PROVIDER", "local_disk"}, {"PAPERCLIP_STORAGE_LOCAL_DIR", "/data"}}),
            "/data/cofferdam");
  EXPECT_EQ(directory({{"PAPERCLIP_STORAGE_PROVIDER", "local_disk"}}), "/state/store/objects");
  EXPECT_EQ(s3({{"PAPERCLIP_STORAGE_PROVIDER", "s3"}}), (S3Location{.endpoint = "https://s3.us-east-1.amazonaws.com",
                                                                    .region = "us-east-1",
                                                                    .bucket = "paperclip",
                                                                    .prefix = "cofferdam/"}));
  EXPECT_EQ(s3({{"PAPERCLIP_STORAGE_PROVIDER", "s3"},
                {"PAPERCLIP_STORAGE_S3_BUCKET", "team-bucket"},
                {"PAPERCLIP_STORAGE_S3_REGION", "eu-central-1"},
                {"PAPERCLIP_STORAGE_S3_ENDPOINT", "https://minio.example:9000/"},
                {"PAPERCLIP_STORAGE_S3_PREFIX", "/Team/A/"},
                {"PAPERCLIP_STORAGE_S3_FORCE_PATH_STYLE", "true"}}),
            (S3Location{.endpoint = "https://minio.example:9000",
                        .region = "eu-central-1",
                        .bucket = "team-bucket",
                        .prefix = "Team/A/cofferdam/",
                        .path_style = true}));
}

TEST(StoreConfigTest, AnS3UrlTakesItsSettingsFromOurVariablesThenFromPaperclips) {
  const Environment environment = {{"COFFERDAM_STORE_URL", "s3://the-bucket/a/b"},
                                   {"COFFERDAM_STORE_S3_REGION", "eu-west-1"},
                                   {"PAPERCLIP_STORAGE_S3_REGION", "us-west-2"},
                                   {"PAPERCLIP_STORAGE_S3_FORCE_PATH_STYLE", "1"}};
  EXPECT_EQ(s3(environment), (S3Location{.endpoint = "https://s3.eu-west-1.amazonaws.com",
                                         .region = "eu-west-1",
                                         .bucket = "the-bucket",
                                         .prefix = "a/b/",
                                         .path_style = true}));
  EXPECT_EQ(s3({{"COFFERDAM_STORE_URL", "s3://the-bucket"}}).prefix, "");
}

TEST(StoreConfigTest, PathStyleIsForcedWhereNamesBelowTheHostCannotWork) {
  const auto style = [](const std::string& endpoint, const std::string& bucket) {
    return s3({{"COFFERDAM_STORE_URL", "s3://" + bucket}, {"COFFERDAM_STORE_S3_ENDPOINT", endpoint}}).path_style;
  };
  EXPECT_TRUE(style("http://127.0.0.1:9000", "bucket"));
  EXPECT_TRUE(style("http://[::1]:9000", "bucket"));
  EXPECT_TRUE(style("http://localhost:9000", "bucket"));
  EXPECT_TRUE(style("https://s3.example.com", "dotted.bucket"));
  EXPECT_FALSE(style("https://s3.example.com", "bucket"));
}

TEST(StoreConfigTest, WhatIsWrongIsNamedByItsVariableAndNotRepeated) {
  const auto refused = [](const Environment& environment) {
    const auto config = resolve_store_config(environment, {}, "/state");
    EXPECT_FALSE(config);
    if (config) return std::string();
    EXPECT_EQ(config.error().code(), ErrorCode::kInvalidArgument);
    return config.error().to_string();
  };
  EXPECT_THAT(refused({{"PAPERCLIP_STORAGE_PROVIDER", "gcs"}}), HasSubstr("PAPERCLIP_STORAGE_PROVIDER"));
  EXPECT_THAT(refused({{"COFFERDAM_STORE_URL", "https://user:hush@host"}}),
              testing::AllOf(HasSubstr("COFFERDAM_STORE_URL"), Not(HasSubstr("hush"))));
  EXPECT_THAT(refused({{"COFFERDAM_STORE_URL", "s3://B"}}), HasSubstr("COFFERDAM_STORE_URL"));
  const Environment bucket = {{"COFFERDAM_STORE_URL", "s3://bucket"}};
  for (const char* endpoint : {"host:9000", "ftp://host", "https://", "https://u:hush@host", "https://host/path"}) {
    Environment environment = bucket;
    environment["COFFERDAM_STORE_S3_ENDPOINT"] = endpoint;
    EXPECT_THAT(refused(environment), testing::AllOf(HasSubstr("COFFERDAM_STORE_S3_ENDPOINT"), Not(HasSubstr("hush"))));
  }
  Environment environment = bucket;
  environment["PAPERCLIP_STORAGE_S3_FORCE_PATH_STYLE"] = "perhaps";
  EXPECT_THAT(refused(environment), HasSubstr("PAPERCLIP_STORAGE_S3_FORCE_PATH_STYLE"));
}

TEST(StoreConfigTest, CredentialsComeFromTheUsualVariables) {
  EXPECT_EQ(s3_credentials({}).error().code(), ErrorCode::kFailedPrecondition);
  EXPECT_FALSE(s3_credentials({{"AWS_ACCESS_KEY_ID", "id"}}));
  const auto credentials = s3_credentials(
      {{"AWS_ACCESS_KEY_ID", "id"}, {"AWS_SECRET_ACCESS_KEY", "secret"}, {"AWS_SESSION_TOKEN", "token"}});
  ASSERT_TRUE(credentials);
  EXPECT_EQ(credentials->secret_access_key.reveal(), "secret");
  EXPECT_EQ(credentials->session_token.reveal(), "token");
}

}  // namespace
}  // namespace cofferdam::store
