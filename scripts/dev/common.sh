# shellcheck shell=bash
# Shared by the sub-commands: where builds and caches live, and small helpers.

# Caches and downloads live outside the tree, so that a fresh clone profits from an older one.
cache_root=${COFFERDAM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cofferdam}
export COFFERDAM_CACHE=$cache_root
# A build lies in its tree, so that every path in a compiler command is relative and clones share the compiler cache.
export COFFERDAM_BUILD_ROOT=${COFFERDAM_BUILD_ROOT:-$root/build}
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

build_directory() { printf '%s/%s' "$COFFERDAM_BUILD_ROOT" "$1"; }

# build_preset PRESET [TARGET…]: sets up, configures and builds; quick when nothing changed.
build_preset() {
  local preset=$1 log
  shift
  dev_setup
  mkdir -p "$COFFERDAM_BUILD_ROOT"
  log=$COFFERDAM_BUILD_ROOT/configure-$preset.log
  [ -d "$(build_directory "$preset")" ] ||
    say "dev: building ($preset; a few minutes the first time), log: $COFFERDAM_BUILD_ROOT/build-$preset.log"
  cmake --preset "$preset" -S "$root" >"$log" 2>&1 || {
    cat "$log" >&2
    die "configuring the preset '$preset' failed"
  }
  cmake --build "$(build_directory "$preset")" ${1:+--target "$@"} >"$COFFERDAM_BUILD_ROOT/build-$preset.log" 2>&1 || {
    grep -vE '^\[[0-9]+/[0-9]+\]' "$COFFERDAM_BUILD_ROOT/build-$preset.log" | head -n 80 >&2
    die "building the preset '$preset' failed; the whole log: $COFFERDAM_BUILD_ROOT/build-$preset.log"
  }
}

programs=(cofferdam cofferdam-init cofferdam-egress cofferdam-engine)
