"""Cases of single objects: create, read, update; names, metadata, versions, status, dry runs."""
from engine import (ABSENT, ANY, DIGITS, TEXT, case, delete, differs, fault, get, has, like, patch,
                    post, put)

CM = "/api/v1/namespaces/{ns}/configmaps"
NODES = "/api/v1/nodes"
PODS = "/api/v1/namespaces/{ns}/pods"
SECRETS = "/api/v1/namespaces/{ns}/secrets"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases"
DEPLOYMENTS = "/apis/apps/v1/namespaces/{ns}/deployments"
UID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


def cm(name="a", **data):
    return {"metadata": {"name": name}, "data": data or {"k": "v"}}


def secret(name="a", k="dg=="):
    """A Secret, for cases that list: no controller creates Secrets in a namespace."""
    return {"metadata": {"name": name}, "data": {"k": k}}


def pod(name="p", labels=None, **spec):
    return {"metadata": {"name": name, "labels": labels or {}},
            "spec": {"schedulerName": "nobody", **spec,
                     "containers": [{"name": "c", "image": "i"}]}}


def deployment(name="d", replicas=1):
    return {"metadata": {"name": name},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}},
                                  "spec": {"containers": [{"name": "c", "image": "i"}]}}}}


# --- create ---------------------------------------------------------------------------------------

case("create gives uid, creationTimestamp, resourceVersion and answers 201",
     post(CM, cm(), want={"kind": "ConfigMap", "apiVersion": "v1", "metadata.name": "a",
                          "metadata.namespace": "{ns}", "metadata.uid": like(UID),
                          "metadata.creationTimestamp": like(TIME),
                          "metadata.resourceVersion": DIGITS, "data.k": "v"},
          keep={"rv": "metadata.resourceVersion", "uid": "metadata.uid"}),
     get(CM + "/a", want={"metadata.uid": "{uid}", "metadata.resourceVersion": "{rv}"}))
case("create of a name that is there is 409 AlreadyExists",
     post(CM, cm()),
     post(CM, cm(), **fault(409, "AlreadyExists", also={
         "message": 'configmaps "a" already exists', "details.name": "a",
         "details.kind": "configmaps"})))
case("AlreadyExists of a grouped resource names the group",
     post(LEASES, {"metadata": {"name": "l"}, "spec": {}}),
     post(LEASES, {"metadata": {"name": "l"}, "spec": {}}, **fault(409, "AlreadyExists", also={
         "details.group": "coordination.k8s.io", "details.kind": "leases",
         "message": 'leases.coordination.k8s.io "l" already exists'})))
case("create in a namespace that is not there is 404",
     post("/api/v1/namespaces/{id}/configmaps", cm(), **fault(404, "NotFound", also={
         "message": 'namespaces "{id}" not found', "details.kind": "namespaces"})))
case("create without a name is 422 and names the field",
     post(CM, {"metadata": {}}, **fault(422, "Invalid", also={
         "message": has("name or generateName is required")})))
case("create with an upper-case name is 422",
     post(CM, cm("Upper"), **fault(422, "Invalid", also={"message": has("RFC 1123"),
                                                         "details.name": "Upper"})))
case("Invalid names the fields as causes",
     post(CM, cm("Upper"), **fault(422, "Invalid", also={
         "details.causes.0.field": "metadata.name", "details.causes.0.reason": "FieldValueInvalid",
         "details.causes.0.message": TEXT})))
case("create with a name of 254 characters is 422",
     post(CM, cm("a" * 254), **fault(422, "Invalid")))
case("create with a name of 253 characters is taken",
     post(CM, cm("a" * 253)))
case("create with resourceVersion set is refused",
     post(CM, {"metadata": {"name": "a", "resourceVersion": "7"}},
          code=(400, 500), want={"message": has("resourceVersion should not be set")}))
case("create ignores uid, creationTimestamp and generation of the client",
     post(CM, {"metadata": {"name": "a", "uid": "mine", "generation": 9,
                            "creationTimestamp": "2001-01-01T00:00:00Z"}},
          want={"metadata.uid": like(UID), "metadata.creationTimestamp": like(r"202\d.*")}))
case("create drops deletionTimestamp",
     post(CM, {"metadata": {"name": "a", "deletionTimestamp": "2001-01-01T00:00:00Z"}},
          want={"metadata.deletionTimestamp": ABSENT}))
case("create with another namespace in the body is 400",
     post(CM, {"metadata": {"name": "a", "namespace": "other"}}, **fault(400, "BadRequest", also={
         "message": has("does not match the namespace")})))
case("create with another kind in the body is 400",
     post(CM, {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "a"}},
          **fault(400, "BadRequest")))
case("create with another apiVersion in the body is 400",
     post(CM, {"kind": "ConfigMap", "apiVersion": "v2", "metadata": {"name": "a"}},
          **fault(400, "BadRequest")))
case("create of a body that is not JSON is 400",
     post(CM, "{\"metadata\":", **fault(400, "BadRequest")))
case("create of an empty body is 400",
     post(CM, "", **fault(400, "BadRequest")))
case("create of a list is 400",
     post(CM, "[]", **fault(400, "BadRequest")))
case("create with a media type that nobody knows is 415",
     post(CM, "x", kind="text/plain", **fault(415, "UnsupportedMediaType", also={
         "message": has("application/json")})))
case("create takes YAML",
     post(CM, "metadata:\n  name: a\ndata:\n  k: v\n", kind="application/yaml",
          want={"data.k": "v"}))
case("generateName makes a name of the prefix and five letters",
     post(CM, {"metadata": {"generateName": "gen-"}},
          want={"metadata.name": like("gen-[a-z0-9]{5}"), "metadata.generateName": "gen-"},
          keep={"one": "metadata.name"}),
     post(CM, {"metadata": {"generateName": "gen-"}}, want={"metadata.name": differs("{one}")}))
case("a name beats generateName",
     post(CM, {"metadata": {"name": "a", "generateName": "gen-"}}, want={"metadata.name": "a"}))
case("a long generateName is cut to 63 characters",
     post(CM, {"metadata": {"generateName": "x" * 70}},
          want={"metadata.name": like("x{58}[a-z0-9]{5}")}))
case("a label that is no label is 422",
     post(CM, {"metadata": {"name": "a", "labels": {"k": "no spaces"}}}, **fault(422, "Invalid")),
     post(CM, {"metadata": {"name": "a", "labels": {"a b": "v"}}}, **fault(422, "Invalid")))
case("a label value that is a number is 400",
     post(CM, {"metadata": {"name": "a", "labels": {"k": 1}}}, **fault(400, "BadRequest")))
case("annotations of more than 256 KiB are 422",
     post(CM, {"metadata": {"name": "a", "annotations": {"k": "x" * 270000}}},
          **fault(422, "Invalid", also={"message": has("metadata.annotations")})))
case("an unknown resource is 404",
     get("/api/v1/namespaces/{ns}/unicorns", **fault(404, "NotFound")),
     get("/apis/no.such.group/v1/things", code=404))
case("an unknown subresource is 404",
     post(CM, cm()),
     get(CM + "/a/nothing", code=404))
case("get of what is not there is a Status with details",
     get(CM + "/none", **fault(404, "NotFound", also={
         "message": 'configmaps "none" not found', "details.name": "none",
         "details.kind": "configmaps", "metadata": ANY})))
case("POST to an object is 405",
     post(CM, cm()),
     post(CM + "/a", cm(), **fault(405, "MethodNotAllowed")))
case("PUT to a collection is 405",
     put(CM, cm(), **fault(405, "MethodNotAllowed")))
case("cluster-scoped objects have no namespace",
     post("/api/v1/namespaces", {"metadata": {"name": "{id}x"}},
          want={"metadata.namespace": ABSENT, "status.phase": "Active",
                "metadata.labels[kubernetes.io/metadata.name]": "{id}x"}),
     delete("/api/v1/namespaces/{id}x", code=(200, 202)))
case("a namespace name is a label: dots are 422",
     post("/api/v1/namespaces", {"metadata": {"name": "{id}.x"}}, **fault(422, "Invalid")))
case("unknown fields of a built-in kind are dropped",
     post(CM, {**cm(), "unicorn": 1}, want={"unicorn": ABSENT, "data.k": "v"}))
case("fieldValidation=Strict refuses unknown fields",
     post(CM + "?fieldValidation=Strict", {**cm(), "unicorn": 1},
          **fault(400, "BadRequest", also={"message": has("unknown field")})))
case("fieldValidation=Strict refuses duplicate fields",
     post(CM + "?fieldValidation=Strict",
          '{"metadata":{"name":"a"},"data":{"k":"1"},"data":{"k":"2"}}',
          **fault(400, "BadRequest", also={"message": has("duplicate")})))
case("unknown fields bring a Warning header",
     post(CM + "?fieldValidation=Warn", {**cm(), "unicorn": 1},
          answer={"Warning": has("unknown field")}))
case("fieldValidation of an unknown word is refused",
     post(CM + "?fieldValidation=Loud", cm(), **fault(422, "Invalid")))

# --- read -----------------------------------------------------------------------------------------

case("get with resourceVersion 0 answers",
     post(CM, cm()),
     get(CM + "/a?resourceVersion=0", want={"data.k": "v"}, within=2))
case("answers are JSON, and say so",
     post(CM, cm()),
     get(CM + "/a", answer={"Content-Type": has("application/json")}))
case("PartialObjectMetadata shows metadata alone",
     post(CM, cm()),
     get(CM + "/a", headers={
         "Accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"},
         want={"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
               "metadata.name": "a", "data": ABSENT}))
case("a Table has columns and rows",
     post(CM, cm()),
     get(CM + "/a", headers={"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"},
         want={"kind": "Table", "apiVersion": "meta.k8s.io/v1",
               "columnDefinitions.0.name": "Name", "columnDefinitions.1.name": "Data",
               "rows.0.cells.0": "a", "rows.0.cells.1": 1,
               "rows.0.object.kind": "PartialObjectMetadata"}))
case("a Table of pods has the columns of kubectl",
     post(PODS, pod()),
     get(PODS, headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"},
         want={"kind": "Table", "columnDefinitions.*.name": has("Status"),
               "columnDefinitions.1.name": "Ready", "rows.0.cells.0": "p",
               "rows.0.cells.1": "0/1", "rows.0.cells.2": "Pending"}))
case("an Accept that falls back gets what there is",
     post(CM, cm()),
     get(CM + "/a", headers={"Accept": "application/vnd.kubernetes.protobuf;q=0,application/json"},
         want={"kind": "ConfigMap"}))
case("an Accept that cannot be met is 406",
     post(CM, cm()),
     get(CM + "/a", headers={"Accept": "image/png"}, code=406))

# --- update, optimistic locking -------------------------------------------------------------------

case("update raises resourceVersion",
     post(CM, cm(), keep={"rv": "metadata.resourceVersion"}),
     put(CM + "/a", cm(k="w"), want={"data.k": "w", "metadata.resourceVersion": differs("{rv}")}))
case("update with the present resourceVersion works, with an old one it is 409 Conflict",
     post(CM, cm(), keep={"rv": "metadata.resourceVersion"}),
     put(CM + "/a", {"metadata": {"name": "a", "resourceVersion": "{rv}"}, "data": {"k": "1"}}),
     put(CM + "/a", {"metadata": {"name": "a", "resourceVersion": "{rv}"}, "data": {"k": "2"}},
         **fault(409, "Conflict", also={"message": has("the object has been modified"),
                                        "details.kind": "configmaps", "details.name": "a"})),
     get(CM + "/a", want={"data.k": "1"}))
case("update that changes nothing keeps resourceVersion",
     post(CM, cm(), keep={"rv": "metadata.resourceVersion"}),
     put(CM + "/a", cm(), want={"metadata.resourceVersion": "{rv}"}))
case("update of what is not there is 404",
     put(CM + "/none", cm("none"), **fault(404, "NotFound")))
case("update with another name in the body is 400",
     post(CM, cm()),
     put(CM + "/a", cm("b"), **fault(400, "BadRequest")))
case("update with another uid is 409",
     post(CM, cm()),
     put(CM + "/a", {"metadata": {"name": "a", "uid": "another"}}, **fault(409, "Conflict")))
case("update keeps uid and creationTimestamp",
     post(CM, cm(), keep={"uid": "metadata.uid", "t": "metadata.creationTimestamp"}),
     put(CM + "/a", cm(k="w"), want={"metadata.uid": "{uid}",
                                     "metadata.creationTimestamp": "{t}"}))
case("update with a resourceVersion that is no number is refused",
     post(CM, cm()),
     put(CM + "/a", {"metadata": {"name": "a", "resourceVersion": "abc"}}, code=(400, 409, 500)))
case("update drops labels that the body leaves out",
     post(CM, {"metadata": {"name": "a", "labels": {"x": "y"}}}),
     put(CM + "/a", cm(), want={"metadata.labels": ABSENT}))
case("a lease must say its resourceVersion in an update",
     post(LEASES, {"metadata": {"name": "l"}, "spec": {"holderIdentity": "a"}},
          keep={"rv": "metadata.resourceVersion"}),
     put(LEASES + "/l", {"metadata": {"name": "l"}, "spec": {"holderIdentity": "b"}},
         **fault(422, "Invalid", also={"message": has("must be specified for an update")})),
     put(LEASES + "/l", {"metadata": {"name": "l", "resourceVersion": "{rv}"},
                         "spec": {"holderIdentity": "b"}}, want={"spec.holderIdentity": "b"}))
case("a lease keeps microseconds",
     post(LEASES, {"metadata": {"name": "l"}, "spec": {
         "holderIdentity": "a", "leaseDurationSeconds": 15,
         "renewTime": "2026-01-02T03:04:05.123456Z"}},
         want={"spec.renewTime": "2026-01-02T03:04:05.123456Z"}))
case("two leaders of one resourceVersion: one of them gets 409",
     post(LEASES, {"metadata": {"name": "l"}, "spec": {"holderIdentity": "a"}},
          keep={"rv": "metadata.resourceVersion"}),
     put(LEASES + "/l", {"metadata": {"name": "l", "resourceVersion": "{rv}"},
                         "spec": {"holderIdentity": "b"}}),
     put(LEASES + "/l", {"metadata": {"name": "l", "resourceVersion": "{rv}"},
                         "spec": {"holderIdentity": "c"}}, **fault(409, "Conflict")))
case("a data key of a config map that is no file name is 422",
     post(CM, cm("a", **{"no/slash": "x"}), **fault(422, "Invalid")))

# --- generation, status ---------------------------------------------------------------------------

case("generation begins at 1 and rises with spec",
     post(DEPLOYMENTS, deployment(), want={"metadata.generation": 1}),
     patch(DEPLOYMENTS + "/d", {"spec": {"replicas": 2}}, want={"metadata.generation": 2}))
case("generation does not rise with labels",
     post(DEPLOYMENTS, deployment()),
     patch(DEPLOYMENTS + "/d", {"metadata": {"labels": {"a": "b"}}},
           want={"metadata.generation": 1}))
case("generation does not rise with status",
     post(DEPLOYMENTS, deployment()),
     patch(DEPLOYMENTS + "/d/status", {"status": {"replicas": 1}},
           want={"metadata.generation": 1, "status.replicas": 1}))
case("status written to the object is ignored",
     post(DEPLOYMENTS, deployment()),
     patch(DEPLOYMENTS + "/d", {"status": {"replicas": 7}}, want={"status.replicas": ABSENT}))
case("spec written to status is ignored",
     post(DEPLOYMENTS, deployment()),
     patch(DEPLOYMENTS + "/d/status", {"spec": {"replicas": 7}}, want={"spec.replicas": 1}))
case("status of a new deployment is dropped",
     post(DEPLOYMENTS, {**deployment(), "status": {"replicas": 7}},
          want={"status.replicas": ABSENT}))
case("get of status shows the object",
     post(DEPLOYMENTS, deployment()),
     get(DEPLOYMENTS + "/d/status", want={"kind": "Deployment", "spec.replicas": 1}))
case("a kind without status has no such path",
     post(CM, cm()),
     get(CM + "/a/status", code=404))
case("node status and capacity go through status",
     post(NODES, {"metadata": {"name": "{id}"}}),
     patch(NODES + "/{id}/status", {"status": {"capacity": {"cpu": "1500m", "memory": "1Gi"},
                                               "allocatable": {"cpu": "1", "memory": "1Gi"}}},
           want={"status.capacity.memory": "1Gi", "status.allocatable.cpu": "1"}),
     delete(NODES + "/{id}"))
case("quantities are kept in canonical form",
     post(NODES, {"metadata": {"name": "{id}"}}),
     patch(NODES + "/{id}/status", {"status": {"capacity": {"cpu": "1500m", "memory": "1024Mi"}}},
           want={"status.capacity.memory": "1Gi", "status.capacity.cpu": "1500m"}),
     delete(NODES + "/{id}"))

# --- dry runs -------------------------------------------------------------------------------------

case("dryRun=All creates nothing",
     post(CM + "?dryRun=All", cm(), want={"metadata.name": "a", "metadata.uid": like(UID)}),
     get(CM + "/a", code=404))
case("dryRun=All reports what would be wrong",
     post(CM, cm()),
     post(CM + "?dryRun=All", cm(), **fault(409, "AlreadyExists")))
case("dryRun=All updates nothing",
     post(CM, cm(), keep={"rv": "metadata.resourceVersion"}),
     put(CM + "/a?dryRun=All", cm(k="w"), want={"data.k": "w"}),
     get(CM + "/a", want={"data.k": "v", "metadata.resourceVersion": "{rv}"}))
case("dryRun=All patches nothing",
     post(CM, cm()),
     patch(CM + "/a?dryRun=All", {"data": {"k": "w"}}, want={"data.k": "w"}),
     get(CM + "/a", want={"data.k": "v"}))
case("dryRun=All deletes nothing",
     post(CM, cm()),
     delete(CM + "/a?dryRun=All"),
     get(CM + "/a"))
case("dryRun of another word is refused",
     post(CM + "?dryRun=Some", cm(), **fault(422, "Invalid", also={"message": has("dryRun")})))

# --- particular kinds -----------------------------------------------------------------------------

case("a secret turns stringData into data and is Opaque",
     post(SECRETS, {"metadata": {"name": "s"}, "stringData": {"k": "hello"}},
          want={"data.k": "aGVsbG8=", "stringData": ABSENT, "type": "Opaque"}))
case("a secret whose data is not base64 is 400",
     post(SECRETS, {"metadata": {"name": "s"}, "data": {"k": "***"}}, code=(400, 422)))
case("the type of a secret does not change",
     post(SECRETS, {"metadata": {"name": "s"}}),
     patch(SECRETS + "/s", {"type": "other"}, **fault(422, "Invalid", also={
         "message": has("field is immutable")})))
case("an immutable config map stays",
     post(CM, {**cm(), "immutable": True}),
     patch(CM + "/a", {"data": {"k": "w"}}, **fault(422, "Invalid", also={
         "message": has("immutable")})))
case("a pod begins Pending with its defaults",
     post(PODS, pod(), want={"status.phase": "Pending", "spec.restartPolicy": "Always",
                             "spec.terminationGracePeriodSeconds": 30, "spec.priority": 0,
                             "spec.schedulerName": "nobody"}))
case("a pod gets the defaults of its containers",
     post(PODS, pod(), want={"spec.dnsPolicy": "ClusterFirst", "status.qosClass": "BestEffort",
                             "spec.containers.0.imagePullPolicy": "Always",
                             "spec.containers.0.terminationMessagePath": "/dev/termination-log"}))
case("limits become requests",
     post(PODS, {"metadata": {"name": "p"}, "spec": {"schedulerName": "nobody", "containers": [
         {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}},
         want={"spec.containers.0.resources.requests[nvidia.com/gpu]": "8"}))
case("a pod without containers is 422",
     post(PODS, {"metadata": {"name": "p"}, "spec": {"containers": []}},
          **fault(422, "Invalid", also={"message": has("spec.containers")})))
case("a container without a name is 422",
     post(PODS, {"metadata": {"name": "p"}, "spec": {"containers": [{"image": "i"}]}},
          **fault(422, "Invalid", also={"message": has("spec.containers[0].name")})))
case("most of a pod's spec does not change",
     post(PODS, pod()),
     patch(PODS + "/p", {"spec": {"restartPolicy": "Never"}}, **fault(422, "Invalid", also={
         "message": has("pod updates may not change fields")})))
case("a pod of an unknown priority class is 403",
     post(PODS, pod(priorityClassName="{id}none"), **fault(403, "Forbidden", also={
         "message": has("no PriorityClass with name")})))
case("a pod gets the number of its priority class",
     post("/apis/scheduling.k8s.io/v1/priorityclasses",
          {"metadata": {"name": "{id}"}, "value": 77}),
     post(PODS, pod(priorityClassName="{id}"), want={"spec.priority": 77}),
     delete("/apis/scheduling.k8s.io/v1/priorityclasses/{id}"))
case("binding puts a pod on a node, once",
     post(PODS, pod()),
     post(PODS + "/p/binding", {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"},
                                "target": {"kind": "Node", "name": "n1"}},
          want={"kind": "Status", "status": "Success"}),
     get(PODS + "/p", want={"spec.nodeName": "n1", "status.conditions.*.type": has(
         "PodScheduled")}),
     post(PODS + "/p/binding", {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"},
                                "target": {"kind": "Node", "name": "n2"}},
          **fault(409, "Conflict")))
case("an event of events.k8s.io is the core one under other names",
     post("/apis/events.k8s.io/v1/namespaces/{ns}/events", {
         "metadata": {"name": "e"}, "eventTime": "2026-01-02T03:04:05.123456Z",
         "reportingController": "drover.example/x", "reportingInstance": "x-1", "action": "Do",
         "reason": "Done", "type": "Normal", "note": "a note",
         "regarding": {"kind": "Pod", "name": "p", "namespace": "{ns}"}},
         want={"note": "a note", "regarding.name": "p"}),
     get("/api/v1/namespaces/{ns}/events/e",
         want={"message": "a note", "involvedObject.name": "p", "note": ABSENT,
               "reportingComponent": "drover.example/x"}))
case("an event without eventTime or with a long note is 422",
     post("/apis/events.k8s.io/v1/namespaces/{ns}/events", {
         "metadata": {"name": "e"}, "eventTime": "2026-01-02T03:04:05.123456Z",
         "reportingController": "drover.example/x", "reportingInstance": "x-1", "action": "Do",
         "reason": "Done", "type": "Normal", "note": "n" * 1025,
         "regarding": {"kind": "Pod", "name": "p", "namespace": "{ns}"}},
         **fault(422, "Invalid")))
case("an object of more than 3 MiB is refused",
     post(CM, {"metadata": {"name": "a"}, "data": {"k": "x" * (3 << 20)}},
          **fault(413, "RequestEntityTooLarge")))
case("invalid UTF-8 is replaced",
     post(CM, '{"metadata":{"name":"a"},"data":{"k":"\udcff"}}', want={"data.k": "\ufffd"}))
case("a body nested 10,000 deep is 400",
     post(CM, '{"metadata":{"name":"a"},"data":' + "[" * 10000 + "]" * 10000 + "}",
          **fault(400, "BadRequest")))
