# Aliases: a directory of the workspace at another path, never anything outside it (G3).

test_alias_shows_the_workspace() {
  RUN_FLAGS=(--alias /app=.)
  run 0 sh -c 'cat /app/file && echo x > /app/made'
  out_is content
  [ -e made ] || fail "not the workspace"
}

test_alias_of_a_part() {
  mkdir part
  RUN_FLAGS=(--alias "/srv/part=part" --alias "$scratch/elsewhere=part")
  run 0 sh -c "echo x > /srv/part/made && cat $scratch/elsewhere/made"
  [ -e part/made ] || fail "not the part"
}

test_g03_alias_target_that_is_a_link() {
  ln -s "$scratch/outside" part
  RUN_FLAGS=(--alias /app=part)
  run 125 cat /app/canary
  err_has 'symbolic link'
  rm part
  mkdir real
  ln -s ../../outside real/deep
  RUN_FLAGS=(--alias /app=real/deep)
  run 125 cat /app/canary
}

test_g03_alias_target_swapped_during_the_start() {
  mkdir part real
  need_python
  serve swapper /usr/bin/python3 -c '
import os, sys, time
end = time.time() + 25
ws, outside = sys.argv[1], sys.argv[2]
os.symlink(outside, ws + "/link")
os.chdir(ws)
while time.time() < end:
    try:
        os.rename("part", "real-part"); os.rename("link", "part")
        time.sleep(0.0005)
        os.rename("part", "link"); os.rename("real-part", "part")
        time.sleep(0.0005)
    except OSError:
        pass
' "$ws" "$scratch/outside"
  local index code refused=0
  for index in $(seq 1 60); do
    code=0
    "$cofferdam" run --alias /app=part -- sh -c 'cat /app/canary; echo pwned > /app/pwned' >"$scratch/out" 2>"$scratch/err" || code=$?
    [ "$code" = 0 ] || refused=$((refused + 1))
    out_lacks canary-text
    [ ! -e "$scratch/outside/pwned" ] || fail "written outside, attempt $index"
  done
  kill "${servers[0]}"
  wait "${servers[0]}" 2>/dev/null || true
  [ "$refused" -gt 0 ] || fail "no run met the link"
}

test_g03_grant_swapped_during_the_start() {
  mkdir part
  echo own-text >part/own
  need_python
  RUN_FLAGS=(--ro part)
  run 0 cat part/own  # the reading works where it may
  out_is own-text
  serve swapper /usr/bin/python3 -c '
import os, sys, time
end = time.time() + 25
os.chdir(sys.argv[1])
os.symlink(sys.argv[2], "link")
while time.time() < end:
    try:
        os.rename("part", "real-part"); os.rename("link", "part")
        os.rename("part", "link"); os.rename("real-part", "part")
    except OSError:
        pass
' "$ws" "$scratch/outside"
  local index refused=0
  for index in $(seq 1 60); do
    "$cofferdam" run --ro part -- sh -c 'cat part/* link/* real-part/*' >"$scratch/out" 2>"$scratch/err" || true
    out_lacks canary-text
    if grep -q cofferdam: "$scratch/err"; then refused=$((refused + 1)); fi
  done
  kill "${servers[0]}"
  wait "${servers[0]}" 2>/dev/null || true
  [ "$refused" -gt 0 ] || fail "no run met the link"
  rm -rf part link real-part
  ln -s "$scratch/outside" part
  text_is "the link outside" "$(cat part/canary)" canary-text
}

test_alias_target_that_does_not_exist() {
  RUN_FLAGS=(--alias /app=absent)
  run 125 touch started
  err_has "Sandbox path alias target \"$ws/absent\" does not exist."
  [ ! -e started ] || fail "the command ran"
}

test_alias_places_are_checked() {
  local place code
  for place in / /usr /usr/bin /etc /proc /proc/1 /dev/x /sys /run/x /bin "$ws" "$ws/sub" "$HOME" "$scratch"; do
    code=0
    "$cofferdam" run --alias "$place=." -- true 2>"$scratch/err" || code=$?
    [ "$code" = 125 ] || [ "$code" = 2 ] || fail "alias at $place: exit $code"
  done
  for place in /app=../outside /app=/etc "/app=$scratch/outside"; do
    code=0
    "$cofferdam" run --alias "$place" -- true 2>"$scratch/err" || code=$?
    [ "$code" = 125 ] || [ "$code" = 2 ] || fail "alias $place: exit $code"
  done
}
