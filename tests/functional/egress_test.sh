# Attacks on the allowlist and on the open network from inside a run, against servers on the host's loopback. The parsers
# have unit tests; here the whole way is attacked.

# Two servers that write what they hear: $allowed has a rule, $forbidden has none. They answer with their name.
two_servers() {
  need_python
  cat >"$scratch/server.py" <<'PYTHON'
import socket, sys, threading
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
def serve(client):
    with client:
        client.settimeout(5)
        try:
            while data := client.recv(65536):
                print(repr(data), flush=True)
                if data.startswith(b"CONNECT "):  # it is also an operator's proxy to itself
                    client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                    continue
                client.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(sys.argv[2])}\r\n\r\n{sys.argv[2]}".encode())
        except OSError: pass
while True: threading.Thread(target=serve, args=(listener.accept()[0],)).start()
PYTHON
  allowed=$(free_port) forbidden=$(free_port)
  serve allowed /usr/bin/python3 "$scratch/server.py" "$allowed" allowed-server
  serve forbidden /usr/bin/python3 "$scratch/server.py" "$forbidden" forbidden-server
  wait_for 5 bash -c "exec 3<>/dev/tcp/127.0.0.1/$allowed"
  wait_for 5 bash -c "exec 3<>/dev/tcp/127.0.0.1/$forbidden"
  RUN_FLAGS=(--allow "localhost:$allowed")
  cat >client.py <<'PYTHON'
import socket, struct, sys, time
allowed, forbidden = int(sys.argv[1]), int(sys.argv[2])

def proxy(*pieces, pause=0.0):
    """Sends the pieces to the proxy and returns what comes back until a second passes without a byte."""
    with socket.create_connection(("127.0.0.1", 31337)) as client:
        client.settimeout(1.5)
        got = b""
        try:
            for piece in pieces:
                client.sendall(piece.encode() if isinstance(piece, str) else piece)
                time.sleep(pause)
            while data := client.recv(65536): got += data
        except OSError: pass
        return got.decode(errors="replace")

def hello(*names, extra=b"", record=None):
    """A ClientHello that names the servers, in records of `record` bytes."""
    server_names = b"".join(b"\0" + struct.pack(">H", len(n)) + n for n in names)
    sni = struct.pack(">H", len(server_names)) + server_names
    extensions = (struct.pack(">HH", 0, len(sni)) + sni if names else b"") + extra
    body = b"\x03\x03" + b"r" * 32 + b"\0" + b"\0\x02\x13\x01" + b"\x01\0" + struct.pack(">H", len(extensions)) + extensions
    message = b"\x01" + struct.pack(">I", len(body))[1:] + body
    step = record or len(message)
    return b"".join(b"\x16\x03\x01" + struct.pack(">H", len(message[i:i + step])) + message[i:i + step]
                    for i in range(0, len(message), step))

def connect(target): return f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n"
PYTHON
}
# attack_proxy PYTHON…: the lines in the sandbox, with the names of client.py.
attack_proxy() {
  (cat client.py; printf '%s\n' "$@") >attack.py
  run 0 /usr/bin/python3 attack.py "$allowed" "$forbidden"
}
never_heard() { ! grep -q . "$scratch/forbidden.out" || fail "the forbidden server heard: $(cat "$scratch/forbidden.out")"; }

test_requests_whose_host_is_another_than_their_target() {
  two_servers
  attack_proxy 'for line, host in ((f"http://localhost:{allowed}/", f"localhost:{forbidden}"), (f"http://localhost:{allowed}/", "evil.example")):' \
    '    print(proxy(f"GET {line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))'
  # Either refused, or the server is told the name that was judged.
  ! grep -E "evil.example|localhost:$forbidden" "$scratch/allowed.out" || fail "the server heard another host"
  attack_proxy 'print(proxy(f"GET http://localhost:{forbidden}/ HTTP/1.1\r\nHost: localhost:{allowed}\r\n\r\n"))' \
    'print(proxy(f"GET / HTTP/1.1\r\nHost: localhost:{forbidden}\r\n\r\n"))' \
    'print(proxy(f"GET http://localhost:{allowed}@localhost:{forbidden}/ HTTP/1.1\r\nHost: localhost:{allowed}\r\n\r\n"))' \
    'print(proxy(f"CONNECT localhost:{forbidden} HTTP/1.1\r\nHost: localhost:{allowed}\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"))'
  out_lacks forbidden-server
  never_heard
}

test_second_requests_of_a_connection_are_judged() {
  two_servers
  attack_proxy 'one = f"GET http://localhost:{allowed}/ HTTP/1.1\r\nHost: localhost:{allowed}\r\n"' \
    'two = f"GET http://localhost:{forbidden}/ HTTP/1.1\r\nHost: localhost:{forbidden}\r\n\r\n"' \
    'print(proxy(one + "\r\n" + two))' \
    'print(proxy(one + f"Content-Length: {len(two)}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + two))' \
    'print(proxy(one + "Content-Length: 0\r\nContent-Length: 5\r\n\r\n" + two))' \
    'print(proxy(one + "X: a\n\n" + two))' \
    'print(proxy(one + f" GET http://localhost:{forbidden}/ HTTP/1.1\r\n\r\n" + two))'
  out_has allowed-server
  out_lacks forbidden-server
  never_heard
  # The other request must not have gone along as somebody's body either.
  ! grep -q "localhost:$forbidden" "$scratch/allowed.out" || fail "smuggled: $(cat "$scratch/allowed.out")"
}

test_http2_is_not_spoken_past_the_rules() {
  two_servers
  attack_proxy 'preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"' \
    'print(proxy(preface, b"\0\0\0\x04\0\0\0\0\0"))' \
    'print(proxy(f"GET http://localhost:{allowed}/ HTTP/1.1\r\nHost: localhost:{allowed}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n", preface))' \
    'print(proxy(f"CONNECT localhost:{forbidden} HTTP/2.0\r\n\r\n"))'
  out_has 'HTTP/1.1 400'
  ! grep -q 'PRI \* HTTP/2' "$scratch/allowed.out" || fail "the server was spoken to in HTTP/2"
  never_heard
}

# A name that only an operator's proxy knows, which is the allowed server itself: rules for localhost are rules for an
# address and hold TLS to no name.
named_server() {
  two_servers
  name=named.invalid
  export COFFERDAM_UPSTREAM_PROXY=http://127.0.0.1:$allowed
  RUN_FLAGS=(--allow "$name:8443")
}

test_a_server_name_that_is_not_the_tunnels() {
  named_server
  attack_proxy 'from concurrent.futures import ThreadPoolExecutor' \
    'target = connect("named.invalid:8443")' \
    'evil = (b"evil.example", b"named.invalid.evil.example", b"evil.example\0named.invalid", b"named.invalid\0.evil.example", b"127.0.0.1", b"named.invali", b"x.named.invalid")' \
    'inner = struct.pack(">HH", 0xfe0d, 40) + b"\0" * 40' \
    'twice = struct.pack(">HHHBH", 0, 17, 15, 0, 12) + b"evil.example"' \
    'cases = [(target, hello(name)) for name in evil]' \
    'cases += [(target.encode() + hello(name),) for name in evil]' \
    'cases += [(target, hello(name, record=3)) for name in evil]' \
    'cases += [(target, *(bytes([b]) for b in hello(b"evil.example")))]' \
    'cases += [(target, hello(b"named.invalid", b"evil.example")), (target, hello(b"evil.example", b"named.invalid"))]' \
    'cases += [(target, hello(b"named.invalid", extra=twice)), (target, hello()), (target, hello(b"cover.example", extra=inner))]' \
    'heard = list(ThreadPoolExecutor(8).map(lambda pieces: proxy(*pieces, pause=0.02).count("allowed-server"), cases))' \
    'for pieces, count in zip(cases, heard): print(pieces[-1][:90], count)' \
    'print("established", "200" in proxy(target))'
  out_has 'established True'
  ! grep -v -e ' 0$' -e established "$scratch/out" || fail "a tunnel carried another name"
  ! grep -F 'x16' "$scratch/allowed.out" || fail "the server heard a greeting"
  err_has 'the TLS connection names another host'
  # The right name passes however it is written and cut, also with an encrypted hello inside.
  attack_proxy 'target = connect("named.invalid:8443")' \
    'inner = struct.pack(">HH", 0xfe0d, 40) + b"\0" * 40' \
    'for pieces in (hello(b"named.invalid"), hello(b"NAMED.Invalid"), hello(b"named.invalid", record=2), hello(b"named.invalid", extra=inner)):' \
    '    print(proxy(target, pieces, pause=0.05).count("allowed-server") > 0)'
  text_is "the right name" "$(sort -u "$scratch/out")" True
}

# Both names are allowed; a tunnel for one is none for the other, and what is refused inside is recorded.
test_fronting_with_another_allowed_name() {
  named_server
  RUN_FLAGS=(--allow "$name" --allow other.invalid)
  attack_proxy 'tls = connect("named.invalid:443")' 'plain = connect("named.invalid:80")' \
    'print(proxy(tls, hello(b"other.invalid"), pause=0.1).count("allowed-server"))' \
    'print(proxy(plain, "GET / HTTP/1.1\r\nHost: other.invalid\r\n\r\n", pause=0.1).count("allowed-server"))' \
    'print(proxy(plain, "GET / HTTP/1.1\r\nHost: named.invalid\r\nHost: other.invalid\r\n\r\n", pause=0.1).count("allowed-server"))' \
    'print(proxy(plain, "GET http://other.invalid/ HTTP/1.1\r\nHost: named.invalid\r\n\r\n", pause=0.1).count("allowed-server"))' \
    'print(proxy(plain, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", pause=0.1).count("allowed-server"))' \
    'print(proxy(plain, hello(b"named.invalid"), pause=0.1).count("allowed-server"))' \
    'print(proxy(tls, "GET / HTTP/1.1\r\nHost: named.invalid\r\n\r\n", pause=0.1).count("allowed-server"))'
  text_is "what got through" "$(sort -u "$scratch/out")" 0
  ! grep -F 'other.invalid' "$scratch/allowed.out" || fail "the server heard the other name"
  attack_proxy 'print(proxy(connect("named.invalid:80"), "GET / HTTP/1.1\r\nHost: named.invalid\r\n\r\n", pause=0.1))' \
    'print(proxy(connect("named.invalid:80"), "GET / HTTP/1.1\r\nHost: named.invalid\r\n\r\nGET / HTTP/1.1\r\nHost: other.invalid\r\n\r\n", pause=0.1))'
  out_has allowed-server
  ! grep -F 'other.invalid' "$scratch/allowed.out" || fail "the server heard the other name"
  expect 0 "$cofferdam" audit --denied
  out_has sni_mismatch
  out_has http_host_mismatch
}

# A rule for a name is none for what stands beside it.
test_allowed_loopback_port_opens_no_other_service() {
  two_servers
  with_attack
  refused loopback "$forbidden"
  attack_proxy 'for host in ("localhost", "127.0.0.1", "[::1]", "127.1", "0", "0.0.0.0", "[::ffff:127.0.0.1]", "[::]", "2130706433", "localhost.", "LOCALHOST"):' \
    '    print(proxy(connect(f"{host}:{forbidden}"), "GET / HTTP/1.1\r\n\r\n", pause=0.1))'
  out_lacks forbidden-server
  never_heard
}

abstract_server() {
  need_python
  abstract=cofferdam-test-$$-$RANDOM
  serve abstract /usr/bin/python3 -c '
import socket, sys, time
listener = socket.socket(socket.AF_UNIX)
listener.bind("\0" + sys.argv[1])
listener.listen()
print("ready", flush=True)
time.sleep(60)' "$abstract"
  wait_for 5 grep -q ready "$scratch/abstract.out"
  with_attack
  "$ws/attack" abstract "$abstract" >/dev/null && fail "the test's own server does not work"
  true
}

test_abstract_sockets_of_the_host_are_out_of_reach() {
  abstract_server
  local flags
  for flags in "--network deny" "--allow localhost:39990" "--network deny --filesystem host" "--network deny --nested on"; do
    read -ra RUN_FLAGS <<<"$flags"
    refused abstract "$abstract"
  done
}

# The open network is the host's, as is said; what has a name in the file system stays hidden, and nothing is gained.
test_network_open_opens_the_network_only() {
  two_servers
  with_attack
  /usr/bin/python3 -c 'import socket, sys, time; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); time.sleep(60)' \
    "$scratch/outside/socket" &
  servers+=("$!")
  wait_for 5 test -S "$scratch/outside/socket"
  RUN_FLAGS=(--network open)
  run 0 true
  err_has "network"
  allowed loopback "$forbidden"
  refused unix "$scratch/outside/socket"
  refused packet,raw,vsock,netfilter,audit
  run 0 sh -c 'env | grep -i _proxy; true'
  out_is ""
  abstract_server
  [ "$("$cofferdam" explain -o json "${RUN_FLAGS[@]}" -- true | jq .locks.landlock.abi)" -ge 6 ] ||
    skip "this kernel's Landlock does not know abstract sockets (ABI 6)"
  refused abstract "$abstract"
}
