# users: root
# A host whose /bin, /sbin and /lib are directories of their own (G4), played in a mount namespace.

test_g04_split_root_starts() {
  need unshare
  export cofferdam scratch ws
  local inner='
    set -e
    root=$scratch/root
    mkdir -p "$root"
    mount -t tmpfs none "$root"
    for entry in bin sbin lib lib32 lib64 libx32; do
      [ -e "/usr/$entry" ] || continue
      mkdir "$root/$entry"
      mount --bind "/usr/$entry" "$root/$entry"
    done
    for entry in usr etc dev proc sys tmp var home root run opt srv '"$(dirname "$COFFERDAM_BIN" | cut -d/ -f2)"'; do
      [ -d "/$entry" ] && [ ! -e "$root/$entry" ] || continue
      mkdir "$root/$entry"
      mount --rbind "/$entry" "$root/$entry"
    done
    cd "$root"
    mkdir old
    pivot_root . old
    cd "$ws"
    [ ! -L /bin ] && [ -d /bin ]
    exec "$cofferdam" run -- /bin/sh -c "test ! -L /bin && test -d /lib && /bin/echo started"'
  expect 0 unshare --mount --propagation private bash -c "$inner"
  out_is started
}
