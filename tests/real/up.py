#!/usr/bin/env python3
"""`drover up` as a program: clear errors, and kills at bad moments.

No VM and no network: the demo's own clients and the simulated rack. tests/real/up.py [SECONDS |
--short] With SECONDS only the cycle of a machine whose BMC needs that long for each request;
without, that cycle with 1 s, in parallel to everything else. --short leaves the slow BMC out, and
kills in one state instead of two. The time until it is ready is measured (up_ready_s in
build/bench.json), but not judged.
"""
import importlib.util
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fleet  # noqa: E402  (beside this file)
from testbed import pace  # noqa: E402

ROOT = fleet.ROOT
SPEC = importlib.util.spec_from_file_location("demo", ROOT / "examples/demo.py")
demo = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(demo)
DROVER = str(ROOT / "build/rel/drover")
SPEED, MACHINES = 10, 2
BMC_S = 1  # duration of a request to a slow BMC; each state takes some ten of them
QUIET_READY_S = 0.3


class Up:
    """One `drover up`, started again and again on the same folder."""

    def __init__(self, folder, machines=MACHINES):
        self.folder, self.machines = folder, machines
        self.port, self.process = demo.free_ports(), None

    def command(self, *more):
        return [DROVER, "up", "--data", self.folder, "--port", str(self.port), "--machines",
                str(self.machines), "--speed", str(SPEED), *more]

    def start(self, *more):
        self.process = subprocess.Popen(self.command(*more), stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            ready = re.match(r"drover is up after ([\d.]+) s", line)
            if ready:
                break
        else:
            raise AssertionError("drover up did not start")
        self.host = demo.Cluster(f"{self.folder}/host.conf")
        self.tenant = demo.Cluster(f"{self.folder}/team-a.conf")
        return float(ready.group(1))

    def end(self, signum):
        self.process.send_signal(signum)
        status = self.process.wait(pace.limit(20))
        self.process.stdout.close()
        return status

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()

    def tell(self):
        """Prints the end of its output, for the analysis of a failure."""
        log = pathlib.Path(self.folder, "drover.log")
        if log.exists():
            print("\n".join(log.read_text(errors="replace").splitlines()[-30:]), file=sys.stderr)

    def states(self):
        return {m["metadata"]["name"]: m.get("status", {}).get("state")
                for m in self.host.items(f"{demo.API}/machines")}

    def until(self, what, done, limit_s=60):
        def look():
            assert self.process.poll() is None, "drover up ended"
            return done()
        try:
            pace.wait_for(what, look, limit_s, 0.05)
        except TimeoutError as e:
            raise TimeoutError(f"{e}; machines: {self.states()}") from e

    def pod(self, name):
        return self.tenant.call("GET", f"{demo.PODS}/{name}") or {}

    def runs(self, name):
        return self.pod(name).get("status", {}).get("phase") == "Running"


def refused(command, *words):
    done = subprocess.run(command, capture_output=True, text=True, timeout=pace.limit(20), check=False)
    assert done.returncode == 1, (command, done)
    for word in words:
        assert word in done.stderr, (word, done.stderr)


def check_beginning(up):
    ready_s = up.start()
    pace.learn("drover up's start", ready_s, QUIET_READY_S)
    fleet.bench("up_ready_s", ready_s, "s", 2, "lower",
                ("a kube-apiserver with etcd, from nothing to ready", 3.7))
    for name in ("host.conf", "team-a.conf", "team-b.conf"):
        mode = os.stat(f"{up.folder}/{name}").st_mode & 0o777
        assert mode == 0o600, (name, oct(mode))
    refused(up.command(), up.folder, "another")
    up.until("all free", lambda: set(up.states().values()) == {"free"})
    shown = json.loads(subprocess.run(
        [DROVER, "status", "--kubeconfig", f"{up.folder}/host.conf", "-o", "json"], check=True,
        capture_output=True, timeout=pace.limit(20)).stdout)
    assert shown["source"] == "leader", shown
    assert shown["machines"]["byState"] == {"free": up.machines}, shown
    assert up.end(signal.SIGINT) == 0
    print("  a second one is refused; drover status reads the leader; Ctrl-C ends it", flush=True)


def check_ports(up):
    with socket.create_server(("127.0.0.1", up.port)):
        refused(up.command(), str(up.port))
    pathlib.Path(f"{up.folder}-file").write_text("no folder", encoding="utf-8")
    refused([DROVER, "up", "--data", f"{up.folder}-file", "--port", str(up.port)], f"{up.folder}-file")
    print("  a port in use and a file for a folder are named", flush=True)


def check_killed(up, state):
    """Kills it when a machine is in that state on the way to its pod; the next process must
    continue."""
    name = f"train-{state}"
    up.start()
    up.until("all free", lambda: set(up.states().values()) == {"free"})
    up.tenant.call("POST", demo.PODS, demo.gpu_pod(name))
    up.until(state, lambda: state in up.states().values())
    up.end(signal.SIGKILL)
    up.start()
    up.until(f"{name} Running", lambda: up.runs(name))
    up.until("serving", lambda: "serving" in up.states().values())
    node = up.pod(name)["spec"]["nodeName"]
    up.end(signal.SIGKILL)
    up.start()
    time.sleep(pace.limit(2))
    assert up.runs(name) and up.pod(name)["spec"]["nodeName"] == node, "a restart moved the pod"
    assert "serving" in up.states().values(), up.states()
    up.tenant.call("DELETE", f"{demo.PODS}/{name}")
    up.until("wiping", lambda: "wiping" in up.states().values())
    up.end(signal.SIGKILL)
    up.start()
    up.until("all free again", lambda: set(up.states().values()) == {"free"})
    assert up.end(signal.SIGTERM) == 0
    print(f"  killed while {state}, while serving and while wiping: it went on", flush=True)


def check_faults(up):
    faults = pathlib.Path(f"{up.folder}-faults")
    faults.write_text("faults:\n- {machine: gpu-1, when: Request, what: BmcStatus, value: 503}\n", encoding="utf-8")
    up.start("--faults", str(faults))

    def told():
        machine = up.host.call("GET", f"{demo.API}/machines/gpu-1") or {}
        return machine.get("status", {}).get("operation", {}).get("lastError", {}).get("reason", "").startswith("Bmc")

    up.until("the BMC of gpu-1 fails", told)
    assert up.end(signal.SIGINT) == 0
    print("  --faults reaches the rack", flush=True)


def begin_slow(folder, seconds):
    """Starts a separate rack whose BMC needs seconds for each request, and a pod that waits for its
    machine."""
    up = Up(f"{folder}/slow", machines=1)
    faults = pathlib.Path(f"{folder}/slow-faults")
    faults.write_text(f"faults:\n- {{machine: gpu-1, what: BmcSlow, value: {seconds}}}\n", encoding="utf-8")
    try:
        up.start("--faults", str(faults))
        up.tenant.call("POST", demo.PODS, demo.gpu_pod("slow"))
    except BaseException:
        up.kill()
        raise
    return up


def check_slow(up, seconds):
    """Checks the cycle from a new machine to serving, and back through the wipe, without a
    failure."""
    limit_s = 60 + 200 * seconds
    up.until("slow Running", lambda: up.runs("slow"), limit_s)
    up.until("serving", lambda: up.states() == {"gpu-1": "serving"}, limit_s)
    up.tenant.call("DELETE", f"{demo.PODS}/slow")
    up.until("wiping", lambda: up.states() == {"gpu-1": "wiping"}, limit_s)
    up.until("free", lambda: up.states() == {"gpu-1": "free"}, limit_s)
    status = up.host.call("GET", f"{demo.API}/machines/gpu-1")["status"]
    assert not status.get("failures") and status["tenancy"] == 2, status
    assert up.end(signal.SIGINT) == 0
    print(f"  a BMC that needs {seconds} s a request: its machine served, and is clean again", flush=True)


def check_records(up):
    up.start()
    records = [r["metadata"]["name"] for r in up.host.items(f"{demo.API}/wiperecords")]
    subprocess.run([DROVER, "wipe", "verify", "--kubeconfig", up.host.kubeconfig, *records], check=True,
                   stdout=subprocess.DEVNULL)
    for name, wanted in ((records[-1], 1), ("gpu-1", sum(r.startswith("gpu-1-") for r in records))):
        said = subprocess.run([DROVER, "wipe", "report", "--kubeconfig", up.host.kubeconfig, name], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        assert said.count("\nRecord ") == wanted, said
    assert up.end(signal.SIGINT) == 0
    print(f"  {len(records)} wipe records hold", flush=True)


def main():
    short = sys.argv[1:] == ["--short"]
    only_slow = len(sys.argv) > 1 and not short
    seconds = int(sys.argv[1]) if only_slow else BMC_S
    with tempfile.TemporaryDirectory(prefix="drover-up-") as folder:
        # The slow one reserves its ports before the other searches free ones.
        slow = None if short else begin_slow(folder, seconds)
        up = Up(f"{folder}/data")
        try:
            if not only_slow:
                check_beginning(up)
                check_ports(up)
                for state in ("booting",) if short else ("imaging", "booting"):
                    check_killed(up, state)
                check_records(up)
                check_faults(up)
            if slow:
                check_slow(slow, seconds)
        except BaseException:
            for each in filter(None, (up, slow)):
                each.tell()
            raise
        finally:
            for each in filter(None, (up, slow)):
                each.kill()
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
