# shellcheck shell=bash

dev_help() {
  cat <<'TEXT'
./dev SUB-COMMAND: everything a developer does here. Each one installs what it lacks (Debian 12, root or sudo).

  run                    build, and do the main job on a sample: a confined build, an allowed and a refused connection
  run -- CMD ARGS...     run a command of your own in the current directory, confined the same way
  install [--prefix DIR] programs, man pages and completions (default /usr/local)
  build [PRESET]         dev (default), release, asan, tsan, fuzz, coverage
  test [FILTER]          build and run the tests whose name matches
  test --all             the same with the real agents, the sanitizer build, a minute of each fuzzer, and lint
  test --asan | --tsan   the tests of that build only
  bench local            measure beside the named competitors (start and egress); results in bench/results/
  bench start | egress   one half of it
  bench workspace        moving, saving and restoring beside tar, git, find, restic, borg and dd
  fuzz NAME [SECONDS]    one fuzzer (default a minute)
  lint                   format, layers, headers, banned calls, shell scripts, promises
  format                 rewrite the sources as lint wants them
  agents                 install the real agents for their tests and the demo (about 2 GB, outside the tree)
  setup                  install what building and running needs
TEXT
}
