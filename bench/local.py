#!/usr/bin/env python3
"""Measures the start of `cofferdam run` beside bare bubblewrap with the same mounts and beside srt.

usage: local.py BUILD_DIRECTORY [--srt PROGRAM] [--rounds N] [--out FILE]

Contestants run one after the other within each round and the median counts, so that the load of the machine meets
all alike. Writes JSON with the facts of the machine.
"""
import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def bubblewrap_arguments(plan, folder):
    """The mounts of a plan in bubblewrap's words; files made of text come from real files here."""
    words = []
    for index, mount in enumerate(plan["filesystem"]["mounts"]):
        kind, target, source = mount["kind"], mount["target"], mount["source"]
        if kind == "tmpfs":
            if mount["size_bytes"]:
                words += ["--size", str(mount["size_bytes"])]
            words += ["--tmpfs", target]
        elif kind in ("proc", "dev"):
            words += ["--" + kind, target]
        elif kind == "directory":
            words += ["--dir", target]
        elif kind == "link":
            words += ["--symlink", source, target]
        elif kind == "read-only":
            words += ["--ro-bind", source, target]
        elif kind == "writable":
            words += ["--bind", source, target]
        elif kind in ("file", "cover"):
            path = os.path.join(folder, f"content-{index}")
            with open(path, "w") as file:
                file.write("text\n")
            words += ["--ro-bind", path, target]  # a copy of ours costs less than this
        elif kind == "seal":
            words += ["--remount-ro", target]
        else:
            sys.exit(f"unknown kind of mount: {kind}")
    return words


def make_workspace(path):
    os.makedirs(path)
    subprocess.run(["git", "init", "-q", path], check=True)


def contestants(build, srt, folder):
    program = os.path.join(build, "cofferdam")
    workspace = os.path.join(folder, "workspace")
    make_workspace(workspace)
    os.chdir(workspace)
    plan = json.loads(subprocess.run([program, "explain", "-o", "json", "--", "true"], check=True,
                                     capture_output=True, text=True).stdout)
    bwrap = ["bwrap", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
             "--die-with-parent", "--new-session", *bubblewrap_arguments(plan, folder)]
    # Placeholders exist only during a run of ours; bubblewrap alone binds a directory that stands in for them.
    stand_in = os.path.join(folder, "stand-in")
    os.makedirs(stand_in)
    placeholders = plan["filesystem"]["placeholders"]
    bwrap = [stand_in if word in placeholders and bwrap[at - 1] in ("--ro-bind", "--bind") else word
             for at, word in enumerate(bwrap)]
    run = [program, "run", "--quiet"]
    out = {
        "true": ["true"],
        "bubblewrap": [*bwrap, "--", "true"],
        "cofferdam run": [*run, "--", "true"],
        "bubblewrap, no network": [*bwrap, "--unshare-net", "--", "true"],
        "cofferdam run --allow": [*run, "--allow", "example.com", "--", "true"],
    }
    if srt:
        settings = os.path.join(folder, "srt.json")
        with open(settings, "w") as file:
            json.dump({"network": {"allowedDomains": ["example.com"], "deniedDomains": []},
                       "filesystem": {"denyRead": [], "allowWrite": ["."], "denyWrite": []}}, file)
        out["srt, one domain"] = [srt, "--settings", settings, "true"]
    return out


def must_work(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{command[0]} failed: {result.stderr.strip()}")


def measure(commands, rounds):
    times = {name: [] for name in commands}
    for number in range(rounds):
        for name, command in commands.items():
            if name.startswith("srt") and number % 5:
                continue
            start = time.perf_counter()
            result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
            times[name].append((time.perf_counter() - start) * 1000)
            if result.returncode != 0:
                sys.exit(f"{name} failed: {result.stderr.decode().strip()}")
    return times


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("--srt", default="")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--out", default="")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="cofferdam-bench-")
    try:
        commands = contestants(os.path.abspath(options.build), options.srt and os.path.abspath(options.srt), folder)
        for command in commands.values():
            must_work(command)
        times = measure(commands, options.rounds)
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    median = {name: round(statistics.median(values), 3) for name, values in times.items()}
    ratios = {
        "run / bubblewrap (bar: at most 1.6)": round(median["cofferdam run"] / median["bubblewrap"], 2),
        # Without a network flag a run has a network namespace, too, which bare bubblewrap must be asked for.
        "run / bubblewrap, no network": round(median["cofferdam run"] / median["bubblewrap, no network"], 2),
        "run --allow / bubblewrap, no network (bar: at most 2.0)": round(
            median["cofferdam run --allow"] / median["bubblewrap, no network"], 2),
    }
    if "srt, one domain" in median:
        ratios["run --allow / srt (bar: at most 0.05)"] = round(
            median["cofferdam run --allow"] / median["srt, one domain"], 4)
    result = {
        "machine": {"kernel": platform.release(), "cores": os.cpu_count(), "user": "root" if os.geteuid() == 0 else "user",
                    "load": os.getloadavg()[0]},
        "rounds": options.rounds,
        "median_ms": median,
        "fastest_ms": {name: round(min(values), 3) for name, values in times.items()},
        "ratios": ratios,
    }
    text = json.dumps(result, indent=2) + "\n"
    print(text, end="")
    if options.out:
        with open(options.out, "w") as file:
            file.write(text)


main()
