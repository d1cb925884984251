// One verb of the command line as data plus one function. The table of verbs (verbs.cc) is the only source of
// parsing, help, man pages and completions: a new verb is one entry there and one verb_*.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli.h"
#include "domain/policy_settings.h"

namespace cofferdam::cli {

using Completion = domain::SettingSpec::Completion;

struct OptionSpec {
  std::string_view name;  // without dashes
  char short_name = 0;
  std::string_view value_name;  // empty: a switch
  Completion completion = Completion::kNone;
  std::string_view section;
  std::string_view help;
  bool repeatable = false;
};

struct PositionalSpec {
  std::string_view name;
  std::string_view words;  // "bash|zsh|fish", or empty for anything
  std::string_view help;
  bool required = false;
  bool repeatable = false;  // only the last one of a verb
  Completion completion = Completion::kNone;
};

// What was written on the command line.
struct Arguments {
  struct Value {
    std::string option;  // name without dashes
    std::string text;    // empty for a switch
  };
  std::vector<Value> values;  // in the order of the table; each option's values in the order written
  std::vector<std::string> positionals;
  std::vector<std::string> command;  // after `--`

  bool has(std::string_view option) const;
  std::vector<std::string> all(std::string_view option) const;  // in the order written
  std::string_view value(std::string_view option) const;        // the last one; empty when absent
};

struct Invocation {
  const Program& program;
  Console& console;
  const Arguments& arguments;
};

struct Verb {
  std::string_view name;         // "run", or with its group: "snapshot save"
  std::string_view summary;      // one line, no full stop
  std::string_view synopsis;     // after "cofferdam NAME"
  std::string_view description;  // paragraphs separated by an empty line
  std::string_view examples;     // lines "COMMAND  # what it does"
  std::span<const OptionSpec> options;
  bool policy_options;  // also takes every flag of domain::setting_specs()
  bool takes_command;   // `-- CMD ARGS…` is required
  std::span<const PositionalSpec> positionals;
  std::string_view exit_codes;  // lines "CODE  meaning"
  int (*run)(const Invocation&);
  bool needs_engine = false;  // uses libraries that the program for `run` does not load
};

// Every verb, in the order of help. The groups stand in tables of their own (verbs_*.cc).
std::span<const Verb> verbs();
std::span<const Verb> local_verbs();
std::span<const Verb> snapshot_verbs();

// By its name, the words joined by a space or a hyphen.
const Verb* find_verb(std::string_view name);

// "snapshot" of "snapshot save"; empty for a verb without a group.
std::string_view group_of(const Verb& verb);
// The names of all groups, each once, in the order of help.
std::vector<std::string_view> verb_groups();
// The name as one word, as man pages and completions need it: "snapshot-save".
std::string hyphenated(std::string_view name);

// Every option of the verb, its own and the policy's and --help, in the order of help.
std::vector<OptionSpec> options_of(const Verb& verb);

Error no_such_verb(std::string_view name);

// "cofferdam: <message>", then the hint on a line of its own.
void report(Console& console, const Error& error);

// The verbs.
int run_run(const Invocation&);
int run_explain(const Invocation&);
int run_doctor(const Invocation&);
int run_audit(const Invocation&);
int run_version(const Invocation&);
int run_completion(const Invocation&);
int run_man(const Invocation&);
int run_help(const Invocation&);
int run_snapshot_save(const Invocation&);
int run_snapshot_recover(const Invocation&);
int run_snapshot_list(const Invocation&);
int run_snapshot_show(const Invocation&);
int run_snapshot_ls(const Invocation&);
int run_snapshot_diff(const Invocation&);
int run_snapshot_verify(const Invocation&);
int run_snapshot_restore(const Invocation&);
int run_snapshot_delete(const Invocation&);
int run_snapshot_prune(const Invocation&);
int run_key_list(const Invocation&);
int run_key_rotate(const Invocation&);
int run_key_export(const Invocation&);
int run_key_import(const Invocation&);
int run_sync_plan(const Invocation&);

}  // namespace cofferdam::cli
