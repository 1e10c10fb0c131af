#!/usr/bin/env python3
"""Two replicas on real components: one is killed, one is stopped during an act and continues later.

    tests/real/failover.py [--folder FOLDER]

Two `drover run` behind one address, and a machine whose BMC has sessions. While the machine is
being prepared, the leader is killed with -9 and the other replica brings the pod up. While the
machine is released, the leader is stopped (SIGSTOP) with its act already sent to the BMC; and once
more just before it sends one, in a wipe requested by an operator. Each time the other replica takes
over and finishes; then the first continues, finds its session ended, and does nothing. The requests
received by the BMC decide the result. Machines reach the replica that the EndpointSlice of the
Service drover names. Exits 0 only if everything worked.
"""
import argparse
import json
import pathlib
import signal
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fleet  # noqa: E402  (beside this file)
import replicas  # noqa: E402
import testbed  # noqa: E402
import traces  # noqa: E402
from testbed import session_proxy  # noqa: E402

TAKEOVER_S = 40
RESET = "/Actions/ComputerSystem.Reset"


class Gate:
    """Delays one request to the BMC, of the requested kind, until open() is called."""

    def __init__(self):
        self.wanted = None  # called with each request: true if it must be delayed
        self.held = None  # the delayed request
        self.caught, self.open = threading.Event(), threading.Event()
        self.unplugged = False

    def __call__(self, request):
        if self.unplugged:
            return session_proxy.DROP
        if self.wanted and self.wanted(request):
            self.wanted, self.held = None, request
            self.caught.set()
            self.open.wait(testbed.pace.limit(120))
        return None

    def hold(self, wanted):
        self.caught.clear()
        self.open.clear()
        self.held, self.wanted = None, wanted


def leader(f, limit_s=TAKEOVER_S, but=None):
    """Waits for a leader other than `but`; returns that replica."""
    def leads():
        f.check()
        now = f.door.leader
        return now if now and now is not but and now.name == f.holder() else None
    return testbed.wait_for("a leader" + (f" that is not {but.name}" if but else ""), leads,
                            limit_s, 0.1)


def effects(requests, session=None):
    return [r for r in requests if r.effect and (session is None or r.named == session)]


def stopped_in_the_middle(f, gate, what, wanted, done):
    """Stops the leader while the BMC delays `wanted` of it; the other replica leads and continues
    until done(); then the first continues. No request of the first may take effect."""
    print(f"         {what}", flush=True)
    gate.hold(wanted)
    old = leader(f)
    f.until(what, gate.caught.is_set, 240)
    held = gate.held
    old.signal(signal.SIGSTOP)
    stopped_at = time.monotonic()
    print(f"         {old.name} stopped; its {held.method} {held.path.rsplit('/', 1)[1]} of session "
          f"{held.named} is held", flush=True)
    # The stopped replica cannot answer: f.check() only checks that it is alive.
    new = leader(f, but=old)
    print(f"         {new.name} leads after {time.monotonic() - stopped_at:.1f} s", flush=True)
    ended = testbed.wait_for("the predecessor's session deleted", lambda: next(
        (r for r in f.proxy.log if r.at > stopped_at and r.method == "DELETE"
         and r.path.endswith(f"/Sessions/{held.named}") and r.status == 204), None), 30, 0.05)
    f.until("the other goes on", done, 240)
    first = next((r for r in f.proxy.log if r.at > stopped_at and r.effect), None)
    assert first is None or first.at >= ended.done, (
        f"{first} came before the session of {old.name} was deleted")
    gate.open.set()
    old.signal(signal.SIGCONT)
    resumed_at = time.monotonic()
    testbed.wait_for(f"{old.name} finds that it does not lead", lambda: (
        "no longer the leader" in old_log(f, old)), 20, 0.1)
    # Several renewals and polls, so that it has done whatever it would do.
    time.sleep(testbed.pace.limit(12))
    f.check()
    log = list(f.proxy.log)
    took = [r for r in effects(log, held.named) if r.at > stopped_at or r is held]
    assert all(r.status == 401 for r in took if r.status != "dropped"), took
    assert held.status == 401, f"what was held until the end was answered {held.status}"
    # The old leader may log in again to learn that; an act in such a session would come from a
    # replica that does not lead. All sessions opened after the takeover that acted are the new
    # leader's.
    own = sessions_of(f, new, old)
    strange = [r for r in effects(log) if r.at > resumed_at and r.named not in own
               and r.status != 401]
    assert not strange, f"acts after {old.name} went on, of no session in the journal: {strange}"
    assert f.holder() == new.name, f"{f.holder()} leads"
    print(f"         {old.name} went on: {len(took)} of its acts at the BMC, all refused", flush=True)
    return new


def old_log(f, replica):
    return (f.folder / f"{replica.name}.log").read_text(errors="replace")[replica.log_from:]


def sessions_of(f, new, old):
    """Returns the numbers of the sessions that the journal named since `new` leads."""
    del new, old
    uris = {(o.get("status", {}).get("bmc") or {}).get("sessionURI") or ""
            for _, _, o in f.watch.seen}
    return {u.rsplit("/", 1)[1] for u in uris if u}


def as_wanted(f, before, tenancies, wipes, boots):
    """Checks that the remaining objects correspond to this number of tenancies, wipes and agent
    boots."""
    after = traces.settled(f)
    got = traces.change(before, after)
    assert [json.loads(r)["verdict"] for r in got["records"]] == ["Clear"] * wipes, got["records"]
    due = {"tenancy": tenancies, "record of": tenancies, "agent boots": boots, "failures": {},
           "objects": {"wiperecords": wipes}, "open media": False,
           **{k: before[k] for k in ("spec", "finalizers", "power", "medium", "override",
                                     "team-a: nodes", "team-b: nodes", "team-a: secrets",
                                     "team-b: secrets")}}
    wrong = {k: (got[k], due[k]) for k in due if got[k] != due[k]}
    assert not wrong, f"not as after an undisturbed run (is, should be): {wrong}"
    assert after["status"]["state"] == "free" and after["status"]["clean"], after["status"]
    assert not after["status"].keys() & {"claimRef", "quarantine"}, after["status"]


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--folder", type=pathlib.Path)
    args = args.parse_args()
    folder = args.folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-failover-"))
    print(f"Logs and keys: {folder}", flush=True)
    timer = testbed.Timer()
    gate = Gate()
    f = replicas.Fleet(folder, "drover-failover", hold=gate, names=("drover-1", "drover-2"),
                       service=True)
    try:
        f.start()
        f.drover.all[1].start()
        timer.phase("everything started, two replicas")
        f.wait_state("free", limit_s=200)
        before = traces.settled(f)
        timer.phase("machine free and off")

        first = leader(f)
        f.tenants["team-a"].apply(fleet.gpu_pod("train", fleet.GPUS))
        f.until("imaging", lambda: f.status().get("state") == "imaging", 120)
        killed_at = time.monotonic()
        with f.drover.lock:
            first.kill()
            first.process = None
        second = leader(f, but=first)
        print(f"         {first.name} killed; {second.name} leads after "
              f"{time.monotonic() - killed_at:.1f} s", flush=True)
        first.start()
        f.until("the pod Running", lambda: f.pod_running("team-a", "train"), 300)
        f.until("serving", lambda: f.status()["state"] == "serving", 60)
        timer.phase("pod Running, brought by the other")

        claim = f.get("nodeclaims")[0]["metadata"]["name"]
        f.tenants["team-a"].kubectl("delete", "pod", "train", "--wait=false")
        for r in f.drover.all:
            r.log_from = 0
        threading.Timer(0.5, lambda: f.host.kubectl(
            "delete", "nodeclaim", claim, "--wait=false")).start()
        stopped_in_the_middle(
            f, gate, "stopped with its power-off at the BMC's door",
            lambda r: r.method == "POST" and r.path.endswith(RESET),
            lambda: f.status()["state"] == "dirty")
        f.until("free", lambda: f.status()["state"] == "free" and f.vm.power() == "Off", 240)
        timer.phase("off, cut, left and wiped by the other")
        as_wanted(f, before, tenancies=1, wipes=1, boots=2)
        for r in f.drover.all:
            r.log_from = len(old_log(f, r))
        approval = {"approval": {"action": "Wipe", "id": "once-more"}}
        f.host.kubectl("patch", "machine", f.vm.name, "--type=merge", "-p",
                       json.dumps({"spec": approval}))
        before["spec"] |= approval
        stopped_in_the_middle(
            f, gate, "stopped about to send, its wipe's boot in the journal",
            lambda r: r.method == "GET" and r.named is not None and (
                f.status().get("operation") or {}).get("step") in ("insert-media", "boot-media",
                                                                   "power-on"),
            lambda: f.status()["state"] in ("wiping", "verifying", "free"))
        f.until("free again", lambda: f.status()["state"] == "free" and
              f.vm.power() == "Off", 240)
        timer.phase("wiped and free again")
        as_wanted(f, before, tenancies=1, wipes=2, boots=3)
        assert f.rack.password not in f.logs(), "the BMC's password is in a log"
    except BaseException:
        gate.open.set()
        for r in f.drover.all:
            if r.process:
                r.signal(signal.SIGCONT)
        f.last_words()
        print("\n".join(map(str, f.proxy.log[-40:])) if f.proxy else "", flush=True)
        raise
    finally:
        f.stop()
    print("\nfailover: killed once, stopped twice, nothing done twice\n1 passed, 0 failed")


if __name__ == "__main__":
    main()
