# shellcheck shell=bash
# What every functional test may use. Started by run_case: lib.sh SCRIPT TEST, where SCRIPT is a file or `-` for the
# text in COFFERDAM_TEST_SCRIPT (an ordinary user may not be able to read the tree).
#
# A test runs in $scratch with a Git repository at $ws, a private HOME and state directory; all are removed
# afterwards, and whatever a run left behind fails the test.
set -euo pipefail

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
skip() {
  echo "SKIPPED: $*"
  exit 77
}
is_root() { [ "$(id -u)" = 0 ]; }

# expect CODE COMMAND…: runs it with its output in $scratch/out and $scratch/err and compares the exit code.
expect() {
  local wanted=$1 got=0
  shift
  "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || got=$?
  [ "$got" = "$wanted" ] && return
  echo "--- stdout"; cat "$scratch/out"
  echo "--- stderr"; cat "$scratch/err"
  fail "exit $got, wanted $wanted: $*"
}
# run CODE COMMAND…: the command confined, with RUN_FLAGS (an array) before it.
RUN_FLAGS=()
run() {
  local wanted=$1
  shift
  expect "$wanted" "$cofferdam" run "${RUN_FLAGS[@]}" -- "$@"
}
out_has() { grep -qF -- "$1" "$scratch/out" || { cat "$scratch/out" "$scratch/err"; fail "stdout lacks: $1"; }; }
out_lacks() { ! grep -qF -- "$1" "$scratch/out" || { cat "$scratch/out"; fail "stdout has: $1"; }; }
out_is() { [ "$(cat "$scratch/out")" = "$1" ] || { cat "$scratch/out" "$scratch/err"; fail "stdout is not: $1"; }; }
err_has() { grep -qF -- "$1" "$scratch/err" || { cat "$scratch/err"; fail "stderr lacks: $1"; }; }
err_lacks() { ! grep -qF -- "$1" "$scratch/err" || { cat "$scratch/err"; fail "stderr has: $1"; }; }

# The program of attempts (tests/support/attack.cc) at $ws/attack.
with_attack() { install -m 0755 "$COFFERDAM_BIN/cofferdam-attack" "$ws/attack"; }
# refused NAMES [ARGUMENT…]: inside, with RUN_FLAGS, each attempt is refused.
refused() { run 0 ./attack "$@"; }
# allowed NAME [ARGUMENT…]: the attempt succeeds inside; proves that the test itself can see the difference.
allowed() { run 1 ./attack "$@"; }
outcome() { jq -r "$1" "$scratch/outcome"; }
outcome_is() { [ "$(outcome "$1")" = "$2" ] || fail "outcome $1 is not $2: $(cat "$scratch/outcome")"; }
text_is() { [ "$2" = "$3" ] || fail "$1 is '$2', wanted '$3'"; }
need() { command -v "$1" >/dev/null || skip "$1 is not installed"; }
# A python that a sandbox shows as well.
need_python() { [ -x /usr/bin/python3 ] || skip "/usr/bin/python3 is missing"; }

# wait_for SECONDS COMMAND…: until it succeeds.
wait_for() {
  local tries=$(($1 * 20))
  shift
  while [ "$tries" -gt 0 ]; do
    "$@" >/dev/null 2>&1 && return
    sleep 0.05
    tries=$((tries - 1))
  done
  fail "waited in vain for: $*"
}

# Background servers of a test: started by `serve NAME COMMAND…`, ended with the test.
servers=()
serve() {
  local name=$1
  shift
  "$@" >"$scratch/$name.out" 2>&1 </dev/null &
  servers+=("$!")
}
# A free port of the host's loopback.
free_port() { python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])'; }
# http_server PORT DIRECTORY
http_server() {
  serve "http-$1" python3 -m http.server "$1" --bind 127.0.0.1 --directory "$2"
  wait_for 10 bash -c "exec 3<>/dev/tcp/127.0.0.1/$1"
}

# A directory of this test that lies neither in the workspace nor below /tmp: $elsewhere.
make_elsewhere() {
  elsewhere=$(mktemp -d "$(getent passwd "$(id -u)" | cut -d: -f6)/.cofferdam-test.XXXXXX")
  echo outside-text >"$elsewhere/readable"
}

make_repository() {
  git init -q -b main "$1"
  git -C "$1" config user.name Test
  git -C "$1" config user.email test@example.invalid
  echo content >"$1/file"
  git -C "$1" add file
  git -C "$1" commit -qm first
}

nothing_left_behind() {
  local active=$COFFERDAM_STATE_DIR/active run
  [ ! -d "$active" ] || [ -z "$(ls -A "$active")" ] || fail "runs left in the state directory: $(ls "$active")"
  for run in "$COFFERDAM_STATE_DIR"/runs/*; do
    [ -d "$run" ] || continue
    ! compgen -G "/sys/fs/cgroup/*/cofferdam-${run##*/}" >/dev/null || fail "control group left behind"
    ! compgen -G "/sys/fs/cgroup/*/*/*/cofferdam-${run##*/}" >/dev/null || fail "control group left behind"
  done
  if [ -d "$ws/.git" ]; then
    local untracked
    untracked=$(cd "$ws" && find . -maxdepth 1 \( -name .claude -o -name .mcp.json -o -name .codex -o -name .envrc \) -empty)
    [ -z "$untracked" ] || fail "placeholders left: $untracked"
  fi
  # Every process of a run has the state directory of this test in its environment or was started by one that has.
  ! pgrep -f "^bwrap --args" -u "$(id -u)" --newest >/dev/null || no_bubblewrap_of_this_test
}

# Other tests run at the same time; only a sandbox whose workspace lies in this test's scratch directory counts.
no_bubblewrap_of_this_test() {
  local pid
  for pid in $(pgrep -f "^bwrap --args" -u "$(id -u)"); do
    ! grep -qF "$scratch" "/proc/$pid/mountinfo" 2>/dev/null || fail "a sandbox was left behind"
  done
}

clean_up() {
  local server
  for server in "${servers[@]}"; do kill "$server" 2>/dev/null || true; done
  chmod -R u+rwX "$scratch" 2>/dev/null || true
  rm -rf "$scratch" ${elsewhere:+"$elsewhere"}
}

main() {
  local script=$1 test=$2
  scratch=$(mktemp -d /tmp/cofferdam-test.XXXXXX)
  trap clean_up EXIT
  export HOME=$scratch/home COFFERDAM_STATE_DIR=$scratch/state
  unset XDG_RUNTIME_DIR HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy NO_PROXY no_proxy
  mkdir -p "$HOME" "$scratch/outside"
  ws=$scratch/ws
  make_repository "$ws"
  echo canary-text >"$scratch/outside/canary"
  cofferdam=$COFFERDAM_BIN/cofferdam
  # shellcheck disable=SC1090 # the script under test
  if [ "$script" = - ]; then eval "$COFFERDAM_TEST_SCRIPT"; else . "$script"; fi
  cd "$ws"
  "$test"
  nothing_left_behind
}

main "$@"
