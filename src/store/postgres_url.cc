#include "store/postgres_url.h"

#include <libpq-fe.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/strings.h"

namespace cofferdam::store {
namespace {

struct OptionsFreer {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};
using Options = std::unique_ptr<PQconninfoOption, OptionsFreer>;

std::string value_of(const Options& options, std::string_view keyword) {
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->keyword == keyword && option->val != nullptr) return option->val;
  }
  return "";
}

bool is_port_list(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || c == ','; });
}

Error unreadable() {
  return Error(ErrorCode::kInvalidArgument, "the PostgreSQL URL of the catalog cannot be read")
      .with_hint("Write postgresql://USER@HOST:PORT/DATABASE; a special character in a password is written as %XX.");
}

}  // namespace

Result<std::string> describe_postgres_url(const std::string& url) {
  char* reason = nullptr;
  const Options options(PQconninfoParse(url.c_str(), &reason));
  // libpq's reason quotes the URL.
  PQfreemem(reason);
  if (options == nullptr) return unreadable();
  const std::string host = value_of(options, "host");
  if (host.find('@') != std::string::npos || !is_port_list(value_of(options, "port"))) return unreadable();
  const std::string name = value_of(options, "dbname");
  return "PostgreSQL database " + (name.empty() ? "of the user" : printable(name)) +
         (host.empty() ? "" : " on " + printable(host));
}

}  // namespace cofferdam::store
