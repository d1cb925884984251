# shellcheck shell=bash

cpp_files() { git -C "$root" ls-files -- '*.cc' '*.h'; }

lint_format() { cpp_files | xargs clang-format-19 --dry-run --Werror; }
lint_layers() { python3 scripts/check_layers.py; }
lint_rules() { python3 scripts/check_rules.py; }
lint_promises() { python3 scripts/check_promises.py; }
lint_shell() { shellcheck -x dev .ci/run scripts/dev/*.sh tests/functional/lib.sh tests/functional/run_case; }
lint_headers() { python3 scripts/check_headers.py "$(build_directory dev)"; }
lint_tidy() {
  # Coroutine and ownership mistakes, on the translation units of our own code.
  cpp_files | grep -E '^src/.*\.cc$' | grep -v seccomp_generator |
    xargs -P2 -n6 clang-tidy-19 --quiet -p "$(build_directory dev)" 2>/dev/null
}

# dev lint
dev_lint() {
  install_packages "${lint_packages[@]}"
  build_preset dev
  local check bad=()
  for check in format layers rules promises shell headers tidy; do
    say "dev: lint: $check"
    "lint_$check" >&2 || bad+=("$check")
  done
  [ ${#bad[@]} = 0 ] || die "lint found something: ${bad[*]}"
}

# dev format
dev_format() {
  install_packages clang-format-19
  cpp_files | xargs clang-format-19 -i
}
