#!/usr/bin/env python3
"""Replaces the previous version of drover by this one and back, while machines boot, serve and are
wiped.

    tests/real/upgrade.py [--previous PROGRAM]

The previous version is built from the commit in tests/real/previous/commit, which must be in the
history of this checkout; otherwise only its stored objects are tested (tests/unit/api/
test_previous.c), and this script ends with a note. Both versions run as `drover up` on one folder:
the embedded API server, the simulated rack and the controller. In each round pods come and go, one
program ends when a machine is in a state in which no program was replaced yet, and the other one
continues: each claim must keep its UID until its pod is deleted. The rack ends with the program, so
that no program is replaced while an agent prepares a machine for a claim: its reboot would end the
claim.
"""
import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import up  # noqa: E402  (beside this file)
from testbed import pace  # noqa: E402

ROOT = up.ROOT
PREVIOUS = ROOT / "tests/real/previous/commit"
CACHE = pathlib.Path(os.environ.get("DROVER_CACHE") or pathlib.Path.home() / ".cache/drover")
MACHINES, ROUNDS = 4, 14
# States that last long enough to be seen at the speed of the rack.
WANTED = {"booting", "serving", "stopping", "wiping"}
COMING = {"booting", "joining", "gating"}


def built():
    """Returns the program of the previous version; None: its commit is not in the history."""
    commit = PREVIOUS.read_text().strip()
    if subprocess.run(["git", "-C", str(ROOT), "cat-file", "-e", f"{commit}^{{commit}}"], check=False,
                      stderr=subprocess.DEVNULL).returncode:
        return None
    folder = CACHE / f"previous-{commit[:16]}"
    folder.mkdir(parents=True, exist_ok=True)
    tree = subprocess.run(["git", "-C", str(ROOT), "archive", commit], check=True, stdout=subprocess.PIPE).stdout
    subprocess.run(["tar", "-x", "-C", str(folder), "--skip-old-files"], input=tree, check=True)
    subprocess.run(["make", "--no-print-directory", f"-j{len(os.sched_getaffinity(0))}", "build/rel/drover"],
                   cwd=folder, check=True, stdout=sys.stderr)
    return str(folder / "build/rel/drover")


def say_not_built():
    print(f"  commit {PREVIOUS.read_text().strip()} is not in the history of this checkout: only its stored objects "
          f"are tested")
    print("1 passed, 0 failed")


class Two(up.Up):
    """One folder, on which two programs run in turn."""

    def __init__(self, folder, programs):
        super().__init__(folder, MACHINES)
        self.programs, self.turn, self.hit = programs, 0, {}

    def command(self, *more):
        return [self.programs[self.turn % 2], *super().command(*more)[1:]]

    def claims(self):
        """Name -> UID of the claims that are not deleted."""
        return {c["metadata"]["name"]: c["metadata"]["uid"] for c in self.host.items(f"{up.demo.API}/nodeclaims")
                if "deletionTimestamp" not in c["metadata"]}

    def replace(self, kept=()):
        """Ends the program, and starts the other one. The claims in `kept`, {name: UID}, must stay."""
        states = self.states()
        assert self.end(signal.SIGTERM) == 0
        self.turn += 1
        self.start()
        for state in states.values():
            self.hit.setdefault(state, set()).add(self.turn % 2)
        after = self.claims()
        assert all(after.get(name) == kept[name] for name in kept), f"claims are lost: {kept}, {after}"

    def missing(self):
        return {s for s in WANTED if self.hit.get(s, set()) != {0, 1}}


def due(two, states):
    """Returns those of these states in which the program that starts next did not start yet. If there
    is none, replaces the program once more: two replacements a round start the same one each time."""
    def left():
        return {s for s in states if (two.turn + 1) % 2 not in two.hit.get(s, set())}

    if not left():
        two.replace(two.claims())
    return left()


def come(two, number, states):
    """A pod comes; the program is replaced when a machine is in one of these states."""
    name = f"train-{number}"
    two.tenant.call("POST", up.demo.PODS, up.demo.gpu_pod(name))
    two.until(f"one of {sorted(states)}", lambda: set(two.states().values()) & states or two.runs(name))
    kept = two.claims()
    two.replace(kept)
    two.until(f"{name} Running", lambda: two.runs(name), 120)
    assert kept.items() <= two.claims().items(), f"claims were replaced: {kept}, {two.claims()}"
    return name


def go(two, name, states):
    """The pod goes; the program is replaced on the way back."""
    two.tenant.call("DELETE", f"{up.demo.PODS}/{name}")
    two.until(f"one of {sorted(states)}",
              lambda: set(two.states().values()) & states or set(two.states().values()) == {"free"})
    two.replace()
    # Each replacement restarts the simulated machines, too, and drover gives up a wipe after three boots.
    two.until("all free again", lambda: set(two.states().values()) == {"free"}, 180)


def verify(two):
    records = [r["metadata"]["name"] for r in two.host.items(f"{up.demo.API}/wiperecords")]
    subprocess.run([up.DROVER, "wipe", "verify", "--kubeconfig", two.host.kubeconfig, *records], check=True,
                   stdout=subprocess.DEVNULL)
    return len(records)


def rounds(two):
    two.start()
    two.until("all free", lambda: set(two.states().values()) == {"free"}, 120)
    for number in range(ROUNDS):
        left = two.missing()
        if not left:
            break
        name = come(two, number, due(two, left & COMING) if left & COMING else COMING)
        if "serving" in left:
            two.until("serving", lambda: "serving" in two.states().values())
            two.replace(two.claims())
        going = two.missing() - COMING - {"serving"}
        go(two, name, due(two, going) if going else {"wiping"})
    assert not two.missing(), f"not replaced in {two.missing()}: {two.hit}"
    count = verify(two)
    both = sorted(s for s, t in two.hit.items() if t == {0, 1})
    print(f"  replaced {two.turn} times, there and back while a machine was {', '.join(both)}; {count} wipe records "
          f"hold", flush=True)
    assert two.end(signal.SIGTERM) == 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--previous", help="program of the previous version")
    args = p.parse_args()
    previous = args.previous or built()
    if not previous:
        say_not_built()
        return
    with tempfile.TemporaryDirectory(prefix="drover-upgrade-") as folder:
        two = Two(f"{folder}/data", [previous, up.DROVER])
        try:
            rounds(two)
        except BaseException:
            two.tell()
            raise
        finally:
            two.kill()
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
