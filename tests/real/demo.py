#!/usr/bin/env python3
"""Show the life of GPU machines with drover, on virtual machines: tests/real/demo.py [--keep] [--folder F]

Two machines that are off, two tenants, and three pods that need a machine each.  The third pod waits
until the first one ends: then its machine is drained, wiped, verified, and moves to the other tenant.
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
    """Return the name of the Machine that serves the pod; None if no machine does yet."""
    node = (f.pod_running(tenant, pod) or {"spec": {}})["spec"].get("nodeName")
    claim = node and f.get("nodeclaims", node)
    return claim["spec"]["machineRef"]["name"] if claim else None


def why(f, tenant, pod):
    """Return drover's events on a waiting pod."""
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
        raise RuntimeError("drover wipe verify found an invalid record")


def circle(f):
    began = time.monotonic()
    say("drover has two BMC addresses. It boots its agent on each machine, wipes the machine and verifies the wipe.")
    f.wait_state("free", limit_s=300)
    f.view.done()
    say("Both machines are free and off. Now each tenant creates a GPU pod that needs a whole machine.")
    took = serving.run_pods(f, [("team-a", "train"), ("team-b", "train")])
    f.view.done()
    first = machine_of(f, "team-a", "train")
    say(f"Both pods run, after {max(took.values()):.0f} s. team-b creates a second pod: no machine is free.")
    f.tenants["team-b"].apply(fleet.gpu_pod("more", fleet.GPUS))
    told = f.until("team-b/more has an event", lambda: why(f, "team-b", "more"), 60)
    f.view.done()
    print(f"  event on team-b/more: {told[0]}", flush=True)
    say(f"team-a's pod ends. {first} is empty for {QUIET}, is drained and wiped, and goes to team-b.")
    f.tenants["team-a"].api("DELETE", "/api/v1/namespaces/default/pods/train")
    ended = time.monotonic()
    f.until("team-b/more Running", lambda: f.pod_running("team-b", "more"), 400)
    f.view.done()
    assert machine_of(f, "team-b", "more") == first, "not on team-a's machine"
    moved = time.monotonic() - ended
    say("All wipe records, verified with drover wipe verify:")
    verify(f)
    serving.phases(f.view, [vm.name for vm in f.rack.machines])
    where = ", ".join(f.network.moves(first))
    print(f"  {first}'s port was in: {where}")
    print(f"\ndemo: 3 pods of 2 tenants ran on 2 machines; {first} moved from team-a to team-b in {moved:.0f} s, "
          f"with a verified wipe in between. Total time: {time.monotonic() - began:.0f} s", flush=True)


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--folder", type=pathlib.Path)
    args.add_argument("--keep", action="store_true", help="keep it running until Enter is pressed")
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
                  "Enter stops the demo.", flush=True)
            sys.stdin.readline()
    except BaseException:
        f.last_words()
        raise
    finally:
        f.stop()
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
