#!/usr/bin/env python3
"""drover's promises, tested against the real kube-scheduler.

    tests/real/scheduler.py [--cases 40] [--seed 1] [--only CASE] [--folder DIR] [--verbose]

Cases are random: existing Nodes with pods, waiting pods, and machines that could be claimed. For
each:

    1  kube-scheduler gets the Nodes and the pods, and marks pods without a place Unschedulable
    2  drover plans for the resulting state of the API server (tests/real/plan_objects.c)
    3  the planned Nodes are created, with the labels, taints and capacity that drover predicts
    4  kube-scheduler has to bind each pod that was promised a place, without further Nodes
    5  it must leave each pod unbound for which drover sees no machine, with one Node of every type

kube-scheduler chooses among Nodes with free capacity by its own scores, so it may fill them
differently than drover, until a pod with a planned place is left over. Such a case is repeated with
the planned Node as each pod's nominatedNodeName, which kube-scheduler uses if its own filters admit
it: then all pods have to be bound. The number of these pods is printed. No kubelet and no virtual
machine: kube-scheduler binds to Node objects.
"""
import argparse
import collections
import http.client
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import scheduler_cases as cases
import testbed
from testbed import pace, parts

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PLANNER = ROOT / "build/rel/tests/real/plan_objects"
LOOK_S = 0.02
TRIES = 5
UNBOUND = "?fieldSelector=spec.nodeName="
QUIET_S = 1.5  # time without a binding after which none is expected
SCHEDULER = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {{kubeconfig: {folder}/scheduler.conf, qps: 5000, burst: 5000}}
leaderElection: {{leaderElect: false}}
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 1
"""
# Reasons that drover gives if no existing machine type fits a pod.
NEVER = ("TooBig", "RequirementsNotMet", "TaintNotTolerated")
# The controllers that would maintain these objects do not run here.
OFF = "ServiceAccount,TaintNodesByCondition"
# Tolerations Gt and Lt; alpha in 1.36.
FEATURES = "--feature-gates=TaintTolerationComparisonOperators=true"


class Plane(testbed.ControlPlane):
    """etcd, kube-apiserver and kube-scheduler only: no controller changes the objects of a case."""

    def __init__(self, folder):
        super().__init__("scheduler", folder, apiserver_args=[f"--disable-admission-plugins={OFF}", FEATURES])
        self.connection = None

    def wait_ready(self, limit_s=60):
        pace.wait_for("the API server", self._answers, limit_s)
        config = self.folder / "scheduler.yaml"
        config.write_text(SCHEDULER.format(folder=self.folder))
        self._spawn("kube-scheduler", [
            parts.paths()["kube"] / "kube-scheduler", f"--config={config}", "--secure-port=0", FEATURES])
        return self

    def api(self, method, path, body=None, content_type=None):
        """Sends a request over one persistent connection."""
        kind = content_type or ("application/merge-patch+json" if method == "PATCH" else "application/json")
        if not self.connection:
            self.connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=pace.limit(30),
                                                          context=self._context())
        self.connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": kind})
        reply = self.connection.getresponse()
        text = reply.read()
        if reply.status >= 300:
            raise testbed.plane.ApiError(reply.status, text.decode(errors="replace"))
        return json.loads(text or b"null")


class Planner:
    """drover's planner, for one world after another."""

    def __init__(self):
        self.process = subprocess.Popen([PLANNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def plan(self, world):
        self.process.stdin.write(json.dumps(world) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("plan_objects has ended")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def key(pod):
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def path_of(pod):
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def is_told(pod):
    """True if kube-scheduler has reported a result for the pod."""
    return "nodeName" in pod["spec"] or any(c["type"] == "PodScheduled" for c in pod["status"].get("conditions", []))


class Stale(Exception):
    """kube-scheduler has bound a pod to a Node of an earlier case, before it learned of the
    deletion."""


class Run:
    def __init__(self, plane, planner, verbose):
        self.plane, self.planner, self.verbose = plane, planner, verbose
        self.sum = collections.Counter()
        self.wrong = []

    # -- the cluster

    def clean(self):
        at_once = {"gracePeriodSeconds": 0}
        for ns in cases.NAMESPACES:
            self.plane.api("DELETE", f"/api/v1/namespaces/{ns}/pods", at_once)
        self.plane.api("DELETE", "/api/v1/nodes", at_once)

    def pods(self, which=""):
        return {key(p): p for p in self.plane.api("GET", f"/api/v1/pods{which}")["items"]}

    def make_pods(self, pods):
        for p in pods:
            self.plane.api("POST", path_of(p).rpartition("/")[0], p)

    def make_nodes(self, nodes):
        for n in nodes:
            self.plane.api("POST", "/api/v1/nodes", n)

    def settled(self, case):
        """Returns the pods, once kube-scheduler has reported a result for each."""
        pace.wait_for("kube-scheduler to look at each pod",
                      lambda: all(map(is_told, self.pods(UNBOUND).values())), 20, LOOK_S)
        pods = self.pods()
        if not all(case.owns(p["spec"].get("nodeName")) for p in pods.values()):
            raise Stale
        return pods

    def bound(self, wanted):
        """Returns the pods of `wanted` that are still unbound when nothing more happens."""
        last, since = None, time.monotonic()
        while True:
            unbound = self.pods(UNBOUND)
            left = [w for w in wanted if w in unbound]
            now = time.monotonic()
            if left != last:
                last, since = left, now
            if not left or now - since > pace.limit(QUIET_S):
                return left
            time.sleep(LOOK_S)

    # -- one case

    def confirm(self, make):
        for _ in range(TRIES):
            try:
                return self.once(make())
            except Stale:
                self.sum["begun again"] += 1
            except testbed.plane.ApiError as e:
                return f"the case is none: {e}"
        return "kube-scheduler does not hear which Nodes are there"

    def once(self, case):
        """Runs the case; returns None, or what was wrong."""
        self.clean()
        self.make_nodes(case.nodes)
        self.make_pods(case.bound)
        for p in case.waiting:  # created first, since the other pods have to yield to them
            if p["metadata"]["name"] in case.nominated:
                self.make_nominated(p, case.nominated[p["metadata"]["name"]])
        self.make_pods(p for p in case.waiting if p["metadata"]["name"] not in case.nominated)
        self.sum["nominated"] += len(case.nominated)
        pods = self.settled(case)
        world = {**case.supply, "nodes": case.nodes, "pods": list(pods.values())}
        plan = self.planner.plan(world)
        new = [case.node_of(f"new-{i}", c) for i, c in enumerate(plan["claims"])]
        promised, never = {}, []
        for p in plan["pods"]:
            name = f"{p['namespace']}/{p['name']}"
            self.sum["pods"] += 1
            if p["outcome"] == "nothing":
                self.sum[p["reasons"][0][0]] += 1
                if p["reasons"][0][0] in NEVER:
                    never.append((name, p["reasons"][0]))
            else:
                promised[name] = case.name(f"new-{p['claim']}") if p["outcome"] == "new" else p["target"]
        if self.verbose:
            print(json.dumps({"plan": plan}, indent=1))
        self.sum["nodes opened"] += len(new)
        self.sum["promises"] += len(promised)
        self.make_nodes(new)
        left = self.bound(promised)
        if left:
            self.sum["packed another way"] += 1
            self.sum["of them left over"] += len(left)
            wrong = self.as_planned(case, pods, promised, {name for name, _ in never})
            if wrong:
                return f"{wrong}\nat first {left}"
        return self.never_fit(case, never) if never else None

    def as_planned(self, case, before, promised, never):
        """Runs the case again in the order of the plan, with each pod's Node nominated. Pods that
        were bound before stay, and so do nominated pods that fit nowhere, because kube-scheduler
        counts them. A pod that waits for another one to be placed is retried."""
        again = {key(p): p for p in case.waiting}
        self.drop(p for name, p in again.items() if "nodeName" not in before[name]["spec"] and
                  (name not in never or p["metadata"]["name"] not in case.nominated))
        left = [name for name in promised if "nodeName" not in before[name]["spec"]]
        while left:
            last, left = left, [name for name in left if not self.nominated(again[name], promised[name])]
            if left == last:
                break
            self.drop(again[name] for name in left)
        pods = self.pods() if left else {}
        return "; ".join(f"{name} was promised {promised[name]}, and: {said(pods[name])}" for name in left)

    def drop(self, pods):
        for p in pods:
            self.plane.api("DELETE", path_of(p), {"gracePeriodSeconds": 0})

    def make_nominated(self, pod, node):
        """Creates a pod with a nominated Node; a scheduling gate keeps kube-scheduler away until
        then."""
        gated = {**pod["spec"], "schedulingGates": [{"name": "drover.test/wait"}]}
        self.make_pods([{**pod, "spec": gated}])
        self.plane.api("PATCH", f"{path_of(pod)}/status", {"status": {"nominatedNodeName": node}})
        self.plane.api("PATCH", path_of(pod), {"spec": {"schedulingGates": []}})

    def nominated(self, pod, node):
        """True if the pod is bound."""
        self.make_nominated(pod, node)
        return not self.bound([key(pod)])

    def never_fit(self, case, never):
        """Checks that with one empty Node of each type none of these pods is bound."""
        waiting = {key(p): p for p in case.waiting}
        self.clean()
        self.make_nodes(case.one_of_each())
        self.make_pods([waiting[name] for name, _ in never])
        pods = self.settled(case)
        self.sum["told never"] += len(never)
        return "; ".join(f"{name} is on {pods[name]['spec']['nodeName']}, and drover said {why}"
                         for name, why in never if "nodeName" in pods[name]["spec"])


def said(pod):
    return next((c.get("message", c["reason"]) for c in pod["status"].get("conditions", [])
                 if c["type"] == "PodScheduled"), "nothing")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--cases", type=int, default=40)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", type=int, help="one case")
    p.add_argument("--folder", type=pathlib.Path)
    p.add_argument("--verbose", action="store_true", help="print the worlds and plans")
    args = p.parse_args()
    folder = args.folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-scheduler-"))
    folder.mkdir(parents=True, exist_ok=True)
    testbed.process.sweep(folder)
    timer = testbed.Timer()
    plane, planner = Plane(folder).start(), Planner()
    run = Run(plane, planner, args.verbose)
    numbers = range(args.cases) if args.only is None else [args.only]
    try:
        plane.wait_ready()
        for o in cases.fixed_objects():
            plane.api("POST", *o)
        timer.phase("a control plane")
        for n in numbers:
            if args.verbose:
                case = cases.Case(args.seed, n)
                print(json.dumps({**case.supply, "nodes": case.nodes, "bound": case.bound,
                                  "waiting": case.waiting}, indent=1))
            wrong = run.confirm(lambda n=n: cases.Case(args.seed, n))
            if wrong:
                run.wrong.append(f"case {n} (again: --seed {args.seed} --only {n}): {wrong}")
                print(run.wrong[-1], flush=True)
            if n % 50 == 49:
                timer.phase(f"{n + 1} cases")
        timer.phase(f"{len(numbers)} cases")
    finally:
        planner.close()
        plane.stop()
    print(", ".join(f"{n} {what}" for what, n in run.sum.items()))
    print(f"scheduler: {len(numbers) - len(run.wrong)} of {len(numbers)} cases confirmed by kube-scheduler")
    return 1 if run.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
