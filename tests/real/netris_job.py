#!/usr/bin/env python3
"""The main job with machines whose ports a Netris controller moves.

    tests/real/netris_job.py [--folder FOLDER]

`drover sim netris` stands for the controller and its switches: each port that a switch really moves moves the bridge that the
virtual machine's tap is in, by examples/exec-fabric/bridge-move.  Two tenants' pods get a machine each: it reaches its own
tenant's API server and not the other's.  Then it is taken back, and in quarantine it reaches the agent endpoint alone.  Last a
switch lies: it says that it moves ports, and does not.  What the controller tells cannot show that, which is why its proof
is Weak; the machine reaches nothing of the tenant that it was to go to, and its pod does not run.
"""
import argparse
import json
import pathlib
import ssl
import subprocess
import sys
import tempfile
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fleet  # noqa: E402  (beside this file)
import main_job  # noqa: E402
import testbed  # noqa: E402
from testbed import pace, process  # noqa: E402

CLUSTERS = {"quarantine": "br-q", "provisioning": "br-p", "tenant/team-a": "br-a", "tenant/team-b": "br-b", "none": "br-n"}
PREFIX = "drover-netris"


class Switched(fleet.Fleet):
    proof = "Weak"

    def __init__(self, folder, machines):
        super().__init__(folder, machines=machines, prefix=PREFIX, isolated=True)
        self.network.segments = dict(CLUSTERS)
        self.sim = self.url = None
        self.count = machines

    def may_reach(self):
        agent = self.ports["agent"]
        return {"quarantine": [agent], "provisioning": [agent, self.files.port],
                **{f"tenant/{name}": [plane.port] for name, plane in self.tenants.items()}}

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
        super().start_network()
        port = process.free_port()
        self.url = f"https://127.0.0.1:{port}"
        self.sim = process.Process("netris", self.folder, [
            fleet.DROVER, "sim", "netris", "--servers", self.count, "--names", f"{PREFIX}-", "--data", self.folder / "netris",
            "--listen", f"127.0.0.1:{port}", "--moves", self.folder / "moves.json", "--program", fleet.DRIVER,
            "--program", self.write_driver_config("netris")])
        testbed.wait_for("the controller", (self.folder / "netris/network.yaml").exists, 60, 0.2)

    def provider_network(self):
        return {"type": "netris", "segments": {"quarantine": "quarantine", "provisioning": "provisioning"},
                "netris": {"endpoint": self.url, "credentialsSecretRef": {"name": "netris"},
                           "tls": {"caSecretRef": {"name": "netris-ca"}}, "site": "hall", "template": "gpu-tenant",
                           "hostServers": ["host-1"]}}

    def apply_objects(self):
        made = self.folder / "netris"
        self.host.apply(fleet.secret("drover-system", "netris", username="drover", endpoint=self.url,
                                     password=(made / "password").read_text()),
                        fleet.secret("drover-system", "netris-ca", ca__crt=(made / "ca.crt").read_text()))
        super().apply_objects()

    def check(self):
        super().check()
        self.sim.check()

    def stop(self):
        super().stop()
        if self.sim:
            self.sim.stop()

    def fault(self, **what):

        tls = ssl.create_default_context(cafile=self.folder / "netris/ca.crt")
        request = urllib.request.Request(f"{self.url}/sim/faults", data=json.dumps(what).encode())
        urllib.request.urlopen(request, context=tls, timeout=30).close()

    def reaches(self, segment):
        """What of all there is on this machine a guest of that segment reaches."""
        all_ports = sorted({port for ports in self.may_reach().values() for port in ports})
        found = self.network.reaches(segment, [(testbed.network.GATEWAY, port) for port in all_ports])
        return sorted(port for _, port in found)


def segments_reach_what_they_may(f):
    for segment, ports in f.may_reach().items():
        assert f.reaches(segment) == sorted(ports), (segment, f.reaches(segment), ports)


def network_check(f):
    done = subprocess.run([fleet.DROVER, "network", "check", "--kubeconfig", f.host.kubeconfig], capture_output=True, text=True,
                          timeout=pace.limit(120), check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout.strip().splitlines()[-1], flush=True)


def run(f, pods):
    f.start()
    f.wait_state("free", limit_s=400)
    f.view.done()
    network_check(f)
    took = main_job.run_pods(f, pods)
    f.view.done()
    main_job.check(f, pods)
    main_job.secrets_kept(f)
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
