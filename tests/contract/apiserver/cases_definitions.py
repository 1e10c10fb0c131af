"""Cases of definitions: schema, pruning, defaults, validation, subresources, columns."""
from engine import (ABSENT, ANY, MERGE, STRATEGIC, Events, Watch, case, delete, fault, get, has,
                    patch, post, put)

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CRD = CRDS + "/things.{id}.example"
THINGS = "/apis/{id}.example/v1/namespaces/{ns}/things"
ONE = THINGS + "/a"
SPEC = {
    "n": {"type": "integer", "minimum": 1, "maximum": 9},
    "size": {"type": "string", "default": "small", "enum": ["small", "large"]},
    "word": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5, "minLength": 2},
    "count": {"x-kubernetes-int-or-string": True},
    "maybe": {"type": "string", "nullable": True},
    "deep": {"type": "object", "properties": {
        "on": {"type": "boolean", "default": True}, "off": {"type": "boolean"}}},
    "list": {"type": "array", "maxItems": 2, "items": {"type": "string"}},
    "keyed": {"type": "array", "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["name"],
              "items": {"type": "object", "required": ["name"], "properties": {
                  "name": {"type": "string"}, "v": {"type": "string"}}}},
    "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
    "map": {"type": "object", "additionalProperties": {"type": "integer"}},
    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "when": {"type": "string", "format": "date-time"},
    "one": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    "ratio": {"type": "number", "exclusiveMinimum": True, "minimum": 0},
    "even": {"type": "integer", "multipleOf": 2},
    "ruled": {"type": "integer", "x-kubernetes-validations": [
        {"rule": "self != 13", "message": "not thirteen"}]},
    "replicas": {"type": "integer"},
}


def crd(**version):
    return {"metadata": {"name": "things.{id}.example"}, "spec": {
        "group": "{id}.example", "scope": "Namespaced",
        "names": {"plural": "things", "kind": "Thing", "shortNames": ["th"],
                  "categories": ["all"]},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {
            "openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "properties": SPEC},
                "status": {"type": "object", "properties": {
                    "phase": {"type": "string"}, "replicas": {"type": "integer"}}}}}},
            "subresources": {"status": {}}, **version}]}}


def thing(**spec):
    return {"apiVersion": "{id}.example/v1", "kind": "Thing", "metadata": {"name": "a"},
            "spec": spec}


def define(name, *steps, **version):
    """Adds a case that first creates its own definition and waits until it is established."""
    case(f"custom: {name}",
         post(CRDS, crd(**version)),
         get(CRD, within=10, want={"status.conditions.*.type": has("Established"),
                                   "status.acceptedNames.kind": "Thing"}),
         get(THINGS, within=10, want={"items": []}),
         *steps, delete(CRD))


def refuses(name, spec, words):
    define(name, post(THINGS, thing(**spec), **fault(422, "Invalid", also={
        "message": has(words)})))


define("a definition is served, with its names",
       get(CRD, want={"spec.names.singular": "thing", "spec.names.listKind": "ThingList",
                      "status.storedVersions": ["v1"]}),
       get("/apis/{id}.example/v1", within=5, want={
           "kind": "APIResourceList", "resources.*.name": has("things/status")}),
       get("/apis/{id}.example", within=5, want={"kind": "APIGroup", "preferredVersion.version":
                                                 "v1"}))
define("unknown fields are pruned",
       post(THINGS, {**thing(n=1, unicorn=2), "other": 3},
            want={"spec": {"n": 1, "size": "small"}, "other": ABSENT}))
define("unknown fields stay where the schema says so",
       post(THINGS, thing(free={"x": {"y": 1}}), want={"spec.free": {"x": {"y": 1}}}))
define("defaults are filled in, also inside of what is there",
       post(THINGS, thing(deep={}), want={"spec.size": "small", "spec.deep.on": True,
                                          "spec.deep.off": ABSENT}))
define("defaults do not make their parents",
       post(THINGS, thing(), want={"spec.deep": ABSENT, "spec.size": "small"}))
define("null of what is not nullable gets the default",
       post(THINGS, thing(size=None), want={"spec.size": "small"}))
define("null of what is nullable stays",
       post(THINGS, thing(maybe=None), want={"spec": has("maybe"), "spec.maybe": None}))
define("int-or-string takes both",
       post(THINGS, thing(count=3), want={"spec.count": 3}),
       patch(ONE, {"spec": {"count": "30%"}}, want={"spec.count": "30%"}))
refuses("int-or-string takes no boolean", {"count": True}, "spec.count")
refuses("a wrong type", {"n": "one"}, "spec.n")
refuses("below the minimum", {"n": 0}, "spec.n")
refuses("above the maximum", {"n": 10}, "spec.n")
refuses("at an exclusive minimum", {"ratio": 0}, "spec.ratio")
refuses("not a multiple", {"even": 3}, "spec.even")
refuses("not of the enum", {"size": "huge"}, "Unsupported value")
refuses("not like the pattern", {"word": "ABC"}, "spec.word")
refuses("too long a text", {"word": "abcdef"}, "spec.word")
refuses("too short a text", {"word": "a"}, "spec.word")
refuses("too many items", {"list": ["a", "b", "c"]}, "spec.list")
refuses("a wrong item", {"list": [1]}, "spec.list[0]")
refuses("a key twice in a list of type map", {"keyed": [{"name": "a"}, {"name": "a"}]},
        "Duplicate value")
refuses("a value twice in a set", {"set": ["a", "a"]}, "Duplicate value")
refuses("a required field that is missing", {"keyed": [{"v": "1"}]}, "Required value")
refuses("a wrong value of additionalProperties", {"map": {"k": "x"}}, "spec.map")
refuses("a date-time that is none", {"when": "yesterday"}, "spec.when")
refuses("oneOf with both", {"one": {"a": "1", "b": "2"}}, "oneOf")
refuses("oneOf with neither", {"one": {}}, "oneOf")
refuses("a CEL rule", {"ruled": 13}, "not thirteen")
define("Strict refuses what would be pruned",
       post(THINGS + "?fieldValidation=Strict", thing(unicorn=1), **fault(400, "BadRequest", also={
           "message": has('unknown field "spec.unicorn"')})))
define("status of a new object is dropped, and written through its path alone",
       post(THINGS, {**thing(n=1), "status": {"phase": "x"}}, want={"status": ABSENT}),
       patch(ONE, {"status": {"phase": "x"}}, want={"status": ABSENT}),
       patch(ONE + "/status", {"status": {"phase": "y"}, "spec": {"n": 2}},
             want={"status.phase": "y", "spec.n": 1, "metadata.generation": 1}),
       patch(ONE, {"spec": {"n": 2}}, want={"status.phase": "y", "metadata.generation": 2}))
define("a status that the schema refuses",
       post(THINGS, thing()),
       patch(ONE + "/status", {"status": {"phase": 1}}, **fault(422, "Invalid", also={
           "message": has("status.phase")})))
define("metadata through status changes nothing but",
       post(THINGS, thing()),
       patch(ONE + "/status", {"metadata": {"labels": {"a": "b"}}, "status": {"phase": "y"}},
             want={"metadata.labels": ABSENT}))
define("update without resourceVersion is 422",
       post(THINGS, thing()),
       put(ONE, thing(n=2), **fault(422, "Invalid", also={"message": has("resourceVersion")})))
define("a strategic patch is 415",
       post(THINGS, thing()),
       patch(ONE, {"spec": {"n": 2}}, kind=STRATEGIC, **fault(415, "UnsupportedMediaType")))
define("a patch whose result is refused changes nothing",
       post(THINGS, thing(n=1)),
       patch(ONE, {"spec": {"n": 99}}, kind=MERGE, **fault(422, "Invalid")),
       get(ONE, want={"spec.n": 1}))
define("no status path without the subresource",
       post(THINGS, {**thing(), "status": {"phase": "x"}}, want={"status.phase": "x"}),
       get(ONE + "/status", code=404), subresources={})
define("scale reads and writes the paths that the definition names",
       post(THINGS, thing(replicas=3)),
       get(ONE + "/scale", want={"kind": "Scale", "apiVersion": "autoscaling/v1",
                                 "spec.replicas": 3}),
       patch(ONE + "/scale", {"spec": {"replicas": 5}}, want={"spec.replicas": 5}),
       get(ONE, want={"spec.replicas": 5}),
       subresources={"status": {}, "scale": {"specReplicasPath": ".spec.replicas",
                                             "statusReplicasPath": ".status.replicas"}})
define("printer columns make the Table",
       post(THINGS, thing(n=7)),
       get(THINGS, within=5, headers={"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"},
           want={"kind": "Table", "columnDefinitions.*.name": ["Name", "N", "Age"],
                 "rows.0.cells.1": 7}),
       additionalPrinterColumns=[
           {"name": "N", "type": "integer", "jsonPath": ".spec.n"},
           {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}])
define("selectable fields select",
       post(THINGS, thing(size="large")),
       get(THINGS + "?fieldSelector=spec.size=large", within=5, want={"items.#": 1}),
       get(THINGS + "?fieldSelector=spec.size=small", want={"items.#": 0}),
       selectableFields=[{"jsonPath": ".spec.size"}])
define("a version that is not served is 404",
       get("/apis/{id}.example/v2/namespaces/{ns}/things", code=404))
define("a watch of custom objects",
       get(THINGS, keep={"rv": "metadata.resourceVersion"}),
       Watch("w", THINGS + "?watch=true&resourceVersion={rv}"),
       post(THINGS, thing(n=1)),
       Events("w", ("ADDED", {"kind": "Thing", "apiVersion": "{id}.example/v1", "spec.n": 1})))
define("a watch of a young kind from revision 1 is 410 Expired",
       Watch("w", THINGS + "?watch=true&resourceVersion=1"),
       Events("w", ("ERROR", {"kind": "Status", "code": 410, "reason": "Expired",
                              "message": has("too old resource version")}), then="end"))
define("deleting the definition takes its objects, and then the path is gone",
       post(THINGS, thing()),
       post(CRDS, {**crd(), "metadata": {"name": "others.{id}.example"}, "spec": {
           **crd()["spec"], "names": {"plural": "others", "kind": "Other"}}}),
       delete(CRDS + "/others.{id}.example"),
       delete(CRD), get(CRD, code=404, within=15), get(THINGS, code=404, within=10),
       post(CRDS, crd()))
define("a definition waits for an object with a finalizer",
       post(THINGS, {**thing(), "metadata": {"name": "a", "finalizers": ["x.example/f"]}}),
       delete(CRD), get(CRD, want={"metadata.deletionTimestamp": ANY}),
       get(ONE, want={"metadata.deletionTimestamp": ANY}, within=10),
       patch(ONE, {"metadata": {"finalizers": None}}, within=3),
       get(CRD, code=404, within=20), post(CRDS, crd()))
case("custom: a definition whose name does not fit is 422",
     post(CRDS, {**crd(), "metadata": {"name": "wrong.{id}.example"}}, **fault(422, "Invalid")))
case("custom: a schema that is not structural is 422",
     post(CRDS, crd(schema={"openAPIV3Schema": {"type": "object", "properties": {
         "spec": {"properties": {"n": {"type": "integer"}}}}}}), **fault(422, "Invalid", also={
             "message": has("type")})))
case("custom: a version without a schema is 422",
     post(CRDS, crd(schema=None), **fault(422, "Invalid")))
case("custom: no storage version is 422",
     post(CRDS, crd(storage=False), **fault(422, "Invalid", also={"message": has("storage")})))
case("custom: a scope that is none is 422",
     post(CRDS, {**crd(), "spec": {**crd()["spec"], "scope": "Galaxy"}}, **fault(422, "Invalid")))
