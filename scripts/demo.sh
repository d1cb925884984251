#!/usr/bin/env bash
# demo.sh COFFERDAM AGENT_DEMO AGENTS_FOLDER: a small Git repository is built and tested under `cofferdam run`, with
# one allowed and one refused connection (both to servers that this script starts on loopback) and one write outside
# refused. Fails when anything is not as it says.
set -euo pipefail
cofferdam=$1 agent_demo=$2 agents=$3

scratch=$(mktemp -d /tmp/cofferdam-demo.XXXXXX)
servers=()
clean_up() {
  for server in "${servers[@]}"; do kill "$server" 2>/dev/null || true; done
  rm -rf "$scratch"
}
trap clean_up EXIT

bold=$(tput bold 2>/dev/null || true) plain=$(tput sgr0 2>/dev/null || true)
[ -t 1 ] && [ -z "${NO_COLOR:-}" ] || bold='' plain=''
title() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }

start_server() { # NAME: answers with its name; prints its port
  mkdir "$scratch/$1"
  echo "hello from $1" >"$scratch/$1/index.html"
  python3 - "$scratch/$1" >"$scratch/$1.port" 2>/dev/null <<'PYTHON' &
import functools, http.server, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
  servers+=("$!")
  for _ in $(seq 100); do [ -s "$scratch/$1.port" ] && return; sleep 0.05; done
  echo "demo: the sample server did not start" >&2
  exit 1
}

make_project() {
  mkdir "$scratch/project"
  cd "$scratch/project"
  git init -q -b main
  git config user.name Demo
  git config user.email demo@example.invalid
  cat >words.py <<'PYTHON'
def count(text):
    return len(text.split())
PYTHON
  cat >test_words.py <<'PYTHON'
import unittest
from words import count

class CountTest(unittest.TestCase):
    def test_counts_words(self):
        self.assertEqual(count("three small words"), 3)
PYTHON
  cat >build-and-test.sh <<'SHELL'
set -u
echo "== build and test"
python3 -m compileall -q . && python3 -m unittest -q || exit 1
git add -A && git commit -qm "Built inside the sandbox" && git log --oneline
echo "== a connection that is allowed"
curl -fsS "http://127.0.0.1:$ALLOWED_PORT/" || exit 1
echo "== a connection that is not"
if curl -sS -m 5 --noproxy '' "http://127.0.0.1:$OTHER_PORT/" -o refused.txt -w 'HTTP %{http_code}\n'; then cat refused.txt; fi
rm -f refused.txt
echo "== a write outside the workspace"
if echo planted 2>/dev/null >"$OUTSIDE"; then echo "written, but only in the throw-away root"; else echo "refused"; fi
SHELL
}

start_server allowed
start_server other
allowed=$(cat "$scratch/allowed.port") other=$(cat "$scratch/other.port")
mkdir "$scratch/outside"
make_project

title "cofferdam run --allow 127.0.0.1:$allowed -- sh build-and-test.sh"
"$cofferdam" run --allow "127.0.0.1:$allowed" --env ALLOWED_PORT="$allowed" --env OTHER_PORT="$other" \
  --env OUTSIDE="$scratch/outside/planted" --outcome "$scratch/outcome.json" -- sh build-and-test.sh

title "What became of it"
[ ! -e "$scratch/outside/planted" ] || { echo "demo: the write outside reached the host" >&2; exit 1; }
grep -q '"denied":1' "$scratch/outcome.json" || { echo "demo: the refused connection was not recorded" >&2; exit 1; }
[ "$(git -C "$scratch/project" log --oneline | wc -l)" = 1 ] || { echo "demo: no commit arrived" >&2; exit 1; }
echo "The commit made inside is in the repository; the host outside it is untouched; one connection was refused."

if [ -x "$agent_demo" ] && [ -d "$agents/node_modules" ]; then
  title "A real agent, confined the same way"
  "$agent_demo" "$cofferdam"
else
  title "A real agent"
  echo "Not shown: the agents are not installed here (with Node's npm, ./dev agents installs them, about 2 GB)."
fi
