"""Cases of patches: merge patch, JSON patch, strategic merge patch."""
from engine import ABSENT, APPLY, JSON_PATCH, MERGE, STRATEGIC, case, delete, fault, get, has
from engine import patch, post
from cases_objects import CM, DEPLOYMENTS, NODES, PODS, cm, deployment, pod

case("merge patch: adds, replaces, null removes",
     post(CM, cm("a", k="v", l="w")),
     patch(CM + "/a", {"data": {"k": None, "l": "x", "m": "y"}},
           want={"data": {"l": "x", "m": "y"}}))
case("merge patch: lists are replaced",
     post(CM, {"metadata": {"name": "a", "finalizers": ["x.example/a", "x.example/b"]}}),
     patch(CM + "/a", {"metadata": {"finalizers": ["x.example/b"]}},
           want={"metadata.finalizers": ["x.example/b"]}),
     patch(CM + "/a", {"metadata": {"finalizers": None}}))
case("merge patch: null of what is not there is fine",
     post(CM, cm()), patch(CM + "/a", {"data": {"none": None}}, want={"data": {"k": "v"}}))
case("merge patch: an empty patch changes nothing",
     post(CM, cm(), keep={"rv": "metadata.resourceVersion"}),
     patch(CM + "/a", {}, want={"metadata.resourceVersion": "{rv}"}))
case("merge patch: with an old resourceVersion is 409",
     post(CM, cm(), keep={"rv": "metadata.resourceVersion"}),
     patch(CM + "/a", {"data": {"k": "w"}}),
     patch(CM + "/a", {"metadata": {"resourceVersion": "{rv}"}, "data": {"k": "x"}},
           **fault(409, "Conflict")))
case("merge patch: with the present resourceVersion works",
     post(CM, cm(), keep={"rv": "metadata.resourceVersion"}),
     patch(CM + "/a", {"metadata": {"resourceVersion": "{rv}"}, "data": {"k": "x"}}))
case("merge patch: of another uid is refused",
     post(CM, cm()), patch(CM + "/a", {"metadata": {"uid": "x"}}, code=(409, 422)))
case("merge patch: of the name is 400",
     post(CM, cm()),
     patch(CM + "/a", {"metadata": {"name": "b"}}, **fault(400, "BadRequest")))
case("merge patch: a list is 400",
     post(CM, cm()), patch(CM + "/a", [], code=400))
case("merge patch: what is not JSON is 400",
     post(CM, cm()), patch(CM + "/a", "{", **fault(400, "BadRequest")))
case("merge patch: a result that is not valid is 422",
     post(CM, cm()),
     patch(CM + "/a", {"metadata": {"labels": {"x": "no spaces"}}}, **fault(422, "Invalid")))
case("merge patch: of what is not there is 404",
     patch(CM + "/none", {"data": {}}, **fault(404, "NotFound")))
case("a patch of an unknown media type is 415",
     post(CM, cm()),
     patch(CM + "/a", {}, kind="application/json", **fault(415, "UnsupportedMediaType")))

case("JSON patch: add, replace, remove",
     post(CM, cm("a", k="v", l="w")),
     patch(CM + "/a", [{"op": "add", "path": "/data/m", "value": "y"},
                       {"op": "replace", "path": "/data/l", "value": "x"},
                       {"op": "remove", "path": "/data/k"}], kind=JSON_PATCH,
           want={"data": {"l": "x", "m": "y"}}))
case("JSON patch: move and copy",
     post(CM, cm("a", k="v")),
     patch(CM + "/a", [{"op": "copy", "from": "/data/k", "path": "/data/l"},
                       {"op": "move", "from": "/data/k", "path": "/data/m"}], kind=JSON_PATCH,
           want={"data": {"l": "v", "m": "v"}}))
case("JSON patch: a test that holds",
     post(CM, cm()),
     patch(CM + "/a", [{"op": "test", "path": "/data/k", "value": "v"},
                       {"op": "replace", "path": "/data/k", "value": "w"}], kind=JSON_PATCH,
           want={"data.k": "w"}))
case("JSON patch: a test that fails is 422 and changes nothing",
     post(CM, cm()),
     patch(CM + "/a", [{"op": "replace", "path": "/data/k", "value": "w"},
                       {"op": "test", "path": "/data/k", "value": "other"}], kind=JSON_PATCH,
           **fault(422, "Invalid")),
     get(CM + "/a", want={"data.k": "v"}))
case("JSON patch: a path with ~1 and ~0",
     post(CM, cm()),
     patch(CM + "/a", [{"op": "add", "path": "/metadata/annotations", "value": {}},
                       {"op": "add", "path": "/metadata/annotations/x.example~1a", "value": "1"}],
           kind=JSON_PATCH, want={"metadata.annotations[x.example/a]": "1"}))
case("JSON patch: lists by index and by dash",
     post(CM, {"metadata": {"name": "a", "finalizers": ["x.example/a", "x.example/b"]}}),
     patch(CM + "/a", [{"op": "remove", "path": "/metadata/finalizers/0"},
                       {"op": "add", "path": "/metadata/finalizers/-", "value": "x.example/c"}],
           kind=JSON_PATCH, want={"metadata.finalizers": ["x.example/b", "x.example/c"]}),
     patch(CM + "/a", [{"op": "remove", "path": "/metadata/finalizers"}], kind=JSON_PATCH))
case("JSON patch: a path that is not there is 422",
     post(CM, cm()),
     patch(CM + "/a", [{"op": "replace", "path": "/data/none/deep", "value": "w"}],
           kind=JSON_PATCH, **fault(422, "Invalid")))
case("JSON patch: removing what is not there is 422",
     post(CM, cm()),
     patch(CM + "/a", [{"op": "remove", "path": "/data/none"}], kind=JSON_PATCH,
           **fault(422, "Invalid")))
case("JSON patch: an operation that nobody knows is refused",
     post(CM, cm()),
     patch(CM + "/a", [{"op": "explode", "path": "/data"}], kind=JSON_PATCH, code=(400, 422)))
case("JSON patch: an object instead of a list is 400",
     post(CM, cm()), patch(CM + "/a", {"op": "add"}, kind=JSON_PATCH, **fault(400, "BadRequest")))
case("JSON patch: an empty list changes nothing",
     post(CM, cm(), keep={"rv": "metadata.resourceVersion"}),
     patch(CM + "/a", [], kind=JSON_PATCH, want={"metadata.resourceVersion": "{rv}"}))
case("JSON patch: test of resourceVersion is a lock",
     post(CM, cm(), keep={"rv": "metadata.resourceVersion"}),
     patch(CM + "/a", [{"op": "test", "path": "/metadata/resourceVersion", "value": "{rv}"},
                       {"op": "replace", "path": "/data/k", "value": "w"}], kind=JSON_PATCH),
     patch(CM + "/a", [{"op": "test", "path": "/metadata/resourceVersion", "value": "{rv}"},
                       {"op": "replace", "path": "/data/k", "value": "x"}], kind=JSON_PATCH,
           **fault(422, "Invalid")))

TAINT_A = {"key": "a", "value": "1", "effect": "NoSchedule"}
TAINT_B = {"key": "b", "value": "1", "effect": "NoSchedule"}
case("strategic: lists merge by their key",
     post(DEPLOYMENTS, deployment()),
     patch(DEPLOYMENTS + "/d", {"spec": {"template": {"spec": {"containers": [
         {"name": "c", "image": "j"}, {"name": "e", "image": "k"}]}}}}, kind=STRATEGIC,
         want={"spec.template.spec.containers.#": 2,
               "spec.template.spec.containers.*.image": has("j")}))
case("strategic: $patch delete takes one member of a list",
     post(DEPLOYMENTS, deployment()),
     patch(DEPLOYMENTS + "/d", {"spec": {"template": {"spec": {"containers": [
         {"name": "e", "image": "k"}]}}}}, kind=STRATEGIC),
     patch(DEPLOYMENTS + "/d", {"spec": {"template": {"spec": {"containers": [
         {"name": "c", "$patch": "delete"}]}}}}, kind=STRATEGIC,
         want={"spec.template.spec.containers.*.name": ["e"]}))
case("strategic: $patch replace takes the list's place",
     post(DEPLOYMENTS, deployment()),
     patch(DEPLOYMENTS + "/d", {"spec": {"template": {"spec": {"containers": [
         {"$patch": "replace"}, {"name": "z", "image": "z"}]}}}}, kind=STRATEGIC,
         want={"spec.template.spec.containers.*.name": ["z"]}))
case("strategic: $patch replace of a map",
     post(CM, cm("a", k="v", l="w")),
     patch(CM + "/a", {"data": {"$patch": "replace", "m": "x"}}, kind=STRATEGIC,
           want={"data": {"m": "x"}}))
case("strategic: finalizers merge, $deleteFromPrimitiveList takes one",
     post(CM, {"metadata": {"name": "a", "finalizers": ["x.example/a"]}}),
     patch(CM + "/a", {"metadata": {"finalizers": ["x.example/b"]}}, kind=STRATEGIC,
           want={"metadata.finalizers": has("x.example/a")}),
     patch(CM + "/a", {"metadata": {"$deleteFromPrimitiveList/finalizers": ["x.example/a"]}},
           kind=STRATEGIC, want={"metadata.finalizers": ["x.example/b"]}),
     patch(CM + "/a", {"metadata": {"finalizers": None}}))
case("strategic: taints of a node are replaced, as their type says",
     post(NODES, {"metadata": {"name": "{id}"}, "spec": {"taints": [TAINT_A]}}),
     patch(NODES + "/{id}", {"spec": {"taints": [TAINT_B]}}, kind=STRATEGIC,
           want={"spec.taints.*.key": ["b"]}),
     delete(NODES + "/{id}"))
case("strategic: conditions merge by type",
     post(NODES, {"metadata": {"name": "{id}"}}),
     patch(NODES + "/{id}/status", {"status": {"conditions": [
         {"type": "Ready", "status": "True"}]}}, kind=STRATEGIC),
     patch(NODES + "/{id}/status", {"status": {"conditions": [
         {"type": "Other", "status": "False"}, {"type": "Ready", "status": "False"}]}},
         kind=STRATEGIC, want={"status.conditions.#": 2,
                               "status.conditions.*.status": ["False", "False"]}),
     delete(NODES + "/{id}"))
case("strategic: $setElementOrder orders",
     post(DEPLOYMENTS, deployment()),
     patch(DEPLOYMENTS + "/d", {"spec": {"template": {"spec": {
         "$setElementOrder/containers": [{"name": "e"}, {"name": "c"}],
         "containers": [{"name": "e", "image": "k"}]}}}}, kind=STRATEGIC,
         want={"spec.template.spec.containers.*.name": ["e", "c"]}))
case("strategic: $retainKeys keeps only what it names",
     post(DEPLOYMENTS, deployment()),
     patch(DEPLOYMENTS + "/d", {"spec": {"strategy": {
         "$retainKeys": ["type"], "type": "Recreate"}}}, kind=STRATEGIC,
         want={"spec.strategy": {"type": "Recreate"}}))
case("strategic: null removes",
     post(CM, cm("a", k="v", l="w")),
     patch(CM + "/a", {"data": {"k": None}}, kind=STRATEGIC, want={"data": {"l": "w"}}))
case("strategic: cordon",
     post(NODES, {"metadata": {"name": "{id}"}}),
     patch(NODES + "/{id}", {"spec": {"unschedulable": True}}, kind=STRATEGIC,
           want={"spec.unschedulable": True}),
     patch(NODES + "/{id}", {"spec": {"unschedulable": None}}, kind=STRATEGIC,
           want={"spec.unschedulable": ABSENT}),
     delete(NODES + "/{id}"))
case("strategic: tolerations of a pod may be added",
     post(PODS, pod(tolerations=[{"key": "a", "operator": "Exists"}])),
     patch(PODS + "/p", {"metadata": {"labels": {"x": "y"}}}, kind=STRATEGIC,
           want={"metadata.labels.x": "y", "spec.tolerations.0.key": "a"}))

case("server-side apply creates",
     patch(CM + "/a?fieldManager=me", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
           "data:\n  k: v\n", kind=APPLY, code=201, want={"data.k": "v"}))
case("server-side apply without a manager is 422",
     patch(CM + "/a", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}},
           kind=APPLY, **fault(422, "Invalid")))
case("a merge patch that removes a required field of metadata keeps the server's",
     post(CM, cm(), keep={"uid": "metadata.uid"}),
     patch(CM + "/a", {"metadata": {"uid": None, "creationTimestamp": None}}, kind=MERGE,
           want={"metadata.uid": "{uid}"}))
