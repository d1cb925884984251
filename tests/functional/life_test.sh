# How a run lives and ends (G8, G9, G25).

# start COMMAND…: the run in the background as $run_pid, once the command has made `started`.
start() {
  "$cofferdam" run "${RUN_FLAGS[@]}" -- "$@" >"$scratch/out" 2>"$scratch/err" &
  run_pid=$!
  wait_for 10 test -e started
}
ended_with() {
  local got=0
  wait "$run_pid" || got=$?
  [ "$got" = "$1" ] || { cat "$scratch/out" "$scratch/err"; fail "exit $got, wanted $1"; }
}
# No process whose command line holds the marker.
none_left() { ! pgrep -f "$1" >"$scratch/left" || { ps -fp "$(tr '\n' ',' <"$scratch/left")" || true; return 1; }; }
# A number of seconds that no other test sleeps.
marker() { echo "3${RANDOM}.$$"; }

test_g08_term_reaches_the_trap() {
  start sh -c 'trap "echo trapped; exit 9" TERM; touch started; while :; do sleep 0.1; done'
  kill -TERM "$run_pid"
  ended_with 9
  out_has trapped
}

# Takes the whole grace of 10 s.
test_g08_kill_follows_after_the_grace() {
  RUN_FLAGS=(--outcome "$scratch/outcome")
  start sh -c 'trap "" TERM; touch started; while :; do sleep 0.1; done'
  local begin=$SECONDS
  kill -TERM "$run_pid"
  ended_with 137
  [ $((SECONDS - begin)) -ge 9 ] && [ $((SECONDS - begin)) -le 14 ] || fail "took $((SECONDS - begin)) s"
  outcome_is .kind cancelled
  outcome_is .cancelled true
}

test_signals_are_forwarded() {
  local name
  for name in INT HUP USR1 USR2 QUIT; do
    rm -f started
    start bash -c "trap 'echo got-$name; exit 5' $name; touch started; while :; do sleep 0.05; done"
    kill "-$name" "$run_pid"
    ended_with 5
    out_has "got-$name"
  done
}

test_leftovers_are_killed_when_the_command_ends() {
  local time begin
  time=$(marker)
  begin=$SECONDS
  run 3 sh -c "sleep $time & sleep $time & exit 3"
  [ $((SECONDS - begin)) -le 3 ] || fail "the leftovers held the run"
  none_left "sleep $time" || fail "a leftover lives"
}

test_daemonised_leftovers_are_killed() {
  local time
  time=$(marker)
  run 0 sh -c "setsid sh -c 'trap \"\" TERM HUP; (sleep $time &) ; sleep $time' >/dev/null 2>&1 </dev/null & sleep 0.2; exit 0"
  none_left "sleep $time" || fail "a daemon lives"
}

test_a_leftover_that_holds_stdout_does_not_hang_the_run() {
  local time begin
  time=$(marker)
  begin=$SECONDS
  text_is output "$("$cofferdam" run -- sh -c "echo done; sleep $time & exit 0")" "done"
  [ $((SECONDS - begin)) -le 3 ] || fail "held for $((SECONDS - begin)) s"
}

test_g09_a_leftover_connection_does_not_hang_the_run() {
  local port begin
  port=$(free_port)
  need socat
  serve held socat "TCP-LISTEN:$port,bind=127.0.0.1,fork,reuseaddr" 'EXEC:sleep 30'
  wait_for 10 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port"
  RUN_FLAGS=(--allow "localhost:$port")
  begin=$SECONDS
  run 0 bash -c "(exec 3<>/dev/tcp/127.0.0.1/$port; sleep 30) & (exec 4<>/dev/tcp/127.0.0.1/31337; printf 'CONNECT localhost:$port HTTP/1.1\r\nHost: localhost:$port\r\n\r\n' >&4; head -1 <&4; sleep 30) & sleep 0.5; exit 0"
  [ $((SECONDS - begin)) -le 5 ] || fail "held for $((SECONDS - begin)) s"
}

test_last_output_of_a_reader_is_kept() {
  local index
  for index in $(seq 1 10); do
    run 0 bash -c 'exec > >(tee log); for i in $(seq 1 200); do echo line-$i; done; echo last-line'
    out_has last-line
    grep -q last-line log || fail "the log lacks the last line"
  done
}

test_kill_of_cofferdam_ends_everything() {
  local index time folder
  time=$(marker)
  for index in $(seq 1 20); do
    "$cofferdam" run -- sh -c "setsid sleep $time & sleep $time" >/dev/null 2>&1 </dev/null &
    run_pid=$!
    sleep "0.0$((RANDOM % 60 + 10))"
    kill -9 "$run_pid" 2>/dev/null || true
    wait "$run_pid" 2>/dev/null || true
  done
  wait_for 3 none_left "sleep $time"
  wait_for 3 no_sandbox_of_this_test
  run 0 true
  folder=$(ls "$COFFERDAM_STATE_DIR/active")
  text_is "what is left in the state directory" "$folder" ""
  text_is "the workspace afterwards" "$(find . -path ./.git -prune -o -mindepth 1 -print)" ./file
}
no_sandbox_of_this_test() { (no_bubblewrap_of_this_test); }

test_kill_of_cofferdam_ends_the_egress_process() {
  local port
  port=$(free_port)
  RUN_FLAGS=(--allow "localhost:$port")
  start sh -c 'touch started; sleep 20'
  local children
  children=$(pgrep -P "$run_pid" | tr '\n' ' ')
  kill -9 "$run_pid"
  wait "$run_pid" 2>/dev/null || true
  local child
  for child in $children; do wait_for 3 test ! -d "/proc/$child"; done
  run 0 true
}

test_kill_of_cofferdam_leaves_no_control_group() {
  local folder means
  means=$("$cofferdam" explain -o json --pids 50 -- true | jq -r '.limits[] | select(.name == "pids") | .means')
  [[ $means = *cgroup* || $means = *"control group"* ]] || skip "this user has no control group: pids by $means"
  RUN_FLAGS=(--pids 50)
  start sh -c 'touch started; sleep 20'
  folder=$(ls "$COFFERDAM_STATE_DIR/active")
  [ -n "$(find /sys/fs/cgroup -maxdepth 6 -name "cofferdam-$folder")" ] || fail "the run has no control group"
  kill -9 "$run_pid"
  wait "$run_pid" 2>/dev/null || true
  run 0 true
  text_is "groups left" "$(find /sys/fs/cgroup -maxdepth 6 -name "cofferdam-$folder")" ""
}

test_kill_of_bubblewrap_is_reported() {
  RUN_FLAGS=(--outcome "$scratch/outcome")
  start sh -c 'touch started; sleep 20'
  kill -9 "$(pgrep -P "$run_pid" | head -1)"
  ended_with 137
  outcome_is .kind cancelled
}

test_stdin_closed() {
  expect 0 bash -c "exec <&-; exec '$cofferdam' run -- sh -c 'cat; echo after'"
  out_is after
}

test_all_descriptors_closed() {
  local code=0
  bash -c "exec <&- >&- 2>&-; exec '$cofferdam' run -- sh -c 'exit 4'" || code=$?
  text_is "exit code" "$code" 4
}

test_stdin_not_read_with_much_pending() {
  local code=0
  head -c 20000000 /dev/zero | "$cofferdam" run -- sh -c 'exit 6' || code=${PIPESTATUS[1]}
  text_is "exit code" "$code" 6
}

test_much_output_to_a_slow_reader() {
  local count
  count=$("$cofferdam" run -- sh -c 'head -c 14000000 /dev/zero; exit 0' | (sleep 1; wc -c))
  text_is bytes "$count" 14000000
  need_python
  count=$("$cofferdam" run -- sh -c 'head -c 2000000 /dev/zero' | /usr/bin/python3 -c '
import os, time
n = 0
while True:
    b = os.read(0, 65536)
    if not b: break
    n += len(b); time.sleep(0.005)
print(n)')
  text_is bytes "$count" 2000000
}

test_reader_that_goes_away() {
  local codes=(0) begin=$SECONDS
  "$cofferdam" run -- sh -c 'exec yes' 2>"$scratch/err" | head -1 >"$scratch/out" || codes=("${PIPESTATUS[@]}")
  out_is y
  text_is "exit code" "${codes[0]}" 141
  [ $((SECONDS - begin)) -le 5 ] || fail "took $((SECONDS - begin)) s"
}

test_exit_codes() {
  local code
  for code in 0 1 2 3 124 125 126 127 128 137 255; do
    run "$code" sh -c "exit $code"
  done
}

test_outcome_of_each_kind() {
  RUN_FLAGS=(--outcome "$scratch/outcome")
  run 5 sh -c 'exit 5'
  outcome_is '[.kind,.exited,.exit_code,.signalled,.timed_out,.out_of_memory,.cancelled,.start_failed]|tostring' \
    '["exited",5,5,null,false,false,false,null]'
  run 137 sh -c 'kill -9 $$'
  outcome_is '[.kind,.signalled,.exit_code]|tostring' '["signalled",9,137]'
  run 137 sh -c 'exit 137'
  outcome_is '[.kind,.exited]|tostring' '["exited",137]'
  run 127 no-such-program
  outcome_is '[.kind,.start_failed.reason]|tostring' '["start_failed","not_found"]'
  echo text >plain
  run 126 ./plain
  outcome_is .start_failed.reason not_executable
  RUN_FLAGS=(--outcome "$scratch/outcome" --bubblewrap /nowhere/bwrap)
  run 125 true
  outcome_is .start_failed.reason setup
  RUN_FLAGS=(--outcome "$scratch/outcome" --timeout 200ms)
  run 124 sleep 20
  outcome_is '[.kind,.timed_out]|tostring' '["timed_out",true]'
}

test_quiet_silences_all_but_errors() {
  RUN_FLAGS=(--quiet --filesystem host --network open)
  run 0 true
  err_is_empty
  RUN_FLAGS=(--quiet --allow localhost:1)
  run 0 bash -c 'exec 3<>/dev/tcp/127.0.0.1/31337; printf "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n" >&3; head -1 <&3'
  out_has 403
  err_is_empty
  RUN_FLAGS=(--quiet)
  run 127 no-such-program
  err_has no-such-program
}
err_is_empty() { [ ! -s "$scratch/err" ] || { cat "$scratch/err"; fail "--quiet was not quiet"; }; }

test_open_scopes_say_so_once() {
  RUN_FLAGS=(--network open)
  run 0 true
  text_is lines "$(grep -c 'network' "$scratch/err")" 1
  RUN_FLAGS=(--filesystem host)
  run 0 true
  text_is lines "$(grep -c 'file system' "$scratch/err")" 1
}

test_time_limit_gives_the_trap_its_turn() {
  RUN_FLAGS=(--timeout 300ms --outcome "$scratch/outcome")
  run 124 sh -c 'trap "echo saved; exit 0" TERM; while :; do sleep 0.05; done'
  out_has saved
  outcome_is .timed_out true
}

test_many_short_runs() {
  local index
  for index in $(seq 1 30); do run 0 true; done
}

# The proxy of the run in the background dies; the run says so while the command still works.
proxy_of_run_dies() {
  kill -9 "$(pgrep -P "$run_pid" -x cofferdam-egres)"
  wait_for 5 grep -q "egress proxy was ended by signal 9" "$scratch/err"
  [ ! -e finished ] || fail "the loss of the proxy was told at the end only"
}

test_a_lost_egress_proxy_is_told_at_once() {
  RUN_FLAGS=(--allow example.com --outcome "$scratch/outcome")
  start sh -c 'touch started; while [ ! -e go ]; do sleep 0.05; done
    curl -s -o /dev/null http://example.com/; echo "curl $?"; touch finished; exit 3'
  proxy_of_run_dies
  touch go
  ended_with 3
  out_has "curl 7"
  outcome_is .kind exited
  outcome_is .network null
  text_is "lines about the proxy" "$(grep -c "egress proxy" "$scratch/err")" 1
}

test_a_lost_egress_proxy_leaves_the_time_limit() {
  RUN_FLAGS=(--allow example.com --timeout 2s --quiet --outcome "$scratch/outcome")
  start sh -c 'touch started; sleep 20'
  proxy_of_run_dies
  ended_with 124
  outcome_is .timed_out true
}
