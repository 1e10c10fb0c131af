"""A fleet whose controllers are killed, stopped and replaced.

Its BMCs have sessions (testbed.session_proxy), and one address leads to the current leader
(testbed.door), as in production.
"""
import http.client
import json
import os
import pathlib
import signal
import sys
import threading
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fleet  # noqa: E402  (beside this file)
import testbed  # noqa: E402
from testbed import door, process, session_proxy  # noqa: E402

PORTS = ("agent", "media", "ops")
SLICE = "/apis/discovery.k8s.io/v1/namespaces/drover-system/endpointslices/drover-leader"
SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "drover", "namespace": "drover-system"},
           "spec": {"ports": [{"name": "agent", "port": 8443}, {"name": "media", "port": 8080}]}}
LEASE = "/apis/coordination.k8s.io/v1/namespaces/drover-system/leases/drover-controller"


class Replica:
    """One `drover run`; after a kill the same object starts again, with the same ports and log."""

    def __init__(self, fleet_, name):
        self.fleet, self.name = fleet_, name
        self.program = fleet.DROVER
        self.ports = {p: testbed.free_port() for p in PORTS}
        self.process = None
        self.log_from = 0  # offset up to which a test has read the log

    def leader_service(self):
        """Arguments for the Service. The pod's address is one that the API server accepts; nothing
        connects to it."""
        return ["--leader-service", "drover", "--pod-ip", f"192.0.2.{1 + self.fleet.drover.all.index(self)}",
                "--node-name", f"node-of-{self.name}"]

    def start(self, identity=None):
        f = self.fleet
        host = "0.0.0.0" if f.service else "127.0.0.1"
        self.process = process.Process(self.name, f.folder, [
            self.program, "run", "--kubeconfig", f.drover_config(),
            "--identity", identity or self.name, "--allow-exec", fleet.DRIVER,
            "--agent-image", fleet.ISO, "--agent-image-key", fleet.image_key(),
            "--agent-listen", f"{host}:{self.ports['agent']}",
            *[a for name in f.agent_names for a in ("--agent-name", name)],
            "--media-listen", f"{host}:{self.ports['media']}",
            "--ops-listen", f"127.0.0.1:{self.ports['ops']}", *(self.leader_service() if f.service else ())],
            env={"PATH": "/usr/bin:/bin", **{k: v for k, v in os.environ.items()
                                              if k.startswith(("ASAN", "UBSAN"))}})
        return self

    def ops(self, path):
        """Returns (status, text) of its operations endpoint; (0, "") without an answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.ports['ops']}{path}",
                                        timeout=5) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as e:
            return e.code, ""
        except OSError:
            return 0, ""

    def signal(self, number):
        os.kill(self.process.pid, number)

    def kill(self):
        """Kills the process like a crash: nothing is reported or released."""
        self.signal(signal.SIGKILL)
        self.process.stop(grace_s=0)


class Replicas:
    """Fleet's process, when there are several replicas."""

    def __init__(self):
        self.all = []
        self.lock = threading.RLock()  # held while a replica is killed and restarted

    def check(self):
        with self.lock:
            for r in self.all:
                if r.process:
                    r.process.check()

    def stop(self):
        with self.lock:
            for r in self.all:
                if r.process:
                    r.process.stop()


class Fleet(fleet.Fleet):
    """Like fleet.Fleet, with one machine, BMC sessions, a door, and replicas started by hand."""

    def __init__(self, folder, prefix, hold=None, names=("drover-1",), isolated=False, service=False):
        """service: the door follows the EndpointSlice of the Service drover, not /leadz."""
        super().__init__(folder, machines=1, prefix=prefix, isolated=isolated)
        self.service = service
        self.hold, self.proxy, self.door, self.watch = hold, None, None, None
        self.identity = None  # name of the first replica; None: its default
        self.on_watch = None  # called before drover starts, when the watch of machines runs
        self.agent_names = ("10.0.2.2",)
        self.drover = Replicas()
        self.drover.all = [Replica(self, n) for n in names]

    def drover_config(self):
        path = self.folder / "drover.conf"
        if not path.exists():
            path.touch(mode=0o600)
            path.write_text(self.host.kubeconfig_for("drover-system", "drover"))
        return path

    def apply_objects(self):
        if self.service:
            self.host.apply(SERVICE)
        self.proxy = session_proxy.SessionProxy(self.rack, self.hold)
        super().apply_objects()

    def machine(self, vm):
        m = super().machine(vm)
        m["spec"]["bmc"]["address"] = vm.bmc_url.replace(self.rack.url, self.proxy.url)
        return m

    def start_drover(self):
        (self.folder / "drover.conf").unlink(missing_ok=True)
        self.door = door.Door({p: self.ports[p] for p in ("agent", "media")},
                              lambda: [r for r in self.drover.all if r.process],
                              self.named_by_slice if self.service else None)
        self.watch = Watch(self.host, "machines")
        if self.on_watch:
            self.on_watch()
        self.drover.all[0].start(self.identity)

    def check(self):
        self.watch.check()
        super().check()

    def stop(self):
        for part in (self.watch, self.door):
            if part:
                part.stop()
        super().stop()
        if self.proxy:
            self.proxy.stop()

    @property
    def vm(self):
        return self.rack.machines[0]

    def status(self):
        return self.get("machines", self.vm.name).get("status", {})

    def endpoint(self):
        """Returns the endpoint in the leader's EndpointSlice; {}: there is none."""
        return next(iter((self.host.get(SLICE) or {}).get("endpoints") or []), {})

    def named_by_slice(self):
        """Returns the name of the replica to which the Service leads; None: to none."""
        try:
            there = self.endpoint()
        except (OSError, http.client.HTTPException, testbed.plane.ApiError):
            last = self.door and self.door.leader
            return last and last.name
        return there["targetRef"]["name"] if there.get("conditions", {}).get("ready") else None

    def holder(self):
        """Returns the name in the Lease; None: there is none."""
        return (self.host.get(LEASE) or {"spec": {}})["spec"].get("holderIdentity")

    def logs(self):
        return "".join(p.read_text(errors="replace") for p in self.folder.glob("drover-*.log"))


class Watch:
    """All writes of a kind's objects, in order: calls each function in `on` with the object, in the
    watch's thread, as soon as it arrives; `seen` records (monotonic time, type, object). The kind is
    one of drover's, or one below the path `under`."""

    def __init__(self, plane, plural, under=f"/apis/{fleet.API}"):
        self.plane, self.path = plane, f"{under}/{plural}"
        self.on, self.seen = [], []
        self.ended = False
        self.failed = None
        threading.Thread(target=self._run, daemon=True).start()

    def stop(self):
        self.ended = True

    def check(self):
        """Raises what a function in `on` raised."""
        if self.failed:
            raise self.failed

    def _run(self):
        version = "0"
        while not self.ended:
            wire = http.client.HTTPSConnection("127.0.0.1", self.plane.port, timeout=600,
                                               context=self.plane._context())
            try:
                wire.request("GET", f"{self.path}?watch=1&resourceVersion={version}")
                reply = wire.getresponse()
                while not self.ended:
                    line = reply.readline()
                    if not line:
                        break
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        version = "0"
                        break
                    version = event["object"]["metadata"]["resourceVersion"]
                    self.seen.append((time.monotonic(), event["type"], event["object"]))
                    for call in self.on:
                        call(event["object"])
            except (OSError, http.client.HTTPException):
                time.sleep(0.2)
            except Exception as e:  # a callback failed: check() raises it in the test
                self.failed = e
                return
            finally:
                wire.close()
