#include "store/object_store.h"

#include "base/strings.h"

namespace cofferdam::store {
namespace {

constexpr std::size_t kLongestKey = 512;
constexpr std::size_t kLongestPiece = 200;  // a file system's 255, and room for what a store adds

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '/';
}

bool is_key_piece(std::string_view piece) {
  return !piece.empty() && piece != "." && piece != ".." && piece.size() <= kLongestPiece;
}

}  // namespace

Status check_object_key(std::string_view key) {
  bool valid = key.size() <= kLongestKey;
  for (const char c : key) valid = valid && is_key_character(c);
  for (const std::string_view piece : split(key, '/')) valid = valid && is_key_piece(piece);
  if (valid) return {};
  return Error(ErrorCode::kInvalidArgument, "'" + printable(key.substr(0, kLongestKey)) + "' is no name of an object");
}

}  // namespace cofferdam::store
