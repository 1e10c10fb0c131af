"""Cases of evictions and budgets, scale of workloads, priority classes, discovery, health."""
from engine import ABSENT, ANY, STRATEGIC, TEXT, case, delete, fault, get, has, patch, post, put
from cases_objects import DEPLOYMENTS, PODS, deployment, pod

PDBS = "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets"
READY = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
EVICTION = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}


def budget(**spec):
    return {"metadata": {"name": "b"}, "spec": {"selector": {"matchLabels": {"app": "x"}}, **spec}}


def ready(name, **spec):
    return [post(PODS, pod(name, labels={"app": "x"}, nodeName="n1", **spec)),
            patch(PODS + f"/{name}/status", READY, kind=STRATEGIC)]


case("eviction without a budget deletes",
     post(PODS, pod()),
     post(PODS + "/p/eviction", EVICTION, want={"kind": "Status", "status": "Success"}),
     get(PODS + "/p", code=404))
case("eviction of what is not there is 404",
     post(PODS + "/none/eviction", {**EVICTION, "metadata": {"name": "none"}},
          **fault(404, "NotFound")))
case("eviction with another name in the body is 400",
     post(PODS, pod()),
     post(PODS + "/p/eviction", {**EVICTION, "metadata": {"name": "q"}},
          **fault(400, "BadRequest")))
case("eviction takes DeleteOptions",
     post(PODS, pod(nodeName="n1")),
     post(PODS + "/p/eviction", {**EVICTION, "deleteOptions": {"gracePeriodSeconds": 3}}),
     get(PODS + "/p", want={"metadata.deletionGracePeriodSeconds": 3}))
case("eviction with a dry run evicts nothing",
     post(PODS, pod()),
     post(PODS + "/p/eviction", {**EVICTION, "deleteOptions": {"dryRun": ["All"]}}),
     get(PODS + "/p", want={"metadata.deletionTimestamp": ABSENT}))
case("eviction with a wrong uid is 409",
     post(PODS, pod()),
     post(PODS + "/p/eviction", {**EVICTION, "deleteOptions": {"preconditions": {"uid": "x"}}},
          **fault(409, "Conflict")))
case("a budget counts its pods",
     *ready("p"), *ready("q"), post(PDBS, budget(minAvailable=1)),
     get(PDBS + "/b", within=10, want={
         "status.currentHealthy": 2, "status.desiredHealthy": 1, "status.expectedPods": 2,
         "status.disruptionsAllowed": 1, "status.observedGeneration": 1}))
case("a budget that allows none answers 429 with its cause",
     *ready("p"), post(PDBS, budget(minAvailable=1)),
     get(PDBS + "/b", within=10, want={"status.expectedPods": 1}),
     post(PODS + "/p/eviction", EVICTION, **fault(429, "TooManyRequests", also={
         "message": has("disruption budget"),
         "details.causes.0.reason": "DisruptionBudget",
         "details.causes.0.message": has("budget b needs 1 healthy pods")})),
     get(PODS + "/p", want={"metadata.deletionTimestamp": ABSENT}))
case("a budget allows as many as it says, then no more",
     *ready("p"), *ready("q"), post(PDBS, budget(minAvailable=1)),
     get(PDBS + "/b", within=10, want={"status.disruptionsAllowed": 1}),
     post(PODS + "/p/eviction", EVICTION),
     post(PODS + "/q/eviction", {**EVICTION, "metadata": {"name": "q"}},
          code=429))
case("maxUnavailable 0 allows none",
     *ready("p"), post(PDBS, budget(maxUnavailable=0)),
     get(PDBS + "/b", within=10, want={"status.observedGeneration": 1}),
     post(PODS + "/p/eviction", EVICTION, code=(429, 500)))
case("a pod that is not ready may go beside a budget that is met",
     *ready("q"), post(PODS, pod("p", labels={"app": "x"}, nodeName="n1")),
     post(PDBS, budget(minAvailable=1)),
     get(PDBS + "/b", within=10, want={"status.currentHealthy": 1}),
     post(PODS + "/p/eviction", EVICTION))
case("AlwaysAllow lets pods go that are not ready",
     post(PODS, pod("p", labels={"app": "x"}, nodeName="n1")),
     patch(PODS + "/p/status", {"status": {"phase": "Running"}}),
     post(PDBS, budget(minAvailable=1, unhealthyPodEvictionPolicy="AlwaysAllow")),
     get(PDBS + "/b", within=10, want={"status.expectedPods": 1}),
     post(PODS + "/p/eviction", EVICTION))
case("a pending pod can always be evicted",
     *ready("q"), post(PODS, pod("p", labels={"app": "x"})),
     post(PDBS, budget(minAvailable=5)),
     get(PDBS + "/b", within=10, want={"status.observedGeneration": 1}),
     post(PODS + "/p/eviction", EVICTION))
case("minAvailable and maxUnavailable together are 422",
     post(PDBS, budget(minAvailable=1, maxUnavailable=1), **fault(422, "Invalid")))
case("a delete is not stopped by a budget",
     *ready("p"), post(PDBS, budget(minAvailable=1)),
     delete(PODS + "/p", {"gracePeriodSeconds": 0}), get(PODS + "/p", code=404))

case("the scale of a deployment",
     post(DEPLOYMENTS, deployment(replicas=2)),
     get(DEPLOYMENTS + "/d/scale", want={"kind": "Scale", "apiVersion": "autoscaling/v1",
                                         "spec.replicas": 2, "metadata.name": "d",
                                         "status.selector": "app=d"},
         keep={"rv": "metadata.resourceVersion"}),
     put(DEPLOYMENTS + "/d/scale", {"metadata": {"name": "d", "namespace": "{ns}",
                                                 "resourceVersion": "{rv}"},
                                    "spec": {"replicas": 4}}, want={"spec.replicas": 4}),
     get(DEPLOYMENTS + "/d", want={"spec.replicas": 4, "metadata.generation": 2}))
case("a scale below nothing is 422",
     post(DEPLOYMENTS, deployment()),
     patch(DEPLOYMENTS + "/d/scale", {"spec": {"replicas": -1}}, **fault(422, "Invalid")))
case("a deployment gets its defaults",
     post(DEPLOYMENTS, {"metadata": {"name": "d"}, "spec": {
         "selector": {"matchLabels": {"a": "b"}},
         "template": {"metadata": {"labels": {"a": "b"}},
                      "spec": {"containers": [{"name": "c", "image": "i"}]}}}},
         want={"spec.replicas": 1, "spec.strategy.type": "RollingUpdate",
               "spec.template.spec.restartPolicy": "Always"}))
case("a deployment whose selector does not match its template is 422",
     post(DEPLOYMENTS, {"metadata": {"name": "d"}, "spec": {
         "selector": {"matchLabels": {"a": "b"}},
         "template": {"metadata": {"labels": {"a": "c"}},
                      "spec": {"containers": [{"name": "c", "image": "i"}]}}}},
         **fault(422, "Invalid")))
case("the value of a priority class does not change",
     post("/apis/scheduling.k8s.io/v1/priorityclasses",
          {"metadata": {"name": "{id}"}, "value": 7}),
     patch("/apis/scheduling.k8s.io/v1/priorityclasses/{id}", {"value": 8},
           **fault(422, "Invalid")),
     delete("/apis/scheduling.k8s.io/v1/priorityclasses/{id}"))

case("discovery: versions of core",
     get("/api", want={"kind": "APIVersions", "versions": ["v1"]}))
case("discovery: resources of core, with verbs and subresources",
     get("/api/v1", want={"kind": "APIResourceList", "groupVersion": "v1",
                          "resources.*.name": has("pods/eviction")}),
     get("/api/v1", want={"resources.*.name": has("nodes/status")}),
     get("/api/v1", want={"resources.*.name": has("serviceaccounts/token")}))
case("discovery: groups",
     get("/apis", want={"kind": "APIGroupList", "groups.*.name": has("apps")}),
     get("/apis", want={"groups.*.name": has("policy")}),
     get("/apis/apps", want={"kind": "APIGroup", "preferredVersion.groupVersion": "apps/v1"}))
case("discovery: a group that is not there is 404",
     get("/apis/none.example", code=404), get("/apis/none.example/v1", code=404))
case("discovery in one document",
     get("/apis", headers={"Accept":
         "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"},
         want={"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2",
               "items.*.metadata.name": has("apps"),
               "items.0.versions.0.resources.0.resource": TEXT}))
case("version",
     get("/version", want={"gitVersion": ANY, "major": "1", "minor": TEXT}))
case("health",
     get("/healthz", want={}), get("/livez", want={}), get("/readyz", want={}))
case("OpenAPI v3 lists its documents",
     get("/openapi/v3", want={"paths": has("api/v1")}))
case("an unknown path is 404",
     get("/nothing", code=404))
