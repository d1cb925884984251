# shellcheck shell=bash
# Shared by the sub-commands: where builds and caches live, and small helpers.

# Builds and downloads live outside the tree, so that a fresh clone profits from an older one.
cache_root=${COFFERDAM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cofferdam}
tree_id=$(printf '%s' "$root" | cksum | cut -d' ' -f1)
export COFFERDAM_BUILD_ROOT=${COFFERDAM_BUILD_ROOT:-$cache_root/build-$tree_id}
export CCACHE_DIR=${CCACHE_DIR:-$cache_root/ccache}
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-8G}
export CCACHE_SLOPPINESS=pch_defines,time_macros

say() { printf '%s\n' "$*" >&2; }
die() {
  say "dev: $*"
  exit 1
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# configure PRESET: quick when nothing changed.
configure() {
  cmake --preset "$1" -S "$root" >"$COFFERDAM_BUILD_ROOT/configure-$1.log" 2>&1 || {
    cat "$COFFERDAM_BUILD_ROOT/configure-$1.log" >&2
    die "configuring the preset '$1' failed"
  }
}

build_preset() {
  dev_setup
  mkdir -p "$COFFERDAM_BUILD_ROOT"
  configure "$1"
  shift_preset=$1
  shift
  cmake --build "$COFFERDAM_BUILD_ROOT/$shift_preset" "$@" >&2
}
