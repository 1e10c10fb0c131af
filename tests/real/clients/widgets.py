"""A small operator on kopf: each Widget gets a ConfigMap, and leaves a mark when it is deleted.

Run by tests/real/apiserver_clients.py: python -m kopf run --standalone -n NAMESPACE widgets.py
"""
import kopf
import kubernetes


def core():
    kubernetes.config.load_kube_config()
    return kubernetes.client.CoreV1Api()


@kopf.on.startup()
def configure(settings, **_):
    settings.posting.enabled = True
    settings.watching.server_timeout = 5


@kopf.on.create("widgets.example.com")
def created(spec, name, namespace, body, **_):
    child = {"metadata": {"name": name}, "data": {"size": str(spec["size"])}}
    kopf.adopt(child)
    core().create_namespaced_config_map(namespace, child)
    kopf.info(body, reason="Sized", message="it has a ConfigMap")
    return {"size": spec["size"]}


@kopf.on.update("widgets.example.com", field="spec.size")
def updated(new, name, namespace, patch, **_):
    core().patch_namespaced_config_map(name, namespace, {"data": {"size": str(new)}})
    patch.status["seen"] = new


@kopf.on.delete("widgets.example.com")
def deleted(name, namespace, **_):
    core().create_namespaced_config_map(namespace, {"metadata": {"name": f"{name}-is-gone"}})


@kopf.on.event("configmaps", labels={"watched": "yes"})
def seen(event, name, namespace, meta, **_):
    if event["type"] != "DELETED" and "seen" not in meta.get("annotations", {}):
        core().patch_namespaced_config_map(name, namespace,
                                           {"metadata": {"annotations": {"seen": "yes"}}})
