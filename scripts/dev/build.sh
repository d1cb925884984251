# shellcheck shell=bash

# dev build [PRESET]
dev_build() {
  local preset=${1:-dev}
  build_preset "$preset"
  say "dev: built in $(build_directory "$preset")"
}

# dev install [--prefix DIR]: programs, man pages and completions.
dev_install() {
  local prefix=/usr/local
  while [ $# -gt 0 ]; do
    case "$1" in
      --prefix)
        [ $# -ge 2 ] || die "install: --prefix needs a directory"
        prefix=$2
        shift 2
        ;;
      --prefix=*) prefix=${1#*=}; shift ;;
      *) die "install: unknown argument '$1'" ;;
    esac
  done
  case "$prefix" in /*) ;; *) prefix=$caller_directory/$prefix ;; esac
  build_preset release "${programs[@]}"
  local release elevate=()
  release=$(build_directory release)
  mkdir -p "$prefix" 2>/dev/null || true
  [ -w "$prefix" ] || elevate=(as_root)
  install_into "$release" "$prefix"
  say "dev: installed in $prefix"
  case ":$PATH:" in *":$prefix/bin:"*) ;; *) say "dev: add $prefix/bin to your PATH" ;; esac
}

install_into() {
  local release=$1 prefix=$2 staging verbs verb shell
  staging=$(mktemp -d)
  "$release/cofferdam" completion bash >"$staging/cofferdam.bash"
  "$release/cofferdam" completion zsh >"$staging/_cofferdam"
  "$release/cofferdam" completion fish >"$staging/cofferdam.fish"
  "$release/cofferdam" man >"$staging/cofferdam.1"
  # Assigned first: a failure inside the words of a loop goes unnoticed.
  verbs=$("$release/cofferdam" man --list) || die "install: the verbs cannot be listed"
  for verb in $verbs; do
    "$release/cofferdam" man "$verb" >"$staging/cofferdam-$verb.1" || die "install: no man page of '$verb'"
  done
  "${elevate[@]}" install -Dm755 "$release/cofferdam" "$prefix/bin/cofferdam"
  for shell in cofferdam-init cofferdam-egress cofferdam-engine; do
    "${elevate[@]}" install -Dm755 "$release/$shell" "$prefix/libexec/cofferdam/$shell"
  done
  "${elevate[@]}" install -Dm644 "$staging/cofferdam.bash" "$prefix/share/bash-completion/completions/cofferdam"
  "${elevate[@]}" install -Dm644 "$staging/_cofferdam" "$prefix/share/zsh/site-functions/_cofferdam"
  "${elevate[@]}" install -Dm644 "$staging/cofferdam.fish" "$prefix/share/fish/vendor_completions.d/cofferdam.fish"
  "${elevate[@]}" install -d "$prefix/share/man/man1"
  "${elevate[@]}" install -m644 "$staging"/*.1 "$prefix/share/man/man1/"
  rm -rf "$staging"
}
