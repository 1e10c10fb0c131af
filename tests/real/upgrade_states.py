#!/usr/bin/env python3
"""Replaces drover by the previous version and back in every state of a machine's cycle, on real
components.

    tests/real/upgrade_states.py [--folder FOLDER] [--previous PROGRAM]

The custom resources and roles are those of this version, as docs/install.md says: they are updated
before the program, and stay when the program goes back. One machine of a real rack goes from free
to a running pod and back to free, wiped, several times. In each state the program is ended by
SIGTERM and the other version continues, until each state has been left by both. Each time the claim
must keep its UID and its machine, and in the end both versions must verify each WipeRecord.
upgrade.py describes where the previous version comes from.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import crash  # noqa: E402  (beside this file)
import fleet  # noqa: E402
import replicas  # noqa: E402
import testbed  # noqa: E402
import upgrade  # noqa: E402

CYCLE = crash.COMING + crash.GOING
MOST_TRIPS = 4
GRACE_S = 20  # time in which drover ends after SIGTERM, on a quiet machine


class Replacer(crash.Killer):
    """Ends the program by SIGTERM, and starts the other version."""

    def __init__(self, f, programs):
        super().__init__(f, limit=len(CYCLE) * 2 + 1)
        self.programs, self.turn = programs, 0
        self.wanted = ()

    def due(self, moment):
        """True if this version was not replaced in this state yet. In one visit of a state only one
        version is replaced: at rest nothing would show that the next one is to be."""
        return self.left > 0 and moment in self.wanted and moment != self.moment and (moment, self.turn) not in self.met

    def see(self, machine):
        """A machine that comes back is at rest once it no longer says why it left."""
        status = machine.get("status", {})
        if status.get("state") != "free" or not status.get("leave"):
            super().see(machine)

    def note_met(self, moment):
        self.met.add((moment, self.turn))

    def end(self):
        self.replica.process.stop(grace_s=testbed.pace.limit(GRACE_S))
        self.turn = 1 - self.turn
        self.replica.program = self.programs[self.turn]

    def missing(self):
        """Returns the (state, version) that no program was replaced in yet."""
        return {(state, turn) for state in CYCLE for turn in (0, 1)} - self.met


def trip(f, trips, claims):
    """Goes from free to a running pod and back. All writes of its one claim have one UID."""
    seen = len(claims.seen)
    trips.go(f"trip-{seen}", CYCLE)
    uids = {o["metadata"]["uid"] for _, _, o in claims.seen[seen:]}
    assert len(uids) == 1, f"the claim was replaced: {uids}"


def verify(f, programs):
    records = [r["metadata"]["name"] for r in f.get("wiperecords")]
    for program in programs:
        subprocess.run([program, "wipe", "verify", "--kubeconfig", f.host.kubeconfig, *records], check=True,
                       stdout=subprocess.DEVNULL)
    return len(records)


def run(f, programs):
    replacers, timer = [], testbed.Timer()
    f.identity = "replica-1"
    f.drover.all[0].program = programs[0]
    f.on_watch = lambda: replacers.append(Replacer(f, programs))
    f.start()
    claims = replicas.Watch(f.host, "nodeclaims")
    try:
        trips = crash.Trips(f, replacers[0])
        trips.state("free")
        f.view.done()
        timer.phase("machine inspected, wiped, proved: free and off")
        for number in range(MOST_TRIPS):
            if not replacers[0].missing():
                break
            trip(f, trips, claims)
            claims.check()
            f.view.done()
            timer.phase(f"there and back, trip {number + 1}: {len(replacers[0].done)} replacements")
    finally:
        claims.stop()
    assert not replacers[0].missing(), f"never replaced in: {sorted(replacers[0].missing())}"
    count = verify(f, programs)
    print(f"\nupgrade_states: replaced {len(replacers[0].done)} times, there and back in each of {len(CYCLE)} states; "
          f"{count} wipe records hold for both versions\n1 passed, 0 failed")


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--folder", type=pathlib.Path)
    args.add_argument("--previous", help="program of the previous version")
    args = args.parse_args()
    previous = args.previous or upgrade.built()
    if not previous:
        upgrade.say_not_built()
        return
    folder = args.folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-upgrade-"))
    print(f"Logs and keys: {folder}", flush=True)
    f = replicas.Fleet(folder, "drover-upgrade", isolated=True)
    try:
        run(f, [previous, fleet.DROVER])
    except BaseException:
        f.last_words()
        raise
    finally:
        f.stop()


if __name__ == "__main__":
    main()
