#!/usr/bin/env python3
"""The whole circle on real parts, for a person to watch: tests/real/demo.py [--keep] [--folder F]

Two machines that are off, two tenants, and three pods that want a machine each.  The third waits
until the first one's work is done: its machine is given back, wiped, proved, and changes tenants.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fleet  # noqa: E402  (beside this file)
import serving  # noqa: E402
import testbed  # noqa: E402

QUIET = "10s"


class Demo(fleet.Fleet):
    def pool(self, **template):
        pool = super().pool(**template)
        pool["spec"]["disruption"] = {"consolidateAfter": QUIET, "budgets": [{"nodes": "100%"}]}
        return pool


def say(text):
    print(f"\n{text}", flush=True)


def machine_of(f, tenant, pod):
    """Serving it: the Machine's name."""
    node = (f.pod_running(tenant, pod) or {"spec": {}})["spec"].get("nodeName")
    claim = node and f.get("nodeclaims", node)
    return claim["spec"]["machineRef"]["name"] if claim else None


def why(f, tenant, pod):
    """What drover told the tenant about a pod that waits."""
    events = f.tenants[tenant].get("/api/v1/namespaces/default/events")["items"]
    return [f"{e['reason']}: {e['message']}" for e in events
            if e["involvedObject"]["name"] == pod and e["reason"] != "FailedScheduling"
            and "drover" in str(e.get("reportingComponent")) + str(e.get("source"))]


def verify(f):
    done = subprocess.run(
        [fleet.DROVER, "wipe", "verify", "--kubeconfig", f.host.kubeconfig,
         *sorted(r["metadata"]["name"] for r in f.get("wiperecords"))],
        capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr, end="", flush=True)
    if done.returncode:
        raise RuntimeError("a wipe record does not hold")


def circle(f):
    began = time.monotonic()
    say("drover knows two BMC addresses. It boots its agent on each machine, wipes and proves it.")
    f.wait_state("free", limit_s=300)
    f.view.done()
    say("Both free and off. Now a GPU pod in each tenant, each wanting a whole machine.")
    took = serving.run_pods(f, [("team-a", "train"), ("team-b", "train")])
    f.view.done()
    first = machine_of(f, "team-a", "train")
    say(f"Both run, after {max(took.values()):.0f} s. team-b wants a second machine: there is none.")
    f.tenants["team-b"].apply(fleet.gpu_pod("more", fleet.GPUS))
    told = f.until("team-b/more is told why it waits", lambda: why(f, "team-b", "more"), 60)
    f.view.done()
    print(f"  event on team-b/more: {told[0]}", flush=True)
    say(f"team-a's work ends. {first} stands empty for {QUIET}, is given back, wiped, and goes to team-b.")
    f.tenants["team-a"].api("DELETE", "/api/v1/namespaces/default/pods/train")
    ended = time.monotonic()
    f.until("team-b/more Running", lambda: f.pod_running("team-b", "more"), 400)
    f.view.done()
    assert machine_of(f, "team-b", "more") == first, "not on team-a's machine"
    moved = time.monotonic() - ended
    say("The evidence of every wipe, checked:")
    verify(f)
    serving.phases(f.view, [vm.name for vm in f.rack.machines])
    where = ", ".join(f.network.moves(first))
    print(f"  {first}'s port was in: {where}")
    print(f"\ndemo: 3 pods of 2 tenants ran on 2 machines; {first} changed tenants in {moved:.0f} s, "
          f"wiped and proved in between; {time.monotonic() - began:.0f} s in all", flush=True)


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--folder", type=pathlib.Path)
    args.add_argument("--keep", action="store_true", help="wait for Enter before taking it down")
    args = args.parse_args()
    folder = args.folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-demo-"))
    print(f"Logs and keys: {folder}", flush=True)
    testbed.parts.paths()
    f = Demo(folder, prefix="drover-demo", isolated=True)
    try:
        say("Starting a host cluster, two tenants (Kubernetes 1.36), a rack of two machines behind "
            "Redfish BMCs, a bridge for each network segment, and drover.")
        f.start()
        circle(f)
        if args.keep:
            print(f"\nkubectl --kubeconfig {f.host.kubeconfig} get machines,nodeclaims,wiperecords\n"
                  "Enter ends it.", flush=True)
            sys.stdin.readline()
    except BaseException:
        f.last_words()
        raise
    finally:
        f.stop()
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
