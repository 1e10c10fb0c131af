"""Cases of watches: which events they send, where they begin, how they end."""
from engine import ABSENT, ANY, DIGITS, Events, Wait, Watch, case, delete, differs, fault
from engine import get, has, one_of, patch, post, put
from cases_objects import PODS, SECRETS, pod, secret

LIST = get(SECRETS, keep={"rv": "metadata.resourceVersion"})


def at(name):
    return {"metadata.name": name, "kind": "Secret", "apiVersion": "v1",
            "metadata.resourceVersion": DIGITS}


case("a watch from a list brings what came after it, in order",
     post(SECRETS, secret("before")), LIST,
     post(SECRETS, secret("a")), put(SECRETS + "/a", secret("a", k="dw==")), delete(SECRETS + "/a"),
     Watch("w", SECRETS + "?watch=true&resourceVersion={rv}"),
     Events("w", ("ADDED", at("a")), ("MODIFIED", {**at("a"), "data.k": "dw=="}),
            ("DELETED", at("a")), then="quiet"))
case("a watch brings what happens while it is open",
     LIST, Watch("w", SECRETS + "?watch=1&resourceVersion={rv}"),
     post(SECRETS, secret("a")), Events("w", ("ADDED", at("a"))),
     patch(SECRETS + "/a", {"data": {"k": "dw=="}}), Events("w", ("MODIFIED", {"data.k": "dw=="})),
     delete(SECRETS + "/a"), Events("w", ("DELETED", {"data.k": "dw=="}), then="quiet"))
case("a DELETED event has a version of its own, to go on from",
     post(SECRETS, secret("a"), keep={"rv": "metadata.resourceVersion"}),
     Watch("w", SECRETS + "?watch=true&resourceVersion={rv}"),
     delete(SECRETS + "/a"),
     Events("w", ("DELETED", {"metadata.resourceVersion": differs("{rv}")})))
case("a watch without a version begins with what there is",
     post(SECRETS, secret("a")), post(SECRETS, secret("b")),
     Watch("w", SECRETS + "?watch=true"),
     Events("w", ("ADDED", {"metadata.name": one_of("a", "b")}),
            ("ADDED", {"metadata.name": one_of("a", "b")}), then="quiet"))
case("a watch from version 0 begins with what there is",
     post(SECRETS, secret("a")), Wait(0.3),
     Watch("w", SECRETS + "?watch=true&resourceVersion=0"),
     Events("w", ("ADDED", at("a")), then="quiet"))
case("a watch ends after timeoutSeconds",
     LIST, Watch("w", SECRETS + "?watch=true&timeoutSeconds=1&resourceVersion={rv}"),
     Events("w", then="end"))
case("a watch of a version that is no number is refused",
     get(SECRETS + "?watch=true&resourceVersion=abc", code=(400, 500)))
case("a watch of a selector brings only what it names",
     LIST, Watch("w", SECRETS + "?watch=true&labelSelector=a=b&resourceVersion={rv}"),
     post(SECRETS, secret("other")),
     post(SECRETS, {"metadata": {"name": "one", "labels": {"a": "b"}}}),
     Events("w", ("ADDED", at("one")), then="quiet"))
case("what begins to match is ADDED, what ceases to is DELETED",
     LIST, Watch("w", SECRETS + "?watch=true&labelSelector=a=b&resourceVersion={rv}"),
     post(SECRETS, secret("x")),
     patch(SECRETS + "/x", {"metadata": {"labels": {"a": "b"}}}), Events("w", ("ADDED", at("x"))),
     patch(SECRETS + "/x", {"data": {"k": "dw=="}}), Events("w", ("MODIFIED", at("x"))),
     patch(SECRETS + "/x", {"metadata": {"labels": {"a": None}}}),
     Events("w", ("DELETED", {"metadata.name": "x", "metadata.labels.a": "b"}), then="quiet"))
case("a watch of one name",
     LIST, Watch("w", SECRETS + "?watch=true&fieldSelector=metadata.name=b&resourceVersion={rv}"),
     post(SECRETS, secret("a")), post(SECRETS, secret("b")),
     Events("w", ("ADDED", at("b")), then="quiet"))
case("a watch of pods of a node sees them come by binding",
     get(PODS, keep={"rv": "metadata.resourceVersion"}),
     Watch("w", PODS + "?watch=true&fieldSelector=spec.nodeName=n1&resourceVersion={rv}"),
     post(PODS, pod()),
     post(PODS + "/p/binding", {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"},
                                "target": {"kind": "Node", "name": "n1"}}),
     Events("w", ("ADDED", {"metadata.name": "p", "spec.nodeName": "n1"})))
case("a watch of all namespaces sees this one's",
     LIST, Watch("w", "/api/v1/secrets?watch=true&resourceVersion={rv}"
                 "&fieldSelector=metadata.name={id}"),
     post(SECRETS, secret("{id}")), Events("w", ("ADDED", {"metadata.namespace": "{ns}"})))
case("sendInitialEvents ends with an annotated bookmark",
     post(SECRETS, secret("a")), post(SECRETS, secret("b")),
     Watch("w", SECRETS + "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true"
           "&resourceVersionMatch=NotOlderThan&resourceVersion="),
     Events("w", ("ADDED", {"metadata.name": one_of("a", "b")}),
            ("ADDED", {"metadata.name": one_of("a", "b")}),
            ("BOOKMARK", {"metadata.annotations[k8s.io/initial-events-end]": "true",
                          "kind": "Secret", "metadata.resourceVersion": DIGITS})),
     post(SECRETS, secret("c")), Events("w", ("ADDED", at("c"))))
case("sendInitialEvents of nothing is the bookmark alone",
     Watch("w", SECRETS + "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true"
           "&resourceVersionMatch=NotOlderThan"),
     Events("w", ("BOOKMARK", {"metadata.annotations[k8s.io/initial-events-end]": "true"})))
case("sendInitialEvents without resourceVersionMatch is 422",
     get(SECRETS + "?watch=true&sendInitialEvents=true", **fault(422, "Invalid", also={
         "message": has("resourceVersionMatch")})))
case("sendInitialEvents with an unknown resourceVersionMatch is 422",
     get(SECRETS + "?watch=true&sendInitialEvents=true&resourceVersionMatch=Exact",
         **fault(422, "Invalid")))
case("resourceVersionMatch in a watch without sendInitialEvents is 422",
     get(SECRETS + "?watch=true&resourceVersion=1&resourceVersionMatch=NotOlderThan",
         **fault(422, "Invalid")))
case("sendInitialEvents in a list is 422",
     get(SECRETS + "?sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
         **fault(422, "Invalid")))
case("sendInitialEvents respects a selector",
     post(SECRETS, secret("a")), post(SECRETS, {"metadata": {"name": "b", "labels": {"x": "y"}}}),
     Watch("w", SECRETS + "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true"
           "&resourceVersionMatch=NotOlderThan&labelSelector=x=y"),
     Events("w", ("ADDED", at("b")), ("BOOKMARK", {"metadata.name": ABSENT})))
case("a watch of PartialObjectMetadata",
     LIST, Watch("w", SECRETS + "?watch=true&resourceVersion={rv}", headers={
         "Accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}),
     post(SECRETS, secret("a")),
     Events("w", ("ADDED", {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
                            "metadata.name": "a", "data": ABSENT})))
case("a watch as a Table",
     LIST, Watch("w", SECRETS + "?watch=true&resourceVersion={rv}", headers={
         "Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}),
     post(SECRETS, secret("a")),
     Events("w", ("ADDED", {"kind": "Table", "rows.0.cells.0": "a",
                            "columnDefinitions.0.name": "Name"})))
case("a status change is MODIFIED",
     post(PODS, pod(), keep={"rv": "metadata.resourceVersion"}),
     Watch("w", PODS + "?watch=true&resourceVersion={rv}"),
     patch(PODS + "/p/status", {"status": {"phase": "Running"}}),
     Events("w", ("MODIFIED", {"status.phase": "Running"})))
case("what changes nothing brings no event",
     post(SECRETS, secret("a"), keep={"rv": "metadata.resourceVersion"}),
     Watch("w", SECRETS + "?watch=true&resourceVersion={rv}"),
     put(SECRETS + "/a", secret("a")), patch(SECRETS + "/a", {"data": {"k": "dg=="}}),
     Events("w", then="quiet"))
case("dry runs bring no event",
     LIST, Watch("w", SECRETS + "?watch=true&resourceVersion={rv}"),
     post(SECRETS + "?dryRun=All", secret("a")), Events("w", then="quiet"))
case("a watch of an object's own path by fieldSelector ends in order",
     post(SECRETS, secret("a"), keep={"rv": "metadata.resourceVersion"}),
     Watch("w", SECRETS + "?watch=true&resourceVersion={rv}&fieldSelector=metadata.name=a"
           "&timeoutSeconds=2"),
     patch(SECRETS + "/a", {"data": {"k": "dw=="}}),
     Events("w", ("MODIFIED", {"data": ANY}), then="end"))
case("two watches see the same versions",
     LIST, Watch("v", SECRETS + "?watch=true&resourceVersion={rv}"),
     Watch("w", SECRETS + "?watch=true&resourceVersion={rv}"),
     post(SECRETS, secret("a")),
     Events("v", ("ADDED", at("a")), keep={"seen": "metadata.resourceVersion"}),
     Events("w", ("ADDED", {"metadata.resourceVersion": "{seen}"})))
case("objects marked as being deleted are MODIFIED, then DELETED",
     post(SECRETS, {"metadata": {"name": "a", "finalizers": ["x.example/f"]}},
          keep={"rv": "metadata.resourceVersion"}),
     Watch("w", SECRETS + "?watch=true&resourceVersion={rv}"),
     delete(SECRETS + "/a"),
     Events("w", ("MODIFIED", {"metadata.deletionTimestamp": ANY})),
     patch(SECRETS + "/a", {"metadata": {"finalizers": None}}),
     Events("w", ("DELETED", at("a")), then="quiet"))
