#!/usr/bin/env python3
"""Installs drover by the five commands of docs/install.md on a real control plane, then tests the
rest of that page.

    tests/real/install.py [--folder FOLDER] [--keep]

The commands are taken verbatim from docs/install.md, except for registry.example and 10.1.0.5. A
registry holds the image, and kubelets of the test bed, one for each of two nodes, pull and run it
with runc, as the Deployment specifies: not as root, without capabilities, with a read-only root
file system. Nothing routes to the Service; its EndpointSlice is checked. No VM; the machine of the
example is never reached.
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
import testbed  # noqa: E402  (beside this file)
from testbed import pace, process  # noqa: E402
from testbed.pod import Cable, Kubelet, environment  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMANDS = 5
NODES = 2
LIMIT_S = 120
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
POOL = "/apis/drover.dev/v1alpha1/nodepools/h100"
DEPLOYMENT = "/apis/apps/v1/namespaces/drover-system/deployments/drover"
NAMESPACE = "/api/v1/namespaces/drover-system"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/drover-system/leases/drover-controller"
SLICE = "/apis/discovery.k8s.io/v1/namespaces/drover-system/endpointslices/drover-leader"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
REGISTRY = """\
version: 0.1
storage: {{filesystem: {{rootdirectory: {folder}/registry}}}}
http: {{addr: "127.0.0.1:{port}", tls: {{certificate: {folder}/registry.crt, key: {folder}/registry.key}}}}
log: {{level: warn}}
"""


def commands(heading):
    """Returns the lines of the section's first block, with continued lines joined."""
    text = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    section = re.split(r"\n##+ ", text.split(f"{heading}\n", 1)[1], maxsplit=1)[0]
    block = re.search(r"^```sh\n(.*?)^```$", section, re.M | re.S)[1]
    return [line.split("  #")[0].strip() for line in block.replace("\\\n", " ").splitlines()]


class Registry:
    def __init__(self, folder):
        self.port = process.free_port()
        self.certificate = folder / "registry.crt"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "2", "-subj", "/CN=registry", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                        str(folder / "registry.key"), "-out", str(self.certificate)], check=True, capture_output=True)
        (folder / "registry.yaml").write_text(REGISTRY.format(folder=folder, port=self.port))
        self.process = process.Process("registry", folder, ["docker-registry", "serve", folder / "registry.yaml"])
        self.name = f"127.0.0.1:{self.port}"

    def stop(self):
        self.process.stop()


class Site:
    """The control plane, its nodes, the registry, and a shell with their names."""

    def __init__(self, folder):
        self.folder = folder
        self.cables = [Cable(f"dri{os.getpid() % 100000}{n}", f"10.{231 + 2 * n}.{os.getpid() % 200}")
                       for n in range(NODES)]
        for cable in self.cables[1:]:  # the API server's certificate has one address
            cable.route_to(self.cables[0].here)
        self.registry = Registry(folder)
        self.env = environment(self.registry.certificate)
        self.plane = testbed.ControlPlane("host", folder / "host", guest=self.cables[0].here,
                                          apiserver_args=["--bind-address=0.0.0.0"]).start()
        self.kubelets = [Kubelet(self.plane, folder / f"node-{n}", cable, self.env, f"node-{n}")
                         for n, cable in enumerate(self.cables)]
        parts = testbed.parts.paths()
        self.env |= {"KUBECONFIG": str(self.plane.kubeconfig),
                     "PATH": f"{parts['kube']}:{parts['helm']}:{os.environ['PATH']}"}

    def stop(self):
        for kubelet in self.kubelets:
            if kubelet.is_alive():
                kubelet.stop()
        self.plane.stop()
        self.registry.stop()
        for cable in self.cables:
            cable.close()

    def running(self):
        """Returns the UIDs of the pods that run."""
        return {uid for kubelet in self.kubelets for uid in kubelet.running}

    def logs(self):
        """Returns {pod: output of its container}, of all pods that ran."""
        return {pod: text for kubelet in self.kubelets for pod, text in kubelet.said.items()}

    def shell(self, command, fails=False):
        """Returns what the script prints, including errors."""
        command = command.replace("registry.example", self.registry.name).replace("10.1.0.5", self.cables[0].there)
        done = subprocess.run(["sh", "-c", command], cwd=ROOT, env=self.env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=pace.limit(600))
        assert bool(done.returncode) == fails, f"{command}: {done.returncode}\n{done.stdout}\n{self.trouble()}"
        return done.stdout

    def trouble(self):
        logs = "\n".join(f"{name}:\n{text[-1500:]}" for name, text in self.logs().items())
        return f"kubelets: {[kubelet.trouble for kubelet in self.kubelets]}\n{logs}"

    def until(self, what, test):
        try:
            return pace.wait_for(what, test, LIMIT_S)
        except TimeoutError as e:
            raise AssertionError(f"{e}\n{self.trouble()}") from None

    def pool_ready(self):
        table = self.shell("build/rel/drover get pools")
        head, *rows = [line.split() for line in table.splitlines()]
        return any(row[0] == "h100" and row[head.index("READY")] == "True" for row in rows)


def pods_are_confined(site):
    for kubelet in site.kubelets:
        assert re.match(r"65532\s", kubelet.inside("Uid"))
        assert int(kubelet.inside("CapEff"), 16) == 0 and int(kubelet.inside("CapBnd"), 16) == 0
        assert kubelet.inside("NoNewPrivs") == "1"


def leads_to_the_leader(site):
    """Returns true if the Service's only endpoint is the pod that has the Lease."""
    lease, slice_ = site.plane.get(LEASE), site.plane.get(SLICE)
    if not lease or not slice_ or not slice_["endpoints"]:
        return False
    leader = site.plane.get(f"{NAMESPACE}/pods/{lease['spec']['holderIdentity']}")
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
    site.until("both replicas are ready", lambda: site.plane.get(DEPLOYMENT)["status"].get("readyReplicas") == 2)
    site.until("the Service leads to the leader", lambda: leads_to_the_leader(site))
    pods_are_confined(site)
    logs = "".join(site.logs().values())
    assert '"ready"' in logs and "cannot be used" not in logs, logs


def upgrade_by_helm(site):
    """Checks that an upgrade replaces both pods, and that uninstalling leaves objects and keys."""
    old = site.running()
    site.shell("skopeo copy -q oci-archive:build/container/drover.tar docker://registry.example/drover:0.2")
    site.shell("helm upgrade drover deploy/helm/drover --namespace drover-system --reuse-values --set image.tag=0.2")
    site.shell(f"kubectl -n drover-system rollout status deployment/drover --timeout={pace.limit(300):.0f}s")
    assert not old & site.running() and len(site.running()) == 2
    site.until("the Service leads to the new leader", lambda: leads_to_the_leader(site))
    site.shell("helm uninstall drover --namespace drover-system")
    site.until("no pod is left", lambda: not site.running())
    assert site.plane.get(POOL) and site.plane.get(f"{NAMESPACE}/secrets/drover-boot-key")


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
    before = site.plane.get(DEPLOYMENT)["metadata"]["generation"]
    assert "ready" in site.shell(install)
    assert site.plane.get(DEPLOYMENT)["metadata"]["generation"] == before
    old = site.running()
    site.shell(install.replace(":0.1", ":0.2"))
    assert not old & site.running()
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
    site.plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=overlay)
    site.until("drover says what is missing", lambda: any(
        "agent-name: has no value" in text for text in site.logs().values()))


def by_hand(site, kind, name):
    """Deletes an object whose finalizer drover can no longer remove."""
    held = site.plane.get(f"/apis/drover.dev/v1alpha1/{kind}s/{name}")["metadata"]["finalizers"]
    page = (ROOT / "docs/install.md").read_text()
    assert held and all(f"`{f}`" in page for f in held), held
    site.shell(f"kubectl delete {kind} {name} --wait=false")
    assert site.plane.get(f"/apis/drover.dev/v1alpha1/{kind}s/{name}")
    line = re.search(r"^kubectl patch virtualcluster team-a .*$", page, re.M)[0]
    site.shell(line.replace("virtualcluster team-a", f"{kind} {name}"))
    assert not site.plane.get(f"/apis/drover.dev/v1alpha1/{kind}s/{name}")


def without_drover(site):
    """Checks that nothing is left although drover is gone while its finalizers hold objects: the
    purge refuses, and ends once `drover uninstall` has saved and deleted them."""
    site.shell("kubectl apply -f examples/deploy/first-rack.yaml")
    site.until("the pool is ready", site.pool_ready)
    site.shell("deploy/install.sh --uninstall")
    site.until("no pod is left", lambda: not site.running())
    for kind, name in (("provider", "hall-a"), ("machine", "gpu-r1-07")):
        site.plane.kubectl("patch", kind, name, "--type=merge", "-p",
                           json.dumps({"metadata": {"finalizers": [f"drover.dev/{kind}"]}}))
        site.shell(f"kubectl delete {kind} {name} --wait=false")
    record = {"apiVersion": "drover.dev/v1alpha1", "kind": "WipeRecord",
              "metadata": {"name": "gpu-r1-07-1-1", "finalizers": ["drover.dev/export"]},
              "spec": {"machine": {"name": "gpu-r1-07", "uid": "u"}, "tenancy": 1, "attempt": 1, "verdict": "Purge",
                       "startTime": "2026-11-01T00:00:00Z", "endTime": "2026-11-01T00:01:00Z",
                       "agentTrust": "BootNetwork", "inventory": {"expected": 0, "seen": 0}, "devices": [],
                       "envelope": "AAAA"}}
    site.plane.kubectl("create", "-f", "-", stdin=json.dumps(record))
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
    assert not [c for c in site.plane.api("GET", CRDS)["items"] if c["spec"]["group"] == "drover.dev"]
    site.until("its namespace is gone", lambda: not site.plane.get(NAMESPACE))
    left = [r["metadata"]["name"] for r in site.plane.api("GET", ROLES)["items"] if "drover" in r["metadata"]["name"]]
    assert not left, left


def uninstall(site, install):
    """Checks that objects stay without --purge; that --purge is refused while objects exist; and
    that drover then removes its finalizers."""
    site.shell("deploy/install.sh --uninstall")
    assert not site.plane.get(DEPLOYMENT) and site.plane.get(POOL)
    assert not site.plane.get(f"{ROLES}/drover-controller") and site.plane.get(f"{NAMESPACE}/secrets/drover-boot-key")
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
    process.sweep(folder)
    timer, site = testbed.Timer(), Site(folder)
    try:
        site.plane.wait_ready()
        for kubelet in site.kubelets:
            kubelet.join_node()
        timer.phase("a control plane, two nodes, a registry")
        five_commands(site)
        timer.phase("five commands: pool h100 READY")
        if args.keep:
            input(f"KUBECONFIG={site.plane.kubeconfig}; Enter goes on ")
        by_argo(site)
        upgrade_by_helm(site)
        timer.phase("an upgrade, uninstalled: by Helm")
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
