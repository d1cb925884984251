# Settings of agents and editors in a workspace (G18), and the placeholders of those that are absent (G25).

denied() {
  local code=0
  "$cofferdam" run "${RUN_FLAGS[@]}" -- "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || code=$?
  [ "$code" != 0 ] || fail "not refused: $*"
}

test_g18_absent_settings_cannot_be_created() {
  local path
  for path in .claude/settings.json .claude/settings.local.json .claude/hooks/x .mcp.json .codex/config.toml \
    .gemini/settings.json .cursor/mcp.json .vscode/tasks.json .idea/x .envrc opencode.json .pi/x .opencode/x; do
    denied sh -c "mkdir -p \$(dirname $path) && echo evil > $path"
    [ ! -e "$path" ] || fail "$path was created"
  done
  run 0 true
  [ ! -e .claude ] && [ ! -e .vscode ] || fail "placeholders are left"
}

test_g18_existing_settings_cannot_be_changed() {
  mkdir -p .claude/hooks .vscode
  echo '{}' >.claude/settings.json
  echo '{}' >.vscode/tasks.json
  denied sh -c 'echo evil > .claude/settings.json'
  denied mv .claude moved
  denied sh -c 'echo evil > .claude/hooks/h'
  denied sh -c 'echo evil > .claude/settings.local.json'
  denied sh -c 'echo evil > n && mv n .vscode/tasks.json'
  denied rm -rf .vscode
  denied sh -c 'echo evil > n && ln -f n .claude/settings.json'
  denied sh -c 'rm -rf .claude 2>/dev/null; ln -sT /tmp .claude'
  text_is settings "$(cat .claude/settings.json)" '{}'
  run 0 sh -c 'echo notes > .claude/notes.md'
  [ -e .claude/notes.md ] || fail "other files of .claude are writable"
}

test_g18_settings_on_demand() {
  RUN_FLAGS=(--agent-settings writable)
  run 0 sh -c 'mkdir .claude && echo "{}" > .claude/settings.json && echo x > .envrc'
  [ -s .envrc ] || fail "not writable"
}

test_g18_symbolic_link_in_a_protected_path_is_refused() {
  mkdir real
  ln -s real .claude
  run 125 true
  err_has '.claude is a symbolic link'
  err_has --agent-settings
  RUN_FLAGS=(--agent-settings writable)
  run 0 true
}

test_protect_flag() {
  mkdir -p deep/er
  echo keep >deep/er/f
  RUN_FLAGS=(--protect deep/er/f --protect absent/x)
  denied sh -c 'echo evil > deep/er/f'
  denied mv deep away
  denied sh -c 'mkdir absent && echo evil > absent/x'
  run 0 sh -c 'echo fine > deep/er/g'
  text_is content "$(cat deep/er/f)" keep
  [ ! -e absent ] || fail "a placeholder is left"
}

test_placeholders_that_were_the_users_own_stay() {
  mkdir .vscode
  touch .envrc
  run 0 true
  [ -d .vscode ] && [ -e .envrc ] || fail "the user's own empty entries were removed"
  rm .envrc
}

test_placeholders_with_concurrent_runs() {
  local round index pids
  for round in 1 2 3 4; do
    pids=()
    for index in 1 2 3 4 5 6; do
      "$cofferdam" run -- sh -c "sleep 0.0$index; git status --porcelain --untracked-files=all" >"$scratch/out.$index" 2>"$scratch/err.$index" &
      pids+=("$!")
    done
    for index in 1 2 3 4 5 6; do
      wait "${pids[index - 1]}" || { cat "$scratch/err.$index"; fail "round $round: run $index failed"; }
      [ ! -s "$scratch/out.$index" ] || { cat "$scratch/out.$index"; fail "round $round: Git saw placeholders"; }
    done
  done
  run 0 true
  text_is "the workspace afterwards" "$(find . -path ./.git -prune -o -mindepth 1 -print)" ./file
}

test_placeholders_after_kill_are_swept_by_the_next_start() {
  "$cofferdam" run -- sh -c 'touch started; sleep 20' &
  local run_pid=$!
  wait_for 5 test -e started
  [ -d .claude ] || fail "no placeholder to look at"
  kill -9 "$run_pid"
  wait "$run_pid" 2>/dev/null || true
  run 0 true
  rm started
  text_is "the workspace afterwards" "$(find . -path ./.git -prune -o -mindepth 1 -print)" ./file
}

test_placeholder_that_was_filled_on_the_host_stays() {
  "$cofferdam" run -- sh -c 'touch started; sleep 1' &
  local run_pid=$!
  wait_for 5 test -e started
  echo mine >.codex/config.toml
  echo mine >.envrc
  wait "$run_pid"
  text_is content "$(cat .codex/config.toml) $(cat .envrc)" "mine mine"
  rm -r .codex .envrc started
}

test_placeholder_swapped_for_a_link_shows_nothing() {
  local swapper index ran=0
  (for index in $(seq 1 400); do
    rmdir .codex 2>/dev/null || rm -f .codex
    ln -sT "$scratch/outside" .codex 2>/dev/null || true
    rm -f .codex
    sleep 0.002
  done) &
  swapper=$!
  for index in $(seq 1 25); do
    "$cofferdam" run -- sh -c 'echo ran; cat .codex/canary' >"$scratch/out" 2>/dev/null || true
    out_lacks canary-text
    if grep -q ran "$scratch/out"; then ran=$((ran + 1)); fi
  done
  kill "$swapper" 2>/dev/null || true
  wait "$swapper" 2>/dev/null || true
  [ "$ran" -gt 0 ] || fail "no run started"
  rm -f .codex 2>/dev/null || rmdir .codex
  ln -sT "$scratch/outside" .codex
  text_is "the link outside" "$(cat .codex/canary)" canary-text
  rm .codex
  "$cofferdam" run -- true
}

test_absent_settings_read_as_valid_files() {
  "$cofferdam" run -- sh -c 'touch started; sleep 2' &
  local other=$!
  wait_for 5 test -e started
  run 0 sh -c 'cat .mcp.json opencode.json .opencode/.gitignore'
  out_is "$(printf '{"mcpServers":{}}\n{}\n*')"
  kill "$other"
  wait "$other" || true
  "$cofferdam" run -- true
}

test_own_records_cannot_be_forged() {
  is_root && records=/root/.cofferdam-test-$$ || records=$(getent passwd "$(id -u)" | cut -d: -f6)/.cofferdam-test-$$
  local attempt='echo x > "$0/forged"; mkdir -p "$0/active/x"; mv "$0" "$0-away"; true'
  COFFERDAM_STATE_DIR=$records "$cofferdam" run --quiet --filesystem host -- sh -c "$attempt" "$records" 2>/dev/null
  ls -R "$records" "$records-away" >"$scratch/out" 2>/dev/null || true
  rm -rf "$records" "$records-away"
  out_lacks forged
  out_lacks away
  records=$HOME/state/deep
  COFFERDAM_STATE_DIR=$records "$cofferdam" run --quiet --allow-home --workspace "$HOME" -- \
    sh -c "$attempt; mv $HOME/state $HOME/state-away" "$records" 2>/dev/null || true
  [ -d "$records" ] && [ ! -e "$records/forged" ] && [ ! -e "$records/active/x" ] || fail "the records were changed"
}
