# shellcheck shell=bash
# What a bare Debian 12 lacks. Asked of dpkg first, so that a complete machine costs nothing.

build_packages=(clang-19 libclang-rt-19-dev mold ccache ninja-build cmake pkg-config
  libboost1.81-dev libboost-json1.81-dev libcli11-dev libyaml-cpp-dev libpsl-dev libidn2-dev libunistring-dev
  libseccomp-dev libssl-dev libsodium-dev libzstd-dev libsqlite3-dev libpq-dev
  libcurl4-openssl-dev libexpat1-dev libvalijson-dev libgtest-dev libgmock-dev)
run_packages=(bubblewrap git ca-certificates)
demo_packages=(python3 curl)
test_packages=(curl wget jq socat strace python3 python3-pip openssh-client openssh-server keyutils util-linux tmux
  procps iproute2 bash-completion zsh fish man-db npm libarchive-tools zstd postgresql-15 python3-venv)
bench_packages=(tinyproxy-bin squid python3 npm restic borgbackup dpkg-dev)
lint_packages=(clang-format-19 clang-tidy-19 shellcheck python3)

# Node's tools may come from elsewhere; the package would only get in their way.
is_there() {
  [ "$1" != npm ] || ! command -v npm >/dev/null || return 0
  dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'
}

install_packages() {
  local missing=() package
  for package in "$@"; do
    is_there "$package" || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return
  say "dev: installing ${missing[*]}"
  as_root apt-get update -qq >&2
  # A server that a test starts itself must not be started by its package.
  as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends "${missing[@]}" \
    >"${TMPDIR:-/tmp}/cofferdam-apt.$$" 2>&1 || {
    cat "${TMPDIR:-/tmp}/cofferdam-apt.$$" >&2
    die "could not install ${missing[*]}"
  }
  rm -f "${TMPDIR:-/tmp}/cofferdam-apt.$$"
}

# dev setup: everything that building and running needs.
dev_setup() { install_packages "${build_packages[@]}" "${run_packages[@]}"; }
