// Result<T>: a value or an Error. ASSIGN_OR_RETURN and RETURN_IF_ERROR pass errors on.
//
//   Result<Plan> make_plan(...) {
//     ASSIGN_OR_RETURN(const HostFacts facts, read_host_facts());
//     RETURN_IF_ERROR(check(facts));
//     ...
//   }
#pragma once

#include <expected>
#include <utility>

#include "base/error.h"

namespace cofferdam {

template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
  Result(Error error) : std::expected<T, Error>(std::unexpected(std::move(error))) {}  // NOLINT: implicit by design
};

using Status = Result<void>;

// Runs `operation` and adds `context` to its error.
template <class T>
Result<T> in_context(Result<T> result, std::string context) {
  if (result) return result;
  return std::move(result.error()).with_context(std::move(context));
}

}  // namespace cofferdam

#define COFFERDAM_JOIN_TOKENS_(a, b) a##b
#define COFFERDAM_JOIN_TOKENS(a, b) COFFERDAM_JOIN_TOKENS_(a, b)
#define COFFERDAM_ASSIGN_OR_RETURN_(result, target, expression) \
  auto result = (expression);                                   \
  if (!result) return std::move(result.error());                \
  target = std::move(*result)

#define ASSIGN_OR_RETURN(target, ...) \
  COFFERDAM_ASSIGN_OR_RETURN_(COFFERDAM_JOIN_TOKENS(result_, __LINE__), target, (__VA_ARGS__))
#define RETURN_IF_ERROR(...) \
  if (auto failed_status = (__VA_ARGS__); !failed_status) return std::move(failed_status.error())
