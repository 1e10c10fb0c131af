#!/usr/bin/env python3
"""`drover sim netris` and `drover network check` as programs: TLS, Secrets, a program that moves ports, exit status.

No VM.  The API server is drover's own, kubectl that of parts/build, the program of ports examples/exec-fabric/port-move.
Nothing is timed: each wait has a limit of minutes.  tests/real/netris.py
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
        """A program of drover's that stays until the end; ready: in what it prints, or a file that it writes."""
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
        """(exit status, findings) of drover network check."""
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
                    "--moves", f"{folder}/moves.json", "--program", str(ROOT / "examples/exec-fabric/port-move"),
                    "--program", f"{folder}/ports.json", "--begin-in", "provisioning", "--loose")
    url = log.read_text(encoding="utf-8").splitlines()[0].split(" on ")[1]
    objects(bed, (bed.folder / "netris/network.yaml").read_text(encoding="utf-8"), url)

    status, findings = bed.check()
    assert status == 0 and not wrong(findings), wrong(findings)
    assert {"machine gpu-1", "machine gpu-2", "switch leaf-1", "login"} <= {f["of"] for f in findings}, findings
    print("a good installation: nothing wrong")

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
    moves(bed, url)
    print("netris: ok")


def moves(bed, url):
    """A PUT moves ports with the next heartbeat: told to the file and to the program."""
    password = (bed.folder / "netris/password").read_text(encoding="utf-8")
    tls = ssl.create_default_context(cafile=bed.folder / "netris/ca.crt")
    urllib.request.urlopen(urllib.request.Request(f"{url}/sim/faults", method="DELETE"), context=tls, timeout=30).close()
    login = urllib.request.Request(f"{url}/api/auth", data=json.dumps({"user": "drover", "password": password}).encode())
    with urllib.request.urlopen(login, context=tls, timeout=30) as reply:
        cookie = reply.headers["Set-Cookie"].split(";")[0]

    def call(method, path, body=None):
        request = urllib.request.Request(url + path, method=method, headers={"Cookie": cookie},
                                         data=None if body is None else json.dumps(body).encode())
        with urllib.request.urlopen(request, context=tls, timeout=30) as reply:
            return json.load(reply)["data"]

    ids = {c["name"]: int(c["id"]) for c in call("GET", "/api/v2/server-cluster")}
    call("PUT", f"/api/v2/server-cluster/{ids['provisioning']}", {"tags": [], "servers": []})
    call("PUT", f"/api/v2/server-cluster/{ids['quarantine']}", {"tags": [], "servers": [{"id": 1000, "shared": False}]})
    ports = bed.folder / "ports.json"
    pace.wait_for("the port of gpu-1", lambda: ports.exists() and json.loads(ports.read_text(encoding="utf-8")).get(
        "gpu-1", {}).get("segment") == "quarantine", LIMIT_S, 0.3)
    told = [json.loads(line) for line in (bed.folder / "moves.json").read_text(encoding="utf-8").splitlines()]
    assert any(m["server"] == "gpu-1" and m["nic"] == "eth1" and m["cluster"] == "quarantine" for m in told), told


def main():
    with tempfile.TemporaryDirectory(prefix="drover-netris-") as folder, contextlib.ExitStack() as stack:
        run(folder, stack)


if __name__ == "__main__":
    main()
