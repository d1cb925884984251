# `cofferdam explain` prints what `run` does and starts nothing.

test_explain_matches_the_run() {
  mkdir "$scratch/outside/shown"
  local flags=(--ro "$scratch/outside/shown" --env MADE=new --open-files 77 --allow localhost:39995)
  expect 0 "$cofferdam" explain "${flags[@]}" -- true
  cp "$scratch/out" "$scratch/plan"
  grep -qF "$scratch/outside/shown" "$scratch/plan" || fail "the plan lacks the grant"
  grep -qF "$ws" "$scratch/plan" || fail "the plan lacks the workspace"
  grep -qF 39995 "$scratch/plan" || fail "the plan lacks the rule"
  RUN_FLAGS=("${flags[@]}")
  run 0 sh -c 'cat /proc/self/mountinfo; ulimit -n; env'
  out_has "$scratch/outside/shown"
  out_has 77
  out_has MADE=new
}

test_explain_as_json() {
  expect 0 "$cofferdam" explain -o json --allow localhost:39995 --pids 50 -- true
  jq -e . "$scratch/out" >/dev/null || fail "not JSON"
  # Every mount of the plan is a mount (or an entry) inside.
  jq -r '.filesystem.mounts[] | .target' "$scratch/out" >"$scratch/targets"
  [ "$(wc -l <"$scratch/targets")" -gt 10 ] || fail "few mounts: $(cat "$scratch/targets")"
  RUN_FLAGS=(--allow localhost:39995)
  local target
  run 0 sh -c 'while read -r t; do [ -e "$t" ] || [ -L "$t" ] || echo "$t"; done <<X
'"$(cat "$scratch/targets")"'
X'
  out_is ""
}

test_explain_variables_are_those_of_the_run() {
  expect 0 "$cofferdam" explain -o json -- true
  jq -r '.environment[] | .name' "$scratch/out" | sort >"$scratch/planned"
  run 0 env
  sed -n 's/^\([A-Z_a-z]*\)=.*/\1/p' "$scratch/out" | grep -vx -e PWD -e SHLVL -e _ -e OLDPWD | sort >"$scratch/real"
  diff "$scratch/planned" "$scratch/real" || fail "the environment differs"
}

test_explain_starts_and_makes_nothing() {
  expect 0 "$cofferdam" explain -- touch made
  [ ! -e made ] && [ ! -e .claude ] || fail "explain did something"
  [ ! -d "$COFFERDAM_STATE_DIR" ] || [ -z "$(find "$COFFERDAM_STATE_DIR" -type f)" ] || fail "explain left a record"
}

test_explain_refuses_what_run_refuses() {
  expect 2 "$cofferdam" explain --workspace / -- true
  err_has 'cannot be the workspace'
  expect 2 "$cofferdam" explain --network nowhere -- true
}
