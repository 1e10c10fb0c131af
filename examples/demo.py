#!/usr/bin/env python3
"""Shows the lifecycle of machines on one computer: examples/demo.py [--keep]

Starts `drover up`: a host cluster, two tenants, a rack of simulated machines with Redfish BMCs, and
drover.  GPU pods of both tenants cause drover to provision machines.  When the pods end, the machines are
drained, switched off, isolated, wiped and verified.  One machine loses a drive meanwhile and is quarantined.
Needs only Python and the drover binary.
"""
import argparse
import base64
import calendar
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
API = "/apis/drover.dev/v1alpha1"
PODS = "/api/v1/namespaces/default/pods"
GPU = "nvidia.com/gpu"
COLOURS = {"free": 32, "serving": 36, "quarantined": 31}


class Cluster:
    """An API server; address and token come from a kubeconfig that `drover up` wrote."""

    def __init__(self, kubeconfig):
        text = pathlib.Path(kubeconfig).read_text(encoding="utf-8")
        self.kubeconfig = kubeconfig
        self.server, ca, self.token = (
            re.search(rf"\b{key}: (\S+)", text).group(1)
            for key in ("server", "certificate-authority-data", "token"))
        self.tls = ssl.create_default_context(cadata=base64.b64decode(ca).decode())

    def call(self, method, path, body=None):
        """Returns the server's answer; None: the object does not exist."""
        request = urllib.request.Request(
            self.server + path, method=method,
            data=json.dumps(body).encode() if body is not None else None,
            headers={"Authorization": f"Bearer {self.token}",
                     "Content-Type": f"application/{'merge-patch+' if method == 'PATCH' else ''}json"})
        try:
            with urllib.request.urlopen(request, timeout=10, context=self.tls) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise RuntimeError(f"{method} {path}: {error.read().decode(errors='replace')}") from error

    def items(self, path):
        return (self.call("GET", path) or {}).get("items", [])


def gpu_pod(name, gpus=8):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
        "terminationGracePeriodSeconds": 1,
        "tolerations": [{"key": GPU, "operator": "Exists"}],
        "containers": [{"name": "main", "image": "train:1", "resources": {"limits": {GPU: str(gpus)}}}]}}


class View:
    """On a terminal: a table of machines with the pods below.  Otherwise one line for each change."""

    def __init__(self, out=sys.stdout):
        self.out = out
        self.live = out.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.began = time.monotonic()
        self.state, self.since, self.seen = {}, {}, {}
        self.rows = 0

    def note(self, machines):
        """Records changed states and the time of the change."""
        now = time.monotonic()
        for m in machines:
            name, state = m["metadata"]["name"], m.get("status", {}).get("state", "new")
            if self.state.get(name) == state:
                continue
            self.state[name], self.since[name] = state, now
            self.seen.setdefault(name, []).append(state)
            if not self.live:
                print(f"{now - self.began:6.1f} s  {name:8} {state:12} {tenant(m)}",
                      file=self.out, flush=True)

    def show(self, machines, pods):
        self.note(machines)
        if not self.live:
            return
        now = time.monotonic()
        lines = [f"\033[1m{'MACHINE':9}{'STATE':13}{'FOR':>5}  {'TENANT':8}DOING\033[0m"]
        for m in machines:
            name = m["metadata"]["name"]
            state = self.state[name]
            lines.append(f"{name:9}\033[{COLOURS.get(state, 33)}m{state:13}\033[0m"
                         f"{now - self.since[name]:4.0f}s  {tenant(m):8}{doing(m)}")
        lines += pods
        lines.append(f"{now - self.began:4.0f} s")
        if self.rows > len(lines):
            lines += [""] * (self.rows - len(lines))
        if self.rows:
            self.out.write(f"\033[{self.rows}A")
        columns = shutil.get_terminal_size().columns
        self.out.write("".join(f"\033[2K{cut(line, columns)}\n" for line in lines))
        self.out.flush()
        self.rows = len(lines)

    def say(self, text):
        """Prints text below the table; the next table is drawn below the text."""
        self.rows = 0
        print(f"\n{text}", file=self.out, flush=True)


def cut(line, columns):
    """Truncates line to columns, since a wrapped line could not be overwritten.  Escapes have no width."""
    parts = []
    for part in re.split(r"(\033\[\d+m)", line):
        if not part.startswith("\033"):
            part = part[:columns]
            columns -= len(part)
        parts.append(part)
    return "".join(parts)


def tenant(machine):
    return (machine.get("status", {}).get("tenant") or {}).get("name", "")


def doing(machine):
    """Returns the step of the operation, and the agent's progress."""
    operation = machine.get("status", {}).get("operation") or {}
    progress = operation.get("progress") or {}
    total = progress.get("totalBytes", 0)
    if not progress:
        return operation.get("step") or ""
    if not total:
        return progress.get("phase", "")
    part = progress.get("doneBytes", 0) / total
    return f"{progress.get('phase', ''):10} [{'#' * int(20 * part):20}] {100 * part:3.0f} %"


def seconds_to(text):
    left = calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ")) - time.time()
    return f"in {left:.0f} s" if left >= 1 else "now"


class Demo:
    def __init__(self, args, folder):
        self.args, self.folder, self.view = args, folder, View()
        self.process = self.host = None
        self.tenants = {}
        self.told = set()

    def start(self):
        self.process = subprocess.Popen(
            [self.args.drover, "up", "--data", self.folder, "--machines", str(self.args.machines),
             "--speed", str(self.args.speed), "--port", str(free_ports())],
            stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if line.startswith("drover is up"):
                break
        else:
            raise RuntimeError("drover up did not start")
        self.host = Cluster(f"{self.folder}/host.conf")
        self.tenants = {t: Cluster(f"{self.folder}/{t}.conf") for t in ("team-a", "team-b")}

    def stop(self):
        if not self.process:
            return
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    # -- observation

    def machines(self):
        return sorted(self.host.items(f"{API}/machines"),
                      key=lambda m: int(re.sub(r"\D", "", m["metadata"]["name"]) or 0))

    def pod_lines(self):
        """Returns a line for each pod: its node, or drover's event with place, expected start or reason."""
        lines = []
        for claim in self.host.items(f"{API}/nodeclaims") if self.view.live else []:
            start = (claim.get("status", {}).get("eta") or {}).get("p50")
            if start:
                what = f"{claim['spec']['virtualClusterRef']['name']}'s node"
                lines.append(f"  {what:16}{'':10}{claim['metadata']['name']}, expected {seconds_to(start)}")
        for name, cluster in self.tenants.items():
            pods = cluster.items(PODS)
            told = {e["involvedObject"]["name"]: e
                    for e in cluster.items("/api/v1/namespaces/default/events")
                    if e["involvedObject"]["kind"] == "Pod"} if pods else {}
            for pod in pods:
                what = f"{name}/{pod['metadata']['name']}"
                phase = pod.get("status", {}).get("phase", "Pending")
                node = pod["spec"].get("nodeName")
                event = told.get(pod["metadata"]["name"])
                text = f"on {node}" if node else f"{event['reason']}: {event['message']}" if event else ""
                lines.append(f"  {what:16}{phase:10}{text}")
                if not node and event and not self.view.live and (what, text) not in self.told:
                    self.told.add((what, text))
                    print(f"{time.monotonic() - self.view.began:6.1f} s  event for {what}: {text}",
                          flush=True)
        return lines

    def until(self, what, done, limit_s=90):
        """Shows machines and pods until done() returns a true value, and returns that value."""
        began = time.monotonic()
        while True:
            if self.process.poll() is not None:
                raise RuntimeError("drover up ended unexpectedly")
            machines = self.machines()
            self.view.show(machines, self.pod_lines())
            got = done(machines)
            if got:
                return got
            if time.monotonic() - began > limit_s:
                raise RuntimeError(f"no success within {limit_s} s: {what}")
            time.sleep(0.2)

    def run(self, *args):
        return subprocess.run([self.args.drover, *args, "--kubeconfig", self.host.kubeconfig],
                              capture_output=True, text=True, check=False)

    # -- the steps of the demo

    def circle(self):
        n = self.args.machines
        self.view.say(f"{n} machines are off. drover knows only their BMCs: it boots its agent on each, "
                      "inspects, wipes and verifies them.")
        self.until("all machines free", lambda ms: all_in(ms, "free") and len(ms) == n)
        self.view.say("All machines are free and off. Now both tenants create GPU pods that need whole machines.")
        wanted = [("team-a" if i % 2 else "team-b", f"train-{i + 1}") for i in range(n)]
        began = time.monotonic()
        for name, pod in wanted:
            self.tenants[name].call("POST", PODS, gpu_pod(pod))
        self.until("all pods running", lambda _: self.running(wanted))
        took = time.monotonic() - began
        self.view.say(f"All {n} pods run, after {took:.0f} s. team-b wants one more machine, but none is free; an "
                      "event on its pod gives the reason.")
        self.tenants["team-b"].call("POST", PODS, gpu_pod("more"))
        self.until("team-b/more has an event", lambda _: self.told_of("team-b", "more"), 30)
        self.view.say("team-a's pods end. Its machines are drained, switched off, isolated and wiped; one loses "
                      "a drive meanwhile, another serves team-b next.")
        self.end_work(wanted, "team-a")
        broken = self.until("a machine is wiped", lambda ms: first_in(ms, "wiping"))
        self.pull_drive(broken)
        self.until("team-b/more on a machine that was team-a's",
                   lambda ms: self.running([("team-b", "more")]) and in_state(ms, broken, "quarantined"))
        self.view.say("team-b's first pods end as well.")
        self.end_work(wanted, "team-b")
        self.until("all at rest again", lambda ms: self.at_rest(ms, broken))
        return wanted, took, broken

    def end_work(self, wanted, tenant_name):
        for name, pod in wanted:
            if name == tenant_name:
                self.tenants[name].call("DELETE", f"{PODS}/{pod}")

    def running(self, wanted):
        phase = {(t, p["metadata"]["name"]): p.get("status", {}).get("phase")
                 for t, c in self.tenants.items() for p in c.items(PODS)}
        return all(phase.get(w) == "Running" for w in wanted)

    def told_of(self, tenant_name, pod):
        return next((e["message"] for e in self.tenants[tenant_name].items(
            "/api/v1/namespaces/default/events") if e["involvedObject"]["name"] == pod), None)

    def at_rest(self, machines, broken):
        """True if all machines are free, except the broken one and the one that serves team-b/more."""
        state = {m["metadata"]["name"]: m.get("status", {}).get("state") for m in machines}
        return (state.pop(broken) == "quarantined" and self.running([("team-b", "more")])
                and sorted(state.values()) == ["free"] * (len(state) - 1) + ["serving"])

    def pull_drive(self, machine):
        """Removes a drive, as an operator would at the rack."""
        rack = Cluster(self.host.kubeconfig)
        rack.server = re.sub(r"\d+$", lambda p: str(int(p.group()) + 7), rack.server)
        rack.call("POST", f"/sim/machines/{machine}/pull-drive", {"drive": 1})

    def verdict(self, wanted, took, broken):
        records = sorted(r["metadata"]["name"] for r in self.host.items(f"{API}/wiperecords"))
        self.view.say("Verification of all wipe records:")
        checked = self.run("wipe", "verify", *records)
        print(checked.stdout + checked.stderr, end="")
        print(f"\n$ drover why {broken}")
        why = self.run("why", broken)
        print(why.stdout + why.stderr, end="")
        reason = self.host.call("GET", f"{API}/machines/{broken}")["status"]["quarantine"]["reason"]
        if checked.returncode or why.returncode or f" {reason}: " not in why.stdout:
            raise RuntimeError("drover wipe verify or drover why did not give the expected result")
        print(f"\ndemo: {len(wanted)} pods of 2 tenants ran on {self.args.machines} machines within "
              f"{took:.0f} s. Then {self.args.machines - 2} machines were wiped, proved clean and are free. One machine "
              f"was wiped between team-a and team-b and serves team-b/more. {broken} lost a drive and is quarantined. "
              f"{len(records)} wipe records are valid. Total time: {time.monotonic() - self.view.began:.0f} s.")

    def stay(self):
        """Waits for Ctrl-C, or for the end of `drover up`."""
        print("\nThe demo keeps running. Look around in another terminal:\n"
              f"  kubectl --kubeconfig {self.folder}/host.conf get machines,nodeclaims,wiperecords\n"
              f"  kubectl --kubeconfig {self.folder}/team-b.conf get nodes,pods,events\n"
              f"  {self.args.drover} why --kubeconfig {self.folder}/host.conf gpu-1")
        if not shutil.which("kubectl"):
            print("kubectl is not installed; any version will do: apt-get install kubernetes-client")
        print("Ctrl-C stops the demo" + (f"; its data stays in {self.folder}." if self.args.data
                                         else " and removes its data."), flush=True)
        self.process.wait()


def all_in(machines, state):
    return all(m.get("status", {}).get("state") == state for m in machines)


def in_state(machines, name, state):
    return any(m["metadata"]["name"] == name and m["status"]["state"] == state for m in machines)


def first_in(machines, state):
    return next((m["metadata"]["name"] for m in machines
                 if m.get("status", {}).get("state") == state), None)


def free_ports():
    """Returns the first of ten consecutive free ports, so that several demos can run at once."""
    for first in range(18450, 28000, 10):
        probes = []
        try:
            for port in range(first, first + 10):
                probes.append(socket.create_server(("127.0.0.1", port)))
            return first
        except OSError:
            continue
        finally:
            for probe in probes:
                probe.close()
    raise RuntimeError("there are no ten consecutive free ports")


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--drover", default=str(ROOT / "build/rel/drover"))
    args.add_argument("--data", help="folder for all data (a temporary folder)")
    args.add_argument("--machines", type=int, default=4)
    args.add_argument("--speed", type=int, default=2)
    args.add_argument("--keep", action="store_true", help="keep it running at the end")
    args = args.parse_args()
    folder = args.data or tempfile.mkdtemp(prefix="drover-demo-")
    demo = Demo(args, folder)
    try:
        demo.start()
        demo.verdict(*demo.circle())
        if args.keep:
            demo.stay()
    except KeyboardInterrupt:
        print("\nstopped", flush=True)
    except (RuntimeError, OSError) as error:
        print(f"\ndemo failed: {error}\nThe log: {folder}/drover.log", file=sys.stderr)
        return 1
    finally:
        demo.stop()
    if not args.data:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
