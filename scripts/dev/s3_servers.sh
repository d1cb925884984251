# shellcheck shell=bash
# Storage servers that others wrote, for the tests of the S3 store; kept outside the tree.

rclone_version=v1.75.1
moto_version=5.2.5

# install_s3_servers: free when both are there. What cannot be had is said, and its tests are skipped.
install_s3_servers() {
  local servers=$cache_root/s3-servers
  mkdir -p "$servers"
  [ -x "$servers/rclone" ] || install_rclone "$servers" || say "dev: no rclone (it needs a current Go); its tests are skipped"
  [ -x "$servers/moto/bin/moto_server" ] || install_moto "$servers" || say "dev: no moto; its tests are skipped"
}

install_rclone() {
  local servers=$1
  command -v go >/dev/null || return 1
  say "dev: building rclone (some minutes, once) in $servers"
  GOBIN=$servers/new go install "github.com/rclone/rclone@$rclone_version" >"$servers/rclone.log" 2>&1 || return 1
  mv "$servers/new/rclone" "$servers/rclone"
}

install_moto() {
  local servers=$1
  say "dev: installing moto in $servers"
  rm -rf "$servers/moto"
  python3 -m venv "$servers/moto" && "$servers/moto/bin/pip" install -q "moto[server]==$moto_version" \
    >"$servers/moto.log" 2>&1 && return
  rm -rf "$servers/moto"
  return 1
}
