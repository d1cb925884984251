# A policy from a file, end to end: every group of keys by its effect, and flags that win over it.

test_policy_file() {
  mkdir "$scratch/policy" "$scratch/policy/tools" "$scratch/policy/cache" part
  echo tool-text >"$scratch/policy/tools/tool"
  echo keep >kept
  export COFFERDAM_TEST_PASSED=passed-value
  cat >"$scratch/policy/policy.yaml" <<'YAML'
workspace: ../ws
ro: [tools]
rw: [cache]
protect: [kept]
alias: {/app: part}
variables:
  pass: [COFFERDAM_TEST_PASSED]
  set: {MADE: "1"}
limits: {open-files: 77, timeout: 30s}
YAML
  cd "$scratch"
  RUN_FLAGS=(--policy policy/policy.yaml)
  run 0 sh -c 'pwd; ulimit -n; echo "$MADE $COFFERDAM_TEST_PASSED"; cat '"$scratch"'/policy/tools/tool
    echo x >/app/made && echo x >'"$scratch"'/policy/cache/made
    (echo x >kept) 2>/dev/null || echo kept-is-protected
    (echo x >'"$scratch"'/policy/tools/tool) 2>/dev/null || echo tool-is-read-only'
  text_is output "$(cat "$scratch/out")" "$(printf '%s\n' "$ws" 77 "1 passed-value" tool-text kept-is-protected tool-is-read-only)"
  [ -e "$ws/part/made" ] && [ -e policy/cache/made ] || fail "the writes did not reach the host"
  # A flag wins.
  RUN_FLAGS+=(--env MADE=2 --open-files 66 --timeout 300ms)
  run 124 sh -c 'echo "$MADE"; ulimit -n; exec sleep 20'
  out_is "$(printf '2\n66')"
}

test_network_rules_of_a_policy_file() {
  local port
  port=$(free_port)
  mkdir "$scratch/www"
  echo body >"$scratch/www/page"
  http_server "$port" "$scratch/www"
  printf 'allow: ["127.0.0.0/8:%s"]\ndeny: [127.0.0.3]\n' "$port" >"$scratch/policy.yaml"
  RUN_FLAGS=(--policy "$scratch/policy.yaml")
  run 0 curl -sS --noproxy '' "http://127.0.0.1:$port/page"
  out_is body
  run 0 curl -sS --noproxy '' -o /dev/null -w '%{http_code}' "http://127.0.0.3:$port/page"
  out_is 403
  RUN_FLAGS+=(--network deny)
  run 7 curl -sS --noproxy '' "http://127.0.0.1:$port/page"
}

test_mistakes_are_named_with_file_line_and_key() {
  printf 'network: deny\nnetwrok: deny\nlimits: {wall_clock: 3s}\n' >"$scratch/policy.yaml"
  RUN_FLAGS=(--policy "$scratch/policy.yaml")
  run 2 touch started
  err_has "$scratch/policy.yaml:2"
  err_has netwrok
  err_has wall_clock
  [ ! -e started ] || fail "the command ran"
  RUN_FLAGS=(--policy "$scratch/absent.yaml")
  run 2 touch started
  err_has absent.yaml
}

test_policy_from_a_pipe_and_from_nothing_else_that_is_no_file() {
  local policy='variables: {set: {MADE: "1"}}'
  run_with_policy() { timeout 10 "$cofferdam" run --quiet --policy "$1" -- sh -c 'echo "$MADE"'; }
  text_is "from <(…)" "$(run_with_policy <(sleep 0.2; echo "$policy"))" 1
  text_is "from /dev/stdin" "$(echo "$policy" | run_with_policy /dev/stdin)" 1
  echo "$policy" >"$scratch/policy.yaml"
  text_is "a file as /dev/stdin" "$(run_with_policy /dev/stdin <"$scratch/policy.yaml")" 1
  mkfifo "$scratch/fifo"
  local special
  for special in "$scratch/fifo" /dev/zero; do
    expect 2 timeout 10 "$cofferdam" run --policy "$special" -- true
    err_has "$special: not a regular file"
    err_has 'hint:'
  done
  expect 2 timeout 10 "$cofferdam" run --adapter-config "$scratch/fifo" -- true
  err_has "$scratch/fifo: not a regular file"
  expect 2 timeout 20 "$cofferdam" run --policy <(yes '# endless') -- true
  err_has 'larger than'
}
