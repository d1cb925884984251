// What help and the man page say about the program as a whole.
#pragma once

#include <array>
#include <string_view>

namespace cofferdam::cli {

struct Explained {
  std::string_view term;
  std::string_view text;
};

// As the tables of a verb (verb.h).
inline constexpr std::string_view kProgramExamples =
    "cofferdam run -- make test\n"
    "    Confined to this directory, no network.\n"
    "cofferdam run --allow registry.npmjs.org -- npm ci\n"
    "    One host besides.\n"
    "cofferdam run --profile claude_local -- claude\n"
    "    Claude Code with its API and its own files.\n"
    "cofferdam explain -- make test\n"
    "    What the first one would do, without doing it.\n"
    "cofferdam audit --denied --since 1h\n"
    "    What was refused in the last hour.\n"
    "cofferdam doctor\n"
    "    Whether this machine can confine.";

inline constexpr std::string_view kProgramExitCodes =
    "0      done; of run: the command's own exit code\n"
    "1      doctor: run cannot work here; audit: no such record\n"
    "2      what was written is wrong: the command line, or a policy that cannot be read or contradicts itself\n"
    "124    run: the time limit ended the command\n"
    "125    run, explain: what was written cannot be carried out on this machine\n"
    "126    run: the command is not executable\n"
    "127    run: the command was not found\n"
    "128+n  run: the command died of signal n";

inline constexpr std::array kProgramEnvironment = {
    Explained{"COFFERDAM_STATE_DIR", "Where runs record what they did (default: $XDG_STATE_HOME/cofferdam)."},
    Explained{"XDG_STATE_HOME", "Holds the state directory (default: ~/.local/state)."},
    Explained{"COFFERDAM_UPSTREAM_PROXY", "An HTTP proxy that carries allowed connections on (default: HTTPS_PROXY)."},
    Explained{"PATH", "Where run looks for the command; inside, without what is not visible there."},
    Explained{"HOME", "The home directory: private inside, but for what a profile keeps there."},
    Explained{"NO_COLOR", "When set, nothing is coloured."},
};

inline constexpr std::array kProgramFiles = {
    Explained{"~/.local/state/cofferdam/active",
              "Runs that are going on; one that was killed is cleaned up after by the "
              "next start."},
    Explained{"~/.local/state/cofferdam/runs",
              "Network decisions of finished runs, one JSON object a line: 30 days, 500 "
              "runs."},
    Explained{"/etc/passwd", "Homes and names of users, where HOME does not say."},
};

}  // namespace cofferdam::cli
