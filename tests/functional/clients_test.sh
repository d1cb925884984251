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
  [ -x /usr/sbin/sshd ] || skip "openssh-server is not installed"
  inside ssh
  is_root && skip "the server of this test runs as the ordinary user"
  local port
  port=$(free_port)
  ssh-keygen -q -t ed25519 -N '' -f "$scratch/host_key"
  ssh-keygen -q -t ed25519 -N '' -f "$ws/key"
  cp "$ws/key.pub" "$scratch/authorized"
  serve sshd /usr/sbin/sshd -D -e -f /dev/null -p "$port" -o ListenAddress=127.0.0.2 -h "$scratch/host_key" \
    -o "AuthorizedKeysFile=$scratch/authorized" -o StrictModes=no -o UsePAM=no -o PidFile=none
  wait_for 5 bash -c "exec 3<>/dev/tcp/127.0.0.2/$port"
  RUN_FLAGS=(--allow "raw:127.0.0.2:$port")
  run 0 sh -c "\$GIT_SSH_COMMAND -i key -o StrictHostKeyChecking=no -p $port 127.0.0.2 echo over-ssh"
  out_has over-ssh
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
  /usr/bin/python3 -m pip --version >/dev/null 2>&1 || return 0
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
  inside node
  served
  local major
  major=$(node -p 'process.versions.node.split(".")[0]')
  run 0 node -e "fetch('http://localhost:$port/page').then(r => r.text()).then(t => console.log(t.trim()))"
  out_is hello-from-server
  [ "$major" -ge 24 ] || skip "Node.js $major has no NODE_USE_ENV_PROXY"
  run 0 node -e "fetch('http://$far:$port/page').then(r => r.text()).then(t => console.log(t.trim()))"
  out_is hello-from-server
  audited "$far"
}

test_npm() {
  inside npm node
  served
  mkdir -p "$scratch/pack/package"
  echo '{"name":"cofferdam-sample","version":"1.0.0"}' >"$scratch/pack/package/package.json"
  tar -C "$scratch/pack" -czf "$scratch/www/sample.tgz" package
  local sum
  sum=$(openssl dgst -sha512 -binary "$scratch/www/sample.tgz" | base64 -w0)
  cat >"$scratch/www/cofferdam-sample" <<JSON
{"name":"cofferdam-sample","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"cofferdam-sample",
"version":"1.0.0","dist":{"tarball":"http://$far:$port/sample.tgz","integrity":"sha512-$sum"}}}}
JSON
  run 0 npm install --silent --no-audit --no-fund --no-update-notifier --registry "http://$far:$port/" cofferdam-sample
  [ -e node_modules/cofferdam-sample/package.json ] || fail "nothing was installed"
  audited "$far"
}

test_cargo() {
  local cargo
  cargo=$(command -v cargo) || skip "cargo is not installed"
  case "$cargo" in /usr/*) ;; *) skip "cargo lies in somebody's home directory: $cargo" ;; esac
  served
  mkdir -p "$scratch/www/index"
  echo "{\"dl\":\"http://$far:$port/crates\"}" >"$scratch/www/index/config.json"
  mkdir -p src
  printf '[package]\nname="x"\nversion="0.1.0"\nedition="2021"\n[dependencies]\nabsent = {version="1", registry="local"}\n' >Cargo.toml
  mkdir -p .cargo
  printf '[registries.local]\nindex = "sparse+http://%s:%s/index/"\n' "$far" "$port" >.cargo/config.toml
  echo 'fn main() {}' >src/main.rs
  run 101 cargo generate-lockfile
  audited "$far"
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

test_go() {
  [ -x /usr/bin/go ] || skip "go is not below /usr/bin"
  served
}
