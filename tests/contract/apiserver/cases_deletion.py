"""Cases of deletion: finalizers, preconditions, grace periods, owners, namespaces."""
from engine import ABSENT, ANY, Wait, case, delete, fault, get, has, one_of, patch, post
from cases_objects import CM, DEPLOYMENTS, PODS, SECRETS, cm, deployment, pod, secret

HELD = {"metadata": {"name": "a", "finalizers": ["x.example/f"]}}
RELEASE = patch(CM + "/a", {"metadata": {"finalizers": None}})
NAMESPACE = "/api/v1/namespaces/{id}"


def owned(name, owner, uid, **more):
    return {"metadata": {"name": name, "ownerReferences": [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": owner, "uid": uid, **more}]}}


case("delete answers with a Status and the object is gone",
     post(CM, cm(), keep={"uid": "metadata.uid"}),
     delete(CM + "/a", want={"kind": "Status", "status": "Success", "details.name": "a",
                             "details.kind": "configmaps", "details.uid": "{uid}"}),
     get(CM + "/a", code=404))
case("delete of what is not there is 404",
     delete(CM + "/none", **fault(404, "NotFound")))
case("delete with a finalizer marks the object and answers with it",
     post(CM, HELD),
     delete(CM + "/a", want={"kind": "ConfigMap", "metadata.deletionTimestamp": ANY,
                             "metadata.deletionGracePeriodSeconds": 0,
                             "metadata.finalizers": ["x.example/f"]}),
     get(CM + "/a", want={"metadata.deletionTimestamp": ANY}), RELEASE)
case("the last finalizer's removal removes the object",
     post(CM, HELD), delete(CM + "/a"), RELEASE, get(CM + "/a", code=404))
case("a second delete of a marked object is fine and changes nothing",
     post(CM, HELD),
     delete(CM + "/a", keep={"t": "metadata.deletionTimestamp"}), Wait(1.1),
     delete(CM + "/a", want={"metadata.deletionTimestamp": "{t}"}), RELEASE)
case("a marked object takes no new finalizer",
     post(CM, HELD), delete(CM + "/a"),
     patch(CM + "/a", {"metadata": {"finalizers": ["x.example/f", "x.example/g"]}},
           **fault(422, "Invalid", also={"message": has("no new finalizers can be added")})),
     RELEASE)
case("a marked object can be changed, but not revived",
     post(CM, HELD), delete(CM + "/a"),
     patch(CM + "/a", {"data": {"k": "w"}, "metadata": {"deletionTimestamp": None}},
           want={"data.k": "w", "metadata.deletionTimestamp": ANY}), RELEASE)
case("a finalizer without a domain is 422",
     post(CM, {"metadata": {"name": "a", "finalizers": ["mine"]}}, **fault(422, "Invalid")))
case("generation rises when a deployment is marked",
     post(DEPLOYMENTS, {**deployment(), "metadata": {"name": "d", "finalizers": ["x.example/f"]}}),
     delete(DEPLOYMENTS + "/d", {"propagationPolicy": "Background"},
            want={"metadata.generation": 2}),
     patch(DEPLOYMENTS + "/d", {"metadata": {"finalizers": None}}))
case("preconditions: another uid is 409",
     post(CM, cm()),
     delete(CM + "/a", {"preconditions": {"uid": "other"}}, **fault(409, "Conflict", also={
         "message": has("other")})),
     get(CM + "/a"))
case("preconditions: the right uid deletes",
     post(CM, cm(), keep={"uid": "metadata.uid"}),
     delete(CM + "/a", {"preconditions": {"uid": "{uid}"}}), get(CM + "/a", code=404))
case("preconditions: an old resourceVersion is 409",
     post(CM, cm(), keep={"rv": "metadata.resourceVersion"}),
     patch(CM + "/a", {"data": {"k": "w"}}),
     delete(CM + "/a", {"preconditions": {"resourceVersion": "{rv}"}}, **fault(409, "Conflict")))
case("DeleteOptions with kind and apiVersion are taken",
     post(CM, cm()),
     delete(CM + "/a", {"kind": "DeleteOptions", "apiVersion": "v1",
                        "propagationPolicy": "Background"}))
case("DeleteOptions that are not JSON are 400",
     post(CM, cm()), delete(CM + "/a", "{", **fault(400, "BadRequest")))
case("an unknown propagationPolicy is 422",
     post(CM, cm()),
     delete(CM + "/a", {"propagationPolicy": "Sideways"}, **fault(422, "Invalid", also={
         "message": has("propagationPolicy")})))
case("dryRun in DeleteOptions deletes nothing",
     post(CM, cm()), delete(CM + "/a", {"dryRun": ["All"]}), get(CM + "/a"))
case("propagationPolicy as a query",
     post(CM, cm()), delete(CM + "/a?propagationPolicy=Background"), get(CM + "/a", code=404))

# --- pods -----------------------------------------------------------------------------------------

case("a pod that no node has goes at once",
     post(PODS, pod()), delete(PODS + "/p"), get(PODS + "/p", code=404))
case("a pod of a node is marked and waits for its kubelet",
     post(PODS, pod(nodeName="n1")),
     delete(PODS + "/p", want={"kind": "Pod", "metadata.deletionTimestamp": ANY,
                               "metadata.deletionGracePeriodSeconds": 30}),
     get(PODS + "/p"),
     delete(PODS + "/p", {"gracePeriodSeconds": 0}), get(PODS + "/p", code=404))
case("gracePeriodSeconds of the request counts",
     post(PODS, pod(nodeName="n1")),
     delete(PODS + "/p?gracePeriodSeconds=7", want={"metadata.deletionGracePeriodSeconds": 7}),
     delete(PODS + "/p", {"gracePeriodSeconds": 0}))
case("a grace period can be made shorter, not longer",
     post(PODS, pod(nodeName="n1")),
     delete(PODS + "/p", {"gracePeriodSeconds": 20}),
     delete(PODS + "/p", {"gracePeriodSeconds": 5}, want={
         "metadata.deletionGracePeriodSeconds": 5}),
     delete(PODS + "/p", {"gracePeriodSeconds": 50}, want={
         "metadata.deletionGracePeriodSeconds": 5}),
     delete(PODS + "/p", {"gracePeriodSeconds": 0}))
case("a pod that has finished goes at once",
     post(PODS, pod(nodeName="n1")),
     patch(PODS + "/p/status", {"status": {"phase": "Succeeded"}}),
     delete(PODS + "/p"), get(PODS + "/p", code=404))

# --- owners ---------------------------------------------------------------------------------------

OWNER = post(CM, cm("owner"), keep={"uid": "metadata.uid"})
case("what an object owns goes with it",
     OWNER, post(CM, owned("child", "owner", "{uid}")), Wait(0.3),
     delete(CM + "/owner", {"propagationPolicy": "Background"}),
     get(CM + "/child", code=404, within=10))
case("grandchildren go too",
     OWNER, post(CM, owned("child", "owner", "{uid}"), keep={"child": "metadata.uid"}),
     post(CM, owned("grandchild", "child", "{child}")), Wait(0.3),
     delete(CM + "/owner", {"propagationPolicy": "Background"}),
     get(CM + "/grandchild", code=404, within=10))
case("foreground: the owner waits for what it owns and holds",
     OWNER, post(CM, {**owned("child", "owner", "{uid}", blockOwnerDeletion=True)}),
     patch(CM + "/child", {"metadata": {"finalizers": ["x.example/f"]}}), Wait(0.5),
     delete(CM + "/owner", {"propagationPolicy": "Foreground"}, want={
         "metadata.finalizers": has("foregroundDeletion"), "metadata.deletionTimestamp": ANY}),
     get(CM + "/child", want={"metadata.deletionTimestamp": ANY}, within=10),
     get(CM + "/owner"),
     patch(CM + "/child", {"metadata": {"finalizers": None}}),
     get(CM + "/owner", code=404, within=10))
case("orphan: what it owned stays and loses the reference",
     OWNER, post(CM, owned("child", "owner", "{uid}")), Wait(0.5),
     delete(CM + "/owner", {"propagationPolicy": "Orphan"}, code=200),
     get(CM + "/owner", code=404, within=10),
     get(CM + "/child", want={"metadata.ownerReferences": ABSENT}, within=10))
case("who has another owner left stays",
     OWNER, post(CM, cm("other"), keep={"other": "metadata.uid"}),
     post(CM, {"metadata": {"name": "child", "ownerReferences": [
         {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "{uid}"},
         {"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": "{other}"}]}}),
     Wait(0.3),
     delete(CM + "/owner", {"propagationPolicy": "Background"}), Wait(1),
     get(CM + "/child", want={"metadata.ownerReferences.*.name": ["other"]}, within=5))
case("an owner that never was: the child goes",
     post(CM, owned("child", "none", "01234567-89ab-4cde-8fab-0123456789ab")),
     get(CM + "/child", code=404, within=20))
case("two controllers of one object are 422",
     post(CM, {"metadata": {"name": "child", "ownerReferences": [
         {"apiVersion": "v1", "kind": "ConfigMap", "name": n, "uid": n, "controller": True}
         for n in ("a", "b")]}}, **fault(422, "Invalid", also={"message": has("controller")})))
case("an owner without uid is 422",
     post(CM, {"metadata": {"name": "child", "ownerReferences": [
         {"apiVersion": "v1", "kind": "ConfigMap", "name": "a"}]}},
         **fault(422, "Invalid", also={"message": has("uid")})))

# --- namespaces -----------------------------------------------------------------------------------

case("a namespace that is empty goes",
     post("/api/v1/namespaces", {"metadata": {"name": "{id}"}}),
     delete(NAMESPACE, code=(200, 202)), get(NAMESPACE, code=404, within=10))
case("a namespace takes with it what is in it",
     post("/api/v1/namespaces", {"metadata": {"name": "{id}"}}),
     post(NAMESPACE + "/configmaps", cm()), post(NAMESPACE + "/pods", pod()),
     delete(NAMESPACE, code=(200, 202)),
     get(NAMESPACE, code=404, within=15), get(NAMESPACE + "/configmaps/a", code=404))
case("a namespace has the finalizer kubernetes in its spec",
     post("/api/v1/namespaces", {"metadata": {"name": "{id}"}},
          want={"spec.finalizers": ["kubernetes"]}),
     delete(NAMESPACE, code=(200, 202)))
case("a namespace waits, Terminating, for what has a finalizer",
     post("/api/v1/namespaces", {"metadata": {"name": "{id}"}}),
     post(NAMESPACE + "/configmaps", HELD),
     delete(NAMESPACE, code=(200, 202)),
     get(NAMESPACE, want={"status.phase": "Terminating", "metadata.deletionTimestamp": ANY}),
     get(NAMESPACE + "/configmaps/a", want={"metadata.deletionTimestamp": ANY}, within=10),
     post(NAMESPACE + "/configmaps", cm("b"), **fault(403, "Forbidden", also={
         "message": has("because it is being terminated")})),
     patch(NAMESPACE + "/configmaps/a", {"metadata": {"finalizers": None}}),
     get(NAMESPACE, code=404, within=20))
case("the forbidden creation in a dying namespace names its cause",
     post("/api/v1/namespaces", {"metadata": {"name": "{id}"}}),
     post(NAMESPACE + "/configmaps", HELD),
     delete(NAMESPACE, code=(200, 202)),
     post(NAMESPACE + "/configmaps", cm("b"), **fault(403, "Forbidden", also={
         "details.causes.0.reason": "NamespaceTerminating"})),
     patch(NAMESPACE + "/configmaps/a", {"metadata": {"finalizers": None}}))
case("the namespace default cannot be deleted",
     delete("/api/v1/namespaces/default", **fault(403, "Forbidden")))
case("a namespace has no deletecollection",
     delete("/api/v1/namespaces", **fault(405, "MethodNotAllowed")))
case("deletecollection takes finalized objects only as far as marking them",
     post(SECRETS, HELD), post(SECRETS, secret("b")), delete(SECRETS),
     get(SECRETS, want={"items.#": 1, "items.0.metadata.deletionTimestamp": ANY}, within=3),
     patch(SECRETS + "/a", {"metadata": {"finalizers": None}}))
case("deletecollection answers with what it took, or Success",
     post(SECRETS, secret()), delete(SECRETS, want={"kind": one_of("SecretList", "Status")}))
