# The completion scripts in the real shells, and the man pages in the real man. A shell that is not installed is SKIPPED.

needs() { command -v "$1" >/dev/null || skip "$1 is not installed"; }

# offers LINE WORD…: the words that bash offers for the last word of the line, given as an array.
bash_offers() {
  "$cofferdam" completion bash >"$scratch/completion.bash"
  bash -c '
    . "$1"; shift
    compopt() { :; }
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _cofferdam
    printf "%s\n" "${COMPREPLY[@]}"' offers "$scratch/completion.bash" "$@" | sort | tr '\n' ' '
}

same() { [ "$1" = "$2" ] || fail "offered '$1', expected '$2'"; }

test_bash_completes_verbs_flags_values_and_commands() {
  same "$(bash_offers cofferdam exp)" "explain "
  same "$(bash_offers cofferdam run --ne)" "--nested --network "
  same "$(bash_offers cofferdam run --network '')" "allowlist deny open "
  same "$(bash_offers cofferdam run --network = al)" "allowlist "
  same "$(bash_offers cofferdam run --profile cl)" "claude_local "
  same "$(bash_offers cofferdam completion '')" "bash fish zsh "
  same "$(bash_offers cofferdam explain -o '')" "json text "
  mkdir -p sub/dir && touch sub/file
  same "$(bash_offers cofferdam run --workspace sub/)" "sub/dir "
  same "$(bash_offers cofferdam run --policy sub/)" "sub/dir sub/file "
  same "$(bash_offers cofferdam run -- cat sub/fi)" "sub/file "
  bash_offers cofferdam run -- ba | grep -q bash || fail "no command is offered after --"
}

fish_offers() {
  mkdir -p "$scratch/fish/fish/completions" "$scratch/bin"
  "$cofferdam" completion fish >"$scratch/fish/fish/completions/cofferdam.fish"
  ln -sf "$cofferdam" "$scratch/bin/cofferdam"
  HOME=$scratch XDG_CONFIG_HOME=$scratch/fish PATH=$scratch/bin:$PATH fish -c "complete -C '$1'" | cut -f1 | tr '\n' ' '
}

test_fish_completes_verbs_flags_values_and_commands() {
  needs fish
  same "$(fish_offers 'cofferdam exp')" "explain "
  same "$(fish_offers 'cofferdam run --ne')" "--nested --network "
  same "$(fish_offers 'cofferdam run --network ')" "allowlist deny open "
  same "$(fish_offers 'cofferdam run --network=al')" "--network=allowlist "
  same "$(fish_offers 'cofferdam completion ')" "bash fish zsh "
  mkdir -p sub && touch sub/file
  same "$(fish_offers 'cofferdam run -- cat sub/fi')" "sub/file "
}

# What a zsh on a terminal of its own shows after LINE and two tabs.
zsh_shows() {
  mkdir -p "$scratch/zfunc"
  "$cofferdam" completion zsh >"$scratch/zfunc/_cofferdam"
  python3 - "$scratch/zfunc" "$1" <<'PYTHON'
import os, pty, select, sys, time
folder, line = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.environ.update(TERM="dumb", HOME=folder)
    os.execvp("zsh", ["zsh", "-f", "-i"])

def read_until(marker, seconds):
    out, end = "", time.time() + seconds
    while marker not in out and time.time() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            out += os.read(terminal, 65536).decode(errors="replace")
    return out

os.write(terminal, f"PS1='> '; autoload -U compinit; fpath=({folder} $fpath); compinit -u -D; cofferdam() {{ }}; echo REA''DY\n".encode())
read_until("READY", 20)
os.write(terminal, (line + "\t").encode())
shown = read_until("no such text", 2)
os.write(terminal, b"\t")
print(shown + read_until("no such text", 1))
os.kill(pid, 9)
PYTHON
}

zsh_has() { zsh_shows "$1" >"$scratch/shown" || fail "zsh did not start"; grep -q -e "$2" "$scratch/shown" || fail "zsh shows '$(cat -v "$scratch/shown")' for '$1'"; }

test_zsh_completes_verbs_flags_values_and_commands() {
  needs zsh
  needs python3
  zsh_has 'cofferdam expl' 'explain'
  zsh_has 'cofferdam run --ne' '--nested'
  zsh_has 'cofferdam run --network ' 'allowlist.*deny.*open'
  zsh_has 'cofferdam run --network=al' '--network=allowlist'
  zsh_has 'cofferdam completion ' 'bash.*fish.*zsh'
  mkdir -p sub && touch sub/file
  zsh_has 'cofferdam run -- cat sub/fi' 'sub/file'
}

test_man_pages_are_formatted_without_a_warning() {
  needs man
  local verb
  for verb in run explain doctor audit version completion man help; do
    "$cofferdam" man "$verb" >"cofferdam-$verb.1"
    man --warnings -l "cofferdam-$verb.1" >page 2>warnings || fail "man cannot read the page of $verb"
    [ ! -s warnings ] || fail "man warns about the page of $verb: $(cat warnings)"
    grep -q "cofferdam-$verb" page || fail "the page of $verb lacks its name"
  done
  "$cofferdam" man >cofferdam.1
  man --warnings -l cofferdam.1 >page 2>warnings || fail "man cannot read the overview"
  [ ! -s warnings ] || fail "man warns about the overview: $(cat warnings)"
}
