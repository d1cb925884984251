// Objects in S3-compatible storage. A small object is one request; a longer one is sent in parts while it is written,
// so that no more than one part is in memory.
#include <atomic>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "crypto/seal.h"
#include "store/object_store.h"
#include "store/s3_client.h"
#include "store/s3_xml.h"

namespace cofferdam::store {
namespace {

constexpr std::size_t kPartSize = 8 * 1024 * 1024;
constexpr std::size_t kMostParts = 10'000;  // S3's own bound
constexpr std::uint64_t kLongestListAnswer = 8 * 1024 * 1024;
constexpr std::uint64_t kLongestErrorAnswer = 64 * 1024;
constexpr std::size_t kKeysPerPage = 1000;
constexpr std::size_t kTokenBytes = 16;
constexpr const char* kTokenHeader = "x-amz-meta-cofferdam-writer";

// The bucket, shared by the store and its writers, whoever lives longer.
struct Bucket {
  S3Client client;
  // False once the storage has said that it does not know conditional requests.
  std::atomic<bool> conditional = true;

  Bucket(S3Location location, S3Credentials credentials, RetryPolicy retry)
      : client(std::move(location), std::move(credentials), retry) {}

  std::string key(const std::string& key) const { return client.location().prefix + key; }
  std::string name(const std::string& key) const {
    return "s3://" + client.location().bucket + "/" + printable(this->key(key));
  }
};

Error at_object(const Bucket& bucket, const std::string& key, Error error) {
  return std::move(error).with_context(bucket.name(key));
}

// HEAD has no body: a bucket that is not there looks like an object that is not there.
Result<std::optional<HttpAnswer>> head(Bucket& bucket, const std::string& key) {
  auto answer = bucket.client.call({.method = "HEAD", .key = bucket.key(key)});
  if (!answer) return at_object(bucket, key, std::move(answer.error()));
  if (answer->status == 404) return std::optional<HttpAnswer>();
  if (answer->status != 200) return error_of_answer(*answer, bucket.name(key));
  return std::optional(std::move(*answer));
}

Result<std::uint64_t> size_of(Bucket& bucket, const std::string& key) {
  RETURN_IF_ERROR(check_object_key(key));
  ASSIGN_OR_RETURN(const std::optional<HttpAnswer> found, head(bucket, key));
  if (!found) return Error(ErrorCode::kNotFound, "no object " + bucket.name(key));
  const auto size = parse_decimal(found->header("content-length"));
  if (size) return *size;
  return Error(ErrorCode::kDataLoss, bucket.name(key) + ": the storage tells no size");
}

Error too_short(const Bucket& bucket, const std::string& key, std::uint64_t offset, std::uint64_t length) {
  return {ErrorCode::kDataLoss, "the object " + bucket.name(key) + " is too short: no " + std::to_string(length) +
                                    " bytes at " + std::to_string(offset)};
}

// --- writing

class S3Writer final : public ObjectWriter {
 public:
  S3Writer(std::shared_ptr<Bucket> bucket, std::string key)
      : bucket_(std::move(bucket)), key_(std::move(key)), token_(crypto::random_hex(kTokenBytes)) {}

  ~S3Writer() override { abort_upload(); }

  Status append(std::string_view bytes) override {
    RETURN_IF_ERROR(check_usable());
    while (!bytes.empty()) {
      // A full part is sent when more follows: the last one is then never empty, and a small object is one request.
      if (part_.size() == kPartSize) RETURN_IF_ERROR(remember(send_part()));
      const std::size_t count = std::min(kPartSize - part_.size(), bytes.size());
      part_.append(bytes.substr(0, count));
      bytes.remove_prefix(count);
      size_ += count;
    }
    return {};
  }

  Status commit() override {
    RETURN_IF_ERROR(check_usable());
    RETURN_IF_ERROR(remember(check_absent()));
    RETURN_IF_ERROR(remember(upload_ ? complete_upload() : put_whole()));
    state_ = State::kCommitted;
    return {};
  }

 private:
  enum class State : std::uint8_t { kOpen, kFailed, kCommitted };

  Status check_usable() const {
    if (state_ == State::kOpen) return {};
    return Error(ErrorCode::kFailedPrecondition,
                 "the object " + bucket_->name(key_) + (state_ == State::kFailed ? " failed before" : " is complete"));
  }

  Status remember(Status status) {
    if (!status) state_ = State::kFailed;
    return status;
  }

  Error exists() const { return {ErrorCode::kAlreadyExists, "the object " + bucket_->name(key_) + " exists"}; }

  Status check_absent() {
    ASSIGN_OR_RETURN(const std::optional<HttpAnswer> found, head(*bucket_, key_));
    return found ? Status(exists()) : Status();
  }

  // Whether the object is the one that this writer sent: an earlier try of its last request may have succeeded
  // unheard (curl, too, sends again on a connection that it finds closed). A storage that keeps no metadata is asked
  // for the size: names are made for one writer, and a moment ago there was none.
  Result<bool> is_ours() {
    ASSIGN_OR_RETURN(const std::optional<HttpAnswer> found, head(*bucket_, key_));
    if (!found) return false;
    const std::string token = found->header(kTokenHeader);
    return token.empty() ? found->header("content-length") == std::to_string(size_) : token == token_;
  }

  // Sends what makes the object visible, on the condition that there is none.
  Result<HttpAnswer> send_visible(S3Call call) {
    const bool conditional = bucket_->conditional;
    if (conditional) call.headers.emplace_back("If-None-Match", "*");
    auto answer = bucket_->client.call(call);
    if (!answer) return at_object(*bucket_, key_, std::move(answer.error()));
    if (!conditional || answer->status != 501) return answer;
    bucket_->conditional = false;
    call.headers.pop_back();
    return bucket_->client.call(call);
  }

  // `done`: the storage said so. Otherwise its refusal may be of a repetition of what it had done before.
  Status judge(const HttpAnswer& answer, bool done) {
    if (done) return {};
    const int status = answer.status;
    if (status == 404 || status == 409 || status == 412 || status >= 500) {
      ASSIGN_OR_RETURN(const bool ours, is_ours());
      if (ours) return {};
    }
    if (status == 412) return exists();
    return error_of_answer(answer, bucket_->name(key_));
  }

  Status put_whole() {
    ASSIGN_OR_RETURN(
        const HttpAnswer answer,
        send_visible({.method = "PUT", .key = bucket_->key(key_), .headers = content_headers(), .body = part_}));
    return judge(answer, answer.status == 200);
  }

  std::vector<NameValue> content_headers() const {
    return {{"Content-Type", "application/octet-stream"}, {kTokenHeader, token_}};
  }

  Status begin_upload() {
    auto answer = bucket_->client.call(
        {.method = "POST", .key = bucket_->key(key_), .query = {{"uploads", ""}}, .headers = content_headers()});
    if (!answer) return at_object(*bucket_, key_, std::move(answer.error()));
    if (answer->status != 200) return error_of_answer(*answer, bucket_->name(key_));
    ASSIGN_OR_RETURN(upload_, in_context(parse_upload_id(answer->body), bucket_->name(key_)));
    return {};
  }

  Status send_part() {
    if (!upload_) RETURN_IF_ERROR(begin_upload());
    if (tags_.size() == kMostParts) {
      return Error(ErrorCode::kResourceExhausted, "the object " + bucket_->name(key_) + " is longer than " +
                                                      std::to_string(kMostParts) + " parts of 8 MiB");
    }
    auto answer =
        bucket_->client.call({.method = "PUT",
                              .key = bucket_->key(key_),
                              .query = {{"partNumber", std::to_string(tags_.size() + 1)}, {"uploadId", *upload_}},
                              .headers = {{"Content-Type", "application/octet-stream"}},
                              .body = part_});
    if (!answer) return at_object(*bucket_, key_, std::move(answer.error()));
    const std::string tag = answer->header("etag");
    if (answer->status != 200 || tag.empty()) return error_of_answer(*answer, bucket_->name(key_));
    tags_.push_back(tag);
    part_.clear();
    return {};
  }

  std::string part_list() const {
    std::string xml = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
    for (std::size_t i = 0; i < tags_.size(); ++i) {
      xml += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>" + xml_escaped(tags_[i]) +
             "</ETag></Part>";
    }
    return xml + "</CompleteMultipartUpload>";
  }

  static std::string xml_escaped(const std::string& text) {
    std::string escaped;
    for (const char c : text) {
      if (c == '&')
        escaped += "&amp;";
      else if (c == '<')
        escaped += "&lt;";
      else
        escaped += c;
    }
    return escaped;
  }

  Status complete_upload() {
    RETURN_IF_ERROR(send_part());
    const std::string parts = part_list();
    ASSIGN_OR_RETURN(const HttpAnswer answer, send_visible({.method = "POST",
                                                            .key = bucket_->key(key_),
                                                            .query = {{"uploadId", *upload_}},
                                                            .headers = {{"Content-Type", "application/xml"}},
                                                            .body = parts}));
    // The storage may begin its answer with 200 and find out later: then the body is an error.
    const bool done = answer.status == 200 && parse_error_code(answer.body).empty();
    RETURN_IF_ERROR(judge(answer, done));
    upload_.reset();
    return {};
  }

  // As well as it goes: nobody could do anything about a failure here.
  void abort_upload() {
    if (!upload_) return;
    (void)bucket_->client.call_once({.method = "DELETE", .key = bucket_->key(key_), .query = {{"uploadId", *upload_}}});
  }

  std::shared_ptr<Bucket> bucket_;
  std::string key_;
  std::string token_;
  State state_ = State::kOpen;
  std::string part_;  // at most kPartSize
  std::uint64_t size_ = 0;
  std::optional<std::string> upload_;
  std::vector<std::string> tags_;
};

// --- listing

// Our part of the storage's keys; nothing for what no store of ours writes.
std::optional<ObjectInfo> ours(const Bucket& bucket, ObjectInfo object) {
  const std::string& prefix = bucket.client.location().prefix;
  if (!object.key.starts_with(prefix)) return std::nullopt;
  object.key = object.key.substr(prefix.size());
  return check_object_key(object.key) ? std::optional(std::move(object)) : std::nullopt;
}

Result<S3ListPage> list_page(Bucket& bucket, std::vector<NameValue> query) {
  query.emplace_back("list-type", "2");
  auto answer = bucket.client.call({.method = "GET", .key = "", .query = query, .longest_answer = kLongestListAnswer});
  const std::string what = "listing s3://" + bucket.client.location().bucket;
  if (!answer) return std::move(answer.error()).with_context(what);
  if (answer->status != 200) return error_of_answer(*answer, what);
  return in_context(parse_list_page(answer->body), what);
}

class S3Store final : public ObjectStore {
 public:
  explicit S3Store(std::shared_ptr<Bucket> bucket) : bucket_(std::move(bucket)) {}

  Result<std::unique_ptr<ObjectWriter>> create(const std::string& key) override {
    RETURN_IF_ERROR(check_object_key(key));
    return std::make_unique<S3Writer>(bucket_, key);
  }

  Result<std::string> read(const std::string& key, std::uint64_t offset, std::uint64_t length) override {
    RETURN_IF_ERROR(check_object_key(key));
    if (length == 0) return read_nothing(key, offset);
    if (length - 1 > ~offset) return too_short(*bucket_, key, offset, length);
    const std::string range = "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + length - 1);
    auto answer = bucket_->client.call({.method = "GET",
                                        .key = bucket_->key(key),
                                        .headers = {{"Range", range}},
                                        .longest_answer = std::max(length, kLongestErrorAnswer)});
    if (!answer) return at_object(*bucket_, key, std::move(answer.error()));
    return checked_range(std::move(*answer), key, offset, length);
  }

  Result<std::uint64_t> size(const std::string& key) override { return size_of(*bucket_, key); }

  Status remove(const std::string& key) override {
    RETURN_IF_ERROR(check_object_key(key));
    auto answer = bucket_->client.call({.method = "DELETE", .key = bucket_->key(key)});
    if (!answer) return at_object(*bucket_, key, std::move(answer.error()));
    const HttpAnswer& http = *answer;
    const bool bucket_is_there = parse_error_code(http.body) != "NoSuchBucket";
    if (http.status == 204 || http.status == 200 || (http.status == 404 && bucket_is_there)) return {};
    return error_of_answer(http, bucket_->name(key));
  }

  Result<std::vector<ObjectInfo>> list(const std::string& prefix, const std::string& after,
                                       std::size_t limit) override {
    std::vector<ObjectInfo> found;
    std::string continuation;
    while (found.size() < limit) {
      ASSIGN_OR_RETURN(S3ListPage page, list_page(*bucket_, list_query(prefix, after, continuation, limit)));
      for (ObjectInfo& object : page.objects) {
        std::optional<ObjectInfo> known = ours(*bucket_, std::move(object));
        // Not every storage knows where to begin.
        if (known && known->key > after && found.size() < limit) found.push_back(std::move(*known));
      }
      if (!page.truncated) break;
      continuation = page.continuation;
    }
    return found;
  }

  std::string description() const override {
    const S3Location& location = bucket_->client.location();
    return "S3 bucket " + location.bucket + (location.prefix.empty() ? "" : ", below " + printable(location.prefix)) +
           ", at " + printable(location.endpoint);
  }

 private:
  Result<std::string> read_nothing(const std::string& key, std::uint64_t offset) {
    ASSIGN_OR_RETURN(const std::uint64_t size, size_of(*bucket_, key));
    if (offset > size) return too_short(*bucket_, key, offset, 0);
    return std::string();
  }

  // Only a whole range counts: an answer that is right but shorter means that the object is.
  Result<std::string> checked_range(HttpAnswer answer, const std::string& key, std::uint64_t offset,
                                    std::uint64_t length) const {
    if (answer.status == 416) return too_short(*bucket_, key, offset, length);
    if (answer.status != 206 && answer.status != 200) return error_of_answer(answer, bucket_->name(key));
    // What was sent is told by Content-Range, not by the status: some storages answer a range with 200. Without that
    // header it is the object from its beginning.
    const std::string sent = answer.header("content-range");
    const bool from_offset = sent.empty() ? offset == 0 : sent.starts_with("bytes " + std::to_string(offset) + "-");
    if (!from_offset) {
      return Error(ErrorCode::kDataLoss, bucket_->name(key) + ": the storage sent another range than was asked for");
    }
    if (answer.body.size() < length) return too_short(*bucket_, key, offset, length);
    if (answer.body.size() == length) return std::move(answer.body);
    return Error(ErrorCode::kDataLoss, bucket_->name(key) + ": the storage sent more than was asked for");
  }

  std::vector<NameValue> list_query(const std::string& prefix, const std::string& after,
                                    const std::string& continuation, std::size_t limit) const {
    std::vector<NameValue> query = {{"prefix", bucket_->key(prefix)},
                                    {"max-keys", std::to_string(std::min(limit, kKeysPerPage))}};
    if (!continuation.empty())
      query.emplace_back("continuation-token", continuation);
    else if (!after.empty())
      query.emplace_back("start-after", bucket_->key(after));
    return query;
  }

  std::shared_ptr<Bucket> bucket_;
};

}  // namespace

Result<std::unique_ptr<ObjectStore>> open_s3_store(const S3Location& location, S3Credentials credentials,
                                                   const RetryPolicy& retry) {
  return std::make_unique<S3Store>(std::make_shared<Bucket>(location, std::move(credentials), retry));
}

}  // namespace cofferdam::store
