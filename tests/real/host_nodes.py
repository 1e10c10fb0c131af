#!/usr/bin/env python3
"""A virtual cluster that shares its host cluster's nodes, on a real Kubernetes: its machine becomes
a Node of the host cluster.

    tests/real/host_nodes.py [--folder FOLDER]

A pod waits in the virtual cluster. Its machine (simulated, behind the head node of `drover sim
bcm`) joins the host cluster, as deploy/host-nodes-rbac.yaml allows, with the label and the
NoExecute taint drover.dev/virtual-cluster=NAME. The real kube-scheduler there binds no pod to the
Node that does not tolerate the taint. Then the machine is released: its Node is deleted, and it is
wiped and free. No VM.
"""
import argparse
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import bcm  # noqa: E402  (beside this file)
import fleet  # noqa: E402
import serving  # noqa: E402
import testbed  # noqa: E402

TENANT = "team-a"
KEY = "drover.dev/virtual-cluster"


class Shared(bcm.Bcm):
    def __init__(self, folder):
        super().__init__(folder)
        self.tenants = {TENANT: self.tenants[TENANT]}

    def apply_objects(self):
        self.host.kubectl("apply", "-f", str(fleet.ROOT / "deploy/host-nodes-rbac.yaml"))
        super().apply_objects()

    def pool(self, **template):
        return super().pool(nodes=["Private", "Host"], **template)

    def virtual_cluster(self, name):
        vc = super().virtual_cluster(name)
        vc["spec"].update(nodes="Host", joinEndpoint=f"127.0.0.1:{self.host.port}", network={"segment": "host"})
        return vc


def host_pod(name, *tolerated):
    """Returns a pod that selects this virtual cluster's nodes and needs no GPU."""
    pod = fleet.gpu_pod(name)
    pod["spec"]["nodeSelector"] = {KEY: TENANT}
    pod["spec"]["tolerations"] = [{"key": key, "operator": "Exists"} for key in tolerated]
    del pod["spec"]["containers"][0]["resources"]
    return pod


def why_not_scheduled(plane, name):
    status = plane.get(f"/api/v1/namespaces/default/pods/{name}").get("status", {})
    return next((c.get("message", "") for c in status.get("conditions", []) if c["type"] == "PodScheduled"
                 and c["status"] == "False"), "")


def node_is_for_it_alone(f, name):
    node = f.host.node(name)
    assert node["metadata"]["labels"][KEY] == TENANT, node["metadata"]["labels"]
    assert {"key": KEY, "value": TENANT, "effect": "NoExecute"} in node["spec"]["taints"], node["spec"]["taints"]
    assert "drover.dev/unregistered" not in {t["key"] for t in node["spec"]["taints"]}, node["spec"]["taints"]
    assert not f.tenants[TENANT].node(name), "the virtual cluster has a Node of its own"
    for plane in (f.host, f.tenants[TENANT]):
        secrets = plane.get("/api/v1/namespaces/kube-system/secrets")["items"]
        assert not [s for s in secrets if "drover.dev/nodeclaim" in s["metadata"].get("labels", {})], "a bootstrap token is there"
    f.host.apply(host_pod("anybody", "nvidia.com/gpu"), host_pod("synced", "nvidia.com/gpu", KEY))
    f.until("the pod that tolerates it", lambda: (f.host.get("/api/v1/namespaces/default/pods/synced") or {})
            .get("spec", {}).get("nodeName") == name, 60)
    f.until("the word on the one that does not", lambda: "untolerated taint" in why_not_scheduled(f.host, "anybody"), 60)


def run(f, timer):
    f.start()
    timer.phase("a host cluster, a virtual cluster, a head node with machines, drover")
    f.wait_state("free", limit_s=300)
    f.until("the virtual cluster takes nodes", lambda: f.condition(TENANT, "TakesNodes") == "True HostNodes", 60)
    f.view.done()
    timer.phase("machines inspected, wiped, proved: free and off")

    f.tenants[TENANT].apply(fleet.gpu_pod("train", fleet.GPUS))
    claim = f.until("a machine serving", lambda: next(
        (m["claimRef"]["name"] for m in f.states().values() if m.get("state") == "serving"), None), 300)
    f.view.done()
    node_is_for_it_alone(f, claim)
    timer.phase("a Node of the host cluster, for one virtual cluster alone")

    f.host.kubectl("delete", "pod", "synced", "anybody", "--wait=false")
    bcm.is_blank(f, f.give_back(TENANT, "train", claim))
    timer.phase("given back: its Node is gone, it is wiped and free")
    serving.secrets_kept(f)


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--folder", type=pathlib.Path)
    folder = args.parse_args().folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-host-nodes-"))
    print(f"Logs and keys: {folder}", flush=True)
    testbed.parts.paths()
    f = Shared(folder)
    try:
        run(f, testbed.Timer())
    except BaseException:
        f.last_words()
        raise
    finally:
        f.stop()
    print("\nhost_nodes: a machine of the host cluster, for one virtual cluster alone, and given back\n1 passed, 0 failed")


if __name__ == "__main__":
    main()
