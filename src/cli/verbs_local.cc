// The verbs of confinement, and those about the program itself.
#include <array>

#include "cli/verb.h"

namespace cofferdam::cli {
namespace {

constexpr std::string_view kGeneral = "General";

constexpr OptionSpec kOutput{"output",    'o',
                             "text|json", Completion::kWords,
                             kGeneral,    "How to print: text for people (default) or json for programs.",
                             false};
constexpr OptionSpec kPolicy{
    "policy", 0, "FILE", Completion::kFile, kGeneral, "Read the policy from a YAML file; flags win over it.", false};
constexpr OptionSpec kAdapterConfig{"adapter-config",
                                    0,
                                    "FILE",
                                    Completion::kFile,
                                    kGeneral,
                                    "Take the policy from a Paperclip adapter configuration in JSON.",
                                    false};
constexpr OptionSpec kQuiet{"quiet", 'q', "", Completion::kNone, kGeneral, "Say nothing of our own but errors.", false};
constexpr OptionSpec kOutcome{
    "outcome", 0, "FILE", Completion::kFile, kGeneral, "Write how the command ended to FILE as JSON.", false};
constexpr OptionSpec kDenied{"denied", 0, "", Completion::kNone, kGeneral, "Only what was refused.", false};
constexpr OptionSpec kSince{
    "since",  0,
    "TIME",   Completion::kNone,
    kGeneral, "Only what is not older: a duration (90s, 10m, 2d) or a time in UTC (2026-12-03T14:00).",
    false};
constexpr OptionSpec kLast{"last", 0, "N", Completion::kNone, kGeneral, "Only the last N of them.", false};
constexpr OptionSpec kList{"list", 0, "", Completion::kNone, kGeneral, "Print the names of the verbs, one a line.",
                           false};

constexpr std::string_view kWorkspaceSection = "Saving and copying the workspace";
constexpr OptionSpec kSave{
    "save",
    0,
    "",
    Completion::kNone,
    kWorkspaceSection,
    "Save the workspace, encrypted, before the command begins and after it ended (cofferdam snapshot)."};
constexpr OptionSpec kCopy{"copy",
                           0,
                           "",
                           Completion::kNone,
                           kWorkspaceSection,
                           "Let the command work on a private copy of the workspace and of every --restore path; its "
                           "changes come home by a three-way merge."};
constexpr OptionSpec kKeep{
    "keep", 0, "", Completion::kNone, kWorkspaceSection, "With --copy: keep the copy after everything came home."};
constexpr OptionSpec kPrefer{"prefer",
                             0,
                             "both|sandbox|host",
                             Completion::kWords,
                             kWorkspaceSection,
                             "With --copy, where both sides changed a file: keep both (default), the run's version, or "
                             "this machine's."};
constexpr OptionSpec kCompany{
    "company",
    0,
    "NAME",
    Completion::kNone,
    kWorkspaceSection,
    "With --save: the company (tenant) that saves (default: $COFFERDAM_COMPANY, else \"default\")."};

constexpr std::array kRunOptions = {kPolicy, kAdapterConfig, kOutcome, kQuiet, kSave, kCopy, kKeep, kPrefer, kCompany};
constexpr std::array kExplainOptions = {kPolicy, kAdapterConfig, kQuiet, kOutput};
constexpr std::array kAuditOptions = {kDenied, kSince, kLast, kOutput};
constexpr std::array kManOptions = {kList};
constexpr std::array kOutputOption = {kOutput};

constexpr std::array kRunPosition = {
    PositionalSpec{"RUN", "", "The run's id, as its closing summary names it (default: all runs).", false}};
constexpr std::array kShellPosition = {PositionalSpec{"SHELL", "bash|zsh|fish", "bash, zsh or fish.", true}};
constexpr std::array kVerbPosition = {PositionalSpec{"VERB", "", "The verb (default: the overview).", false, true}};

constexpr std::string_view kUsualExitCodes = "0  done\n2  the command line is wrong";

constexpr std::array kVerbs = {
    Verb{.name = "run",
         .summary = "Run a command confined",
         .synopsis = "[FLAGS] -- COMMAND [ARGUMENTS…]",
         .description =
             "Runs COMMAND confined. Without flags it can write the current directory, read the system's tools and "
             "reach no network; everything else of this machine is hidden. Its standard input, output and error and "
             "its exit code pass through unchanged; our own words go to standard error.\n\n"
             "The \"--\" before the command is required.",
         .examples = "cofferdam run -- make test\n"
                     "    Write only this directory, no network.\n"
                     "cofferdam run --allow registry.npmjs.org -- npm ci\n"
                     "    One host, HTTPS and plain HTTP, recorded.\n"
                     "cofferdam run --profile claude_local -- claude\n"
                     "    Claude Code with its hosts, keys and files.\n"
                     "cofferdam run --ro /opt/toolchain --memory 4G --timeout 30m -- ./build.sh\n"
                     "    One more directory to read, and limits.\n"
                     "cofferdam run --policy policy.yaml --outcome result.json -- ./agent\n"
                     "    A policy file, and how it ended as JSON.",
         .options = kRunOptions,
         .policy_options = true,
         .takes_command = true,
         .positionals = {},
         .exit_codes = "the command's own, or\n"
                       "2      the command line is wrong, or a policy contradicts itself or cannot be read\n"
                       "124    the time limit ended the command\n"
                       "125    it could not be carried out here: a path is missing or unsafe, a limit has no means, …\n"
                       "126    the command is not executable\n"
                       "127    the command was not found\n"
                       "128+n  the command died of signal n",
         .run = run_run},
    Verb{.name = "explain",
         .summary = "Show what run would do, without doing it",
         .synopsis = "[FLAGS] -- COMMAND [ARGUMENTS…]",
         .description =
             "Prints the plan that \"cofferdam run\" with the same flags would carry out: every mount in order with "
             "its reason, namespaces, system call filter, limits, environment and network rules. It warns when the "
             "command "
             "would not be found, and says \"would fail\" with what is missing where a limit cannot be enforced. "
             "Nothing "
             "is started and nothing is changed.",
         .examples = "cofferdam explain -- make test\n"
                     "    The default policy in this directory.\n"
                     "cofferdam explain -o json --profile codex_local -- codex\n"
                     "    For programs.",
         .options = kExplainOptions,
         .policy_options = true,
         .takes_command = true,
         .positionals = {},
         .exit_codes = "0    the plan was printed, with what would keep it from working\n"
                       "2    the command line is wrong, or a policy contradicts itself or cannot be read\n"
                       "125  no plan can be made here: a path is missing or unsafe, no bubblewrap, …",
         .run = run_explain},
    Verb{.name = "doctor",
         .summary = "Say whether this machine can confine, and what to mend",
         .synopsis = "[-o text|json]",
         .description = "Examines the machine fact by fact: user namespaces, bubblewrap, Landlock, cgroups, seccomp, "
                        "loopback. What fails comes with its cause and the command that mends it.",
         .examples = "cofferdam doctor\n"
                     "    A table for people.\n"
                     "cofferdam doctor -o json\n"
                     "    For programs.",
         .options = kOutputOption,
         .policy_options = false,
         .takes_command = false,
         .positionals = {},
         .exit_codes = "0  run works here\n1  run cannot work: see what FAILED\n2  the command line is wrong",
         .run = run_doctor},
    Verb{.name = "audit",
         .summary = "List the connections that runs were allowed and refused",
         .synopsis = "[--denied] [--since TIME] [--last N] [-o text|json] [RUN]",
         .description = "Lists the recorded network decisions of one run, or of all runs, oldest first. With -o json "
                        "each line is one decision as it was recorded.",
         .examples = "cofferdam audit --denied\n"
                     "    What was refused, in every run.\n"
                     "cofferdam audit --since 1h --last 20\n"
                     "    The last twenty of the last hour.\n"
                     "cofferdam audit -o json RUN | jq .host\n"
                     "    The hosts of one run.",
         .options = kAuditOptions,
         .policy_options = false,
         .takes_command = false,
         .positionals = kRunPosition,
         .exit_codes = "0  listed\n1  the records cannot be read\n2  the command line is wrong",
         .run = run_audit},
    Verb{.name = "version",
         .summary = "Print the version",
         .synopsis = "[-o text|json]",
         .description = "Prints name and version.",
         .examples = "cofferdam version",
         .options = kOutputOption,
         .policy_options = false,
         .takes_command = false,
         .positionals = {},
         .exit_codes = kUsualExitCodes,
         .run = run_version},
    Verb{.name = "completion",
         .summary = "Print the completion script of a shell",
         .synopsis = "bash|zsh|fish",
         .description = "Prints a script that lets the shell complete verbs, flags and their values.",
         .examples = "source <(cofferdam completion bash)\n"
                     "    In bash, for this session.\n"
                     "cofferdam completion zsh > ~/.zfunc/_cofferdam\n"
                     "    In zsh, in a directory of fpath.\n"
                     "cofferdam completion fish > ~/.config/fish/completions/cofferdam.fish\n"
                     "    In fish, for good.",
         .options = {},
         .policy_options = false,
         .takes_command = false,
         .positionals = kShellPosition,
         .exit_codes = kUsualExitCodes,
         .run = run_completion},
    Verb{.name = "man",
         .summary = "Print a man page",
         .synopsis = "[--list] [VERB]",
         .description = "Prints the man page of VERB, or the overview, as man reads it.",
         .examples = "cofferdam man run | man -l -\n"
                     "    Read it now.\n"
                     "cofferdam man run > /usr/local/share/man/man1/cofferdam-run.1\n"
                     "    Install it.",
         .options = kManOptions,
         .policy_options = false,
         .takes_command = false,
         .positionals = kVerbPosition,
         .exit_codes = kUsualExitCodes,
         .run = run_man},
    Verb{.name = "help",
         .summary = "Explain the program or a verb",
         .synopsis = "[VERB]",
         .description = "Prints the same as --help.",
         .examples = "cofferdam help run",
         .options = {},
         .policy_options = false,
         .takes_command = false,
         .positionals = kVerbPosition,
         .exit_codes = kUsualExitCodes,
         .run = run_help},
};

}  // namespace

std::span<const Verb> local_verbs() {
  return kVerbs;
}

}  // namespace cofferdam::cli
