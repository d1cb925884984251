# shellcheck shell=bash
# Measurements beside the named competitors. Results land in bench/results/; docs/performance.md summarises them.

# The competitor from the npm registry, kept outside the tree.
install_srt() {
  local folder=$cache_root/bench
  [ -x "$folder/node_modules/.bin/srt" ] && return
  mkdir -p "$folder"
  (cd "$folder" && npm install --no-save --no-progress --prefix . @anthropic-ai/sandbox-runtime@0.0.83 >npm.log 2>&1) ||
    say "dev: srt could not be installed; it is left out"
}

bench_local() {
  install_packages ripgrep socat npm python3
  install_srt
  local srt=$cache_root/bench/node_modules/.bin/srt
  python3 bench/local.py "$(build_directory release)" ${srt:+--srt "$srt"} --out bench/results/local.json "$@"
}

bench_egress() {
  install_packages "${bench_packages[@]}"
  python3 bench/egress.py "$(build_directory release)" --out bench/results/egress.json "$@"
}

# dev bench local|egress
dev_bench() {
  local name=${1:-local}
  shift || true
  build_preset release
  mkdir -p bench/results
  case "$name" in
    local) bench_local "$@" && bench_egress ;;
    start) bench_local "$@" ;;
    egress) bench_egress "$@" ;;
    *) die "bench: local, start or egress, not '$name'" ;;
  esac
}
