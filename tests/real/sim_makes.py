#!/usr/bin/env python3
"""A rack with BMCs of every vendor dialect, with drover as users run it: the commands of
docs/sim.md.

    tests/real/sim_makes.py [MAKE ...]

Each built-in dialect has a machine, and so has each capture of a real BMC in CAPTURES (which are
not part of this repository). Each machine is identified, switched off, isolated, booted with the
agent from its virtual medium or by HTTP, inspected, wiped, verified and free, without any failure.
A machine that cannot boot the agent reports so. No VM.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sim_page  # noqa: E402  (beside this file)
from testbed import pace  # noqa: E402

CAPTURES = sim_page.ROOT.parent / "shared/captures"
NO_WAY = {"ilo_unlicensed": "licence is needed"}  # message of a machine that stays dirty
DROVER = sim_page.ROOT / "build/rel/drover"


def makes():
    return subprocess.run([DROVER, "sim", "rack", "--dialect", "list"], check=True, capture_output=True, text=True).stdout.split()


def unpacked(folder):
    """Returns name -> folder of each capture, without the logs of its BMC."""
    found = {}
    for archive in sorted(CAPTURES.glob("*.tar.xz")):
        at = folder / archive.name.removesuffix(".tar.xz")
        at.mkdir()
        subprocess.run(["tar", "-xJf", archive, "-C", at, "--strip-components=1", "--exclude=*/LogServices/*"], check=True)
        found[f"capture/{at.name}"] = at
    return found


class Makes(sim_page.Page):
    def __init__(self, folder, wanted):
        super().__init__(str(folder))
        kinds = {name: f"--dialect {name}" for name in makes()}
        kinds.update({name: f"--tree {at}" for name, at in unpacked(folder).items()})
        if unknown := set(wanted) - set(kinds):
            sys.exit(f"no make {', '.join(unknown)}; there are: {', '.join(kinds)}")
        kinds = {name: option for name, option in kinds.items() if not wanted or name in wanted}
        self.makes = {f"gpu-{n}": name for n, name in enumerate(kinds, 1)}
        self.more["drover sim rack "] = f" --speed 8 --machines {len(kinds)} " + " ".join(kinds.values())
        self.more["drover run "] += " --per-address 64"

    def machines(self):
        found = self.run("kubectl --kubeconfig /var/tmp/drover-api/admin.conf get machines -o json\n")
        return {m["metadata"]["name"]: m.get("status", {}) for m in json.loads(found)["items"]}

    def is_done(self, name, status):
        said = NO_WAY.get(self.makes[name])
        error = status.get("operation", {}).get("lastError", {})
        return said in error.get("message", "") and error["reason"] == "BmcUnsupported" if said else status.get("state") == "free"

    def all_done(self):
        found = self.machines()
        return len(found) == len(self.makes) and all(self.is_done(*each) for each in found.items())

    def why(self):
        for name, status in self.machines().items():
            if not self.is_done(name, status) or status.get("failures"):
                print(f"{self.makes[name]}: {status.get('state')} {json.dumps(status.get('operation', {}).get('lastError'))} "
                      f"{json.dumps(status.get('failures', []))}", file=sys.stderr)


def story(page):
    for block in page.blocks[:-1]:
        kind = next((s for s in sim_page.STAYS if block.startswith(s)), None)
        if kind:
            page.start(block, page.more[kind])
        else:
            page.run(block)
    try:
        pace.wait_for("all free", page.all_done, sim_page.LIMIT_S, 1)
        failed = {page.makes[name]: s["failures"] for name, s in page.machines().items() if s.get("failures")}
        assert not failed, failed
    except BaseException:
        page.why()
        raise


def main():
    with tempfile.TemporaryDirectory(prefix="drover-sim-makes-") as folder:
        page, broken = Makes(pathlib.Path(folder), sys.argv[1:]), True
        try:
            story(page)
            broken = False
        finally:
            page.stop(broken)
    print(f"{len(page.makes)} makes: {', '.join(page.makes.values())}\n1 passed, 0 failed")


if __name__ == "__main__":
    main()
