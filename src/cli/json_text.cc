#include "cli/json_text.h"

#include <boost/json.hpp>

namespace cofferdam::cli {
namespace {

void append(std::string& out, const boost::json::value& value, std::size_t depth);

void append_line(std::string& out, std::size_t depth) {
  out += '\n';
  out.append(2 * depth, ' ');
}

void append_object(std::string& out, const boost::json::object& object, std::size_t depth) {
  out += '{';
  for (const auto& member : object) {
    if (out.back() != '{') out += ',';
    append_line(out, depth + 1);
    out += boost::json::serialize(member.key());
    out += ": ";
    append(out, member.value(), depth + 1);
  }
  append_line(out, depth);
  out += '}';
}

void append_array(std::string& out, const boost::json::array& array, std::size_t depth) {
  out += '[';
  for (const auto& element : array) {
    if (out.back() != '[') out += ',';
    append_line(out, depth + 1);
    append(out, element, depth + 1);
  }
  append_line(out, depth);
  out += ']';
}

void append(std::string& out, const boost::json::value& value, std::size_t depth) {
  if (value.is_object() && !value.get_object().empty()) {
    append_object(out, value.get_object(), depth);
  } else if (value.is_array() && !value.get_array().empty()) {
    append_array(out, value.get_array(), depth);
  } else {
    out += boost::json::serialize(value);
  }
}

}  // namespace

std::string pretty(const boost::json::value& value) {
  std::string out;
  append(out, value, 0);
  return out + "\n";
}

}  // namespace cofferdam::cli
