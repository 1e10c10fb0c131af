#!/usr/bin/env python3
"""Tests the output of examples/demo.py: on a pipe and, at the same time, on a terminal of 80 columns.

No VM and no network.  Nothing is timed: each wait has a limit of minutes, and each check covers all
output so far.  tests/real/demo_view.py
"""
import fcntl
import os
import pathlib
import pty
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from testbed import pace  # noqa: E402  (beside this file)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DEMO = str(ROOT / "examples/demo.py")
LIMIT_S = 420
COLUMNS, LINES = 80, 30
ROW = re.compile(r"\033\[2K(gpu-\d+) +\033\[(\d+)m(\w+) *\033\[0m")
BAR = re.compile(r"\[(#*) *\] +(\d+) %")
COLOURS = {"free": "32", "serving": "36", "quarantined": "31"}


class Terminal:
    """A program on its own pseudo-terminal, in its own session."""

    def __init__(self, *command):
        environ = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
        self.status, self.output, self.lock = None, b"", threading.Lock()
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
            # Restore the default, as in an interactive shell: tests run in the background ignore SIGINT.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.execve(command[0], command, {**environ, "TERM": "xterm"})
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        while True:
            try:
                some = os.read(self.master, 65536)
            except OSError:  # EIO: no process has the terminal open any more
                some = b""
            if not some:
                return
            with self.lock:
                self.output += some

    def text(self):
        with self.lock:
            return self.output.decode(errors="replace")

    def ended(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def wait_text(self, what):
        def shown():
            if what in self.text():
                return True
            assert not self.ended(), f"ended with {self.status} before: {what}"
            return False
        pace.wait_for(f"{what!r} to be shown", shown, LIMIT_S, 0.2)

    def interrupt(self):
        """Sends Ctrl-C: the terminal sends SIGINT to the foreground process group."""
        os.write(self.master, b"\x03")

    def wait(self):
        pace.wait_for("its end, after Ctrl-C", self.ended, LIMIT_S)
        self.reader.join(pace.limit(LIMIT_S))
        return self.status

    def close(self):
        if not self.ended():
            os.killpg(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.master)


def screen(text):
    """Returns all lines as they look at the end. Interprets only the escapes that the demo uses."""
    lines, row = [""], 0
    for part in re.split(r"(\033\[\d*[A-Za-z]|\r?\n)", text):
        if part.endswith("\n"):
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif part.endswith("A") and part.startswith("\033"):
            row -= int(part[2:-1])
            assert row >= 0, "the cursor left the screen"
        elif part == "\033[2K":
            lines[row] = ""
        elif not re.fullmatch(r"\033\[\d*m", part):
            assert "\033" not in part, f"an escape that is not known: {part[:20]!r}"
            lines[row] += part
    return lines


def on_a_pipe(out, terminal):
    """Checks the output on a pipe. Starts the demo on the terminal once this one has its ports."""
    env = {**os.environ, "TERM": "xterm"}  # so that only the pipe suppresses escapes
    with subprocess.Popen([DEMO], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=env) as piped:
        try:
            for line in piped.stdout:
                print(line, end="", flush=True)
                out.append(line)
                if "machines are off" in line:
                    terminal.append(Terminal(DEMO, "--keep"))
            assert piped.wait() == 0, f"exit status {piped.returncode}"
        except BaseException:
            piped.send_signal(signal.SIGINT)
            raise
    text = "".join(out)
    assert "\033" not in text, "escapes on a pipe"
    assert "The demo keeps running" not in text
    assert re.search(r"^ *[\d.]+ s  gpu-1 +free", text, re.M)
    assert re.search(r"event for team-b/more: NoCapacity: place \d+ in the queue: ", text)
    assert re.search(r"^demo: 4 pods of 2 tenants ran on 4 machines", text, re.M)


def check_rows(text):
    shown = ROW.findall(text)
    states = {state for _, _, state in shown}
    assert {name for name, _, _ in shown} == {f"gpu-{n}" for n in range(1, 5)}, shown[:8]
    assert states > set(COLOURS), f"states: {states}"
    for _, colour, state in shown:
        assert colour == COLOURS.get(state, "33"), (state, colour)
    assert re.search(r"\033\[[5-9]A", text) and text.count("\033[2K") > 50, "it is not drawn anew"
    bars = BAR.findall(text)
    assert bars, "no progress was shown"
    for hashes, percent in bars:
        assert abs(len(hashes) - int(percent) / 5) <= 1.1, (hashes, percent)
    assert re.search(r"team-b/more +Pending +NoCapacity: place \d+ in the queue: ", text), "no place was shown"
    assert re.search(r"team-b/more +Running +on ", text)
    starts = re.findall(r"'s node +\S+, expected (\S+)", text)
    assert starts and set(starts) <= {"in", "now"}, f"expected starts: {starts}"
    return len(states), len(bars), len(starts)


def check_screen(text):
    """Checks that each step of the demo leaves one table: earlier tables are overwritten."""
    lines = screen(text)
    heads = [n for n, line in enumerate(lines) if line.startswith("MACHINE  STATE")]
    steps = [line for line in lines if re.match(r"\d machines are off|All |team-[ab]'s ", line)]
    assert len(heads) == len(steps) == 5, (heads, steps)
    for head in heads:
        rows = [line.split()[0] for line in lines[head + 1:head + 5]]
        assert rows == [f"gpu-{n}" for n in range(1, 5)], lines[head:head + 6]
    wide = [line for head in heads for line in lines[head:head + 6] if len(line) > COLUMNS]
    assert not wide, f"wider than the terminal: {wide}"


def look_around(text):
    """Runs the commands that the demo prints, as a user would copy them. Returns the data directory."""
    commands = [shlex.split(line) for line in re.findall(r"^  (\S+ .*--kubeconfig .*?)\r?$", text, re.M)]
    programs = [pathlib.Path(c[0]).name for c in commands]
    assert programs == ["kubectl", "kubectl", "drover"], commands
    for command in commands:
        if command[0] == "kubectl" and not shutil.which("kubectl"):
            assert "kubectl is not installed" in text
            continue
        done = subprocess.run(command, capture_output=True, text=True, timeout=pace.limit(LIMIT_S), check=False)
        assert done.returncode == 0, (command, done)
        assert "gpu-1" in done.stdout or "team-b" in command[2], (command, done)
    return pathlib.Path(commands[-1][commands[-1].index("--kubeconfig") + 1]).parent


def on_a_terminal(terminal):
    terminal.wait_text("Ctrl-C stops the demo")
    text = terminal.text()
    states, bars, starts = check_rows(text)
    check_screen(text)
    assert "The demo keeps running" in text
    folder = look_around(text)
    assert folder.is_dir()
    terminal.interrupt()
    assert terminal.wait() == 0, f"Ctrl-C ended it with {terminal.status}"
    assert "\nstopped" in terminal.text()
    assert not folder.exists(), f"{folder} is still there"
    print(f"  on a terminal: {states} states, {bars} bars, {starts} expected starts were shown; what it "
          "prints to look around works; Ctrl-C ends it", flush=True)


def check_no_drover():
    with tempfile.TemporaryDirectory(prefix="drover-demo-view-") as folder:
        done = subprocess.run([DEMO, "--drover", "/bin/false", "--data", folder], capture_output=True,
                              text=True, timeout=pace.limit(LIMIT_S), check=False)
    assert done.returncode == 1, done
    assert "demo failed: drover up did not start" in done.stderr, done
    print("  a drover that does not start is its failure", flush=True)


def main():
    out, terminal = [], []
    try:
        check_no_drover()
        on_a_pipe(out, terminal)
        on_a_terminal(terminal[0])
    except BaseException:
        if terminal:
            print("--- on the terminal:\n" + "\n".join(screen(terminal[0].text())[-30:]), file=sys.stderr)
        raise
    finally:
        for t in terminal:
            t.close()
    print("3 passed, 0 failed")


if __name__ == "__main__":
    main()
