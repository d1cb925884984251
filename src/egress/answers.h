// The answers that the proxy gives itself. Texts and codes are those that Paperclip users know.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "domain/network_rule.h"
#include "egress/request_head.h"

namespace cofferdam::egress {

enum class AnswerForm : std::uint8_t {
  kConnect,  // to CONNECT: "Connection: close" comes first, the connection ends
  kKeep,     // the client may send another request
  kClose,
};

// 403: the destination is not granted. `rule`: what refused it, null for no rule.
std::string denied_answer(std::string_view host, std::uint16_t port, std::string_view reason,
                          const domain::NetworkRule* rule, AnswerForm form);
// 502 or 504: the destination is granted and was not reached.
std::string failure_answer(int status, std::string_view host, std::uint16_t port, std::string_view reason,
                           AnswerForm form);
// 400 or 431: the request is no request.
std::string error_answer(const HeadError& error);
// 408: the head did not come in time.
std::string timeout_answer();

}  // namespace cofferdam::egress
