"""Processes of the test bed: each has a log and a pid file in its work folder, and is ended by its
own pid."""
import atexit
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import time

PORTS_FROM, PORTS_LEAST = 20000, 4000
RANGE = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")

_running = []
_given = set()  # ports that free_port() returned


def free_port():
    """Returns a free port, each one only once. It is below the ports that the kernel gives to
    connections, because one of these could take it before its server starts."""
    below = max(int(RANGE.read_text(encoding="utf-8").split()[0]), PORTS_FROM + PORTS_LEAST)
    while True:
        port = random.randrange(PORTS_FROM, below)
        with socket.socket() as s:
            try:
                s.bind(("", port))
            except OSError:
                continue
        if port not in _given:
            _given.add(port)
            return port


class Timer:
    """Prints how long each phase took."""

    def __init__(self):
        self.began = self.last = time.monotonic()
        self.phases = {}

    def phase(self, name):
        now = time.monotonic()
        self.phases[name] = now - self.last
        print(f"{now - self.began:7.1f} s  +{now - self.last:5.1f}  {name}", flush=True)
        self.last = now


class Process:
    """One daemon. stop() sends SIGTERM, later SIGKILL."""

    def __init__(self, name, folder, argv, env=None):
        self.name = name
        self.folder = pathlib.Path(folder)
        self.log = self.folder / f"{name}.log"
        self.pid_file = self.folder / f"{name}.pid"
        with open(self.log, "ab") as log:
            # A session of its own: Ctrl-C at the terminal reaches only the test, which then stops
            # its processes in order.
            self.popen = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL,
                                          stdout=log, stderr=log, env=env, cwd=self.folder,
                                          start_new_session=True)
        self.pid_file.write_text(f"{self.popen.pid} {_start_time(self.popen.pid)}\n")
        _running.append(self)

    @property
    def pid(self):
        return self.popen.pid

    def check(self):
        """Raises an error with the end of its log if it has died."""
        if self.popen.poll() is not None:
            tail = self.log.read_text(errors="replace").splitlines()[-15:]
            raise RuntimeError(f"{self.name} ended with {self.popen.returncode}, {self.log}:\n"
                               + "\n".join(tail))

    def rss_mb(self):
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) // 1024
        return 0

    def stop(self, grace_s=3):
        if self.popen.poll() is None:
            if grace_s:
                self.popen.terminate()
            try:
                self.popen.wait(grace_s)
            except subprocess.TimeoutExpired:
                self.popen.kill()
                self.popen.wait()
        self.pid_file.unlink(missing_ok=True)
        if self in _running:
            _running.remove(self)


def _start_time(pid):
    """Distinguishes a process from a later one with the same pid."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    except OSError:
        return "0"


def sweep(folder):
    """Ends processes left over by a killed run: those whose pid files are below folder."""
    for pid_file in pathlib.Path(folder).rglob("*.pid"):
        try:
            pid, began = pid_file.read_text().split()
        except (OSError, ValueError):
            continue
        if began != "0" and _start_time(pid) == began:
            os.kill(int(pid), signal.SIGKILL)
        pid_file.unlink(missing_ok=True)


def _stop_all():
    for process in reversed(_running[:]):
        process.stop()


atexit.register(_stop_all)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
