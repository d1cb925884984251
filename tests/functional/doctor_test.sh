# `cofferdam doctor`, and what a run says on a machine that cannot confine (L36, X15).

# The command where no user namespace can be made.
without_namespaces() {
  unshare --user --map-root-user sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"' sh "$@"
}

test_finds_that_this_machine_can_confine() {
  expect 0 "$cofferdam" doctor
  out_has 'This machine can confine.'
  out_lacks FAILED
  expect 0 "$cofferdam" doctor -o json
  jq -e '.canConfine and ([.findings[].id] | contains(["user_namespaces", "bubblewrap", "confined_run", "loopback"]))' \
    "$scratch/out" >/dev/null || fail "$(cat "$scratch/out")"
}

test_names_cause_and_remedy_without_namespaces() {
  without_namespaces true || skip "this machine lets nobody switch user namespaces off"
  expect 1 without_namespaces "$cofferdam" doctor
  out_has 'This machine cannot confine yet'
  grep -q '^FAILED.*user.max_user_namespaces is 0' "$scratch/out" || { cat "$scratch/out"; fail "no cause"; }
  out_has 'mend it: sysctl -w user.max_user_namespaces='
  expect 1 without_namespaces "$cofferdam" doctor -o json
  text_is canConfine "$(jq .canConfine "$scratch/out")" false
}

# Every account is mapped, so that bubblewrap still belongs to root: only the namespaces are missing. For both users.
test_a_run_without_namespaces_names_the_cause() {
  is_root || skip "root runs this for the ordinary user as well"
  serve holder unshare --user sleep 60
  local holder=${servers[0]}
  other_namespace() { [ "$(readlink "/proc/$holder/ns/user")" != "$(readlink /proc/self/ns/user)" ]; }
  wait_for 5 other_namespace
  echo 0 0 65536 >"/proc/$holder/uid_map"
  echo 0 0 65536 >"/proc/$holder/gid_map"
  local prefix=(nsenter --user --target "$holder")
  "${prefix[@]}" sh -c 'echo 0 >/proc/sys/user/max_user_namespaces' ||
    skip "this machine lets nobody switch user namespaces off"
  refused_with_the_cause "${prefix[@]}" "$cofferdam"
  id cofferdam-test >/dev/null 2>&1 || skip "root passed; there is no account cofferdam-test"
  local mine=$scratch/mine
  mkdir -p "$mine/bin" "$mine/ws"
  install -m 0755 "$COFFERDAM_BIN"/cofferdam{,-init,-egress} "$mine/bin"
  chmod 0755 "$scratch" "$mine" "$mine/bin"
  chown cofferdam-test: "$mine" "$mine/ws"
  cd "$mine/ws"
  refused_with_the_cause "${prefix[@]}" setpriv --reuid cofferdam-test --regid cofferdam-test --clear-groups \
    env "HOME=$mine" "COFFERDAM_STATE_DIR=$mine/state" "$mine/bin/cofferdam"
}
refused_with_the_cause() {
  expect 125 "$@" run -- touch started
  err_has 'the namespaces of the sandbox cannot be made'
  err_has 'sysctl user.max_user_namespaces='
  [ ! -e started ] || fail "the command ran unconfined"
}
