#!/usr/bin/env python3
"""Measures moving, saving and restoring workspaces beside tar, git, find, restic, borg and dd.

usage: workspace.py BUILD_DIRECTORY --sources DIRECTORY [--work DIRECTORY] [--rounds N] [--only PART,…] [--out FILE]

Contestants run one after the other within each round and the median counts, so that the load of the machine meets
all alike. --sources: the unpacked sources that are saved and restored. Everything is done below --work, on one disk,
with a warm cache. Parts: prepare, git, unchanged, save, large. Writes JSON with the facts of the machine; what is
not measured keeps what the file says.
"""
import argparse
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

FILES, FILE_BYTES = 20_000, 5_000
GIB = 1 << 30


class Run:
    """A command, timed from its start to its end, with the most memory that it had. With `pipe` its output goes
    through a pipe to a reader that throws it away, and the end is the reader's."""

    def __init__(self, command, env=None, cwd=None, pipe=False):
        reader = None
        begun = time.perf_counter()
        if pipe:
            read, write = os.pipe()
            reader = subprocess.Popen(["cat"], stdin=read, stdout=subprocess.DEVNULL)
            os.close(read)
            output = write
        else:
            output = tempfile.TemporaryFile()
        errors = tempfile.TemporaryFile()
        process = subprocess.Popen(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        if pipe:
            os.close(write)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if reader:
            reader.wait()
        self.seconds = time.perf_counter() - begun
        self.peak_mb = usage.ru_maxrss * 1024 / 1e6
        self.cpu_seconds = usage.ru_utime + usage.ru_stime
        if process.returncode != 0:
            errors.seek(0)
            sys.exit(f"{' '.join(command)} failed: {errors.read().decode(errors='replace')}")
        if not pipe:
            output.seek(0)
            self.output = output.read().decode(errors="replace")


def summary(runs):
    """{name: [Run]} → medians."""
    return {name: dict(seconds=round(statistics.median(run.seconds for run in each), 4),
                       fastest=round(min(run.seconds for run in each), 4),
                       cpu_seconds=round(statistics.median(run.cpu_seconds for run in each), 3),
                       peak_mb=round(max(run.peak_mb for run in each), 1))
            for name, each in runs.items()}


def settle():
    """What one contestant left unwritten is not the next one's to pay; nor need a tool doubt time stamps."""
    os.sync()
    time.sleep(1.2)


def interleave(rounds, contestants):
    """{name: callable → Run}, each once before anything counts: warm caches for all."""
    for contestant in contestants.values():
        contestant()
    runs = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, contestant in contestants.items():
            runs[name].append(contestant())
    return summary(runs)


def ratio(result, ours, theirs):
    return round(result[ours]["seconds"] / result[theirs]["seconds"], 3)


def make_plain_tree(path):
    """The same tree every time: 100 directories of 200 files of words that compress."""
    words = random.Random(1)
    vocabulary = ["".join(words.choices("abcdefghijklmnopqrstuvwxyz", k=words.randint(2, 9))) for _ in range(4000)]
    for number in range(FILES):
        folder = os.path.join(path, f"d{number // 2000:02}", f"e{number // 200 % 10:02}")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"file-{number:05}.txt"), "w") as file:
            file.write(" ".join(words.choices(vocabulary, k=1000))[:FILE_BYTES - 1] + "\n")


def touch_up(tree, every, round_number):
    """Changes one file of `every`, another one in each round."""
    changed = 0
    for folder, folders, files in os.walk(tree):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(folder, name)
            if os.path.islink(path):
                continue
            changed += 1
            if changed % every == round_number % every:
                os.chmod(path, os.stat(path).st_mode | 0o200)
                with open(path, "a") as file:
                    file.write(f"\nround {round_number}\n")


def size_of(path):
    return sum(os.lstat(os.path.join(folder, name)).st_size for folder, _, files in os.walk(path) for name in files)


def prepare(helper, tree, rounds):
    result = interleave(rounds, {
        "cofferdam": lambda: Run([helper, "archive", tree], pipe=True),
        "tar": lambda: Run(["tar", "-C", tree, "-cf", "-", "."], pipe=True)})
    return dict(result, **{"of tar": ratio(result, "cofferdam", "tar")}, bars={"of tar": 1.5, "peak_mb": 100})


def prepare_git(helper, tree, work, rounds):
    repository = os.path.join(work, "git")
    shutil.copytree(tree, repository)
    git = ["git", "-C", repository, "-c", "user.name=bench", "-c", "user.email=bench@example.com"]
    subprocess.run([*git, "init", "-q"], check=True)
    for message in ("one", "two"):
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", message], check=True)
        touch_up(os.path.join(repository, "d00"), 2, 1)
    subprocess.run([*git, "checkout", "-q", "."], check=True)
    touch_up(os.path.join(repository, "d01"), 10, 1)  # 1 % of all files differ from HEAD

    def ours():
        stage = os.path.join(work, "stage")
        run = Run([helper, "git", repository, stage], pipe=True)
        shutil.rmtree(stage)
        shutil.rmtree(stage + ".scratch")
        return run

    def theirs():
        clone = os.path.join(work, "clone")
        run = Run(["sh", "-c", 'git clone -q --depth 1 "file://$1" "$2" && tar -C "$2" -cf - .', "sh", repository,
                   clone], pipe=True)
        shutil.rmtree(clone)
        return run
    result = interleave(rounds, {"cofferdam": ours, "clone and tar": theirs})
    return dict(result, **{"of clone and tar": ratio(result, "cofferdam", "clone and tar")},
                bars={"of clone and tar": 1.5})


def unchanged(helper, tree, work, rounds):
    cache, record = os.path.join(work, "stat-cache"), os.path.join(work, "record.json")
    Run([helper, "remember", tree, cache, record])
    result = interleave(rounds, {
        "cofferdam": lambda: Run([helper, "unchanged", tree, cache]),
        "cofferdam, reading the record": lambda: Run([helper, "unchanged", tree, cache, record]),
        "find": lambda: Run(["find", tree, "-printf", "%p %s %T@ %m\\n"], pipe=True)})
    return dict(result, **{"of find": ratio(result, "cofferdam", "find"),
                           "of find, reading the record": ratio(result, "cofferdam, reading the record", "find")},
                bars={"of find": 3})


class Cofferdam:
    name = "cofferdam"

    def __init__(self, program, folder):
        self.program = program
        self.repository = os.path.join(folder, "state", "cofferdam", "store")
        self.env = {"PATH": os.environ["PATH"], "HOME": folder, "XDG_STATE_HOME": os.path.join(folder, "state"),
                    "XDG_CACHE_HOME": os.path.join(folder, "cache"), "XDG_CONFIG_HOME": os.path.join(folder, "config")}

    def save(self, tree):
        return Run([self.program, "snapshot", "save", "-q", "-o", "json", tree], env=self.env)

    def restore(self, target):
        return Run([self.program, "snapshot", "restore", "-q", "latest", target], env=self.env)


class Restic:
    name = "restic"

    def __init__(self, folder):
        self.repository = os.path.join(folder, "repository")
        self.env = {"PATH": os.environ["PATH"], "HOME": folder, "RESTIC_PASSWORD": "bench",
                    "RESTIC_REPOSITORY": self.repository, "RESTIC_CACHE_DIR": os.path.join(folder, "cache")}
        Run(["restic", "init", "-q"], env=self.env)

    def save(self, tree):
        return Run(["restic", "backup", "-q", "--compression", "auto", tree], env=self.env)

    def restore(self, target):
        return Run(["restic", "restore", "-q", "latest", "--target", target], env=self.env)


class Borg:
    name = "borg"

    def __init__(self, folder):
        self.repository = os.path.join(folder, "repository")
        self.env = {"PATH": os.environ["PATH"], "HOME": folder, "BORG_BASE_DIR": folder, "BORG_PASSPHRASE": "bench",
                    "BORG_REPO": self.repository, "LC_ALL": "C.UTF-8"}
        self.saves = 0
        Run(["borg", "init", "-e", "repokey"], env=self.env)

    def save(self, tree):
        self.saves += 1
        return Run(["borg", "create", "-C", "zstd,3", f"::{self.saves}", tree], env=self.env)

    def restore(self, target):
        os.makedirs(target)
        return Run(["borg", "extract", f"::{self.saves}"], env=self.env, cwd=target)


def save_and_restore(program, sources, work, rounds):
    tree = os.path.join(work, "sources")
    subprocess.run(["cp", "-a", sources, tree], check=True)
    for folder, _, files in os.walk(tree):  # warm
        for name in files:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                with open(path, "rb") as file:
                    file.read()
    time.sleep(1.2)
    makers = {"cofferdam": lambda folder: Cofferdam(program, folder), "restic": Restic, "borg": Borg}
    makers = {name: make for name, make in makers.items() if name == "cofferdam" or shutil.which(name)}
    runs = {what: {name: [] for name in makers} for what in ("first_save", "second_save", "restore")}
    sizes = {what: {name: [] for name in makers} for what in ("first_save", "second_save")}
    for number in range(rounds):
        round_folder = os.path.join(work, f"round-{number}")
        tools = {}
        for name, make in makers.items():
            folder = os.path.join(round_folder, name)
            os.makedirs(folder)
            tools[name] = make(folder)
        # Each begins with nothing unwritten, and they take turns in being first.
        turn = number % len(tools)
        order = [*tools.items()][turn:] + [*tools.items()][:turn]
        for what in ("first_save", "second_save"):
            if what == "second_save":
                touch_up(tree, 100, number)
            for name, tool in order:
                settle()
                runs[what][name].append(tool.save(tree))
                sizes[what][name].append(size_of(tool.repository))
        for name, tool in order:
            settle()
            target = os.path.join(round_folder, f"restored-{name}")
            runs["restore"][name].append(tool.restore(target))
            shutil.rmtree(target)
        shutil.rmtree(round_folder)
    out = dict(tree=dict(files=sum(len(files) for _, _, files in os.walk(tree)), bytes=size_of(tree)))
    bars = dict(first_save=0.5, second_save=0.5, restore=0.7)
    for what, of in runs.items():
        result = summary(of)
        rivals = [result[name]["seconds"] for name in result if name != "cofferdam"]
        out[what] = dict(result, bars={"of the faster": bars[what]})
        if rivals:
            out[what]["of the faster"] = round(result["cofferdam"]["seconds"] / min(rivals), 3)
    for what, of in sizes.items():
        median = {name: statistics.median(values) for name, values in of.items()}
        rivals = [value for name, value in median.items() if name != "cofferdam"]
        out[f"store_bytes_{what}"] = dict(median, bars={"of the smaller": 1.1})
        if rivals:
            out[f"store_bytes_{what}"]["of the smaller"] = round(median["cofferdam"] / min(rivals), 3)
    return out


def large(program, work, rounds):
    folder = os.path.join(work, "large")
    os.makedirs(folder)
    path = os.path.join(folder, "random")
    subprocess.run(["dd", "if=/dev/urandom", f"of={path}", "bs=1M", f"count={4 * GIB >> 20}", "status=none"], check=True)
    os.sync()
    home, copy = os.path.join(work, "large-home"), os.path.join(work, "large-copy")

    def ours():
        os.makedirs(home)
        run = Cofferdam(program, home).save(folder)
        shutil.rmtree(home)
        return run

    def theirs():
        run = Run(["dd", f"if={path}", f"of={copy}", "bs=1M", "conv=fsync", "status=none"])
        os.remove(copy)
        return run
    contestants = [("cofferdam", ours), ("dd", theirs)]
    runs = {name: [] for name, _ in contestants}
    for number in range(rounds):
        for name, contestant in contestants if number % 2 == 0 else reversed(contestants):
            with open(path, "rb", buffering=0) as file:  # as much of it as the machine can hold
                while file.read(1 << 22):
                    pass
            settle()
            runs[name].append(contestant())
    shutil.rmtree(folder)
    result = summary(runs)
    return dict(result, **{"of dd": ratio(result, "cofferdam", "dd")}, bars={"of dd": 1.7, "peak_mb": 150})


def version(command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0]
    except (OSError, IndexError):
        return ""


def machine():
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1])
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
    return dict(cpus=os.cpu_count(), model=model, memory_kib=memory, kernel=platform.release(),
                load_before=os.getloadavg())


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("--sources", required=True)
    parser.add_argument("--work", default=None)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="prepare,git,unchanged,save,large")
    parser.add_argument("--out", default="")
    options = parser.parse_args()
    parts = options.only.split(",")
    build = os.path.abspath(options.build)
    program, helper = os.path.join(build, "cofferdam"), os.path.join(build, "bench", "workspace_bench")
    results = {}
    if options.out and os.path.exists(options.out):
        with open(options.out) as file:
            results = json.load(file)
    results["machine"] = machine()
    results["versions"] = dict(tar=version(["tar", "--version"]), git=version(["git", "--version"]),
                               restic=version(["restic", "version"]), borg=version(["borg", "--version"]))
    work = tempfile.mkdtemp(prefix="cofferdam-bench-", dir=options.work)
    try:
        tree = os.path.join(work, "plain")
        if {"prepare", "git", "unchanged"} & set(parts):
            make_plain_tree(tree)
            time.sleep(1.2)  # the stat cache remembers nothing younger than a second
        measures = {
            "prepare": lambda: prepare(helper, tree, options.rounds * 2),
            "git": lambda: prepare_git(helper, tree, work, options.rounds),
            "unchanged": lambda: unchanged(helper, tree, work, options.rounds * 4),
            "save": lambda: save_and_restore(program, options.sources, work, options.rounds),
            "large": lambda: large(program, work, min(options.rounds, 3)),
        }
        for part in parts:
            results[part] = measures[part]()
            results[part].update(rounds_asked=options.rounds, load_after=os.getloadavg())
            print(json.dumps({part: results[part]}, indent=2), flush=True)
            if options.out:  # at once: what follows may take long, and fail
                with open(options.out, "w") as file:
                    json.dump(results, file, indent=2)
                    file.write("\n")
    finally:
        shutil.rmtree(work, ignore_errors=True)


main()
