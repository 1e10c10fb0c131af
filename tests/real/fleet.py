"""A whole fleet on one machine: a host cluster, two tenants, a rack of VMs, and drover.

Everything except drover is third-party: kube-apiserver, kube-scheduler, kubelet, QEMU, OVMF,
libvirt, sushy-tools. drover runs with the rights of deploy/rbac.yaml, never as admin.
"""
import base64
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import testbed  # noqa: E402  (beside this file)
from testbed import pace, process  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DROVER = ROOT / "build/rel/drover"
ISO = ROOT / "build/image/drover-agent.iso"
API = "drover.dev/v1alpha1"
TENANTS = ("team-a", "team-b")
DRIVER = ROOT / "examples/exec-fabric/bridge-move"
SEGMENTS = {"q-1": "br-q", "p-1": "br-p", "tenant/team-a": "br-a", "tenant/team-b": "br-b"}
QUARANTINE, PROVISIONING = "q-1", "p-1"
GPUS = 8
DEADLINES_S = {"imaging": 300, "booting": 240, "joining": 120, "gating": 120}


def image_key():
    """Returns the public key that signed the image made by `make image`."""
    return ISO.with_suffix(".pub").read_text().strip()


def secret(namespace, name, **data):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": namespace},
            "data": {k.replace("__", "."): base64.b64encode(v.encode()).decode()
                     for k, v in data.items()}}


def gpu_pod(name, gpus=1):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
            "spec": {"terminationGracePeriodSeconds": 1,
                     "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
                     "containers": [{
                         "name": "main", "image": "drover.test/pause:1", "imagePullPolicy": "Never",
                         "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}]}}


class Fleet:
    """start() starts everything, with the machines known and off; stop() stops all of it."""

    proof = "Strong"  # best proof level of its network driver
    later = ()  # tenants whose VirtualCluster start() does not apply

    def __init__(self, folder, machines=2, prefix="drover-fleet", say=print, isolated=False):
        """isolated: each machine has a port that the driver of examples/ moves between segments;
        otherwise machines use QEMU's user network, and the Provider's network type is none."""
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o755)
        self.say = say
        process.sweep(self.folder)
        self.host = testbed.ControlPlane("host", self.folder / "host")
        self.tenants = {t: testbed.ControlPlane(t, self.folder / t) for t in TENANTS}
        self.network = testbed.Network(prefix, self.folder / "network", SEGMENTS) if isolated else None
        self.rack = testbed.Rack(self.folder / "rack", prefix=prefix, count=machines,
                                 network=self.network)
        self.files = testbed.HttpFiles()
        self.ports = {p: testbed.free_port() for p in ("agent", "media", "ops")}
        self.drover = None
        self.extra_args = []
        self.view = View()

    # -- life

    def start(self):
        self.need_image()
        planes = [self.host, *self.tenants.values()]
        for plane in planes:
            plane.start()
        for plane in planes:
            plane.wait_ready()
        if self.network:
            self.start_network()
        self.rack.start()
        self.serve_images()
        self.host.kubectl("apply", "-f", str(ROOT / "deploy/crds"))
        self.host.kubectl("apply", "-f", str(ROOT / "deploy/rbac.yaml"))
        for name, plane in self.tenants.items():
            plane.kubectl("apply", "-f", str(ROOT / "deploy/tenant-rbac.yaml"))
            self.tenant_secret(name, plane)
        self.host.kubectl("wait", "--for=condition=Established", "crd", "--all",
                          f"--timeout={pace.limit(30):.0f}s")
        self.apply_objects()
        self.start_drover()
        return self

    def need_image(self):
        if not ISO.exists():
            raise FileNotFoundError(f"{ISO} is not there: make image")

    def serve_images(self):
        self.image = testbed.parts.paths()["nodeimage"] / "node.raw.zst"
        self.files.add("node.raw.zst", self.image)

    def may_reach(self):
        """Segment -> the only ports of the host that machines in it may reach."""
        agent = self.ports["agent"]
        return {QUARANTINE: [agent], PROVISIONING: [agent, self.files.port],
                **{f"tenant/{name}": [plane.port] for name, plane in self.tenants.items()}}

    def start_network(self):
        self.network.start()
        for segment, ports in self.may_reach().items():
            for port in ports:
                self.network.allow(segment, port)

    def write_driver_config(self, provider, names=None):
        """Writes the configuration of a driver for this Provider and the ports of these names
        (default: the machines'); returns its path."""
        names = names or [vm.name for vm in self.rack.machines]
        path = self.folder / f"bridge-move-{provider}.json"
        path.write_text(json.dumps({
            "netns": self.network.name, "state": str(path.with_suffix(".state")),
            "segments": SEGMENTS, "private": [QUARANTINE, PROVISIONING],
            "ports": {name: [self.network.port(name)] for name in names}}))
        return path

    def tenant_secret(self, name, plane):
        space = f"vc-{name}"
        role = (ROOT / "deploy/tenant-kubeconfig.yaml").read_text().replace("vc-team-a", space)
        self.host.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}},
                        secret(space, space, config=plane.kubeconfig_for("drover-system", "drover")))
        self.host.kubectl("apply", "-f", "-", stdin=role)

    def start_drover(self):
        path = self.folder / "drover.conf"
        path.touch(mode=0o600)
        path.write_text(self.host.kubeconfig_for("drover-system", "drover"))
        self.drover = process.Process("drover", self.folder, [
            DROVER, "run", "--kubeconfig", path, "--identity", "replica-1", *self.machine_args(),
            "--agent-listen", f"127.0.0.1:{self.ports['agent']}",
            "--media-listen", f"127.0.0.1:{self.ports['media']}",
            "--ops-listen", f"127.0.0.1:{self.ports['ops']}", *self.extra_args],
            env={"PATH": "/usr/bin:/bin", **{k: v for k, v in os.environ.items()
                                              if k.startswith(("ASAN", "UBSAN"))}})

    def machine_args(self):
        """Arguments of drover run for these machines: port driver, agent image, agent endpoint."""
        return ["--allow-exec", DRIVER, "--agent-image", ISO, "--agent-image-key", image_key(), "--agent-name", "10.0.2.2"]

    def stop(self):
        if self.drover:
            self.drover.stop()
        self.rack.stop()
        if self.network:
            self.network.stop()
        self.files.stop()
        for plane in (self.host, *self.tenants.values()):
            plane.stop()

    # -- objects

    def image_digest(self):
        return "sha256:" + (self.image.parent / "node.raw.zst.sha256").read_text().split()[0]

    def provider(self):
        return {"apiVersion": API, "kind": "Provider", "metadata": {"name": "rack"}, "spec": {
            "type": "redfish",
            "credentialsSecretRef": {"name": "bmc"},
            "boot": {"methods": ["VirtualMedia"], "mediaURL": self.media_url()},
            "agent": {"endpoint": self.agent_url()},
            "network": self.provider_network(),
            "instanceTypes": [{
                "name": "vm-gpu-8",
                "capacity": {"cpu": "1", "memory": "2Gi", "nvidia.com/gpu": str(GPUS), "pods": "110"},
                "labels": {"nvidia.com/gpu.product": "EMULATED"},
                "rootDevice": {"minBytes": 2 << 30}}],
            "wipe": {"minimumLevel": {"flash": "Clear", "hdd": "Clear"},
                     "minimumTrust": "BootNetwork"}}}

    def media_url(self):
        """Returns drover's address for BMCs."""
        return f"http://127.0.0.1:{self.ports['media']}"

    def agent_url(self):
        """Returns drover's address for machines."""
        return f"https://10.0.2.2:{self.ports['agent']}"

    def provider_network(self):
        if not self.network:
            return {"type": "none", "segments": {"quarantine": "quarantine",
                                                 "provisioning": "provisioning"}}
        return {"type": "exec",
                "exec": {"command": [str(DRIVER), str(self.write_driver_config("rack"))]},
                "segments": {"quarantine": QUARANTINE, "provisioning": PROVISIONING}}

    def pool(self, **template):
        return {"apiVersion": API, "kind": "NodePool", "metadata": {"name": "vm"}, "spec": {
            "virtualClusterSelector": {},
            "template": {"spec": {
                "providerRefs": [{"name": "rack"}],
                "requirements": [{"key": "node.kubernetes.io/instance-type", "operator": "In",
                                  "values": ["vm-gpu-8"]}],
                "taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
                "images": [{"kubernetesVersion": "1.36",
                            "url": self.files.guest_url("node.raw.zst"),
                            "format": "raw+zstd", "digest": self.image_digest()}],
                "network": {"isolation": "Required" if self.network else "NotRequired"},
                **template}},
            "wipe": {"minimumLevel": {"flash": "Clear", "hdd": "Clear"}},
            "deadlines": {state: f"{pace.limit(quiet_s):.0f}s" for state, quiet_s in DEADLINES_S.items()}}}

    def machine(self, vm):
        return {"apiVersion": API, "kind": "Machine", "metadata": {"name": vm.name}, "spec": {
            "providerRef": {"name": "rack"}, "instanceType": "vm-gpu-8",
            "managementPolicy": "Manage",
            "identity": {"systemUUID": vm.uuid},
            "bmc": {"address": vm.bmc_url, "tls": {"caSecretRef": {"name": "bmc-ca"}}},
            "bootMACAddress": vm.mac}}

    def virtual_cluster(self, name):
        plane = self.tenants[name]
        return {"apiVersion": API, "kind": "VirtualCluster",
                "metadata": {"name": name, "labels": {"tier": "research"}}, "spec": {
                    "kubeconfigSecretRef": {"namespace": f"vc-{name}", "name": f"vc-{name}",
                                            "key": "config"},
                    "server": plane.server, "joinEndpoint": plane.guest_endpoint,
                    "quota": {"nvidia.com/gpu": "64"}}}

    def apply_objects(self):
        self.host.apply(
            secret("drover-system", "bmc", username=self.rack.user, password=self.rack.password),
            secret("drover-system", "bmc-ca", ca__crt=pathlib.Path(self.rack.ca_file).read_text()),
            self.provider(), self.pool(),
            *[self.virtual_cluster(t) for t in self.tenants if t not in self.later],
            *[self.machine(vm) for vm in self.rack.machines])

    # -- state

    def get(self, plural, name=None):
        path = f"/apis/{API}/{plural}" + (f"/{name}" if name else "")
        got = self.host.get(path)
        return got if name else (got or {}).get("items", [])

    def states(self):
        return {m["metadata"]["name"]: m.get("status", {}) for m in self.get("machines")}

    def check(self):
        """Raises if drover has ended, or if anything seen of it is wrong."""
        self.drover.check()

    def until(self, what, test, limit_s):
        """Waits until test() returns something true, and returns it. Draws the rows meanwhile."""
        def look():
            self.check()
            self.view.show(self.states(), what)
            return test()
        return testbed.wait_for(what, look, limit_s, 0.2)

    def wait_state(self, state, names=None, limit_s=240):
        """Waits until the named machines (default: all) are in that state."""
        def done():
            now = self.states()
            wanted = names or list(now)
            return wanted and all(now.get(n, {}).get("state") == state for n in wanted)
        self.until(f"machines {state}", done, limit_s)

    def condition(self, name, kind):
        """Returns "STATUS REASON" of a VirtualCluster's condition; "": no such condition."""
        conditions = self.get("virtualclusters", name).get("status", {}).get("conditions", [])
        return next((f"{c['status']} {c['reason']}" for c in conditions if c["type"] == kind), "")

    def give_back(self, tenant, pod, claim, limit_s=300):
        """Deletes the pod and its claim, and waits until the machine is free, wiped after this
        tenancy, and without a Node. Returns the machine's name."""
        name = self.get("nodeclaims", claim)["spec"]["machineRef"]["name"]
        tenancy = self.states()[name]["tenancy"]
        self.tenants[tenant].kubectl("delete", "pod", pod, "--wait=false")
        self.host.kubectl("delete", "nodeclaim", claim, "--wait=false")
        self.until(f"{name} free", lambda: self.states()[name]["state"] == "free", limit_s)
        self.view.done()
        assert self.states()[name]["lastWipe"]["tenancy"] == tenancy, self.states()[name]["lastWipe"]
        for plane in (self.host, *self.tenants.values()):
            assert not plane.node(claim), f"the Node is still in {plane.name}"
        return name

    def last_words(self):
        """Prints the first things to check after a failure: the end of drover's log, each machine's
        state, and the last output of each machine."""
        self.view.done()
        for log in sorted(self.folder.glob("drover*.log")):
            print(f"\nIt did not work; the end of {log}:", flush=True)
            print("\n".join(log.read_text(errors="replace").splitlines()[-25:]), flush=True)
        try:
            now = self.states()
        except Exception as failed:  # pylint: disable=broad-except  # the plane may be what did not work
            print(f"machines: {failed}", flush=True)
            now = {}
        for vm in self.rack.machines:
            status = now.get(vm.name, {})
            waits = {k: status.get("operation", {}).get(k) for k in ("waitingFor", "lastError")}
            print(f"\n{vm.name}: {status.get('state')} since {status.get('stateSince')}, {vm.power()}, {doing(status)}, "
                  f"{json.dumps({k: v for k, v in waits.items() if v})}, {vm.processor()}; "
                  f"the end of {vm.console}:", flush=True)
            print("\n".join(vm.console_text().splitlines()[-6:]), flush=True)

    def pod_running(self, tenant, name):
        pod = self.tenants[tenant].get(f"/api/v1/namespaces/default/pods/{name}")
        started = [c["state"]["running"]["startedAt"]
                   for c in (pod or {}).get("status", {}).get("containerStatuses", [])
                   if "running" in c.get("state", {})]
        return pod if started else None


def doing(status):
    """Returns the step, with the progress if the agent reports it."""
    operation = status.get("operation") or {}
    progress = operation.get("progress")
    if not progress:
        return operation.get("step") or ""
    done, total = progress.get("doneBytes", 0), progress.get("totalBytes", 0)
    return f"{progress.get('phase', '')} {f'{100 * done // total} %' if total else ''}"


class View:
    """Machines as rows on a terminal, or one line for each change elsewhere."""

    def __init__(self, out=sys.stdout):
        self.out = out
        self.live = out.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.began = time.monotonic()
        self.last = {}
        self.since = {}
        self.spans = {}  # machine -> [(state, seconds)]
        self.rows = 0

    def show(self, states, extra=""):
        now = time.monotonic()
        for name, status in sorted(states.items()):
            state = status.get("state", "new")
            if self.last.get(name) == state:
                continue
            if name in self.last:
                self.spans.setdefault(name, []).append((self.last[name], now - self.since[name]))
            self.last[name], self.since[name] = state, now
            if not self.live:
                print(f"{now - self.began:7.1f} s  {name:16} {state:12} {self.tenant(status)}",
                      file=self.out, flush=True)
        if self.live:
            self.draw(states, now, extra)

    @staticmethod
    def tenant(status):
        return (status.get("tenant") or {}).get("name", "")

    def draw(self, states, now, extra):
        lines = [f"\033[1m{'MACHINE':18}{'STATE':13}{'FOR':>7}  {'TENANT':9}DOING\033[0m"]
        colour = {"free": 32, "serving": 36, "quarantined": 31}
        for name, status in sorted(states.items()):
            state = status.get("state", "new")
            lines.append(f"{name:18}\033[{colour.get(state, 33)}m{state:13}\033[0m"
                         f"{now - self.since[name]:6.0f}s  {self.tenant(status):9}{doing(status)}")
        lines.append(f"{now - self.began:6.0f} s  {extra}")
        if self.rows:
            self.out.write(f"\033[{self.rows}A")
        self.out.write("".join(f"\033[2K{line}\n" for line in lines))
        self.out.flush()
        self.rows = len(lines)

    def done(self):
        """Continues below the rows from here on."""
        self.rows = 0


def bench(name, value, unit, goal, better, reference, n=1):
    """Writes one entry of build/bench.json; runs are compared by name, so a name must not change."""
    path = ROOT / "build/bench.json"
    entries = json.loads(path.read_text()) if path.exists() else []
    cpu = subprocess.run(["sh", "-c", "grep -m1 'model name' /proc/cpuinfo | cut -d: -f2"],
                         capture_output=True, text=True, check=False).stdout.strip()
    entries = [e for e in entries if e["name"] != name]
    entries.append({"name": name, "value": round(value, 2), "unit": unit, "goal": goal,
                    "better": better, "reference": {"name": reference[0], "value": reference[1]},
                    "ratio": round(value / reference[1], 3) if reference[1] else None,
                    "n": n, "cpu": cpu})
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(entries, indent=1) + "\n")
    print(f"bench  {name} = {value:.2f} {unit} (goal {goal})", flush=True)
