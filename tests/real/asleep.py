#!/usr/bin/env python3
"""A sleeping tenant on real components: its machine stays for sleepGrace and is then released
without the tenant's API server.

    tests/real/asleep.py [--folder FOLDER]

A StatefulSet of the host cluster, managed by a real kube-controller-manager, stands for the
tenant's control plane. A real kube-apiserver refuses to show it unless drover's Role names it. The
tenant is asleep once the StatefulSet is scaled to 0 and the tenant's API server is stopped. The
machine serves until the grace period is over, is switched off and wiped, and its Node and token
become pending cleanups. When the tenant wakes, both are deleted.
"""
import argparse
import datetime
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fleet  # noqa: E402  (beside this file)
import testbed  # noqa: E402

GRACE_S = 60
SET = {"apiVersion": "apps/v1", "kind": "StatefulSet",
       "metadata": {"name": "team-a", "namespace": "vc-team-a"},
       "spec": {"replicas": 1, "serviceName": "team-a",
                "selector": {"matchLabels": {"app": "vcluster"}},
                "template": {"metadata": {"labels": {"app": "vcluster"}},
                             "spec": {"containers": [{"name": "syncer", "image": "none.test/x:1"}]}}}}


class Api:
    """The tenant's API server; can be stopped and started again with the same data."""

    def __init__(self, plane):
        self.plane, self.argv = plane, None

    def stop(self):
        server = next(p for p in self.plane.processes if p.name == "kube-apiserver")
        self.argv = server.popen.args
        server.stop()
        self.plane.processes.remove(server)

    def start(self):
        self.plane.processes.append(testbed.process.Process(
            "kube-apiserver", self.plane.folder, self.argv))


def spec(f, **members):
    f.host.api("PATCH", f"/apis/{fleet.API}/virtualclusters/team-a", {"spec": members})


def asleep(f):
    """Returns the tenant's condition Asleep, for example "True Paused"."""
    conditions = f.get("virtualclusters", "team-a").get("status", {}).get("conditions", [])
    return next((f"{c['status']} {c['reason']}" for c in conditions if c["type"] == "Asleep"), "")


def scale(f, replicas, paused):
    """Scales as `vcluster pause` and `vcluster resume` do."""
    f.host.api("PATCH", "/apis/apps/v1/namespaces/vc-team-a/statefulsets/team-a", {
        "metadata": {"annotations": {"loft.sh/paused": "true" if paused else None}},
        "spec": {"replicas": replicas}})


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--folder", type=pathlib.Path)
    args = args.parse_args()
    folder = args.folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-asleep-"))
    print(f"Logs and keys: {folder}", flush=True)
    timer = testbed.Timer()
    f = fleet.Fleet(folder, machines=1, prefix="drover-asleep")
    name = "drover-asleep-0"
    team, api = f.tenants["team-a"], Api(f.tenants["team-a"])

    def state():
        return f.states()[name].get("state")
    try:
        f.start()
        f.host.apply(SET)
        # The Role names a StatefulSet: a real API server lets drover read nothing else.
        spec(f, controlPlane={"kind": "Deployment", "namespace": "vc-team-a", "name": "team-a"},
             sleepGrace=f"{GRACE_S}s")
        f.until("refused", lambda: asleep(f) == "Unknown NotPermitted", 30)
        spec(f, controlPlane={"kind": "StatefulSet"})
        f.until("awake", lambda: asleep(f) == "False Awake", 30)
        f.wait_state("free", limit_s=200)
        timer.phase("its control plane is looked at; machine free and off")
        team.apply(fleet.gpu_pod("train", fleet.GPUS))
        f.until("pod Running", lambda: f.pod_running("team-a", "train"), 300)
        f.until("serving", lambda: state() == "serving", 30)
        status = f.states()[name]
        claim, tenancy = status["claimRef"]["name"], status["tenancy"]
        timer.phase("pod Running")

        api.stop()
        scale(f, 0, True)
        began = time.monotonic()
        # Probed once a minute, read within 30 s.
        f.until("asleep", lambda: asleep(f) == "True Paused", 120)
        text = f.get("virtualclusters", "team-a")["status"]["asleepSince"]
        since = datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
        timer.phase("asleep")
        f.until("it leaves", lambda: state() != "serving", GRACE_S + 60)
        slept = time.time() - since
        assert slept >= GRACE_S, f"given back after {slept:.1f} s"
        assert f.states()[name]["leave"]["reason"] == "TenantAsleep", f.states()[name]["leave"]
        timer.phase(f"it leaves, {slept:.1f} s after it was first seen asleep")
        f.until("wiped, and free", lambda: state() == "free", 300)
        assert f.rack.machines[0].power() == "Off"
        record = f.get("wiperecords", f.states()[name]["lastWipe"]["record"])
        assert (record["spec"]["tenancy"], record["spec"]["verdict"]) == (tenancy, "Clear"), record
        debts = f.get("virtualclusters", "team-a")["status"]["debts"]
        assert [d["nodeName"] for d in debts] == [claim], debts
        assert not f.get("nodeclaims"), "the claim has not ended"
        timer.phase("off, wiped, free; its Node is owed")

        api.start()
        scale(f, 1, False)
        f.until("quits", lambda: not f.get("virtualclusters", "team-a")["status"].get("debts"), 120)
        f.until("awake", lambda: asleep(f) == "False Awake", 60)
        assert not team.node(claim), "its Node is still there"
        assert "asleepSince" not in f.get("virtualclusters", "team-a")["status"]
        timer.phase(f"awake after {time.monotonic() - began:.0f} s, and nothing is owed")
    except BaseException:
        f.last_words()
        raise
    finally:
        f.stop()
    print("\nasleep: a machine went back without its tenant, and what it was owed was paid\n"
          "1 passed, 0 failed")


if __name__ == "__main__":
    main()
