#!/usr/bin/env python3
"""The main use case with machines whose ports a Netris controller moves.

    tests/real/netris_job.py [--folder FOLDER]

`drover sim netris` stands for the controller and its switches: a port move by a switch moves the
virtual machine's tap to another bridge, by examples/exec-fabric/bridge-move. Two tenants' pods get
a machine each: one behind an L4 load balancer, which forwards only while the controller lists it as
drover created it, one behind a VIP in the tenant's V-net. Each segment has an address that answers
only there, so the machines prove their segment by packets, and both tenants require Strong. Then
one machine is released, and in quarantine reaches only the agent endpoint. At last a switch reports
moves that it does not make. The controller cannot show that, so its word alone is Weak; the machine
reaches nothing of the tenant to which it was moved, and its pod does not run.
"""
import argparse
import json
import pathlib
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fleet  # noqa: E402  (beside this file)
import serving  # noqa: E402
import testbed  # noqa: E402
from testbed import pace, process  # noqa: E402

CLUSTERS = {"quarantine": "br-q", "provisioning": "br-p", "tenant/team-a": "br-a", "tenant/team-b": "br-b", "none": "br-n"}
PREFIX = "drover-netris"
ANSWERS = {"quarantine": "10.77.0.1", "provisioning": "10.77.0.2", "tenant/team-a": "10.77.0.3", "tenant/team-b": "10.77.0.4"}
BALANCER = "10.77.1.10"
VIP = "10.20.0.10"  # address in the V-net that the controller creates first
LOOK_S = 1


class Balancers:
    """Forwards connections for the load balancers that the controller lists, and no others."""

    def __init__(self, f):
        self.f, self.there, self.looked, self.opener = f, {}, 0.0, None

    def login(self):
        f = self.f
        tls = ssl.create_default_context(cafile=f.folder / "netris/ca.crt")
        self.opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=tls), urllib.request.HTTPCookieProcessor())
        body = {"user": "drover", "password": (f.folder / "netris/password").read_text(), "auth_scheme_id": 1}
        self.opener.open(urllib.request.Request(f"{f.url}/api/auth", data=json.dumps(body).encode(),
                                                headers={"Content-Type": "application/json"}), timeout=30).close()

    def listed(self):
        """Returns (address, port) -> port of the first backend."""
        if not self.opener:
            self.login()
        with self.opener.open(f"{self.f.url}/api/v2/l4lb", timeout=30) as reply:
            return {(b["ip"], int(b["port"])): int(b["backendIps"][0]["port"]) for b in json.load(reply)["data"]
                    if b["status"] == "enable"}

    def look(self):
        if time.monotonic() - self.looked < LOOK_S:
            return
        now = self.listed()
        for at in [at for at in self.there if at not in now]:
            self.there.pop(at).stop()
        for (address, port), backend in now.items():
            if (address, port) not in self.there:
                self.there[address, port] = self.f.network.allow("tenant/team-a", port, backend, address)
        self.looked = time.monotonic()


class Switched(fleet.Fleet):
    later = ("team-a",)  # so that team-b gets the first V-net

    def __init__(self, folder, machines):
        super().__init__(folder, machines=machines, prefix=PREFIX, isolated=True)
        self.network.segments = dict(CLUSTERS)
        self.sim = self.url = None
        self.count = machines
        for name, guest in (("team-a", BALANCER), ("team-b", VIP)):
            self.tenants[name] = testbed.ControlPlane(name, self.folder / name, guest=guest)
        self.balancers = Balancers(self)

    def may_reach(self):
        """Segment -> the (host, port) pairs that it may reach."""
        agent, gate = self.ports["agent"], testbed.network.GATEWAY
        return {"quarantine": [(gate, agent)], "provisioning": [(gate, agent), (gate, self.files.port)],
                "tenant/team-a": [(BALANCER, self.tenants["team-a"].port)],
                "tenant/team-b": [(VIP, self.tenants["team-b"].port)]}

    def write_driver_config(self, provider, names=None):
        names = [f"{PREFIX}-{n}" for n in range(self.count)]
        path = self.folder / f"bridge-move-{provider}.json"
        bridges = {name.replace("tenant/", "drover-"): bridge for name, bridge in CLUSTERS.items()}
        path.write_text(json.dumps({
            "netns": self.network.name, "state": str(path.with_suffix(".state")), "segments": bridges,
            "private": ["quarantine", "provisioning", "none"],
            "ports": {name: [self.network.port(name)] for name in names}}))
        return path

    def start_network(self):
        self.network.start()
        for segment, address in ANSWERS.items():
            self.network.answers(segment, address)
        # Leads nowhere before a load balancer exists.
        self.network.answers("tenant/team-a", BALANCER)
        self.network.answers("tenant/team-b", VIP)
        for segment, places in self.may_reach().items():
            for address, port in places if segment != "tenant/team-a" else ():
                self.network.allow(segment, port, address=address)
        port = process.free_port()
        self.url = f"https://127.0.0.1:{port}"
        self.sim = process.Process("netris", self.folder, [
            fleet.DROVER, "sim", "netris", "--servers", self.count, "--names", f"{PREFIX}-", "--data", self.folder / "netris",
            "--listen", f"127.0.0.1:{port}", "--moves", self.folder / "moves.json", "--program", fleet.DRIVER,
            "--program", self.write_driver_config("netris")])
        testbed.wait_for("the controller", (self.folder / "netris/network.yaml").exists, 60, 0.2)

    def provider_network(self):
        return {"type": "netris", "segments": {"quarantine": "quarantine", "provisioning": "provisioning"},
                "probe": {name: [ANSWERS[name]] for name in ("quarantine", "provisioning")},
                "netris": {"endpoint": self.url, "credentialsSecretRef": {"name": "netris"},
                           "tls": {"caSecretRef": {"name": "netris-ca"}}, "site": "hall", "template": "gpu-tenant",
                           "hostServers": ["host-1"]}}

    def virtual_cluster(self, name):
        vc, port = super().virtual_cluster(name), self.tenants[name].port
        del vc["spec"]["joinEndpoint"]
        way = {"team-a": {"via": "l4lb", "address": f"{BALANCER}:{port}", "backends": [f"10.77.2.10:{port}"]},
               "team-b": {"via": "vip", "address": f"{VIP}:{port}"}}[name]
        vc["spec"]["network"] = {"probe": [ANSWERS[f"tenant/{name}"]], "requireProof": "Strong",
                                 "apiServer": {**way, "providerRef": {"name": "rack"}}}
        return vc

    def way(self, name):
        """Returns the condition of the path to the tenant's API server."""
        return self.condition(name, "APIServerWay")

    def apply_objects(self):
        made = self.folder / "netris"
        self.host.apply(fleet.secret("drover-system", "netris", username="drover", endpoint=self.url,
                                     password=(made / "password").read_text()),
                        fleet.secret("drover-system", "netris-ca", ca__crt=(made / "ca.crt").read_text()))
        super().apply_objects()

    def check(self):
        super().check()
        self.sim.check()
        self.balancers.look()

    def stop(self):
        super().stop()
        if self.sim:
            self.sim.stop()

    def fault(self, **what):

        tls = ssl.create_default_context(cafile=self.folder / "netris/ca.crt")
        request = urllib.request.Request(f"{self.url}/sim/faults", data=json.dumps(what).encode())
        urllib.request.urlopen(request, context=tls, timeout=30).close()

    def reaches(self, segment):
        """Returns which of all listeners on this machine a guest in that segment reaches."""
        return sorted(self.network.reaches(segment, sorted({at for places in self.may_reach().values() for at in places})))


def segments_reach_what_they_may(f):
    for segment, ports in f.may_reach().items():
        assert f.reaches(segment) == sorted(ports), (segment, f.reaches(segment), ports)


def proved_by_packets(f, tenants):
    """Checks that each machine was probed in its segment, including the API server."""
    for name, status in f.states().items():
        tenant = (status.get("tenant") or {}).get("name")
        if tenant in tenants and status["state"] == "serving":
            probe = status["network"]["probe"]
            assert (probe.get("apiServer"), probe.get("leak"), probe.get("message")) == (True, None, None), (name, probe)
            assert (status["network"]["segment"], status["network"]["proof"]) == (f"tenant/{tenant}", "Strong"), (name, status)
            tenants = [t for t in tenants if t != tenant]
    assert not tenants, tenants


def network_check(f):
    done = subprocess.run([fleet.DROVER, "network", "check", "--kubeconfig", f.host.kubeconfig], capture_output=True, text=True,
                          timeout=pace.limit(120), check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout.strip().splitlines()[-1], flush=True)


def run(f, pods):
    f.start()
    f.wait_state("free", limit_s=400)
    f.until("a VIP", lambda: f.way("team-b") == "True VIP", 120)
    assert not f.balancers.listed(), f.balancers.listed()
    f.host.apply(f.virtual_cluster("team-a"))
    f.until("a load balancer", lambda: f.way("team-a") == "True Healthy", 120)
    f.view.done()
    assert f.balancers.listed() == {(BALANCER, f.tenants["team-a"].port): f.tenants["team-a"].port}, f.balancers.listed()
    network_check(f)
    took = serving.run_pods(f, pods)
    f.view.done()
    serving.check(f, pods)
    serving.secrets_kept(f)
    proved_by_packets(f, [tenant for tenant, _ in pods])
    assert (f.folder / "netris/password").read_text() not in (f.folder / "drover.log").read_text(errors="replace")
    segments_reach_what_they_may(f)
    print("pods Running after " + ", ".join(f"{s:.0f} s" for s in took.values()), flush=True)

    tenant, name = pods[0]
    claim = f.pod_running(tenant, name)["spec"]["nodeName"]
    machine = f.get("nodeclaims", claim)["spec"]["machineRef"]["name"]
    f.tenants[tenant].kubectl("delete", "pod", name, "--wait=false")
    f.host.kubectl("delete", "nodeclaim", claim, "--wait=false")
    f.until("in quarantine", lambda: f.network.where(machine) == "quarantine", 300)
    f.until("free again", lambda: f.states()[machine].get("state") == "free", 600)
    f.view.done()
    moved = f.network.moves(machine)
    assert "quarantine" in moved and moved[-1] == "provisioning", moved
    print(f"{machine} went round: {' '.join(moved)}", flush=True)

    f.fault(what="PortLie", name="leaf-1")
    f.tenants[tenant].apply(fleet.gpu_pod("lied-to", fleet.GPUS))
    f.until("the controller says that it moved", lambda: f.states()[machine].get("network", {}).get("segment") == f"tenant/{tenant}",
            400)
    f.view.done()
    assert f.network.where(machine) != f"tenant/{tenant}", f.network.where(machine)
    assert f.states()[machine]["network"]["proof"] == "Weak", f.states()[machine]["network"]
    assert not f.pod_running(tenant, "lied-to")
    print("a switch that lies: the proof is Weak, the machine is not in the tenant's bridge, and its pod does not run", flush=True)


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--folder", type=pathlib.Path)
    args = args.parse_args()
    folder = args.folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-netris-"))
    print(f"Logs and keys: {folder}", flush=True)
    testbed.parts.paths()
    pods = [("team-a", "train"), ("team-b", "train")]
    f = Switched(folder, len(pods))
    try:
        run(f, pods)
    except BaseException:
        f.last_words()
        raise
    finally:
        f.stop()
    print("netris: two tenants' pods ran on machines that server clusters moved\n1 passed, 0 failed")


if __name__ == "__main__":
    main()
