# The usual clients, each against a server on loopback that a rule allows: no flags of their own, only what the
# sandbox sets. Names other than localhost must pass the proxy, which is proved by its audit.

# A server on the host's loopback that is also reached through the proxy: `--allow 127.0.0.1:PORT` and NO_PROXY give
# the direct port; clients asked for $far, an address that NO_PROXY does not name, must pass the proxy.
served() {
  port=$(free_port)
  far=127.0.0.2
  mkdir -p "$scratch/www"
  echo hello-from-server >"$scratch/www/page"
  serve "web" python3 -m http.server "$port" --bind 0.0.0.0 --directory "$scratch/www"
  wait_for 10 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port"
  RUN_FLAGS=(--allow "$far:$port" --allow "localhost:$port")
}
# The request went through the proxy or a port of ours: the audit has it.
audited() {
  "$cofferdam" audit >"$scratch/audit"
  grep -q "$1" "$scratch/audit" || { cat "$scratch/audit"; fail "the audit lacks $1"; }
}
# A program that the sandbox shows, else skip.
inside() {
  local program
  for program in "$@"; do
    [ -x "/usr/bin/$program" ] || skip "/usr/bin/$program is not installed"
  done
}

test_curl() {
  inside curl
  served
  run 0 curl -sS "http://$far:$port/page"
  out_is hello-from-server
  audited "$far"
  run 0 curl -sS "http://localhost:$port/page"
  out_is hello-from-server
  run 22 curl -sSf "http://127.0.0.3:$port/page"
}

test_wget() {
  inside wget
  served
  run 0 wget -qO- "http://$far:$port/page"
  out_is hello-from-server
  audited "$far"
  run 0 wget -qO- "http://localhost:$port/page"
}

test_git_over_http() {
  served
  git clone -q --bare "$ws" "$scratch/www/repo.git"
  git -C "$scratch/www/repo.git" update-server-info
  run 0 git clone -q "http://$far:$port/repo.git" clone
  text_is content "$(cat clone/file)" content
  audited "$far"
  run 0 git ls-remote "http://localhost:$port/repo.git"
  run 128 git ls-remote "http://127.0.0.3:$port/repo.git"
}

test_git_over_ssh() {
  local sshd=${COFFERDAM_TEST_SSHD:-/usr/sbin/sshd}
  [ -x "$sshd" ] || skip "openssh-server is not installed"
  inside ssh
  ! is_root || mkdir -p /run/sshd  # where a server of root gives up its rights
  local port
  port=$(free_port)
  ssh-keygen -q -t ed25519 -N '' -f "$scratch/host_key"
  ssh-keygen -q -t ed25519 -N '' -f "$ws/key"
  cp "$ws/key.pub" "$scratch/authorized"
  serve sshd "$sshd" -D -e -f /dev/null -p "$port" -o ListenAddress=127.0.0.2 -h "$scratch/host_key" \
    -o "AuthorizedKeysFile=$scratch/authorized" -o StrictModes=no -o UsePAM=no -o PermitRootLogin=yes -o PidFile=none
  wait_for 5 bash -c "exec 3<>/dev/tcp/127.0.0.2/$port"
  RUN_FLAGS=(--allow "127.0.0.2:$port")
  git clone -q --bare "$ws" "$scratch/repo.git"
  run 0 sh -c "GIT_SSH_COMMAND=\"\$GIT_SSH_COMMAND -i \$PWD/key -o StrictHostKeyChecking=no\" \
    git ls-remote ssh://$(id -un)@127.0.0.2:$port$scratch/repo.git"
  out_has refs/heads/main
  audited 127.0.0.2
}

test_connect_helper_carries_a_protocol_where_the_server_speaks_first() {
  need socat
  local port
  port=$(free_port)
  serve banner socat "TCP-LISTEN:$port,bind=127.0.0.2,fork,reuseaddr" 'SYSTEM:echo banner; cat'
  wait_for 5 bash -c "exec 3<>/dev/tcp/127.0.0.2/$port"
  RUN_FLAGS=(--allow "127.0.0.2:$port")
  run 0 sh -c "echo question | /run/cofferdam/cofferdam-init connect 127.0.0.2 $port"
  out_is "$(printf 'banner\nquestion')"
  run 1 /run/cofferdam/cofferdam-init connect 127.0.0.3 "$port"
  err_has 'refused 127.0.0.3'
}

test_python_urllib_and_pip() {
  inside python3
  served
  run 0 /usr/bin/python3 -c "import urllib.request as r; print(r.urlopen('http://$far:$port/page').read().decode().strip())"
  out_is hello-from-server
  audited "$far"
  /usr/bin/python3 -m pip --version >/dev/null 2>&1 || skip "urllib passed; python3-pip is not installed"
  mkdir -p "$scratch/www/simple/cofferdam-sample" "$scratch/pkg"
  /usr/bin/python3 - "$scratch/www/simple/cofferdam-sample" <<'PYTHON'
import sys, zipfile
name = "cofferdam_sample-1.0-py3-none-any.whl"
d = "cofferdam_sample-1.0.dist-info/"
with zipfile.ZipFile(sys.argv[1] + "/" + name, "w") as z:
    z.writestr("cofferdam_sample.py", "print('sample')\n")
    z.writestr(d + "METADATA", "Metadata-Version: 2.1\nName: cofferdam-sample\nVersion: 1.0\n")
    z.writestr(d + "WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    z.writestr(d + "RECORD", "")
open(sys.argv[1] + "/index.html", "w").write('<a href="%s">%s</a>' % (name, name))
PYTHON
  run 0 /usr/bin/python3 -m pip install -q --break-system-packages --disable-pip-version-check --target lib \
    --trusted-host "$far" --index-url "http://$far:$port/simple" cofferdam-sample
  [ -e lib/cofferdam_sample.py ] || fail "nothing was installed"
}

test_node_fetch() {
  local node=${COFFERDAM_TEST_NODE:-} get="fetch(process.argv[1]).then(r => r.text()).then(t => console.log(t.trim()))"
  [ -n "$node" ] || { inside node; node=/usr/bin/node; }
  served
  RUN_FLAGS+=(--ro "$node")
  run 0 "$node" -e "$get" "http://localhost:$port/page"
  out_is hello-from-server
  # Since 22.21 and 24.
  "$node" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a >= 24 || (a == 22 && b >= 21) ? 0 : 1)' ||
    skip "Node.js $("$node" --version) has no NODE_USE_ENV_PROXY; localhost passed"
  run 0 "$node" -e "$get" "http://$far:$port/page"
  out_is hello-from-server
  audited "$far"
}

# The package cofferdam-sample in the registry of `served`.
npm_registry() {
  mkdir -p "$scratch/pack/package"
  echo '{"name":"cofferdam-sample","version":"1.0.0"}' >"$scratch/pack/package/package.json"
  tar -C "$scratch/pack" -czf "$scratch/www/sample.tgz" package
  local sum
  sum=$(openssl dgst -sha512 -binary "$scratch/www/sample.tgz" | base64 -w0)
  cat >"$scratch/www/cofferdam-sample" <<JSON
{"name":"cofferdam-sample","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"cofferdam-sample",
"version":"1.0.0","dist":{"tarball":"http://$far:$port/sample.tgz","integrity":"sha512-$sum"}}}}
JSON
}

test_npm() {
  inside npm node
  served
  npm_registry
  run 0 npm install --silent --no-audit --no-fund --no-update-notifier --registry "http://$far:$port/" cofferdam-sample
  [ -e node_modules/cofferdam-sample/package.json ] || fail "nothing was installed"
  audited "$far"
}

test_yarn() {
  [ -n "$COFFERDAM_TEST_YARN" ] || skip "yarn could not be fetched from the registry"
  inside node
  served
  npm_registry
  RUN_FLAGS+=(--ro "$COFFERDAM_TEST_YARN")
  echo '{"name":"x","version":"1.0.0","license":"MIT"}' >package.json
  run 0 node "$COFFERDAM_TEST_YARN/bin/yarn.js" add --silent --no-progress --registry "http://$far:$port/" cofferdam-sample
  [ -e node_modules/cofferdam-sample/package.json ] || fail "nothing was installed"
  audited "$far"
}

# A crate of a sparse registry, through to the lock file and the download.
test_cargo() {
  local cargo=$COFFERDAM_TEST_CARGO
  [ -n "$cargo" ] || skip "cargo is not installed"
  served
  mkdir -p "$scratch/www/index/sa/mp" "$scratch/www/crates/sample/1.0.0" "$scratch/crate/sample-1.0.0/src" src .cargo
  printf '[package]\nname="sample"\nversion="1.0.0"\nedition="2021"\n' >"$scratch/crate/sample-1.0.0/Cargo.toml"
  touch "$scratch/crate/sample-1.0.0/src/lib.rs"
  tar -C "$scratch/crate" -czf "$scratch/www/crates/sample/1.0.0/download" sample-1.0.0
  echo "{\"dl\":\"http://$far:$port/crates\"}" >"$scratch/www/index/config.json"
  printf '{"name":"sample","vers":"1.0.0","deps":[],"features":{},"yanked":false,"cksum":"%s"}\n' \
    "$(sha256sum "$scratch/www/crates/sample/1.0.0/download" | cut -d' ' -f1)" >"$scratch/www/index/sa/mp/sample"
  printf '[package]\nname="x"\nversion="0.1.0"\nedition="2021"\n[dependencies]\nsample = {version="1", registry="local"}\n' >Cargo.toml
  printf '[registries.local]\nindex = "sparse+http://%s:%s/index/"\n' "$far" "$port" >.cargo/config.toml
  echo 'fn main() {}' >src/main.rs
  RUN_FLAGS+=(--ro "$cargo")
  run 0 "$cargo" generate-lockfile
  grep -q 'name = "sample"' Cargo.lock || fail "no lock file"
  audited "$far"
}

test_grpc() {
  [ -n "$COFFERDAM_TEST_GRPC" ] || skip "grpcio could not be fetched from PyPI"
  inside python3
  export PYTHONPATH=$COFFERDAM_TEST_GRPC
  local port
  port=$(free_port)
  serve grpc /usr/bin/python3 -c '
import grpc, sys
from concurrent import futures
class Handler(grpc.GenericRpcHandler):
    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(lambda request, context: b"answer to " + request)
server = grpc.server(futures.ThreadPoolExecutor(2), handlers=(Handler(),))
server.add_insecure_port("127.0.0.2:" + sys.argv[1])
server.start()
server.wait_for_termination()' "$port"
  wait_for 20 bash -c "exec 3<>/dev/tcp/127.0.0.2/$port"
  cat >call.py <<'PYTHON'
import grpc, sys
call = grpc.insecure_channel(sys.argv[1]).unary_unary("/sample.Service/Call")
print(call(b"question", timeout=20).decode())
PYTHON
  RUN_FLAGS=(--allow "127.0.0.2:$port" --env PYTHONPATH --ro "$COFFERDAM_TEST_GRPC")
  run 0 /usr/bin/python3 call.py "127.0.0.2:$port"
  out_is 'answer to question'
  audited 127.0.0.2
  run 1 /usr/bin/python3 call.py "127.0.0.3:$port"
}

test_java() {
  inside java
  served
  # Java never asks a proxy for 127.0.0.0/8.
  far=$(hostname -I | cut -d' ' -f1)
  [ -n "$far" ] || skip "this machine has no address beside loopback"
  RUN_FLAGS+=(--allow "$far:$port")
  cat >Get.java <<'JAVA'
public class Get { public static void main(String[] a) throws Exception {
  System.out.print(new String(new java.net.URL(a[0]).openStream().readAllBytes())); } }
JAVA
  local java=/usr/bin/java
  "$java" Get.java "http://localhost:$port/page" >"$scratch/direct" 2>&1 || skip "this Java cannot run a source file: $(head -1 "$scratch/direct")"
  run 0 "$java" Get.java "http://$far:$port/page"
  out_is hello-from-server
  audited "$far"
}

# Go's own client fetches a module; it never asks a proxy for 127.0.0.0/8.
test_go() {
  local go module=$scratch/www/example.invalid/sample/@v
  for go in /usr/bin/go /usr/local/go/bin/go; do [ ! -x "$go" ] || break; done
  [ -x "$go" ] || skip "go is neither /usr/bin/go nor below /usr/local/go"
  need_python
  served
  far=$(hostname -I | cut -d' ' -f1)
  [ -n "$far" ] || skip "this machine has no address beside loopback"
  mkdir -p "$module"
  echo '{"Version":"v1.0.0"}' >"$module/v1.0.0.info"
  echo 'module example.invalid/sample' >"$module/v1.0.0.mod"
  /usr/bin/python3 - "$module/v1.0.0.zip" <<'PYTHON'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as z:
    z.writestr("example.invalid/sample@v1.0.0/go.mod", "module example.invalid/sample\n")
    z.writestr("example.invalid/sample@v1.0.0/sample.go", "package sample\n")
PYTHON
  printf 'module x\n\ngo 1.20\n\nrequire example.invalid/sample v1.0.0\n' >go.mod
  RUN_FLAGS=(--allow "$far:$port" --env "GOPROXY=http://$far:$port" --env GOSUMDB=off --env GOTOOLCHAIN=local
    --env "GOMODCACHE=$ws/modules" --env GOFLAGS=-modcacherw)
  [ ! -d /usr/local/go ] || RUN_FLAGS+=(--ro /usr/local/go)
  run 0 "$go" mod download example.invalid/sample
  [ -e modules/example.invalid/sample@v1.0.0/sample.go ] || fail "nothing was downloaded"
  audited "$far"
}
