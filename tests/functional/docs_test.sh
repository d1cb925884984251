# What the documents show works as shown: run_case hands them in as COFFERDAM_TEST_DOCS, `tail`'s form.

# blocks LANGUAGE: each fenced block into $scratch/blocks/FILE-LINE.
blocks() {
  rm -rf "$scratch/blocks"
  mkdir "$scratch/blocks"
  awk -v language="$1" -v folder="$scratch/blocks" '
    /^==> .* <==$/ { file = $2; gsub("/", "_", file); line = -1 }
    { line++ }
    /^```/ { if (out != "") { close(out); out = "" } else if (!open && $0 == "```" language) { out = folder "/" file "-" line; next }
             open = !open && out == "" && $0 != "```"; next }
    out != "" { print > out }' <<<"$COFFERDAM_TEST_DOCS"
}
# The paths that the examples name, below this test's own directories.
with_example_paths() {
  mkdir -p "$scratch/opt/toolchain" "$scratch/opt/toolchains" "$scratch/var/cache/pnpm" "$HOME/sdk" "$scratch/cache" cache infra
  touch .env
  sed "s#/opt/#$scratch/opt/#g; s#/var/cache#$scratch/var/cache#g"
}

test_policies_are_accepted() {
  local block count=0
  blocks yaml
  mkdir policy
  for block in "$scratch/blocks"/*; do
    with_example_paths <"$block" >policy/policy.yaml
    expect 0 "$cofferdam" explain --policy policy/policy.yaml -- true
    count=$((count + 1))
  done
  [ "$count" -ge 2 ] || fail "$count blocks were found"
  echo 'limits: {wall_clock: 30m}' >policy/policy.yaml
  expect 2 "$cofferdam" explain --policy policy/policy.yaml -- true
}

# Whole adapter configurations: in a json block, or written by a shell command.
test_adapter_configurations_are_accepted() {
  local block count=0
  blocks json
  blocks_of_shell
  for block in "$scratch/blocks"/* "$scratch/shell"/*; do
    [ -s "$block" ] || continue
    jq -e 'has("filesystemScope") or has("networkScope") or has("adapterConfig")' "$block" >/dev/null || continue
    with_example_paths <"$block" >"$scratch/adapter.json"
    expect 0 "$cofferdam" explain --adapter-config "$scratch/adapter.json" --profile claude_local \
      --restore "$scratch/var/cache" -- true
    count=$((count + 1))
  done
  [ "$count" -ge 1 ] || fail "no adapter configuration was found"
}
blocks_of_shell() {
  mkdir "$scratch/shell"
  awk -v folder="$scratch/shell" '
    sub(/^echo \x27/, "") { out = folder "/" NR }
    out != "" { last = sub(/\x27 > adapter.json$/, ""); print > out; if (last) { close(out); out = "" } }' \
    <<<"$COFFERDAM_TEST_DOCS"
}
