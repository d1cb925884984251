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

# The warning is there exactly when the run would end with 126 or 127.
test_explain_says_when_the_command_will_not_start() {
  make_elsewhere
  printf '#!/bin/sh\nexit 0\n' | tee "$elsewhere/hidden" here plain "$scratch/outside/tool" >/dev/null
  chmod +x "$elsewhere/hidden" here "$scratch/outside/tool"
  ln -s "$elsewhere/hidden" linked
  local flags command code found
  for flags in "" "--filesystem host" "--env PATH=/nowhere" "--alias /app=. --ro $scratch/outside"; do
    for command in true sh nosuch ./here ./plain ./linked ./nosuch "$elsewhere/hidden" "$scratch/outside/tool" /app/here \
      /etc/passwd /bin/true /usr/bin/env; do
      code=0
      # shellcheck disable=SC2086 # flags and their values
      "$cofferdam" run --quiet $flags -- "$command" >/dev/null 2>&1 </dev/null || code=$?
      # shellcheck disable=SC2086
      expect 0 "$cofferdam" explain --quiet -o json $flags -- "$command"
      found=$(jq -r '.warnings | length' "$scratch/out")
      case $code in
        126 | 127) [ "$found" = 1 ] || fail "$command with '$flags' ends with $code, and explain is silent" ;;
        *) [ "$found" = 0 ] || fail "$command with '$flags' ends with $code: $(jq -c .warnings "$scratch/out")" ;;
      esac
    done
  done
  expect 0 "$cofferdam" explain -- nosuch
  out_has 'warning: nosuch: command not found in the sandbox'
}

test_explain_previews_limits_that_cannot_be_enforced() {
  expect 0 "$cofferdam" explain --memory 64M --cpus 1 -- true
  if ! grep -q 'would fail' "$scratch/out"; then
    run 0 true
    RUN_FLAGS=(--memory 64M --cpus 1)
    run 0 true
    return
  fi
  out_has 'would fail: The limit "memory" cannot be enforced here: '
  out_has 'would fail: The limit "cpus" cannot be enforced here: '
  out_has 'hint: Run as root'
  expect 0 "$cofferdam" explain -o json --memory 64M --cpus 1 -- true
  text_is "would_fail" "$(jq -r '.would_fail | length' "$scratch/out")" 2
  expect 125 "$cofferdam" run --memory 64M --cpus 1 -- true
  err_has '"memory" cannot be enforced'
  err_has '"cpus" cannot be enforced'
}

# Version managers: a script in a directory `shims` starts what lies beside it.
test_a_shim_whose_root_is_not_visible_is_told() {
  make_elsewhere
  local root=$elsewhere/.manager
  mkdir -p "$root/shims" "$root/versions"
  printf '#!/bin/sh\necho version one\n' >"$root/versions/tool"
  printf '#!/bin/sh\nexec "%s/versions/tool"\n' "$root" >"$root/shims/tool"
  chmod -R +x "$root"
  PATH=$root/shims:$PATH run 127 tool
  err_has "$root/shims/tool is a shim: what it starts lies in $root, which the run does not see. --ro $root shows it"
  RUN_FLAGS=(--ro "$root")
  PATH=$root/shims:$PATH run 0 tool
  out_is 'version one'
  err_lacks shim
}

test_explain_refuses_what_run_refuses() {
  expect 2 "$cofferdam" explain --workspace / -- true
  err_has 'cannot be the workspace'
  expect 2 "$cofferdam" explain --network nowhere -- true
}
