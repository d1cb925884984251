# shellcheck shell=bash
# The tests. What a run prints last are the totals: "N passed, N failed, N skipped".

passed=0 failed=0 skipped=0
failures=()

# count_junit FILE: adds the totals of one ctest run.
count_junit() {
  local counts
  counts=$(python3 "$root/scripts/junit_totals.py" "$1") || die "no test results in $1"
  local p f s
  read -r p f s <<<"$counts"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# run_ctest PRESET [CTEST ARGUMENTS…]
run_ctest() {
  local preset=$1 results
  shift
  results=$(build_directory "$preset")/results.xml
  rm -f "$results"
  ctest --test-dir "$(build_directory "$preset")" --output-on-failure --no-tests=error -j2 --output-junit "$results" "$@" \
    >"$COFFERDAM_BUILD_ROOT/ctest-$preset.log" 2>&1 || true
  sed -n '/^ *[0-9]*\/[0-9]* Test .*Passed/!p' "$COFFERDAM_BUILD_ROOT/ctest-$preset.log" | grep -v '^ *Start ' || true
  count_junit "$results"
}

# step NAME COMMAND…: a check that is no ctest test, counted as one.
step() {
  local name=$1
  shift
  say "dev: $name"
  if ("$@"); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    failures+=("$name")
  fi
}

print_totals() {
  [ ${#failures[@]} = 0 ] || say "failed: ${failures[*]}"
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ]
}

test_preset() {
  build_preset "$1"
  run_ctest "$@"
}

# Only what has threads or shares processes: the rest is the same code in one thread.
test_threads() {
  build_preset tsan unit_async unit_system unit_workspace unit_store unit_snapshot unit_egress cofferdam-egress
  run_ctest tsan -R '^unit\.(async|system|workspace|store|snapshot|egress)\.'
}

test_everything() {
  local fuzzer
  install_agents || true
  say "dev: tests"
  test_preset dev
  say "dev: tests of the address and undefined behaviour sanitizer build"
  test_preset asan -L 'unit|functional'
  say "dev: tests of the thread sanitizer build"
  test_threads
  for fuzzer in $(fuzzers); do step "fuzz $fuzzer" dev_fuzz "$fuzzer" 60; done
  step lint dev_lint
}

# dev test [--all | --asan | --tsan | FILTER]
dev_test() {
  install_packages "${test_packages[@]}"
  case "${1:-}" in '' | --all | --asan | --tsan | *store*) install_s3_servers ;; esac
  case "${1:-}" in
    --all) test_everything ;;
    --asan) test_preset asan -L 'unit|functional' ;;
    --tsan) test_threads ;;
    --*) die "test: unknown argument '$1'" ;;
    '') test_preset dev -LE agents ;;
    *) test_preset dev -R "$1" ;;
  esac
  print_totals
}
