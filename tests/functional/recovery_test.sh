# Saving a workspace out of a sandbox whose disk is full: a small tmpfs in a mount namespace of its own, entered by
# nsenter. It really is full, and it goes with the process that holds it.

# sandbox OPTIONS: a tmpfs with these mount options at $box, in which "${in[@]}" COMMAND… runs a command.
sandbox() {
  box=$scratch/box
  mkdir "$box"
  serve holder unshare -Urm sh -c "mount -t tmpfs -o '$1' none '$box' && touch '$box/.ready' && exec sleep 300"
  holder=${servers[-1]}
  in=(nsenter --preserve-credentials -U -m -t "$holder" --)
  wait_for 5 "${in[@]}" test -e "$box/.ready" 2>/dev/null || skip "no user namespace with a tmpfs"
}
inside() { "${in[@]}" bash -ec "cd '$box/w' && $1"; }

# A repository with work of every kind at $box/w.
work() {
  "${in[@]}" git init -q -b main "$box/w"
  inside '
    git config user.name T && git config user.email t@example.invalid
    echo one >tracked && mkdir -p src kept/node_modules && echo x >src/run && chmod 755 src/run
    echo k >kept/node_modules/k && git add -f . && git commit -qm first
    echo staged >staged && git add staged && echo changed >>tracked && echo result >._result.txt
    head -c 200000 /dev/urandom >untracked && ln -s src/run inside && printf x >"a*b" && mkdir -p empty closed sub
    echo ro >closed/file && chmod 555 closed && touch sub/run.sock
    mkdir -p venv node_modules/x .paperclip-runtime && touch venv/pyvenv.cfg node_modules/x/y .paperclip-runtime/log .git/pyvenv.cfg
    python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\"run.sock\")"'
}
# Everything but `keep` bytes of the disk is taken, by a file that is no part of the workspace.
fill() {
  "${in[@]}" bash -c "cat /dev/zero >'$box/fill' 2>/dev/null || true; truncate -s -${1:-0} '$box/fill'"
}
seen_inside() { inside 'find . -mindepth 1 -printf "%P %y %m %s %T@ %i %l\n" | sort'; }
recover() { expect "$1" "$cofferdam" snapshot recover -q -o json "${@:2}" "$box/w" -- "${in[@]}"; }

# What every recovery must bring back, twice, after the sandbox is gone.
comes_back_whole() {
  local head status untracked
  id=$(jq -r .id "$scratch/out")
  head=$(inside 'git rev-parse HEAD')
  status=$(inside 'git --no-optional-locks status --porcelain -- . ":!venv" ":!node_modules" ":!.paperclip-runtime"')
  untracked=$(inside 'sha256sum <untracked')
  kill "$holder"
  wait "$holder" 2>/dev/null || true
  [ ! -e "$box/w" ] || fail "the sandbox is still there"
  local back
  for back in back again; do
    expect 0 "$cofferdam" snapshot restore -q "$id" "$scratch/$back"
    text_is HEAD "$(git -C "$scratch/$back" rev-parse HEAD)" "$head"
    git -C "$scratch/$back" fsck --connectivity-only 2>"$scratch/fsck" || fail "not connected: $(cat "$scratch/fsck")"
    text_is status "$(git --no-optional-locks -C "$scratch/$back" status --porcelain)" "$status"
    text_is "what is staged" "$(git -C "$scratch/$back" show :staged)" staged
    text_is untracked "$(sha256sum <"$scratch/$back/untracked")" "$untracked"
    text_is link "$(readlink "$scratch/$back/inside")" src/run
    text_is mode "$(stat -c %a "$scratch/$back/src/run" "$scratch/$back/closed")" "$(printf '755\n555')"
    for name in ._result.txt 'a*b' empty sub/run.sock kept/node_modules/k .git/pyvenv.cfg; do
      [ -e "$scratch/$back/$name" ] || fail "$name did not come back"
    done
    for name in venv node_modules .paperclip-runtime run.sock; do
      [ ! -e "$scratch/$back/$name" ] || fail "$name came back"
    done
  done
  diff -r --no-dereference "$scratch/back" "$scratch/again" || fail "two restores differ"
  expect 0 "$cofferdam" snapshot verify -q "$id"
  nothing_staged
}
nothing_staged() { [ -z "$(ls -A "$COFFERDAM_STATE_DIR/scratch")" ] || fail "staging was left: $(find "$COFFERDAM_STATE_DIR/scratch")"; }
nothing_saved() {
  expect 0 "$cofferdam" snapshot list -o json
  text_is snapshots "$(jq -r length "$scratch/out")" 0
}
road_is() { text_is road "$(jq -r .road "$scratch/out")" "$1"; }
disk_full_at() {
  jq -r .diskFull "$scratch/out" | grep -q "^remote_workspace_sandbox_disk_full: .*$1.*No space left on device$" ||
    fail "the disk was not full at $1: $(cat "$scratch/out")"
}
controller_needs_git() { need git && need bwrap; }

test_full_at_the_helper_comes_back_whole() {
  controller_needs_git
  sandbox size=4m
  work
  fill
  local before
  before=$(seen_inside)
  recover 0
  road_is controller
  disk_full_at capture.sh
  text_is "the source" "$(seen_inside)" "$before"
  text_is "left out" "$(jq -r '.omitted[] | .path + " " + .reason' "$scratch/out")" \
    "$(printf 'node_modules dependencies\nrun.sock socket\nvenv dependencies')"
  text_is "the receipt's count" "$(jq .files "$scratch/out")" \
    "$(inside 'find . -type f ! -path "./venv/*" ! -path "./node_modules/*" ! -path "./.paperclip-runtime/*" | wc -l')"
  comes_back_whole
}

test_full_at_the_archive_comes_back_whole() {
  controller_needs_git
  sandbox size=4m
  work
  fill 65536
  local before
  before=$(seen_inside)
  recover 0
  road_is controller
  disk_full_at archive.tar
  text_is "the source" "$(seen_inside)" "$before"
  comes_back_whole
}

# A PostgreSQL of this test, at COFFERDAM_CATALOG_URL.
postgres() {
  local programs=/usr/lib/postgresql/15/bin
  [ -x "$programs/initdb" ] || skip "postgresql-15 is not installed"
  is_root && skip "PostgreSQL refuses to run as root"
  database=$(mktemp -d /tmp/cfd-pg.XXXXXX)
  "$programs/initdb" --no-sync --auth=trust --username=cofferdam --pgdata="$database/data" >/dev/null
  serve postgres "$programs/postgres" -D "$database/data" -k "$database" -c listen_addresses= -c fsync=off
  wait_for 20 "$programs/pg_isready" -h "$database"
  export COFFERDAM_CATALOG_URL="postgresql://cofferdam@/postgres?host=$database"
}
rows() { psql -h "$database" -U cofferdam -At postgres -c "$1"; }

test_on_postgresql_it_is_committed_and_the_writer_cleared() {
  controller_needs_git
  need psql
  postgres
  sandbox size=4m
  work
  fill
  recover 0
  road_is controller
  text_is "states and writers" "$(rows "select state, length(writer) from store_snapshots")" 'committed|0'
  text_is "content is sealed" "$(grep -rlF 'result' "$COFFERDAM_STATE_DIR/store" | wc -l)" 0
  comes_back_whole
  kill "${servers[0]}"
  wait "${servers[0]}" 2>/dev/null || true
  rm -rf "$database"
}

test_no_inodes_left_comes_back_whole() {
  controller_needs_git
  sandbox size=16m,nr_inodes=400
  work
  "${in[@]}" bash -c "mkdir '$box/n'; i=0; while : 2>/dev/null >'$box/n/'\$i; do i=\$((i+1)); done" 2>/dev/null || true
  recover 0
  road_is controller
  disk_full_at mkdir
  comes_back_whole
}

test_with_room_the_usual_road_is_taken() {
  sandbox size=16m
  work
  local before
  before=$(seen_inside)
  recover 0
  road_is portable
  text_is "the source" "$(seen_inside)" "$before"
  comes_back_whole
}

test_restrictive_umask_changes_no_mode() {
  controller_needs_git
  sandbox size=4m
  work
  fill
  (umask 077 && recover 0)
  comes_back_whole
}

# refused CODE SCRIPT [WORDS]: what SCRIPT does to the workspace makes the recovery of the full sandbox fail with CODE
# and WORDS.
refused() {
  local before
  inside "$2"
  fill
  before=$(seen_inside)
  recover 1
  err_has "$1: "
  err_has "${3:-remote_workspace_sandbox_disk_full}"
  text_is "the source" "$(seen_inside)" "$before"
  nothing_staged
  nothing_saved
}

as_linked_worktree() {
  inside 'git stash -q && git worktree add -q ../other && git -C ../other stash pop -q --index'
  "${in[@]}" bash -c "mv '$box/w' '$box/main' && mv '$box/other' '$box/w' && git -C '$box/main' worktree repair '$box/w' >/dev/null 2>&1"
}
test_refuses_a_linked_worktree() {
  sandbox size=4m
  work
  as_linked_worktree
  refused workspace_capture_git_layout_unsupported true
}
test_with_room_histories_that_lie_elsewhere_are_saved() {
  sandbox size=16m
  work
  as_linked_worktree
  local kind head
  for kind in worktree alternates; do
    if [ "$kind" = alternates ]; then
      "${in[@]}" bash -ec "git clone -q --shared '$box/main' '$box/clone' && rm -r '$box/w' && mv '$box/clone' '$box/w'"
      inside 'git config user.name T && git config user.email t@x && echo more >>tracked && git commit -qam more && echo staged >staged && git add staged'
    fi
    head=$(inside 'git rev-parse HEAD')
    recover 0
    road_is portable
    expect 0 "$cofferdam" snapshot restore -q "$(jq -r .id "$scratch/out")" "$scratch/$kind"
    mv "$scratch/$kind" "$scratch/$kind.away"
    "${in[@]}" mv "$box/main" "$box/hidden"
    git -C "$scratch/$kind.away" fsck --connectivity-only 2>"$scratch/fsck" || fail "not connected: $(cat "$scratch/fsck")"
    "${in[@]}" mv "$box/hidden" "$box/main"
    [ -d "$scratch/$kind.away/.git" ] && [ ! -e "$scratch/$kind.away/.git/objects/info/alternates" ] || fail "$kind does not stand alone"
    text_is HEAD "$(git -C "$scratch/$kind.away" rev-parse HEAD)" "$head"
    text_is "what is staged" "$(git -C "$scratch/$kind.away" show :staged)" staged
    text_is "staged paths" "$(git -C "$scratch/$kind.away" diff --cached --name-only)" staged
  done
  nothing_staged
}
test_refuses_an_initialised_submodule() {
  sandbox size=4m
  work
  "${in[@]}" bash -c "git init -q '$box/other' && git -C '$box/other' -c user.name=n -c user.email=e commit -q --allow-empty -m x"
  refused workspace_capture_git_layout_unsupported \
    'git -c protocol.file.allow=always submodule --quiet add ../other module'
}
test_refuses_a_copied_pointer() {
  sandbox size=4m
  work
  refused workspace_capture_git_layout_unsupported 'mkdir copy && echo "gitdir: ../.git" >copy/.git'
}
test_refuses_alternates() {
  sandbox size=4m
  work
  refused workspace_capture_git_layout_unsupported "echo /etc >.git/objects/info/alternates"
}
test_refuses_a_link_in_git_directory() {
  sandbox size=4m
  work
  refused workspace_capture_git_layout_unsupported 'ln -s HEAD .git/OTHER'
}
test_refuses_a_linked_config() {
  sandbox size=4m
  work
  refused workspace_capture_git_layout_unsupported 'mv .git/config .git/real && ln -s real .git/config'
}
test_refuses_case_aliases() {
  sandbox size=4m
  work
  refused workspace_capture_git_layout_unsupported 'cp .git/config .git/Config'
  inside 'rm .git/Config'
  refused workspace_capture_git_layout_unsupported 'mkdir .GIT'
}
test_refuses_settings_that_are_not_listed() {
  controller_needs_git
  sandbox size=4m
  work
  refused workspace_capture_git_config_unsupported 'git config color.ui auto'
  inside 'rm -f ../fill && git config --unset color.ui && git config core.attributesFile /etc/passwd'
  refused workspace_capture_git_config_unsupported true core.attributesfile
}
test_refuses_special_modes() {
  sandbox size=4m
  work
  refused workspace_capture_special_mode 'chmod u+s src/run'
}
test_refuses_what_is_no_file() {
  sandbox size=4m
  work
  refused workspace_capture_special_file 'mkfifo fifo'
}
test_refuses_links_that_lead_out() {
  sandbox size=4m
  work
  refused workspace_capture_link_unconfined 'ln -s /etc/passwd out'
}
test_refuses_too_many_roots() {
  sandbox size=4m
  work
  refused workspace_capture_budget_exceeded 'for i in $(seq 64); do mkdir -p "r$i/.git"; done'
}
test_refuses_too_many_settings() {
  controller_needs_git
  sandbox size=4m
  work
  refused workspace_capture_budget_exceeded 'for i in $(seq 1025); do echo "[user] name = $i"; done >>.git/config'
}

# The sandbox's own tar is held in the open of one file, after it has seen that this is one.
test_a_fifo_put_in_place_of_a_file_neither_holds_nor_passes() {
  controller_needs_git
  need strace
  sandbox size=4m
  work
  fill
  "${in[@]}" strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
  local plain=("${in[@]}")
  in+=(strace -f -qq -A -o "$scratch/trace" -P untracked -e trace=openat,newfstatat
    -e inject=openat:delay_enter=3000000:when=1)
  {
    wait_for 20 grep -q 'newfstatat(AT_FDCWD, "untracked"' "$scratch/trace"
    sleep 0.5
    "${plain[@]}" bash -c "cd '$box/w' && rm untracked && mkfifo untracked"
  } &
  local swap=$!
  recover 1
  wait "$swap" || fail "the file was not swapped"
  err_has 'workspace_capture_source_changed: '
  grep -q 'openat.*"untracked", .*O_NONBLOCK.*DELAYED' "$scratch/trace" || fail "tar was not held in its open: $(cat "$scratch/trace")"
  nothing_staged
  nothing_saved
}

test_killed_in_the_middle_the_next_one_saves() {
  controller_needs_git
  sandbox size=4m
  work
  fill
  local before slow
  before=$(seen_inside)
  # Each command begins late, so that there is a middle.
  # shellcheck disable=SC2016 # the sandbox's shell expands it
  slow=("${in[@]}" sh -c 'sleep 0.3; exec "$@"' sh)
  serve recovery "$cofferdam" snapshot recover -q "$box/w" -- "${slow[@]}"
  wait_for 20 bash -c "[ -e '$COFFERDAM_STATE_DIR'/scratch/recover-*/tree/untracked ]"
  kill -9 "${servers[-1]}"
  wait "${servers[-1]}" 2>/dev/null || true
  [ -n "$(ls -A "$COFFERDAM_STATE_DIR/scratch")" ] || fail "it was not killed in the middle"
  text_is "the source" "$(seen_inside)" "$before"
  nothing_saved
  recover 0
  road_is controller
  comes_back_whole
}

test_a_quota_is_told_as_one() {
  need python3
  mkdir box box/w
  box=$PWD/box
  # A dd that meets a quota, in front of the real one.
  mkdir bin
  printf '#!/bin/sh\ncat >/dev/null\necho "dd: error writing x: Disk quota exceeded" >&2\nexit 1\n' >bin/dd
  chmod 755 bin/dd
  in=(env "PATH=$PWD/bin:$PATH")
  recover 1
  err_has 'remote_workspace_sandbox_quota_exceeded: '
  nothing_saved
}

test_a_full_controller_is_not_a_full_sandbox() {
  controller_needs_git
  mkdir -p box "$COFFERDAM_STATE_DIR/scratch"
  local body
  body='set -e
    mount -t tmpfs -o size=4m none "$1/box"
    git init -q "$1/box/w" && head -c 1000000 /dev/urandom >"$1/box/w/file"
    cat /dev/zero >"$1/box/fill" 2>/dev/null || true
    mount -t tmpfs -o size=512k none "$COFFERDAM_STATE_DIR/scratch"
    status=0
    "$2" snapshot recover -q "$1/box/w" -- env || status=$?
    [ -z "$(ls -A "$COFFERDAM_STATE_DIR/scratch")" ] || echo "staging was left" >&2
    exit $status'
  expect 1 unshare -Urm sh -c "$body" sh "$PWD" "$cofferdam"
  err_has 'workspace_capture_controller_disk_full: '
  err_lacks 'staging was left'
  nothing_saved
}

test_the_way_into_the_sandbox_never_sees_the_keys() {
  mkdir box box/w
  # shellcheck disable=SC2016 # the program's shell expands it
  printf '#!/bin/sh\nenv >>%s/seen\nexec "$@"\n' "$scratch" >way
  chmod 755 way
  export COFFERDAM_MASTER_KEY=0123456789abcdef0123456789abcdef PAPERCLIP_SECRETS_MASTER_KEY=fedcba9876543210fedcba9876543210
  export OF_THE_WAY=needed
  expect 0 "$cofferdam" snapshot recover -q "$PWD/box/w" -- "$PWD/way"
  grep -q OF_THE_WAY=needed "$scratch/seen" || fail "the way lost its environment"
  ! grep -qE 'MASTER_KEY|0123456789abcdef|fedcba9876543210' "$scratch/seen" || fail "the keys were given away"
}

test_the_command_line_says_what_is_missing() {
  expect 2 "$cofferdam" snapshot recover /work
  err_has 'no command given'
  expect 2 "$cofferdam" snapshot recover -- env
  err_has 'missing argument DIR'
  expect 2 "$cofferdam" snapshot recover work -- env
  err_has 'no absolute path'
  expect 1 "$cofferdam" snapshot recover /nonexistent/work -- env
  err_has 'workspace_capture_source_unreadable: '
}
