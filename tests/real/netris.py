#!/usr/bin/env python3
"""`drover sim netris` and `drover network check` as programs: TLS, Secrets, exit status, and ports
that really move.

No VM. The API server is drover's own, kubectl that of parts/build. Namespaces stand for the
machines, and bridges for the switches behind the controller, moved by
examples/exec-fabric/bridge-move. A tenant's machine reaches its own tenant and not the other one,
in quarantine only the agent endpoint, and without a cluster nothing. A switch that reports moves
falsely moves nothing. Nothing is timed: each wait has a limit of minutes. tests/real/netris.py
"""
import contextlib
import json
import os
import pathlib
import ssl
import subprocess
import sys
import tempfile
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import testbed  # noqa: E402  (beside this file)
from testbed import pace  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DROVER = ROOT / "build/rel/drover"
LIMIT_S = 120
BRIDGES = {"quarantine": "br-q", "provisioning": "br-p", "drover-team-a": "br-a", "drover-team-b": "br-b", "none": "br-n"}
PROVIDER = """
apiVersion: drover.dev/v1alpha1
kind: Provider
metadata: {name: hall-a}
spec:
  type: redfish
  agent: {endpoint: "https://10.1.0.5:8443"}
  network:
"""
MACHINE = """
---
apiVersion: drover.dev/v1alpha1
kind: Machine
metadata: {name: %s}
spec: {providerRef: {name: hall-a}, instanceType: a, bmc: {address: "https://10.0.8.17", tls: {trustOnFirstUse: true}}}
"""


class Bed:
    def __init__(self, folder, stack):
        self.folder, self.stack, self.n = pathlib.Path(folder), stack, 0
        self.env = {**os.environ, "KUBECONFIG": f"{folder}/api/admin.conf",
                    "PATH": f"{testbed.parts.paths()['kube']}:{os.environ['PATH']}"}

    def start(self, ready, *args):
        """Starts a drover program that runs until the end; ready: text in its output, or a file
        that it writes."""
        self.n += 1
        log = self.folder / f"{self.n}.log"
        with open(log, "w", encoding="utf-8") as f:
            child = subprocess.Popen([DROVER, *args], env=self.env, stdout=f, stderr=f)
        self.stack.callback(lambda: (child.terminate(), child.wait(30)))
        pace.wait_for(args[0], lambda: ready in log.read_text(encoding="utf-8") or pathlib.Path(ready).exists(), LIMIT_S, 0.2)
        return log

    def kubectl(self, *args, stdin=None):
        done = subprocess.run(["kubectl", *args], env=self.env, input=stdin, capture_output=True, text=True,
                              timeout=pace.limit(LIMIT_S), check=False)
        if done.returncode:
            raise AssertionError(f"kubectl {args}: {done.stderr}")

    def check(self, *args):
        """Returns (exit status, findings) of drover network check."""
        done = subprocess.run([DROVER, "network", "check", "hall-a", "-o", "json", *args], env=self.env,
                              capture_output=True, text=True, timeout=pace.limit(LIMIT_S), check=False)
        if not done.stdout:
            raise AssertionError(done.stderr)
        return done.returncode, json.loads(done.stdout)["hall-a"]

    def get(self, url):
        tls = ssl.create_default_context(cafile=self.folder / "netris/ca.crt")
        with urllib.request.urlopen(url, context=tls, timeout=30) as reply:
            return json.load(reply)

    def post(self, url, body):
        tls = ssl.create_default_context(cafile=self.folder / "netris/ca.crt")
        request = urllib.request.Request(url, data=json.dumps(body).encode())
        urllib.request.urlopen(request, context=tls, timeout=30).close()


def wrong(findings):
    return [f"{f['of']}: {f['says']}" for f in findings if f["result"] == "wrong"]


def objects(bed, network, url):
    bed.kubectl("apply", "-f", "-", stdin=subprocess.run([DROVER, "crds"], capture_output=True, text=True, check=True).stdout)
    bed.kubectl("create", "namespace", "drover-system")
    bed.kubectl("create", "secret", "generic", "netris", "-n", "drover-system", "--from-literal=username=drover",
                f"--from-file=password={bed.folder}/netris/password", f"--from-literal=endpoint={url}")
    bed.kubectl("create", "secret", "generic", "netris-ca", "-n", "drover-system",
                f"--from-file=ca.crt={bed.folder}/netris/ca.crt")
    text = PROVIDER + "".join(f"    {line}\n" for line in network.splitlines())
    pace.wait_for("the kinds", lambda: bed.kubectl("apply", "-f", "-", stdin=text + "".join(
        MACHINE % name for name in ("gpu-1", "gpu-2"))) is None, LIMIT_S, 1)


def run(folder, stack):
    bed = Bed(folder, stack)
    bed.start(f"{folder}/api/admin.conf", "apiserver", "--data", f"{folder}/api", "--listen", "127.0.0.1:0")
    log = bed.start("/sim/servers", "sim", "netris", "--data", f"{folder}/netris", "--listen", "127.0.0.1:0", "--beat-ms", "300",
                    "--begin-in", "provisioning", "--loose")
    url = log.read_text(encoding="utf-8").splitlines()[0].split(" on ")[1]
    objects(bed, (bed.folder / "netris/network.yaml").read_text(encoding="utf-8"), url)

    status, findings = bed.check()
    assert status == 0 and not wrong(findings), wrong(findings)
    assert {"machine gpu-1", "machine gpu-2", "switch leaf-1", "login"} <= {f["of"] for f in findings}, findings
    print("a good installation: nothing wrong")

    stuck = {"state": "isolating", "operation": {"id": "o-1", "step": "place quarantine", "attempt": 11, "waitingFor": "Device"}}
    bed.kubectl("patch", "machine", "gpu-2", "--subresource", "status", "--type", "merge", "-p", json.dumps({"status": stuck}))
    status, findings = bed.check()
    waits = [f["machine"] for f in findings if f["result"] == "waits"]
    assert status == 1 and waits == ["gpu-2"] and not wrong(findings), findings
    bed.kubectl("patch", "machine", "gpu-2", "--subresource", "status", "--type", "merge", "-p", '{"status":{"state":"known"}}')
    print("a machine that waits for its port is named")

    bed.post(f"{url}/sim/faults", {"what": "SwitchDead", "name": "leaf-2"})
    bed.kubectl("patch", "provider", "hall-a", "--type", "merge", "-p", '{"spec":{"network":{"netris":{"template":"gpu-tennant"}}}}')
    status, findings = bed.check("--wait", "3")
    assert status == 1 and len(wrong(findings)) == 2, wrong(findings)
    assert all(f.get("mend") for f in findings if f["result"] == "wrong"), findings
    print("what is wrong is named: " + "; ".join(wrong(findings)))

    bed.kubectl("patch", "secret", "netris", "-n", "drover-system", "-p", '{"stringData":{"password":"other"}}')
    status, findings = bed.check()
    assert status == 1 and "refused" in wrong(findings)[0], findings
    text = json.dumps(findings)
    assert "other" not in text and (bed.folder / "netris/password").read_text(encoding="utf-8") not in text, text
    print("a refused login is named, and no password")

    second = subprocess.run([DROVER, "sim", "netris", "--data", f"{folder}/netris"], capture_output=True, text=True, timeout=60,
                            check=False)
    assert second.returncode == 1 and "another `drover sim netris`" in second.stderr, second.stderr
    assert {s["really"] for s in bed.get(f"{url}/sim/servers") if s["name"].startswith("gpu-")} == {"provisioning"}
    ports_move(folder, stack)
    print("netris: ok")


class Controller:
    """The calls of drover's fabric, in three lines."""

    def __init__(self, bed, url):
        self.url, self.tls = url, ssl.create_default_context(cafile=bed.folder / "netris/ca.crt")
        password = (bed.folder / "netris/password").read_text(encoding="utf-8")
        login = urllib.request.Request(f"{url}/api/auth", data=json.dumps({"user": "drover", "password": password}).encode())
        with urllib.request.urlopen(login, context=self.tls, timeout=30) as reply:
            self.cookie = reply.headers["Set-Cookie"].split(";")[0]

    def call(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, method=method, headers={"Cookie": self.cookie},
                                         data=None if body is None else json.dumps(body).encode())
        with urllib.request.urlopen(request, context=self.tls, timeout=30) as reply:
            return json.load(reply)["data"]

    def clusters(self):
        return {c["name"]: int(c["id"]) for c in self.call("GET", "/api/v2/server-cluster")}

    def make(self, name):
        vpc = self.call("POST", "/api/v2/vpc", {"name": name})
        self.call("POST", "/api/v2/server-cluster", {
            "name": name, "admin": {"id": 1}, "site": {"id": 1}, "vpc": {"id": int(vpc)}, "srvClusterTemplate": {"id": 11},
            "servers": []})

    def put(self, name, *servers):
        self.call("PUT", f"/api/v2/server-cluster/{self.clusters()[name]}",
                  {"tags": [], "servers": [{"id": 999 + n, "shared": False} for n in servers]})


def ports_move(folder, stack):
    """Tests a second controller whose switches are bridges: gpu-1 and gpu-2 are namespaces."""
    bed = Bed(pathlib.Path(folder) / "ports", stack)
    bed.folder.mkdir()
    network = testbed.Network("drover-nports", bed.folder / "network", BRIDGES)
    network.start()
    stack.callback(network.stop)
    machines = {1: network.stand_in("gpu-1", "10.0.2.51"), 2: network.stand_in("gpu-2", "10.0.2.52")}
    config = bed.folder / "bridge-move.json"
    config.write_text(json.dumps({
        "netns": network.name, "state": str(bed.folder / "fences.json"), "segments": BRIDGES,
        "private": ["quarantine", "provisioning", "none"], "ports": {f"gpu-{n}": [network.port(f"gpu-{n}")] for n in machines}}))
    log = bed.start("/sim/servers", "sim", "netris", "--data", f"{bed.folder}/netris", "--listen", "127.0.0.1:0", "--beat-ms", "300",
                    "--moves", f"{bed.folder}/moves.json", "--program", str(ROOT / "examples/exec-fabric/bridge-move"),
                    "--program", str(config))
    url = log.read_text(encoding="utf-8").splitlines()[0].split(" on ")[1]
    c = Controller(bed, url)
    for name in ("drover-team-a", "drover-team-b"):
        c.make(name)

    def moved(machine, segment):
        pace.wait_for(f"gpu-{machine} in {segment}", lambda: network.where(f"gpu-{machine}") == segment, LIMIT_S, 0.2)

    def sees(machine):
        """Returns the segments whose outside the machine reaches."""
        return {s for s in BRIDGES if machines[machine].is_heard_by(network.outside(s), 0.5) == "both"}

    for n in (1, 2):
        assert not sees(n), sees(n)
    c.put("quarantine", 1, 2)
    for n in (1, 2):
        moved(n, "quarantine")
        assert sees(n) == {"quarantine"}, sees(n)
    assert machines[1].is_heard_by(machines[2], 0.5) is None, "two machines in quarantine hear one another"
    c.put("quarantine")
    c.put("drover-team-a", 1)
    c.put("drover-team-b", 2)
    moved(1, "drover-team-a")
    moved(2, "drover-team-b")
    assert (sees(1), sees(2)) == ({"drover-team-a"}, {"drover-team-b"}), (sees(1), sees(2))
    assert machines[1].is_heard_by(machines[2], 0.5) is None, "machines of two tenants hear one another"
    print("each machine reaches its own segment alone")

    bed.post(f"{url}/sim/faults", {"what": "PortLie", "name": "leaf-1"})
    c.put("drover-team-b")
    c.put("drover-team-a", 1, 2)
    pace.wait_for("what the controller says", lambda: all(
        k["status"]["label"] == "Active" for k in c.call("GET", "/api/v2/server-cluster")), LIMIT_S, 0.3)
    assert network.where("gpu-2") == "drover-team-b" and sees(2) == {"drover-team-b"}, (network.where("gpu-2"), sees(2))
    wanted = {s["name"]: (s["wanted"], s["really"]) for s in bed.get(f"{url}/sim/servers")}
    assert wanted["gpu-2"] == ("drover-team-a", None), wanted
    told = [json.loads(line) for line in (bed.folder / "moves.json").read_text(encoding="utf-8").splitlines()]
    assert [m["cluster"] for m in told if m["server"] == "gpu-2" and m["nic"] == "eth1"] == ["quarantine", "drover-team-b"], told
    print("a switch that lies says Active, and moves nothing")


def main():
    with tempfile.TemporaryDirectory(prefix="drover-netris-") as folder, contextlib.ExitStack() as stack:
        run(folder, stack)


if __name__ == "__main__":
    main()
