# What a confined command reaches (N1 to N10, G12, G20), against servers on the host's loopback.

served() {
  port=$(free_port)
  mkdir -p "$scratch/www"
  echo hello-from-server >"$scratch/www/page"
  http_server "$port" "$scratch/www"
}

test_deny_host_loopback() {
  served
  with_attack
  "$ws/attack" loopback "$port" >/dev/null && fail "the test's own server does not work"
  refused loopback "$port"
  run 7 curl -sS --noproxy '*' "http://127.0.0.1:$port/page"
  RUN_FLAGS=(--filesystem host)
  refused loopback "$port"
}

test_deny_names_and_routes() {
  run 6 curl -sS --max-time 5 http://example.com/
  run 0 sh -c 'cat /proc/net/route | wc -l; env | grep -i "^https*_proxy" ; true'
  out_is 1
  run 0 sh -c 'getent hosts localhost'
}

test_deny_strips_proxy_variables() {
  export HTTPS_PROXY=http://proxy.example:1 no_proxy=x
  RUN_FLAGS=(--env HTTPS_PROXY)
  run 0 env
  out_lacks proxy.example
  out_lacks no_proxy=x
}

test_loopback_inside_works() {
  need_python
  run 0 sh -c '/usr/bin/python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 & sleep 1; exec curl -sS http://127.0.0.1:8123/file'
  out_is content
  RUN_FLAGS=(--allow localhost:39998)
  run 0 sh -c '/usr/bin/python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 & sleep 1; exec curl -sS http://localhost:8123/file'
  out_is content
}

test_allowlist_allowed() {
  served
  RUN_FLAGS=(--allow "localhost:$port")
  run 0 curl -sS --noproxy '' -w '%{http_code} %{num_connects}\n' "http://localhost:$port/page"
  out_has hello-from-server
  out_has 200
  run 0 curl -sS --noproxy '' -p "http://localhost:$port/page"
  out_is hello-from-server
  err_lacks refused
}

test_allowlist_by_address() {
  served
  RUN_FLAGS=(--allow "127.0.0.1:$port")
  run 0 curl -sS --noproxy '' "http://127.0.0.1:$port/page"
  out_is hello-from-server
  RUN_FLAGS=(--allow "127.0.0.0/8:$port")
  run 0 curl -sS --noproxy '' "http://127.0.0.1:$port/page"
  out_is hello-from-server
}

test_allowlist_denied() {
  RUN_FLAGS=(--allow localhost:39997)
  run 0 curl -sS -i http://example.com/secret
  out_has 'HTTP/1.1 403'
  tail -1 "$scratch/out" | tr -d '\r' >"$scratch/body"
  text_is code "$(jq -r .error.code "$scratch/body")" network_target_denied
  text_is message "$(jq -r .error.message "$scratch/body")" 'Network target denied by Paperclip sandbox policy.'
  text_is target "$(jq -r '.error|[.host,.port,.rule]|tostring' "$scratch/body")" '["example.com",80,"no rule"]'
  err_has 'example.com:80'
  err_has 'no rule allows it'
  err_has -- "--allow"
  expect 0 "$cofferdam" audit --denied
  out_has example.com
  run 0 curl -sS -i http://example.com/ "http://EXAMPLE.com./"
  run 56 curl -sS https://example.com/
  err_has 'example.com:443'
}

test_allowlist_other_port_and_direct_connections() {
  served
  with_attack
  local other
  other=$(free_port)
  serve other python3 -m http.server "$other" --bind 127.0.0.1 --directory "$scratch/www"
  RUN_FLAGS=(--allow "localhost:$port")
  refused loopback "$other"
  run 0 curl -sS -o /dev/null -w '%{http_code}' --noproxy '' "http://localhost:$other/page"
  out_is 403
  run 0 curl -sS -o /dev/null -w '%{http_code}' --noproxy '' "http://127.0.0.2:$port/page"
  out_is 403
}

test_direct_loopback_port_of_a_rule() {
  served
  RUN_FLAGS=(--allow "localhost:$port")
  run 0 curl -sS "http://localhost:$port/page"
  out_is hello-from-server
  expect 0 "$cofferdam" audit
  out_has "$port"
  run 0 env -u HTTP_PROXY -u http_proxy curl -sS "http://localhost:$port/page"
  out_is hello-from-server
}

test_g12_loopback_spellings_are_one_address() {
  served
  local spelling
  for spelling in 127.1 2130706433 0x7f000001 017700000001 '[::ffff:127.0.0.1]' 127.0.0.1 0.0.0.0 '[::1]' localhost.localdomain; do
    RUN_FLAGS=(--allow "example.com:$port")
    run 0 curl -sS -o /dev/null -w '%{http_code}' --noproxy '' -x http://127.0.0.1:31337 "http://$spelling:$port/page"
    out_is 403
  done
}

test_g12_bare_host_means_443_and_80() {
  RUN_FLAGS=(--allow example.invalid)
  run 0 curl -sS -o /dev/null -w '%{http_code}' --noproxy '' http://example.invalid:8080/
  out_is 403
  run 0 curl -sS -o /dev/null -w '%{http_code}' --noproxy '' http://example.invalid/
  out_is 502
}

test_deny_rule_wins() {
  served
  RUN_FLAGS=(--allow "localhost:$port" --deny "localhost:$port")
  run 0 curl -sS -o /dev/null -w '%{http_code}' --noproxy '' "http://localhost:$port/page"
  out_is 403
}

test_g02_hostile_clients_do_not_end_the_proxy() {
  served
  RUN_FLAGS=(--allow "localhost:$port")
  run 0 bash -c "
    for target in localhost:0 localhost:65536 localhost:99999 localhost:abc localhost: :80 '' '[::1' a:b:c; do
      exec 3<>/dev/tcp/127.0.0.1/31337
      printf 'CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n' \"\$target\" >&3
      head -c 12 <&3 >/dev/null; exec 3>&-
    done
    for i in 1 2 3 4 5; do exec 3<>/dev/tcp/127.0.0.1/31337; printf 'CONNECT localhost:$port HTTP/1.1\r\n\r\n' >&3; exec 3>&-; done
    exec curl -sS --noproxy '' http://localhost:$port/page"
  out_is hello-from-server
}

test_proxy_port_is_not_reachable_from_the_host() {
  served
  "$cofferdam" run --allow "localhost:$port" -- sh -c 'touch started; sleep 10' &
  local run_pid=$!
  wait_for 10 test -e started
  ! bash -c 'exec 3<>/dev/tcp/127.0.0.1/31337' 2>/dev/null || fail "the proxy listens on the host"
  kill "$run_pid"
  wait "$run_pid" || true
}

test_egress_channel_is_out_of_reach() {
  served
  with_attack
  RUN_FLAGS=(--allow "localhost:$port")
  refused trace-init,read-init,pidfd-init,fds-init,channel-init,mem-init
  run 0 ./attack descriptors
  run 0 sh -c 'ls -d /proc/[0-9]* | wc -l'
  [ "$(cat "$scratch/out")" -le 6 ] || fail "the proxy is visible inside"
}

test_network_open_reaches_the_host() {
  served
  RUN_FLAGS=(--network open)
  run 0 curl -sS "http://127.0.0.1:$port/page"
  out_is hello-from-server
}

test_network_scope_alone_leaves_the_file_system() {
  RUN_FLAGS=(--filesystem host)
  run 0 cat "$(readlink -f /etc/hostname)"
  echo x >"$HOME/readable"
  chmod 644 "$HOME/readable"
  need_python
}
