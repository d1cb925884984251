# What a run leaves on the host beside its work: the agent's own file in HOME, and the record of decisions.

# The agent's ~/.claude.json is a copy inside and comes home at the end.
test_file_of_the_home_comes_back() {
  echo '{"before":1}' >"$HOME/.claude.json"
  RUN_FLAGS=(--profile claude_local)
  run 0 sh -c 'cat "$HOME/.claude.json"; echo "{\"inside\":1}" >"$HOME/.claude.json"'
  out_has before
  text_is "the host's file" "$(jq -c . "$HOME/.claude.json")" '{"inside":1}'
}

test_file_of_the_home_changed_on_the_host_meanwhile() {
  echo '{"before":1}' >"$HOME/.claude.json"
  "$cofferdam" run --profile claude_local -- sh -c 'echo "{\"inside\":1}" >"$HOME/.claude.json"; touch started
    while [ ! -e go ]; do sleep 0.05; done' >"$scratch/out" 2>"$scratch/err" &
  local run_pid=$! code=0
  wait_for 10 test -e started
  text_is "the host's file during the run" "$(cat "$HOME/.claude.json")" '{"before":1}'
  echo '{"host":1}' >"$HOME/.claude.json"
  touch go
  wait "$run_pid" || code=$?
  text_is "exit code" "$code" 0
  text_is "the host's file" "$(cat "$HOME/.claude.json")" '{"host":1}'
  err_has "$HOME/.claude.json was changed on the host during the run"
}

# finished NAME AGE: the record of a finished run.
finished() {
  mkdir -p -m 700 "$COFFERDAM_STATE_DIR" "$COFFERDAM_STATE_DIR/runs" "$COFFERDAM_STATE_DIR/active" "$COFFERDAM_STATE_DIR/runs/$1"
  echo '{}' >"$COFFERDAM_STATE_DIR/runs/$1/egress.jsonl"
  touch -d "$2" "$COFFERDAM_STATE_DIR/runs/$1"
}

test_decisions_are_kept_for_30_days() {
  finished 01aaaaaaaaaaaaaaaaaa '31 days ago'
  finished 01bbbbbbbbbbbbbbbbbb '29 days ago'
  run 0 true
  text_is "runs kept" "$(ls "$COFFERDAM_STATE_DIR/runs")" 01bbbbbbbbbbbbbbbbbb
}

test_decisions_of_500_runs_are_kept() {
  local index
  for index in $(seq 1001 1503); do finished "01aaaaaaaaaaaaaaa$index" now; done
  run 0 true
  text_is "runs kept" "$(ls "$COFFERDAM_STATE_DIR/runs" | wc -l)" 500
  text_is "oldest kept" "$(ls "$COFFERDAM_STATE_DIR/runs" | head -1)" 01aaaaaaaaaaaaaaa1004
  # Looked at once an hour.
  finished 00aaaaaaaaaaaaaaaaaa now
  run 0 true
  [ -d "$COFFERDAM_STATE_DIR/runs/00aaaaaaaaaaaaaaaaaa" ] || fail "trimmed again within the hour"
  touch -d '2 hours ago' "$COFFERDAM_STATE_DIR/trimmed"
  run 0 true
  [ ! -d "$COFFERDAM_STATE_DIR/runs/00aaaaaaaaaaaaaaaaaa" ] || fail "not trimmed after the hour"
}

# The caller's umask is the command's; it takes nothing away from our own records and placeholders.
test_a_umask_that_takes_everything() {
  local state=$scratch/state-of-its-own round
  for round in 1 2; do
    (umask 0777; COFFERDAM_STATE_DIR=$state "$cofferdam" run --allow example.com -- \
      sh -c 'umask; curl -s --max-time 5 http://refused.example/ >/dev/null; true') >"$scratch/out" 2>"$scratch/err" ||
      { cat "$scratch/err"; fail "round $round failed"; }
    out_is 0777
  done
  text_is "the workspace afterwards" "$(find . -path ./.git -prune -o -mindepth 1 -print)" ./file
  text_is "modes of the records" "$(find "$state" \( -type d ! -perm 0700 -o -type f ! -perm -0600 \) -print)" ""
  COFFERDAM_STATE_DIR=$state expect 0 "$cofferdam" audit
  out_has refused.example
}

# with_full_disk CODE COMMAND…: with a file system without room at $scratch/small, in a mount namespace of its own: others
# would see the mount in sandboxes that start meanwhile.
with_full_disk() {
  local code=$1
  shift
  expect "$code" unshare --mount sh -c '
    mount -t tmpfs -o size=64k none "$0" && mkdir -p "$0/state/active" "$0/state/runs" || exit 99
    head -c 1M /dev/zero >"$0/filler" 2>/dev/null
    exec "$@"' "$scratch/small" "$@"
  err_has "No space left on device"
}

test_a_full_disk_names_the_file() {
  is_root || skip "mounting a small file system needs root"
  mkdir "$scratch/small"
  with_full_disk 125 env COFFERDAM_STATE_DIR="$scratch/small/state" "$cofferdam" run -- touch started
  err_has "write $scratch/small/state/active/"
  err_has /undo:
  err_has "hint: Its file system is full"
  [ ! -e started ] || fail "the command ran"
  with_full_disk 0 "$cofferdam" run --outcome "$scratch/small/outcome" -- true
  err_has "write $scratch/small/outcome: No space left on device"
}
