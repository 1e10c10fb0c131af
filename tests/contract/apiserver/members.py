"""Compares which members (JSON paths, not values) two servers send of the same object.

Clients sort, select and print by paths, so a missing member makes a client fail.  Each object is
created on both servers, and the answers to each request are compared.  A path that only one server
sends must be listed in the file member_differences with the reason.  A listed difference that no
longer exists fails, too.
"""
import fnmatch
import re
import secrets

import engine
from engine import get, patch, post
from cases_objects import DEPLOYMENTS, NODES, PODS

REAL, EMBEDDED = "only real", "only embedded"
NAMESPACED = "/namespaces/{ns}/"
CORE, APPS = "/api/v1" + NAMESPACED, "/apis/apps/v1" + NAMESPACED
RBAC, STORAGE = "/apis/rbac.authorization.k8s.io/v1", "/apis/storage.k8s.io/v1"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PLAIN = {"containers": [{"name": "c", "image": "i"}]}
TIME = "2026-01-02T03:04:05Z"
PROBE = {"httpGet": {"port": 80}}
SELECTOR = {"matchLabels": {"app": "a"}}
TEMPLATE = {"metadata": {"labels": {"app": "a"}}, "spec": PLAIN}
RICH = {
    "schedulerName": "nobody", "nodeSelector": {}, "hostNetwork": False, "serviceAccountName": "robot",
    "initContainers": [{"name": "i", "image": "i:latest", "restartPolicy": "Always"}],
    "containers": [{
        "name": "c", "image": "i@sha256:" + "a" * 64, "args": [], "stdin": False,
        "ports": [{"containerPort": 80}],
        "env": [{"name": "A"}, {"name": "B", "value": "b"},
                {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                {"name": "D", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
                {"name": "E", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
        "envFrom": [{"configMapRef": {"name": "c"}}],
        "resources": {"limits": {"cpu": "1", "nvidia.com/gpu": "8"}, "requests": {}},
        "volumeMounts": [{"name": "v0", "mountPath": "/v", "readOnly": False}],
        "livenessProbe": PROBE, "readinessProbe": {"tcpSocket": {"port": 1}},
        "startupProbe": {"grpc": {"port": 1}},
        "lifecycle": {"preStop": {"httpGet": {"port": 80}}},
        "securityContext": {"capabilities": {"add": []}}}],
    "tolerations": [{"operator": "Exists", "effect": "NoSchedule"}],
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "z",
                                   "whenUnsatisfiable": "DoNotSchedule",
                                   "labelSelector": SELECTOR}],
    "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 1, "podAffinityTerm": {"topologyKey": "z", "labelSelector": SELECTOR}}]}},
    "volumes": [{"name": f"v{n}", **source} for n, source in enumerate((
        {"emptyDir": {}}, {"configMap": {"name": "c"}}, {"secret": {"secretName": "s"}},
        {"hostPath": {"path": "/x"}}, {"persistentVolumeClaim": {"claimName": "p"}},
        {"downwardAPI": {"items": [{"path": "x", "fieldRef": {"fieldPath": "metadata.name"}}]}},
        {"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
        {"ephemeral": {"volumeClaimTemplate": {"spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}}))]}
CONDITION = {"type": "Ready", "status": "True"}
RAN = {"phase": "Running", "conditions": [CONDITION], "containerStatuses": [
    {"name": "c", "state": {"running": {}}, "lastState": {"terminated": {"exitCode": 0}}},
    {"name": "d", "state": {"waiting": {}}}]}
EVENT = {"metadata": {"name": "old"}, "involvedObject": {"kind": "Pod", "namespace": "{ns}"}}
RENAMED = {"metadata": {"name": "new"}, "eventTime": "2026-01-02T03:04:05.000000Z",
           "reportingController": "drover.example/x", "reportingInstance": "x", "action": "Do",
           "reason": "Done", "type": "Normal", "regarding": {"kind": "Pod", "namespace": "{ns}"}}
EVENTS = "/apis/events.k8s.io/v1" + NAMESPACED + "events"
GROUP = "members{id6}.example"
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
REVIEWED = {"resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "{ns}"}}


def named(spec, name="a", **more):
    return {"metadata": {"name": name}, "spec": spec, **more}


def workload(**spec):
    return named({"selector": SELECTOR, "template": TEMPLATE, **spec})


def status(path, value):
    return patch(path + "/status", {"status": value})


def cluster(body):
    """Returns the body of a cluster-scoped object with a name that is unique to this run."""
    return {**body, "metadata": {**body.get("metadata", {}), "name": "{id}"}}


TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
PARTIAL = {"Accept": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}
STEPS = [
    post(PODS, named(PLAIN)),
    post(PODS, named(RICH, "rich")),
    status(PODS + "/a", RAN),
    post(PODS + "/a/binding", {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n"}}),
    get(PODS + "/a"),
    post(PODS + "/rich/eviction", {"metadata": {"name": "rich"}}),
    post(CORE + "podtemplates", {"metadata": {"name": "a"}, "template": TEMPLATE}),
    post(NODES, cluster({})),
    status(NODES + "/{id}", {"conditions": [CONDITION], "capacity": {"cpu": "1"},
                             "nodeInfo": {"kubeletVersion": "v1"}, "images": [{}]}),
    patch(NODES + "/{id}", {"spec": {"unschedulable": False, "taints": [
        {"key": "k", "effect": "NoSchedule"}]}}),
    post(CORE + "secrets", {"metadata": {"name": "a"}}),
    post(CORE + "secrets", {"metadata": {"name": "b"}, "stringData": {"k": ""}}),
    post(CORE + "configmaps", {"metadata": {"name": "a", "labels": {}}, "data": {}}),
    post("/api/v1/namespaces", cluster({})),
    post(CORE + "events", EVENT),
    get(EVENTS + "/old"),
    patch(CORE + "events/old", {"count": 2, "lastTimestamp": TIME, "series": {"count": 2}}),
    post(EVENTS, RENAMED),
    get(CORE + "events/new"),
    get(EVENTS + "?fieldSelector=metadata.name=old"),
    # Tables as kubectl requests them to sort: each row has the object in the requested version.
    get(CORE + "events?includeObject=Object", headers=TABLE),
    get(EVENTS + "?includeObject=Object", headers=TABLE),
    get(PODS, headers=TABLE),
    get(PODS + "/a?of=metadata", headers=PARTIAL),
    post(CORE + "serviceaccounts", {"metadata": {"name": "a"}}),
    post(CORE + "serviceaccounts/a/token", {"spec": {}}),
    post(CORE + "services", named({"ports": [{"port": 80}], "selector": {"app": "a"}})),
    post(CORE + "services", named({"ports": [{"port": 80}], "clusterIP": "None"}, "headless")),
    post(CORE + "persistentvolumeclaims", named(CLAIM)),
    post("/api/v1/persistentvolumes", cluster({"spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": "/x"}}})),
    status("/api/v1/persistentvolumes/{id}", {"phase": "Available"}),
    post(CORE + "services", named({"ports": [{"port": 80, "nodePort": 31234}],
                                   "type": "LoadBalancer"}, "balanced")),
    status(CORE + "services/balanced", {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}),
    status(CORE + "persistentvolumeclaims/a", {
        "phase": "Bound", "conditions": [{"type": "Resizing", "status": "True"}]}),
    post(CORE + "resourcequotas", named({"hard": {"pods": "1"}})),
    post(APPS + "daemonsets", workload()),
    post(DEPLOYMENTS, workload()),
    status(DEPLOYMENTS + "/a", {"conditions": [{"type": "Available", "status": "True"}]}),
    get(DEPLOYMENTS + "/a/scale"),
    patch(DEPLOYMENTS + "/a/scale", {"spec": {"replicas": 0}}),
    post(APPS + "replicasets", workload()),
    post(APPS + "statefulsets", workload(volumeClaimTemplates=[named(CLAIM, "v")])),
    post("/apis/batch/v1" + NAMESPACED + "jobs",
         named({"template": {"spec": {**PLAIN, "restartPolicy": "Never"}}})),
    post("/apis/coordination.k8s.io/v1" + NAMESPACED + "leases", {"metadata": {"name": "a"}}),
    post("/apis/policy/v1" + NAMESPACED + "poddisruptionbudgets",
         named({"minAvailable": 1, "selector": {}})),
    post(RBAC + NAMESPACED + "roles", {"metadata": {"name": "a"}, "rules": []}),
    post(RBAC + NAMESPACED + "rolebindings", {
        "metadata": {"name": "a"}, "roleRef": {"kind": "Role", "name": "a"},
        "subjects": [{"kind": "User", "name": "u"},
                     {"kind": "ServiceAccount", "name": "a", "namespace": "{ns}"}]}),
    post(RBAC + "/clusterroles", cluster({"rules": [{"verbs": ["get"], "apiGroups": [""],
                                                     "resources": ["pods"]}]})),
    post(RBAC + "/clusterrolebindings", cluster({"roleRef": {"kind": "ClusterRole", "name": "a"}})),
    post("/apis/scheduling.k8s.io/v1/priorityclasses", cluster({})),
    post(STORAGE + "/storageclasses", cluster({"provisioner": "a.example/x"})),
    post(STORAGE + "/csinodes", cluster({"spec": {}})),
    post(STORAGE + "/csinodes", {"metadata": {"name": "b{id}"}, "spec": {"drivers": [
        {"name": "a.example", "nodeID": "n", "topologyKeys": []}]}}),
    post(STORAGE + "/volumeattachments", cluster({"spec": {
        "attacher": "a.example", "nodeName": "n", "source": {"persistentVolumeName": "v"}}})),
    post(CRDS, {"metadata": {"name": "things." + GROUP}, "spec": {
        "group": GROUP, "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
        "versions": [{"name": "v1", "served": True, "storage": True,
                      "subresources": {"status": {}},
                      "additionalPrinterColumns": [{"name": "A", "type": "string",
                                                    "jsonPath": ".spec.a"}],
                      "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                          "spec": {"type": "object", "properties": {
                              "a": {"type": "string", "default": ""},
                              "b": {"type": "array", "items": {"type": "string"}}}},
                          "status": {"type": "object",
                                     "x-kubernetes-preserve-unknown-fields": True}}}}}]}}),
    # After some seconds the definition has its conditions, and its kind is served.
    get(CRDS + "/things." + GROUP, within=10, want={"status.conditions.#": 2}),
    post("/apis/" + GROUP + "/v1" + NAMESPACED + "things", within=10, body={
        "apiVersion": GROUP + "/v1", "kind": "Thing", "metadata": {"name": "a", "labels": {}},
        "spec": {"b": []}}),
    post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}),
    post("/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": "nobody's"}}),
    post("/apis/authorization.k8s.io/v1" + NAMESPACED + "localsubjectaccessreviews",
         {"metadata": {"namespace": "{ns}"}, "spec": {**REVIEWED, "user": "u"}}),
    post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"spec": REVIEWED}),
    post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {"spec": {"namespace": "{ns}"}}),
    post("/apis/authorization.k8s.io/v1/subjectaccessreviews", {"spec": {**REVIEWED, "user": "u"}}),
    get(CORE + "configmaps?fieldSelector=metadata.name=a"),
    engine.delete(CORE + "configmaps/a"),
    get(CORE + "configmaps/nowhere", code=404),
    post(PODS, named({}, "wrong"), code=422),
    post(CORE + "configmaps", {"metadata": {"name": "kube-root-ca.crt"}}, code=409, within=10),
]


class Recorder(engine.Run):
    """A run that stores the last answer."""
    answered = None

    def request(self, *args, **more):
        reply, self.answered = super().request(*args, **more)
        return reply, self.answered


def title(step):
    """Names a step without namespace and version: "POST pods", "PATCH deployments/a/status"."""
    path = re.sub(r"^/apis?/([^/]+/)?v1/", "", step.path).replace("namespaces/{ns}/", "")
    group = "events.k8s.io " if "events.k8s.io" in step.path else ""
    return f"{step.method} {group}{path.replace('{id6}', '').replace('/{id}', '')}"


def paths(value, at=""):
    """Returns the set of paths, such as ".spec.containers[].name"; a list has one path."""
    if isinstance(value, dict):
        return {f"{at}.{name}" for name in value}.union(
            *(paths(one, f"{at}.{name}") for name, one in value.items()))
    if isinstance(value, list):
        return set().union(*(paths(one, at + "[]") for one in value))
    return set()


def answers(server, names):
    """Runs all steps; returns {title of a step: set of the paths in its answer}."""
    run = Recorder(server, names)
    found = {}
    try:
        engine.post("/api/v1/namespaces", {"metadata": {"name": "{ns}"}}).run(run)
        for step in STEPS:
            try:
                step.run(run)
            except engine.Wrong as e:
                raise SystemExit(f"members: {server.address}: {title(step)}: {e}") from None
            again = sum(key.partition(" (")[0] == title(step) for key in found) + 1
            found[f"{title(step)} ({again})" if again > 1 else title(step)] = paths(run.answered)
    finally:
        run.close()
    return found


def covered(server, names):
    """Returns the kinds that the server has and that no step creates."""
    run = engine.Run(server, names)
    try:
        groups = [f"/apis/{g['preferredVersion']['groupVersion']}"
                  for g in run.request("GET", "/apis")[1]["groups"]]
        have = {f"{group}/{r['name']}"
                for group in ["/api/v1", *groups] if ".example" not in group
                for r in run.request("GET", group)[1]["resources"]
                if "create" in r["verbs"] and "/" not in r["name"]}
    finally:
        run.close()
    asked = {re.sub(r"/namespaces/\{ns\}", "", s.path) for s in STEPS if s.method == "POST"}
    return sorted(have - asked)


def listed(path):
    """Reads the file; returns {(pattern of titles, REAL or EMBEDDED, path): reason}."""
    found = {}
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            step, which, where, reason = line.split(" | ")
            found[step, which, where] = reason
    return found


def reason_for(known, step, which, where):
    """Returns the key in known that lists the member or one that contains it; None: not listed."""
    parts = re.split(r"(?=\.|\[\])", where)
    for n in range(len(parts), 0, -1):
        wanted = ("".join(parts[:n]), parts[n - 1].lstrip("."))
        for line in known:
            if line[1] == which and line[2] in wanted and fnmatch.fnmatchcase(step, line[0]):
                return line
    return None


def compare(real, embedded, known):
    """Prints unlisted differences, and listed ones that do not exist; returns their number."""
    ident = secrets.token_hex(4)
    names = {"id": f"m{ident}", "id6": ident[:6], "ns": f"members-{ident}"}
    theirs, ours = answers(real, dict(names)), answers(embedded, dict(names))
    bad, used, count = 0, set(), 0
    for path in covered(embedded, names):
        bad += 1
        print(f"not ok - members: no step creates {path}")
    for step, want in theirs.items():
        count += len(want | ours[step])
        for which, more in ((REAL, want - ours[step]), (EMBEDDED, ours[step] - want)):
            for where in sorted(more):
                line = reason_for(known, step, which, where)
                used.add(line)
                if not line:
                    bad += 1
                    print(f"not ok - members: {step} | {which} | {where}")
    for line in known.keys() - used:
        bad += 1
        print(f"not ok - members: listed, but it does not differ: {' | '.join(line)}")
    print(f"conformance: members: {len(theirs)} answers with {count} members, "
          f"{len(known)} differ as listed, {bad} wrong", flush=True)
    return bad
