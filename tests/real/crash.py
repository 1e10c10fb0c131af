#!/usr/bin/env python3
"""Kills the controller in every state of one round trip, on real parts.

    tests/real/crash.py [--folder FOLDER] [--only COUNT]

One machine goes from free to a running pod and back to free, wiped.  In each state, and right
after the journal named each kind of act, drover is killed with -9 and started again at once.
The end must be that of an undisturbed run: one claim served, one wipe with one good record, one
boot of the agent for each way, nothing left behind.  Prints a line for each kill; exits 0 only
when all of it worked.
"""
import argparse
import pathlib
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fleet  # noqa: E402  (beside this file)
import main_job  # noqa: E402
import replicas  # noqa: E402
import testbed  # noqa: E402
from smoke import Bmc  # noqa: E402

COMING = ("claimed", "imaging", "attaching", "booting", "joining", "gating", "serving")
GOING = ("draining", "stopping", "isolating", "leaving", "dirty", "inspecting", "wiping",
         "verifying")
# Acts whose journal entry is a moment as well; the request may have left or not.
ACTS = ("claimed/insert-media", "claimed/boot-media", "claimed/power-on", "imaging/order image",
        "imaging/order config", "imaging/order poweroff", "imaging/eject-media",
        "booting/power-on", "stopping/power-off", "dirty/insert-media", "dirty/power-on",
        "wiping/order wipe", "verifying/order verify", "verifying/order stamp",
        "verifying/order poweroff", "verifying/eject-media")
# In these the one who follows has another name, and waits for the lease to run out.
OTHERS = ("imaging", "draining", "wiping")
RECOVER_LIMIT_S = 60


class Killer:
    """Kills at the first sight of each moment, starts again, and waits until the journal shows
    the new leader's fence."""

    def __init__(self, f, limit):
        self.f, self.left = f, limit
        self.replica = f.drover.all[0]
        self.names = 1
        self.done = []      # (moment, seconds to the new fence, another identity)
        self.busy = threading.Event()
        self.met = set()
        self.killed_at = self.fence = self.moment = None
        self.other = False
        f.watch.on.append(self.see)

    def see(self, machine):
        """In the watch's thread: the kill comes within milliseconds of the write."""
        status = machine.get("status", {})
        op = status.get("operation") or {}
        if self.busy.is_set():
            if op.get("fence", 0) <= self.fence:
                return
            self.done.append((self.moment, time.monotonic() - self.killed_at, self.other))
            print(f"         killed in {self.moment:24} back after "
                  f"{self.done[-1][1]:5.1f} s{'  (another name)' if self.other else ''}",
                  flush=True)
            self.busy.clear()  # and this write may be the next moment
        state = status.get("state")
        moment = next((m for m in (state, f"{state}/{op.get('step')}")
                       if m in COMING + GOING + ACTS and m not in self.met), None)
        if not moment or not self.left:
            return
        self.met.add(moment)
        self.left -= 1
        self.moment, self.fence = moment, op.get("fence", 0)
        self.other = moment in OTHERS
        self.busy.set()
        with self.f.drover.lock:
            self.killed_at = time.monotonic()
            self.replica.kill()
            self.names += self.other
            self.replica.start(identity=f"replica-{self.names}")

    def check(self):
        self.f.watch.check()
        if self.busy.is_set() and time.monotonic() - self.killed_at > RECOVER_LIMIT_S:
            raise TimeoutError(f"killed in {self.moment}: nobody went on")


def what_is_left(f):
    """What an undisturbed round trip leaves, but for names and times."""
    vm = f.vm
    machine = f.get("machines", vm.name)
    status = machine["status"]
    bmc = Bmc(f.rack, vm)
    boot = bmc.call("GET")["Boot"]
    medium = bmc.call("GET", "/VirtualMedia/Cd")
    return {
        "state": status["state"], "clean": status.get("clean"), "power": vm.power(),
        "claim": status.get("claimRef"), "quarantine": status.get("quarantine"),
        "failures": [x["reason"] for x in status.get("failures") or []],
        "tenancy": status["tenancy"],
        "finalizers": machine["metadata"].get("finalizers"),
        "medium": medium.get("Image") or None, "override": boot["BootSourceOverrideTarget"],
        "records": sorted((r["spec"]["tenancy"], r["spec"]["verdict"])
                          for r in f.get("wiperecords")),
        "last record": f.get("wiperecords", status["lastWipe"]["record"])["spec"]["tenancy"],
        "claims": len(f.get("nodeclaims")),
        "nodes": sum(len(t.get("/api/v1/nodes")["items"]) for t in f.tenants.values()),
        "tokens": sum(1 for t in f.tenants.values()
                      for s in t.get("/api/v1/namespaces/kube-system/secrets")["items"]
                      if (s["metadata"].get("labels") or {}).get("drover.dev/nodeclaim")),
        "agent boots": vm.console_text().count("msg=drover-agent"),
    }


def wanted(before):
    """Of one round trip that began as `before`."""
    return {**before, "tenancy": before["tenancy"] + 1,
            "records": before["records"] + [(before["tenancy"] + 1, "Clear")],
            "last record": before["tenancy"] + 1,
            "agent boots": before["agent boots"] + 2}


def round_trip(f, view, killer):
    def show(note):
        killer.check()
        f.drover.check()
        view.show(f.states(), note)
    f.tenants["team-a"].apply(fleet.gpu_pod("train", fleet.GPUS))
    testbed.wait_for("the pod Running", lambda: (show("pod pending"),
                     f.pod_running("team-a", "train"))[1], 400, 0.2)
    testbed.wait_for("serving", lambda: (show("pod Running"), not killer.busy.is_set() and
                     f.status().get("state") == "serving")[1], 120, 0.2)
    claims = f.get("nodeclaims")
    assert len(claims) == 1, [c["metadata"]["name"] for c in claims]
    assert f.pod_running("team-a", "train")["spec"]["nodeName"] == claims[0]["metadata"]["name"]
    f.tenants["team-a"].kubectl("delete", "pod", "train", "--wait=false")
    f.host.kubectl("delete", "nodeclaim", claims[0]["metadata"]["name"], "--wait=false")
    testbed.wait_for("free again", lambda: (show("claim deleted"), not killer.busy.is_set() and
                     f.status().get("state") == "free" and f.vm.power() == "Off")[1], 400, 0.2)


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--folder", type=pathlib.Path)
    args.add_argument("--only", type=int, default=1000, help="no more kills than these")
    args = args.parse_args()
    folder = args.folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-crash-"))
    print(f"Logs and keys: {folder}", flush=True)
    timer = testbed.Timer()
    f = replicas.Fleet(folder, "drover-crash")
    f.identity = "replica-1"
    view = fleet.View()
    try:
        f.start()
        timer.phase("everything started, machine known and off")
        f.wait_state("free", limit_s=200, view=view)
        before = what_is_left(f)
        view.done()
        timer.phase("machine inspected, wiped, proved: free and off")
        killer = Killer(f, args.only)
        round_trip(f, view, killer)
        view.done()
        timer.phase(f"there and back, {len(killer.done)} kills")
        main_job.phases(view, [f.vm.name])
        after, due = what_is_left(f), wanted(before)
        wrong = {k: (after[k], due[k]) for k in due if after[k] != due[k]}
        assert not wrong, f"not as after an undisturbed run (is, should be): {wrong}"
        log = f.logs()
        assert f.rack.password not in log, "the BMC's password is in the log"
        assert "BEGIN" not in log and "token-secret" not in log, "key material is in the log"
        missed = set(COMING + GOING + ACTS) - killer.met
        if args.only >= len(COMING + GOING + ACTS):
            assert not missed, f"never seen: {missed}"
        took = [s for _, s, other in killer.done if other]
        if took:
            fleet.bench("recover_s", statistics.median(took), "s", 35, "lower",
                        ("the lease of a leader that died", 15), len(took))
    except BaseException:
        view.done()
        print(f"\nIt did not work; the end of {folder}/drover-1.log:", flush=True)
        print("\n".join(f.logs().splitlines()[-25:]), flush=True)
        raise
    finally:
        f.stop()
    print(f"\ncrash: {len(killer.done)} kills with -9 in one round trip, the end is that of an "
          "undisturbed one\n1 passed, 0 failed")


if __name__ == "__main__":
    main()
