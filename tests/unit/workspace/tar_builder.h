// Builds archives, hostile ones in particular, block by block.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace cofferdam::workspace {

struct RawMember {
  char type = '0';
  std::string name;
  std::string content;
  std::string link;
  unsigned mode = 0644;
  std::string size;  // the field as it is; empty: of the content
  std::string time;  // the field as it is; empty: 1970
  bool bad_checksum = false;
};

class TarBuilder {
 public:
  TarBuilder& add(const RawMember& member) {
    std::string block(512, '\0');
    put(block, 0, member.name, 100);
    put(block, 100, octal(member.mode, 7), 8);
    put(block, 108, octal(0, 7), 8);
    put(block, 116, octal(0, 7), 8);
    put(block, 124, member.size.empty() ? octal(member.content.size(), 11) : member.size, 12);
    put(block, 136, member.time.empty() ? octal(0, 11) : member.time, 12);
    block[156] = member.type;
    put(block, 157, member.link, 100);
    put(block, 257, std::string_view("ustar\00000", 8), 8);
    std::memset(block.data() + 148, ' ', 8);
    unsigned sum = 0;
    for (const char byte : block) sum += static_cast<unsigned char>(byte);
    put(block, 148, octal(sum + (member.bad_checksum ? 1 : 0), 6), 8);
    bytes_ += block + member.content;
    bytes_.append((512 - member.content.size() % 512) % 512, '\0');
    return *this;
  }

  TarBuilder& file(const std::string& name, const std::string& content = "x") {
    return add({.name = name, .content = content});
  }
  TarBuilder& directory(const std::string& name) { return add({.type = '5', .name = name, .mode = 0755}); }
  TarBuilder& symlink(const std::string& name, const std::string& target) {
    return add({.type = '2', .name = name, .link = target});
  }
  TarBuilder& hardlink(const std::string& name, const std::string& target) {
    return add({.type = '1', .name = name, .link = target});
  }
  // One extended header with the records as they are.
  TarBuilder& pax(const std::string& records, char type = 'x') {
    return add({.type = type, .name = "pax", .content = records});
  }
  static std::string record(const std::string& key, const std::string& value) {
    const std::string rest = " " + key + "=" + value + "\n";
    std::size_t length = rest.size() + 1;
    while (std::to_string(length).size() + rest.size() != length) ++length;
    return std::to_string(length) + rest;
  }
  TarBuilder& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }

  // Without its end.
  const std::string& bytes() const { return bytes_; }
  std::string end() const { return bytes_ + std::string(1024, '\0'); }

 private:
  static std::string octal(std::uint64_t number, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%0*lo", digits, static_cast<unsigned long>(number));
    return text;
  }
  static void put(std::string& block, std::size_t at, std::string_view text, std::size_t room) {
    block.replace(at, std::min(room, text.size()), text.substr(0, room));
  }
  std::string bytes_;
};

}  // namespace cofferdam::workspace
