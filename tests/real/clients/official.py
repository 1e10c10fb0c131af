"""The official Python client, with the calls that controllers make.

Run by tests/real/apiserver_clients.py: python official.py
"""
import base64
import threading

from kubernetes import client, config, dynamic, watch

config.load_kube_config()
core, apps = client.CoreV1Api(), client.AppsV1Api()
custom = client.CustomObjectsApi()
NS = "python"


def refused(status, call, *args, **more):
    try:
        call(*args, **more)
    except client.ApiException as e:
        assert e.status == status, (status, e.status, e.body)
        return e
    raise AssertionError(f"{call.__name__} was not refused with {status}")


def objects():
    core.create_namespace({"metadata": {"name": NS}})
    refused(409, core.create_namespace, {"metadata": {"name": NS}})
    made = core.create_namespaced_config_map(NS, {"metadata": {"generateName": "c-"},
                                                  "data": {"a": "1"}})
    name = made.metadata.name
    assert name.startswith("c-") and made.metadata.uid
    made.data["a"] = "2"
    changed = core.replace_namespaced_config_map(name, NS, made)
    assert int(changed.metadata.resource_version) > int(made.metadata.resource_version)
    refused(409, core.replace_namespaced_config_map, name, NS, made)
    core.patch_namespaced_config_map(name, NS, [{"op": "add", "path": "/data/b", "value": "3"}])
    core.patch_namespaced_config_map(name, NS, {"data": {"a": None}})
    assert core.read_namespaced_config_map(name, NS).data == {"b": "3"}
    core.create_namespaced_secret(NS, {"metadata": {"name": "s"}, "stringData": {"k": "v"}})
    assert base64.b64decode(core.read_namespaced_secret("s", NS).data["k"]) == b"v"
    core.delete_namespaced_config_map(name, NS)
    refused(404, core.read_namespaced_config_map, name, NS)
    refused(422, core.create_namespaced_config_map, NS, {"metadata": {"name": "Not_A_Name"}})


def pages():
    for i in range(25):
        core.create_namespaced_config_map(
            NS, {"metadata": {"name": f"page-{i:02}", "labels": {"odd": str(i % 2)}}})
    names, token = [], None
    while True:
        page = core.list_namespaced_config_map(NS, limit=10, _continue=token,
                                               label_selector="odd in (0,1)")
        names += [item.metadata.name for item in page.items]
        token = page.metadata._continue
        if not token:
            break
    assert names == [f"page-{i:02}" for i in range(25)], names
    assert len(core.list_namespaced_config_map(NS, label_selector="odd=1").items) == 12
    core.delete_collection_namespaced_config_map(NS, label_selector="odd")
    assert not core.list_namespaced_config_map(NS, label_selector="odd").items


def watches():
    start = core.list_namespaced_pod(NS).metadata.resource_version
    got = []

    def look():
        for event in watch.Watch().stream(core.list_namespaced_pod, NS, resource_version=start,
                                          timeout_seconds=10):
            got.append((event["type"], event["object"].metadata.name))
            if event["type"] == "DELETED":
                return

    thread = threading.Thread(target=look)
    thread.start()
    core.create_namespaced_pod(NS, {"metadata": {"name": "p"},
                                    "spec": {"containers": [{"name": "c", "image": "i"}]}})
    core.patch_namespaced_pod_status("p", NS, {"status": {"phase": "Running", "conditions": [
        {"type": "Ready", "status": "True"}]}})
    core.patch_namespaced_pod("p", NS, {"spec": {"containers": [{"name": "c", "image": "j"}]}})
    pod = core.read_namespaced_pod("p", NS)
    assert pod.status.phase == "Running" and len(pod.spec.containers) == 1
    core.create_namespaced_pod_eviction("p", NS, {"metadata": {"name": "p", "namespace": NS}})
    thread.join(15)
    assert [kind for kind, _ in got] == ["ADDED", "MODIFIED", "MODIFIED", "DELETED"], got


def scales():
    template = {"metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]}}
    apps.create_namespaced_deployment(NS, {"metadata": {"name": "d"}, "spec": {
        "replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": template}})
    apps.patch_namespaced_deployment_scale("d", NS, {"spec": {"replicas": 5}})
    assert apps.read_namespaced_deployment_scale("d", NS).spec.replicas == 5
    assert apps.read_namespaced_deployment("d", NS).spec.replicas == 5


def customs():
    where = ("example.com", "v1", NS, "widgets")
    custom.create_namespaced_custom_object(*where, {
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"},
        "spec": {"size": 1}, "status": {"ignored": True}})
    assert "status" not in custom.get_namespaced_custom_object(*where, "w")
    custom.patch_namespaced_custom_object_status(*where, "w", {"status": {"size": 1},
                                                              "spec": {"size": 9}})
    widget = custom.get_namespaced_custom_object(*where, "w")
    assert widget["status"] == {"size": 1} and widget["spec"] == {"size": 1}, widget
    refused(422, custom.patch_namespaced_custom_object, *where, "w", {"spec": {"size": "big"}})
    dyn = dynamic.DynamicClient(client.ApiClient())
    widgets = dyn.resources.get(api_version="example.com/v1", kind="Widget")
    assert [w.metadata.name for w in widgets.get(namespace=NS).items] == ["w"]
    # A finalizer keeps the object until it is removed.
    finalizers = {"metadata": {"finalizers": ["example.com/hold"]}}
    custom.patch_namespaced_custom_object(*where, "w", finalizers)
    custom.delete_namespaced_custom_object(*where, "w")
    assert custom.get_namespaced_custom_object(*where, "w")["metadata"]["deletionTimestamp"]
    custom.patch_namespaced_custom_object(*where, "w", {"metadata": {"finalizers": None}})
    refused(404, custom.get_namespaced_custom_object, *where, "w")


def identity():
    assert client.VersionApi().get_code().major == "1"
    review = client.AuthorizationV1Api().create_self_subject_access_review(
        {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}})
    assert review.status.allowed
    wrong = client.Configuration.get_default_copy()
    wrong.refresh_api_key_hook = None
    wrong.api_key = {key: "Bearer nobody" for key in ("authorization", "BearerToken")}
    refused(401, client.CoreV1Api(client.ApiClient(wrong)).list_namespace)


for part in (objects, pages, watches, scales, customs, identity):
    part()
    print(f"{part.__name__}: ok", flush=True)
core.delete_namespace(NS)
