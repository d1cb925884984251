# Git configuration that hangs on a repository by more than one step.

# denied PATH: the command can neither write nor create it.
denied() {
  run_any sh -c 'mkdir -p "$(dirname "$1")" 2>/dev/null; echo "[core] fsmonitor = ./x" >>"$1"' sh "$1"
  ! grep -qs fsmonitor "$1" || fail "written: $1"
}
run_any() { "$cofferdam" run -- "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || true; }

# fake_repository DIRECTORY: what makes Git take a directory for one.
fake_repository() {
  mkdir -p "$1"
  echo 'ref: refs/heads/main' >"$1/HEAD"
  echo '[core]' >"$1/config"
}

test_submodule_with_a_linked_head() {
  fake_repository .git/modules/sub
  rm .git/modules/sub/HEAD
  ln -s refs/heads/main .git/modules/sub/HEAD
  denied .git/modules/sub/config
}

test_submodule_with_a_deep_name() {
  fake_repository .git/modules/a/b/c/d/e/f
  denied .git/modules/a/b/c/d/e/f/config
}

test_submodule_of_a_submodule() {
  fake_repository .git/modules/sub
  fake_repository .git/modules/sub/modules/inner
  denied .git/modules/sub/modules/inner/config
}

test_submodule_of_a_linked_worktree() {
  git worktree add -q "$scratch/tree" -b other
  fake_repository .git/worktrees/tree/modules/sub
  denied .git/worktrees/tree/modules/sub/config
  cd "$scratch/tree"
  denied "$ws/.git/worktrees/tree/modules/sub/config"
}

test_configuration_of_a_linked_worktree() {
  git config extensions.worktreeConfig true
  git worktree add -q "$scratch/tree" -b other
  denied .git/worktrees/tree/config.worktree
}

test_too_many_submodules_are_refused() {
  local number
  mkdir -p .git/modules
  for number in $(seq 1100); do mkdir ".git/modules/m$number"; done
  run 125 true
  err_has '--git-config writable'
  RUN_FLAGS=(--git-config writable)
  run 0 true
}

test_included_configuration_of_included_configuration() {
  git config include.path ../a.cfg
  printf '[include]\npath = b.cfg\n[core]\nhooksPath = hk\n' >a.cfg
  echo '[core]' >b.cfg
  mkdir hk
  denied a.cfg
  denied b.cfg
  denied hk/pre-commit
}

test_included_configuration_written_oddly() {
  printf '[include]\n\tpath = ../"z"\\\n4.cfg\n' >>.git/config
  echo '[core]' >z4.cfg
  denied z4.cfg
}
