#include "recovery/source.h"

#include <array>

namespace cofferdam::recovery {

Result<ExecResult> collect(Execution& execution, std::size_t limit) {
  constexpr std::size_t kPiece = 65'536;
  ExecResult result;
  std::array<char, kPiece> buffer{};
  while (true) {
    ASSIGN_OR_RETURN(const std::size_t count, execution.read(buffer.data(), buffer.size()));
    if (count == 0) break;
    if (count > limit - result.output.size()) {
      return Error(ErrorCode::kResourceExhausted,
                   "a command in the sandbox printed more than " + std::to_string(limit) + " bytes");
    }
    result.output.append(buffer.data(), count);
  }
  ASSIGN_OR_RETURN(result.outcome, execution.finish());
  return result;
}

}  // namespace cofferdam::recovery
