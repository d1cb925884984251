// Makes TLS hellos byte by byte, right and wrong ones.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace cofferdam::egress {

inline std::string big_endian(std::size_t value, int width) {
  std::string out;
  for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xFF);
  return out;
}

inline std::string counted16(std::string_view bytes) {
  return big_endian(bytes.size(), 2) + std::string(bytes);
}

inline std::string extension(std::size_t type, std::string_view content) {
  return big_endian(type, 2) + counted16(content);
}

inline std::string entry(std::string_view name) {
  return std::string(1, '\0') + counted16(name);
}

inline std::string server_name_extension(std::string_view name) {
  return extension(0, counted16(entry(name)));
}

// In records of at most `piece` bytes.
inline std::string hello_with(std::string_view extensions, std::size_t piece = 16384) {
  const std::string body = std::string("\x03\x03") + std::string(32, 'r') + std::string(1, '\0') +
                           counted16("\x13\x01") + std::string("\x01\x00", 2) + counted16(extensions);
  const std::string message = std::string(1, '\1') + big_endian(body.size(), 3) + body;
  std::string out;
  for (std::size_t at = 0; at < message.size(); at += piece) {
    out += std::string("\x16\x03\x01") + counted16(std::string_view(message).substr(at, piece));
  }
  return out;
}

inline std::string hello_for(std::string_view name, std::size_t piece = 16384) {
  const std::string other = extension(10, counted16("\x00\x1d"));
  return hello_with(
      other + (name.empty() ? std::string() : server_name_extension(name)) + extension(43, "\x02\x03\x04"), piece);
}

}  // namespace cofferdam::egress
