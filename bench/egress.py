#!/usr/bin/env python3
"""Measures cofferdam-egress beside tinyproxy, squid and a direct connection.

usage: egress.py BUILD_DIRECTORY [--rounds N] [--out FILE]

Every measure is taken in rounds, the contestants one after the other within each round, and the median counts: the
load of the machine then meets all alike. Needs the Debian packages tinyproxy-bin and squid; what is missing is left
out and said so. Writes JSON with the facts of the machine.
"""
import argparse
import array
import json
import os
import platform
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

GIB = 1 << 30
RIVALS = ("tinyproxy", "tinyproxy, no record", "squid")


class Egress:
    """The real proxy process, fed as its supervisor feeds it."""

    name = "cofferdam-egress"

    def __init__(self, build, target_port, folder):
        bounds = dict(connections=16384, head_timeout_ms=30000, idle_timeout_ms=120000, connect_timeout_ms=15000,
                      resolver_threads=4, log_bytes=16 << 20)
        text = f"127.0.0.1:{target_port}"
        rule = dict(target="addresses", host="", network="127.0.0.1", prefix=32, port=target_port, raw=False,
                    trusted=False, text=text)
        config = dict(run="bench", allow=[rule], deny=[], upstream_proxy="", bounds=bounds)
        life_read, self.life = os.pipe()
        self.summary, summary_write = os.pipe()
        memory = os.memfd_create("config")
        os.write(memory, json.dumps(config).encode())
        os.lseek(memory, 0, os.SEEK_SET)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        log = os.open(os.path.join(folder, "decisions.jsonl"), os.O_RDWR | os.O_CREAT | os.O_APPEND)
        descriptors = [life_read, summary_write, 2, memory, theirs.fileno(), log]
        program = os.path.join(build, "cofferdam-egress")
        self.pid = os.fork()
        if self.pid == 0:
            import fcntl
            high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 50) for fd in descriptors]
            for target, fd in enumerate(high):
                os.dup2(fd, target, inheritable=True)
            os.closerange(6, 1024)
            os.execv(program, ["cofferdam-egress"])
        for fd in (life_read, summary_write, memory, log):
            os.close(fd)
        theirs.close()
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(4096)
        self.port = listener.getsockname()[1]
        rights = array.array("i", [listener.fileno()])
        ours.sendmsg([b"proxy"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        listener.close()
        ours.close()

    def stop(self):
        os.close(self.life)
        while os.read(self.summary, 65536):
            pass
        os.waitpid(self.pid, 0)


class Bare:
    """No proxy to use, but the least that one can cost: no rules, no record, no relaying, one thread."""

    def __init__(self, helper):
        self.process = subprocess.Popen([helper, "bare"], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.pid = self.process.pid

    def stop(self):
        self.process.kill()
        self.process.wait()


class Program:
    """A proxy of Debian's, started with a configuration file."""

    def __init__(self, command, port):
        self.port = port
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pid = self.process.pid
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError(f"{command[0]} does not listen")

    def stop(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_tinyproxy(folder, log_level):
    """Its log level is "Info" as Debian configures it, so that it records its decisions as ours does; each line is
    synchronised to the disk. "Critical" switches the record off."""
    port = free_port()
    path = os.path.join(folder, f"tinyproxy-{log_level}.conf")
    with open(path, "w") as file:
        file.write(f"Port {port}\nListen 127.0.0.1\nTimeout 600\nMaxClients 20000\nAllow 127.0.0.1\n"
                   f"LogFile \"{folder}/tinyproxy-{log_level}.log\"\nLogLevel {log_level}\n"
                   f"Filter \"{folder}/filter\"\nFilterDefaultDeny Yes\n")
    with open(os.path.join(folder, "filter"), "w") as file:
        file.write("^127\\.0\\.0\\.1$\n")
    return Program(["tinyproxy", "-d", "-c", path], port)


def start_squid(folder):
    port = free_port()
    os.chmod(folder, 0o777)
    path = os.path.join(folder, "squid.conf")
    with open(path, "w") as file:
        file.write(f"http_port 127.0.0.1:{port}\n"
                   f"acl named dstdomain 127.0.0.1\nhttp_access allow named\nhttp_access deny all\ncache deny all\n"
                   f"access_log none\n"
                   f"cache_log {folder}/squid.log\npid_filename none\ncoredump_dir {folder}\nshutdown_lifetime 0\n")
    return Program(["squid", "-N", "-f", path], port)


def status_kib(pid, key):
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith(key + ":"):
                return int(line.split()[1])
    return 0


def machine():
    model = ""
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1])
    return dict(cpus=os.cpu_count(), model=model, memory_kib=memory, kernel=platform.release(),
                load_before=os.getloadavg())


def version(command):
    try:
        text = subprocess.run(command, capture_output=True, text=True).stdout
        return text.splitlines()[0] if text else ""
    except OSError:
        return ""


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_rounds(rounds, contestants, proxies, measure):
    """{name: [values]} and {name: [processor seconds of the proxy]} of measure(port), interleaved. The processor
    time says what the load of the machine hides: other programs take turns from the contestants, not from it."""
    out = {name: [] for name in contestants}
    cpu = {name: [] for name in proxies}
    for _ in range(rounds):
        for name, port in contestants.items():
            before = cpu_seconds(proxies[name].pid) if name in proxies else 0
            out[name].append(measure(port))
            if name in proxies:
                cpu[name].append(cpu_seconds(proxies[name].pid) - before)
    return out, cpu


def startup_ms(build, rounds):
    """From the start of the program to its summary when it is told to end at once."""
    config = json.dumps(dict(run="b", allow=[], deny=[], upstream_proxy="",
                             bounds=dict(connections=10, head_timeout_ms=1, idle_timeout_ms=1, connect_timeout_ms=1,
                                         resolver_threads=1, log_bytes=1)))
    values = []
    for _ in range(rounds):
        memory = os.memfd_create("config")
        os.write(memory, config.encode())
        os.lseek(memory, 0, os.SEEK_SET)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        actions = [(os.POSIX_SPAWN_DUP2, memory, 3), (os.POSIX_SPAWN_DUP2, theirs.fileno(), 4)]
        null = os.open("/dev/null", os.O_WRONLY)
        read_end, write_end = os.pipe()
        actions = [(os.POSIX_SPAWN_DUP2, read_end, 0), (os.POSIX_SPAWN_DUP2, null, 1)] + actions
        os.close(write_end)  # the supervisor is gone before it starts
        begun = time.perf_counter()
        pid = os.posix_spawn(os.path.join(build, "cofferdam-egress"), ["cofferdam-egress"], {}, file_actions=actions)
        os.waitpid(pid, 0)
        values.append((time.perf_counter() - begun) * 1000)
        for fd in (memory, null, read_end):
            os.close(fd)
        ours.close()
        theirs.close()
    return statistics.median(values)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--idle", type=int, default=8000)
    parser.add_argument("--out", default=os.path.join(os.path.dirname(__file__), "results", "egress.json"))
    arguments = parser.parse_args()
    helper = os.path.join(arguments.build, "bench", "egress_bench")
    facts = machine()
    server = subprocess.Popen([helper, "serve"], stdout=subprocess.PIPE, text=True)
    target_port = int(server.stdout.readline())
    target = f"127.0.0.1:{target_port}"
    folder = tempfile.mkdtemp(prefix="egress-bench-")
    proxies = {"cofferdam-egress": Egress(arguments.build, target_port, folder)}
    if shutil.which("tinyproxy"):
        proxies["tinyproxy"] = start_tinyproxy(folder, "Info")
        proxies["tinyproxy, no record"] = start_tinyproxy(folder, "Critical")
    if shutil.which("squid"):
        proxies["squid"] = start_squid(folder)
    missing = [name for name in ("tinyproxy", "squid") if name not in proxies]
    ports = {name: proxy.port for name, proxy in proxies.items()}
    results = dict(machine=facts, rounds=arguments.rounds, missing=missing,
                   versions=dict(tinyproxy=version(["tinyproxy", "-v"]), squid=version(["squid", "-v"])))

    def run(*words):
        return subprocess.run([helper, *map(str, words)], capture_output=True, text=True, check=True).stdout.strip()

    def gib_per_second(port):
        return 1 / float(run("stream", port, target, GIB))

    before = status_kib(proxies["cofferdam-egress"].pid, "VmRSS")
    throughput, cpu = measure_rounds(arguments.rounds, {"direct": 0, **ports}, proxies, gib_per_second)
    after = status_kib(proxies["cofferdam-egress"].pid, "VmHWM")
    median = {name: statistics.median(values) for name, values in throughput.items()}
    rivals = [median[name] for name in RIVALS if name in median]
    results["tunnel_1gib"] = dict(
        unit="GiB/s", median=median, all=throughput,
        proxy_cpu_seconds_per_gib={name: statistics.median(values) for name, values in cpu.items()}, of_direct=median["cofferdam-egress"] / median["direct"],
        of_faster_proxy=median["cofferdam-egress"] / max(rivals) if rivals else None,
        proxy_rss_kib=dict(before=before, peak=after), bars=dict(of_direct=0.45, of_faster_proxy=1.5))

    # A tunnel to the server, and a refusal by rule. Client and server share the machine's processors with the proxy.
    bare = Bare(helper)
    for kind, goal, status in (("allowed", target, 200), ("refused", "denied.test:443", 403)):
        contestants = {**proxies, "bare": bare} if status == 200 else proxies
        ports = {name: proxy.port for name, proxy in contestants.items()}

        def per_second(port, goal=goal, status=status):
            return float(run("connects", port, goal, 2, 16, status))
        rate, cpu = measure_rounds(arguments.rounds, ports, contestants, per_second)
        median = {name: statistics.median(values) for name, values in rate.items()}
        results[f"decisions_{kind}_per_second"] = dict(
            median=median, all=rate,
            proxy_cpu_us_each={name: statistics.median(1e6 * used / (2 * per) for used, per in zip(cpu[name], rate[name]))
                               for name in ports},
            **{f"of {name}": median["cofferdam-egress"] / median[name] for name in RIVALS if name in median},
            bars={"of tinyproxy": 2})
    bare.stop()

    for name in RIVALS:
        if name in proxies:
            proxies.pop(name).stop()
    proxies.pop("cofferdam-egress").stop()
    proxy = Egress(arguments.build, target_port, folder)
    idle = subprocess.Popen([helper, "idle", str(proxy.port), target, str(arguments.idle)], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)
    standing = int(idle.stdout.readline())
    time.sleep(0.5)
    results["idle_tunnels"] = dict(
        asked=arguments.idle, standing=standing, rss_mb=status_kib(proxy.pid, "VmRSS") * 1024 / 1e6,
        peak_mb=status_kib(proxy.pid, "VmHWM") * 1024 / 1e6, descriptors=len(os.listdir(f"/proc/{proxy.pid}/fd")),
        bars=dict(rss_mb=60))
    idle.stdin.close()
    idle.wait()
    proxy.stop()
    results["startup_ms"] = startup_ms(arguments.build, 50)
    server.kill()
    shutil.rmtree(folder, ignore_errors=True)
    facts["load_after"] = os.getloadavg()
    os.makedirs(os.path.dirname(arguments.out), exist_ok=True)
    with open(arguments.out, "w") as file:
        json.dump(results, file, indent=2)
        file.write("\n")
    short = {key: value for key, value in results.items() if key not in ("machine",)}
    for value in short.values():
        if isinstance(value, dict):
            value.pop("all", None)
    json.dump(short, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
