# shellcheck shell=bash
# What a bare Debian 12 lacks. One package list; asked of dpkg first, so that a complete machine costs nothing.

build_packages=(clang-19 libclang-rt-19-dev mold ccache ninja-build cmake pkg-config
  libboost1.81-dev libboost-json1.81-dev libcli11-dev libyaml-cpp-dev libpsl-dev libidn2-dev libunistring-dev
  libseccomp-dev libgtest-dev libgmock-dev)
run_packages=(bubblewrap git ca-certificates)
test_packages=(curl wget jq socat strace python3 python3-pip openssh-client tmux procps iproute2 sudo)
lint_packages=(clang-format-19 clang-tidy-19 shellcheck)

install_packages() {
  local missing=()
  local package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return
  say "dev: installing ${missing[*]}"
  as_root apt-get update -qq >&2
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2 ||
    die "could not install ${missing[*]}"
}

dev_setup() { install_packages "${build_packages[@]}" "${run_packages[@]}"; }
