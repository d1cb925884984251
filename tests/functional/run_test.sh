# The main promises of `cofferdam run`: what passes through, what is confined, how it ends.

test_exit_code_and_streams_pass_through() {
  run 7 sh -c 'echo to-stdout; echo to-stderr >&2; exit 7'
  out_is to-stdout
  err_has to-stderr
}

test_stdin_passes_through() {
  printf 'one\ntwo\n' | "$cofferdam" run -- cat >"$scratch/out"
  [ "$(cat "$scratch/out")" = "$(printf 'one\ntwo')" ] || fail "stdin was changed"
}

test_exit_codes_of_start_failures() {
  run 127 no-such-program
  err_has 'no-such-program'
  run 127 ''
  err_has 'name of the program is empty'
  echo text >plain
  run 126 ./plain
  err_has 'chmod'
  chmod +x plain
  run 126 ./plain
  err_has 'no program this system can execute'
  expect 2 "$cofferdam" run true
  err_has '--'
}

test_death_by_signal_is_reported() {
  RUN_FLAGS=(--outcome "$scratch/outcome")
  run 143 sh -c 'kill -TERM $$'
  [ "$(jq -r .kind "$scratch/outcome")" = signalled ] || fail "outcome: $(cat "$scratch/outcome")"
  [ "$(jq -r .signalled "$scratch/outcome")" = 15 ] || fail "outcome: $(cat "$scratch/outcome")"
}

test_workspace_is_writable_and_outside_is_absent() {
  run 0 sh -c 'echo made > made-inside'
  [ "$(cat made-inside)" = made ] || fail "the write did not reach the host"
  run 1 cat "$scratch/outside/canary"
  out_lacks canary-text
  err_has 'No such file'
}

test_time_limit_ends_the_run() {
  RUN_FLAGS=(--timeout 300ms --outcome "$scratch/outcome")
  run 124 sleep 30
  err_has 'ended after 300ms: the time limit'
  [ "$(jq -r .timed_out "$scratch/outcome")" = true ] || fail "outcome: $(cat "$scratch/outcome")"
}

# One rule, for run and explain: 2 is what was written (bad words, a policy that cannot be read or contradicts itself),
# 125 what cannot be carried out on this machine (a path that is not there or not safe).
exits_with() {
  local code=$1 verb
  shift
  for verb in run explain; do
    expect "$code" "$cofferdam" "$verb" "$@" -- touch started
    err_has 'cofferdam: '
  done
  [ ! -e started ] || fail "the command ran"
}

test_exit_codes_of_what_was_written_and_of_what_is_missing() {
  local absent=$scratch/absent
  echo text >"$scratch/text"
  printf 'ro: [%s]\n' "$absent" >"$scratch/policy.yaml"
  exits_with 2 --nosuch
  exits_with 2 --network sometimes
  exits_with 2 --memory 1Q
  exits_with 2 --open-files 1
  exits_with 2 --ro "$absent" --rw "$absent"
  exits_with 2 --ro /
  exits_with 2 --ro /proc
  exits_with 2 --workspace /
  exits_with 2 --protect "$absent"
  exits_with 2 --alias "/app=$absent"
  exits_with 2 --policy "$absent"
  exits_with 2 --policy "$scratch/text"
  exits_with 2 --adapter-config "$absent"
  exits_with 125 --ro "$absent"
  exits_with 125 --rw "$absent"
  exits_with 125 --workspace "$absent"
  exits_with 125 --workspace "$scratch/text"
  exits_with 125 --alias /app=absent
  exits_with 125 --policy "$scratch/policy.yaml"
  exits_with 125 --profile claude_local --home "$absent"
  exits_with 125 --bubblewrap "$absent"
}
