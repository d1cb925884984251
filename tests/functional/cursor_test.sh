# The profile cursor_local. Cursor's CLI comes from no package registry, so a stand-in of the same shape is used: a script
# in ~/.local/share/cursor-agent/versions/VERSION behind a link in ~/.local/bin, which reads its settings, logs in, keeps
# chats, and tries what an agent must not.

install_stand_in() {
  local version=$HOME/.local/share/cursor-agent/versions/2026.01.01
  mkdir -p "$version" "$HOME/.local/bin" "$HOME/.cursor/rules"
  echo '{"permissions":{"allow":[]}}' >"$HOME/.cursor/cli-config.json"
  echo 'module of the package' >"$version/index.js"
  cat >"$version/cursor-agent" <<'SCRIPT'
#!/bin/sh
config=${XDG_CONFIG_HOME:-$HOME/.config}/cursor
attempt() { (eval "$2") 2>/dev/null && echo "$1: done" || echo "$1: refused"; }
cat "$(dirname "$(readlink -f "$0")")/index.js" || exit 9
cat "$HOME/.cursor/cli-config.json" || exit 9
echo "keys: $CURSOR_API_KEY $ANTHROPIC_API_KEY $OPENAI_API_KEY other: ${UNRELATED_SECRET-absent}"
attempt login "echo token >\$config/auth.new && mv \$config/auth.new \$config/auth.json"
attempt chat "mkdir -p ~/.cursor/chats/1 && echo hello >~/.cursor/chats/1/store.db"
attempt work "echo edited >file"
for settings in cli-config.json mcp.json permissions.json hooks.json hooks/h rules/r commands/c skills/s agents/a plugins/p; do
  attempt "$settings" "echo evil >~/.cursor/$settings"
  attempt "replace $settings" "echo evil >~/.cursor/n && mv ~/.cursor/n ~/.cursor/$settings"
done
for settings in cli-config.json mcp.json hooks.json; do attempt "config $settings" "echo evil >\$config/$settings"; done
rm -f ~/.cursor/n
attempt project "mkdir -p .cursor && echo evil >.cursor/mcp.json"
attempt itself "echo evil >$(readlink -f "$0")"
attempt ssh "cat ~/.ssh/id_rsa"
for host in api2.cursor.sh refused.example; do
  echo "$host: $(curl -s -o /dev/null --max-time 20 -w '%{http_connect}' "https://$host/")"
done
SCRIPT
  chmod +x "$version/cursor-agent"
  ln -s "$version/cursor-agent" "$HOME/.local/bin/cursor-agent"
  mkdir "$HOME/.ssh"
  echo secret-key >"$HOME/.ssh/id_rsa"
}

nothing_was_planted() {
  text_is "what an agent would obey" "$(grep -rlE '^evil' "$HOME" .cursor 2>/dev/null || true)" ""
}

test_cursor_profile_files_environment_and_hosts() {
  need curl
  install_stand_in
  export CURSOR_API_KEY=cursor-key ANTHROPIC_API_KEY=anthropic-key OPENAI_API_KEY=openai-key UNRELATED_SECRET=secret
  export PATH=$HOME/.local/bin:$PATH
  RUN_FLAGS=(--profile cursor_local)
  run 0 cursor-agent
  out_has 'module of the package'
  out_has '{"permissions":{"allow":[]}}'
  out_has 'keys: cursor-key anthropic-key openai-key other: absent'
  local settings
  for settings in login chat work; do out_has "$settings: done"; done
  for settings in cli-config.json mcp.json permissions.json hooks.json hooks/h rules/r commands/c skills/s agents/a plugins/p \
    "config cli-config.json" "config mcp.json" "config hooks.json" project itself ssh; do
    out_has "$settings: refused"
  done
  out_lacks secret-key
  nothing_was_planted
  text_is "the login" "$(cat "$HOME/.config/cursor/auth.json")" token
  text_is "the chat" "$(cat "$HOME/.cursor/chats/1/store.db")" hello
  text_is "the work" "$(cat file)" edited
  out_has 'refused.example: 403'
  err_has 'refused refused.example:443'
  err_lacks 'refused api2.cursor.sh'
  expect 0 "$cofferdam" audit -o json
  [ "$(jq -r 'select(.host == "api2.cursor.sh") | .verdict' "$scratch/out")" = allow ] || fail "its own host is not allowed"
}

test_cursor_configuration_that_was_moved() {
  install_stand_in
  export XDG_CONFIG_HOME=$HOME/moved PATH=$HOME/.local/bin:$PATH
  mkdir -p "$XDG_CONFIG_HOME"
  RUN_FLAGS=(--profile cursor_local --network deny)
  run 0 cursor-agent
  out_has 'login: done'
  text_is "the login" "$(cat "$HOME/moved/cursor/auth.json")" token
  nothing_was_planted
}

test_cursor_settings_on_demand() {
  install_stand_in
  export PATH=$HOME/.local/bin:$PATH
  RUN_FLAGS=(--profile cursor_local --network deny --agent-settings writable)
  run 0 cursor-agent
  out_has 'mcp.json: done'
  out_has 'itself: refused'
  rm -r .cursor
}
