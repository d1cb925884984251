# shellcheck shell=bash

# dev test [FILTER]
dev_test() {
  install_packages "${test_packages[@]}"
  build_preset dev
  ctest --test-dir "$COFFERDAM_BUILD_ROOT/dev" --output-on-failure -j2 ${1:+-R "$1"}
}
