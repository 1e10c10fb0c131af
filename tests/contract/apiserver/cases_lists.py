"""Cases of lists: versions, pages, selectors by label and by field."""
from engine import ABSENT, DIGITS, TEXT, case, delete, fault, get, has, patch, post
from cases_objects import NODES, PODS, SECRETS, pod, secret

NAMES = "items.*.metadata.name"


def make(n):
    return [post(SECRETS, {"metadata": {"name": f"m{i}", "labels": {
        "odd": str(i % 2), "n": f"n{i}", **({"last": ""} if i == n - 1 else {})}}})
        for i in range(n)]


def names(*which):
    return {NAMES: [f"m{i}" for i in which]}


case("a list has kind, version and items in the order of names",
     post(SECRETS, secret("b")), post(SECRETS, secret("a")),
     get(SECRETS, want={"kind": "SecretList", "apiVersion": "v1", NAMES: ["a", "b"],
                   "metadata.resourceVersion": DIGITS, "metadata.continue": ABSENT}))
case("an empty list has items that are empty, not missing",
     get(SECRETS, want={"kind": "SecretList", "items": []}))
case("items of a list lack kind and apiVersion",
     post(SECRETS, secret()),
     get(SECRETS, want={"items.0.kind": ABSENT, "items.0.apiVersion": ABSENT}))
case("a list of all namespaces holds this one's",
     post(SECRETS, secret("{id}")),
     get("/api/v1/secrets?fieldSelector=metadata.name={id}",
         want={"items.0.metadata.namespace": "{ns}", "items.#": 1}))
case("the version of a list is not below that of its items",
     post(SECRETS, secret(), keep={"rv": "metadata.resourceVersion"}),
     get(SECRETS + "?resourceVersion={rv}&resourceVersionMatch=NotOlderThan", want={"items.#": 1}))
case("a list at a version that is yet to come times out with a cause",
     get(SECRETS + "?resourceVersion=9000000000", **fault(504, "Timeout", also={
         "message": has("Too large resource version"),
         "details.causes.0.reason": "ResourceVersionTooLarge"})))
case("a list at a version that is no number is refused",
     get(SECRETS + "?resourceVersion=abc", code=(400, 422)))
case("resourceVersionMatch without resourceVersion is refused",
     get(SECRETS + "?resourceVersionMatch=Exact", **fault(422, "Invalid")))
case("resourceVersionMatch of an unknown word is refused",
     get(SECRETS + "?resourceVersion=1&resourceVersionMatch=Roughly", **fault(422, "Invalid")))
case("resourceVersionMatch=Exact shows the past",
     post(SECRETS, secret("a")), get(SECRETS, keep={"rv": "metadata.resourceVersion"}),
     post(SECRETS, secret("b")),
     get(SECRETS + "?resourceVersion={rv}&resourceVersionMatch=Exact", want={NAMES: ["a"]}))
case("limit and continue go through a list page by page",
     *make(5),
     get(SECRETS + "?limit=2", want={**names(0, 1), "metadata.continue": TEXT,
                                "metadata.remainingItemCount": 3},
         keep={"c": "metadata.continue", "rv": "metadata.resourceVersion"}),
     get(SECRETS + "?limit=2&continue={c}",
         want={**names(2, 3), "metadata.resourceVersion": "{rv}"},
         keep={"c": "metadata.continue"}),
     get(SECRETS + "?limit=2&continue={c}", want={**names(4), "metadata.continue": ABSENT}))
case("a limit that the list does not reach gives no continue",
     *make(2), get(SECRETS + "?limit=2", want={**names(0, 1), "metadata.continue": ABSENT}))
case("limit=0 is no limit",
     *make(3), get(SECRETS + "?limit=0", want=names(0, 1, 2)))
case("pages after the first show the state of the first",
     *make(4),
     get(SECRETS + "?limit=2", keep={"c": "metadata.continue"}),
     delete(SECRETS + "/m3"),
     get(SECRETS + "?limit=2&continue={c}", want=names(2, 3)))
case("a continue that is nonsense is 400",
     get(SECRETS + "?limit=2&continue=nonsense", **fault(400, "BadRequest", also={
         "message": has("continue")})))
case("continue and resourceVersion together are refused",
     *make(3),
     get(SECRETS + "?limit=1", keep={"c": "metadata.continue"}),
     get(SECRETS + "?limit=1&continue={c}&resourceVersion=1", code=(400, 422)))
case("a negative limit is refused or ignored, not obeyed",
     *make(2), get(SECRETS + "?limit=-1", code=(200, 400, 422)))
case("a limit that is no number is 400",
     get(SECRETS + "?limit=abc", **fault(400, "BadRequest")))
case("pages respect a selector",
     *make(6),
     get(SECRETS + "?limit=2&labelSelector=odd=1", want={**names(1, 3), "metadata.continue": TEXT},
         keep={"c": "metadata.continue"}),
     get(SECRETS + "?limit=2&labelSelector=odd=1&continue={c}",
         want={**names(5), "metadata.continue": ABSENT}))

for words, selector, found in (
        ("equals", "odd=1", (1, 3)), ("== is =", "odd==1", (1, 3)),
        ("!= also takes those without the label", "last!=x", (0, 1, 2, 3)),
        ("in", "n in (n0,n2)", (0, 2)), ("notin", "n notin (n0,n2)", (1, 3)),
        ("exists", "last", (3,)), ("does not exist", "!last", (0, 1, 2)),
        ("a comma is and", "odd=1,n=n3", (3,)), ("an empty value", "last=", (3,)),
        ("nothing", "none=x", ())):
    case(f"label selector: {words}",
         *make(4), get(SECRETS + f"?labelSelector={selector}", want=names(*found)))
case("a label selector that is none is 400",
     get(SECRETS + "?labelSelector=a=b=c", **fault(400, "BadRequest")),
     get(SECRETS + "?labelSelector=n in (", **fault(400, "BadRequest")))
case("field selector: metadata.name",
     *make(3), get(SECRETS + "?fieldSelector=metadata.name=m1", want=names(1)),
     get(SECRETS + "?fieldSelector=metadata.name!=m1", want=names(0, 2)))
case("field selector: metadata.namespace",
     *make(1), get("/api/v1/secrets?fieldSelector=metadata.namespace={ns}", want=names(0)))
case("field selector of a field that is not selectable is 400",
     get(SECRETS + "?fieldSelector=data.k=v", **fault(400, "BadRequest", also={
         "message": has("data.k")})))
case("field selector: pods of a node, pods of a phase",
     post(PODS, pod("a")), post(PODS, pod("b", nodeName="n1")),
     get(PODS + "?fieldSelector=spec.nodeName=n1", want={NAMES: ["b"]}),
     get(PODS + "?fieldSelector=spec.nodeName=", want={NAMES: ["a"]}),
     get(PODS + "?fieldSelector=status.phase=Pending,spec.nodeName!=n1", want={NAMES: ["a"]}),
     get(PODS + "?fieldSelector=status.phase!=Pending", want={NAMES: []}),
     get(PODS + "?fieldSelector=spec.schedulerName=nobody", want={NAMES: ["a", "b"]}))
case("field selector: pods after their phase has changed",
     post(PODS, pod("a")),
     patch(PODS + "/a/status", {"status": {"phase": "Running"}}),
     get(PODS + "?fieldSelector=status.phase=Running", want={NAMES: ["a"]}, within=2))
case("field selector: type of a secret",
     post(SECRETS, {"metadata": {"name": "s"}, "type": "x/y"}), post(SECRETS, {
         "metadata": {"name": "t"}}),
     get(SECRETS + "?fieldSelector=type=x/y", want={NAMES: ["s"]}))
case("field selector: unschedulable nodes",
     post(NODES, {"metadata": {"name": "{id}", "labels": {"case": "{id}"}},
                  "spec": {"unschedulable": True}}),
     get(NODES + "?labelSelector=case={id}&fieldSelector=spec.unschedulable=true",
         want={"items.#": 1}),
     get(NODES + "?labelSelector=case={id}&fieldSelector=spec.unschedulable=false",
         want={"items.#": 0}),
     delete(NODES + "/{id}"))
case("label and field selector together",
     *make(4), get(SECRETS + "?labelSelector=odd=1&fieldSelector=metadata.name=m3", want=names(3)))
case("PartialObjectMetadataList shows metadata alone",
     *make(1),
     get(SECRETS, headers={
         "Accept": "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"},
         want={"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1",
               "items.0.metadata.labels.n": "n0", "items.0.data": ABSENT,
               "items.0.kind": "PartialObjectMetadata"}))
case("a list of some size comes whole",
     *[post(SECRETS, secret(f"a{i:02}", k="x" * 20000)) for i in range(40)],
     get(SECRETS, want={"items.#": 40}),
     get(SECRETS + "?limit=30", want={"items.#": 30, "metadata.continue": TEXT},
         keep={"c": "metadata.continue"}),
     get(SECRETS + "?limit=30&continue={c}", want={"items.#": 10}))
case("a list is not compressed for who does not ask for it",
     *[post(SECRETS, secret(f"a{i}", k="x" * 50000)) for i in range(4)],
     get(SECRETS, headers={"Accept-Encoding": "identity"},
         want={"items.#": 4}, answer={"Content-Encoding": ABSENT}))
case("deletecollection takes what the selector names",
     *make(4),
     delete(SECRETS + "?labelSelector=odd=1"),
     get(SECRETS, want=names(0, 2), within=2))
case("deletecollection with dryRun deletes nothing",
     *make(2), delete(SECRETS + "?dryRun=All"), get(SECRETS, want=names(0, 1)))
case("deletecollection by field",
     *make(3), delete(SECRETS + "?fieldSelector=metadata.name=m1"), get(SECRETS, want=names(0, 2)))
