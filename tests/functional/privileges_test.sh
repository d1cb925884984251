# What the kernel refuses to a confined command, whoever started it (G1, G14, G15, G17, G23, G24, G26).

test_g01_no_capabilities() {
  run 0 grep -E '^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs|Seccomp):' /proc/self/status
  [ "$(grep -c '^Cap.*:	0000000000000000$' "$scratch/out")" = 4 ] || fail "capabilities: $(cat "$scratch/out")"
  out_has 'NoNewPrivs:	1'
  out_has 'Seccomp:	2'
  run 0 readlink /proc/self/ns/user
  [ "$(cat "$scratch/out")" != "$(readlink /proc/self/ns/user)" ] || fail "the caller's user namespace"
}

test_g01_not_uid_0_inside() {
  run 0 id -u
  out_lacks '^0$'
  [ "$(cat "$scratch/out")" != 0 ] || fail "uid 0 inside"
}

test_g01_no_mounts_from_inside() {
  with_attack
  refused mount-devtmpfs,mount-tmpfs,remount,umount,fsopen
  run 1 test -e /tmp/devices/null
}

test_g01_nested_is_no_way_to_devices() {
  with_attack
  RUN_FLAGS=(--nested on)
  run 0 unshare --user --map-root-user --mount ./attack mount-devtmpfs
}

test_g01_proc_sys_is_not_writable() {
  with_attack
  refused proc-sys
  run 2 sh -c 'echo core > /proc/sys/kernel/core_pattern'
}

test_g01_proc_sys_is_not_writable_in_a_nested_sandbox() {
  with_attack
  RUN_FLAGS=(--nested on)
  refused proc-sys shared
  run 0 unshare --user --map-root-user --mount sh -c \
    'mount -o remount,bind,rw /proc/sys 2>/dev/null; umount /proc/sys 2>/dev/null; umount -l /proc/sys 2>/dev/null; ./attack proc-sys shared'
  run 0 unshare --user --map-root-user --mount --pid --fork sh -c \
    'mkdir /tmp/p; mount -t proc proc /tmp/p 2>/dev/null || exit 0; echo > /tmp/p/sys/kernel/core_pattern && exit 1; exit 0'
}

test_g01_proc_sys_is_not_writable_with_the_host_scope() {
  with_attack
  RUN_FLAGS=(--filesystem host)
  refused proc-sys
}

test_g14_session_keyring_is_new() {
  with_attack
  ./attack with-key cofferdam-canary ./attack find-key >"$scratch/before" || true
  grep -q ALLOWED "$scratch/before" || skip "this kernel or container has no key rings"
  expect 0 "$ws/attack" with-key cofferdam-canary "$cofferdam" run -- ./attack find-key,keyctl,add-key,keyctl-32
  expect 0 "$ws/attack" with-key cofferdam-canary "$cofferdam" run -- sh -c '! grep -q cofferdam-canary /proc/keys'
  expect 0 "$ws/attack" with-key cofferdam-canary "$cofferdam" run --nested on -- ./attack find-key
}

test_g15_kernel_interfaces() {
  with_attack
  refused io-uring,bpf,perf,userfaultfd,fanotify,handle,keyctl,add-key,keyctl-32,hostname
}

test_g15_kernel_interfaces_of_a_nested_sandbox() {
  with_attack
  RUN_FLAGS=(--nested on)
  refused io-uring,bpf,perf,userfaultfd,keyctl,vsock,packet,alg,vsock-socketcall,handle
  run 0 unshare --user --map-root-user --net ./attack io-uring,bpf,perf,userfaultfd,packet,vsock,handle
}

test_g15_socket_families() {
  with_attack
  refused vsock,packet,raw,alg,audit,netfilter,families
}

test_g15_socket_families_by_32_bit_calls() {
  with_attack
  refused vsock-32,vsock-socketcall
}

test_g15_socket_families_with_open_network() {
  with_attack
  RUN_FLAGS=(--network open)
  refused vsock,packet,raw,alg,audit,families,vsock-socketcall
}

test_g15_nested_namespaces_are_off_by_default() {
  with_attack
  refused unshare-user,unshare-high,unshare-any,clone-user,clone3-user,setns
  run 1 unshare --user true
}

test_g15_nested_namespaces_are_allowed_on_demand() {
  with_attack
  RUN_FLAGS=(--nested on)
  allowed unshare-user
  run 0 unshare --user --map-root-user --mount mount -t tmpfs none /tmp
  if [ -x /usr/bin/bwrap ]; then
    run 0 /usr/bin/bwrap --unshare-user --ro-bind / / --dev /dev --unshare-net -- true
  fi
}

test_g15_init_cannot_be_reached() {
  with_attack
  refused trace-init,seize-init,read-init,pidfd-init,environ-init,fds-init,channel-init,mem-init,root-init,kill-init
}

test_g15_debuggers_may_still_start_programs() {
  need strace
  run 0 strace -qq -o trace.out true
  grep -q execve trace.out || fail "strace saw nothing"
}

test_g17_no_inherited_descriptor() {
  with_attack
  exec 9<"$scratch/outside/canary" 33<"$scratch/outside/canary"
  run 0 ./attack descriptors
  run 2 sh -c 'cat <&9'
  RUN_FLAGS=(--allow localhost:39999)
  run 0 ./attack descriptors
  RUN_FLAGS=(--filesystem host --network open)
  run 0 ./attack descriptors
}

test_g17_standard_descriptors_are_the_callers() {
  echo from-file >"$scratch/input"
  "$cofferdam" run -- cat <"$scratch/input" >"$scratch/out"
  out_is from-file
}

test_g23_no_characters_pushed_into_a_terminal() {
  need script
  with_attack
  script -qec "$cofferdam run -- ./attack tiocsti,tiocsti-high,tioclinux" /dev/null </dev/null >"$scratch/out" ||
    { cat "$scratch/out"; fail "a character could be pushed"; }
}

test_g24_set_uid_programs_gain_nothing() {
  run 0 sh -c 'awk "/ \/usr / || / \/ /" /proc/self/mountinfo'
  ! grep -v nosuid "$scratch/out" || fail "a mount without nosuid"
}

test_g26_no_host_path_in_any_command_line() {
  run 0 sh -c 'cat /proc/[0-9]*/cmdline | tr "\0" "\n"'
  out_lacks "$scratch"
  out_lacks bind
  out_lacks "$COFFERDAM_BIN"
}

test_g26_no_path_or_argument_in_the_hosts_process_list_of_bubblewrap() {
  "$cofferdam" run -- sh -c 'touch started; sleep 30; : SECRET-ARGUMENT' &
  local run_pid=$! child
  wait_for 5 test -e started
  child=$(pgrep -P "$run_pid" | head -1)
  tr '\0' '\n' <"/proc/$child/cmdline" >"$scratch/out"
  kill "$run_pid"
  wait "$run_pid" || true
  out_lacks SECRET-ARGUMENT
  out_lacks "$ws"
}

test_host_processes_are_invisible() {
  run 0 sh -c 'ls -d /proc/[0-9]* | wc -l'
  [ "$(cat "$scratch/out")" -le 6 ] || fail "too many processes inside: $(cat "$scratch/out")"
  run 1 test -d "/proc/$$/task/$$/ns"
  RUN_FLAGS=(--filesystem host --network open)
  run 0 sh -c 'ls -d /proc/[0-9]* | wc -l'
  [ "$(cat "$scratch/out")" -le 6 ] || fail "too many processes inside: $(cat "$scratch/out")"
}

test_core_dumps_are_off_and_host_name_is_hidden() {
  run 0 sh -c 'ulimit -c; uname -n'
  out_is "$(printf '0\ncofferdam')"
}

# A segment of shared memory made outside is not there inside (L14).
test_processes_ipc_and_host_name_are_private() {
  local id kind
  need ipcmk
  id=$(ipcmk -M 4096 | grep -o '[0-9]*$')
  if ! ipcs -m | grep -qw "$id" || [ "$(wc -l </proc/sysvipc/shm)" -lt 2 ]; then fail "the test's own segment is missing"; fi
  local code=0
  (
    run 0 ipcs -m
    grep -q . "$scratch/out" || fail "ipcs said nothing"
    ! grep -qE '^0x' "$scratch/out" || fail "segments inside: $(cat "$scratch/out")"
    run 0 sh -c 'wc -l </proc/sysvipc/shm'
    out_is 1
    RUN_FLAGS=(--filesystem host --network open)
    run 0 sh -c 'wc -l </proc/sysvipc/shm'
    out_is 1
    for kind in ipc pid uts; do
      run 0 readlink "/proc/self/ns/$kind"
      [ "$(cat "$scratch/out")" != "$(readlink "/proc/self/ns/$kind")" ] || fail "the host's $kind namespace"
    done
  ) || code=$?
  ipcrm -m "$id"
  [ "$code" = 0 ] || exit "$code"
}

# Landlock is a lock of its own: the root's tmpfs would take the writes, as it does without that lock.
test_landlock_is_a_second_lock_on_files() {
  local abi
  abi=$("$cofferdam" explain -o json -- true | jq .locks.landlock.abi)
  [ "$abi" -gt 0 ] || skip "this kernel has no Landlock"
  run 0 sh -c 'for at in / /etc; do LC_ALL=C mkdir $at/made 2>&1 && echo MADE; (LC_ALL=C : >$at/file) 2>&1 && echo MADE; done; true'
  out_lacks MADE
  out_lacks Read-only
  text_is "refusals by Landlock" "$(grep -c 'Permission denied' "$scratch/out")" 4
  expect 0 "$cofferdam" explain -o json -- true
  jq -e --arg ws "$ws" '.locks.landlock.rules | any(.path == $ws)' "$scratch/out" >/dev/null || fail "no rule for the workspace"
  RUN_FLAGS=(--nested on)
  run 0 sh -c 'awk "\$5 == \"/\" {print \$6}" /proc/self/mountinfo; mkdir /made /etc/made && echo MADE'
  out_has MADE
}

# What is in root's own PATH may lie where the owner of the workspace cannot go.
test_root_path_that_the_workspace_owner_cannot_reach() {
  is_root || skip "a workspace of somebody else needs root"
  make_elsewhere
  chmod 700 "$elsewhere"
  printf '#!/bin/sh\necho ran\n' >"$elsewhere/tool"
  chmod 755 "$elsewhere/tool"
  chown -R cofferdam-test "$scratch"
  PATH=$elsewhere:$PATH run 125 tool
  err_has "The user of the run may not reach $elsewhere"
  err_has "hint: A run that root starts is the workspace owner's"
  RUN_FLAGS=(--ro "$elsewhere")
  run 125 true
  err_has "The user of the run may not reach $elsewhere"
}
