// The S3 store against a storage that misbehaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "object_places.h"
#include "s3_peers.h"
#include "store/s3_xml.h"

namespace cofferdam::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::size_t kPart = 8 * 1024 * 1024;

class S3StoreTest : public testing::Test {
 protected:
  void start(const std::vector<std::string>& faults) {
    peer_ = S3Peer::start_trouble(faults);
    ASSERT_NE(peer_, nullptr);
    store_ = peer_->open();
    ASSERT_NE(store_, nullptr);
  }

  static void must(const Status& status) { ASSERT_TRUE(status) << status.error().to_string(); }

  Error read_error(std::uint64_t offset, std::uint64_t length) {
    const auto read = store_->read("one", offset, length);
    EXPECT_FALSE(read);
    return read ? Error(ErrorCode::kInternal, "") : read.error();
  }

  std::ptrdiff_t requests_of(const std::string& method) {
    return std::ranges::count_if(peer_->requests(), [&](const std::string& line) { return line.starts_with(method); });
  }

  std::unique_ptr<S3Peer> peer_;
  std::unique_ptr<ObjectStore> store_;
};

TEST_F(S3StoreTest, ABusyStorageIsAskedAgain) {
  start({"PUT:slowdown:2", "GET:slowdown:2", "HEAD:slowdown:1", "DELETE:slowdown:1"});
  must(put_object(*store_, "one", "content"));
  EXPECT_EQ(store_->read("one", 0, 7).value_or(""), "content");
  must(store_->remove("one"));
  EXPECT_EQ(requests_of("PUT"), 3);
}

TEST_F(S3StoreTest, AStorageThatStaysBusyIsUnavailableAfterABoundedNumberOfTries) {
  start({"PUT:slowdown:100", "GET:slowdown:100"});
  const Status put = put_object(*store_, "one", "content");
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(put.error().retry(), RetryClass::kLater);
  EXPECT_THAT(put.error().to_string(), HasSubstr("SlowDown"));
  EXPECT_EQ(requests_of("PUT"), quick_retries().attempts);
  EXPECT_EQ(read_error(0, 1).code(), ErrorCode::kUnavailable);
}

TEST_F(S3StoreTest, AConnectionDroppedBeforeTheRequestWasCarriedOut) {
  start({"PUT:drop-before:1", "GET:drop-before:1", "HEAD:drop-before:1"});
  must(put_object(*store_, "one", "content"));
  EXPECT_EQ(store_->read("one", 0, 7).value_or(""), "content");
}

TEST_F(S3StoreTest, AnUploadThatSucceededUnheardIsNotTakenForAnotherWriters) {
  start({"PUT:drop-after:1"});
  must(put_object(*store_, "one", "content"));
  EXPECT_EQ(store_->read("one", 0, 7).value_or(""), "content");
  EXPECT_EQ(put_object(*store_, "one", "other").error().code(), ErrorCode::kAlreadyExists);
}

TEST_F(S3StoreTest, ACompletionThatSucceededUnheardIsASuccess) {
  start({"POST:drop-after:2"});  // one of the upload's beginning, one of its completion
  auto writer = store_->create("large");
  must((*writer)->append(std::string(kPart + 1, 'x')));
  must((*writer)->commit());
  EXPECT_EQ(store_->size("large").value_or(0), kPart + 1);
}

TEST_F(S3StoreTest, TheNameOfAnotherWriterIsNotTakenEvenWhenItsObjectCameInBetween) {
  start({});
  auto slow = store_->create("one");
  must((*slow)->append("the slow one"));
  must(put_object(*peer_->open(), "one", "the quick one"));
  EXPECT_EQ((*slow)->commit().error().code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(store_->read("one", 0, 13).value_or(""), "the quick one");
}

TEST_F(S3StoreTest, AStorageWithoutConditionsIsLookedAtBefore) {
  start({"PUT:no-conditions:1"});
  must(put_object(*store_, "one", "first"));
  EXPECT_EQ(put_object(*store_, "one", "second").error().code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(store_->read("one", 0, 5).value_or(""), "first");
}

TEST_F(S3StoreTest, AnAnswerThatBreaksOffIsAskedForAgain) {
  start({"GET:cut:2"});
  const std::string content(100'000, 'c');
  must(put_object(*store_, "one", content));
  EXPECT_TRUE(store_->read("one", 10, 90'000).value_or("") == content.substr(10, 90'000));
  EXPECT_EQ(requests_of("GET"), 3);
}

TEST_F(S3StoreTest, AnAnswerThatAlwaysBreaksOffIsNoContent) {
  start({"GET:cut:100"});
  must(put_object(*store_, "one", std::string(1000, 'c')));
  EXPECT_EQ(read_error(0, 1000).code(), ErrorCode::kUnavailable);
}

TEST_F(S3StoreTest, AnAnswerOfAnotherLengthOrPlaceIsDamage) {
  start({"GET:short:1", "GET:long:1", "GET:other-range:1", "GET:whole:1"});
  must(put_object(*store_, "one", std::string(300'000, 'c')));
  EXPECT_EQ(read_error(5, 1000).code(), ErrorCode::kDataLoss);
  EXPECT_EQ(read_error(5, 1000).code(), ErrorCode::kDataLoss);
  EXPECT_EQ(read_error(5, 1000).code(), ErrorCode::kDataLoss);
  EXPECT_EQ(read_error(5, 1000).code(), ErrorCode::kDataLoss);
  EXPECT_EQ(store_->read("one", 5, 1000).value_or("").size(), 1000U);
}

TEST_F(S3StoreTest, ALongObjectIsSentInPartsAndAnUploadGivenUpIsAborted) {
  start({});
  {
    auto writer = store_->create("given-up");
    must((*writer)->append(std::string(kPart * 2 + 1, 'x')));
  }
  EXPECT_EQ(requests_of("POST"), 1);
  EXPECT_EQ(requests_of("PUT"), 2);
  EXPECT_THAT(peer_->requests().back(), HasSubstr("DELETE /test-bucket/given-up uploadId="));
}

TEST_F(S3StoreTest, AnObjectOfExactlyOnePartIsOneRequest) {
  start({});
  auto writer = store_->create("exact");
  must((*writer)->append(std::string(kPart, 'x')));
  must((*writer)->commit());
  EXPECT_EQ(requests_of("POST"), 0);
  EXPECT_EQ(store_->size("exact").value_or(0), kPart);
}

TEST_F(S3StoreTest, AFailureAfterASuccessfulStatusIsAFailure) {
  start({});
  peer_ = S3Peer::start_trouble({"POST:none:1", "POST:late-error:1"});
  store_ = peer_->open();
  auto writer = store_->create("large");
  must((*writer)->append(std::string(kPart + 1, 'x')));
  const Status committed = (*writer)->commit();
  ASSERT_FALSE(committed);
  EXPECT_THAT(committed.error().to_string(), HasSubstr("InternalError"));
  EXPECT_FALSE((*writer)->commit());
  writer->reset();
  EXPECT_THAT(peer_->requests().back(), HasSubstr("DELETE"));
  EXPECT_EQ(store_->size("large").error().code(), ErrorCode::kNotFound);
}

TEST_F(S3StoreTest, ListsEveryPage) {
  start({});
  for (const char* key : {"a", "b", "c", "d", "e"}) must(put_object(*store_, key, key));
  const auto listed = store_->list("", "", 100);
  ASSERT_TRUE(listed) << listed.error().to_string();
  ASSERT_EQ(listed->size(), 5U);
  EXPECT_EQ(listed->back().key, "e");
  EXPECT_EQ(listed->back().modified_s, 1'767'323'045);
  EXPECT_EQ(requests_of("GET"), 3);
}

TEST_F(S3StoreTest, AListThatIsNoneIsAnError) {
  start({"GET:garbage:1", "GET:bomb:1", "GET:endless:1"});
  for (int i = 0; i < 3; ++i) {
    const auto listed = store_->list("", "", 100);
    ASSERT_FALSE(listed);
    EXPECT_EQ(listed.error().code(), ErrorCode::kDataLoss) << listed.error().to_string();
  }
}

TEST_F(S3StoreTest, ARefusalSaysWhatToDoAndNoSecret) {
  start({"PUT:denied:1", "GET:elsewhere:1"});
  const Status denied = put_object(*store_, "one", "content");
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code(), ErrorCode::kPermissionDenied);
  EXPECT_THAT(denied.error().hint(), HasSubstr("AWS_ACCESS_KEY_ID"));
  EXPECT_THAT(denied.error().to_string() + denied.error().hint() + store_->description(),
              Not(HasSubstr(std::string(test_credentials().secret_access_key.reveal()))));
  const Error elsewhere = read_error(0, 1);
  EXPECT_EQ(elsewhere.code(), ErrorCode::kFailedPrecondition);
  EXPECT_THAT(elsewhere.hint(), HasSubstr("region"));
}

TEST_F(S3StoreTest, APrefixKeepsStoresApart) {
  start({});
  S3Location location = peer_->location();
  location.prefix = "Team A/";
  const auto other = open_s3_store(location, test_credentials(), quick_retries());
  must(put_object(**other, "one", "other"));
  must(put_object(*store_, "one", "own"));
  EXPECT_EQ((*other)->read("one", 0, 5).value_or(""), "other");
  EXPECT_EQ((*other)->list("", "", 10)->size(), 1U);
  EXPECT_EQ(store_->list("", "", 10)->size(), 1U);
}

TEST_F(S3StoreTest, TheBucketIsAPartOfTheHostsNameUnlessPathStyleIsAskedFor) {
  start({});
  S3Location location = peer_->location();
  location.endpoint.replace(location.endpoint.find("127.0.0.1"), 9, "localhost");
  location.path_style = false;  // curl takes every name below localhost for this machine
  const auto store = open_s3_store(location, test_credentials(), quick_retries());
  must(put_object(**store, "one", "content"));
  EXPECT_EQ((*store)->read("one", 2, 3).value_or(""), "nte");
  EXPECT_THAT(peer_->requests().back(), HasSubstr("GET /one"));
}

TEST_F(S3StoreTest, NobodyThereIsUnavailable) {
  const auto store =
      open_s3_store({.endpoint = "http://127.0.0.1:1", .region = "r", .bucket = "abc", .path_style = true},
                    test_credentials(), quick_retries());
  EXPECT_EQ((*store)->read("one", 0, 1).error().code(), ErrorCode::kUnavailable);
}

TEST_F(S3StoreTest, ServesManyThreads) {
  start({"PUT:slowdown:3", "GET:drop-before:3"});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::string key = "t" + std::to_string(t);
      EXPECT_TRUE(put_object(*store_, key, key));
      EXPECT_EQ(store_->read(key, 0, 2).value_or(""), key);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(S3XmlTest, ReadsWhatItKnowsWithinItsBounds) {
  EXPECT_EQ(parse_error_code("<Error><Code>SlowDown</Code></Error>"), "SlowDown");
  EXPECT_EQ(parse_error_code("<html>busy</html>"), "");
  EXPECT_EQ(parse_error_code(""), "");
  EXPECT_EQ(
      parse_upload_id("<InitiateMultipartUploadResult><UploadId>a&amp;b</UploadId></InitiateMultipartUploadResult>")
          .value_or(""),
      "a&b");
  EXPECT_FALSE(parse_upload_id("<Other/>"));
  std::string deep;
  for (int i = 0; i < 9; ++i) deep += "<a>";
  for (int i = 0; i < 9; ++i) deep += "</a>";
  EXPECT_FALSE(parse_list_page(deep));
  EXPECT_FALSE(parse_list_page("<ListBucketResult><Contents><Key>" + std::string(8193, 'k') +
                               "</Key></Contents></ListBucketResult>"));
  EXPECT_FALSE(parse_list_page("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"));
  EXPECT_FALSE(parse_list_page("<ListBucketResult><Contents><Size>-1</Size></Contents></ListBucketResult>"));
}

}  // namespace
}  // namespace cofferdam::store
