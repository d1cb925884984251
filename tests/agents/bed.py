"""The world around one run of an agent: a workspace, a home, a canary, a stand-in model, a host that is not allowed.

`enter_namespaces` gives the run a machine of its own to look at (mounts, network, processes), so that it can use
fixed names and ports, change nothing on this machine, and show that nothing is left behind.
"""

import ctypes
import fcntl
import http.server
import json
import os
import secrets
import shlex
import signal
import socket
import struct
import subprocess
import sys
import time

import model_api
from agents import AGENTS, PROMPT, Place

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL_PORT = 18080
MODEL_TLS_PORT = 18443
REFUSED_PORT = 19090
MODEL_NAME = "model.test"
REFUSED_NAME = "refused.test"
REFUSED_ANSWER = "the-refused-host-answered"
AGENT_UID = 31415
RUN_SECONDS = 90  # an agent that cannot reach its model hangs for minutes
STOP_SECONDS = 15


class Skip(Exception):
    """This machine cannot do it; the message says why."""


def default_packages():
    """Where scripts/dev/agents.sh installs the agents."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(os.environ.get("COFFERDAM_CACHE") or f"{cache}/cofferdam", "agents")


# ---- A machine of its own ----

CLONE_NEWNS = 0x20000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
_libc = ctypes.CDLL(None, use_errno=True)


def mount(source, target, kind=None, flags=0, data=None):
    encode = lambda text: None if text is None else text.encode()  # noqa: E731
    if _libc.mount(encode(source), encode(target), encode(kind), ctypes.c_ulong(flags), encode(data)) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"mount {target}: {os.strerror(error)}")


def enter_namespaces():
    """Runs this script again as the first process of new mount, network and process namespaces. Needs root."""
    if os.environ.get("COFFERDAM_AGENTS_INSIDE") == "1":
        return
    if os.geteuid() != 0:
        raise Skip("needs root, to make the namespaces in which the test bed lives")
    os.environ["COFFERDAM_AGENTS_INSIDE"] = "1"
    unshare = ["unshare", "--mount", "--propagation", "private", "--net", "--ipc", "--pid", "--fork", "--kill-child",
               "--mount-proc", sys.executable, *sys.argv]  # fmt: skip
    os.execvp("unshare", unshare)


def furnish(packages, programs):
    """Inside: loopback up; the packages, programs and this folder under /mnt; names, one more user, fresh /home, /tmp."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, 0x8914, struct.pack("16sh14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
    outside = {"agents": packages, "programs": programs, "bed": HERE}
    descriptors = {name: os.open(path, os.O_PATH | os.O_DIRECTORY) for name, path in outside.items() if path}
    mount("tmpfs", "/mnt", "tmpfs", 0, "mode=755")
    for name, descriptor in descriptors.items():
        os.mkdir(f"/mnt/{name}")
        mount(f"/proc/self/fd/{descriptor}", f"/mnt/{name}", flags=MS_BIND | MS_REC)
        os.close(descriptor)
    additions = {
        "/etc/passwd": f"agent:x:{AGENT_UID}:{AGENT_UID}::/home/agent:/bin/bash\n",
        "/etc/group": f"agent:x:{AGENT_UID}:\n",
        "/etc/hosts": f"127.0.0.1 {MODEL_NAME} {REFUSED_NAME}\n",
    }
    for path, addition in additions.items():
        own = f"/mnt/{os.path.basename(path)}"
        with open(path, encoding="utf-8") as original, open(own, "w", encoding="utf-8") as copy:
            copy.write(original.read().rstrip("\n") + "\n" + addition)
        mount(own, path, flags=MS_BIND)
    mount("tmpfs", "/home", "tmpfs", 0, "mode=755")
    mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777")


def private_authority(folder):
    """A CA and a certificate for MODEL_NAME. Returns the paths of the CA, the certificate and its key."""
    os.makedirs(folder, exist_ok=True)
    ca, ca_key, certificate, key = (f"{folder}/{name}" for name in ("ca.crt", "ca.key", "model.crt", "model.key"))
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    calls = [
        [*new, "-subj", "/CN=Stand-in authority", "-keyout", ca_key, "-out", ca],
        [*new, "-subj", f"/CN={MODEL_NAME}", "-addext", f"subjectAltName=DNS:{MODEL_NAME}", "-addext",
         "basicConstraints=critical,CA:FALSE", "-CA", ca, "-CAkey", ca_key, "-keyout", key,
         "-out", certificate],
    ]  # fmt: skip
    for call in calls:
        subprocess.run(call, check=True, capture_output=True)
    os.chmod(ca, 0o644)
    return ca, certificate, key


class RefusedHandler(http.server.BaseHTTPRequestHandler):
    """The host that no rule allows. It answers whoever reaches it."""

    hits = 0

    def do_GET(self):
        type(self).hits += 1
        self.send_response(200)
        self.send_header("Content-Length", str(len(REFUSED_ANSWER)))
        self.end_headers()
        self.wfile.write(REFUSED_ANSWER.encode())

    def log_message(self, *_):
        pass


# ---- One run ----


class Scene:
    """A home with an agent's settings, a Git workspace in it, a canary beside it, and the script of the model."""

    def __init__(self, root, agent_name, packages, model_url, refused_url, owner=None, fresh=False):
        self.agent = AGENTS[agent_name]
        self.home = f"{root}/agent"
        self.workspace = f"{self.home}/project"
        self.canary_path = f"{self.home}/secrets/canary.txt"
        self.canary = f"canary-{secrets.token_hex(12)}"
        self.place = Place(packages=packages, model=model_url)
        self.planted = [f"{self.home}/{self.agent.orders}", f"{self.workspace}/.git/hooks/post-commit"]
        orders, hook = f"~/{self.agent.orders}", ".git/hooks/post-commit"
        plant = f"mkdir -p {os.path.dirname(orders)}; echo planted >{orders}; echo planted >{hook}"
        self.scenario = {
            "steps": [
                "sh build.sh && sed -i s/draft/final/ notes.txt && cat notes.txt 2>/dev/null && "
                "git add -A && git commit -q -m 'By the agent'",
                f"cat {shlex.quote(self.canary_path)}",
                f"curl -sS -m 20 -w '\\nhttp-status=%{{http_code}}\\n' {refused_url}",
                f"{plant}; echo tried",
            ],
            "final": "The job is done.",
        }
        self.settings = {} if fresh else self.agent.files(self.place)
        files = {
            "secrets/canary.txt": self.canary + "\n",
            "project/build.sh": "set -eu\nmkdir -p out\ncat src/*.txt >out/product.txt\n"
            "grep -q second out/product.txt\necho build-succeeded\n",
            "project/src/1.txt": "first\n",
            "project/src/2.txt": "second\n",
            "project/notes.txt": "Status: draft\n",
            **self.settings,
        }
        for name, content in files.items():
            path = f"{self.home}/{name}"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
        if not fresh:
            os.makedirs(f"{self.home}/{self.agent.sessions}", exist_ok=True)
        git = ["git", "-C", self.workspace, "-c", "init.defaultBranch=main"]
        for call in (["init", "-q"], ["config", "user.name", "Agent"], ["config", "user.email", "agent@example.com"],
                     ["add", "-A"], ["commit", "-q", "-m", "Start"]):  # fmt: skip
            subprocess.run(git + call, check=True, env={"PATH": os.environ["PATH"], "HOME": self.home})
        if owner is not None:
            for folder, folders, names in os.walk(self.home):
                for path in [folder, *(f"{folder}/{name}" for name in folders + names)]:
                    os.chown(path, owner, owner, follow_symlinks=False)

    def be_slow(self):
        """Replaces the script by one long step. Returns the file that exists once the step is under way."""
        started = f"{self.workspace}/started"
        sleep = "import time; open('started', 'w').close(); time.sleep(300)"
        self.scenario["steps"] = [f'setsid --wait python3 -c "{sleep}"']
        return started

    def environment(self, confined, ca=None):
        """The whole environment of the process that is started."""
        environment = {
            "HOME": self.home,
            "USER": "agent",
            "LOGNAME": "agent",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "PATH": f"{self.place.names}:/usr/local/bin:/usr/bin:/bin",
        }
        environment |= self.agent.variables(self.place)
        if ca:
            environment |= {"NODE_EXTRA_CA_CERTS": ca, "SSL_CERT_FILE": ca}
        return environment if confined else environment | self.agent.profiled

    def command(self):
        return self.agent.command(self.place)

    def through_client(self, command, folder=HERE):
        """`command` (an ACP adapter, confined or not) started by the ACP client in `folder`."""
        sdk = f"{self.place.modules}/@agentclientprotocol/sdk/dist/v1/stable/acp.js"
        client = [self.place.node, f"{folder}/acp_client.mjs"]
        return [*client, sdk, self.workspace, PROMPT, *command]

    def confined(self, program, command, flags):
        """`command` under `cofferdam run`, as its user would write it."""
        return [program, "run", "--profile", self.agent.profile, *flags, "--", *command]


class Finished:
    """What a process left: its output, its time, and whether it had to be stopped."""

    def __init__(self, stdout, stderr, seconds, status, timed_out):
        self.stdout, self.stderr = stdout, stderr
        self.seconds, self.status, self.timed_out = seconds, status, timed_out


def run(command, cwd, environment, folder, uid=None, seconds=RUN_SECONDS, stop_at=None):
    """Runs with stdin closed and output to files (a stray child that holds a pipe must not hold us). Sends SIGTERM
    once the file `stop_at` exists."""
    started = time.monotonic()
    names = [f"{folder}/stdout", f"{folder}/stderr"]
    with open(names[0], "wb") as stdout, open(names[1], "wb") as stderr:
        child = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            **({} if uid is None else {"user": uid, "group": uid, "extra_groups": []}),
        )
        timed_out = False
        try:
            if stop_at:
                while child.poll() is None and not os.path.exists(stop_at) and time.monotonic() < started + seconds:
                    time.sleep(0.05)
                child.terminate()
                seconds = STOP_SECONDS
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            timed_out = True
            os.killpg(child.pid, signal.SIGTERM)
            try:
                child.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
    texts = []
    for name in names:
        with open(name, encoding="utf-8", errors="replace") as file:
            texts.append(file.read())
    return Finished(*texts, time.monotonic() - started, child.returncode, timed_out)


def start_model(scene, log_path, tls=None):
    """The stand-in on http, and on TLS too with `tls` = (certificate, key). Returns its log."""
    log = model_api.Log(log_path)
    model_api.serve(scene.scenario, log, watched=[scene.canary], port=MODEL_PORT)
    if tls:
        context = model_api.tls_context(*tls)
        model_api.serve(scene.scenario, log, watched=[scene.canary], port=MODEL_TLS_PORT, tls=context)
    return log


def tool_results(log):
    """The results of the script's steps as the agent reported them: those of its last request of the tool loop."""
    return max((entry.get("results", []) for entry in log.entries if entry.get("tools")), key=len, default=[])


def decisions(text):
    """The decisions in the output of `cofferdam audit`."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def other_processes():
    """(pid, command line) of every process but this one and its threads; the first process reaps what ended."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                break
        except ChildProcessError:
            break
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    found.append((int(name), file.read().replace(b"\0", b" ").decode(errors="replace")[:200]))
            except OSError:
                pass
    return found
