#include <algorithm>
#include <boost/json.hpp>

#include "base/strings.h"
#include "cli/json_text.h"
#include "cli/verb.h"

namespace cofferdam::cli {
namespace {

using control::Finding;
using State = Finding::State;

struct StateWords {
  std::string_view json;
  std::string_view label;
  std::string_view colour;
};

StateWords words_of(State state) {
  switch (state) {
    case State::kOk:
      return {"ok", "ok      ", "\x1b[32m"};
    case State::kDegraded:
      return {"degraded", "degraded", "\x1b[33m"};
    case State::kFailed:
      return {"failed", "FAILED  ", "\x1b[31m"};
  }
  return {"failed", "FAILED  ", ""};
}

bool can_confine(const std::vector<Finding>& findings) {
  return std::ranges::none_of(findings, [](const Finding& finding) { return finding.state == State::kFailed; });
}

std::string as_json(const std::vector<Finding>& findings) {
  boost::json::array list;
  for (const Finding& finding : findings) {
    list.push_back(boost::json::object{{"id", finding.id},
                                       {"title", finding.title},
                                       {"state", words_of(finding.state).json},
                                       {"detail", finding.detail},
                                       {"remedy", finding.remedy}});
  }
  return pretty(boost::json::object{{"canConfine", can_confine(findings)}, {"findings", std::move(list)}});
}

std::string as_text(const std::vector<Finding>& findings, bool colour) {
  std::size_t width = 0;
  for (const Finding& finding : findings) width = std::max(width, finding.title.size());
  std::string out;
  for (const Finding& finding : findings) {
    const StateWords words = words_of(finding.state);
    out += colour ? std::string(words.colour) + std::string(words.label) + "\x1b[0m" : std::string(words.label);
    out += "  " + printable(finding.title) + std::string(width - finding.title.size(), ' ') + "  " +
           printable(finding.detail) + "\n";
    if (!finding.remedy.empty()) out += "          mend it: " + printable(finding.remedy) + "\n";
  }
  out += can_confine(findings) ? "\nThis machine can confine.\n"
                               : "\nThis machine cannot confine yet: mend what FAILED.\n";
  return out;
}

}  // namespace

int run_doctor(const Invocation& invocation) {
  const std::vector<Finding> findings = invocation.program.services.examine_host();
  const bool json = invocation.arguments.value("output") == "json";
  invocation.console.out(json ? as_json(findings) : as_text(findings, invocation.console.out_has_colour()));
  return can_confine(findings) ? kExitSuccess : kExitFailure;
}

}  // namespace cofferdam::cli
