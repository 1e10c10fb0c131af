"""A kubelet for one kind of pod: its image is in a registry, and runc runs it as the pod specifies.

Needs root, skopeo, umoci, runc and iproute2. The pod has its own network namespace, connected to
this machine by one cable; its image's files are read-only, its user, capabilities, arguments,
variables and mounts are those of the Pod that the scheduler bound to this node. Probes are sent
over the cable.
"""
import json
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.request

from . import network, process

# One pod, because the node has one address.
MANY = {"cpu": "4", "memory": "8Gi", "pods": "1", "ephemeral-storage": "100Gi"}


def run(*argv, env=None):
    done = subprocess.run([str(a) for a in argv], capture_output=True, text=True, check=False, env=env)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, argv))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


class Cable:
    """A namespace with one address, and this machine's address as seen from it."""

    def __init__(self, name, net="10.231.7"):
        self.name, self.here, self.there = name, f"{net}.1", f"{net}.2"
        network.ip("netns", "add", name)
        network.ip("link", "add", f"{name}-h", "type", "veth", "peer", "name", "eth0", "netns", name)
        network.ip("address", "add", f"{self.here}/30", "dev", f"{name}-h")
        network.ip("link", "set", f"{name}-h", "up")
        for words in (("address", "add", f"{self.there}/30", "dev", "eth0"), ("link", "set", "eth0", "up"),
                      ("link", "set", "lo", "up")):
            network.ip(*words, netns=name)

    def route_to(self, address):
        """Lets the namespace reach a further address of this machine."""
        network.ip("route", "add", address, "via", self.here, netns=self.name)

    def close(self):
        network.ip("link", "delete", f"{self.name}-h", check=False)
        network.ip("netns", "delete", self.name, check=False)


class Kubelet(threading.Thread):
    """Kubelet of node `name`: start() creates the Node and runs pods bound to it, stop() ends
    them."""

    def __init__(self, plane, folder, cable, env, name="node-1"):
        super().__init__(daemon=True)
        self.plane, self.cable, self.env, self.name = plane, cable, env, name
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.ended = threading.Event()
        self.running = {}  # UID -> (container, process)
        self.said = {}  # pod -> output of its container
        self.trouble = None

    # -- the node

    def join_node(self):
        self.plane.apply({"apiVersion": "v1", "kind": "Node", "metadata": {
            "name": self.name, "labels": {"kubernetes.io/hostname": self.name}}})
        self.beat()
        self.start()

    def beat(self):
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.plane.api("PATCH", f"/api/v1/nodes/{self.name}/status", {"status": {
            "capacity": MANY, "allocatable": MANY, "conditions": [
                {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "",
                 "lastHeartbeatTime": now, "lastTransitionTime": now}]}})

    def run(self):
        beaten = time.monotonic()
        while not self.ended.wait(0.3):
            try:
                if time.monotonic() - beaten > 10:
                    self.beat()
                    beaten = time.monotonic()
                self.look()
            except (RuntimeError, OSError, KeyError) as e:
                self.trouble = str(e)

    def look(self):
        pods = self.plane.api("GET", f"/api/v1/pods?fieldSelector=spec.nodeName={self.name}")["items"]
        for pod in pods:
            uid = pod["metadata"]["uid"]
            if pod["metadata"].get("deletionTimestamp"):
                self.end(uid)
                self.plane.api("DELETE", self.path(pod), {"gracePeriodSeconds": 0})
            elif uid not in self.running:
                self.begin(pod)
            else:
                self.tell(pod)
        for uid in set(self.running) - {p["metadata"]["uid"] for p in pods}:
            self.end(uid)

    @staticmethod
    def path(pod):
        return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"

    def stop(self):
        self.ended.set()
        self.join()
        for uid in list(self.running):
            self.end(uid)

    # -- a pod

    def image(self, reference):
        """Returns (its configuration for runc, its files); pulled once."""
        digest = run("skopeo", "inspect", "--format", "{{.Digest}}", f"docker://{reference}", env=self.env).strip()
        folder = self.folder / digest.replace(":", "-")
        if not folder.exists():
            layout = self.folder / "layout"
            shutil.rmtree(layout, ignore_errors=True)
            run("skopeo", "copy", "-q", f"docker://{reference}", f"oci:{layout}:pod", env=self.env)
            run("umoci", "unpack", "--image", f"{layout}:pod", folder)
            shutil.rmtree(layout)
        return json.loads((folder / "config.json").read_text()), folder / "rootfs"

    def begin(self, pod):
        container = pod["spec"]["containers"][0]
        name = f"{self.cable.name}-{pod['metadata']['uid'][:8]}"
        oci, root = self.image(container["image"])
        oci["root"]["path"] = str(root)
        bundle = self.folder / name
        bundle.mkdir()
        (bundle / "config.json").write_text(json.dumps(self.specification(pod, container, oci, bundle)))
        self.running[pod["metadata"]["uid"]] = (
            name, process.Process(name, self.folder, ["runc", "run", "-b", bundle, name], env=self.env))
        self.tell(pod)

    def specification(self, pod, container, oci, bundle):
        spec, rights = pod["spec"], container["securityContext"]
        values = {"POD_NAME": pod["metadata"]["name"], "POD_IP": self.cable.there, "NODE_NAME": self.name}
        who = oci["process"]
        who["terminal"] = False
        user = spec.get("securityContext", {})
        assert user.get("runAsNonRoot") and user["runAsUser"], "the pod does not say runAsNonRoot"
        who["user"] = {"uid": user["runAsUser"], "gid": user["runAsGroup"]}
        entry = [who["args"][0]]  # ENTRYPOINT; the pod's args stand for CMD
        who["args"] = entry + [re.sub(r"\$\((\w+)\)", lambda m: values[m[1]], a) for a in container["args"]]
        who["env"] += [f"{k}={v}" for k, v in values.items()] + [
            f"KUBERNETES_SERVICE_HOST={self.plane.guest}", f"KUBERNETES_SERVICE_PORT={self.plane.port}"]
        assert rights["capabilities"]["drop"] == ["ALL"]
        who["capabilities"] = {k: [] for k in ("bounding", "effective", "permitted", "inheritable", "ambient")}
        who["noNewPrivileges"] = not rights["allowPrivilegeEscalation"]
        oci["root"]["readonly"] = rights["readOnlyRootFilesystem"]
        oci["hostname"] = pod["metadata"]["name"]
        oci["linux"]["namespaces"] = [n for n in oci["linux"]["namespaces"] if n["type"] not in ("network", "user")] + [
            {"type": "network", "path": str(network.NETNS / self.cable.name)}]
        for gone in ("uidMappings", "gidMappings"):
            oci["linux"].pop(gone, None)
        oci["mounts"] = [m for m in oci["mounts"] if m["destination"] not in ("/etc/resolv.conf", "/etc/hosts")]
        oci["mounts"] += self.mounts(pod, container, bundle)
        return oci

    def mounts(self, pod, container, bundle):
        namespace = pod["metadata"]["namespace"]
        made = []
        volumes = {v["name"]: v for v in pod["spec"]["volumes"]}
        for number, mount in enumerate(container["volumeMounts"]):
            volume, source = volumes[mount["name"]], bundle / f"volume-{number}"
            if "configMap" in volume:
                got = self.plane.api("GET", f"/api/v1/namespaces/{namespace}/configmaps/{volume['configMap']['name']}")
                texts = got["data"]
            else:  # the token added by the ServiceAccount admission
                texts = {"token": self.plane.kubectl("create", "token", pod["spec"]["serviceAccountName"],
                                                     "-n", namespace).strip(),
                         "ca.crt": self.plane.ca_pem(), "namespace": namespace}
            source.mkdir(mode=0o755)
            for name, text in texts.items():
                (source / name).write_text(text)
                (source / name).chmod(0o644)
            made.append({"destination": mount["mountPath"], "type": "bind", "source": str(source),
                         "options": ["bind", "ro"]})
        return made

    def is_ready(self, container):
        probe = container["readinessProbe"]["httpGet"]
        port = next(p["containerPort"] for p in container["ports"] if p["name"] == probe["port"])
        anything = ssl._create_unverified_context()  # as a kubelet does
        try:
            with urllib.request.urlopen(f"{probe['scheme'].lower()}://{self.cable.there}:{port}{probe['path']}",
                                        context=anything, timeout=5) as reply:
                return reply.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def tell(self, pod):
        name, running = self.running[pod["metadata"]["uid"]]
        container = pod["spec"]["containers"][0]
        alive = running.popen.poll() is None
        ready = alive and self.is_ready(container)
        self.said[pod["metadata"]["name"]] = running.log.read_text(errors="replace")
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        state = {"running": {"startedAt": now}} if alive else {"waiting": {"reason": "CrashLoopBackOff"}}
        old = {c["type"]: c["status"] for c in pod.get("status", {}).get("conditions", [])}
        if old.get("Ready") == str(ready):
            return
        self.plane.api("PATCH", f"{self.path(pod)}/status", {"status": {
            "phase": "Running", "podIP": self.cable.there, "podIPs": [{"ip": self.cable.there}],
            "conditions": [{"type": t, "status": str(s), "lastTransitionTime": now} for t, s in (
                ("PodScheduled", True), ("Initialized", True), ("ContainersReady", ready), ("Ready", ready))],
            "containerStatuses": [{"name": container["name"], "image": container["image"], "imageID": "",
                                   "ready": ready, "restartCount": 0, "state": state}]}})

    def end(self, uid):
        name, running = self.running.pop(uid)
        subprocess.run(["runc", "kill", name, "TERM"], capture_output=True, check=False)
        running.stop(grace_s=30)
        subprocess.run(["runc", "delete", "-f", name], capture_output=True, check=False)
        self.said[name] = running.log.read_text(errors="replace")
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def inside(self, word):
        """Returns a line of /proc/PID/status of the running container."""
        (name, _), = self.running.values()
        pid = json.loads(run("runc", "state", name))["pid"]
        return re.search(rf"^{word}:\s*(.*)$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)[1]


def environment(ca):
    """Returns the environment for skopeo, which trusts only this CA."""
    return {**os.environ, "SSL_CERT_FILE": str(ca)}
