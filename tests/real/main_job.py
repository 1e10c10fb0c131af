#!/usr/bin/env python3
"""The main job on real parts: a pending GPU pod in each of two tenants gets a machine of its own.

    tests/real/main_job.py [--runs N] [--folder FOLDER] [--keep]

A real API server and scheduler hold the pods; drover boots virtual machines that are driven only
through their BMCs, its agent wipes them and writes an operating-system image, a real kubelet
joins the right tenant, and the pods run.  Prints the time of each phase; exits 0 only when all of it worked.
"""
import argparse
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fleet  # noqa: E402  (beside this file)
import testbed  # noqa: E402

FLOOR_S = 65  # what the parts themselves need: reference for real_pending_to_running_s


def run_pods(f, pods, gpus=fleet.GPUS, limit_s=300):
    """Create the pods (tenant, name), wait until each one's container runs; seconds for each.
    Each asks for all GPUs of a machine, so that each needs one of its own."""
    began, took = time.monotonic(), {}
    for tenant, name in pods:
        f.tenants[tenant].apply(fleet.gpu_pod(name, gpus))

    def done():
        f.check()
        for pod in pods:
            if pod not in took and f.pod_running(*pod):
                took[pod] = time.monotonic() - began
        for tenant, name in pods:
            assert f.tenants[tenant].get(f"/api/v1/namespaces/default/pods/{name}"), \
                f"somebody deleted pod {tenant}/{name}"
        waiting = ", ".join(f"{t}/{n}" for t, n in pods if (t, n) not in took)
        f.view.show(f.states(), f"pods pending: {waiting}" if waiting else "all pods Running")
        return len(took) == len(pods)
    try:
        testbed.wait_for("pods Running", done, limit_s, 0.2)
    except TimeoutError:
        for tenant, name in pods:  # what it was told while it waited
            print(f"{tenant}/{name}:\n" + f.tenants[tenant].kubectl(
                "describe", "pod", "-n", "default", name), flush=True)
        raise
    return took


def check(f, pods):
    """Each pod on a machine of its own, in its own tenant, token gone, evidence kept."""
    machines = set()
    for tenant, name in pods:
        plane = f.tenants[tenant]
        node_name = f.pod_running(tenant, name)["spec"]["nodeName"]
        node = plane.node(node_name)
        claim = f.get("nodeclaims", node_name)
        assert claim, f"no NodeClaim {node_name}"
        assert claim["spec"]["virtualClusterRef"]["name"] == tenant, claim["spec"]
        machine = f.get("machines", claim["spec"]["machineRef"]["name"])
        status = machine["status"]
        assert status["state"] == "serving" and status["claimRef"]["name"] == node_name, status
        assert status["tenant"]["name"] == tenant, status
        place = f.network.where(machine["metadata"]["name"])
        assert place == f"tenant/{tenant}" == status["network"]["segment"], (place, status["network"])
        assert status["network"]["proof"] == f.proof, status["network"]
        assert not status.get("clean"), "a serving machine is not clean"
        assert node["spec"]["providerID"] == f"drover://rack/{machine['metadata']['name']}"
        assert node["status"]["nodeInfo"]["systemUUID"].lower() == machine["spec"]["identity"]["systemUUID"]
        keys = {t["key"] for t in node["spec"].get("taints", [])}
        assert "drover.dev/unregistered" not in keys, keys
        assert "nvidia.com/gpu" in keys, keys
        for other in f.tenants.values():
            assert other is plane or not other.node(node_name), "a node in two clusters"
        tokens = [s for s in plane.get("/api/v1/namespaces/kube-system/secrets")["items"]
                  if (s["metadata"].get("labels") or {}).get("drover.dev/nodeclaim") == node_name]
        assert not tokens, "the bootstrap token is still there"
        record = f.get("wiperecords", status["lastWipe"]["record"])
        assert record["spec"]["verdict"] in ("Clear", "Purge"), record["spec"]
        assert status["tenancy"] == record["spec"]["tenancy"] + 1, status
        machines.add(machine["metadata"]["name"])
    assert len(machines) == len(pods), "two pods share a machine"
    assert len(f.get("nodeclaims")) == len(pods), "more machines were claimed than asked for"


def secrets_kept(f):
    """S8: neither the BMC's password nor a token is in drover's log."""
    log = (f.folder / "drover.log").read_text(errors="replace")
    assert f.rack.password not in log, "the BMC's password is in the log"
    assert "BEGIN" not in log and "token-secret" not in log, "key material is in the log"


def phases(view, names):
    print("\nphases, in seconds:")
    for name in names:
        line = "  ".join(f"{state} {seconds:.1f}" for state, seconds in view.spans.get(name, []))
        print(f"  {name}: {line}")


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--runs", type=int, default=3, help="measured runs, one machine each")
    args.add_argument("--folder", type=pathlib.Path)
    args.add_argument("--keep", action="store_true", help="wait for Enter before taking it down")
    args = args.parse_args()
    folder = args.folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-main-"))
    print(f"Logs and keys: {folder}", flush=True)
    testbed.parts.paths()
    timer = testbed.Timer()
    pods = [("team-a", "train"), ("team-b", "train"), ("team-a", "more")][:max(args.runs, 2)]
    f = fleet.Fleet(folder, machines=len(pods), prefix="drover-main", isolated=True)
    try:
        print("Starting a host cluster, two tenants (Kubernetes 1.36), a rack of "
              f"{len(pods)} machines behind Redfish BMCs, and drover.", flush=True)
        f.start()
        timer.phase("everything started, machines known and off")
        f.wait_state("free", limit_s=300)
        f.view.done()
        timer.phase("machines inspected, wiped, proved: free and off")
        for vm in f.rack.machines:
            assert vm.power() == "Off", vm.name
        took = {}
        for pod in pods:
            took.update(run_pods(f, [pod]))
        f.view.done()
        timer.phase("pods Running")
        check(f, pods)
        secrets_kept(f)
        phases(f.view, [vm.name for vm in f.rack.machines])
        for (tenant, name), seconds in took.items():
            node = f.pod_running(tenant, name)["spec"]["nodeName"]
            print(f"  {tenant}/{name}: Running on {node} after {seconds:.1f} s")
        fleet.bench("real_pending_to_running_s", statistics.median(took.values()), "s", 90, "lower",
                    ("floor of the parts themselves", FLOOR_S), len(took))
        # Of the last boots: one machine at a time then.
        home = [homes[-1] for homes in (vm.agent_homes() for vm in f.rack.machines) if homes]
        fleet.bench("agent_home_s", statistics.median(home), "s", 5, "lower",
                    ("a kernel that starts nothing, same machine", 1.9), len(home))
        fleet.bench("agent_image_mib", fleet.ISO.stat().st_size / (1 << 20), "MiB", 20, "lower",
                    ("Debian's own kernel and modules in it", 8.25))
        if args.keep:
            print(f"\nkubectl --kubeconfig {f.host.kubeconfig} get machines,nodeclaims\nEnter ends it.")
            sys.stdin.readline()
    except BaseException:
        f.last_words()
        raise
    finally:
        f.stop()
    print(f"\nmain job: {len(pods)} pods of 2 tenants Running on {len(pods)} machines that were off\n"
          "1 passed, 0 failed")


if __name__ == "__main__":
    main()
