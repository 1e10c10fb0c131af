"""A cluster's nodes on this machine: kubelet, containerd and kube-proxy, each node in its own network
namespace, all on one bridge. Pods have addresses of their node, and the load balancer of a Service
leads to the node that says it may serve it.

Needs root, containerd, runc, containernetworking-plugins, nftables and iproute2.
"""
import json
import os
import pathlib
import subprocess
import threading
import urllib.error
import urllib.request

from . import network, pace, parts, process

PODS = "10.244.{}.0/24"
CNI = "/usr/lib/cni"
PAUSE = "drover.test/pause:1"
CONTAINERD = """\
version = 2
root = "{folder}/root"
state = "{folder}/state"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
address = "{socket}"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{pause}"
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{cni}"
conf_dir = "{folder}/cni"
[plugins."io.containerd.grpc.v1.cri".registry]
config_path = "{folder}/registries"
"""
NETWORK = {"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "bridge", "bridge": "cni0", "isGateway": True}]}
KUBELET = {
    "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
    "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True}},
    "authorization": {"mode": "Webhook"},
    # This machine is no node of its own: nothing is reserved or evicted, and cgroups are as they are.
    "cgroupDriver": "cgroupfs", "cgroupsPerQOS": False, "enforceNodeAllocatable": [], "failCgroupV1": False,
    "failSwapOn": False, "localStorageCapacityIsolation": False, "evictionHard": {"memory.available": "1Mi"},
    "healthzPort": 0, "nodeStatusUpdateFrequency": "5s", "syncFrequency": "10s",
    "imageGCHighThresholdPercent": 100,
}


def inside(space, *argv):
    """Returns the command that runs argv in the network of that namespace, and in the mounts of this
    machine, where its cgroups are."""
    return ["nsenter", f"--net={network.NETNS / space}", "--", *argv]


class Segment:
    """A bridge of this machine, which has the address `here`. Nodes and load balancers have others."""

    def __init__(self, name, net):
        self.name, self.net, self.here = name, net, f"{net}.1"
        network.ip("link", "add", name, "type", "bridge")
        network.ip("address", "add", f"{self.here}/24", "dev", name)
        network.ip("link", "set", name, "up")

    def close(self):
        network.ip("link", "delete", self.name, check=False)


class Node:
    """start() starts a node of the control plane, stop() ends it with all its containers. registry:
    (host:port, path of its CA); images are pulled from there."""

    def __init__(self, plane, folder, segment, number, registry):
        self.plane, self.segment, self.registry = plane, segment, registry
        self.name, self.pods = f"node-{number}", PODS.format(number)
        self.space = f"{segment.name}n{number}"
        self.address = f"{segment.net}.{10 + number}"
        self.folder = pathlib.Path(folder)
        self.socket = self.folder / "containerd.sock"
        self.processes = []

    def start(self):
        self._network()
        self._containerd()
        self._kubelet()
        self._proxy()
        return self

    def stop(self):
        for p in reversed(self.processes[1:]):
            p.stop()
        for space in self._end_containers():
            network.ip("netns", "delete", space, check=False)
        for p in self.processes[:1]:
            p.stop()
        self.processes = []
        # Mounts of pods' volumes and root file systems; the deepest first.
        mounts = [line.split()[1] for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
        for mount in sorted((m for m in mounts if m.startswith(f"{self.folder}/")), key=len, reverse=True):
            subprocess.run(["umount", "-l", mount], capture_output=True, check=False)
        network.ip("route", "delete", self.pods, check=False)
        network.ip("link", "delete", f"{self.space}h", check=False)
        network.ip("netns", "delete", self.space, check=False)

    def check(self):
        for p in self.processes:
            p.check()

    def ctr(self, *args, check=True):
        done = subprocess.run(["ctr", "-a", str(self.socket), "-n", "k8s.io", *[str(a) for a in args]],
                              capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise RuntimeError(f"ctr {' '.join(map(str, args))}: {done.stderr.strip()}")
        return done.stdout

    def process_of(self, pod, container):
        """Returns the process ID of a container of the pod with that name."""
        for row in self.ctr("task", "list").splitlines()[1:]:
            name, pid, state = row.split()
            labels = json.loads(self.ctr("container", "info", name))["Labels"]
            if state == "RUNNING" and labels.get("io.kubernetes.pod.name") == pod \
                    and labels.get("io.kubernetes.container.name") == container:
                return int(pid)
        raise RuntimeError(f"no container {container} of pod {pod} runs on {self.name}")

    # -- inside

    def _network(self):
        ip, space = network.ip, self.space
        ip("netns", "add", space)
        ip("link", "add", f"{space}h", "type", "veth", "peer", "name", "eth0", "netns", space)
        ip("link", "set", f"{space}h", "master", self.segment.name)
        ip("link", "set", f"{space}h", "up")
        for words in (("address", "add", f"{self.address}/24", "dev", "eth0"), ("link", "set", "eth0", "up"),
                      ("link", "set", "lo", "up"), ("route", "add", "default", "via", self.segment.here)):
            ip(*words, netns=space)
        subprocess.run(inside(space, "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward"), check=True)
        ip("route", "add", self.pods, "via", self.address)

    def knows(self, others):
        """Routes to the pods of other nodes."""
        for other in others:
            if other is not self:
                network.ip("route", "add", other.pods, "via", other.address, netns=self.space)

    def _spawn(self, name, *argv):
        self.processes.append(process.Process(name, self.folder, inside(self.space, *argv)))

    def _containerd(self):
        host, ca = self.registry
        certificates = self.folder / "registries" / host
        certificates.mkdir(parents=True)
        (certificates / "hosts.toml").write_text(f'[host."https://{host}"]\nca = "{ca}"\n')
        (self.folder / "cni").mkdir()
        plugins = [{**NETWORK["plugins"][0], "ipam": {"type": "host-local", "dataDir": str(self.folder / "addresses"),
                                                     "ranges": [[{"subnet": self.pods}]],
                                                     "routes": [{"dst": "0.0.0.0/0"}]}}]
        (self.folder / "cni/pods.conflist").write_text(json.dumps({**NETWORK, "plugins": plugins}))
        config = self.folder / "containerd.toml"
        config.write_text(CONTAINERD.format(folder=self.folder, socket=self.socket, pause=PAUSE, cni=CNI))
        self._spawn("containerd", "containerd", "--config", config)
        pace.wait_for(f"containerd of {self.name}", lambda: self.check() or self._answers(), 60)
        self.ctr("images", "import", parts.paths()["pause"] / "pause.tar")

    def _answers(self):
        return subprocess.run(["ctr", "-a", str(self.socket), "version"], capture_output=True, check=False).returncode == 0

    def _kubeconfig(self, name, user, *groups):
        path = self.folder / f"{name}.conf"
        path.touch(mode=0o600)
        path.write_text(self.plane.kubeconfig_signed(user, groups, server=f"https://{self.plane.guest_endpoint}"))
        return path

    def _kubelet(self):
        config = self.folder / "kubelet.json"
        resolv = self.folder / "resolv.conf"
        resolv.write_text("")
        config.write_text(json.dumps({
            **KUBELET, "containerRuntimeEndpoint": f"unix://{self.socket}", "resolvConf": str(resolv),
            "volumePluginDir": str(self.folder / "plugins"), "podLogsDir": str(self.folder / "pods"),
            "authentication": {**KUBELET["authentication"], "x509": {"clientCAFile": str(self.plane.pki / "ca.crt")}}}))
        self._spawn("kubelet", parts.paths()["kube"] / "kubelet", "--config", config, "--kubeconfig",
                    self._kubeconfig("kubelet", f"system:node:{self.name}", "system:nodes"),
                    "--hostname-override", self.name, "--node-ip", self.address, "--root-dir", self.folder / "kubelet",
                    "--cert-dir", self.folder / "certificates")

    def _proxy(self):
        program = parts.named("kubeproxy") / "kube-proxy"
        self._spawn("kube-proxy", program, "--kubeconfig", self._kubeconfig("kube-proxy", "system:kube-proxy"),
                    "--proxy-mode", "nftables", "--hostname-override", self.name, "--bind-address", self.address,
                    "--cluster-cidr", PODS.format(0).replace("0.0/24", "0.0/16"),
                    # Limits of the whole machine, which a namespace cannot set.
                    "--conntrack-max-per-core", "0", "--conntrack-tcp-timeout-established", "0s",
                    "--conntrack-tcp-timeout-close-wait", "0s")

    def _end_containers(self):
        """Kills all containers. Returns the names of their network namespaces."""
        spaces = set()
        if not self.socket.exists():
            return spaces
        for row in self.ctr("container", "list", "-q", check=False).split():
            described = json.loads(self.ctr("container", "info", row, check=False) or "{}")
            linux = (described.get("Spec") or {}).get("linux", {})
            spaces |= {pathlib.Path(n["path"]).name for n in linux.get("namespaces", [])
                       if n["type"] == "network" and n.get("path")}
            self.ctr("task", "delete", "--force", row, check=False)
            self.ctr("container", "delete", row, check=False)
        return spaces


class LoadBalancer:
    """Gives a Service of type LoadBalancer the address, and leads packets for it to the node that
    answers 200 on the Service's health check port, as load balancers of clouds and MetalLB do."""

    def __init__(self, plane, service, address, nodes):
        self.plane, self.service, self.address, self.nodes = plane, service, address, nodes
        self.leads_to = None
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def stop(self):
        self.ended.set()
        self.thread.join()
        network.ip("route", "delete", f"{self.address}/32", check=False)

    def _run(self):
        while not self.ended.wait(0.5):
            try:
                self._look()
            except (OSError, RuntimeError, KeyError):
                pass  # the plane or a node is starting or stopping

    def _look(self):
        service = self.plane.get(self.service)
        if not service or service["spec"]["type"] != "LoadBalancer":
            return
        if not service["status"]["loadBalancer"].get("ingress"):
            self.plane.api("PATCH", f"{self.service}/status",
                           {"status": {"loadBalancer": {"ingress": [{"ip": self.address}]}}})
        port = service["spec"]["healthCheckNodePort"]
        node = next((n for n in self.nodes if self._is_healthy(n, port)), None)
        if node and node is not self.leads_to:
            network.ip("route", "replace", f"{self.address}/32", "via", node.address)
            self.leads_to = node

    @staticmethod
    def _is_healthy(node, port):
        try:
            with urllib.request.urlopen(f"http://{node.address}:{port}/", timeout=2) as reply:
                return reply.status == 200
        except (urllib.error.URLError, OSError):
            return False
