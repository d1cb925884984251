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

# Real source files to save: unpacked once, outside the tree, by an apt of our own that knows where sources are.
unpack_sources() {
  local folder=$1 options
  [ -e "$folder/complete" ] && return
  rm -rf "$folder"
  mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/unpacked"
  echo "deb-src http://deb.debian.org/debian bookworm main" >"$folder/apt/sources.list"
  options=(-qq -o "Dir::Etc::SourceList=$folder/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$folder/apt/lists" -o "Dir::Cache=$folder/apt/cache")
  [ "$(id -u)" != 0 ] || options+=(-o APT::Sandbox::User=root)
  (cd "$folder/unpacked" && apt-get "${options[@]}" update && apt-get "${options[@]}" source git curl postgresql-15 &&
    find . -maxdepth 1 -type f -delete) >"$folder/apt.log" 2>&1 || die "the sources could not be had: $folder/apt.log"
  touch "$folder/complete"
}

bench_workspace() {
  install_packages "${bench_packages[@]}"
  unpack_sources "$cache_root/bench/sources"
  mkdir -p "$cache_root/bench/work"
  python3 bench/workspace.py "$(build_directory release)" --sources "$cache_root/bench/sources/unpacked" \
    --work "$cache_root/bench/work" --out bench/results/workspace.json "$@"
}

# dev bench local|start|egress|workspace
dev_bench() {
  local name=${1:-local}
  shift || true
  build_preset release
  mkdir -p bench/results
  case "$name" in
    local) bench_local "$@" && bench_egress ;;
    start) bench_local "$@" ;;
    egress) bench_egress "$@" ;;
    workspace) bench_workspace "$@" ;;
    *) die "bench: local, start, egress or workspace, not '$name'" ;;
  esac
}
