# Saving a directory and getting it back: the snapshot and key verbs.

# sample DIR: one of everything that a tree can hold.
sample() {
  mkdir -p "$1/sub/deep" "$1/empty" "$1/node_modules/x" "$1/venv"
  printf 'one\n' >"$1/file"
  printf 'two\n' >"$1/sub/deep/file"
  head -c 3000000 /dev/urandom >"$1/large"
  : >"$1/nothing"
  printf x >"$1/"$'new\nline'
  printf x >"$1/-dash"
  printf x >"$1/*"
  printf x >"$1/._apple"
  printf x >"$1/"$'\xff\xfe'
  printf x >"$1/$(printf 'n%.0s' $(seq 255))"
  chmod 0640 "$1/file"
  chmod 0555 "$1/sub/deep"
  ln -s sub/deep/file "$1/inside"
  ln -s ../../etc/passwd "$1/outside"
  ln "$1/file" "$1/hard"
  touch "$1/node_modules/x/y" "$1/venv/pyvenv.cfg"
  touch -d '2001-02-03 04:05:06.789' "$1/file"
}
# What of a tree a snapshot promises: kind, mode, size, time, target and content.
tree_of() { (cd "$1" && find . -mindepth 1 -printf '%y %m %s %T@ %l %p\0' | sed -z 's/^d \([0-9]*\) [0-9]*/d \1/' | sort -z | tr '\0' '\n'; find "$1" -type f -print0 | sort -z | xargs -0 cat | sha256sum); }
save() {
  expect 0 "$cofferdam" snapshot save -q -o json "$@"
  id=$(jq -r .id "$scratch/out")
}

test_everything_comes_back() {
  sample tree
  save tree
  text_is omitted "$(jq -r '.omitted[] | .path + " " + .reason' "$scratch/out")" \
    "$(printf 'node_modules dependencies\nvenv dependencies')"
  rm -r tree/node_modules tree/venv
  expect 0 "$cofferdam" snapshot restore -q "$id" back
  err_has 'left out: outside (--trust brings it back)'
  [ ! -L back/outside ] || fail "a link that leads outside came back"
  rm tree/outside
  text_is "the tree" "$(tree_of back)" "$(tree_of tree)"
  expect 0 "$cofferdam" snapshot restore -q "$id" again --trust
  text_is "the link" "$(readlink again/outside)" ../../etc/passwd
  rm again/outside
  text_is "the second restore" "$(tree_of again)" "$(tree_of back)"
}

test_one_path() {
  sample tree
  save tree
  expect 0 "$cofferdam" snapshot restore -q latest one --path sub/deep/file
  text_is content "$(cat one)" two
  expect 0 "$cofferdam" snapshot restore -q "${id#snap-}" deep --path sub
  text_is content "$(cat deep/deep/file)" two
  expect 1 "$cofferdam" snapshot restore -q "$id" none --path absent
  err_has 'the snapshot has no absent'
  [ ! -e none ] || fail "a failed restore left something"
}

test_a_restore_replaces_nothing() {
  sample tree
  save tree
  mkdir full && touch full/x
  expect 1 "$cofferdam" snapshot restore "$id" full
  err_has 'full is not empty'
  touch plain
  expect 1 "$cofferdam" snapshot restore "$id" plain
  err_has 'exists and is no empty directory'
  ln -s full link
  expect 1 "$cofferdam" snapshot restore "$id" link
  mkdir free
  expect 0 "$cofferdam" snapshot restore -q "$id" free
  text_is leftovers "$(find . -maxdepth 1 -name '.cofferdam-restore-*')" ""
}

test_only_what_is_new_is_stored() {
  sample tree
  save tree
  sleep 1.1
  save tree # the stat cache holds what has settled
  save tree
  text_is "files read" "$(jq .readFiles "$scratch/out")" 0
  text_is "new content" "$(jq .newBytes "$scratch/out")" 0
  printf changed >tree/sub/deep/file2 2>/dev/null || printf changed >tree/file2
  save tree
  text_is "new content" "$(jq .newBytes "$scratch/out")" 7
  # The same content elsewhere is known too.
  mkdir copy && cp tree/large copy
  save copy
  text_is "new content" "$(jq .newBytes "$scratch/out")" 0
}

test_a_file_changed_within_a_clock_tick_is_read_again() {
  mkdir tree
  for i in 1 2 3 4 5 6 7 8; do
    printf '%s' "$i" >tree/file
    save tree
    expect 0 "$cofferdam" snapshot restore -q "$id" "back$i"
    text_is content "$(cat "back$i/file")" "$i"
  done
}

test_repository_comes_back_whole() {
  cd "$ws"
  git config user.name n && git config user.email e@x
  echo a >tracked && git add tracked && git commit -qm one
  echo staged >staged && git add staged
  echo changed >>tracked
  echo untracked >untracked
  mkdir -p node_modules/tracked && echo t >node_modules/tracked/f && git add -f node_modules && git commit -qm two -- node_modules
  printf '#!/bin/sh\n' >.git/hooks/post-checkout
  git config core.fsmonitor "touch $scratch/ran"
  git config core.fileMode true
  git -c core.fsmonitor= status --porcelain >"$scratch/before"
  save .
  cd "$scratch"
  expect 0 "$cofferdam" snapshot restore -q "$id" back
  err_has 'left out: .git/hooks/post-checkout'
  err_has 'left out: .git/config: core.fsmonitor'
  text_is "a harmless setting" "$(git -C back config core.fileMode)" true
  expect 0 "$cofferdam" snapshot restore -q --trust "$id" trusted
  cmp "$ws/.git/config" trusted/.git/config && [ -f trusted/.git/hooks/post-checkout ] || fail "--trust left something out"
  [ ! -e ran ] || fail "a setting of the repository was executed"
  git -C back fsck --connectivity-only
  text_is status "$(git -C back status --porcelain)" "$(cat "$scratch/before")"
  text_is head "$(git -C back rev-parse HEAD)" "$(git -C "$ws" rev-parse HEAD)"
  [ -f back/node_modules/tracked/f ] || fail "tracked dependencies were left out"
}

test_verify_finds_one_flipped_bit() {
  sample tree
  save tree
  first=$id
  mkdir other && echo other >other/file
  save other
  expect 0 "$cofferdam" snapshot verify -q
  out_has 'everything is whole'
  local object at
  for object in $(find "$COFFERDAM_STATE_DIR/store/objects/default" -type f); do
    for at in 3 40 -30 -2; do
      [ "$at" -gt 0 ] || at=$(($(stat -c %s "$object") + at))
      cp "$object" "$scratch/kept"
      chmod u+w "$object"
      python3 - "$object" "$at" <<'PY'
import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2])); byte = f.read(1)[0]
    f.seek(int(sys.argv[2])); f.write(bytes([byte ^ 1]))
PY
      expect 1 "$cofferdam" snapshot verify -q
      out_has "$(basename "$object")"
      cp "$scratch/kept" "$object"
    done
  done
  expect 0 "$cofferdam" snapshot verify -q
  rm "$COFFERDAM_STATE_DIR/store/objects/default/manifests/$first"
  expect 1 "$cofferdam" snapshot verify -q
  out_has "not whole: $first"
  expect 0 "$cofferdam" snapshot restore -q "$id" back
}

test_list_show_ls_diff() {
  sample tree
  save tree -l 'a remark'
  first=$id
  echo more >tree/added && rm tree/nothing && chmod 600 tree/file && echo x >>tree/large
  save tree
  expect 0 "$cofferdam" snapshot list
  out_has 'a remark'
  expect 0 "$cofferdam" snapshot list -w tree -o json
  text_is count "$(jq length "$scratch/out")" 2
  expect 0 "$cofferdam" snapshot show "$first"
  out_has 'node_modules  (dependencies)'
  expect 0 "$cofferdam" snapshot ls "$first" sub
  out_has 'sub/deep/file'
  out_lacks 'large'
  expect 0 "$cofferdam" snapshot diff "$first" latest
  text_is difference "$(cat "$scratch/out")" "$(printf '+ added\nm file\nm hard\n~ large\n- nothing')"
  expect 1 "$cofferdam" snapshot show snap-zz
  err_has 'there is no snapshot snap-zz'
}

test_delete_and_prune() {
  mkdir tree
  for i in 1 2 3 4; do
    head -c 100000 /dev/urandom >tree/file
    save tree
  done
  expect 2 "$cofferdam" snapshot prune
  err_has 'nothing says what to keep'
  expect 0 "$cofferdam" snapshot prune --keep-last 2 -n
  text_is "would go" "$(grep -c 'would delete' "$scratch/out")" 2
  expect 0 "$cofferdam" snapshot prune --keep-last 2
  expect 0 "$cofferdam" snapshot list -o json
  text_is left "$(jq length "$scratch/out")" 2
  expect 0 "$cofferdam" snapshot verify -q
  expect 0 "$cofferdam" snapshot restore -q latest back
  cmp back/file tree/file || fail "the kept snapshot lost its content"
  expect 0 "$cofferdam" snapshot delete "$id"
  expect 1 "$cofferdam" snapshot show "$id"
  text_is packs "$(find "$COFFERDAM_STATE_DIR/store/objects/default/packs" -type f | wc -l)" 1
}

test_keys() {
  mkdir tree && echo content >tree/file
  expect 1 "$cofferdam" key list
  err_has 'there is no master key'
  expect 0 "$cofferdam" snapshot save -q tree
  err_has 'a new key was made'
  expect 0 "$cofferdam" snapshot save -q tree
  err_lacks 'a new key'
  text_is "mode of the key file" "$(stat -c %a "$COFFERDAM_STATE_DIR/keys/master.key")" 600
  expect 0 "$cofferdam" key export
  cp "$scratch/out" backup
  expect 0 "$cofferdam" key rotate
  expect 0 "$cofferdam" key rotate --master
  expect 0 "$cofferdam" snapshot save -q tree
  expect 0 "$cofferdam" key list -o json
  text_is "company keys" "$(jq '.companyKeys | length' "$scratch/out")" 2
  text_is "master keys" "$(jq '.masterKeys | length' "$scratch/out")" 2
  expect 0 "$cofferdam" snapshot verify -q
  # Without the new key nothing opens; the message names which one is missing.
  cp "$COFFERDAM_STATE_DIR/keys/master.key" newest
  chmod 600 backup && cp backup "$COFFERDAM_STATE_DIR/keys/master.key"
  expect 1 "$cofferdam" snapshot restore -q latest back
  err_has 'the store is sealed under master key'
  expect 0 "$cofferdam" key import newest
  expect 0 "$cofferdam" snapshot restore -q latest back
  text_is content "$(cat back/file)" content
  chmod 644 "$COFFERDAM_STATE_DIR/keys/master.key"
  expect 1 "$cofferdam" snapshot save -q tree
  err_has 'can be read by others'
}

test_key_from_the_environment() {
  mkdir tree && echo content >tree/file
  export COFFERDAM_MASTER_KEY=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
  expect 0 "$cofferdam" snapshot save -q tree
  [ ! -e "$COFFERDAM_STATE_DIR/keys/master.key" ] || fail "a key file was made all the same"
  expect 0 "$cofferdam" snapshot restore -q latest back
  COFFERDAM_MASTER_KEY=short expect 2 "$cofferdam" snapshot restore -q latest back2
  err_has 'a master key is 32 bytes'
  err_lacks short
}

test_companies_share_nothing() {
  mkdir tree && head -c 100000 /dev/urandom >tree/file
  expect 0 "$cofferdam" snapshot save -q -o json --company acme tree
  expect 0 "$cofferdam" snapshot save -q -o json --company other tree
  [ "$(jq .newBytes "$scratch/out")" = 100000 ] || fail "content was shared between companies"
  expect 0 "$cofferdam" snapshot list -o json --company acme
  text_is count "$(jq length "$scratch/out")" 1
  expect 2 "$cofferdam" snapshot save -q --company ../x tree
  err_has 'is no name of a company'
}

test_special_files_and_modes() {
  mkdir tree && mkfifo tree/fifo && touch tree/setuid && chmod 4755 tree/setuid
  python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("tree/socket")'
  save tree
  err_has "its set-id or sticky bit is not saved"
  text_is omitted "$(jq -r '.omitted[] | .path + " " + .reason' "$scratch/out")" "$(printf 'fifo fifo\nsocket socket')"
  expect 0 "$cofferdam" snapshot restore -q "$id" back
  text_is mode "$(stat -c %a back/setuid)" 755
}

test_unreadable_file_is_named() {
  ! is_root || skip "root reads everything"
  mkdir tree && echo x >tree/secret && chmod 0 tree/secret
  expect 1 "$cofferdam" snapshot save -q tree
  err_has 'secret'
  expect 0 "$cofferdam" snapshot save -q --exclude secret tree
}

# A save that is killed at any time leaves nothing visible, and the next one works.
test_killed_saves() {
  mkdir tree && head -c 30000000 /dev/urandom >tree/file && for i in $(seq 300); do head -c 5000 /dev/urandom >"tree/$i"; done
  save tree
  first=$id
  for delay in 0.01 0.03 0.05 0.08 0.1 0.13 0.16 0.2; do
    head -c 30000000 /dev/urandom >tree/file
    timeout -s KILL "$delay" "$cofferdam" snapshot save -q tree >/dev/null 2>&1 || true
    expect 0 "$cofferdam" snapshot list -o json
    expect 0 "$cofferdam" snapshot verify -q
  done
  save tree
  expect 0 "$cofferdam" snapshot restore -q "$id" back
  cmp tree/file back/file || fail "the content differs"
  expect 0 "$cofferdam" snapshot restore -q "$first" before
}

test_two_saves_at_once() {
  sample tree
  for i in 1 2 3 4; do "$cofferdam" snapshot save -q tree >"$scratch/save$i" 2>&1 & done
  wait
  expect 0 "$cofferdam" snapshot list -o json
  text_is count "$(jq length "$scratch/out")" 4
  expect 0 "$cofferdam" snapshot verify -q
}

test_linked_worktree_and_borrowed_objects_come_back_whole() {
  cd "$ws"
  echo a >a && git add a && git -c user.name=n -c user.email=e commit -qm base
  git worktree add -q "$scratch/linked" && git clone -q --shared "$ws" "$scratch/shared"
  for kind in linked shared; do
    cd "$scratch/$kind"
    echo staged >staged && git add staged && echo more >>a
    git status --porcelain >"$scratch/before"
    save .
    cd "$scratch"
    expect 0 "$cofferdam" snapshot restore -q "$id" "back-$kind"
    git -C "back-$kind" -c safe.directory='*' fsck --connectivity-only
    text_is status "$(git -C "back-$kind" status --porcelain)" "$(cat "$scratch/before")"
  done
  rm -rf "$ws" linked
  git -C back-linked log --format=%s
}

test_the_store_is_not_saved_into_itself() {
  mkdir tree && echo x >tree/file
  export COFFERDAM_STATE_DIR=$PWD/tree/.state
  save tree
  save tree
  text_is omitted "$(jq -r '.omitted[].path' "$scratch/out")" .state
  cd tree
  expect 0 "$cofferdam" run --copy -- sh -c 'echo y >y; [ ! -e .state/store ]'
  [ -e y ] && [ -e .state/store ] || fail "the state did not survive the merge"
}

# A full disk: the save fails and says which file; nothing half-written shows, and the next save works.
test_full_disk() {
  is_root || skip "mounting a small file system needs root"
  mkdir small && mount -t tmpfs -o size=3m tmpfs small
  export COFFERDAM_STATE_DIR=$PWD/small/state
  mkdir tree && echo x >tree/file
  save tree
  head -c 8000000 /dev/urandom >tree/large
  expect 1 "$cofferdam" snapshot save -q tree
  err_has 'No space left on device'
  expect 0 "$cofferdam" snapshot verify -q
  rm tree/large && echo y >tree/file
  save tree
  expect 0 "$cofferdam" snapshot restore -q "$id" back
  text_is content "$(cat back/file)" y
  umount small
}

# Names of branches may hold anything; a repository without a working tree has hooks, too.
test_hooks_are_told_from_names() {
  cd "$ws"
  git -c user.name=n -c user.email=e commit -q --allow-empty -m base
  git branch hooks/mine
  git init -q --bare inner.git && printf '#!/bin/sh\n' >inner.git/hooks/update
  save .
  cd "$scratch"
  expect 0 "$cofferdam" snapshot restore -q "$id" back
  git -C back rev-parse --verify -q hooks/mine >/dev/null || fail "a branch was taken for a hook"
  err_has 'left out: inner.git/hooks/update'
}

test_links_stay_inside_what_is_restored() {
  mkdir -p tree/d/e && touch tree/a && ln -s ../../a tree/d/e/up && ln -s f tree/d/e/fine && touch tree/d/e/f
  save tree
  expect 0 "$cofferdam" snapshot restore -q "$id" whole
  [ -e whole/d/e/up ] || fail "a link inside the tree was left out"
  expect 0 "$cofferdam" snapshot restore -q "$id" part --path d/e
  err_has 'left out: d/e/up'
  [ -e part/fine ] || fail "a link inside the part was left out"
}

test_a_lost_key_is_not_replaced() {
  mkdir tree && echo content >tree/file
  save tree
  mv "$COFFERDAM_STATE_DIR/keys/master.key" kept
  expect 1 "$cofferdam" snapshot save -q tree
  err_has 'there is no master key'
  [ ! -e "$COFFERDAM_STATE_DIR/keys/master.key" ] || fail "a key was made that opens nothing"
  export COFFERDAM_MASTER_KEY_FILE=$PWD/elsewhere
  expect 0 "$cofferdam" key import kept
  [ -s elsewhere ] || fail "the key went elsewhere than the environment says"
  expect 0 "$cofferdam" snapshot restore -q latest back
}

# The catalog's copy of an index is damaged: the pack's own is used.
test_a_damaged_index_in_the_catalog() {
  need_python
  mkdir tree && echo content >tree/file
  save tree
  python3 - "$COFFERDAM_STATE_DIR/store/catalog.sqlite" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
table = [n for (n,) in db.execute("select name from sqlite_master where type='table'") if n.endswith("packs") and "snapshot" not in n][0]
column = [c[1] for c in db.execute(f"pragma table_info({table})") if "index" in c[1]][0]
db.execute(f'update {table} set "{column}" = zeroblob(100)')
db.commit()
PY
  expect 1 "$cofferdam" snapshot verify -q
  out_has "the catalog's copy of the index was altered"
  expect 0 "$cofferdam" snapshot restore -q latest back
  text_is content "$(cat back/file)" content
}

test_the_environment_says_where_the_store_is() {
  mkdir tree && echo x >tree/file
  export COFFERDAM_STORE_URL=$PWD/objects COFFERDAM_CATALOG_URL=sqlite:$PWD/catalog.sqlite
  save tree
  [ -s catalog.sqlite ] && [ -d objects/default/packs ] || fail "the store is elsewhere"
  [ ! -e "$COFFERDAM_STATE_DIR/store" ] || fail "a second store was made"
  expect 0 "$cofferdam" snapshot restore -q latest back
  COFFERDAM_STORE_URL=ftp://x expect 2 "$cofferdam" snapshot list
  err_has COFFERDAM_STORE_URL
}

test_flags_of_save() {
  mkdir -p tree/node_modules tree/out && echo x >tree/node_modules/x && echo y >tree/out/y && head -c 300000 /dev/zero >tree/zero
  save --with-dependencies --exclude ./out/ tree
  expect 0 "$cofferdam" snapshot ls latest
  out_has node_modules/x
  out_lacks out/y
  save --level 19 --still tree
  for wrong in "--level 0" "--level 20" "--exclude ../x" "--exclude /etc"; do
    # shellcheck disable=SC2086 # an option and its value
    expect 2 "$cofferdam" snapshot save $wrong tree
    err_has "${wrong%% *}"
  done
}

test_verify_one_snapshot() {
  mkdir one two && head -c 5000 /dev/urandom >one/file && head -c 5000 /dev/urandom >two/file
  save one
  first=$id
  pack=$(find "$COFFERDAM_STATE_DIR/store/objects/default/packs" -type f)
  save two
  chmod u+w "$pack" && printf 'x' | dd of="$pack" bs=1 seek=100 conv=notrunc status=none
  expect 0 "$cofferdam" snapshot verify -q "$id"
  expect 1 "$cofferdam" snapshot verify -q "$first"
  expect 1 "$cofferdam" snapshot restore -q "$first" back
  err_has 'cofferdam snapshot verify'
  [ ! -e back ] || fail "a damaged snapshot was put in place"
}

test_progress_away_from_a_terminal_is_lines() {
  mkdir tree && for i in 1 2 3 4 5; do head -c 1000000 /dev/urandom >"tree/$i"; done
  expect 0 "$cofferdam" snapshot save tree
  text_is "last lines" "$(grep -c '^\[paperclip\] Saving to store: 100% (4.8/4.8 MB)$' "$scratch/err")" 1
  expect 0 "$cofferdam" snapshot save -q tree
  err_lacks '[paperclip]'
}
