#!/usr/bin/env python3
"""The way back on real parts: one machine serves a tenant, is wiped, and serves the other.

    tests/real/round_trip.py [--folder FOLDER]

Tenant A's pod plants known bytes on every drive.  A Drain meets a PodDisruptionBudget, escalates at
its deadline; the machine is switched off, cut off, wiped and proved.  The files behind the drives,
searched from outside, hold the bytes before and not after; then tenant B's pod runs on the same
machine.  All the while the kernel that carries the machine's packets tells where its port was.

Beside it stands a machine whose second drive loses every write when it is switched off, while it
reads back well until then: only the search from outside can tell, and has to.  Its Provider wants
Purge, which an emulated drive cannot earn.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fleet  # noqa: E402  (beside this file)
import testbed  # noqa: E402
from fleet import PROVISIONING, QUARANTINE  # noqa: E402
from testbed import drive  # noqa: E402

FLOOR_S = 25  # off observed twice 6, agent home 6.5, inspect, wipe and verify 6, off again 6
STAMP_BYTES = 4096  # what the agent leaves at the beginning of a clean drive
COPIES = 3  # of what is planted on a drive that holds no file system
LINES = (1 << 20) // 64
UNTOUCHED = (COPIES * LINES, COPIES * (1 << 20) - STAMP_BYTES)  # see remains()

# Where a machine's port is while it is in that state.
PLACE = {"inspecting": QUARANTINE, "wiping": QUARANTINE, "verifying": QUARANTINE,
         "imaging": PROVISIONING, "booting": "tenant", "joining": "tenant", "gating": "tenant",
         "serving": "tenant", "draining": "tenant"}


class Round(fleet.Fleet):
    """Two machines: [0] goes round, [1] is the control."""

    def __init__(self, folder):
        super().__init__(folder, machines=2, prefix="drover-round", isolated=True)
        self.rack.lost_writes = {(1, 1)}
        self.control_marker = marker("control")
        self.seen = set()  # (state, segment) of machine 0

    def apply_objects(self):
        # Before drover knows of it, as if a tenant had had it.
        drives = self.rack.machines[1].drives
        for path in drives:
            plant(path, self.control_marker)
        assert remains(drives, self.control_marker) == [UNTOUCHED] * len(drives)
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
        if vm is self.rack.machines[1]:
            m["spec"]["providerRef"]["name"] = "strict"
        return m

    def check(self):
        super().check()
        self.look()

    def look(self):
        """Its status.  Notes where machine 0 is, when state and place did not change meanwhile."""
        name = self.rack.machines[0].name
        before = self.network.where(name)
        status = self.get("machines", name).get("status", {})
        state = status.get("state")
        if self.network.where(name) == before:
            self.seen.add((state, before))
            # On its way home, when its evidence is good already: off first.
            if (state, before) == ("verifying", PROVISIONING):
                assert self.rack.machines[0].power() == "Off", "moved home while it was on"
        return status


def marker(who):
    return f"drover-planted-{who}-{uuid.uuid4().hex[:24]}"


def plant(path, mark):
    """As a tenant would, from outside."""
    with open(path, "r+b") as f:
        size = os.fstat(f.fileno()).st_size
        for at in (0, size // 2, size - (1 << 20)):
            f.seek(at)
            f.write(b"".join(f"{mark:<54} {n:08}\n".encode() for n in range(LINES)))


def left_on(paths, mark):
    """On each drive, how often the bytes stand."""
    return [drive.count(path, mark.encode()) for path in paths]


def remains(paths, mark):
    """The check that everything here is for, of machines that are off: what each drive still holds,
    as (how often the bytes, how many bytes but zeros behind the stamp).  Wiped: (0, 0)."""
    return list(zip(left_on(paths, mark), (drive.not_zero(p, STAMP_BYTES) for p in paths)))


def planted(paths, mark):
    """On the root drive the pod's own manifest names the marker too."""
    root, data = left_on(paths, mark)
    return root >= LINES and data == COPIES * LINES


def planting_pod(name, vm, mark):
    pod = fleet.gpu_pod(name, fleet.GPUS)
    pod["metadata"]["labels"] = {"app": name}
    pod["spec"]["volumes"] = [{"name": "host", "hostPath": {"path": "/"}}]
    pod["spec"]["containers"][0] |= {
        "command": ["/plant", mark, "/host/var/lib/planted", mark, f"nvme:{vm.serial}N1"],
        "securityContext": {"privileged": True},
        "volumeMounts": [{"name": "host", "mountPath": "/host"}]}
    return pod


def budget(name):
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": name}}}}


def drain(f, name, deadline_s):
    f.host.apply({"apiVersion": fleet.API, "kind": "Drain", "metadata": {"name": name}, "spec": {
        "reason": "real test", "machineNames": [f.rack.machines[0].name],
        "deadline": after(deadline_s), "onDeadline": "Escalate", "then": "Release"}})


def after(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))


def serve(f, tenant, pod):
    """The pod is created and runs on machine 0: seconds it took."""
    name, began = pod["metadata"]["name"], time.monotonic()
    f.tenants[tenant].apply(pod)
    f.until(f"pod {tenant}/{name} Running",
            lambda: f.look()["state"] == "serving" and f.pod_running(tenant, name), 300)
    status = f.look()
    assert status["tenant"]["name"] == tenant, status["tenant"]
    node = f.pod_running(tenant, name)["spec"]["nodeName"]
    assert status["claimRef"]["name"] == node, status["claimRef"]
    return time.monotonic() - began


def released(f, tenant, name):
    """From the last pod's end, or when it was not waited for any more, until the machine is free:
    seconds.  The pod's object is gone by then too."""
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
    """Free, off, in provisioning, with good evidence of the tenancy that ended, and truly so."""
    vm = f.rack.machines[0]
    status = f.look()
    record = f.get("wiperecords", status["lastWipe"]["record"])["spec"]
    assert status["lastWipe"]["tenancy"] == tenancy == record["tenancy"], status
    assert record["verdict"] == "Clear", record["verdict"]
    assert {d["bytes"] for d in record["devices"]} == {p.stat().st_size for p in vm.drives}, record
    assert not status.get("claimRef") and status["clean"], status
    f.until("off and in provisioning",
            lambda: vm.power() == "Off" and f.network.where(vm.name) == PROVISIONING, 60)
    rest = remains(vm.drives, mark)
    assert rest == [(0, 0)] * len(vm.drives), f"(markers, bytes) left on the drives: {rest}"


def nothing_left(f, tenant, node):
    plane = f.tenants[tenant]
    assert not plane.node(node), "the Node is still there"
    tokens = [s["metadata"]["name"]
              for s in plane.get("/api/v1/namespaces/kube-system/secrets")["items"]
              if (s["metadata"].get("labels") or {}).get("drover.dev/nodeclaim") == node]
    assert not tokens, tokens
    assert not f.get("nodeclaims", node), "the claim is still there"


def segments_reach(f):
    """From a guest's place in each segment: all that may be reached, and nothing else there is."""
    own = [a["local"] for link in json.loads(testbed.network.ip("-j", "-4", "address"))
           for a in link["addr_info"]]
    ports = {*f.ports.values(), f.files.port, f.rack.port, 22}
    for plane in (f.host, *f.tenants.values()):
        ports |= {plane.port, plane.etcd_port}
    targets = [(host, port) for port in sorted(ports)
               for host in {testbed.GUEST_SEES_HOST, *own}]
    for segment, allowed in f.may_reach().items():
        got = f.network.reaches(segment, targets)
        want = sorted((testbed.GUEST_SEES_HOST, port) for port in allowed)
        assert got == want, f"{segment} reaches {got}, not {want}"


class Driver:
    """The driver of examples/, asked as drover asks it."""

    def __init__(self, f, names):
        config = f.write_driver_config("stand-ins", names)
        self.process = subprocess.Popen([str(fleet.DRIVER), str(config)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.id = 0
        self.ask(op="hello", protocol=1)

    def ask(self, **request):
        self.id += 1
        print(json.dumps({"id": self.id, **request}), file=self.process.stdin, flush=True)
        reply = json.loads(self.process.stdout.readline())
        assert reply["id"] == self.id and "error" not in reply, reply
        return reply

    def place(self, name, segment):
        common = {"machine": name, "mac": None, "operation": "stand-in", "fence": 1,
                  "limitMs": 30000}
        self.ask(op="place", segment=segment, **common)
        seen = self.ask(op="observe", **common)
        assert (seen["segment"], seen["proof"]) == (segment, "Strong"), seen

    def stop(self):
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()


def kept_apart(f):
    """Of two ports that the driver put into a segment where machines wait, neither hears the
    other, and a machine that is there answers its segment's side alone; in a tenant's segment they
    do hear each other.  Nothing of drover stands between them: it is the driver's work."""
    net = f.network
    one, other = net.stand_in("one", "10.0.2.251"), net.stand_in("other", "10.0.2.252")
    driver = Driver(f, ["one", "other"])
    for segment, want in ((QUARANTINE, None), ("tenant/team-a", "both"), (PROVISIONING, None),
                          (QUARANTINE, None)):
        driver.place("one", segment)
        driver.place("other", segment)
        outside = net.outside(segment)
        for a, b in ((one, other), (other, one)):
            got = a.is_heard_by(b)
            assert got == want, f"{segment}: one port's frames arrive at the other: {got}, not {want}"
            assert a.is_heard_by(outside) == "both" == outside.is_heard_by(a), segment
        outside.close()
    driver.stop()
    outside = net.outside(QUARANTINE)

    def asked():
        """True when a machine was there from before the question that it must not answer until
        after the same question from a port that is not kept apart."""
        for vm in f.rack.machines:
            address = net.address(QUARANTINE, vm.mac)
            if not address or not outside.gets_answer_from(address):
                continue
            answered = one.gets_answer_from(address)
            net.keep_apart("one", False)
            there = one.gets_answer_from(address)
            net.keep_apart("one", True)
            if there and net.where(vm.name) == QUARANTINE:
                assert not answered, f"{vm.name} in quarantine is reached from another port there"
                return True
        return False
    f.until("a machine that answers in quarantine", asked, 240)
    for place in (one, other, outside):
        place.close()


def control(f):
    """The drive that loses writes is one that was never wiped: what the agent says of it is good,
    and the check from outside, the very one that the other machine passes, is not.  And a
    Provider's floor that is above what was earned."""
    vm = f.rack.machines[1]

    def quarantined():
        return f.states()[vm.name].get("state") == "quarantined"
    testbed.wait_for("the control machine quarantined", quarantined, 240, 0.5)
    status = f.states()[vm.name]
    assert "EraseBelowPolicy" in json.dumps(status), status
    records = [r["spec"] for r in f.get("wiperecords") if r["spec"]["machine"]["name"] == vm.name]
    assert records and all(r["verdict"] == "Clear" for r in records), records
    told = {d["bytes"]: d["canaries"] for d in records[-1]["devices"]}
    assert set(told) == {p.stat().st_size for p in vm.drives}, records
    assert all(c["planted"] and not c["found"] for c in told.values()), told
    vm.power_off()  # the plug pulled: now the drive is what it is
    left = remains(vm.drives, f.control_marker)
    assert left == [(0, 0), UNTOUCHED], (
        f"the check does not tell a wiped drive from another: {left}")
    assert f.network.where(vm.name) == QUARANTINE, f.network.where(vm.name)


def purge_wanted(f, tenant):
    """No machine of a pool whose floor nothing has reached; the pod's event says so."""
    pod = fleet.gpu_pod("strict", fleet.GPUS)
    pod["spec"]["nodeSelector"] = {"drover.dev/nodepool": "purge"}
    f.tenants[tenant].apply(pod)

    def told():
        events = f.tenants[tenant].get("/api/v1/namespaces/default/events")["items"]
        return [e["message"] for e in events if e["involvedObject"]["name"] == "strict"
                and "EraseBelowPolicy" in e["reason"] + e["message"]]
    message = testbed.wait_for("EraseBelowPolicy in the pod's events", told, 60, 0.5)
    assert f.look()["state"] == "free"
    f.tenants[tenant].api("DELETE", "/api/v1/namespaces/default/pods/strict")
    return message[0]


def verified(f):
    """An auditor's look at all records, with drover's own tool."""
    done = subprocess.run(
        [fleet.DROVER, "wipe", "verify", "--kubeconfig", f.host.kubeconfig,
         *[r["metadata"]["name"] for r in f.get("wiperecords")]],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return len(f.get("wiperecords"))


def first_tenant(f, timer):
    """Tenant A: planted, drained against a budget, wiped."""
    vm, mark = f.rack.machines[0], marker("a")
    serve(f, "team-a", planting_pod("train", vm, mark))
    node = f.look()["claimRef"]["name"]
    f.view.done()
    timer.phase("team-a/train Running")
    testbed.wait_for("bytes planted on both drives",
                     lambda: planted(vm.drives, mark), 30, 0.5)
    before = [f.folder / f"before.nvme{n}" for n in range(len(vm.drives))]
    f.tenants["team-a"].apply(budget("train"))
    path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/train"
    testbed.wait_for("the budget counts its pod",
                     lambda: f.tenants["team-a"].get(path)["status"].get("currentHealthy"), 30)
    drain(f, "round-1", 3600)

    def blocked():
        targets = (f.get("drains", "round-1").get("status") or {}).get("targets", [])
        return targets and "train" in (targets[0].get("blockedBy") or "")
    f.until("the Drain says what blocks it", blocked, 60)
    assert f.pod_running("team-a", "train"), "evicted against its budget"
    # A copy for the search, while the tenant's bytes are there.
    for source, copy in zip(vm.drives, before):
        subprocess.run(["cp", "--sparse=always", str(source), str(copy)], check=True)
    f.view.done()
    timer.phase("drain blocked by the budget, named in the Drain")
    f.host.api("PATCH", f"/apis/{fleet.API}/drains/round-1", {"spec": {"deadline": after(1)}})
    took = released(f, "team-a", "train")
    clean(f, 2, mark)
    nothing_left(f, "team-a", node)
    f.until("Drain Succeeded",
            lambda: f.get("drains", "round-1")["status"]["phase"] == "Succeeded", 30)
    f.view.done()
    timer.phase(f"escalated, off, cut, wiped, free: {took:.1f} s")
    assert planted(before, mark), "the search finds nothing any more"
    for copy in before:
        copy.unlink()
    return took, mark


def next_tenant(f, timer, tenant, number, mark):
    """The other one, on the same machine; it ends by a Drain that nothing is in the way of."""
    vm = f.rack.machines[0]
    serve(f, tenant, fleet.gpu_pod("next", fleet.GPUS))
    node = f.look()["claimRef"]["name"]
    assert left_on(vm.drives, mark) == [0, 0]
    f.view.done()
    timer.phase(f"{tenant}/next Running on the same machine")
    subprocess.run([fleet.DROVER, "drain", node, "--kubeconfig", f.host.kubeconfig,
                    "--reason", "real test"], check=True, capture_output=True)
    took = released(f, tenant, "next")
    clean(f, number + 1, mark)
    nothing_left(f, tenant, node)
    f.view.done()
    timer.phase(f"drained, off, cut, wiped, free: {took:.1f} s")
    return took


def places(f):
    """Each move of the port, and that states and places fit."""
    home = [QUARANTINE, PROVISIONING]
    want = home + ["tenant/team-a", *home, "tenant/team-b", *home, "tenant/team-a", *home]
    moves = f.network.moves(f.rack.machines[0].name)
    assert moves == want, moves
    for state, place in sorted(f.seen, key=str):
        expected = PLACE.get(state)
        # Proved and off, it is moved home before it is called free.
        home_already = state == "verifying" and place == PROVISIONING
        assert not expected or home_already or str(place).startswith(expected), f"{state} in {place}"
    missing = {"wiping", "imaging", "serving"} - {s for s, _ in f.seen}
    assert len(missing) < 2, f"never seen: {missing}"


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--folder", type=pathlib.Path)
    args = args.parse_args()
    folder = args.folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-round-"))
    print(f"Logs and keys: {folder}", flush=True)
    testbed.parts.paths()
    timer = testbed.Timer()
    f = Round(folder)
    try:
        f.start()
        timer.phase("everything started, machines known and off")
        segments_reach(f)
        timer.phase("each segment reaches what it may, and nothing else")
        kept_apart(f)
        f.view.done()
        timer.phase("in quarantine and provisioning no machine reaches another")
        f.wait_state("free", [f.rack.machines[0].name], 300)
        f.view.done()
        timer.phase("machine free")
        control(f)
        timer.phase("control: lost writes found by the search; a floor of Purge quarantines")
        clean(f, 1, f.control_marker)
        print("  " + purge_wanted(f, "team-b"), flush=True)
        timer.phase("a pool that wants Purge gets no machine, its pod is told")
        took, mark = first_tenant(f, timer)
        times = [took]
        for number, tenant in ((2, "team-b"), (3, "team-a")):
            times.append(next_tenant(f, timer, tenant, number, mark))
        places(f)
        count = verified(f)
        timer.phase(f"places fit states; {count} wipe records good")
        fleet.bench("real_release_to_free_s", statistics.median(times), "s", 45, "lower",
                    ("floor of the parts themselves", FLOOR_S), len(times))
    except BaseException:
        f.last_words()
        raise
    finally:
        f.stop()
    if not args.folder:
        shutil.rmtree(folder)
    print("\nround trip: one machine, three tenancies, every drive searched from outside\n"
          "1 passed, 0 failed")


if __name__ == "__main__":
    main()
