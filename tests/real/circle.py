#!/usr/bin/env python3
"""The main cycle on real components: two tenants, and one machine that serves first one, then the
other.

    tests/real/circle.py [--folder FOLDER]

A real API server and scheduler hold the pods. drover boots virtual machines only through their
BMCs, its agent wipes them and writes an operating-system image, a real kubelet joins the right
tenant, and the pods run.

The pod of tenant A writes known bytes to every drive of its machine. A Drain meets a
PodDisruptionBudget and escalates at its deadline; the machine is switched off, isolated, wiped and
proved clean. A search of the files behind the drives, from outside, finds the bytes before and not
after; then a pod of tenant B runs on the same machine. All the while the kernel that switches the
machine's packets reports in which segment its port was.

The control is a machine whose second drive loses every write at power-off, although it reads back
correctly until then: only the search from outside can find that, and must. Its Provider requires
Purge, which an emulated drive cannot reach.
"""
import argparse
import functools
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import apart  # noqa: E402  (beside this file)
import fleet  # noqa: E402
import planted  # noqa: E402
import serving  # noqa: E402
import testbed  # noqa: E402
from fleet import PROVISIONING, QUARANTINE  # noqa: E402

# Time that the components need without drover, each the reference of a benchmark.
PENDING_FLOOR_S = 65
# Two observations of off 6, agent home 6.5, inspect, wipe and verify 6, off again 6.
RELEASE_FLOOR_S = 25

# Segment of a machine's port in each state.
PLACE = {"inspecting": QUARANTINE, "wiping": QUARANTINE, "verifying": QUARANTINE,
         "imaging": PROVISIONING, "booting": "tenant", "joining": "tenant", "gating": "tenant",
         "serving": "tenant", "draining": "tenant"}


class Circle(fleet.Fleet):
    """Three machines: [0] makes the cycle, [1] is the control, [2] serves the second tenant."""

    def __init__(self, folder):
        super().__init__(folder, machines=3, prefix="drover-circle", isolated=True)
        self.rack.lost_writes = {(1, 1)}
        self.control_marker = planted.marker("control")
        self.seen = set()  # (state, segment) of the machine in the cycle

    @property
    def vm(self):
        """The machine that makes the cycle."""
        return self.rack.machines[0]

    @property
    def control(self):
        return self.rack.machines[1]

    def ready(self):
        """Returns the names of the machines that can serve pods."""
        return [self.vm.name, self.rack.machines[2].name]

    def apply_objects(self):
        # Before drover knows the machine, as left by an earlier tenant.
        drives = self.control.drives
        for path in drives:
            planted.plant(path, self.control_marker)
        assert planted.remains(drives, self.control_marker) == [planted.UNTOUCHED] * len(drives)
        strict = self.provider()
        strict["metadata"]["name"] = "strict"
        strict["spec"]["wipe"]["minimumLevel"]["flash"] = "Purge"
        strict["spec"]["network"]["exec"]["command"][1] = str(self.write_driver_config("strict"))
        purge = self.pool()
        purge["metadata"]["name"] = "purge"
        purge["spec"]["wipe"]["minimumLevel"]["flash"] = "Purge"
        self.host.apply(strict)
        super().apply_objects()
        self.host.apply(purge)

    def machine(self, vm):
        m = super().machine(vm)
        m["metadata"]["labels"] = {planted.RACK: vm.name}
        if vm is self.control:
            m["spec"]["providerRef"]["name"] = "strict"
        return m

    def check(self):
        super().check()
        self.look()

    def look(self):
        """Returns the status of the machine in the cycle. Records its port's segment, unless the
        port moved meanwhile."""
        before = self.network.where(self.vm.name)
        status = self.get("machines", self.vm.name).get("status", {})
        state = status.get("state")
        if self.network.where(self.vm.name) == before:
            self.seen.add((state, before))
            # A machine with valid evidence moves from quarantine to provisioning once it is off.
            if (state, before) == ("verifying", PROVISIONING):
                assert self.vm.power() == "Off", "moved home while it was on"
        return status


def budget(name):
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": name}}}}


def drain(f, name, deadline_s):
    f.host.apply({"apiVersion": fleet.API, "kind": "Drain", "metadata": {"name": name}, "spec": {
        "reason": "real test", "machineNames": [f.vm.name],
        "deadline": after(deadline_s), "onDeadline": "Escalate", "then": "Release"}})


def after(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))


def released(f, tenant, name):
    """Waits until the machine is free and the pod's object is deleted; returns the seconds since
    its last pod ended, or since the wait for it was given up."""
    def pod():
        return f.tenants[tenant].get(f"/api/v1/namespaces/default/pods/{name}")

    f.until(f"pod {tenant}/{name} gone", lambda: f.look()["state"] not in
            ("serving", "draining") or not pod(), 120)
    began = time.monotonic()
    f.until("machine free again", lambda: f.look()["state"] == "free", 240)
    took = time.monotonic() - began
    testbed.wait_for(f"pod {tenant}/{name} deleted", lambda: not pod(), 60)
    return took


def clean(f, tenancy, mark):
    """Checks that the machine is free, off and in provisioning, that its evidence is valid for the
    ended tenancy, and that its drives are empty."""
    status = f.look()
    record = f.get("wiperecords", status["lastWipe"]["record"])["spec"]
    assert status["lastWipe"]["tenancy"] == tenancy == record["tenancy"], status
    assert record["verdict"] == "Clear", record["verdict"]
    assert {d["bytes"] for d in record["devices"]} == {p.stat().st_size for p in f.vm.drives}, record
    assert not status.get("claimRef") and status["clean"], status
    f.until("off and in provisioning",
            lambda: f.vm.power() == "Off" and f.network.where(f.vm.name) == PROVISIONING, 60)
    rest = planted.remains(f.vm.drives, mark)
    assert rest == [(0, 0)] * len(f.vm.drives), f"(markers, bytes) left on the drives: {rest}"


def control(f):
    """Checks that the agent reports the drive that loses writes as clean, that the search from
    outside (the same as for the other machines) finds data on it, and that a level below the
    Provider's minimum leads to quarantine."""
    vm = f.control

    def quarantined():
        return f.states()[vm.name].get("state") == "quarantined"
    f.until("the control machine quarantined", quarantined, 240)
    status = f.states()[vm.name]
    assert "EraseBelowPolicy" in json.dumps(status), status
    records = [r["spec"] for r in f.get("wiperecords") if r["spec"]["machine"]["name"] == vm.name]
    assert records and all(r["verdict"] == "Clear" for r in records), records
    told = {d["bytes"]: d["canaries"] for d in records[-1]["devices"]}
    assert set(told) == {p.stat().st_size for p in vm.drives}, records
    assert all(c["planted"] and not c["found"] for c in told.values()), told
    vm.power_off()  # from now on the drive's writes are lost
    left = planted.remains(vm.drives, f.control_marker)
    assert left == [(0, 0), planted.UNTOUCHED], (
        f"the check does not tell a wiped drive from another: {left}")
    assert f.network.where(vm.name) == QUARANTINE, f.network.where(vm.name)


def want_purge(f, tenant):
    """Creates a pod for the pool whose minimum level no machine has reached."""
    pod = fleet.gpu_pod("strict", fleet.GPUS)
    pod["spec"]["nodeSelector"] = {"drover.dev/nodepool": "purge"}
    f.tenants[tenant].apply(pod)


def refused_purge(f, tenant):
    """Checks that want_purge()'s pod gets none of the free machines; returns the message of its
    event."""
    def told():
        events = f.tenants[tenant].get("/api/v1/namespaces/default/events")["items"]
        return [e["message"] for e in events if e["involvedObject"]["name"] == "strict"
                and "EraseBelowPolicy" in e["reason"] + e["message"]]
    message = f.until("EraseBelowPolicy in the pod's events", told, 60)
    now = f.states()
    assert [now[name]["state"] for name in f.ready()] == ["free"] * len(f.ready()), now
    f.tenants[tenant].api("DELETE", "/api/v1/namespaces/default/pods/strict")
    return message[0]


def runs(f, timer, tenant, name, make=fleet.gpu_pod):
    """Creates a pod that runs on a machine that was off; returns the seconds from Pending to
    Running."""
    pod = (tenant, name)
    took = serving.run_pods(f, [pod], make=make)[pod]
    f.view.done()
    timer.phase(f"{tenant}/{name} Running on {f.pod_running(*pod)['spec']['nodeName']}: {took:.1f} s")
    return took


def serves(f, tenant, name):
    """Checks that the machine in the cycle has that pod; returns the name of its Node."""
    node = f.pod_running(tenant, name)["spec"]["nodeName"]
    status = f.look()
    assert (status["claimRef"]["name"], status["tenant"]["name"]) == (node, tenant), status
    return node


def blocked(f, mark):
    """Checks that a Drain does not evict the pod team-a/train against its budget, and names the
    pod. Returns copies of the drives at that time."""
    testbed.wait_for("bytes planted on both drives",
                     lambda: planted.planted(f.vm.drives, mark), 30, 0.5)
    plane = f.tenants["team-a"]
    plane.apply(budget("train"))
    path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/train"
    testbed.wait_for("the budget counts its pod",
                     lambda: plane.get(path)["status"].get("currentHealthy"), 30)
    drain(f, "round-1", 3600)
    copies = [f.folder / f"before.nvme{n}" for n in range(len(f.vm.drives))]
    for source, copy in zip(f.vm.drives, copies):
        subprocess.run(["cp", "--sparse=always", str(source), str(copy)], check=True)

    def named():
        targets = (f.get("drains", "round-1").get("status") or {}).get("targets", [])
        return targets and "train" in (targets[0].get("blockedBy") or "")
    f.until("the Drain names what blocks it", named, 60)
    assert f.pod_running("team-a", "train"), "evicted against its budget"
    return copies


def first_release(f, timer, mark):
    """Drains team-a/train against a budget and waits until its machine is wiped. Returns the
    seconds until it is free."""
    node = serves(f, "team-a", "train")
    before = blocked(f, mark)
    f.view.done()
    timer.phase("drain blocked by the budget, named in the Drain")
    f.host.api("PATCH", f"/apis/{fleet.API}/drains/round-1", {"spec": {"deadline": after(1)}})
    took = released(f, "team-a", "train")
    clean(f, 2, mark)
    serving.nothing_left(f, "team-a", node)
    f.until("Drain Succeeded",
            lambda: f.get("drains", "round-1")["status"]["phase"] == "Succeeded", 30)
    f.view.done()
    assert planted.planted(before, mark), "the search finds nothing any more"
    for copy in before:
        copy.unlink()
    timer.phase(f"escalated, off, isolated, wiped, free: {took:.1f} s")
    return took


def second_release(f, timer, mark):
    """Drains team-b/next by `drover drain`, with nothing that blocks."""
    node = serves(f, "team-b", "next")
    assert planted.left_on(f.vm.drives, mark) == [0, 0]
    subprocess.run([fleet.DROVER, "drain", node, "--kubeconfig", f.host.kubeconfig,
                    "--reason", "real test"], check=True, capture_output=True)
    took = released(f, "team-b", "next")
    clean(f, 3, mark)
    serving.nothing_left(f, "team-b", node)
    f.view.done()
    timer.phase(f"drained, off, isolated, wiped, free: {took:.1f} s")
    return took


def places(f):
    """Checks each move of the port, and that states and segments match."""
    home = [QUARANTINE, PROVISIONING]
    want = home + ["tenant/team-a", *home, "tenant/team-b", *home]
    moves = f.network.moves(f.vm.name)
    assert moves == want, moves
    for state, place in sorted(f.seen, key=str):
        expected = PLACE.get(state)
        # A proved machine that is off moves to provisioning before its state is free.
        home_already = state == "verifying" and place == PROVISIONING
        assert not expected or home_already or str(place).startswith(expected), f"{state} in {place}"
    missing = {"wiping", "imaging", "serving"} - {s for s, _ in f.seen}
    assert len(missing) < 2, f"never seen: {missing}"


def verified(f):
    """Verifies all wipe records with drover's own tool, as an auditor would; returns their number."""
    names = [r["metadata"]["name"] for r in f.get("wiperecords")]
    done = subprocess.run([fleet.DROVER, "wipe", "verify", "--kubeconfig", f.host.kubeconfig, *names],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return len(names)


def arrive(f, timer):
    """Waits, from an empty fleet, until two machines are free and the control is not."""
    f.start()
    timer.phase("everything started, machines known and off")
    apart.segments_reach(f)
    timer.phase("each segment reaches what it may, and nothing else")
    apart.kept_apart(f)
    f.view.done()
    timer.phase("in quarantine and provisioning no machine reaches another")
    f.wait_state("free", f.ready(), 300)
    f.view.done()
    timer.phase("machines inspected, wiped, proved: free and off")
    want_purge(f, "team-b")
    control(f)
    clean(f, 1, f.control_marker)
    for vm in f.rack.machines:
        assert vm.power() == "Off", vm.name
    print("  " + refused_purge(f, "team-b"), flush=True)
    f.view.done()
    timer.phase("control quarantined, its lost writes found; a pod that wants Purge is told")


def go_round(f, timer):
    """Serves both tenants, the second on the machine of the first. Returns the seconds of each
    start until Running, and of each release until free."""
    mark = planted.marker("a")
    plant = functools.partial(planted.planting_pod, vm=f.vm, mark=mark)
    came = [runs(f, timer, "team-a", "train", plant), runs(f, timer, "team-b", "train")]
    serving.check(f, [("team-a", "train"), ("team-b", "train")])
    went = [first_release(f, timer, mark)]
    came.append(runs(f, timer, "team-b", "next"))
    serving.check(f, [("team-b", "train"), ("team-b", "next")])
    went.append(second_release(f, timer, mark))
    return came, went


def measured(f, came, went):
    fleet.bench("real_pending_to_running_s", statistics.median(came), "s", 90, "lower",
                ("floor of the parts themselves", PENDING_FLOOR_S), len(came))
    fleet.bench("real_release_to_free_s", statistics.median(went), "s", 32, "lower",
                ("floor of the parts themselves", RELEASE_FLOOR_S), len(went))
    # Without the first boots; later boots are one machine at a time.
    home = [took for vm in f.rack.machines for took in vm.agent_homes()[1:]]
    fleet.bench("agent_home_s", statistics.median(home), "s", 5, "lower",
                ("a kernel that starts nothing, same machine", 1.9), len(home))
    fleet.bench("agent_image_mib", fleet.ISO.stat().st_size / (1 << 20), "MiB", 20, "lower",
                ("Debian's own kernel and modules in it", 8.25))


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--folder", type=pathlib.Path)
    args = args.parse_args()
    folder = args.folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-circle-"))
    print(f"Logs and keys: {folder}", flush=True)
    testbed.parts.paths()
    timer = testbed.Timer()
    f = Circle(folder)
    try:
        print("Starting a host cluster, two tenants (Kubernetes 1.36), a rack of three machines behind "
              "Redfish BMCs, a bridge for each network segment, and drover.", flush=True)
        arrive(f, timer)
        came, went = go_round(f, timer)
        places(f)
        count = verified(f)
        serving.secrets_kept(f)
        timer.phase(f"places fit states; {count} wipe records good; no secret in the log")
        serving.phases(f.view, [vm.name for vm in f.rack.machines])
        measured(f, came, went)
    except BaseException:
        f.last_words()
        raise
    finally:
        f.stop()
    timer.phase("taken down")
    if not args.folder:
        shutil.rmtree(folder)
    print("\ncircle: 3 pods of 2 tenants Running on machines that were off, one of which served both, and "
          "was searched from outside\n1 passed, 0 failed")


if __name__ == "__main__":
    main()
