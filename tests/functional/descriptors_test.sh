# What the command gets as its descriptors, and what signals to the caller's group do.

inside='for n in 0 1 2 3 4 5 6 7 8 9; do [ ! -e /proc/self/fd/$n ] || readlink /proc/self/fd/$n; done'

test_closed_standard_descriptors_become_dev_null() {
  # In a file, since the command's own output may be what is closed.
  echo "{ $inside; } >seen 2>/dev/null" >look.sh
  local closing
  for closing in '0<&-' '1>&-' '2>&-' '0<&- 1>&-' '0<&- 2>&-' '1>&- 2>&-' '0<&- 1>&- 2>&-'; do
    rm -f seen
    eval "\"$cofferdam\" run --nested on -- sh look.sh $closing" || fail "with $closing it ends with $?"
    ! grep -qE "state|socket|eventpoll|signalfd|$scratch/(home|outside)" seen || { cat seen; fail "$closing leaks a descriptor"; }
  done
}

test_a_signal_to_the_group_reaches_the_command_once() {
  cat >trap.sh <<'SH'
trap 'echo got >>signals; exit 9' TERM INT HUP
echo ready >ready
while :; do sleep 0.05; done
SH
  local signal got pid
  for signal in TERM INT HUP; do
    rm -f ready signals
    got=0
    setsid "$cofferdam" run -- sh trap.sh >/dev/null 2>&1 </dev/null &
    pid=$!
    wait_for 20 test -s ready
    kill "-$signal" -- "-$pid"
    wait "$pid" || got=$?
    [ "$got" = 9 ] || fail "$signal to the group: exit $got, wanted the trap's 9"
    [ "$(wc -l <signals)" = 1 ] || fail "$signal came $(wc -l <signals) times"
  done
}

test_timeout_program_lets_the_trap_run() {
  echo "trap 'sleep 0.3; echo saved >saved; exit 5' TERM; while :; do sleep 0.05; done" >trap.sh
  expect 124 timeout 1 "$cofferdam" run -- sh trap.sh
  [ "$(cat saved)" = saved ] || fail "the trap had no time"
}
