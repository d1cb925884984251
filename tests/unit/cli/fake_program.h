// The program with fakes behind it: what the verbs print, and what they hand to control/.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "cli/cli.h"

namespace cofferdam::cli {

class StringConsole : public Console {
 public:
  void out(std::string_view text) override { out_text += text; }
  void err(std::string_view text) override { err_text += text; }
  bool out_has_colour() const override { return colour; }

  std::string out_text;
  std::string err_text;
  bool colour = false;
};

// What the fakes saw and what they shall answer. Services are plain functions, so this is one object for all tests.
struct FakeControl {
  std::vector<control::LocalRunRequest> runs;
  std::vector<control::ExplainFormat> formats;
  std::vector<control::AuditQuery> queries;
  domain::Outcome outcome{.kind = domain::Outcome::Kind::kExited, .value = 0};
  Result<std::string> plan = std::string("the plan");
  std::vector<control::Finding> findings;
  Result<std::vector<std::string>> decisions = std::vector<std::string>();
};

inline FakeControl& fake() {
  static FakeControl control;
  return control;
}

struct Ended {
  int code = 0;
  std::string out;
  std::string err;
};

inline Ended run_cofferdam(const std::vector<std::string>& arguments, bool colour = false) {
  const Program program{
      .version = "1.2.3",
      .services = {.run_local =
                       [](const control::LocalRunRequest& request, control::Messages& messages) {
                         fake().runs.push_back(request);
                         if (!request.policy.announcement.empty()) messages.note(request.policy.announcement);
                         if (!fake().outcome.message.empty()) {
                           messages.failure(Error(ErrorCode::kNotFound, fake().outcome.message).with_hint("Do this."));
                         }
                         return fake().outcome;
                       },
                   .explain_local =
                       [](const domain::Policy&, const std::vector<std::string>&, control::ExplainFormat format) {
                         fake().formats.push_back(format);
                         return fake().plan;
                       },
                   .examine_host = [] { return fake().findings; },
                   .read_decisions =
                       [](const control::AuditQuery& query) {
                         fake().queries.push_back(query);
                         return fake().decisions;
                       }}};
  StringConsole console;
  console.colour = colour;
  Ended ended;
  ended.code = run_program(program, arguments, console);
  ended.out = std::move(console.out_text);
  ended.err = std::move(console.err_text);
  return ended;
}

}  // namespace cofferdam::cli
