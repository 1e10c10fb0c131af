#!/usr/bin/env python3
"""Installs drover by the five commands of docs/install.md on a real control plane, then tests the
rest of that page.

    tests/real/install.py [--folder FOLDER] [--keep]

The commands are taken verbatim from docs/install.md, except for registry.example and 10.1.0.5. A
registry holds the image. Two nodes with kubelet, containerd and kube-proxy pull and run it as the
Deployment specifies: not as root, without capabilities, with a read-only root file system. A load
balancer leads to the node with the leader.

A pod of a tenant then gets a virtual machine. While it is imaged, the leader's pod is deleted; the
machine serves, also during an upgrade by Helm, and comes back wiped. The machine of the example is
never reached.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fleet  # noqa: E402  (beside this file)
import testbed  # noqa: E402
from testbed import pace, process  # noqa: E402
from testbed.node import LoadBalancer, Node, Segment  # noqa: E402
from testbed.registry import Registry  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMANDS = 5
TENANT, POD = "team-a", "train"
NODES = 2
LIMIT_S = 120
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
POOL = "/apis/drover.dev/v1alpha1/nodepools/h100"
DEPLOYMENT = "/apis/apps/v1/namespaces/drover-system/deployments/drover"
NAMESPACE = "/api/v1/namespaces/drover-system"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/drover-system/leases/drover-controller"
SLICE = "/apis/discovery.k8s.io/v1/namespaces/drover-system/endpointslices/drover-leader"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

def commands(heading):
    """Returns the lines of the section's first block, with continued lines joined."""
    text = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    section = re.split(r"\n##+ ", text.split(f"{heading}\n", 1)[1], maxsplit=1)[0]
    block = re.search(r"^```sh\n(.*?)^```$", section, re.M | re.S)[1]
    return [line.split("  #")[0].strip() for line in block.replace("\\\n", " ").splitlines()]


class Site(fleet.Fleet):
    """The host cluster with two nodes, a registry, and a shell with their names; a tenant's control
    plane, and one machine."""

    def __init__(self, folder):
        self.folder, self.say = folder, print
        self.segment = Segment(f"dri{os.getpid() % 100000}", f"10.231.{os.getpid() % 200}")
        self.address = f"{self.segment.net}.200"
        self.registry = Registry(folder, self.segment.here)
        self.host, team = [self.control_plane(name) for name in ("host", TENANT)]
        self.tenants, self.network = {TENANT: team}, None
        self.rack = testbed.Rack(folder / "rack", prefix="drover-install", count=1, address=self.segment.here)
        self.files, self.view = testbed.HttpFiles(), fleet.View()
        self.nodes = [Node(self.host, folder / f"node-{n}", self.segment, n,
                           (self.registry.name, self.registry.certificate)) for n in range(NODES)]
        self.balancer = None
        parts = testbed.parts.paths()
        # skopeo trusts only the registry.
        self.env = {**os.environ, "SSL_CERT_FILE": str(self.registry.certificate), "KUBECONFIG": str(self.host.kubeconfig),
                    "PATH": f"{parts['kube']}:{parts['helm']}:{os.environ['PATH']}"}

    def control_plane(self, name):
        """Returns a control plane that pods and virtual machines reach at the segment's address."""
        plane = testbed.ControlPlane(name, self.folder / name, guest=self.segment.here,
                                     apiserver_args=["--bind-address=0.0.0.0",
                                                     "--kubelet-preferred-address-types=InternalIP"])
        plane.server = f"https://{plane.guest_endpoint}"
        return plane

    def start(self):
        planes = [self.host, *self.tenants.values()]
        for plane in planes:
            plane.start()
        for plane in planes:
            plane.wait_ready()
        # For `kubectl logs`; kubeadm binds this in a phase that the test bed leaves out.
        self.host.kubectl("create", "clusterrolebinding", "kubelet-api", "--clusterrole=system:kubelet-api-admin",
                          "--user=kube-apiserver-kubelet-client")
        for node in self.nodes:
            node.folder.mkdir()
            node.start()
        for node in self.nodes:
            node.knows(self.nodes)
        self.balancer = LoadBalancer(self.host, f"{NAMESPACE}/services/drover", self.address, self.nodes)
        for node in self.nodes:
            self.until(f"{node.name} Ready", lambda n=node.name: self.host.node_ready(n), LIMIT_S)

    def stop(self):
        if self.balancer:
            self.balancer.stop()
        for node in self.nodes:
            node.stop()
        self.rack.stop()
        self.files.stop()
        for plane in (self.host, *self.tenants.values()):
            plane.stop()
        self.registry.stop()
        self.segment.close()

    def media_url(self):
        return f"http://{self.address}:8080"

    def agent_url(self):
        return f"https://{self.address}:8443"

    def check(self):
        for node in self.nodes:
            node.check()

    def pods(self):
        return self.host.api("GET", f"{NAMESPACE}/pods")["items"]

    def running(self):
        """Returns the UIDs of drover's pods, also of those that are ending."""
        return {pod["metadata"]["uid"] for pod in self.pods()}

    def logs(self):
        """Returns {pod: output of its container}."""
        return {name: self.host.kubectl("-n", "drover-system", "logs", name, check=False)
                for name in (pod["metadata"]["name"] for pod in self.pods())}

    def shell(self, command, fails=False):
        """Returns what the script prints, including errors."""
        command = command.replace("registry.example", self.registry.name).replace("10.1.0.5", self.address)
        done = subprocess.run(["sh", "-c", command], cwd=ROOT, env=self.env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=pace.limit(600))
        assert bool(done.returncode) == fails, f"{command}: {done.returncode}\n{done.stdout}\n{self.trouble()}"
        return done.stdout

    def trouble(self):
        logs = "\n".join(f"{name}:\n{text[-1500:]}" for name, text in self.logs().items())
        states = [pod["status"].get("containerStatuses") for pod in self.pods()]
        return f"containers: {json.dumps(states)[-3000:]}\n{logs}"

    def until(self, what, test, limit_s=LIMIT_S):
        try:
            return super().until(what, test, limit_s)
        except TimeoutError as e:
            raise AssertionError(f"{e}\n{self.trouble()}") from None

    def pool_ready(self):
        table = self.shell("build/rel/drover get pools")
        head, *rows = [line.split() for line in table.splitlines()]
        return any(row[0] == "h100" and row[head.index("READY")] == "True" for row in rows)


def pods_are_confined(site):
    """Checks what the kernel says of the processes: user, capabilities, no new privileges."""
    nodes = {node.name: node for node in site.nodes}
    on = set()
    for pod in site.pods():
        on.add(pod["spec"]["nodeName"])
        pid = nodes[pod["spec"]["nodeName"]].process_of(pod["metadata"]["name"], "drover")
        status = dict(re.findall(r"^(\w+):\s*(.*)$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M))
        assert status["Uid"].split()[0] == "65532", status
        assert int(status["CapEff"], 16) == 0 and int(status["CapBnd"], 16) == 0, status
        assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", status
        root = next(line.split() for line in pathlib.Path(f"/proc/{pid}/mounts").read_text().splitlines()
                    if line.split()[1] == "/")
        assert root[3].split(",")[0] == "ro", root
    assert on == set(nodes), f"both replicas are on {on}"


def leads_to_the_leader(site):
    """Returns true if the Service's only endpoint is the pod that has the Lease."""
    lease, slice_ = site.host.get(LEASE), site.host.get(SLICE)
    holder = lease and lease["spec"].get("holderIdentity")  # "" after a leader ended on request
    if not holder or not slice_ or not slice_["endpoints"]:
        return False
    leader = site.host.get(f"{NAMESPACE}/pods/{holder}")
    endpoint, = slice_["endpoints"]
    ports = {p["name"]: p["port"] for p in slice_["ports"]}
    return leader and endpoint["addresses"] == [leader["status"]["podIP"]] and ports == {"agent": 8443, "media": 8080} \
        and endpoint["nodeName"] == leader["spec"]["nodeName"] \
        and slice_["metadata"]["labels"]["kubernetes.io/service-name"] == "drover"


def five_commands(site):
    lines = commands("## Five commands")
    assert len(lines) == COMMANDS and lines[-1] == "build/rel/drover get pools", lines
    for line in lines[:-1]:
        site.shell(line)
    site.until("pool h100 READY", site.pool_ready)
    site.until("both replicas are ready", lambda: site.host.get(DEPLOYMENT)["status"].get("readyReplicas") == 2)
    site.until("the Service leads to the leader", lambda: leads_to_the_leader(site))
    pods_are_confined(site)
    logs = "".join(site.logs().values())
    assert '"ready"' in logs and "cannot be used" not in logs, logs


def serves(site):
    """Checks that a pod is served on a machine while the leader's pod is deleted in the middle."""
    site.rack.start()
    site.serve_images()
    team = site.tenants[TENANT]
    team.kubectl("apply", "-f", str(ROOT / "deploy/tenant-rbac.yaml"))
    site.tenant_secret(TENANT, team)
    site.apply_objects()
    team.apply(fleet.gpu_pod(POD, fleet.GPUS))
    machine = site.rack.machines[0].name
    site.until("the machine is imaged", lambda: site.states()[machine].get("state") == "imaging", 300)
    old = leader(site)
    site.shell(f"kubectl -n drover-system delete pod {old} --wait=false")
    site.until("another leader", lambda: leads_to_the_leader(site) and leader(site) != old)
    served = site.until("the pod runs", lambda: site.pod_running(TENANT, POD), 400)
    status = site.states()[machine]
    assert status["state"] == "serving" and status["tenant"]["name"] == TENANT, status
    assert status["claimRef"]["name"] == served["spec"]["nodeName"], status
    return served["spec"]["nodeName"]


def leader(site):
    return site.host.get(LEASE)["spec"]["holderIdentity"]


def upgrade_by_helm(site, claim):
    """Checks that an upgrade replaces both pods while a machine serves; that the machine comes back
    wiped; and that uninstalling leaves objects and keys."""
    old = site.running()
    site.shell("skopeo copy -q oci-archive:build/container/drover.tar docker://registry.example/drover:0.2")
    site.shell("helm upgrade drover deploy/helm/drover --namespace drover-system --reuse-values --set image.tag=0.2")
    site.shell(f"kubectl -n drover-system rollout status deployment/drover --timeout={pace.limit(300):.0f}s")
    site.until("two other pods", lambda: not old & site.running() and len(site.running()) == 2)
    site.until("the Service leads to the new leader", lambda: leads_to_the_leader(site))
    assert site.pod_running(TENANT, POD), "the pod did not survive the upgrade"
    machine = site.give_back(TENANT, POD, claim, 400)
    site.shell(f"kubectl delete virtualcluster {TENANT} --timeout={pace.limit(120):.0f}s")
    site.shell(f"kubectl delete nodepool vm --timeout={pace.limit(60):.0f}s")
    site.shell(f"build/rel/drover retire {machine} --reason 'end of the test'")
    site.until("retired", lambda: site.states()[machine]["state"] == "retired", 120)
    site.shell(f"kubectl delete machine {machine} --timeout={pace.limit(120):.0f}s")
    site.shell(f"kubectl delete provider rack --timeout={pace.limit(60):.0f}s")
    site.shell("helm uninstall drover --namespace drover-system")
    site.until("no pod is left", lambda: not site.running())
    assert site.host.get(POOL) and site.host.get(f"{NAMESPACE}/secrets/drover-boot-key")


def by_argo(site):
    """Runs the health check of deploy/argocd/ on the objects of the real API server."""
    site.shell("tests/tools/test_argocd")
    for what, health in (("nodepool/h100", "Healthy"), ("provider/hall-a", "Healthy"),
                         ("machine/gpu-r1-07", "Healthy observed")):
        said = site.shell(f"kubectl get {what} -o json >{site.folder}/object.json && "
                          f"tests/tools/test_argocd {site.folder}/object.json")
        assert said.startswith(health), f"{what}: {said}"
        o = json.loads((site.folder / "object.json").read_text())
        assert what[0] == "m" or o["status"]["observedGeneration"] == o["metadata"]["generation"], o


def again_and_upgrade(site, install):
    """Checks that a second install changes nothing, and that a new image starts a new pod, which
    takes over the lease."""
    before = site.host.get(DEPLOYMENT)["metadata"]["generation"]
    assert "ready" in site.shell(install)
    assert site.host.get(DEPLOYMENT)["metadata"]["generation"] == before
    old = site.running()
    site.shell(install.replace(":0.1", ":0.2"))
    site.until("the old pods are gone", lambda: not old & site.running())
    site.until("the pool is ready after the upgrade", site.pool_ready)


def a_value_that_is_missing(site):
    """Checks that a missing value is named: by the script before anything is applied, by drover if
    an overlay lacks it."""
    said = site.shell("deploy/install.sh --image registry.example/drover:0.2", fails=True)
    assert "--agent-name is missing" in said, said
    said = site.shell("deploy/install.sh --image registry.example/drover --agent-name a", fails=True)
    assert "want a tag or a digest" in said, said
    said = site.shell("deploy/install.sh --image registry.example/drover:0.2 --agent-name 'a]'", fails=True)
    assert "invalid characters" in said, said
    overlay = site.shell("kubectl kustomize examples/deploy/single").replace(
        "registry.example/drover:0.1", f"{site.registry.name}/drover:0.2")
    site.host.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=overlay)
    site.until("drover says what is missing", lambda: any(
        "agent-name: has no value" in text for text in site.logs().values()))


def by_hand(site, kind, name):
    """Deletes an object whose finalizer drover can no longer remove."""
    held = site.host.get(f"/apis/drover.dev/v1alpha1/{kind}s/{name}")["metadata"]["finalizers"]
    page = (ROOT / "docs/install.md").read_text()
    assert held and all(f"`{f}`" in page for f in held), held
    site.shell(f"kubectl delete {kind} {name} --wait=false")
    assert site.host.get(f"/apis/drover.dev/v1alpha1/{kind}s/{name}")
    line = re.search(r"^kubectl patch virtualcluster team-a .*$", page, re.M)[0]
    site.shell(line.replace("virtualcluster team-a", f"{kind} {name}"))
    assert not site.host.get(f"/apis/drover.dev/v1alpha1/{kind}s/{name}")


def without_drover(site):
    """Checks that nothing is left although drover is gone while its finalizers hold objects: the
    purge refuses, and ends once `drover uninstall` has saved and deleted them."""
    site.shell("kubectl apply -f examples/deploy/first-rack.yaml")
    site.until("the pool is ready", site.pool_ready)
    site.shell("deploy/install.sh --uninstall")
    site.until("no pod is left", lambda: not site.running())
    for kind, name in (("provider", "hall-a"), ("machine", "gpu-r1-07")):
        site.host.kubectl("patch", kind, name, "--type=merge", "-p",
                           json.dumps({"metadata": {"finalizers": [f"drover.dev/{kind}"]}}))
        site.shell(f"kubectl delete {kind} {name} --wait=false")
    record = {"apiVersion": "drover.dev/v1alpha1", "kind": "WipeRecord",
              "metadata": {"name": "gpu-r1-07-1-1", "finalizers": ["drover.dev/export"]},
              "spec": {"machine": {"name": "gpu-r1-07", "uid": "u"}, "tenancy": 1, "attempt": 1, "verdict": "Purge",
                       "startTime": "2026-11-01T00:00:00Z", "endTime": "2026-11-01T00:01:00Z",
                       "agentTrust": "BootNetwork", "inventory": {"expected": 0, "seen": 0}, "devices": [],
                       "envelope": "AAAA"}}
    site.host.kubectl("create", "-f", "-", stdin=json.dumps(record))
    said = site.shell("deploy/install.sh --uninstall --purge", fails=True)
    assert "machine.drover.dev/gpu-r1-07" in said and "wiperecord.drover.dev/gpu-r1-07-1-1 (not exported)" in said, said
    site.until("the leader's lease has run out", lambda: "drover does not run" in site.shell(
        "build/rel/drover uninstall --check", fails=True))
    saved = site.folder / "objects.jsonl"
    said = site.shell(f"build/rel/drover uninstall --release-finalizers --save {saved} </dev/null", fails=True)
    assert "To confirm, give --yes" in said and not saved.exists(), said
    said = site.shell(f"build/rel/drover uninstall --release-finalizers --save {saved} --yes")
    assert "no object of drover is left" in said, said
    objects = [json.loads(line) for line in saved.read_text().splitlines()]
    assert {(o["kind"], o["metadata"]["name"]) for o in objects} >= {
        ("Provider", "hall-a"), ("Machine", "gpu-r1-07"), ("WipeRecord", "gpu-r1-07-1-1"), ("NodePool", "h100")}, objects


def nothing_is_left(site):
    assert not [c for c in site.host.api("GET", CRDS)["items"] if c["spec"]["group"] == "drover.dev"]
    site.until("its namespace is gone", lambda: not site.host.get(NAMESPACE))
    left = [r["metadata"]["name"] for r in site.host.api("GET", ROLES)["items"] if "drover" in r["metadata"]["name"]]
    assert not left, left


def uninstall(site, install):
    """Checks that objects stay without --purge; that --purge is refused while objects exist; and
    that drover then removes its finalizers."""
    site.shell("deploy/install.sh --uninstall")
    assert not site.host.get(DEPLOYMENT) and site.host.get(POOL)
    assert not site.host.get(f"{ROLES}/drover-controller") and site.host.get(f"{NAMESPACE}/secrets/drover-boot-key")
    site.until("no pod is left", lambda: not site.running())
    said = site.shell("deploy/install.sh --uninstall --purge", fails=True)
    assert "nodepool.drover.dev/h100" in said and "machine.drover.dev/gpu-r1-07" in said, said
    by_hand(site, "provider", "hall-a")
    site.shell(install.replace(":0.1", ":0.2"))
    site.shell("kubectl apply -f examples/deploy/first-rack.yaml")
    site.until("the pool is ready when it is installed again", site.pool_ready)
    for what in ("nodepool/h100", "machine/gpu-r1-07", "provider/hall-a"):
        site.shell(f"kubectl delete {what} --timeout={pace.limit(60):.0f}s")
    site.shell("deploy/install.sh --uninstall --purge")
    nothing_is_left(site)
    site.shell(install.replace(":0.1", ":0.2"))
    without_drover(site)
    site.shell("deploy/install.sh --uninstall --purge")
    nothing_is_left(site)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--folder", type=pathlib.Path)
    p.add_argument("--keep", action="store_true", help="leave it up until Enter, once it is installed")
    args = p.parse_args()
    folder = args.folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-install-"))
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)  # QEMU runs as its own user
    process.sweep(folder)
    timer, site = testbed.Timer(), Site(folder)
    try:
        site.start()
        timer.phase("control planes, two nodes, a registry")
        five_commands(site)
        timer.phase("five commands: pool h100 READY")
        if args.keep:
            input(f"KUBECONFIG={site.host.kubeconfig}; Enter goes on ")
        by_argo(site)
        claim = serves(site)
        timer.phase("a pod on a machine, although the leader's pod was deleted")
        upgrade_by_helm(site, claim)
        timer.phase("an upgrade by Helm, the machine wiped, uninstalled")
        install, = commands("### Without Helm")
        site.shell(install)
        site.until("pool h100 READY", site.pool_ready)
        again_and_upgrade(site, install)
        timer.phase("by install.sh, the same again, an upgrade")
        a_value_that_is_missing(site)
        timer.phase("a value that is missing")
        uninstall(site, install)
        timer.phase("uninstalled, installed again, purged")
    finally:
        site.stop()
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
