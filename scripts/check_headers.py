#!/usr/bin/env python3
"""Every header compiles alone: check_headers.py BUILD_DIRECTORY (one with compile_commands.json)."""
import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
commands = json.loads((pathlib.Path(sys.argv[1]) / "compile_commands.json").read_text())
flags_of = {}
for entry in commands:
    parts = pathlib.Path(entry["file"]).parts
    if "src" in parts:
        words = shlex.split(entry["command"])
        flags = [w for w in words[1:] if w.startswith(("-I", "-D", "-std", "-W", "-isystem")) and w != "-MD"]
        flags_of.setdefault(parts[parts.index("src") + 1], flags)


def check(header):
    folder = header.relative_to(root / "src").parts[0]
    flags = flags_of.get(folder, next(iter(flags_of.values())))
    command = ["clang++-19", "-fsyntax-only", "-x", "c++", "-Wno-pragma-once-outside-header", *flags, str(header)]
    result = subprocess.run(command, capture_output=True, text=True)
    return result.stderr if result.returncode else ""


headers = sorted((root / "src").rglob("*.h"))
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    problems = [text for text in pool.map(check, headers) if text]
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
