#!/usr/bin/env python3
"""docs/promises.md names a test for each promise that is kept; every named test must exist."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent


def functional_tests():
    for script in (root / "tests/functional").glob("*_test.sh"):
        topic = script.name.removesuffix("_test.sh")
        for name in re.findall(r"^test_([a-z0-9_]+)\(\)", script.read_text(), re.M):
            yield f"functional.{topic}.{name}"


def unit_tests():
    for source in (root / "tests/unit").rglob("*.cc"):
        folder = source.relative_to(root / "tests/unit").parts[0]
        for suite, name in re.findall(r"^TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", source.read_text(), re.M):
            yield f"unit.{folder}.{suite}.{name}"


def agent_tests():
    text = (root / "tests/agents/CMakeLists.txt").read_text()
    for word in set(re.findall(r"[a-z_]+", text)):
        yield f"agents.{word}"


known = {*functional_tests(), *unit_tests(), *agent_tests()}
problems = []
rows = 0
for number, line in enumerate((root / "docs/promises.md").read_text().splitlines(), 1):
    match = re.match(r"\| ([A-Z]+\d+) \|", line)
    if not match:
        continue
    rows += 1
    named = re.findall(r"`((?:functional|unit|agents)\.[A-Za-z0-9_.]+)`", line)
    if not named:
        problems.append(f"docs/promises.md:{number}: {match.group(1)} names no test")
    problems += [f"docs/promises.md:{number}: no test {name}" for name in named if name not in known]
if rows == 0:
    problems.append("docs/promises.md: no rows")
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
