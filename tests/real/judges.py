#!/usr/bin/env python3
"""What kstatus and Argo CD say of drover's objects in each state, as drover writes them.

    tests/real/judges.py [--objects FOLDER]

World tests run with DROVER_OBJECT_LOG and log one object of each shape (tests/world/object_log.h);
kstatus, which Flux and kpt use, and deploy/argocd/argocd-cm.yaml in the Lua of Argo CD then judge each
object. FOLDER: logs of an earlier run.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from testbed import parts  # noqa: E402  (beside this file)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Together they bring machines, claims and Drains into every state.
WORLDS = ["verbs", "drain", "leave", "leave_tenant", "identity", "elastic", "burst_enforce", "burst_home", "breaker",
          "sleep", "clock", "warm", "join", "rest", "drift", "hold", "bcm", "kstatus"]
# Reasons of Ready=False that only a change by an operator ends.
REFUSED = {"ProviderNotFound", "NotAllowed", "Unsupported", "InvalidSpec", "NoProviders", "NotPermitted"}
CLAIM_PHASES = ["Pending", "Failed"]
DRAIN_PHASES = ["Pending", "Draining", "Succeeded", "Partial", "Cancelled"]


def machine_states():
    text = (ROOT / "api/machine_states.def").read_text()
    return re.findall(r'^MACHINE_STATE\(\w+,\s*"(\w+)"', text, re.M)


def condition(o, kind):
    return next((c for c in o.get("status", {}).get("conditions", []) if c["type"] == kind), {})


def is_ended(o):
    """True if the object will not become ready by itself."""
    status, ready = o["status"], condition(o, "Ready")
    if o["kind"] == "Machine":
        return status.get("state") == "quarantined" and status["quarantine"].get("exit") == "operator"
    if o["kind"] == "NodeClaim":
        return status.get("phase") == "Failed"
    if o["kind"] == "Drain":
        return status.get("phase") in ("Partial", "Cancelled")
    if o["kind"] == "BurstPolicy":
        return condition(o, "Active").get("status") == "False"
    return ready.get("status") == "False" and (ready["reason"] in REFUSED or ready["reason"].startswith("Kubeconfig"))


def expected(o):
    """The status that a user of the object would want to be told."""
    status = o.get("status", {})
    if "deletionTimestamp" in o["metadata"]:
        return "Terminating"
    seen = status.get("observedGeneration")
    if seen is not None and seen != o["metadata"]["generation"]:
        return "InProgress"
    if o["kind"] in ("WipeRecord", "BurstLedger", "AuditSegment") or seen is None:
        return "Current"  # nothing is to be done, or drover has not seen the object yet
    if is_ended(o):
        return "Failed"
    if o["kind"] == "BurstPolicy":
        return "Current"
    return "Current" if condition(o, "Ready").get("status") == "True" else "InProgress"


def expected_health(o):
    """The health that Argo CD should show."""
    status, spec, ready = o.get("status", {}), o.get("spec", {}), condition(o, "Ready")
    if condition(o, "Valid").get("status") == "False":
        return "Degraded"
    if o["kind"] in ("WipeRecord", "BurstLedger", "AuditSegment"):
        return "Healthy"
    if o["kind"] == "Drain":
        return {"Partial": "Degraded", "Succeeded": "Healthy", "Cancelled": "Healthy"}.get(status.get("phase"), "Progressing")
    if spec.get("paused"):
        return "Suspended"
    if not status:
        return "Healthy" if o["kind"] == "Machine" and spec.get("managementPolicy", "Observe") == "Observe" else "Progressing"
    if status.get("state") == "quarantined" or condition(o, "LineStopped").get("status") == "True":
        return "Degraded"
    if o["kind"] == "Machine" and (spec.get("managementPolicy", "Observe") == "Observe" or
                                   (spec["managementPolicy"], status.get("state")) == ("Retire", "retired")):
        return "Healthy"
    if o["kind"] == "BurstPolicy":
        return {"True": "Healthy", "False": "Degraded"}.get(condition(o, "Active").get("status"), "Progressing")
    if not ready or ready.get("observedGeneration", 0) < o["metadata"]["generation"]:
        return "Progressing"
    if ready["status"] == "True":
        return "Healthy"
    if o["kind"] == "NodeClaim" and is_ended(o):
        return "Degraded"
    if condition(o, "Asleep").get("status") == "True":
        return "Suspended"
    return "Progressing" if o["kind"] in ("Machine", "NodeClaim") or ready["reason"] == "Starting" else "Degraded"


def logged(folder):
    subprocess.run(["make", "--no-print-directory", f"-j{len(os.sched_getaffinity(0))}", "unit",
                    "T=" + " ".join(f"world/test_{w}" for w in WORLDS)], cwd=ROOT, check=True,
                   env=os.environ | {"DROVER_OBJECT_LOG": str(folder)}, stdout=sys.stderr)


def name(o):
    status = o.get("status", {})
    return f"{o['kind']} {status.get('state') or status.get('phase') or ''}".strip()


def missing(objects):
    """States and phases of which no object was logged."""
    seen = {name(o) for o in objects if "deletionTimestamp" not in o["metadata"]}
    states = machine_states()
    assert len(states) > 15, states
    return [n for n in [*(f"Machine {s}" for s in states), *(f"NodeClaim {p}" for p in CLAIM_PHASES),
                        *(f"Drain {p}" for p in DRAIN_PHASES), "NodePool", "Provider", "VirtualCluster", "WipeRecord",
                        "BurstPolicy", "BurstLedger", "AuditSegment"] if n not in seen]


def by_kstatus(lines):
    return answers([parts.named("kstatus") / "kstatus"], lines)


def by_argo(lines, folder):
    text = (ROOT / "deploy/argocd/argocd-cm.yaml").read_text().split("health.lua: |\n", 1)[1]
    (folder / "health.lua").write_text(textwrap.dedent(text))
    return answers([parts.named("argolua") / "argolua", folder / "health.lua"], lines)


def answers(command, lines):
    """Returns the first word of each line that the judge prints."""
    done = subprocess.run(command, input="".join(lines), stdout=subprocess.PIPE, text=True, check=True)
    return [line.split(" ", 1)[0] for line in done.stdout.splitlines()]


def judged(judge, results, want, objects):
    """Prints what the judge says, and returns the number of objects of which it should say something
    else. It must have said each word of `want`."""
    said, wrong = collections.Counter(results), collections.Counter()
    for o, result in zip(objects, results, strict=True):
        if result != want(o):
            ready = condition(o, "Ready")
            wrong[f"{name(o)}, Ready {ready.get('status')} {ready.get('reason')}: {judge} says {result}, "
                  f"want {want(o)}"] += 1
    for text, n in wrong.items():
        print(f"{text} ({n} objects)")
    print(f"{judge}: {dict(said)}")
    assert set(said) == {want(o) for o in objects} and len(said) == 4, said
    return wrong.total()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--objects", type=pathlib.Path)
    args = p.parse_args()
    folder = args.objects or pathlib.Path(tempfile.mkdtemp(prefix="drover-judges-"))
    if not args.objects:
        logged(folder)
    lines = [line for file in sorted(folder.glob("*.jsonl")) for line in file.read_text().splitlines(True)]
    objects = [json.loads(line) for line in lines]
    assert not missing(objects), f"no object of: {', '.join(missing(objects))}"
    # Argo CD itself shows a deleted object as Progressing.
    alive = [(line, o) for line, o in zip(lines, objects) if "deletionTimestamp" not in o["metadata"]]
    failed = judged("kstatus", by_kstatus(lines), expected, objects)
    failed += judged("Argo CD", by_argo([line for line, _ in alive], folder), expected_health, [o for _, o in alive])
    print(f"{len(objects) + len(alive) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
