#include "egress/answers.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "base/strings.h"

namespace cofferdam::egress {
namespace {

namespace json = boost::json;

std::string_view phrase_of(int status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 408:
      return "Request Timeout";
    case 431:
      return "Request Header Fields Too Large";
    case 504:
      return "Gateway Timeout";
    default:
      return "Bad Gateway";
  }
}

std::string answer(int status, json::object error, AnswerForm form) {
  json::object body;
  body["error"] = std::move(error);
  const std::string text = json::serialize(body) + "\n";
  std::string out = "HTTP/1.1 " + std::to_string(status) + " " + std::string(phrase_of(status)) + "\r\n";
  if (form != AnswerForm::kKeep) out += "Connection: close\r\n";
  out += "Content-Type: application/json; charset=utf-8\r\nContent-Length: " + std::to_string(text.size()) + "\r\n\r\n";
  return out + text;
}

json::object destination_error(std::string_view code, std::string_view message, std::string_view host,
                               std::uint16_t port) {
  json::object error;
  error["code"] = code;
  error["message"] = message;
  error["host"] = printable(host);
  error["port"] = port;
  return error;
}

std::string_view explanation_of(std::string_view reason) {
  constexpr std::pair<std::string_view, std::string_view> kTexts[] = {
      {"nxdomain", "The name does not exist."},
      {"dns_timeout", "The name service did not answer in time."},
      {"connection_refused", "The destination refused the connection."},
      {"connect_timeout", "The destination did not answer in time."},
      {"unreachable", "There is no route to the destination."},
      {"upstream_closed", "The destination closed the connection before it answered."},
      {"bad_response", "The destination did not answer in HTTP."},
      {"descriptors_exhausted", "The proxy has no file descriptor left."},
  };
  for (const auto& [code, text] : kTexts) {
    if (code == reason) return text;
  }
  return "The destination could not be reached.";
}

}  // namespace

std::string denied_answer(std::string_view host, std::uint16_t port, std::string_view reason,
                          const domain::NetworkRule* rule, AnswerForm form) {
  json::object error =
      destination_error("network_target_denied", "Network target denied by Paperclip sandbox policy.", host, port);
  error["rule"] = rule == nullptr ? "no rule" : printable(rule->text);
  error["reason"] = reason;
  return answer(403, std::move(error), form);
}

std::string failure_answer(int status, std::string_view host, std::uint16_t port, std::string_view reason,
                           AnswerForm form) {
  json::object error = destination_error("network_target_unreachable", explanation_of(reason), host, port);
  error["reason"] = reason;
  return answer(status, std::move(error), form);
}

std::string error_answer(const HeadError& error) {
  json::object body;
  body["code"] = error.code;
  body["message"] = error.message;
  return answer(error.status, std::move(body), AnswerForm::kClose);
}

std::string timeout_answer() {
  json::object body;
  body["code"] = "request_timeout";
  body["message"] = "The request head did not arrive in time.";
  return answer(408, std::move(body), AnswerForm::kClose);
}

}  // namespace cofferdam::egress
