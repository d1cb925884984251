# Paperclip's keys by --adapter-config: the behaviours of its own tests, by their effect (T6 to T16).

config() { cat >"$scratch/config.json"; RUN_FLAGS=(--adapter-config "$scratch/config.json" "$@"); }

# The run is refused with this text and nothing is started.
refused_with() {
  local code=0
  "$cofferdam" run "${RUN_FLAGS[@]}" -- touch started >"$scratch/out" 2>"$scratch/err" || code=$?
  [ "$code" = 2 ] || [ "$code" = 125 ] || fail "exit $code"
  [ ! -e started ] || fail "the command ran"
  err_has "$1"
}

test_t06_filesystem_scope() {
  config <<<'{"filesystemScope":"workspace"}'
  run 0 sh -c 'echo made > made; ls -A /tmp; awk "\$5==\"/\"" /proc/self/mountinfo'
  out_has tmpfs
  [ -e made ] || fail "the write did not reach the host"
  run 1 cat "$scratch/outside/canary"
}

test_t07_alias() {
  config --alias /app=. <<<'{"filesystemScope":"workspace"}'
  run 0 sh -c 'echo x > /app/through-alias'
  [ -e through-alias ] || fail "the alias is not the workspace"
}

test_t08_writable_path_without_restore() {
  config <<<"{\"filesystemScope\":\"workspace\",\"filesystemExtraPaths\":[{\"path\":\"$scratch/outside\",\"access\":\"rw\"}]}"
  refused_with "Writable sandbox path \"$scratch/outside\" is outside synchronized workspace \"$ws\" and has no outbound restore mapping."
  RUN_FLAGS+=(--restore "$scratch/outside")
  run 0 sh -c "echo x > $scratch/outside/made"
  [ -e "$scratch/outside/made" ] || fail "not written in place"
}

test_t09_network_scope_alone() {
  config <<<'{"networkScope":"deny"}'
  run 0 sh -c "cat $scratch/ws/file; ls /proc/net/ >/dev/null; env"
  out_lacks _PROXY=http
  out_has content
  run 0 readlink /proc/self/ns/net
  [ "$(cat "$scratch/out")" != "$(readlink /proc/self/ns/net)" ] || fail "the host's network"
  make_elsewhere
  run 0 sh -c "cat $elsewhere/readable && echo written > $elsewhere/made"
  out_is outside-text
  text_is "what was written" "$(cat "$elsewhere/made")" written
}

test_t10_t16_allowlist_with_a_long_tmpdir() {
  local port long
  port=$(free_port)
  mkdir "$scratch/www"
  echo body >"$scratch/www/page"
  http_server "$port" "$scratch/www"
  long=$scratch/$(printf 'x%.0s' $(seq 1 200))
  mkdir -p "$long"
  config <<<"{\"filesystemScope\":\"workspace\",\"networkScope\":\"allowlist\",\"networkAllowlist\":[\"localhost:$port\"]}"
  TMPDIR=$long run 0 curl -sS --noproxy '' -w '%{http_code}' "http://localhost:$port/page"
  out_is "$(printf 'body\n200')"
  TMPDIR=$long run 0 curl -sS -o body -w '%{http_code} %{content_type}' http://example.com/
  out_has 403
  out_has json
  grep -q network_target_denied body || fail "body: $(cat body)"
}

test_t11_trusted_url() {
  local port
  port=$(free_port)
  mkdir "$scratch/www"
  echo body >"$scratch/www/page"
  http_server "$port" "$scratch/www"
  config <<<'{"networkScope":"allowlist","networkAllowlist":["example.com"]}'
  PAPERCLIP_API_URL="http://127.0.0.1:$port" run 0 curl -sS --noproxy '' -w '%{http_code}' "http://127.0.0.1:$port/page"
  out_is "$(printf 'body\n200')"
}

test_t12_bubblewrap_missing() {
  config <<<'{"filesystemScope":"workspace","filesystemSandboxCommand":"/nowhere/bwrap"}'
  refused_with 'requires Bubblewrap, but "/nowhere/bwrap" was not found in PATH. Install bwrap or configure filesystemSandboxCommand.'
}

test_t13_reads_and_writes() {
  echo shown >"$scratch/outside/extra"
  config <<<"{\"filesystemScope\":\"workspace\",\"filesystemExtraPaths\":[\"$scratch/outside/extra\"]}"
  run 0 cat "$scratch/outside/extra"
  out_is shown
  run 1 cat "$scratch/outside/canary"
  run 2 sh -c "echo x > $scratch/outside/extra"
}

test_t15_deny_host_loopback() {
  local port
  port=$(free_port)
  http_server "$port" "$scratch/outside"
  config <<<'{"filesystemScope":"workspace","networkScope":"deny"}'
  run 7 curl -sS "http://127.0.0.1:$port/canary"
}

test_values_that_are_refused() {
  config <<<'{"filesystemScope":"workpace"}'
  refused_with 'filesystemScope must be "workspace".'
  config <<<'{"networkScope":"public"}'
  refused_with 'networkScope must be "deny" or "allowlist".'
  config <<<'{"networkScope":"allowlist","networkAllowlist":["*.example.com"]}'
  refused_with 'networkAllowlist[0] must use an exact hostname; wildcards are not supported.'
  config <<<'{"networkScope":"allowlist","networkAllowlist":[]}'
  refused_with 'networkScope="allowlist" requires at least one valid networkAllowlist hostname or HTTP(S) networkTrustedUrl.'
  config <<<'{"filesystemScope":"workspace","filesystemExtraPaths":["relative"]}'
  refused_with 'must be an absolute path'
}
