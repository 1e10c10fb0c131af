#!/usr/bin/env python3
"""Runs the drills of docs/drills.md: something is stuck, and is found and repaired with `drover why` alone.

    tests/drills/run.py [--page] [DRILL ...]

All drills share one `drover up`; each has a machine of its own.  A fault is injected (`drover sim fault`, or an action
of an operator).  The text of `drover why` without a name must then have a row of the machine whose first line names the
cause, and below it the command that helps.  The cause is removed at the machine, as an operator would do it.  The
printed line, run unchanged, must then resolve the problem.  Some problems end by themselves: their row has no command.
--page keeps Chromium open on the page of the view: for each drill it must show, without a search, an entry with the
same reason and command, and no longer once the problem is resolved.  No VM and no network.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "real"))
import up as real_up  # noqa: E402  (tests/real/up.py)
from testbed import browser, pace, page  # noqa: E402

demo, DROVER, ROOT = real_up.demo, real_up.DROVER, real_up.ROOT
RACK = "topology.drover.dev/rack"
SPEED = 4


@dataclasses.dataclass(frozen=True)
class Drill:
    """One drill: the fault, the expected output of `drover why`, the command, and the state at the end."""
    name: str            # name of the drill in docs/drills.md
    begin: tuple         # steps that make the machine stuck: methods of Scene with their arguments
    says: str            # regular expression that the first line of a row of `drover why` must match
    verb: str            # beginning of the command of this row; "": the problem ends by itself
    mend: tuple = ()     # steps of the operator at the machine, before the command
    end: str = "free"    # state of the machine after the command
    over: str = ""       # not "": after the command, `drover why` must no longer print that row
    slow_s: int = 120    # time limit, on a quiet machine, until `drover why` prints the row


DRILLS = (
    Drill("bmc-hangs", (("fault", "BmcHang"),), r"free .*BmcUnreachable", "drover retry", (("well",),)),
    Drill("login-refused", (("fault", "BmcStatus", "--value", "401"),), r"free .*BmcAuthFailed: https://.* Secret rack-bmc ",
          "drover retry", (("well",),)),
    Drill("port-does-not-move", (("fault", "PortLie"), ("pod",)), r"attaching .*NetworkNotConfirmed: .*MAC address.* in ",
          "drover retry", (("well",),), end="serving"),
    Drill("drive-pulled-while-imaging", (("fault", "PullDrive", "--when", "write", "--count", "1"), ("pod",)),
          r"quarantined .*DriveMissing", "drover approve", (("put_drives_back",), ("unpod",))),
    Drill("drive-lost-at-inspection", (("serves",), ("fault", "PullDrive", "--when", "inspect", "--count", "1"), ("unpod",)),
          r"quarantined .*DriveMissing", "drover approve", (("put_drives_back",),)),
    Drill("drive-refuses-the-wipe", (("serves",), ("fault", "WipeFails", "--when", "wipe"), ("unpod",)),
          r"quarantined .*DriveFailed", "drover approve", (("well",),)),
    Drill("drive-lies", (("serves",), ("fault", "DriveLies", "--when", "wipe"), ("unpod",)),
          r"quarantined .*CanaryLost", "drover approve", (("well",),)),
    Drill("agent-of-another-version", (("fault", "AgentVersion"), ("pod",)),
          r"claimed .*AgentVersionMismatch: .*version sim-other, speaks protocol 2", "drover retry", (("well",),), end="serving"),
    Drill("drive-unreadable-at-proof", (("serves",), ("fault", "DriveUnreadable", "--when", "verify"), ("unpod",)),
          r"quarantined .*DriveFailed", "drover approve", (("well",),)),
    Drill("power-does-not-go-off", (("serves",), ("fault", "PowerLie"), ("unpod",)),
          r"stopping .*PowerNotConfirmed: https://.* still reports On", "drover retry", (("confirm_off_is_refused",), ("well",))),
    Drill("bmc-silent-while-stopping", (("serves",), ("fault", "BmcHang"), ("unpod",)), r"stopping .*BmcUnreachable",
          "drover retry", (("well",),)),
    Drill("port-stays-with-the-tenant", (("serves",), ("fault", "PortLie"), ("unpod",)),
          r"isolating .*NetworkNotConfirmed: .*MAC address.* in tenant/team-a", "drover retry", (("well",),)),
    Drill("drain-is-held-up", (("serves",), ("keep_the_pod",), ("drain",)), r"draining .*EvictionBlocked", "drover cancel",
          end="serving"),
    Drill("budget-blocks-the-drain", (("serves",), ("budget",), ("drain",)), r"draining .*EvictionBlocked.*web-gpu-", "drover cancel",
          end="serving"),
    Drill("image-does-not-fit", (("pool", {"digest": "sha256:" + "ab" * 32}), ("pod",)),
          r"nodepool/.*Stopped .*ImageMismatch", "drover resume", (("right_image",),), end="serving"),
    Drill("kubelet-never-joins", (("pool", {}), ("fault", "NoKubelet"), ("pod",)),
          r"nodeclaim/.*Failed .*JoinTimeout: .*BMC answered On .*no Node ", "", (("well",),), end="serving", slow_s=240),
    Drill("token-refused", (("pool", {}), ("pod",), ("refuse_the_token",)),
          r"nodeclaim/.*Failed .*BootstrapTokenRefused: .*API server of tenant team-a refuses .*bootstrap token \(401\)", "",
          end="serving", slow_s=240),
    Drill("token-differs", (("pool", {}), ("fault", "TokenRefused"), ("pod",)),
          r"nodeclaim/.*Failed .*JoinTimeout: .*no Node .*; its bootstrap token existed at .* and the API server accepts it", "",
          (("well",),), end="serving", slow_s=240),
    Drill("tenant-away", (("tenant_away",),), r"virtualcluster/team-b .*Unreachable", "", (("tenant_back",),), over="Unreachable"),
    Drill("node-cordoned-by-a-person", (("serves",), ("cordon",)), r"serving ", "drover release", end="serving", over="held"),
    Drill("power-button-pressed", (("press",),), r"free .*PowerStateUnexpected", "drover approve"),
    Drill("put-aside-by-a-colleague", (("verb", "quarantine", "--reason", "RMA-881"),), r"quarantined .*RMA-881",
          "drover release"),
    Drill("nobody-let-drover-act", (("observe",),), r"free .*Observed", "drover approve", over="held"),
)


class Page:
    """Chromium on the page of the view, shared by the threads of all drills."""

    def __init__(self, up):
        self.lock, self.browser = threading.Lock(), browser.Browser(up.folder)
        page.connect(self.browser, pace.wait_for("the address of the page", lambda: page.address_of(up.host), 60), up.host.token)
        self.browser.until("the page", lambda: self.browser.text("#live") == "Live")

    def entries(self):
        """What needs attention: (first line as `drover why` prints it, command, since) of each entry."""
        with self.lock:
            entries = page.attention(self.browser)
        return [(f"{e['object']}  " + " ".join(x for x in (e["state"], e["age"]) if x) + (f", {e['why']}" if e["why"] else ""),
                 e["command"], e["since"]) for e in entries]


def reason_of(line):
    """The part of a first line between the age and the message."""
    return line.partition(", ")[2].partition(":")[0]


class Scene:
    """The machine of a drill, and the steps that change it. page: None without --page."""

    def __init__(self, up, number, shown):
        self.up, self.number, self.machine, self.page = up, number, f"gpu-{number}", shown
        self.selector = {}   # of the pod, beside its machine
        self.digest = ""     # of the image that the rack serves
        self.server = ""     # address of the API server of team-b

    def drover(self, *args):
        return subprocess.run([DROVER, *args], capture_output=True, text=True, timeout=pace.limit(60), check=False)

    def host(self, verb, *args):
        return self.drover(verb, "--kubeconfig", f"{self.up.folder}/host.conf", *args)

    def state(self):
        return self.up.host.call("GET", f"{demo.API}/machines/{self.machine}").get("status", {}).get("state")

    def until(self, what, done, limit_s=180):
        self.up.until(f"{self.machine}: {what}", done, limit_s)

    def patch(self, path, body, cluster=None):
        (cluster or self.up.host).call("PATCH", path, body)

    def aisle(self, what, body):
        rack = pathlib.Path(self.up.folder, "rack")
        url = f"{(rack / 'url').read_text().strip()}/sim/machines/{self.machine}/{what}"
        request = urllib.request.Request(url, data=json.dumps(body).encode(), method="POST")
        with urllib.request.urlopen(request, timeout=30, context=self.up.host.tls) as reply:
            return json.load(reply)

    # --- steps ------------------------------------------------------------------------------------

    def fault(self, *args):
        done = self.drover("sim", "fault", "--rack", f"{self.up.folder}/rack", self.machine, *args)
        assert done.returncode == 0, done.stderr

    def well(self):
        done = self.drover("sim", "fault", "--rack", f"{self.up.folder}/rack", "--clear", self.machine)
        assert done.returncode == 0, done.stderr

    def pod(self):
        pod = demo.gpu_pod(self.machine)
        pod["metadata"]["labels"] = {"app": self.machine}
        pod["spec"]["nodeSelector"] = {RACK: self.machine, **self.selector}
        self.up.tenant.call("POST", demo.PODS, pod)

    def unpod(self):
        self.up.tenant.call("DELETE", f"{demo.PODS}/{self.machine}")

    def serves(self):
        self.pod()
        self.until("serving", lambda: self.state() == "serving" and self.up.runs(self.machine), 240)

    def node(self):
        return self.up.pod(self.machine)["spec"]["nodeName"]

    def keep_the_pod(self):
        """Adds a finalizer to the pod, so that its deletion does not complete."""
        self.patch(f"{demo.PODS}/{self.machine}", {"metadata": {"finalizers": ["example.com/checkpoint"]}}, self.up.tenant)

    def drain(self):
        done = self.host("drain", self.machine, "--reason", "fan", "--deadline", "2h")
        assert done.returncode == 0, done.stderr

    def cordon(self):
        self.patch(f"/api/v1/nodes/{self.node()}", {"spec": {"unschedulable": True}}, self.up.tenant)

    def press(self):
        self.aisle("press", {})

    def pull_the_plug(self):
        self.aisle("plug", {"in": False})

    def put_drives_back(self):
        self.well()
        for drive in (0, 1):
            self.aisle("pull-drive", {"drive": drive, "pulled": False})

    def verb(self, verb, *args):
        done = self.host(verb, self.machine, *args)
        assert done.returncode == 0, done.stderr

    def observe(self):
        self.patch(f"{demo.API}/machines/{self.machine}", {"spec": {"managementPolicy": "Observe"}})

    def confirm_off_is_refused(self):
        done = self.host("confirm-off", self.machine, "--yes")
        assert done.returncode == 1 and "reports On" in done.stderr, done

    def budget(self):
        self.up.tenant.call("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", {
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": f"web-{self.machine}"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": self.machine}}}})

    def pool(self, image):
        """Creates a pool for this machine alone, with another image and a short time to boot."""
        pool = self.up.host.call("GET", f"{demo.API}/nodepools/h100")
        spec = pool["spec"]
        self.digest = spec["template"]["spec"]["images"][0]["digest"]
        spec["template"]["spec"]["images"][0].update(image)
        spec["deadlines"]["booting"] = "1m"
        self.up.host.call("POST", f"{demo.API}/nodepools", {
            "apiVersion": pool["apiVersion"], "kind": "NodePool", "metadata": {"name": f"pool-{self.machine}"}, "spec": spec})
        self.selector = {"drover.dev/nodepool": f"pool-{self.machine}"}

    def of_pod(self):
        """What drover why says of the drill's pod."""
        return subprocess.run([DROVER, "why", f"team-a/default/{self.machine}", "--kubeconfig", f"{self.up.folder}/host.conf"],
                              capture_output=True, text=True, timeout=pace.limit(60), check=False).stdout

    def refuse_the_token(self):
        """Lets the API server of team-a refuse the bootstrap token of this machine, once the token was created."""
        path = "/api/v1/namespaces/kube-system/secrets"
        claim = f"pool-{self.machine}-"

        def mine():
            return next((s["metadata"]["name"] for s in self.up.tenant.call("GET", path)["items"]
                         if s["metadata"].get("labels", {}).get("drover.dev/nodeclaim", "").startswith(claim)), "")
        self.until("the bootstrap token", mine, 120)
        self.patch(f"{path}/{mine()}", {"stringData": {"usage-bootstrap-authentication": "false"}}, self.up.tenant)

    def right_image(self):
        path = f"{demo.API}/nodepools/pool-{self.machine}"
        images = self.up.host.call("GET", path)["spec"]["template"]["spec"]["images"]
        images[0]["digest"] = self.digest
        self.patch(path, {"spec": {"template": {"spec": {"images": images}}}})

    def tenant_away(self):
        path = f"{demo.API}/virtualclusters/team-b"
        self.server = self.up.host.call("GET", path)["spec"]["server"]
        self.patch(path, {"spec": {"server": "https://127.0.0.1:9"}})

    def tenant_back(self):
        self.patch(f"{demo.API}/virtualclusters/team-b", {"spec": {"server": self.server}})

    # --- checks -----------------------------------------------------------------------------------

    def rows(self):
        """Returns (first line, command) of each row of the text of `drover why` that is about this drill."""
        done = self.host("why")
        assert done.returncode == 0, done.stderr
        rows = []
        for line in done.stdout.splitlines():
            if re.match(r"  \S", line):
                rows.append((line.strip(), ""))
            elif rows and line.startswith("      then run:"):
                rows[-1] = (rows[-1][0], line.partition(":")[2].strip())
        return [r for r in rows if self.is_about(r[0])]

    def is_about(self, line):
        about = rf"{self.machine}(?!\d)" + ("|team-b$" if self.server else "")
        return re.search(about, line.split()[0])

    @staticmethod
    def wanted(drill, rows):
        """Returns the row that the drill expects; None: there is no such row."""
        for row in rows:
            if re.search(drill.says, row[0]) and (row[1].startswith(drill.verb) if drill.verb else not row[1]):
                return row
        return None

    def row(self, drill):
        return self.wanted(drill, self.rows())

    def entry(self, drill):
        """Returns the entry of the page that the drill expects; None: there is no such entry."""
        return self.wanted(drill, [e for e in self.page.entries() if self.is_about(e[0])])

    def check_page(self, drill, line, command):
        found = []
        self.until(f"the page shows {drill.says}", lambda: found.append(self.entry(drill)) or found[-1], 60)
        shown, run_this, since = found[-1]
        assert reason_of(shown) == reason_of(line) and run_this == command and since, (found[-1], line, command)

    def go(self, drill):
        for name, *args in drill.begin:
            getattr(self, name)(*args)
        found = []
        self.until(f"why says {drill.says} and {drill.verb}", lambda: found.append(self.row(drill)) or found[-1], drill.slow_s)
        line, command = found[-1]
        if self.page:
            self.check_page(drill, line, command)
        for name, *args in drill.mend:
            getattr(self, name)(*args)
        if command:
            env = {**os.environ, "KUBECONFIG": f"{self.up.folder}/host.conf"}
            words = shlex.split(command)
            assert words[0] == "drover", command
            done = subprocess.run([DROVER, *words[1:]], env=env, capture_output=True, text=True, timeout=pace.limit(60), check=False)
            assert done.returncode == 0, (command, done.stderr)
        if drill.over:
            self.until("why has no more of it", lambda: not self.row(drill), 120)
        self.until(drill.end, lambda: self.state() == drill.end, 400)
        if self.page:
            self.until("the page has no more of it", lambda: not self.entry(drill), 120)
        return f"{drill.name}: {line} -> {command or '(by itself)'} -> {drill.end}"


def run(scene, drill, results):
    try:
        results[drill.name] = (True, scene.go(drill))
    except BaseException as e:  # noqa: B036  a failed drill must not end the others
        results[drill.name] = (False, f"{drill.name}: {type(e).__name__}: {e}\n    why says: {scene.rows()}\n    of its pod: {scene.of_pod()}")
    print(("  " if results[drill.name][0] else "  FAILED ") + results[drill.name][1], flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("drills", nargs="*", metavar="DRILL")
    args = parser.parse_args()
    wanted, shown = args.drills, None
    drills = [d for d in DRILLS if not wanted or d.name in wanted]
    if len(drills) != len(wanted or DRILLS):
        sys.exit(f"no such drill; there are: {', '.join(d.name for d in DRILLS)}")
    real_up.SPEED = SPEED
    results = {}
    with tempfile.TemporaryDirectory(prefix="drover-drills-") as folder:
        up = real_up.Up(f"{folder}/data", machines=len(drills))
        try:
            pace.learn("drover up's start", up.start(), real_up.QUIET_READY_S * 3)
            # All drills run at once, and most have a pod of team-a on a machine of its own.
            up.host.call("PATCH", f"{demo.API}/virtualclusters/team-a",
                         {"spec": {"quota": {"nvidia.com/gpu": str(16 * len(drills))}}})
            for number in range(1, len(drills) + 1):
                up.host.call("PATCH", f"{demo.API}/machines/gpu-{number}",
                             {"metadata": {"labels": {RACK: f"gpu-{number}"}}})
            up.until("all free", lambda: set(up.states().values()) == {"free"}, 120)
            shown = Page(up) if args.page else None
            threads = [threading.Thread(target=run, args=(Scene(up, n, shown), d, results)) for n, d in enumerate(drills, 1)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            assert not shown or not shown.browser.errors(), shown.browser.errors()
            if not all(ok for ok, _ in results.values()):
                up.tell()
        finally:
            if shown:
                shown.browser.close()
            up.kill()
    passed = sum(ok for ok, _ in results.values())
    print(f"{passed} passed, {len(results) - passed} failed")
    return 0 if passed == len(drills) else 1


if __name__ == "__main__":
    sys.exit(main())
