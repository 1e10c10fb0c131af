#!/usr/bin/env python3
"""Machines installed by a BCM head node, on a real Kubernetes: `drover sim bcm` beside three
control planes.

    tests/real/bcm.py [--folder FOLDER]

Head node and machines are simulated; the API servers that hold the pods and sign the nodes'
certificates are real. Two pods of team-a get a machine each, and the head node fails during the
first install. That machine is released: wiped, and its node in BCM is as before. Then the other
tenant's pod runs on it. No VM.
"""
import argparse
import base64
import json
import pathlib
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fleet  # noqa: E402  (beside this file)
import serving  # noqa: E402
import testbed  # noqa: E402
from testbed import drive, pace, process  # noqa: E402

QUIET_START_S = 20
SPEED = 2  # an install takes 10 s, long enough to be interrupted
GONE_S = 5
# Written to the root drive by pod and kubelet.
TENANTS_BYTES = (b"TENANT-DATA of pod", b"PRIVATE KEY", b"BEGIN CERTIFICATE")


class Rack:
    """`drover sim bcm`: BMCs with machines behind them, their switch, and the head node."""
    user = "admin"
    count = 2

    def __init__(self, folder):
        self.folder, self.data = folder, folder / "bcm"
        self.bmcs, self.head = (process.free_port() for _ in range(2))
        self.url, self.head_url = (f"https://127.0.0.1:{port}" for port in (self.bmcs, self.head))
        self.machines, self.sim = (), None

    def start(self):
        shutil.rmtree(self.data, ignore_errors=True)
        (self.folder / "sim.log").unlink(missing_ok=True)
        self.sim = process.Process("sim", self.folder, [
            fleet.DROVER, "sim", "bcm", "--machines", self.count, "--listen", f"0.0.0.0:{self.bmcs}", "--head",
            f"127.0.0.1:{self.head}", "--data", self.data, "--drive-gib", 1, "--speed", SPEED])
        testbed.wait_for("the rack", lambda: "head node is" in self.sim.log.read_text(), 60)
        self.password = (self.data / "password").read_text()
        self.ca_file = self.data / "ca.crt"

    def stop(self):
        if self.sim:
            self.sim.stop()

    def ask(self, path, body=None):
        """Calls the head node's API for nodes, faults and a restart, and the rack's API for
        everything else."""
        url = self.url if path.startswith("/sim/machines") else self.head_url
        tls = ssl.create_default_context(cafile=self.ca_file)
        request = urllib.request.Request(url + path, data=None if body is None else json.dumps(body).encode())
        with urllib.request.urlopen(request, context=tls, timeout=pace.limit(30)) as reply:
            return json.loads(reply.read() or b"null")

    def machine(self, name):
        return next(m for m in self.ask("/sim/machines")["machines"] if m["name"] == name)

    def node(self, name):
        """Returns the machine's device in BCM."""
        return self.ask(f"/sim/nodes/{name}")

    def status(self, name):
        """Returns the status that BCM reports for the machine."""
        return next(n["status"]["status"] for n in self.ask("/sim/nodes") if n["hostname"] == name)

    def is_back(self):
        """True once the head node's daemon answers again."""
        try:
            return self.ask("/rest/v1/version") is not None
        except urllib.error.HTTPError as e:
            return e.code == 401  # the daemon asks for a login

    def left_on(self, name, needle):
        return sum(drive.count(path, needle) for path in self.data.glob(f"{name}-drive?"))


class Switch:
    """The rack's switch, in the form that serving.check() needs."""

    def __init__(self, rack):
        self.rack = rack

    def where(self, name):
        return self.rack.machine(name)["segment"]

    def stop(self):
        pass


class Bcm(fleet.Fleet):
    """A fleet whose machines belong to a head node."""

    def __init__(self, folder):
        super().__init__(folder, machines=0)
        self.rack = Rack(self.folder)

    def need_image(self):
        """Nothing to do: the rack brings what its machines boot."""

    serve_images = need_image

    def start(self):
        began = time.monotonic()
        super().start()
        pace.learn("the start of everything", time.monotonic() - began, QUIET_START_S)
        self.network = Switch(self.rack)
        return self

    def machine_args(self):
        made = self.rack.data
        return ["--allow-exec", f"{fleet.DROVER} sim port-move", "--agent-image", made / "drover-agent.iso", "--agent-image-key",
                (made / "drover-agent.pub").read_text().strip(), "--agent-name", "127.0.0.1"]

    def apply_objects(self):
        """Applies the objects that the rack writes, and those that it cannot know (docs/sim.md)."""
        login = {"password": self.rack.password}
        self.host.apply(
            fleet.secret("drover-system", "rack-bmc", username=self.rack.user, **login),
            fleet.secret("drover-system", "rack-head", username="drover", endpoint=self.rack.head_url, **login),
            fleet.secret("drover-system", "rack-ca", ca__crt=self.rack.ca_file.read_text()),
            (self.rack.data / "objects.yaml").read_text())
        self.host.api("PATCH", f"/apis/{fleet.API}/providers/rack", {"spec": {
            "boot": {"mediaURL": f"http://127.0.0.1:{self.ports['media']}"},
            "agent": {"endpoint": f"https://127.0.0.1:{self.ports['agent']}"},
            "network": {"type": "exec", "segments": {"quarantine": "quarantine", "provisioning": "provisioning"},
                        "exec": {"command": [str(fleet.DROVER), "sim", "port-move", self.rack.url,
                                             "--ca", str(self.rack.ca_file)]}},
            "wipe": {"minimumLevel": {"flash": "Clear", "hdd": "Clear"}, "minimumTrust": "BootNetwork"}}})
        self.host.apply(self.pool(), *[self.virtual_cluster(t) for t in self.tenants])

    def pool(self, **template):
        return {"apiVersion": fleet.API, "kind": "NodePool", "metadata": {"name": "bcm"}, "spec": {
            "virtualClusterSelector": {},
            "template": {"spec": {
                "providerRefs": [{"name": "rack"}],
                "requirements": [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["hgx-h100-8"]}],
                "taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
                "images": [{"kubernetesVersion": "1.36", "category": "kubernetes"}],
                "network": {"isolation": "Required"}, **template}},
            "wipe": {"minimumLevel": {"flash": "Clear", "hdd": "Clear"}}}}

    def virtual_cluster(self, name):
        vc = super().virtual_cluster(name)
        vc["spec"]["joinEndpoint"] = f"127.0.0.1:{self.tenants[name].port}"
        return vc

    def check(self):
        super().check()
        self.rack.sim.check()

    def machine_of(self, tenant, pod):
        return self.get("nodeclaims", self.pod_running(tenant, pod)["spec"]["nodeName"])["spec"]["machineRef"]["name"]


def restart_in_the_middle(f, names):
    """Restarts the head node as soon as BCM installs one of the machines; waits until it is back."""
    f.until("an install", lambda: any(f.rack.status(n).startswith("INSTALLING") for n in names), 300)
    f.rack.ask("/sim/restart", {"ms": int(1000 * pace.limit(GONE_S))})
    f.until("drover to miss the head node", lambda: any(
        m.get("operation", {}).get("lastError", {}).get("reason") == "ManagerUnreachable" for m in f.states().values()), 60)
    f.until("the head node", f.rack.is_back, 60)


def joined_as_kubeadm_does(f, tenant, pod):
    """Checks that the cluster signed a certificate for the node, requested with its bootstrap
    token."""
    name = "system:node:" + f.pod_running(tenant, pod)["spec"]["nodeName"]
    asked = f.tenants[tenant].get("/apis/certificates.k8s.io/v1/certificatesigningrequests")["items"]
    signed = [r["spec"] for r in asked if name in subject(r["status"].get("certificate"))]
    assert [r["signerName"] for r in signed] == ["kubernetes.io/kube-apiserver-client-kubelet"], asked
    assert signed[0]["username"].startswith("system:bootstrap:"), signed
    assert "system:bootstrappers:kubeadm:default-node-token" in signed[0]["groups"], signed


def subject(certificate):
    """Returns the certificate's subject as openssl prints it; "": no certificate."""
    return certificate and subprocess.run(["openssl", "x509", "-noout", "-subject"], input=base64.b64decode(certificate),
                                          capture_output=True, check=True).stdout.decode() or ""


def serves(f, name):
    """Checks that BCM installed the machine, and no longer sees it."""
    status = f.states()[name]
    assert status["install"]["category"] == "kubernetes", status["install"]
    assert "drover" in f.rack.node(name)["extra_values"], f.rack.node(name)
    assert f.rack.status(name) == "DOWN", f.rack.status(name)
    for needle in TENANTS_BYTES:
        assert f.rack.left_on(name, needle), f"{needle} is on no drive of {name}"


def given_back(f, tenant, pod, name, before):
    assert f.give_back(tenant, pod, f.pod_running(tenant, pod)["spec"]["nodeName"]) == name
    assert f.rack.node(name) == before, (f.rack.node(name), before)
    assert not f.rack.machine(name)["on"]
    is_blank(f, name)


def is_blank(f, name):
    for needle in TENANTS_BYTES:
        assert not f.rack.left_on(name, needle), f"{needle} is still on a drive of {name}"


def run(f, timer):
    f.start()
    timer.phase("a host cluster, two tenants, a head node with two machines, drover")
    f.wait_state("free", limit_s=300)
    f.view.done()
    names = sorted(f.states())
    before = {name: f.rack.node(name) for name in names}
    timer.phase("machines inspected, wiped, proved: free and off")

    pods = [("team-a", "train"), ("team-a", "more")]
    f.tenants["team-a"].apply(fleet.gpu_pod("train", fleet.GPUS))
    restart_in_the_middle(f, names)
    timer.phase("an install begun, and the head node gone for a while in the middle of it")
    serving.run_pods(f, pods)
    f.view.done()
    serving.check(f, pods)
    for tenant, pod in pods:
        joined_as_kubeadm_does(f, tenant, pod)
        serves(f, f.machine_of(tenant, pod))
    assert not [m for m in f.states().values() if m.get("failures")], f.states()
    timer.phase("installed all the same: two pods of team-a Running")

    name = f.machine_of("team-a", "train")
    given_back(f, "team-a", "train", name, before[name])
    timer.phase("one given back, wiped, free; BCM has its node back as it was")

    pods = [("team-a", "more"), ("team-b", "train")]
    serving.run_pods(f, pods[1:])
    f.view.done()
    serving.check(f, pods)
    joined_as_kubeadm_does(f, *pods[1])
    assert f.machine_of(*pods[1]) == name
    serves(f, name)
    timer.phase("a pod of team-b Running on it")
    serving.secrets_kept(f)


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--folder", type=pathlib.Path)
    folder = args.parse_args().folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-bcm-"))
    print(f"Logs and keys: {folder}", flush=True)
    testbed.parts.paths()
    f = Bcm(folder)
    try:
        run(f, testbed.Timer())
    except BaseException:
        f.last_words()
        raise
    finally:
        f.stop()
    print("\nbcm: machines that a head node installed, used by two tenants and given back\n1 passed, 0 failed")


if __name__ == "__main__":
    main()
