# run --copy and run --save: the command works on a private copy, and its results come home.

merge() { outcome ".workspace.merge.$1"; }
copied() {
  local wanted=$1
  shift
  expect "$wanted" "$cofferdam" run --copy --outcome "$scratch/outcome" "${RUN_FLAGS[@]}" -- "$@"
}
plain() { mkdir -p "$scratch/plain" && cd "$scratch/plain"; }

test_results_come_home() {
  plain
  printf 'one\n' >changed; printf 'two\n' >deleted; printf 'three\n' >kept; mkdir -p gone/deep; touch gone/deep/x
  copied 0 sh -c 'pwd; echo more >>changed; rm deleted; mkdir -p new/dir; echo n >new/dir/file; rm -r gone; chmod 600 kept'
  out_is "$scratch/plain"
  text_is changed "$(cat changed)" "$(printf 'one\nmore')"
  [ ! -e deleted ] && [ ! -e gone ] || fail "a deletion did not come home"
  text_is new "$(cat new/dir/file)" n
  text_is mode "$(stat -c %a kept)" 600
  text_is added "$(merge added)" 1
  text_is copies "$(ls "$COFFERDAM_STATE_DIR/copies")" ""
}

# meanwhile COMMAND [FLAG…]: a run with --copy in the background that has begun when this returns and ends after `finish`.
meanwhile() {
  mkdir -p "$scratch/shared"
  "$cofferdam" run --copy "${@:2}" --rw "$scratch/shared" --outcome "$scratch/outcome" -- sh -c "$1
    touch '$scratch/shared/begun'; while [ ! -e '$scratch/shared/go' ]; do sleep 0.05; done" >"$scratch/out" 2>"$scratch/err" &
  background=$!
  wait_for 30 test -e "$scratch/shared/begun"
}
finish() {
  touch "$scratch/shared/go"
  wait "$background"
}

test_nothing_happens_until_the_end() {
  plain
  printf 'one\n' >file
  meanwhile 'echo inside >file; echo new >new'
  text_is "the host's file" "$(cat file)" one
  [ ! -e new ] || fail "the copy is not private"
  finish
  text_is "after the end" "$(cat file)" inside
}

test_results_of_an_ended_command_come_home() {
  plain
  printf 'one\n' >file
  meanwhile 'echo inside >file'
  kill -TERM "$background"
  wait "$background" || true
  text_is "after the end" "$(cat file)" inside
}

test_both_sides_changed() {
  plain
  printf 'base\n' >file
  printf 'base\n' >other
  meanwhile 'echo sandbox >file'
  echo host >file
  echo host >other
  finish
  text_is "the sandbox's version" "$(cat file)" sandbox
  text_is "the host's own change" "$(cat other)" host
  text_is conflicts "$(merge conflicts)" 1
  text_is "the host's version" "$(cat file.conflict-host-*)" host
  err_has "this machine's version: file.conflict-host-"
}

test_links_and_modes_that_must_not_come() {
  plain
  touch file
  copied 0 sh -c 'ln -s /etc/passwd absolute; ln -s ../../x escaping; ln -s file fine; chmod 4755 file; mkfifo pipe'
  [ ! -L absolute ] && [ ! -L escaping ] || fail "a link that leads outside came home"
  [ ! -e pipe ] || fail "a FIFO came home"
  text_is link "$(readlink fine)" file
  text_is mode "$(stat -c %a file)" 755
}

test_commits_branches_and_index_come_home() {
  cd "$ws"
  git config user.name n && git config user.email e@x
  echo a >tracked && git add . && git commit -qm base
  echo staged >host-staged && git add host-staged
  copied 0 sh -c 'git config --get user.name; echo work >>tracked; git commit -qm agent tracked; git branch feature; echo s >sandbox-staged; git add sandbox-staged; echo u >untracked'
  text_is commit "$(git log -1 --format=%s)" agent
  git rev-parse --verify -q feature >/dev/null || fail "the branch did not come home"
  text_is history "$(outcome .workspace.history)" fast-forward
  text_is status "$(git status --porcelain)" "$(printf 'A  host-staged\nA  sandbox-staged\n?? untracked')"
  git fsck --connectivity-only 2>/dev/null
}

test_nothing_changed_changes_nothing() {
  cd "$ws"
  git config user.name n && git config user.email e@x
  mkdir -p sub vendor empty && echo secret.txt >.gitignore && sed -i 's,^,/,' .gitignore
  echo t >sub/secret.txt; echo v >vendor/lib.c; echo a >._apple; echo x >'*.keep'; echo k >a.keep
  git add -A -f && git commit -qm base
  echo staged >staged && git add staged
  git init -q nested && echo n >nested/file && git -C nested add . && git -C nested -c user.name=n -c user.email=e commit -qm n
  git -C nested rev-parse HEAD >"$scratch/nested"
  ignore_times() { find . -path ./.git -prune -o -printf '%y %m %l %p\0' | sort -z | tr '\0' '\n'; git status --porcelain; git rev-parse HEAD; }
  ignore_times >"$scratch/before"
  copied 0 true
  ignore_times >"$scratch/after"
  cmp "$scratch/before" "$scratch/after" || { diff "$scratch/before" "$scratch/after"; fail "something changed"; }
  text_is "nested history" "$(git -C nested rev-parse HEAD)" "$(cat "$scratch/nested")"
}

test_repository_without_a_commit() {
  mkdir "$scratch/fresh" && cd "$scratch/fresh" && git init -q && echo a >a && git add a
  copied 0 sh -c 'git -c user.name=n -c user.email=e commit -qm first'
  text_is commit "$(git log -1 --format=%s)" first
  text_is status "$(git status --porcelain)" ""
}

test_failed_command_keeps_its_code() {
  plain
  copied 7 sh -c 'echo x >x; exit 7'
  [ -e x ] || fail "the results of a failed command are lost"
}

test_kept_copy() {
  plain
  RUN_FLAGS=(--keep)
  copied 0 sh -c 'echo x >x'
  [ -e "$(outcome .workspace.kept_copy)/0/tree/x" ] || fail "no copy at the named place"
  RUN_FLAGS=()
  expect 2 "$cofferdam" run --keep -- true
  err_has '--keep means nothing without --copy'
}

test_saves_before_and_after() {
  plain
  echo before >file
  expect 0 "$cofferdam" run --save --outcome "$scratch/outcome" -- sh -c 'echo after >file'
  err_has 'saved before the run: cofferdam snapshot restore snap-'
  local first last
  first=$(outcome .workspace.saved_before) last=$(outcome .workspace.saved_after)
  expect 0 "$cofferdam" snapshot restore -q "$first" "$scratch/first"
  expect 0 "$cofferdam" snapshot restore -q "$last" "$scratch/last"
  text_is "the first save" "$(cat "$scratch/first/file")" before
  text_is "the last save" "$(cat "$scratch/last/file")" after
}

test_a_save_that_fails_is_told() {
  plain
  touch file
  mkdir -p -m 700 "$COFFERDAM_STATE_DIR" && echo >"$COFFERDAM_STATE_DIR/store"
  expect 125 "$cofferdam" run --save -- sh -c 'echo ran >ran'
  [ ! -e ran ] || fail "the command ran without its save"
}

test_restore_paths_are_copied_too() {
  plain
  mkdir "$HOME/data" && echo old >"$HOME/data/file"
  RUN_FLAGS=(--rw "$HOME/data" --restore "$HOME/data")
  copied 3 sh -c "echo new >$HOME/data/file; exit 3"
  text_is "the data" "$(cat "$HOME/data/file")" new
}

# The copy of a linked worktree has a history of its own; the commit comes home to the worktree's branch.
test_linked_worktree() {
  cd "$ws"
  git config user.name n && git config user.email e@x
  git commit -q --allow-empty -m base
  git worktree add -q "$scratch/linked"
  cd "$scratch/linked"
  copied 0 sh -c 'echo w >w; git add w; git -c user.name=n -c user.email=e commit -qm agent'
  text_is commit "$(git log -1 --format=%s)" agent
  text_is branch "$(git branch --show-current)" linked
  text_is status "$(git status --porcelain)" ""
  text_is "the other worktree's commit" "$(git -C "$ws" log -1 --format=%s)" base
}

test_borrowed_objects() {
  cd "$ws"
  git -c user.name=n -c user.email=e commit -q --allow-empty -m base
  git clone -q --shared "$ws" "$scratch/shared"
  cd "$scratch/shared"
  copied 0 sh -c 'git log -1 --format=%s; echo w >w; git add w; git -c user.name=n -c user.email=e commit -qm agent'
  out_is base
  text_is commit "$(git log -1 --format=%s)" agent
}

test_sync_plan_says_what_and_why() {
  cd "$scratch"
  mkdir base && echo 1 >base/changed && echo 2 >base/deleted && echo 3 >base/both && cp -r base theirs && cp -r base ours
  echo t >>theirs/changed; rm theirs/deleted; echo t >theirs/both; echo n >theirs/new; ln -s /etc/passwd theirs/evil
  echo o >ours/both; echo mine >ours/mine
  find ours -type f -print0 | sort -z | xargs -0 cat >before
  expect 0 "$cofferdam" sync plan --base base theirs ours -o json
  text_is counts "$(jq -c '[.added,.updated,.deleted,.conflicts,.refused]' "$scratch/out")" '[2,1,1,1,1]'
  expect 0 "$cofferdam" snapshot save -q base
  expect 0 "$cofferdam" sync plan --base latest theirs ours
  out_has 'both: '
  out_has 'conflict-host-plan'
  find ours -type f -print0 | sort -z | xargs -0 cat >after
  cmp before after || fail "a plan changed something"
  expect 0 "$cofferdam" sync plan --base base base ours
  out_is "nothing to do"
  expect 2 "$cofferdam" sync plan theirs ours
  err_has '--base is missing'
}

# What every run pays for: the store's libraries would double the time it takes to start.
test_the_quick_program_loads_no_library_of_the_store() {
  expect 0 ldd "$cofferdam"
  for library in sodium crypto sqlite libpq curl zstd; do out_lacks "$library"; done
}

# conflict PREFER: both sides change one file.
conflict() {
  plain
  rm -rf "$scratch/shared"
  printf 'base\n' >file
  meanwhile "echo sandbox >file" --prefer "$1"
  echo host >file
  finish
}

test_prefer_chooses() {
  conflict sandbox
  text_is "the sandbox's version" "$(cat file)" sandbox
  conflict host
  text_is "the host's version" "$(cat file)" host
  text_is "conflict copies" "$(find . -name '*.conflict-*')" ""
  expect 2 "$cofferdam" run --copy --prefer other -- true
  err_has 'both|sandbox|host'
}

test_the_named_command_works_for_a_company() {
  plain
  echo x >file
  expect 0 "$cofferdam" run --save --company acme -- true
  local restore
  restore=$(sed -n 's/.*saved before the run: cofferdam \(.*\) DIR$/\1/p' "$scratch/err")
  # shellcheck disable=SC2086 # words of a command line
  expect 0 "$cofferdam" $restore "$scratch/back"
  text_is content "$(cat "$scratch/back/file")" x
}
