# shellcheck shell=bash
# The real agents of tests/agents: pinned by tests/agents/packages/package-lock.json, kept outside the tree.

# install_agents: free when the lock file has not changed since the last time. Install scripts are not run: the
# native programs are started from their platform packages, and nothing here needs a compiler.
install_agents() {
  local agents_root=$cache_root/agents
  local packages=$root/tests/agents/packages
  local want staging
  want=$(cat "$packages/package.json" "$packages/package-lock.json" | sha256sum | cut -d' ' -f1)
  [ "$(cat "$agents_root/stamp" 2>/dev/null)" = "$want" ] && return
  command -v npm >/dev/null || install_packages npm
  say "dev: installing the agents (about 2 GB) in $agents_root"
  mkdir -p "$cache_root"
  staging=$(mktemp -d "$cache_root/agents.XXXXXX")
  chmod 755 "$staging"
  cp "$packages/package.json" "$packages/package-lock.json" "$packages/.npmrc" "$staging/"
  if ! (cd "$staging" && npm ci --ignore-scripts --no-progress >npm.log 2>&1); then
    tail -n 20 "$staging/npm.log" >&2
    rm -rf "$staging"
    say "dev: could not install the agents; their tests will be skipped"
    return 1
  fi
  printf '%s\n' "$want" >"$staging/stamp"
  rm -rf "$agents_root"
  mv "$staging" "$agents_root"
}

# dev agents: installs them.
dev_agents() { install_agents; }
