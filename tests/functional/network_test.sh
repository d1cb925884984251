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
  make_elsewhere
  RUN_FLAGS=(--filesystem host --network deny)
  run 0 sh -c "cat $elsewhere/readable && echo written > $elsewhere/made && cat /etc/hostname"
  out_has outside-text
  out_has "$(cat /etc/hostname)"
  text_is "what was written" "$(cat "$elsewhere/made")" written
  # The same two attempts with the file-system scope.
  RUN_FLAGS=()
  run 1 cat "$elsewhere/readable"
  run 2 sh -c "echo written > $elsewhere/more"
}

test_allowlist_sets_the_proxy_variables() {
  local name
  RUN_FLAGS=(--allow localhost:39994)
  run 0 env
  for name in HTTP_PROXY HTTPS_PROXY http_proxy https_proxy; do
    grep -qx "$name=http://127.0.0.1:31337" "$scratch/out" || fail "$name: $(grep -i "^$name=" "$scratch/out")"
  done
}

test_deny_empties_no_proxy() {
  local name
  export NO_PROXY=example.com no_proxy=example.com HTTP_PROXY=http://proxy.example:1 all_proxy=http://proxy.example:1
  RUN_FLAGS=(--env NO_PROXY --env no_proxy --env HTTP_PROXY --env all_proxy)
  run 0 env
  for name in NO_PROXY no_proxy; do grep -qx "$name=" "$scratch/out" || fail "$name is not set and empty"; done
  ! grep -Eiq '^(https?|all)_proxy=' "$scratch/out" || fail "$(grep -i _proxy "$scratch/out")"
}

# An operator's proxy: a name that only it can resolve, and its password.
test_upstream_proxy_carries_what_is_allowed() {
  served
  need_python
  local upstream
  upstream=$(free_port)
  serve upstream /usr/bin/python3 -u -c '
import socket, sys, threading
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
def copy(source, sink):
    while data := source.recv(65536): sink.sendall(data)
    sink.shutdown(socket.SHUT_WR)
def serve(client):
    head = b""
    while b"\r\n\r\n" not in head:
        data = client.recv(65536)
        if not data: return
        head += data
    lines = head.decode().split("\r\n")
    print(lines[0], *(l for l in lines if l.lower().startswith("proxy-authorization")))
    server = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
    threading.Thread(target=copy, args=(server, client)).start()
    copy(client, server)
while True: threading.Thread(target=serve, args=(listener.accept()[0],)).start()
' "$upstream" "$port"
  wait_for 5 bash -c "exec 3<>/dev/tcp/127.0.0.1/$upstream"
  export COFFERDAM_UPSTREAM_PROXY="http://operator:word@127.0.0.1:$upstream"
  RUN_FLAGS=(--allow "behind.invalid:$port")
  run 0 curl -sS -p "http://behind.invalid:$port/page"
  out_is hello-from-server
  grep -q "CONNECT behind.invalid:$port .*Basic b3BlcmF0b3I6d29yZA==" "$scratch/upstream.out" ||
    fail "the upstream proxy saw: $(cat "$scratch/upstream.out")"
  run 0 curl -sS "http://behind.invalid:$port/page"
  out_is hello-from-server
  # What no rule allows is refused here and never asked there; the command does not see the password.
  run 56 curl -sS -p "http://other.invalid:$port/page"
  ! grep -q other.invalid "$scratch/upstream.out" || fail "a refused name reached the upstream proxy"
  run 0 env
  out_lacks operator
}
