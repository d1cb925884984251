# shellcheck shell=bash

fuzzers() {
  local file
  for file in "$root"/tests/fuzz/*_fuzz.cc; do basename "$file" _fuzz.cc; done
}

# dev fuzz NAME [SECONDS]: new inputs are kept outside the tree, findings are printed with their path.
dev_fuzz() {
  local name=${1:?fuzz: name one of: $(fuzzers | tr '\n' ' ')} seconds=${2:-60}
  build_preset fuzz "fuzz_$name"
  local found=$COFFERDAM_BUILD_ROOT/fuzz-corpus/$name
  mkdir -p "$found"
  "$(build_directory fuzz)/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="$found-" "$found" "$root/tests/fuzz/corpus/$name" \
    >"$COFFERDAM_BUILD_ROOT/fuzz-$name.log" 2>&1 || {
    tail -n 40 "$COFFERDAM_BUILD_ROOT/fuzz-$name.log" >&2
    return 1
  }
  grep -E 'stat::(number_of_executed_units|average_exec_per_sec)' "$COFFERDAM_BUILD_ROOT/fuzz-$name.log" >&2
}
