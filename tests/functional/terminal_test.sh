# A command at a terminal: it gets a private one that behaves like the caller's.

# at_terminal SCRIPT: a Python program that drives `cofferdam run` behind a terminal of its own (pty_driver.py's names).
at_terminal() {
  need_python
  cat >"$scratch/driver.py" <<'PYTHON'
import fcntl, os, pty, re, select, signal, struct, sys, termios, time

class Terminal:
    """A child behind a pseudo-terminal."""
    def __init__(self, command, rows=24, columns=80):
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            time.sleep(0.1)  # until the size is set
            os.execvp(command[0], command)
        self.resize(rows, columns)
    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    def modes(self):
        return termios.tcgetattr(self.fd)
    def send(self, text):
        os.write(self.fd, text.encode())
    def expect(self, pattern, seconds=10):
        end = time.time() + seconds
        while True:
            found = re.search(pattern.encode(), self.seen)
            if found:
                self.seen = self.seen[found.end():]
                return found
            left = end - time.time()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                sys.exit("never saw %r, only %r" % (pattern, self.seen))
            try:
                got = os.read(self.fd, 65536)
            except OSError:
                got = b""
            if not got:
                sys.exit("never saw %r before the end, only %r" % (pattern, self.seen))
            self.seen += got
    def finish(self, seconds=10):
        end = time.time() + seconds
        while time.time() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            if select.select([self.fd], [], [], 0.02)[0]:
                try:
                    self.seen += os.read(self.fd, 65536)
                except OSError:
                    pass
        os.kill(self.pid, signal.SIGKILL)
        sys.exit("did not end; saw %r" % self.seen)

def run(*command, **more):
    return Terminal([os.environ["cofferdam"], "run", "--", *command], **more)
def check(condition, what):
    if not condition:
        sys.exit("not so: " + what)
PYTHON
  cat >>"$scratch/driver.py"
  export cofferdam
  expect 0 timeout 60 /usr/bin/python3 "$scratch/driver.py"
}

test_terminal_and_its_size() {
  at_terminal <<'PYTHON'
t = run("sh", "-c", "test -t 0 && test -t 1 && test -t 2 && tty && stty size; echo e$?", rows=33, columns=101)
t.expect(r"/dev/pts/\d+"); t.expect("33 101"); t.expect("e0")
check(t.finish() == 0, "exit 0")
PYTHON
}

test_terminal_follows_resize() {
  at_terminal <<'PYTHON'
t = run("bash", "-c", "trap 'stty size' WINCH; trap 'exit 130' INT; echo ready; while :; do sleep 0.1; done")
t.expect("ready"); t.resize(50, 132); t.expect("50 132")
t.send("\x03"); check(t.finish() == 130, "exit 130")
PYTHON
}

test_interrupt_from_the_keyboard() {
  at_terminal <<'PYTHON'
t = run("bash", "-c", "trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.1; done")
t.expect("ready"); t.send("\x03"); t.expect("caught")
check(t.finish() == 7, "exit 7")
t = run("sleep", "20"); time.sleep(0.7); t.send("\x03")
check(t.finish() == 130, "exit 130")
t = run("sleep", "20"); time.sleep(0.7); t.send("\x1c")
check(t.finish() == 131, "exit 131")
PYTHON
}

test_end_of_input_from_the_keyboard() {
  at_terminal <<'PYTHON'
t = run("cat"); time.sleep(0.5); t.send("hello\n"); t.expect("hello\r\nhello"); t.send("\x04")
check(t.finish() == 0, "exit 0")
PYTHON
}

test_raw_mode_and_no_echo() {
  at_terminal <<'PYTHON'
t = run("bash", "-c", "stty -echo; echo ask; read line; stty echo; echo got:$line; read -n1 key; echo; echo key:$key")
t.expect("ask"); t.send("secret\n")
found = t.expect("(?s)(.*)got:secret")
check(b"secret" not in found.group(1), "no echo")
t.send("k"); t.expect("key:k")
check(t.finish() == 0, "exit 0")
PYTHON
}

test_modes_are_restored() {
  at_terminal <<'PYTHON'
def modes_after(*command, how=None):
    t = Terminal(["bash", "-c", 'stty -ixon; stty -g; "$cofferdam" run -- "$@"; echo; stty -g; echo end', "bash", *command])
    before = t.expect(r"([0-9a-f:]{40,})\r\n").group(1)
    if how: how(t)
    after = t.expect(r"\n([0-9a-f:]{40,})\r\n").group(1)
    check(before == after, "modes %r -> %r" % (before, after))
    t.expect("end"); t.finish()
modes_after("sh", "-c", "stty raw -echo")
modes_after("sh", "-c", "stty raw -echo; kill -9 $$")
modes_after("no-such-program")
def interrupt(t): time.sleep(0.7); t.send("\x03")
modes_after("sleep", "20", how=interrupt)
PYTHON
}

test_modes_are_those_of_the_caller_inside() {
  at_terminal <<'PYTHON'
t = Terminal(["bash", "-c", 'stty -ixon erase ^H; stty -a | grep -o -e "-ixon" -e "erase = ^."; "$cofferdam" run -- stty -a'])
t.expect("erase = .H"); t.expect("erase = .H"); t.expect("-ixon")
check(t.finish() == 0, "exit 0")
PYTHON
}

test_stop_and_continue() {
  at_terminal <<'PYTHON'
t = Terminal(["bash", "--norc", "-i"])
t.send("PS1='pro''mpt> '\n"); t.expect("prompt> ")
t.send('"$cofferdam" run -- bash -c \'echo rea""dy; for i in $(seq 1 600); do sleep 0.05; echo -n .; done\'\n')
t.expect("ready"); time.sleep(0.3); t.send("\x1a"); t.expect("Stopped"); t.expect("prompt> ")
time.sleep(0.5)
while select.select([t.fd], [], [], 0.1)[0]: t.seen += os.read(t.fd, 65536)
quiet = len(t.seen); time.sleep(0.5)
check(not select.select([t.fd], [], [], 0.1)[0], "the command is stopped")
t.send("echo shell-wo\"\"rks\n"); t.expect("shell-works")
t.send("fg\n"); t.expect(r"\.\.\.\.")
t.send("\x03"); t.expect("prompt> ")
t.send("stty -a | tr ';' '\\n'; exit\n"); t.expect(" icanon"); t.finish()
PYTHON
}

test_stop_of_a_job_in_the_background() {
  at_terminal <<'PYTHON'
t = Terminal(["bash", "--norc", "-i"])
t.send("PS1='pro''mpt> '\n"); t.expect("prompt> ")
t.send("'$cofferdam' run -- sh -c 'sleep 0.5; echo done-in''side' &\n".replace("$cofferdam", os.environ["cofferdam"]))
t.expect("prompt> "); t.expect("done-inside"); time.sleep(1)
t.send("\n"); t.expect("Done")
t.send("exit\n"); t.finish()
PYTHON
}

test_stopped_job_goes_on_in_the_background_and_comes_back() {
  at_terminal <<'PYTHON'
t = Terminal(["bash", "--norc", "-i"])
t.send("PS1='pro''mpt> '\n"); t.expect("prompt> ")
t.send('"$cofferdam" run -- bash -c \'echo rea""dy; sleep 1; echo be""hind; read line; echo "got:$line"\'\n')
t.expect("ready"); time.sleep(0.2); t.send("\x1a"); t.expect("Stopped"); t.expect("prompt> ")
t.send("bg\n"); t.expect("behind")
t.send("echo shell-wo\"\"rks\n"); t.expect("shell-works")
t.send("fg\n"); time.sleep(0.6); t.send("typed\n"); t.expect("got:typed"); t.expect("prompt> ")
t.send("exit\n"); t.finish()
PYTHON
}

test_callers_terminal_is_not_open_inside() {
  at_terminal <<'PYTHON'
t = Terminal(["bash", "-c", 'tty; "$cofferdam" run -- sh -c "ls -l /proc/self/fd; ls /dev/pts; cat /proc/self/stat; echo end"'])
outer = t.expect(r"/dev/pts/(\d+)").group(1).decode()
inside = t.expect("(?s)(.*)end").group(1).decode()
check("/dev/pts/0" in inside, "a private terminal")
if outer != "0": check("/dev/pts/%s\r" % outer not in inside, "not the caller's")
t.finish()
PYTHON
}

test_redirected_output_is_no_terminal() {
  at_terminal <<'PYTHON'
t = Terminal(["bash", "-c", '"$cofferdam" run -- sh -c "test ! -t 1 && test -t 0 && test -t 2 && printf \'a\\nb\'" | od -c; echo end'])
t.expect(r"a\s+\\n\s+b"); t.expect("end"); t.finish()
PYTHON
}

test_shell_with_job_control_inside() {
  at_terminal <<'PYTHON'
t = run("bash", "--norc", "-i")
t.send("PS1='in''side> '\n"); t.expect("inside> ")
t.send("sleep 20\n"); time.sleep(0.4); t.send("\x1a"); t.expect("Stopped"); t.expect("inside> ")
t.send("fg\n"); t.expect("sleep 20"); time.sleep(0.2); t.send("\x03"); t.expect("inside> ")
t.send("exit 5\n"); check(t.finish() == 5, "exit 5")
PYTHON
}

test_much_output_at_a_terminal() {
  at_terminal <<'PYTHON'
t = run("sh", "-c", "seq 1 100000; echo last-line")
t.expect("99999\r\n100000\r\nlast-line", 30); check(t.finish() == 0, "exit 0")
PYTHON
}

test_terminal_that_goes_away() {
  at_terminal <<'PYTHON'
t = run("sh", "-c", "echo ready; sleep 31.4159")
t.expect("ready"); os.close(t.fd)
end = time.time() + 15
while time.time() < end:
    pid, status = os.waitpid(t.pid, os.WNOHANG)
    if pid: sys.exit(0)
    time.sleep(0.05)
os.kill(t.pid, signal.SIGKILL)
sys.exit("the run outlived its terminal")
PYTHON
}
