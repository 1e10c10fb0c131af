#!/usr/bin/env python3
"""Kills the controller in every state of a machine's cycle, on real components.

    tests/real/crash.py [--folder FOLDER] [--only COUNT]

One machine goes from free to a running pod and back to free, wiped: first undisturbed, then again
with drover killed by -9, and restarted at once, in each state and right after the journal named
each kind of act. What the second cycle has changed (traces.py) must equal what the first has
changed, except for names and times; and so must the state while the pod runs. Prints a line for
each kill; exits 0 only if everything worked.

Some states of api/machine_states.def need an exception. `known` comes before the first cycle, and
drover is killed in it. `quarantined` and `retired` are in no cycle: an operator takes the machine
out of use after the second cycle, and drover is killed in both. In these and in `free` no operation
is in progress: Killer.rested() defines what shows that a new leader is active and did nothing.
`gone` occurs only with elastic machines, not in a rack.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fleet  # noqa: E402  (beside this file)
import replicas  # noqa: E402
import serving  # noqa: E402
import testbed  # noqa: E402
import traces  # noqa: E402
from testbed import pace  # noqa: E402

COMING = ("free", "claimed", "imaging", "attaching", "booting", "joining", "gating", "serving")
GOING = ("draining", "stopping", "isolating", "leaving", "dirty", "inspecting", "wiping",
         "verifying")
# Acts after whose journal entry drover is killed as well; the request may or may not have been
# sent.
ACTS = ("claimed/insert-media", "claimed/boot-media", "claimed/power-on", "claimed/order check",
        "imaging/order unstamp", "imaging/order image", "imaging/order config",
        "imaging/order poweroff", "imaging/eject-media", "attaching/place tenant/team-a",
        "booting/power-on", "stopping/power-off", "isolating/place q-1", "dirty/insert-media",
        "dirty/boot-media", "dirty/power-on", "inspecting/order inspect", "wiping/order wipe",
        "verifying/order verify", "verifying/order stamp", "verifying/order poweroff",
        "verifying/eject-media", "verifying/place p-1")
# Waits for the agent, or an act that is not always needed because the pod may be deleted before it.
NOT_ACTS = ("claimed/agent", "dirty/agent", "draining/evict")
# In these states the next leader has a different name, and waits for the lease to expire.
OTHERS = ("imaging", "draining", "wiping")
# States in which a machine stays and no operation is in progress.
RESTS = ("free", "quarantined", "retired")
ARRIVAL, OUT_OF_USE = ("known",), ("quarantined", "retired")
EVERY = ARRIVAL + COMING + GOING + ACTS + OUT_OF_USE
RECOVER_LIMIT_S = 60
REST_S = 3
UNNAMED_S = 3  # time from a login until the journal names its session, on a quiet machine
LEADS = "msg=leading"


class Killer:
    """Kills drover when a wanted moment is first seen, restarts it, and waits until the journal
    shows the new leader's fence; if the machine is at rest, until rested()."""

    def __init__(self, f, limit):
        self.f, self.left = f, limit
        self.replica = f.drover.all[0]
        self.names, self.identity = 1, f.identity
        self.wanted = ARRIVAL
        # (moment, seconds to the new fence, whether the new leader has a different name).
        self.done = []
        self.busy = threading.Event()
        self.met = set()
        self.killed_at = self.before = self.moment = None
        self.acts = self.leads = 0
        self.kills = []
        self.other = False
        f.watch.on.append(self.see)

    def see(self, machine):
        """Called in the watch's thread: the kill follows the write within milliseconds."""
        status = machine.get("status", {})
        op = status.get("operation") or {}
        if self.busy.is_set():
            if self.moment in RESTS or op.get("fence", 0) <= fence(self.before):
                return
            self.back()  # this write may be the next moment, too
        state = status.get("state")
        moment = next((m for m in (state, f"{state}/{op.get('step')}") if self.due(m)), None)
        if not moment:
            return
        self.left -= 1
        self.moment, self.before = moment, machine
        self.other, self.killed_at = moment in OTHERS, time.monotonic()
        self.kills.append(self.killed_at)
        self.busy.set()
        self.note_met(moment)
        with self.f.drover.lock:
            self.end()
            self.leads = self.log().count(LEADS)
            self.acts = len(self.f.proxy.log)
            self.names += self.other
            self.identity = f"replica-{self.names}"
            self.replica.start(identity=self.identity)

    def due(self, moment):
        """True if drover is to be killed at this moment."""
        return self.left > 0 and moment in self.wanted and moment not in self.met

    def note_met(self, moment):
        self.met.add(moment)

    def end(self):
        self.replica.kill()

    def back(self):
        self.done.append((self.moment, time.monotonic() - self.killed_at, self.other))
        print(f"         killed in {self.moment:24} back after "
              f"{self.done[-1][1]:5.1f} s{'  (another name)' if self.other else ''}",
              flush=True)
        self.busy.clear()

    def log(self):
        return self.replica.process.log.read_text(errors="replace")

    def check(self):
        if self.busy.is_set() and self.moment in RESTS:
            self.rested()
        if self.busy.is_set() and time.monotonic() - self.killed_at > pace.limit(RECOVER_LIMIT_S):
            raise TimeoutError(f"killed in {self.moment}: nobody went on within "
                               f"{pace.words(RECOVER_LIMIT_S)}")

    def rested(self):
        """True if the machine at rest has a new, inactive leader: the restarted process leads and
        holds the lease by its name. Its caches are full and contain the machine in that state. It
        has ended the dead leader's session, observed the machine in a session of its own, and
        recorded that session and its fence in the journal. (A retired machine is not observed any
        more, and keeps no session.) And all of that was long enough ago, with no other act since."""
        f = self.f
        _, metrics = self.replica.ops("/metrics")
        state = self.before["status"]["state"]
        now = f.get("machines", f.vm.name)
        retired = self.moment == "retired"
        if (fence(now) <= fence(self.before)
                or (session(now) is not None if retired else session(now) == session(self.before))
                or self.replica.ops("/readyz")[0] != 200 or self.replica.ops("/leadz")[0] != 200
                or "\ndrover_leading 1\n" not in metrics
                or f'\ndrover_machines{{state="{state}"}} 1\n' not in metrics
                or self.log().count(LEADS) == self.leads):
            return
        assert f.holder() == self.identity, f.holder()
        time.sleep(pace.limit(REST_S))
        now = f.get("machines", f.vm.name)
        wrong = traces.differences(traces.scrub(self.before), traces.scrub(now))
        assert not wrong, f"killed in {self.moment}, and written to since (was, is): {wrong}"
        assert f.vm.power() == "Off", f"killed in {self.moment}, and switched on since"
        since = f.proxy.log[self.acts:]
        acts = [r for r in since if r.effect]
        assert not acts, f"killed in {self.moment}, and at its BMC since: {acts}"
        if retired:
            assert not f.proxy.sessions, f"killed in retired, and still open: {f.proxy.sessions}"
            return self.back()
        looks = [r for r in since if r.method == "GET" and r.status == 200
                 and r.path.endswith(f.vm.uuid) and r.session == session(now).rsplit("/", 1)[1]]
        ends = [r.status for r in since if (r.method, r.path) == ("DELETE", session(self.before))]
        assert looks, f"killed in {self.moment}: not looked at since"
        assert ends == [204], f"{self.moment}, the dead one's session: {ends}"
        self.back()


def strays(f, kills):
    """Returns open BMC sessions that the journal never named, each with its reason. If a process is
    killed between its login and the end of its first observation, nobody can know the session; the
    BMC ends it by its own timeout (docs/fencing.md). Such a session must be the last one opened
    before the kill, shortly before it, and without an act."""
    named = traces.journaled(f)
    logins = {r.session: r.at for r in f.proxy.log if r.method == "POST" and r.path.endswith("/Sessions")}
    found = {}
    for s in set(f.proxy.sessions) - named:
        after = min((t for t in [*kills, *logins.values()] if t > logins[s]), default=None)
        acts = [r for r in f.proxy.log if r.session == s and r.effect]
        if acts or after not in kills or after - logins[s] > pace.limit(UNNAMED_S):
            found[s] = f"acts {acts}; the next login or kill {after and after - logins[s]} s later, kill: {after in kills}"
    return found


def fence(machine):
    return (machine.get("status", {}).get("operation") or {}).get("fence", 0)


def session(machine):
    return (machine.get("status", {}).get("bmc") or {}).get("sessionURI")


class Trips:
    """Equal cycles of the one machine."""

    def __init__(self, f, killer):
        self.f, self.killer = f, killer
        self.left = None  # traces after the latest cycle

    def until(self, what, test, limit_s):
        def look():
            self.killer.check()
            return test() and not self.killer.busy.is_set()
        return self.f.until(what, look, limit_s)

    def state(self, state, limit_s=400):
        """Waits until the machine is in this state, and drover was killed in it if wanted."""
        self.until(state, lambda: self.f.status().get("state") == state and
                   (state == "serving" or self.f.vm.power() == "Off") and not self.killer.due(state), limit_s)

    def go(self, name, moments=()):
        """Goes from free to a running pod and back to free, with kills at those moments. Returns
        the state while the pod ran, and what has changed."""
        f, team = self.f, self.f.tenants["team-a"]
        before = self.left or traces.settled(f)
        self.killer.wanted = moments
        # A machine at rest causes no write that would show it.
        self.killer.see(f.get("machines", f.vm.name))
        self.state("free")
        team.apply(fleet.gpu_pod("train", fleet.GPUS))
        self.until("the pod Running", lambda: f.pod_running("team-a", "train"), 400)
        self.state("serving")
        claims = f.get("nodeclaims")
        assert len(claims) == 1, [c["metadata"]["name"] for c in claims]
        claim = claims[0]["metadata"]["name"]
        assert f.pod_running("team-a", "train")["spec"]["nodeName"] == claim
        serving = traces.serving(f)
        team.kubectl("delete", "pod", "train", "--wait=false")
        f.host.kubectl("delete", "nodeclaim", claim, "--wait=false")
        self.until("left", lambda: f.status()["state"] != "serving", 120)
        self.state("free")
        self.left = traces.settled(f)
        self.killer.wanted = ()
        found = {"serving": serving, "change": traces.change(before, self.left)}
        (f.folder / f"{name}.json").write_text(json.dumps(found, indent=1))
        return found

    def out_of_use(self, moments):
        """Quarantines and retires the machine, as an operator does. The machine itself must not be
        touched."""
        f = self.f
        before = self.left or traces.settled(f)
        self.killer.wanted = moments
        subprocess.run([fleet.DROVER, "quarantine", f.vm.name, "--reason", "crash test",
                        "--kubeconfig", f.host.kubeconfig], check=True, capture_output=True)
        self.state("quarantined", 60)
        subprocess.run([fleet.DROVER, "retire", f.vm.name, "--kubeconfig", f.host.kubeconfig],
                       check=True, capture_output=True)
        self.state("retired", 60)
        changed = {where: now for where, _, now in
                   traces.differences(before, traces.settled(f))}
        assert changed.pop("/status/conditions")[0]["reason"] == "Retired"
        assert changed.pop("/annotations/drover.dev/requested-by").startswith("kubernetes-super-admin ")
        assert changed == {
            "/annotations/drover.dev/quarantine": "crash test", "/status/clean": False,
            "/spec/managementPolicy": "Retire", "/status/state": "retired", "/sessions": 0,
            "/providers/rack/machines/free": 0, "/providers/rack/machines/retired": 1}, changed


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--folder", type=pathlib.Path)
    args.add_argument("--only", type=int, default=1000, help="no more kills than these")
    args = args.parse_args()
    folder = args.folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-crash-"))
    print(f"Logs and keys: {folder}", flush=True)
    timer = testbed.Timer()
    f = replicas.Fleet(folder, "drover-crash", isolated=True)
    f.identity = "replica-1"
    killers = []
    f.on_watch = lambda: killers.append(Killer(f, args.only))
    try:
        f.start()
        killer = killers[0]
        timer.phase("everything started, machine known and off")
        trips = Trips(f, killer)
        trips.state("free")
        f.view.done()
        timer.phase("machine inspected, wiped, proved: free and off")
        begin = len(f.watch.seen)
        undisturbed = trips.go("undisturbed")
        steps = {f"{o['status']['state']}/{o['status']['operation'].get('step')}"
                 for _, _, o in f.watch.seen[begin:]}
        f.view.done()
        timer.phase("there and back, undisturbed")
        kills = len(killer.done)
        disturbed = trips.go("disturbed", COMING + GOING + ACTS)
        f.view.done()
        timer.phase(f"there and back, {len(killer.done) - kills} kills")
        serving.phases(f.view, [f.vm.name])
        wrong = traces.differences(undisturbed, disturbed)
        assert not wrong, "not as the undisturbed trip (where, undisturbed, disturbed):\n" + \
            "\n".join(map(str, wrong))
        assert not disturbed["change"]["open media"], "a boot medium is still to be had"
        assert not strays(f, killer.kills), f"sessions that nobody ends: {strays(f, killer.kills)}"
        trips.out_of_use(OUT_OF_USE)
        f.view.done()
        timer.phase("taken out of use")
        log = f.logs()
        assert f.rack.password not in log, "the BMC's password is in the log"
        assert "BEGIN" not in log and "token-secret" not in log, "key material is in the log"
        missed = set(EVERY) - killer.met
        if args.only >= len(EVERY):
            assert not missed, f"never seen: {missed}"
            unkilled = {s for s in steps if not s.endswith("/None")} - killer.met - {*NOT_ACTS}
            assert not unkilled, f"acts that it was not killed at: {unkilled}"
        took = [s for _, s, other in killer.done if other]
        if took:
            fleet.bench("recover_s", statistics.median(took), "s", 35, "lower",
                        ("the lease of a leader that died", 15), len(took))
    except BaseException:
        f.last_words()
        raise
    finally:
        f.stop()
    print(f"\ncrash: {len(killer.done)} kills with -9, the round trip is as the undisturbed one\n"
          "1 passed, 0 failed")


if __name__ == "__main__":
    main()
