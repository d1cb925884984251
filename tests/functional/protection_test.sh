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

# ---- What an agent finds in the home directory: --profile ----

test_existing_claude_directory_is_guarded_throughout() {
  mkdir .claude
  local path
  for path in rules plugins output-styles workflows statusline; do
    denied sh -c "mkdir -p .claude/$path && echo evil > .claude/$path/x"
  done
  denied sh -c 'echo evil > .claude/statusline.sh'
  run 0 sh -c 'echo instructions > .claude/CLAUDE.md; echo instructions > CLAUDE.md'
  text_is "what is left in .claude" "$(ls -A .claude)" CLAUDE.md
}

# Name, state file: an agent's first use makes its directory, which stays only with something in it.
first_use() {
  local profile=$1 state=$2
  RUN_FLAGS=(--profile "$profile")
  run 0 true
  text_is "the home after a run that kept nothing" "$(cd "$HOME" && find . -mindepth 1 -not -path './.local/state*' -not -path './.local' | sort)" ""
  run 0 sh -c "mkdir -p ~/$(dirname "$state") && echo session > ~/$state"
  text_is "the session of $profile" "$(cat "$HOME/$state")" session
  run 0 cat "$HOME/$state"
  out_is session
}

test_first_use_of_each_profile() {
  export HOME=$scratch/first
  local pair
  for pair in claude_local:.claude/projects/s codex_local:.codex/sessions/s gemini_local:.gemini/tmp/s \
    cursor_local:.config/cursor/s opencode_local:.local/share/opencode/s pi_local:.pi/agent/sessions/s; do
    rm -rf "$HOME"
    mkdir "$HOME"
    first_use "${pair%%:*}" "${pair#*:}"
  done
  text_is mode "$(stat -c %a "$HOME/.pi")" 700
}

test_pi_without_its_agent_directory() {
  export HOME=$scratch/first
  mkdir -p "$HOME/.pi"
  RUN_FLAGS=(--profile pi_local)
  denied sh -c 'echo evil > ~/.pi/agent/settings.json'
  denied sh -c 'echo evil > ~/.pi/agent/extensions/x'
  denied mv "$HOME/.pi/agent" "$HOME/.pi/moved"
  [ ! -e "$HOME/.pi/agent" ] || fail "a placeholder is left"
  "$cofferdam" explain --profile pi_local -- true >"$scratch/out"
  text_is "lines of explain for the directory" "$(grep -c "^ *placeholder *$HOME/.pi/agent " "$scratch/out")" 1
}

test_a_home_that_does_not_exist_is_an_error() {
  RUN_FLAGS=(--profile claude_local --home "$scratch/none")
  run 125 true
  err_has "$scratch/none does not exist"
}

test_moved_agent_directories_are_honoured() {
  export HOME=$scratch/first XDG_CONFIG_HOME=$scratch/config XDG_DATA_HOME=$scratch/data PI_CODING_AGENT_DIR=$scratch/pi
  mkdir -p "$HOME" "$XDG_CONFIG_HOME/opencode" "$XDG_DATA_HOME/opencode" "$PI_CODING_AGENT_DIR"
  RUN_FLAGS=(--profile opencode_local --profile pi_local)
  run 0 sh -c 'echo x > "$XDG_DATA_HOME/opencode/s" && echo x > "$PI_CODING_AGENT_DIR/s"'
  [ -e "$XDG_DATA_HOME/opencode/s" ] && [ -e "$PI_CODING_AGENT_DIR/s" ] || fail "not kept"
  denied sh -c 'echo evil > "$XDG_CONFIG_HOME/opencode/opencode.json"'
  denied sh -c 'echo evil > "$PI_CODING_AGENT_DIR/settings.json"'
}

claude_json='{"theme":"light","projects":{"/p":{"hasTrustDialogAccepted":true}}}'
claude_json_after='{"projects":{"/p":{"hasTrustDialogAccepted":true},"/q":{}},"theme":"dark"}'
rewrite_claude_json() {
  run 0 sh -c 'echo "$1" > "$0"' "$1" '{"theme":"dark","env":{"X":"evil"},"apiKeyHelper":"evil","mcpServers":{"evil":1},
    "projects":{"/p":{"allowedTools":["evil"]},"/q":{"hasTrustDialogAccepted":true,"mcpServers":{"evil":1}}}}'
}
claude_json_is_guarded() { text_is "the file afterwards" "$(jq -cS . "$1")" "$claude_json_after"; }

test_claude_json_brings_no_rights_home() {
  export HOME=$scratch/first
  mkdir "$HOME"
  echo "$claude_json" >"$HOME/.claude.json"
  RUN_FLAGS=(--profile claude_local)
  rewrite_claude_json "$HOME/.claude.json"
  claude_json_is_guarded "$HOME/.claude.json"
  RUN_FLAGS+=(--agent-settings writable)
  rewrite_claude_json "$HOME/.claude.json"
  grep -q evil "$HOME/.claude.json" || fail "not writable on demand"
}

test_claude_json_behind_a_link_stays_one() {
  export HOME=$scratch/first
  mkdir -p "$HOME" "$scratch/dotfiles"
  echo "$claude_json" >"$scratch/dotfiles/claude.json"
  ln -s ../dotfiles/claude.json "$HOME/.claude.json"
  RUN_FLAGS=(--profile claude_local)
  rewrite_claude_json "$HOME/.claude.json"
  [ -L "$HOME/.claude.json" ] || fail "the link was replaced"
  claude_json_is_guarded "$scratch/dotfiles/claude.json"
  ln -sfT /etc "$HOME/.claude.json"
  run 0 test ! -e "$HOME/.claude.json"
  err_has "is a symbolic link to what is no file of this user's"
}

# With CLAUDE_CONFIG_DIR it lies in a directory that is bound writable.
test_claude_json_in_a_moved_directory_is_guarded() {
  export HOME=$scratch/first CLAUDE_CONFIG_DIR=$scratch/claude
  mkdir "$HOME" "$CLAUDE_CONFIG_DIR"
  echo "$claude_json" >"$CLAUDE_CONFIG_DIR/.claude.json"
  RUN_FLAGS=(--profile claude_local)
  rewrite_claude_json "$CLAUDE_CONFIG_DIR/.claude.json"
  claude_json_is_guarded "$CLAUDE_CONFIG_DIR/.claude.json"
  denied sh -c 'echo evil > n && mv n "$CLAUDE_CONFIG_DIR/.claude.json"'
}

# An older place of ~/.claude.json, which wins where it exists.
test_claudes_older_settings_file_is_set_aside() {
  export HOME=$scratch/first
  mkdir -p "$HOME/.claude"
  RUN_FLAGS=(--profile claude_local)
  run 0 sh -c 'echo evil > ~/.claude/.config.json'
  [ ! -e "$HOME/.claude/.config.json" ] || fail "it was planted"
  err_has '.config.json.from-a-sandbox'
  run 0 sh -c 'cd ~/.claude; rm .config.json.from-a-sandbox; mkdir -p .config.json.from-a-sandbox/x; echo evil > .config.json'
  [ ! -e "$HOME/.claude/.config.json" ] || fail "it was planted"
  echo '{}' >"$HOME/.claude/.config.json"
  denied sh -c 'echo evil > ~/.claude/.config.json'
}

test_claude_json_is_guarded_in_the_host_scope() {
  is_root && HOME=/root/.cofferdam-home-$$ || HOME=$(getent passwd "$(id -u)" | cut -d: -f6)/.cofferdam-home-$$
  export HOME
  mkdir "$HOME"
  trap 'rm -rf "$HOME"; clean_up' EXIT
  RUN_FLAGS=(--profile claude_local --filesystem host --quiet)
  run 0 cat "$HOME/.claude.json"
  [ ! -e "$HOME/.claude.json" ] || fail "a placeholder is left"
  rewrite_claude_json "$HOME/.claude.json"
  ! grep -q evil "$HOME/.claude.json" || fail "rights came home"
  echo "$claude_json" >"$HOME/.claude.json"
  rewrite_claude_json "$HOME/.claude.json"
  claude_json_is_guarded "$HOME/.claude.json"
  denied sh -c 'echo evil > n && mv n "$HOME/.claude.json"'
  denied sh -c 'mkdir -p ~/.claude/hooks && echo evil > ~/.claude/hooks/x'
}

test_codex_has_system_wide_defaults() {
  RUN_FLAGS=(--profile codex_local)
  [ ! -e /etc/codex/config.toml ] || skip "this machine has defaults of its own"
  run 0 cat /etc/codex/config.toml
  out_has 'check_for_update_on_startup = false'
  RUN_FLAGS+=(--filesystem host)
  run 1 cat /etc/codex/config.toml
}

# made KIND PATH: something that is no file and no directory.
made() {
  case $1 in
    pipe) mkfifo "$2" ;;
    socket) /usr/bin/python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$2" ;;
    device) mknod "$2" c 1 3 ;;
  esac
}

test_special_files_at_protected_places_are_refused() {
  need_python
  local kind path
  for kind in pipe socket device; do
    [ "$kind" != device ] || is_root || continue
    for path in .mcp.json .vscode .claude .claude/hooks .envrc .git/config .git/hooks kept; do
      rm -rf .claude "$path"
      mkdir -p "$(dirname "$path")"
      made "$kind" "$path"
      RUN_FLAGS=(--protect kept)
      run 125 touch started
      err_has "$ws/$path is a"
      err_has "$kind, which"
      err_has 'hint: Remove it, or allow changes with'
      rm -rf "$path"
      git init -q .
    done
  done
  rm -rf .claude
  [ ! -e started ] || fail "the command ran"
}

# A file where a directory of settings would be, a directory where a file would be, and entries without any right.
test_what_stands_in_the_way_of_protected_places_is_protected() {
  local place
  for place in .claude .vscode .envrc; do
    echo keep >"$place"
    denied sh -c "echo evil > $place"
    denied rm -f "$place"
    denied mv "$place" away
    text_is "$place" "$(cat "$place")" keep
    chmod 0 "$place"
    denied sh -c "chmod 600 $place; echo evil > $place"
    denied rm -f "$place"
    text_is "mode of $place" "$(stat -c %a "$place")" 0
    rm -f "$place"
  done
  for place in .claude .mcp.json .cursor; do
    mkdir "$place"
    local mode
    for mode in 0 400 500; do
      chmod "$mode" "$place"
      run 0 sh -c "chmod 755 $place 2>/dev/null; mkdir -p $place/hooks 2>/dev/null; rmdir $place 2>/dev/null; true"
      text_is "mode of $place" "$(stat -c %a "$place")" "$mode"
      chmod 755 "$place"
      text_is "$place" "$(ls -A "$place")" ""
    done
    rmdir "$place"
  done
  chmod 0 .git
  run 0 sh -c 'chmod 755 .git 2>/dev/null; mv .git away 2>/dev/null; true'
  text_is "mode of .git" "$(stat -c %a .git)" 0
  chmod 755 .git
}

# while_running COMMAND…: on the host, during a run whose words are in $scratch/err and whose outcome is recorded.
while_running() {
  "$cofferdam" run "${RUN_FLAGS[@]}" --outcome "$scratch/outcome" -- \
    sh -c 'touch started; while [ ! -e go ]; do sleep 0.05; done' 2>"$scratch/err" &
  local run_pid=$!
  wait_for 10 test -e started
  "$@"
  touch go
  wait "$run_pid"
  rm started go
}

test_protected_places_that_the_host_replaces_are_told() {
  mkdir -p .claude/hooks .vscode deep
  echo '{}' >.claude/settings.json
  echo '{}' >.vscode/tasks.json
  echo keep >deep/kept
  RUN_FLAGS=(--protect deep/kept)
  rename_over() { echo new >"$1.new" && mv "$1.new" "$1"; }
  local path
  for path in .claude/settings.json deep/kept .envrc .mcp.json .git/config; do
    while_running rename_over "$path"
    err_has "$ws/$path is protected and was replaced on this machine during the run"
    outcome_is '.unprotected | join(" ")' "$ws/$path"
    case $path in .git/config) rm -f .git/config && git init -q . ;; .envrc | .mcp.json) rm "$path" ;; esac
  done
  while_running mv .claude elsewhere
  outcome_is '.unprotected | join(" ")' "$ws/.claude"
  mv elsewhere .claude
  while_running sh -c 'rm -r .vscode && mkdir .vscode && echo evil >.vscode/tasks.json'
  outcome_is '.unprotected | join(" ")' "$ws/.vscode"
  while_running rmdir .idea
  outcome_is '.unprotected | join(" ")' "$ws/.idea"
  # Written in place, or beside: the mount holds.
  while_running sh -c 'echo more >>.claude/settings.json; echo more >>deep/kept; touch .claude/notes'
  outcome_is '.unprotected | join(" ")' ""
  err_lacks 'was replaced'
}

test_settings_of_the_home_that_the_host_replaces_are_told() {
  mkdir -p "$HOME/.claude"
  echo '{}' >"$HOME/.claude/settings.json"
  RUN_FLAGS=(--profile claude_local)
  while_running sh -c 'echo "{}" >~/.claude/n && mv ~/.claude/n ~/.claude/settings.json'
  err_has "$HOME/.claude/settings.json is protected and was replaced"
}

test_more_protected_paths_than_can_be_mounted() {
  local flags=() index
  for index in $(seq 3000); do flags+=(--protect "p$index"); done
  expect 125 "$cofferdam" run "${flags[@]}" -- touch started
  err_has 'mounts; at most 1700 are possible'
  err_has 'hint: Name directories'
  text_is "the workspace afterwards" "$(find . -path ./.git -prune -o -mindepth 1 -print)" ./file
  expect 0 "$cofferdam" run "${flags[@]:0:400}" -- true
}
