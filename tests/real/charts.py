#!/usr/bin/env python3
"""The Helm chart and the kustomize overlays, judged by Helm 3 and 4, kustomize and a real API server.

    tests/real/charts.py [--folder FOLDER]

No drover runs here. Both Helms render the chart over a matrix of values, and refuse each bad value
by its place. The API server accepts all objects, without and with the Prometheus operator's
definitions. The overlays are the same objects as the chart's. Then each Helm installs an older
chart with older definitions, upgrades, rolls back, uninstalls and installs again.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import chart_files  # noqa: E402  (of tests/tools)
import testbed  # noqa: E402  (beside this file)
from testbed import pace, parts, process  # noqa: E402

ROOT = chart_files.ROOT
CHART = "deploy/helm/drover"
OVERLAYS = ROOT / "examples/deploy"
IMAGE = ["--set", "image.repository=registry.example/drover"]
NAME = ["--set", "settings.agent-name={10.1.0.5}"]
GOOD = IMAGE + NAME
OPERATOR = [f"--api-versions=monitoring.coreos.com/v1/{kind}" for kind in ("ServiceMonitor", "PrometheusRule")]
NAMESPACE = chart_files.NAMESPACE
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
POOL = "/apis/drover.dev/v1alpha1/nodepools/h100"
DEPLOYMENT = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/drover"
MONITORS = f"/apis/monitoring.coreos.com/v1/namespaces/{NAMESPACE}"
MONITORED = {"serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
             "prometheusRule": {"enabled": True}, "dashboards": {"enabled": True, "annotations": {"folder": "GPU"}}}
RELEASE_MAX = 1 << 20  # a release is stored in one Secret
DIGEST = "sha256:" + "5" * 64

# Values that the chart accepts; those of an overlay give the overlay's objects.
MATRIX = {
    "ha": {},
    "single": {"replicas": 1},
    "host-network": {"hostNetwork": True, "nodeSelector": {"drover.dev/management-network": "true"}},
    "one name as text": {"settings": {"agent-name": "drover.example"}},
    "digest": {"image": {"digest": DIGEST, "pullPolicy": "Always"}, "imagePullSecrets": [{"name": "registry"}]},
    "never together": {"podAntiAffinity": "required", "topologySpreadConstraints": [], "replicas": 3},
    "anywhere": {"podAntiAffinity": "none", "priorityClassName": "", "podDisruptionBudget": {"enabled": False},
                 "networkPolicy": {"enabled": False}, "tolerations": [{"key": "gpu", "operator": "Exists"}]},
    "own affinity": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "operator": "DoesNotExist"}]}]}}},
        "podDisruptionBudget": {"maxUnavailable": "50%"}},
    "node ports": {"service": {"type": "NodePort", "nodePorts": {"agent": 30443, "media": 30080}}},
    "in the cluster": {"service": {"type": "ClusterIP", "nodePorts": {"agent": 30443}}},
    "load balancer": {"service": {
        "annotations": {"a": "b"}, "labels": {"c": "d"}, "loadBalancerClass": "bgp.example/lb",
        "loadBalancerIP": "10.1.0.5", "loadBalancerSourceRanges": ["10.0.0.0/8"]}},
    "restricted": {"networkPolicy": {"from": {
        "agent": [{"ipBlock": {"cidr": "10.1.0.0/16", "except": ["10.1.9.0/24"]}}],
        "metrics": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]}}},
    "everything else": {
        "settings": {"management-network": ["10.0.8.0/24"], "per-address": 200, "debug": True,
                     "image-ca": "/ca/ca.crt"},
        "serviceAccount": {"annotations": {"cloud.example/role": "drover"}}, "podAnnotations": {"a": "b"},
        "podLabels": {"team": "gpu"}, "commonLabels": {"team": "all", "site": "hall-a"},
        "extraEnv": [{"name": "AWS_ROLE_ARN", "value": "arn:aws:iam::123456789012:role/drover"}],
        "extraVolumes": [{"name": "ca", "configMap": {"name": "ca"}}],
        "extraVolumeMounts": [{"name": "ca", "mountPath": "/ca", "readOnly": True}],
        "resources": {"requests": {"cpu": 2}, "limits": {"memory": "1Gi"}},
        "probes": {"startup": {"failureThreshold": 600}}, "crds": {"keep": False, "annotations": {"a": "b"}}},
    "agent image": {  # of `make container`, as a volume of an image without it
        "image": {"tag": "0.1-base"}, "extraVolumeMounts": [{"name": "agent", "mountPath": "/usr/share/drover",
                                                            "readOnly": True}],
        "extraVolumes": [{"name": "agent", "image": {"reference": "registry.example/drover-agent-image:0.1"}}]},
    "no definitions": {"crds": {"install": False}},
    "monitoring": {"monitoring": MONITORED},
    "objectives": {"monitoring": {"prometheusRule": {
        "enabled": True, "runbooks": "https://git.example/drover/docs/", "objectives": {
            # a fraction of --set is a text
            "podWait": {"share": "0.9", "seconds": 600, "severity": "page"}, "claims": {"share": 0.999}}}}},
}

# (arguments, parts of the message): the first part is the place.
BAD = [
    (NAME, ["image.repository is missing"]),
    (IMAGE, ["settings.agent-name is missing"]),
    ([*GOOD, "--namespace", "default"], ["--namespace default", "drover-system"]),
    ([*GOOD, "--set", "image.tagg=1"], ["/image'", "'tagg' not allowed"]),
    ([*GOOD, "--set", "image.digest=sha256:12"], ["/image/digest'"]),
    ([*GOOD, "--set", "image.pullPolicy=Sometimes"], ["/image/pullPolicy'", "'Never'"]),
    ([*GOOD, "--set", "replica=2"], ["'replica' not allowed"]),
    ([*GOOD, "--set", "replicas=0"], ["/replicas'"]),
    ([*GOOD, "--set", "replicas=two"], ["/replicas'"]),
    ([*GOOD, "--set", "settings.agent-nam=x"], ["/settings'", "'agent-nam' not allowed"]),
    ([*GOOD, "--set", "settings.identity=one"], ["/settings'", "'identity' not allowed"]),
    ([*GOOD, "--set", "settings.debug=1"], ["/settings/debug'"]),
    ([*GOOD, "--set", "podAntiAffinity=sometimes"], ["/podAntiAffinity'"]),
    ([*GOOD, "--set", "podDisruptionBudget.maxUnavailable=half"], ["/podDisruptionBudget/maxUnavailable'"]),
    ([*GOOD, "--set", "topologySpreadConstraints[0].topologyKey=zone"], ["/topologySpreadConstraints/0'"]),
    ([*GOOD, "--set", "tolerations[0].kee=gpu"], ["/tolerations/0'", "'kee' not allowed"]),
    ([*GOOD, "--set", "affinity.podAfinity.x=1"], ["/affinity'", "'podAfinity' not allowed"]),
    ([*GOOD, "--set", "resources.limit.memory=1Gi"], ["/resources'", "'limit' not allowed"]),
    ([*GOOD, "--set", "probes.liveness.period=1"], ["/probes/liveness'", "'period' not allowed"]),
    ([*GOOD, "--set", "service.type=ExternalName"], ["/service/type'"]),
    ([*GOOD, "--set", "service.nodePorts.agent=70000"], ["/service/nodePorts/agent'"]),
    ([*GOOD, "--set", "networkPolicy.from.agents[0].ipBlock.cidr=10.0.0.0/8"], ["/networkPolicy/from'", "'agents'"]),
    ([*GOOD, "--set", "networkPolicy.from.agent[0].ipblock=1"], ["/networkPolicy/from/agent/0'", "'ipblock' not"]),
    ([*GOOD, "--set", "commonLabels.app=x"], ["/commonLabels'"]),
    ([*GOOD, "--set", "podLabels.app=x"], ["/podLabels'"]),
    ([*GOOD, "--set", "extraEnv[0].key=x"], ["/extraEnv/0'"]),
    ([*GOOD, "--set", "extraVolumes[0].name=settings"], ["/extraVolumes/0/name'"]),
    ([*GOOD, "--set", "extraVolumeMounts[0].name=ca"], ["/extraVolumeMounts/0'", "mountPath"]),
    ([*GOOD, "--set", "crds.create=false"], ["/crds'", "'create' not allowed"]),
    ([*GOOD, "--set", "monitoring.serviceMonitor.interval=often"], ["/monitoring/serviceMonitor/interval'"]),
    ([*GOOD, "--set-string", "monitoring.dashboards.enabled=yes"], ["/monitoring/dashboards/enabled'"]),
    *[([*GOOD, *OPERATOR, "--set", f"monitoring.prometheusRule.{value}"], [f"/monitoring/prometheusRule{at}'"])
      for value, at in [("objectives.podWait.share=1.5", "/objectives/podWait/share"),
                        ("objectives.podWait.seconds=1000", "/objectives/podWait/seconds"),
                        ("objectives.claims.severity=loud", "/objectives/claims/severity"),
                        ("objectives.claims.seconds=600", "/objectives/claims"),
                        ("objectives.podWaits.share=0.9", "/objectives"), ("runbooks=a b", "/runbooks")]],
    ([*GOOD, *OPERATOR, "--set", "monitoring.prometheusRule.enabled=true", "--set",
      "monitoring.prometheusRule.objectives.wipes=null"],
     ["monitoring.prometheusRule.objectives.wipes.share is missing"]),
    ([*GOOD, "--set", "monitoring.serviceMonitor.enabled=true"],
     ["monitoring.coreos.com/v1/ServiceMonitor", "monitoring.serviceMonitor.enabled=false"]),
    ([*GOOD, "--set", "monitoring.prometheusRule.enabled=true"],
     ["monitoring.coreos.com/v1/PrometheusRule", "monitoring.prometheusRule.enabled=false"]),
]


class Site:
    """A control plane, and the programs that are run against it."""

    def __init__(self, folder, plane):
        self.folder, self.plane = folder, plane
        self.helms = {"helm 3": parts.paths()["helm"] / "helm", "helm 4": parts.named("helm4") / "helm"}
        self.kustomize = parts.named("kustomize") / "kustomize"
        self.env = {"KUBECONFIG": str(plane.kubeconfig), "HOME": str(folder),
                    "PATH": f"{parts.paths()['kube']}:/usr/bin:/bin"}

    def run(self, *argv, fails=False, stdin=None):
        """Returns (standard output, both outputs together)."""
        done = subprocess.run([str(a) for a in argv], cwd=ROOT, env=self.env, input=stdin, capture_output=True,
                              text=True, check=False, timeout=pace.limit(300))
        said = done.stdout + done.stderr
        assert bool(done.returncode) == fails, f"{' '.join(map(str, argv))}: {done.returncode}\n{said[-4000:]}"
        return done.stdout, said

    def template(self, helm, values, *more):
        path = self.folder / "values.json"
        path.write_text(json.dumps(values))
        return self.run(self.helms[helm], "template", "drover", CHART, "--namespace", NAMESPACE, "--kube-version",
                        chart_files.KUBE, *GOOD, "--values", path, *more)[0]

    def accepted(self, text):
        """Returns {(kind, name): object} as the API server would store them."""
        out, _ = self.run("kubectl", "apply", "--server-side", "--force-conflicts", "--dry-run=server", "-o", "json",
                          "-f", "-", stdin=text)
        found = json.loads(out)
        return {(o["kind"], o["metadata"]["name"]): o for o in found.get("items", [found])}

    def definitions(self):
        """Returns the names of drover's definitions that are not being deleted."""
        return [c["metadata"]["name"] for c in self.plane.api("GET", CRDS)["items"]
                if c["spec"]["group"] == "drover.dev" and "deletionTimestamp" not in c["metadata"]]

    def image(self):
        return self.plane.get(DEPLOYMENT)["spec"]["template"]["spec"]["containers"][0]["image"]


def documents(text):
    """Returns the documents without comments and empty lines, sorted: the two Helms order and
    separate them differently."""
    return sorted(re.sub(r"^\s*(#.*)?\n", "", d, flags=re.M) for d in re.split(r"^---\n", text, flags=re.M))


def bare(o):
    """Returns what two ways to install drover must have in common."""
    meta = o["metadata"]
    kept = {k: v for k, v in o.items() if k not in ("metadata", "status")}
    if o["kind"] == "Deployment":
        container, = kept["spec"]["template"]["spec"]["containers"]
        container.pop("image")
        kept["spec"]["template"]["metadata"] = {}
        kept["spec"]["template"]["spec"].pop("volumes")
    if o["kind"] == "Service":
        for unstable in ("clusterIP", "clusterIPs", "healthCheckNodePort"):
            kept["spec"].pop(unstable, None)
        for port in kept["spec"]["ports"]:
            port.pop("nodePort", None)
    return {**kept, "name": meta["name"], "namespace": meta.get("namespace")}


def lints(site):
    for helm in site.helms:
        said = site.run(site.helms[helm], "lint", "--strict", CHART, "--kube-version", chart_files.KUBE, *GOOD)[1]
        assert "0 chart(s) failed" in said, said
        site.run(site.helms[helm], "package", CHART, "--destination", site.folder)
        package, = site.folder.glob("drover-*.tgz")
        argv = ["--namespace", NAMESPACE, "--kube-version", chart_files.KUBE, *GOOD]
        packed, plain = (site.run(site.helms[helm], "template", "drover", c, *argv)[0] for c in (package, CHART))
        assert packed == plain, "the package differs from its directory"
        package.unlink()
    said = site.run(sys.executable, "tests/tools/charts")[1]
    assert not said, said
    assert chart_files.base(site.helms["helm 3"]) == chart_files.BASE.read_text(), (
        "deploy/controller.yaml is not what the chart gives: run make charts")


def bad_values(site):
    for helm, program in site.helms.items():
        for args, wanted in BAD:
            said = site.run(program, "template", "drover", CHART, "--namespace", NAMESPACE, "--kube-version",
                            chart_files.KUBE, *args, fails=True)[1]
            assert all(w in said for w in wanted), f"{helm} {args}: {wanted} not in:\n{said}"
    return len(BAD)


def matrix(site):
    """Returns {case: objects}. Both Helms must render the same, and the API server accepts it."""
    found = {}
    for case, values in MATRIX.items():
        if not (OVERLAYS / case).is_dir():  # definitions take time, and are the same each time
            values = {"crds": {"install": False}, **values}
        more = OPERATOR if "monitoring" in values else []
        text = site.template("helm 3", values, *more)
        assert documents(text) == documents(site.template("helm 4", values, *more)), f"{case}: Helm 3 and 4 differ"
        found[case] = site.accepted(text)
    return found


def meaning(found):
    """Checks that values have their effect."""
    def pod(case):
        return found[case]["Deployment", "drover"]["spec"]["template"]["spec"]

    def spec(case, kind, name="drover"):
        return found[case].get((kind, name), {}).get("spec")
    assert spec("ha", "Deployment")["replicas"] == 2 and spec("ha", "PodDisruptionBudget")["maxUnavailable"] == 1
    assert "selector" not in spec("ha", "Service") and spec("ha", "Service")["externalTrafficPolicy"] == "Local"
    assert pod("ha")["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert pod("ha")["priorityClassName"] == "system-cluster-critical"
    assert [p["port"] for r in spec("ha", "NetworkPolicy")["ingress"] for p in r["ports"]] == [
        "agent", "media", "metrics", "view"]
    assert spec("ha", "NetworkPolicy")["policyTypes"] == ["Ingress"]
    assert not spec("single", "PodDisruptionBudget") and not spec("host-network", "NetworkPolicy")
    assert spec("host-network", "Service")["type"] == "ClusterIP" and pod("host-network")["hostNetwork"]
    assert pod("digest")["containers"][0]["image"] == f"registry.example/drover@{DIGEST}"
    assert pod("never together")["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert "topologySpreadConstraints" not in pod("never together")
    assert "affinity" not in pod("anywhere") and "priorityClassName" not in pod("anywhere")
    assert not spec("anywhere", "NetworkPolicy") and not spec("anywhere", "PodDisruptionBudget")
    assert sorted(pod("own affinity")["affinity"]) == ["nodeAffinity", "podAntiAffinity"]
    assert [p["nodePort"] for p in spec("node ports", "Service")["ports"]] == [30443, 30080]
    assert found["ha"]["CustomResourceDefinition", "machines.drover.dev"]["metadata"]["annotations"][
        "helm.sh/resource-policy"] == "keep"
    rest = found["everything else"]
    notes = rest["CustomResourceDefinition", "machines.drover.dev"]["metadata"]["annotations"]
    assert "helm.sh/resource-policy" not in notes and notes["a"] == "b"
    assert rest["ServiceAccount", "drover"]["metadata"]["annotations"]["cloud.example/role"] == "drover"
    assert rest["Deployment", "drover"]["spec"]["template"]["metadata"]["labels"]["team"] == "gpu"
    assert rest["Service", "drover-view"]["metadata"]["labels"]["team"] == "all"
    assert "per-address: 200\n" in rest["ConfigMap", "drover"]["data"]["drover.yaml"]
    agent = pod("agent image")
    assert agent["volumes"][1]["image"]["reference"] == "registry.example/drover-agent-image:0.1"
    assert "--agent-image=/usr/share/drover/drover-agent.iso" in agent["containers"][0]["args"]
    assert not [kind for kind, _ in found["no definitions"] if kind == "CustomResourceDefinition"]
    ours = {("ServiceMonitor", "drover"), ("PrometheusRule", "drover"), ("ConfigMap", "drover-dashboards"),
            ("Service", "drover-metrics")}
    assert set(found["monitoring"]) - set(found["ha"]) == ours
    monitor = found["monitoring"]["ServiceMonitor", "drover"]
    board = found["monitoring"]["ConfigMap", "drover-dashboards"]
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    assert monitor["spec"]["endpoints"][0]["tlsConfig"]["serverName"] == "10.1.0.5"
    assert board["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert {n: json.loads(t)["title"] for n, t in board["data"].items()} == {
        p.name: json.loads(p.read_text())["title"] for p in (ROOT / "deploy/monitoring").glob("*.json")}


def rules_by_objectives(site, found):
    """Checks that the chart's alerts are those of make-rules for the same objectives."""
    own = site.folder / "objectives.yaml"
    text = (ROOT / "deploy/monitoring/objectives.yaml").read_text()
    for old, new in [("runbooks: docs", "runbooks: https://git.example/drover/docs"),
                     ("podWait:\n  share: 0.95\n  seconds: 1800\n  severity: ticket",
                      "podWait:\n  share: 0.9\n  seconds: 600\n  severity: page"),
                     ("claims:\n  share: 0.99", "claims:\n  share: 0.999")]:
        assert old in text, old
        text = text.replace(old, new)
    own.write_text(text)
    for case, path in ("monitoring", ROOT / "deploy/monitoring/objectives.yaml"), ("objectives", own):
        rules = site.run("deploy/monitoring/make-rules", "--objectives", path)[0]
        wanted, = site.accepted(rules).values()
        assert found[case]["PrometheusRule", "drover"]["spec"] == wanted["spec"], f"{case}: other rules than make-rules'"


def overlays(site, found):
    """Checks that each overlay gives the objects of the chart, and that kubectl builds the same."""
    names = sorted(p.parent.name for p in OVERLAYS.glob("*/kustomization.yaml"))
    for name in names:
        text = site.run(site.kustomize, "build", OVERLAYS / name)[0]
        assert text == site.run("kubectl", "kustomize", OVERLAYS / name)[0], f"{name}: kubectl builds something else"
        objects = site.accepted(text)
        for (kind, _), o in objects.items():
            notes = o["metadata"].get("annotations", {})
            kept = notes.get("kustomize.toolkit.fluxcd.io/prune") == "disabled"
            assert kept == (kind == "CustomResourceDefinition"), f"{name}: {kind}: kept: {kept}"
        ours = {k: bare(o) for k, o in objects.items() if k[0] not in ("Namespace", "ConfigMap")}
        theirs = {k: bare(o) for k, o in found[name].items() if k[0] != "ConfigMap"}
        assert set(ours) == set(theirs), f"{name}: {set(ours) ^ set(theirs)}"
        for key, o in ours.items():
            assert o == theirs[key], f"{name}: {key}:\n{json.dumps(o)}\n{json.dumps(theirs[key])}"
    return len(names)


def older(site):
    """Makes a chart of an earlier version, whose NodePools cannot be paused."""
    chart = site.folder / "older"
    shutil.rmtree(chart, ignore_errors=True)
    shutil.copytree(ROOT / CHART, chart)
    path = chart / "Chart.yaml"
    path.write_text(re.sub("^version: .*", "version: 0.0.1", re.sub(
        "^appVersion: .*", 'appVersion: "0.0"', path.read_text(), flags=re.M), flags=re.M))
    path = chart / "files/crds/nodepools.yaml"
    text = re.sub(r"^( +)paused:\n\1  description: .*\n\1  type: boolean\n", "", path.read_text(), count=1, flags=re.M)
    assert text != path.read_text()
    path.write_text(text)
    return chart


def can_be_paused(site):
    site.run("kubectl", "patch", "nodepool", "h100", "--type=merge", "-p", '{"spec":{"paused":null}}')
    site.run("kubectl", "patch", "nodepool", "h100", "--type=merge", "-p", '{"spec":{"paused":true}}')
    return site.plane.get(POOL)["spec"].get("paused") is True


def life(site, helm):
    """Installs, upgrades, rolls back and uninstalls, in a cluster without Prometheus."""
    program = site.helms[helm]

    def do(verb, *more, fails=False, name="drover", namespace=NAMESPACE):
        return site.run(program, verb, name, *more, "--namespace", namespace, fails=fails)[1]
    said = do("install", older(site), "--create-namespace", *GOOD)
    assert "rollout status deployment/drover" in said and "drover check" in said, said
    site.plane.kubectl("wait", "--for=condition=Established", "crd", "--all", f"--timeout={pace.limit(30):.0f}s")
    site.plane.kubectl("apply", "-f", ROOT / "examples/deploy/first-rack.yaml")
    assert not can_be_paused(site) and site.image().endswith(":0.0")
    stored = site.plane.get(f"/api/v1/namespaces/{NAMESPACE}/secrets/sh.helm.release.v1.drover.v1")
    size = len(stored["data"]["release"])
    assert size < RELEASE_MAX / 2, f"the chart fills {size} bytes of a Secret"
    said = do("install", CHART, *GOOD, name="second", fails=True)
    assert "belongs to release drover in namespace drover-system" in said and "helm upgrade drover" in said, said
    said = do("install", CHART, *GOOD, name="second", namespace="default", fails=True)
    assert "--namespace default" in said, said
    said = do("upgrade", CHART, *GOOD, "--set", "monitoring.serviceMonitor.enabled=true", fails=True)
    assert "monitoring.serviceMonitor.enabled=false" in said, said
    assert site.image().endswith(":0.0"), "a refused upgrade changed the Deployment"
    do("upgrade", CHART, *GOOD)
    pace.wait_for("the new definition is served", lambda: can_be_paused(site), 30)
    assert not site.image().endswith(":0.0")
    do("rollback", "1")
    assert site.image().endswith(":0.0")
    do("upgrade", CHART, *GOOD)
    do("uninstall")
    assert not site.plane.get(DEPLOYMENT)
    assert len(site.definitions()) == len(list((ROOT / "deploy/crds").glob("*.yaml"))), site.definitions()
    assert site.plane.get(POOL), "uninstalling drover deleted its objects"
    do("install", CHART, *GOOD, "--set", "replicas=1")
    do("uninstall")


def monitored(site, helm):
    """Turns monitoring on and off in a cluster with the Prometheus operator's definitions."""
    program, values = site.helms[helm], site.folder / "monitored.json"
    values.write_text(json.dumps({"monitoring": MONITORED}))
    there = [("servicemonitors", "drover"), ("prometheusrules", "drover")]
    for more, wanted in (["--values", values], True), ([], False):
        site.run(program, "upgrade", "--install", "drover", CHART, "--namespace", NAMESPACE, "--create-namespace",
                 *GOOD, *more)
        assert all(bool(site.plane.get(f"{MONITORS}/{kind}/{name}")) == wanted for kind, name in there)
    site.run(program, "uninstall", "drover", "--namespace", NAMESPACE)


def from_kubectl(site, helm):
    """Helm takes over what deploy/install.sh installed, if it is told to."""
    site.run("deploy/install.sh", "--image", "registry.example/drover:0.1", "--agent-name", "10.1.0.5", "--no-wait")
    argv = [site.helms[helm], "upgrade", "--install", "drover", CHART, "--namespace", NAMESPACE, *GOOD]
    said = site.run(*argv, fails=True)[1]
    assert "invalid ownership metadata" in said, said
    force = ["--force-conflicts"] if helm == "helm 4" else []
    site.run(*argv, "--take-ownership", *force)
    site.run(site.helms[helm], "uninstall", "drover", "--namespace", NAMESPACE)
    site.run("deploy/install.sh", "--uninstall", "--purge")


def clean(site):
    """Deletes objects and definitions, as `deploy/install.sh --uninstall --purge` would."""
    for what in ("nodepool/h100", "machine/gpu-r1-07", "provider/hall-a"):
        site.plane.kubectl("delete", what)
    site.run("deploy/install.sh", "--uninstall", "--purge")
    pace.wait_for("the namespace is gone", lambda: not site.plane.get(f"/api/v1/namespaces/{NAMESPACE}"), 60)


def operator_definitions(site, verb):
    for path in sorted(parts.named("prometheus-operator").glob("*.yaml")):
        if re.search(r"_(servicemonitors|prometheusrules)\.yaml$", path.name):
            site.plane.kubectl(*(["apply", "--server-side"] if verb == "apply" else ["delete"]), "-f", path)
    if verb == "apply":
        site.plane.kubectl("wait", "--for=condition=Established", "crd", "--all", f"--timeout={pace.limit(30):.0f}s")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--folder", type=pathlib.Path)
    args = p.parse_args()
    folder = args.folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-charts-"))
    folder.mkdir(parents=True, exist_ok=True)
    process.sweep(folder)
    timer, plane = testbed.Timer(), testbed.ControlPlane("host", folder / "host").start()
    site = Site(folder, plane)
    try:
        plane.wait_ready()
        timer.phase("a control plane")
        lints(site)
        timer.phase("lint, generated files")
        count = bad_values(site)
        timer.phase(f"{count} bad values refused, by each Helm")
        for helm in site.helms:
            life(site, helm)
            clean(site)
            timer.phase(f"{helm}: installed, upgraded, rolled back, uninstalled, installed again")
        plane.kubectl("create", "namespace", NAMESPACE)
        operator_definitions(site, "apply")
        found = matrix(site)
        meaning(found)
        rules_by_objectives(site, found)
        timer.phase(f"{len(found)} sets of values, accepted by the API server")
        count = overlays(site, found)
        timer.phase(f"{count} overlays are the chart's objects")
        for helm in site.helms:
            monitored(site, helm)
            from_kubectl(site, helm)
            timer.phase(f"{helm}: monitoring on and off; took over what kubectl installed")
    finally:
        plane.stop()
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
