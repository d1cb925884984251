// One HTTP request at a time and thread, over libcurl: blocking, bounded, no redirects, certificates checked, proxies
// as curl takes them from the environment.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/s3_signature.h"

namespace cofferdam::store {

struct HttpRequest {
  std::string method;
  std::string url;
  std::vector<NameValue> headers;
  std::string_view body;             // not owned
  std::uint64_t longest_answer = 0;  // bytes of the body that the caller takes
};

struct HttpAnswer {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

// Thread-safe; keeps connections for the next request. kUnavailable: no whole answer came (whether the request was
// carried out is unknown); kFailedPrecondition: the other side is not who it should be; kDataLoss: a longer answer
// than the caller takes. Any status is an answer.
class HttpClient {
 public:
  HttpClient();
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  Result<HttpAnswer> send(const HttpRequest& request);

 private:
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace cofferdam::store
