# Limits (G16): enforced, or the run does not start.

needs_cgroup() { is_root || skip "an ordinary user without a delegated control group"; }
# True where this caller may use a control group of the kind.
has_cgroup() { "$cofferdam" explain "$@" -o json -- true 2>/dev/null | jq -e '.would_fail == []' >/dev/null; }

test_g16_tmpfs_is_bounded() {
  RUN_FLAGS=(--tmpfs-size 8M)
  run 1 dd if=/dev/zero of=/tmp/big bs=1M count=64
  err_has 'No space left'
  run 1 dd if=/dev/zero of=/dev/shm/big bs=1M count=64
  err_has 'No space left'
  run 1 sh -c 'dd if=/dev/zero of="$HOME/big" bs=1M count=64'
  err_has 'No space left'
  RUN_FLAGS=(--tmpfs-size 8M --filesystem host)
  run 1 dd if=/dev/zero of=/tmp/big bs=1M count=64
}

test_g16_dev_takes_no_files() {
  run 1 dd if=/dev/zero of=/dev/big bs=1M count=1
}

test_g16_memory() {
  with_attack
  RUN_FLAGS=(--memory 64M --outcome "$scratch/outcome")
  if ! has_cgroup --memory 64M; then
    is_root && skip "no memory control group here"
    run 125 true
    err_has memory
    err_has 'cgroup'
    outcome_is .kind start_failed
    return
  fi
  run 0 true
  run 137 ./attack eat 256
  outcome_is .kind out_of_memory
  outcome_is .out_of_memory true
  allowed eat 16
}

test_g16_pids() {
  with_attack
  RUN_FLAGS=(--pids 40)
  run 0 ./attack bomb 400
  local made
  made=$(sed -n 's/^made //p' "$scratch/out")
  [ "$made" -lt 60 ] || fail "made $made processes"
}

test_g16_pids_of_an_ordinary_user_by_default() {
  with_attack
  ! is_root || skip "the default does not bind the kernel's uid 0"
  run 0 ./attack bomb 20000
}

test_g16_cpus() {
  RUN_FLAGS=(--cpus 0.2)
  if ! has_cgroup --cpus 0.2; then
    is_root && skip "no cpu control group here"
    run 125 true
    err_has cpus
    return
  fi
  run 0 bash -c 'end=$((SECONDS + 2)); while [ $SECONDS -lt $end ]; do :; done; times'
  local used
  used=$(sed -n '1s/^0m\([0-9]*\)\..*/\1/p' "$scratch/out")
  [ "${used:-9}" -lt 1 ] || fail "used ${used} s of 2 at 0.2 processors: $(cat "$scratch/out")"
}

test_g16_open_files_and_file_size() {
  RUN_FLAGS=(--open-files 32 --file-size 1M)
  run 0 sh -c 'ulimit -n; ulimit -Hn'
  out_is "$(printf '32\n32')"
  RUN_FLAGS=(--file-size 1M)
  run 153 dd if=/dev/zero of=big bs=1M count=4
  [ "$(stat -c %s big)" -le 1048576 ] || fail "the file is larger than the limit"
}

test_g16_cpu_time() {
  RUN_FLAGS=(--cpu-time 1s)
  run 152 sh -c 'while :; do :; done'
}

test_g16_limits_cannot_be_raised() {
  RUN_FLAGS=(--open-files 32)
  run 2 sh -c 'ulimit -n 64'
}

test_g16_limits_are_reported() {
  RUN_FLAGS=(--open-files 64 --timeout 1m --outcome "$scratch/outcome")
  run 0 true
  text_is means "$(outcome '.limits[] | select(.name=="open_files") | .means')" "resource limit"
  text_is requested "$(outcome '.limits[] | select(.name=="tmpfs_size") | .requested')" false
}

test_g16_control_groups_are_out_of_reach() {
  needs_cgroup
  RUN_FLAGS=(--pids 40 --filesystem host)
  has_cgroup --pids 40 || skip "no control group here"
  run 0 sh -c 'for f in $(find /sys/fs/cgroup -name cgroup.procs -o -name pids.max -o -name memory.limit_in_bytes 2>/dev/null); do
    (echo 1 > "$f") 2>/dev/null && echo "$f opens"; done; true'
  out_is ""
}

test_g16_control_group_cannot_be_mounted_in_a_nested_sandbox() {
  needs_cgroup
  has_cgroup --memory 64M || skip "no control group here"
  RUN_FLAGS=(--memory 64M --nested on)
  run 0 unshare --user --map-root-user --mount --cgroup sh -c 'mkdir /tmp/c
    mount -t cgroup -o memory none /tmp/c 2>/dev/null || mount -t cgroup2 none /tmp/c 2>/dev/null || exit 0
    for f in /tmp/c/memory.limit_in_bytes /tmp/c/memory.max; do
      [ ! -e $f ] || ! echo 512M 2>/dev/null > $f || echo "$f was written"; done; exit 0'
  out_is ""
}

test_limits_that_nothing_can_start_with_are_mistakes() {
  local flags
  for flags in "--open-files 1" "--open-files 3" "--memory 1M" "--tmpfs-size 4K"; do
    # shellcheck disable=SC2086 # a flag and its value
    expect 2 "$cofferdam" run $flags -- touch started
    err_has "${flags% *}: nothing starts with less than"
  done
  [ ! -e started ] || fail "the command ran"
  RUN_FLAGS=(--open-files 4)
  run 0 true
}

test_too_few_open_files_for_cofferdam_itself() {
  local limit
  for limit in 8 16 64 255; do
    expect 125 bash -c "ulimit -n $limit && exec \"\$@\"" sh "$cofferdam" run -- touch started
    err_has "may open $limit files"
    err_has 'ulimit -n 1024'
  done
  [ ! -e started ] || fail "the command ran"
  expect 0 bash -c 'ulimit -n 256 && exec "$@"' sh "$cofferdam" run --profile claude_local --allow example.com -- true
}
