#!/usr/bin/env python3
"""The Service that follows the leader, on a real control plane with the rights of deploy/rbac.yaml.

    tests/real/leader_service.py [--folder FOLDER]

No VM. Two `drover run` and a Service without selector. The leader writes its EndpointSlice, corrects
it after another writer, and replaces it after a change of the address family. The leader is killed,
stopped (SIGSTOP) and continued, and stopped properly; each time the slice must lead to the other
replica. drover check judges the Service, and a client connects to the address. Last, the right to
write the slice is taken away. Exits 0 only if everything worked.
"""
import argparse
import http.client
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fleet  # noqa: E402  (beside this file)
import replicas  # noqa: E402
import testbed  # noqa: E402
from testbed import door, pace  # noqa: E402

ROLE = "/apis/rbac.authorization.k8s.io/v1/namespaces/drover-system/roles/drover-controller"
EVENTS = "/api/v1/namespaces/drover-system/events"
LIMIT_S = 40


class Site(replicas.Fleet):
    """Two replicas and their host cluster, without tenants and machines."""

    def __init__(self, folder):
        self.folder = folder
        self.host = testbed.ControlPlane("host", folder / "host")
        self.ports = {p: testbed.free_port() for p in ("agent", "media")}
        self.service, self.agent_names = True, ("127.0.0.1",)
        self.drover = replicas.Replicas()
        self.drover.all = [replicas.Replica(self, n) for n in ("drover-1", "drover-2")]
        self.door = None

    def start(self):
        self.host.start()
        self.host.wait_ready()
        self.host.kubectl("apply", "-f", str(fleet.ROOT / "deploy/crds"))
        self.host.kubectl("apply", "-f", str(fleet.ROOT / "deploy/rbac.yaml"))
        self.host.kubectl("wait", "--for=condition=Established", "crd", "--all",
                          f"--timeout={pace.limit(30):.0f}s")
        self.host.apply(replicas.SERVICE)
        self.door = door.Door(self.ports, lambda: [r for r in self.drover.all if r.process],
                              self.named_by_slice)
        for r in self.drover.all:
            r.start()

    def stop(self):
        self.drover.stop()
        if self.door:
            self.door.stop()
        self.host.stop()

    def leader(self, but=None):
        """Waits until the slice leads to the holder of the Lease, a replica other than `but`."""
        def leads():
            self.drover.check()
            name = self.holder()
            found = next((r for r in self.drover.all if r.name == name), None)
            return found if found is not but and self.named_by_slice() == name else None
        return testbed.wait_for("the slice leads to a leader" + (f" that is not {but.name}" if but else ""),
                                leads, LIMIT_S, 0.1)

    def check(self, replica):
        """Checks the slice, what drover check says of it, and a connection to the address."""
        slice_ = self.host.get(replicas.SLICE)
        there, = slice_["endpoints"]
        options = dict(zip(*[iter(replica.leader_service())] * 2))
        assert there["addresses"] == [options["--pod-ip"]], there
        assert there["nodeName"] == options["--node-name"], there
        ports = {p["name"]: p["port"] for p in slice_["ports"]}
        assert ports == {name: replica.ports[name] for name in ("agent", "media")}, ports
        want = f"OK     service/drover: leads to the leader, pod {replica.name} at address {options['--pod-ip']}"
        said = self.verdict()
        assert want in said and "wrong  drover's rights" not in said, said
        testbed.wait_for("the address leads to it", lambda: self.door.leader is replica, 20, 0.1)
        wire = http.client.HTTPConnection("127.0.0.1", self.ports["media"], timeout=pace.limit(20))
        wire.request("GET", "/boot/none/drover-agent.iso")
        reply = wire.getresponse()
        # An open connection would stay at this replica, also if it leads no longer.
        assert (reply.status, reply.getheader("Connection")) == (404, "close"), reply.headers
        wire.close()

    def verdict(self):
        return subprocess.run([str(fleet.DROVER), "check", "--kubeconfig", str(self.host.kubeconfig)],
                              capture_output=True, text=True, check=False).stdout


def changed_by_others(site, leader):
    """Checks that the leader corrects a changed, deleted, and replaced slice."""
    site.host.api("PATCH", replicas.SLICE, {"endpoints": []})
    testbed.wait_for("the slice corrected", site.named_by_slice, 30, 0.2)
    site.host.api("DELETE", replicas.SLICE)
    testbed.wait_for("the slice created again", site.named_by_slice, 30, 0.2)
    old = site.host.get(replicas.SLICE)
    site.host.api("DELETE", replicas.SLICE)
    site.host.api("POST", replicas.SLICE.rsplit("/", 1)[0], {
        "metadata": {"name": "drover-leader", "labels": old["metadata"]["labels"]},
        "addressType": "IPv6", "endpoints": [{"addresses": ["fd00::66"]}], "ports": old["ports"]})
    testbed.wait_for("the slice of the other family replaced", site.named_by_slice, 30, 0.2)
    assert site.host.get(replicas.SLICE)["addressType"] == "IPv4"
    site.check(leader)


def killed(site, old):
    old.kill()
    old.process = None
    new = site.leader(but=old)
    site.check(new)
    old.start()
    return new


def paused(site, old):
    """The leader is stopped, the other leads; the first continues and leaves the slice alone."""
    old.signal(signal.SIGSTOP)
    new = site.leader(but=old)
    old.signal(signal.SIGCONT)
    log = site.folder / f"{old.name}.log"
    testbed.wait_for(f"{old.name} finds that it does not lead", lambda: (
        "no longer the leader" in log.read_text(errors="replace")), 20, 0.1)
    # More than one interval between the checks of a leader.
    time.sleep(pace.limit(12))
    assert site.leader() is new
    site.check(new)
    return new


def stopped_properly(site, old):
    """The leader withdraws its endpoint before the other replica leads."""
    seen = replicas.Watch(site.host, "endpointslices", replicas.SLICE.rsplit("/", 2)[0])
    testbed.wait_for("a watch of the slice", lambda: seen.seen, 20, 0.1)
    old.process.stop()
    old.process = None
    new = site.leader(but=old)
    slices = [o for _, _, o in seen.seen if o["metadata"]["name"] == "drover-leader"]
    seen.stop()
    withdrawn = [s for s in slices if s["endpoints"][0]["targetRef"]["name"] == old.name
                 and not s["endpoints"][0]["conditions"]["ready"]]
    assert len(withdrawn) == 1, slices
    site.check(new)
    return new


def refused(site):
    """Without the right to patch: an event and drover check name it, and drover goes on."""
    role = site.host.get(ROLE)
    rules = [{**r, "verbs": [v for v in r["verbs"] if v != "patch"]}
             if r.get("resourceNames") == ["drover-leader"] else r for r in role["rules"]]
    site.host.api("PATCH", ROLE, {"rules": rules})
    site.host.api("PATCH", replicas.SLICE, {"endpoints": []})
    want = "needs the right to patch endpointslices"
    testbed.wait_for("the event", lambda: any(
        want in e["message"] and e["involvedObject"]["kind"] == "Service"
        for e in site.host.get(EVENTS)["items"] if e["reason"] == "LeaderNotPublished"), 60, 0.5)
    said = site.verdict()
    assert "may not patch endpointslices drover-leader in namespace drover-system" in said, said
    assert "wrong  service/drover: leads to pod none" in said, said
    site.host.api("PATCH", ROLE, {"rules": role["rules"]})
    site.check(site.leader())


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--folder", type=pathlib.Path)
    args = p.parse_args()
    folder = args.folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-leader-"))
    folder.mkdir(parents=True, exist_ok=True)
    testbed.process.sweep(folder)
    timer, site = testbed.Timer(), Site(folder)
    try:
        site.start()
        leader = site.leader()
        site.check(leader)
        timer.phase("two replicas, the Service leads to the leader")
        changed_by_others(site, leader)
        timer.phase("changed, deleted and replaced by others")
        leader = killed(site, leader)
        timer.phase("the leader killed")
        leader = paused(site, leader)
        timer.phase("the leader stopped and continued")
        leader = stopped_properly(site, leader)
        timer.phase("the leader stopped properly")
        refused(site)
        timer.phase("the right taken away, and given back")
    except BaseException:
        print(json.dumps(site.host.get(replicas.SLICE), indent=1), site.logs()[-6000:], flush=True)
        raise
    finally:
        site.stop()
    print("\nleader_service: 1 passed, 0 failed")


if __name__ == "__main__":
    main()
