# shellcheck shell=bash

# dev build [PRESET]
dev_build() { build_preset "${1:-dev}"; }
