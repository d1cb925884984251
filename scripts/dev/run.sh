# shellcheck shell=bash
# The main job on a realistic sample, or a command of the user's own.

# dev run [-- CMD ARGS…]
dev_run() {
  build_preset release "${programs[@]}"
  local cofferdam
  cofferdam=$(build_directory release)/cofferdam
  if [ "${1:-}" = -- ]; then
    shift
    [ $# -gt 0 ] || die "run: name a command after --"
    cd "$caller_directory" || die "the current directory is gone"
    exec "$cofferdam" run -- "$@"
  fi
  [ $# = 0 ] || die "run: write ./dev run, or ./dev run -- CMD ARGS…"
  install_packages "${demo_packages[@]}"
  exec bash "$root/scripts/demo.sh" "$cofferdam" "$root/tests/agents/demo" "$cache_root/agents"
}
