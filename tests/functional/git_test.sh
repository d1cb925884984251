# Git inside a sandbox: usable, and no way to leave something that the host's Git would run (G18).

# denied COMMAND…: fails inside, and the repository's configuration and hooks are as before.
denied() {
  local before
  before=$(find .git/hooks .git/config -type f -exec sha256sum {} + | sort)
  local code=0
  "$cofferdam" run "${RUN_FLAGS[@]}" -- "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || code=$?
  [ "$(find .git/hooks .git/config -type f -exec sha256sum {} + | sort)" = "$before" ] || fail "changed by: $*"
  [ "$code" != 0 ] || fail "not refused: $*"
}

test_g18_hooks_and_config_cannot_be_written() {
  denied sh -c 'echo evil > .git/hooks/pre-commit'
  denied sh -c 'echo evil >> .git/config'
  denied sh -c 'printf x | dd of=.git/config conv=notrunc 2>&1'
  denied truncate -s 0 .git/config
  denied rm -f .git/config
  denied rm -rf .git/hooks
  denied chmod +x .git/hooks/pre-commit.sample
  denied git config core.fsmonitor evil
}

test_g18_hooks_and_config_cannot_be_moved_or_replaced() {
  denied mv .git moved
  denied mv .git/hooks .git/hooks-away
  denied mv .git/config .git/config-away
  denied sh -c 'echo evil > new && mv new .git/config'
  denied sh -c 'echo evil > new && ln -f new .git/config'
  denied sh -c 'ln -sfn /tmp .git/hooks'
  denied sh -c 'mkdir h && mv -T h .git/hooks'
  denied sh -c 'ln .git/config hard && echo evil >> hard'
  denied sh -c 'cp -r .git other && mv -T other .git'
  denied sh -c 'rm -rf .git 2>/dev/null; test ! -e .git'
  [ -d .git ] || fail ".git is gone"
}

test_g18_not_through_another_path() {
  denied sh -c 'echo evil >> /proc/self/cwd/.git/config'
  denied sh -c 'cd / && echo evil >> "$0/.git/config"' "$ws"
  RUN_FLAGS=(--alias /app=.)
  denied sh -c 'echo evil >> /app/.git/config'
  denied sh -c 'echo evil > /app/.git/hooks/pre-commit'
  denied sh -c 'mv /app/.git /app/moved'
  denied sh -c 'echo x > /app/.envrc'
  RUN_FLAGS=(--alias /app=.git)
  denied sh -c 'echo evil >> /app/config'
  RUN_FLAGS=(--alias /app=.git/hooks)
  denied sh -c 'echo evil > /app/pre-commit'
}

test_g18_not_through_a_grant_by_another_name() {
  ln -s "$ws" "$scratch/outside/link"
  RUN_FLAGS=(--rw "$scratch/outside/link")
  local before code=0
  before=$(sha256sum .git/config)
  "$cofferdam" run "${RUN_FLAGS[@]}" -- sh -c "echo evil >> $scratch/outside/link/.git/config" 2>"$scratch/err" || code=$?
  [ "$before" = "$(sha256sum .git/config)" ] || fail "the configuration was written through the grant"
  [ "$code" != 0 ] || fail "the write was not refused"
}

test_g18_nested_sandbox_is_no_way_around() {
  RUN_FLAGS=(--nested on)
  denied unshare --user --map-root-user --mount sh -c \
    'umount .git/config 2>/dev/null; umount -l .git/config 2>/dev/null; mount -o remount,bind,rw .git/config 2>/dev/null;
     mkdir -p /tmp/b && mount --bind . /tmp/b && echo evil >> /tmp/b/.git/config || echo evil >> .git/config'
  denied unshare --user --map-root-user --mount sh -c \
    'mkdir -p /tmp/b && mount --rbind / /tmp/b && umount -l "/tmp/b$PWD/.git/config" && echo evil >> "/tmp/b$PWD/.git/config"'
}

test_g18_common_directory_cannot_be_redirected() {
  mkdir -p evil/objects evil/refs
  local code=0
  "$cofferdam" run -- sh -c 'cp .git/HEAD evil/; git config -f evil/config core.fsmonitor "touch $PWD/pwned"
    echo ../evil > .git/commondir' >"$scratch/out" 2>"$scratch/err" </dev/null || code=$?
  git status >/dev/null 2>&1 || true
  [ ! -e pwned ] || fail "the host's Git ran what the sandbox had planted"
  [ ! -e .git/commondir ] || fail "commondir was left behind: $(cat .git/commondir)"
  git log -1 >/dev/null || fail "the repository is broken"
}

test_g18_worktree_configuration() {
  git config extensions.worktreeConfig true
  denied sh -c 'git config -f .git/config.worktree core.fsmonitor evil'
  [ ! -s .git/config.worktree ] || fail "config.worktree was written"
}

test_g18_hooks_path_of_the_configuration() {
  mkdir -p .githooks
  printf '#!/bin/sh\n' >.githooks/pre-commit
  chmod +x .githooks/pre-commit
  git config core.hooksPath .githooks
  denied sh -c 'echo evil >> .githooks/pre-commit'
  [ "$(cat .githooks/pre-commit)" = '#!/bin/sh' ] || fail "a hook was written"
  run 0 sh -c 'echo y > file && git commit -qam inside'
}

test_g18_included_configuration() {
  printf '[user]\n\tname = Included\n' >shared.gitconfig
  git config include.path ../shared.gitconfig
  denied sh -c 'git config -f shared.gitconfig core.fsmonitor evil'
  ! grep -q fsmonitor shared.gitconfig || fail "the included file was written"
}

test_g18_submodule_directories() {
  make_repository "$scratch/sub"
  git -c protocol.file.allow=always submodule --quiet add "$scratch/sub" sub
  git commit -qm sub
  git -C sub config user.name Test
  git -C sub config user.email t@example.invalid
  denied sh -c 'echo evil >> .git/modules/sub/config'
  denied sh -c 'echo evil > .git/modules/sub/hooks/pre-commit'
  denied mv .git/modules .git/modules-away
  run 0 sh -c 'cd sub && echo z > file && git commit -qam inside && cd .. && git add sub && git commit -qm both'
}

test_git_works() {
  run 0 sh -c 'echo more >> file && git add -A && git commit -qm inside && git checkout -qb branch && git stash list &&
    git tag t && git log --oneline && git gc -q && git status --porcelain'
  [ "$(git log -1 --format=%s)" = inside ] || fail "the commit is not on the host"
}

test_git_does_not_see_placeholders() {
  run 0 git status --porcelain --untracked-files=all
  out_is ""
  run 0 sh -c 'git add -A && git status --porcelain'
  out_is ""
  local names
  names=$(find . -path ./.git -prune -o -mindepth 1 -print)
  text_is "the workspace afterwards" "$names" ./file
}

test_git_does_not_see_placeholders_of_another_run() {
  "$cofferdam" run -- sh -c 'touch started; sleep 3' &
  local other=$!
  wait_for 5 test -e started
  rm started
  run 0 git status --porcelain --untracked-files=all
  kill "$other"
  wait "$other" || true
  out_is ""
  "$cofferdam" run -- true
}

test_git_remote_add_is_explained_and_allowed() {
  "$cofferdam" run -- git remote add origin https://example.invalid/x >/dev/null 2>"$scratch/err" && fail "not refused"
  err_has '--git-config writable'
  RUN_FLAGS=(--git-config writable)
  run 0 git remote add origin https://example.invalid/x
  text_is remote "$(git remote)" origin
}

test_linked_worktree() {
  git worktree add -q "$scratch/tree" -b side
  cd "$scratch/tree"
  run 0 sh -c 'echo x > new && git add new && git commit -qm inside && git status --porcelain'
  out_is ""
  text_is subject "$(git log -1 --format=%s)" inside
  run 2 sh -c "echo evil >> $ws/.git/config"
  run 2 sh -c "echo evil > $ws/.git/hooks/pre-commit"
  run 2 sh -c 'echo evil > .git'
  run 1 mv .git away
  run 2 sh -c "echo /tmp > $ws/.git/worktrees/tree/commondir"
  run 2 sh -c "echo /tmp > $ws/.git/worktrees/tree/gitdir"
  "$cofferdam" run -- sh -c "echo x > $ws/file" 2>/dev/null || true
  text_is "the other worktree's file" "$(cat "$ws/file")" content
  ! git -C "$ws" config --get core.fsmonitor || fail "configuration changed"
}

test_submodule_as_workspace() {
  make_repository "$scratch/sub"
  git -c protocol.file.allow=always submodule --quiet add "$scratch/sub" sub
  git commit -qm sub
  git -C sub config user.name Test
  git -C sub config user.email t@example.invalid
  cd sub
  run 0 sh -c 'echo z > file && git commit -qam inside'
  text_is subject "$(git log -1 --format=%s)" inside
  run 2 sh -c "echo evil >> $ws/.git/modules/sub/config"
  run 2 sh -c "echo evil > $ws/.git/modules/sub/hooks/pre-commit"
  run 1 cat "$ws/.git/config"
}

refused_pointer() {
  local code=0
  "$cofferdam" run -- true 2>"$scratch/err" || code=$?
  [ "$code" = 125 ] || { cat "$scratch/err"; fail "exit $code"; }
  err_has 'is not trusted'
}

test_forged_pointers_are_refused() {
  make_repository "$scratch/victim"
  rm -rf .git
  echo "gitdir: $scratch/victim/.git" >.git
  refused_pointer
  echo "gitdir: /etc" >.git
  refused_pointer
  echo "gitdir: $HOME" >.git
  refused_pointer
  echo "gitdir: $scratch/none" >.git
  refused_pointer
  rm .git
  ln -s "$scratch/victim/.git" .git
  refused_pointer
  rm .git
}

test_forged_worktree_is_refused() {
  make_repository "$scratch/victim"
  git -C "$scratch/victim" worktree add -q "$scratch/other" -b other
  rm -rf .git
  cp "$scratch/other/.git" .git
  refused_pointer
  rm .git
}

test_configuration_replaced_on_the_host_is_told() {
  "$cofferdam" run -- sh -c 'touch started; sleep 1' 2>"$scratch/err" &
  local run_pid=$!
  wait_for 5 test -e started
  git config some.key value
  wait "$run_pid"
  err_has 'was replaced on this machine during the run'
}
