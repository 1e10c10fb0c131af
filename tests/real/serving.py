"""Pods of tenants on machines of a fleet: start, checks, and what must not be left over.

The machines may be of any kind that a Fleet has: virtual ones behind BMCs, or simulated ones.
"""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fleet  # noqa: E402  (beside this file)
import testbed  # noqa: E402


def run_pods(f, pods, gpus=fleet.GPUS, limit_s=300, make=fleet.gpu_pod):
    """Creates the pods (tenant, name) by make(name, gpus) and waits until the container of each
    runs. Returns {(tenant, name): seconds}. By default each requests all GPUs of a machine, so each
    needs a machine of its own."""
    began, took = time.monotonic(), {}
    for tenant, name in pods:
        f.tenants[tenant].apply(make(name, gpus))

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
        for tenant, name in pods:  # the events of each pod show why it waited
            print(f"{tenant}/{name}:\n" + f.tenants[tenant].kubectl(
                "describe", "pod", "-n", "default", name), flush=True)
        raise
    return took


def bootstrap_tokens(plane, node_name):
    """Returns the names of the Secrets in that tenant's cluster that hold a bootstrap token for the
    node."""
    return [s["metadata"]["name"]
            for s in plane.get("/api/v1/namespaces/kube-system/secrets")["items"]
            if (s["metadata"].get("labels") or {}).get("drover.dev/nodeclaim") == node_name]


def check(f, pods):
    """Checks that the pods (tenant, name), which are all pods, each run on a machine in their own
    tenant, with the port proved, the bootstrap token deleted and the evidence of the last wipe
    stored."""
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
        tokens = bootstrap_tokens(plane, node_name)
        assert not tokens, f"the bootstrap token is still there: {tokens}"
        record = f.get("wiperecords", status["lastWipe"]["record"])
        assert record["spec"]["verdict"] in ("Clear", "Purge"), record["spec"]
        assert status["tenancy"] == record["spec"]["tenancy"] + 1, status
        machines.add(machine["metadata"]["name"])
    assert len(machines) == len(pods), "two pods share a machine"
    assert len(f.get("nodeclaims")) == len(pods), "more machines were claimed than asked for"


def nothing_left(f, tenant, node_name):
    """Checks that Node, bootstrap token and NodeClaim of a released machine are deleted."""
    plane = f.tenants[tenant]
    assert not plane.node(node_name), "the Node is still there"
    tokens = bootstrap_tokens(plane, node_name)
    assert not tokens, tokens
    assert not f.get("nodeclaims", node_name), "the claim is still there"


def secrets_kept(f):
    """Checks that drover's log holds neither the BMC's password nor a token (S8)."""
    log = (f.folder / "drover.log").read_text(errors="replace")
    assert f.rack.password not in log, "the BMC's password is in the log"
    assert "BEGIN" not in log and "token-secret" not in log, "key material is in the log"


def phases(view, names):
    """Prints how long each of the machines was in each state, in order."""
    print("\nphases, in seconds:")
    for name in names:
        line = "  ".join(f"{state} {seconds:.1f}" for state, seconds in view.spans.get(name, []))
        print(f"  {name}: {line}")
