# What of the host's file system a confined command sees, and which policies are refused (G4, G5, G7, G10).

test_g04_merged_usr_starts() {
  [ -L /bin ] || skip "/bin of this host is not a link into /usr"
  run 0 /bin/sh -c 'readlink /bin && /usr/bin/env true'
  out_is "$(readlink /bin)"
}

test_g05_dev_null_works_in_every_scope() {
  local scope
  for scope in "" "--filesystem=host" "--network=open" "--filesystem=host --network=open"; do
    read -ra RUN_FLAGS <<<"$scope"
    run 0 sh -c 'echo x >/dev/null && head -c 8 /dev/urandom | wc -c'
    out_is 8
  done
}

test_g05_no_block_device_and_no_host_device() {
  run 0 sh -c 'find /dev -type b; ls /dev'
  out_lacks vda
  out_lacks kvm
  out_lacks vsock
}

test_g05_host_sockets_are_unreachable() {
  need socat
  with_attack
  serve tmp-socket socat "UNIX-LISTEN:$scratch/service.sock,fork" EXEC:cat
  wait_for 5 test -S "$scratch/service.sock"
  "$ws/attack" unix "$scratch/service.sock" >/dev/null && fail "the test's own socket does not work"
  refused unix "$scratch/service.sock"
  RUN_FLAGS=(--filesystem host)
  refused unix "$scratch/service.sock"
  RUN_FLAGS=(--filesystem host --network open)
  refused unix "$scratch/service.sock"
}

test_g05_run_is_empty_with_the_host_scope() {
  RUN_FLAGS=(--filesystem host)
  run 0 sh -c 'find /run -mindepth 1 -not -path "/run/cofferdam*"; ls -A /tmp | grep -v cofferdam-test; ls -A /var/tmp; true'
  out_is ""
}

test_g27_abstract_sockets_are_unreachable() {
  need socat
  with_attack
  local name=cofferdam-test-$$
  serve abstract socat "ABSTRACT-LISTEN:$name,fork" EXEC:cat
  wait_for 5 grep -q "@$name" /proc/net/unix
  "$ws/attack" abstract "$name" >/dev/null && fail "the test's own socket does not work"
  refused abstract "$name"
  RUN_FLAGS=(--network open)
  refused abstract "$name"
  RUN_FLAGS=(--network open --filesystem host)
  refused abstract "$name"
}

test_g07_environment_is_not_inherited() {
  export COFFERDAM_TEST_SECRET=hidden-value AWS_SECRET_ACCESS_KEY=hidden-value SSH_AUTH_SOCK=/tmp/agent
  run 0 sh -c 'env; cat /proc/[0-9]*/environ 2>/dev/null | tr "\0" "\n"'
  out_lacks hidden-value
  out_lacks SSH_AUTH_SOCK
  RUN_FLAGS=(--filesystem host --network open)
  run 0 env
  out_lacks hidden-value
  RUN_FLAGS=(--env COFFERDAM_TEST_SECRET --env MADE=new)
  run 0 env
  out_has COFFERDAM_TEST_SECRET=hidden-value
  out_has MADE=new
}

test_tmp_is_private_and_empty() {
  touch "/tmp/cofferdam-test-visible.$$"
  run 0 sh -c 'ls -A /tmp /var/tmp; touch /tmp/inside-only'
  rm -f "/tmp/cofferdam-test-visible.$$"
  out_lacks cofferdam-test-visible
  [ ! -e /tmp/inside-only ] || fail "/tmp is the host's"
}

test_home_is_private() {
  echo secret >"$HOME/.netrc"
  run 1 cat "$HOME/.netrc"
  run 0 sh -c 'echo x > "$HOME/made" && cat "$HOME/made"'
  [ ! -e "$HOME/made" ] || fail "the home directory is the host's"
}

test_root_entries() {
  run 0 ls -A /
  out_lacks root
  out_lacks boot
  run 1 cat /etc/shadow
  run 0 cat /etc/passwd
  [ "$(wc -l <"$scratch/out")" -le 3 ] || fail "accounts of the host: $(cat "$scratch/out")"
  run 1 sh -c 'echo x > /usr/made || exit 1'
  run 1 sh -c 'echo x > /etc/passwd || exit 1'
}

test_g10_deepest_grant_wins_in_any_order() {
  local base=$scratch/outside/tree
  mkdir -p "$base/rw/ro"
  touch "$base/f" "$base/rw/f" "$base/rw/ro/f"
  local orders=("--ro=$base --rw=$base/rw --ro=$base/rw/ro" "--ro=$base/rw/ro --rw=$base/rw --ro=$base"
    "--rw=$base/rw --ro=$base/rw/ro --ro=$base")
  for order in "${orders[@]}"; do
    read -ra RUN_FLAGS <<<"$order"
    run 0 sh -c "! (echo x > $base/f) 2>/dev/null && echo x > $base/rw/f && ! (echo x > $base/rw/ro/f) 2>/dev/null &&
      ! mv $base/rw/ro $base/rw/away 2>/dev/null && ! rm -rf $base/rw/ro 2>/dev/null"
  done
}

test_g10_read_only_inside_the_workspace() {
  mkdir part && touch part/f
  RUN_FLAGS=(--ro "$ws/part")
  run 0 sh -c '! (echo x > part/f) 2>/dev/null && ! mv part away 2>/dev/null && echo x > file'
  [ ! -s part/f ] || fail "the read-only part was written"
}

test_g10_conflicting_grants_are_refused() {
  mkdir "$scratch/outside/d"
  RUN_FLAGS=(--ro "$scratch/outside/d" --rw "$scratch/outside/d")
  local code=0
  "$cofferdam" run "${RUN_FLAGS[@]}" -- true 2>"$scratch/err" || code=$?
  [ "$code" = 2 ] || [ "$code" = 125 ] || fail "exit $code"
  err_has "$scratch/outside/d"
}

refuses_workspace() {
  local code=0
  "$cofferdam" run "${@:2}" --workspace "$1" -- true 2>"$scratch/err" || code=$?
  [ "$code" = 2 ] || [ "$code" = 125 ] || { cat "$scratch/err"; fail "workspace $1: exit $code"; }
}

test_g10_unsafe_workspaces_are_refused() {
  refuses_workspace /
  refuses_workspace "$HOME"
  err_has --allow-home
  refuses_workspace "$scratch"
  refuses_workspace "$(dirname "$scratch")"
  for directory in /usr /etc /home /proc /proc/self /sys /dev /run /var /tmp /usr/bin; do refuses_workspace "$directory"; done
  ln -s / "$scratch/link-to-root"
  refuses_workspace "$scratch/link-to-root"
  ln -s "$HOME" "$scratch/link-to-home"
  refuses_workspace "$scratch/link-to-home"
  refuses_workspace /../..
}

test_g10_home_on_demand() {
  RUN_FLAGS=(--allow-home --workspace "$HOME")
  run 0 sh -c 'echo x > made'
  [ -e "$HOME/made" ] || fail "not the home directory"
}

test_workspace_missing_or_a_file() {
  refuses_workspace "$scratch/none"
  err_has "$scratch/none"
  refuses_workspace "$ws/file"
  err_has 'not a directory'
}

test_workspace_names() {
  local name
  for name in ..foo 'with space' $'new\nline' 'ünï—cödé' -dash '$(touch oops)' "quo'te" '*' 'a"b' 'back\slash'; do
    mkdir "$scratch/$name"
    (cd "$scratch/$name" && expect 0 "$cofferdam" run -- sh -c 'echo x > made; pwd')
    [ "$(cat "$scratch/out")" = "$scratch/$name" ] || fail "wrong directory for $name: $(cat "$scratch/out")"
    [ -e "$scratch/$name/made" ] || fail "nothing was written in $name"
  done
}

test_workspace_through_a_link() {
  ln -s "$ws" "$scratch/link"
  RUN_FLAGS=(--workspace "$scratch/link")
  run 0 sh -c "echo x > $scratch/link/made && cat $ws/made"
  [ -e made ] || fail "not the real workspace"
}

test_g10_package_json_in_home_does_not_expose_home() {
  mkdir -p "$HOME/tools/bin"
  echo '{}' >"$HOME/package.json"
  echo secret >"$HOME/secret"
  printf '#!/bin/sh\ncat "$HOME/secret" %s/secret\n' "$HOME" >"$HOME/tools/bin/tool"
  chmod +x "$HOME/tools/bin/tool"
  PATH="$HOME/tools/bin:$PATH" run 1 tool
  out_lacks secret
}

test_command_through_chained_links() {
  mkdir -p "$scratch/outside/real/bin" "$scratch/outside/links" "$scratch/outside/more"
  printf '#!/bin/sh\necho ran\n' >"$scratch/outside/real/bin/tool"
  chmod +x "$scratch/outside/real/bin/tool"
  ln -s ../real "$scratch/outside/more/real-link"
  ln -s ../more/real-link/bin/tool "$scratch/outside/links/tool"
  run 0 "$scratch/outside/links/tool"
  out_is ran
  PATH="$scratch/outside/links:$PATH" run 0 tool
  out_is ran
}

test_restore_and_grants_that_do_not_exist() {
  RUN_FLAGS=(--ro "$scratch/none")
  run 125 true
  err_has "$scratch/none"
}

test_planted_link_in_a_grant_is_refused() {
  ln -s "$scratch/outside" planted
  RUN_FLAGS=(--ro "$ws/planted")
  run 125 true
  err_has planted
  RUN_FLAGS=(--rw "$ws/planted/x")
  local code=0
  "$cofferdam" run "${RUN_FLAGS[@]}" -- true 2>"$scratch/err" || code=$?
  [ "$code" != 0 ] || fail "a planted link was followed"
}

test_g11_bubblewrap_planted_in_path() {
  mkdir "$scratch/evil"
  printf '#!/bin/sh\ntouch %s/evil-ran\n' "$scratch" >"$scratch/evil/bwrap"
  cp "$scratch/evil/bwrap" bwrap
  chmod +x "$scratch/evil/bwrap" bwrap
  PATH="$scratch/evil:.:$ws:$PATH" run 0 true
  PATH=".:" HOME=$HOME expect 0 "$cofferdam" run --env PATH="$scratch/evil" -- /bin/true
  [ ! -e "$scratch/evil-ran" ] || fail "a planted bubblewrap ran"
}

test_g11_bubblewrap_by_name_of_the_policy() {
  cp /bin/true bwrap
  for program in ./bwrap "$ws/bwrap" bwrap/../bwrap; do
    RUN_FLAGS=(--bubblewrap "$program")
    local code=0
    "$cofferdam" run "${RUN_FLAGS[@]}" -- true 2>"$scratch/err" || code=$?
    [ "$code" = 125 ] || [ "$code" = 2 ] || fail "$program: exit $code"
  done
  cp /bin/true "$scratch/outside/bwrap"
  chmod 0777 "$scratch/outside" "$scratch/outside/bwrap"
  RUN_FLAGS=(--bubblewrap "$scratch/outside/bwrap")
  run 125 true
  err_has 'not trusted'
  RUN_FLAGS=(--bubblewrap /nowhere/bwrap)
  run 125 true
  err_has 'requires Bubblewrap'
}
