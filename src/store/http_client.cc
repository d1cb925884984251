#include "store/http_client.h"

#include <curl/curl.h>

#include <mutex>

#include "base/ranges.h"
#include "base/strings.h"

namespace cofferdam::store {
namespace {

constexpr long kConnectSeconds = 10;
// Silence for this long is a lost connection. Storage that works on a long request sends blanks meanwhile.
constexpr long kSilentSeconds = 60;
constexpr long kWholeSeconds = 600;
constexpr std::size_t kMostHeaders = 100;

struct HandleCloser {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
using Handle = std::unique_ptr<CURL, HandleCloser>;

struct ListFreer {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, ListFreer>;

HeaderList header_list(const std::vector<NameValue>& headers) {
  HeaderList list;
  const auto append = [&](const std::string& line) {
    // The list's first node stays what it is, but for an empty list.
    curl_slist* const whole = curl_slist_append(list.get(), line.c_str());
    if (list == nullptr) list.reset(whole);
  };
  for (const auto& [name, value] : headers) append(name + ": " + value);
  // curl would add these; the first makes it wait for a server that does not know it.
  append("Expect:");
  append("Accept:");
  return list;
}

struct Receiver {
  HttpAnswer answer;
  std::uint64_t longest = 0;
  bool too_long = false;
};

std::size_t take_body(char* bytes, std::size_t, std::size_t count, void* context) {
  auto& receiver = *static_cast<Receiver*>(context);
  receiver.too_long = count > receiver.longest - receiver.answer.body.size();
  if (receiver.too_long) return 0;
  receiver.answer.body.append(bytes, count);
  return count;
}

std::size_t take_header(char* bytes, std::size_t, std::size_t count, void* context) {
  auto& headers = static_cast<Receiver*>(context)->answer.headers;
  const std::string_view line(bytes, count);
  const std::size_t colon = line.find(':');
  if (line.starts_with("HTTP/")) headers.clear();  // after an interim answer
  if (colon != std::string_view::npos && headers.size() < kMostHeaders) {
    headers[ascii_lower(line.substr(0, colon))] = std::string(trimmed(line.substr(colon + 1)));
  }
  return count;
}

void configure(CURL* curl, const HttpRequest& request, const curl_slist* headers, Receiver& receiver) {
  curl_easy_reset(curl);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, kSilentSeconds);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, kWholeSeconds);
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &take_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &receiver);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &take_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &receiver);
  if (request.method == "PUT" || request.method == "POST") {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  }
  if (request.method == "HEAD")
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  else
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

// The URL is not part of it: it may be long, and its caller names the object.
Error error_of(CURLcode code, const char* detail) {
  const std::string message = std::string("HTTP: ") + (*detail != '\0' ? detail : curl_easy_strerror(code));
  static constexpr CURLcode kNotTrusted[] = {CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
                                             CURLE_SSL_ISSUER_ERROR};
  static constexpr CURLcode kWrongUrl[] = {CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL};
  if (contains(kNotTrusted, code)) return {ErrorCode::kFailedPrecondition, message};
  if (contains(kWrongUrl, code)) return {ErrorCode::kInvalidArgument, message};
  if (code == CURLE_OUT_OF_MEMORY) return {ErrorCode::kResourceExhausted, message};
  return Error(ErrorCode::kUnavailable, message).with_retry(RetryClass::kLater);
}

// curl wants this once, and not from two threads.
void initialise_once() {
  static const CURLcode done = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)done;
}

}  // namespace

struct HttpClient::Pool {
  std::mutex mutex;
  std::vector<Handle> idle;

  Handle take() {
    const std::lock_guard lock(mutex);
    if (idle.empty()) return Handle(curl_easy_init());
    Handle handle = std::move(idle.back());
    idle.pop_back();
    return handle;
  }
  void give_back(Handle handle) {
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(handle));
  }
};

HttpClient::HttpClient() : pool_(std::make_unique<Pool>()) {
  initialise_once();
}

HttpClient::~HttpClient() = default;

Result<HttpAnswer> HttpClient::send(const HttpRequest& request) {
  Handle curl = pool_->take();
  if (curl == nullptr) return Error(ErrorCode::kResourceExhausted, "no memory for an HTTP request");
  const HeaderList headers = header_list(request.headers);
  Receiver receiver;
  receiver.longest = request.longest_answer;
  char detail[CURL_ERROR_SIZE] = "";
  configure(curl.get(), request, headers.get(), receiver);
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, detail);
  const CURLcode code = curl_easy_perform(curl.get());
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, nullptr);
  pool_->give_back(std::move(curl));
  if (receiver.too_long) return Error(ErrorCode::kDataLoss, "HTTP: the answer is longer than what was asked for");
  if (code != CURLE_OK) return error_of(code, detail);
  receiver.answer.status = static_cast<int>(status);
  return std::move(receiver.answer);
}

}  // namespace cofferdam::store
