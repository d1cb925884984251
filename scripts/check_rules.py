#!/usr/bin/env python3
"""Banned calls and words, each with its reason."""
import pathlib
import re
import subprocess
import sys

BANNED = [
    (r"\bremove_all\s*\(", "follows links in a tree that a run may have written; work on directory descriptors"),
    (r"\bcreate_directories\s*\(", "follows links; use system::make_private_directories for our own directories"),
    (r"\bstd::system\s*\(|\bpopen\s*\(", "runs a shell; use system::ChildProcess"),
    (r"\bstrerror\s*\(", None),  # allowed where a single thread runs; see ALLOWED_FILES
    (r"co_spawn\s*\([^;]*\bdetached\b", "drops errors; spawn into a TaskScope"),
    (r"\busing namespace std\b", "breaks unity builds"),
    (r"\b(TODO|FIXME|XXX|HACK)\b", "finish it, or write it down as an issue"),
    (r"^\s*static [A-Za-z_:<>]+ [a-z_]+;", "no mutable globals"),
]
ALLOWED_FILES = {r"\bstrerror\s*\(": re.compile(r"src/(apps/init|control/local_run)")}

root = pathlib.Path(__file__).resolve().parent.parent


def tracked(pattern):
    command = ["git", "ls-files", "--", pattern]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split()


files = tracked("src")
problems = []
for name in files:
    path = root / name
    if path.suffix not in {".h", ".cc"}:
        continue
    text = path.read_text()
    if path.suffix == ".h" and "#pragma once" not in text:
        problems.append(f"{name}: no #pragma once")
    lines = text.splitlines()
    if len(lines) > 600:
        problems.append(f"{name}: {len(lines)} lines; is it still one idea?")
    for number, line in enumerate(lines, 1):
        for pattern, reason in BANNED:
            allowed = ALLOWED_FILES.get(pattern)
            if re.search(pattern, line) and not (allowed and allowed.search(name)):
                problems.append(f"{name}:{number}: {reason or 'not safe with threads'}: {line.strip()}")
# Git keeps no empty folder: a fuzzer without seeds works here and fails on a clean checkout.
for name in tracked("tests/fuzz/*_fuzz.cc"):
    corpus = "tests/fuzz/corpus/" + pathlib.Path(name).name.removesuffix("_fuzz.cc")
    if not tracked(corpus):
        problems.append(f"{name}: no seed in {corpus}")
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
