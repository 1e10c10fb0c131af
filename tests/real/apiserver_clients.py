#!/usr/bin/env python3
"""Clients written by others against `drover apiserver`: kubectl, the Python client, an operator on
kopf.

    tests/real/apiserver_clients.py [--keep] [--only TEXT]

No machines and no root; under a minute. kubectl's commands are a table of command lines and
expected outputs. The clients are built by tests/real/parts/build.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from testbed import free_port, pace  # noqa: E402  (beside this file)

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DROVER = ROOT / "build/rel/drover"
QUIET_KUBECTL_S = 0.2  # measured with kubectl version --client

WIDGETS = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, shortNames: [wd], categories: [all, things]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Secret, type: string, priority: 1, jsonPath: .metadata.labels.example\\.com/x}
    - {name: Born, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1, description: How large it is.}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""
WIDGET = """
apiVersion: example.com/v1
kind: Widget
metadata: {name: a, labels: {example.com/x: sesame}}
spec: {size: 3}
"""
CONFIG = """
apiVersion: v1
kind: ConfigMap
metadata: {name: cm}
data: {key: one, other: two}
"""
NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {node-role.kubernetes.io/worker: ""}}
status:
  conditions: [{type: Ready, status: "True", reason: KubeletReady, message: fine,
                lastHeartbeatTime: "2026-01-01T00:00:00Z",
                lastTransitionTime: "2026-01-01T00:00:00Z"}]
  addresses: [{type: InternalIP, address: 10.1.2.3}]
  capacity: {cpu: "64", memory: 512Gi, nvidia.com/gpu: "8"}
  allocatable: {cpu: "64", memory: 512Gi, nvidia.com/gpu: "8"}
  nodeInfo: {kubeletVersion: v1.36.3, osImage: Debian}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: train, labels: {app: train}}
spec:
  nodeName: n1
  tolerations: [{operator: Exists}]
  containers: [{name: main, image: i, resources: {limits: {nvidia.com/gpu: "8"}}}]
"""
RUNNING = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
                      "containerStatuses": [{"name": "main", "ready": True, "restartCount": 2,
                                             "image": "i", "imageID": "",
                                             "state": {"running": {}}}]}}
EVENT = """
apiVersion: v1
kind: Event
metadata: {name: train.1}
involvedObject: {kind: Pod, name: train, namespace: default, apiVersion: v1}
reason: Scheduled
message: it has a place
type: Normal
source: {component: test}
firstTimestamp: "2026-01-01T00:00:00Z"
lastTimestamp: "2026-01-01T00:02:00Z"
count: 5
"""
# Two events that are created after the event Scheduled, but were last seen before it.
EARLIER = """
apiVersion: v1
kind: Event
metadata: {name: train.2}
involvedObject: {kind: Pod, name: train, namespace: default, apiVersion: v1}
reason: Queued
type: Normal
lastTimestamp: "2026-01-01T00:01:00Z"
---
apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: train.3}
regarding: {kind: Pod, name: train, namespace: default, apiVersion: v1}
reason: Seen
type: Normal
eventTime: "2026-01-01T00:00:00.000000Z"
reportingController: example.com/test
reportingInstance: test
action: Look
"""

# (command line, expected output, standard input); a command line that begins with "!" must fail.
# The expected output is a regular expression over all lines; several are separated by " ... " and
# match in that order.
TABLE = [
    ("version", r"Server Version: v1\.\d+", None),
    ("cluster-info", r"control plane .*is running at .*https://127\.0\.0\.1", None),
    ("api-versions", r"apps/v1 ... policy/v1 ... ^v1$", None),
    ("api-resources", r"configmaps +cm +v1 +true +ConfigMap ... nodes +no +v1 +false +Node ... "
     r"deployments +deploy +apps/v1 ... poddisruptionbudgets +pdb +policy/v1", None),
    ("auth whoami", r"Username +admin", None),
    ("auth can-i create pods", r"^yes$", None),
    ("auth can-i --list", r"\*\.\* +\[\] +\[\] +\[\*\]", None),
    ("get namespaces", r"NAME +STATUS +AGE ... default +Active +\d+s ... kube-system", None),

    # Typed clients send these kinds in protobuf.
    ("create namespace demo", r"namespace/demo created", None),
    ("!create namespace demo", r"AlreadyExists.*namespaces \"demo\" already exists", None),
    ("create configmap typed --from-literal=a=1", r"configmap/typed created", None),
    ("create secret generic typed --from-literal=a=1", r"secret/typed created", None),
    ("get secret typed -o jsonpath={.data.a}", r"^MQ==$", None),
    ("create serviceaccount robot", r"serviceaccount/robot created", None),
    ("create token robot", r"^ey[\w-]+\.[\w-]+\.[\w-]+", None),
    ("create role look --verb=get,list --resource=pods", r"role.*/look created", None),
    ("create rolebinding look --role=look --serviceaccount=default:robot", r"created", None),
    ("get rolebindings look -o wide", r"ROLE ... Role/look .*default/robot", None),
    ("auth can-i list pods --as=system:serviceaccount:default:robot", r"^yes$", None),
    ("!auth can-i delete pods --as=system:serviceaccount:default:robot", r"^no$", None),
    ("create quota q --hard=requests.nvidia.com/gpu=8", r"resourcequota/q created", None),
    ("create priorityclass high --value=1000", r"created", None),
    ("get priorityclass high", r"VALUE ... high +1000 +false", None),
    ("create deployment web --image=x --replicas=2",
     r"deployment.apps/web created ... Warning: .*no controller for a Deployment", None),
    ("get deployment web -o jsonpath={.spec.replicas}{.spec.template.spec.containers[0].image}",
     r"^2x$", None),
    ("create job once --image=x", r"job.batch/once created ... Warning: .*no controller for a Job", None),
    ("get deploy,job -o wide", r"web +0/2 +0 +0 +\d+s +x +x +app=web ... once +Running +0/1", None),

    # apply, and each kind of change.
    ("apply -f -", r"configmap/cm created", CONFIG),
    ("apply -f -", r"configmap/cm unchanged", CONFIG),
    ("!create -f -", r"data", CONFIG.replace("one", "1").replace("cm", "number")),
    ("!create -f -", r"unknown field.*date", CONFIG.replace("data", "date").replace("cm", "x")),
    ("apply -f -", r"configmap/cm configured", CONFIG.replace("one", "uno").replace(", other: two", ", new: 3x")),
    ("get cm cm -o jsonpath={.data}", r'^\{"key":"uno","new":"3x"\}$', None),
    ("!diff -f -", r"\+ +key: one", CONFIG),
    ("apply --dry-run=server -f -", r"configmap/cm configured \(server dry run\)", CONFIG),
    ("get cm cm -o jsonpath={.data.key}", r"^uno$", None),
    ("replace -f -", r"configmap/cm replaced", CONFIG),
    ("!apply --server-side -f -", r"[Ss]erver-side [Aa]pply", CONFIG),
    ("!create -f -", r"AlreadyExists", CONFIG),
    ("edit cm cm", r"configmap/cm edited", None),
    ("get cm cm -o jsonpath={.data.key}", r"^edited$", None),
    ("label cm cm tier=gold", r"configmap/cm labeled", None),
    ("annotate cm cm note=hello", r"configmap/cm annotated", None),
    ("get cm -l tier=gold -o name", r"^configmap/cm$", None),
    ("get cm -l tier!=gold -o name", r"^configmap/typed$", None),
    ("patch deployment web -p {\"spec\":{\"paused\":true}}", r"web patched", None),
    ("patch deployment web --type=merge -p {\"spec\":{\"paused\":null}}", r"web patched", None),
    ("patch deployment web --type=json -p [{\"op\":\"replace\",\"path\":\"/spec/replicas\","
     "\"value\":4}]", r"web patched", None),
    ("scale deployment web --replicas=5", r"deployment.apps/web scaled", None),
    ("get deployment web -o jsonpath={.spec.replicas}", r"^5$", None),
    ("set image deployment/web x=y", r"image updated", None),
    ("get deployment web -o jsonpath={.spec.template.spec.containers[*].image}", r"^y$", None),

    # Custom resources.
    ("apply -f -", r"widgets.example.com created", WIDGETS),
    ("wait --for=condition=Established crd/widgets.example.com --timeout=5s", r"met", None),
    ("create -f -", r"widget.example.com/a created", WIDGET),
    ("!create -f -", r"The Widget \"b\" is invalid.*spec\.size",
     WIDGET.replace("name: a", "name: b").replace("3", "0")),
    ("!apply -f -", r"unknown field.*colour", WIDGET.replace("size: 3", "size: 4, colour: red")),
    ("get widgets", r"NAME +SIZE +READY +BORN ... a +3 +\d+s", None),
    ("get wd -o wide", r"SECRET ... sesame", None),
    ("get things", r"a +3", None),
    ("patch widget a --subresource=status --type=merge -p "
     "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}", r"patched", None),
    ("get widgets", r"a +3 +True", None),
    ("wait --for=condition=Ready widget/a --timeout=5s", r"condition met", None),
    ("wait --for=jsonpath={.spec.size}=3 widget/a --timeout=5s", r"condition met", None),
    ("describe widget a", r"Name: +a ... Kind: +Widget ... Size: +3", None),
    ("explain widget.spec.size", r"KIND: +Widget ... FIELD: size <integer> ... How large", None),
    ("explain pod.spec.tolerations", r"FIELD: tolerations <\[\]Toleration> ... effect", None),
    ("explain node.spec", r"unschedulable", None),
    ("describe crd widgets.example.com", r"Established", None),
    ("get crd widgets.example.com", r"CREATED AT", None),

    # Nodes and pods.
    ("create -f -", r"node/n1 created", NODE),
    ("get nodes -o wide", r"n1 +Ready +worker +\d+s +v1.36.3 +10.1.2.3 +<none> +Debian", None),
    ("describe node n1", r"Ready +True .*KubeletReady ... nvidia.com/gpu: +8", None),
    ("taint node n1 maintenance=soon:NoSchedule", r"node/n1 tainted", None),
    ("get node n1 -o jsonpath={.spec.taints[0].key}", r"^maintenance$", None),
    ("taint node n1 maintenance-", r"node/n1 untainted", None),
    ("cordon n1", r"node/n1 cordoned", None),
    ("get node n1", r"Ready,SchedulingDisabled", None),
    ("uncordon n1", r"node/n1 uncordoned", None),
    ("apply -f -", r"pod/train created", POD),
    ("get pod train", r"train +0/1 +Pending", None),
    ("patch pod train --subresource=status -p " + shlex.quote(json.dumps(RUNNING)),
     r"pod/train patched", None),
    ("get pod train -o wide", r"train +1/1 +Running +2 +\d+s +<none> +n1 +<none> +<none>", None),
    ("create -f -", r"event/train.1 created", EVENT),
    ("events --for pod/train", r"Normal +Scheduled +Pod/train +it has a place", None),
    ("get events", r"LAST SEEN +TYPE +REASON +OBJECT +MESSAGE ... Scheduled +pod/train", None),
    ("get events.events.k8s.io", r"Scheduled +pod/train", None),
    ("create -f -", r"event/train.2 created ... event.events.k8s.io/train.3 created", EARLIER),
    ("get events --sort-by=.lastTimestamp", r"Seen ... Queued ... Scheduled", None),
    ("get events --sort-by=.firstTimestamp", r"Queued|Seen ... Scheduled", None),
    ("get events --sort-by=.metadata.creationTimestamp", r"Scheduled ... Queued|Seen", None),
    ("get events.events.k8s.io --sort-by=.deprecatedLastTimestamp",
     r"Seen ... Queued ... Scheduled", None),
    ("get event train.2 -o jsonpath={.source}{.eventTime}", r"^\{\}null$", None),
    ("events", r"\(x5 over \S+\) +Normal +Scheduled", None),
    ("describe pod train", r"Node: +n1 ... nvidia.com/gpu: +8 ... op=Exists", None),
    ("create pdb keep --selector=app=train --min-available=1", r"keep created", None),
    ("get pdb", r"MIN AVAILABLE ... keep +1 +N/A +0", None),
    ("!drain n1 --force --timeout=1s", r"disruption budget", None),
    ("delete pdb keep", r"deleted", None),
    ("drain n1 --force", r"pod/train evicted ... node/n1 drained", None),
    ("get pods", r"No resources found", None),
    ("!top nodes", r"Metrics API not available", None),
    ("!logs train", r"NotFound|not found", None),

    # Errors and deletions.
    ("!get cm nowhere", r"NotFound.*configmaps \"nowhere\" not found", None),
    ("!get gadgets", r"doesn't have a resource type \"gadgets\"", None),
    ("get all", r"deployment.apps/web ... job.batch/once", None),
    ("delete deployment web --cascade=foreground", r"deployment.apps \"web\" deleted", None),
    ("delete widget a --wait", r"deleted", None),
    ("delete crd widgets.example.com --wait", r"deleted", None),
    ("!get widgets", r"doesn't have a resource type|could not find", None),
    ("delete namespace demo --wait --timeout=10s", r"namespace \"demo\" deleted", None),
    ("get --raw /readyz", r"^ok$", None),
]


class Server:
    def __init__(self, folder, port):
        self.folder, self.port = folder, port
        self.kubeconfig = folder / "admin.conf"
        self.process = None

    def start(self):
        began = time.monotonic()
        self.process = subprocess.Popen(
            [DROVER, "apiserver", "--data", self.folder, "--listen", f"127.0.0.1:{self.port}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("serving "):
            raise SystemExit(f"drover apiserver did not start: {line}{self.process.stdout.read()}")
        return time.monotonic() - began

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(pace.limit(10))


class Bench:
    def __init__(self, folder, parts):
        self.folder = folder
        self.kubectl_path = pathlib.Path(parts["kube"]) / "kubectl"
        self.python = pathlib.Path(parts["clients"]) / "bin/python"
        self.server = Server(folder / "api", free_port())
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder),
                            "KUBECONFIG": str(self.server.kubeconfig),
                            "KUBE_EDITOR": "sed -i s/one/edited/"}
        self.bad = 0
        self.took = 0  # duration of the first start, in s

    def kubectl(self, typed, given=None):
        typed = re.sub(r"(--timeout=)(\d+)s", lambda m: f"{m[1]}{pace.limit(int(m[2])):.0f}s", typed)
        done = subprocess.run([self.kubectl_path, *shlex.split(quoted(typed))], text=True,
                              input=given or "", capture_output=True, timeout=pace.limit(30), check=False,
                              env=self.environment)
        return done.returncode, done.stdout + done.stderr

    def check(self, what, ok, seen=""):
        if not ok:
            self.bad += 1
            print(f"  FAILED {what}\n{seen}", flush=True)


def quoted(typed):
    """Escapes the braces and quotes of JSON and JSONPath, so that kubectl gets them unchanged."""
    return typed if "'" in typed else re.sub(r"(\S*[{\[]\S*)", r"'\1'", typed)


def matches(expected, text):
    at = 0
    for piece in expected.split(" ... "):
        found = re.compile(piece, re.M | re.S if ".*" in piece else re.M).search(text, at)
        if not found:
            return False
        at = found.end()
    return True


def table(bench):
    for typed, expected, given in TABLE:
        fails = typed.startswith("!")
        code, text = bench.kubectl(typed.lstrip("!"), given)
        bench.check(f"kubectl {typed}", (code != 0) == fails and matches(expected, text),
                    f"    status {code}, wanted {expected!r}, got:\n{text}")
    print(f"kubectl: {len(TABLE)} commands", flush=True)


def watches(bench):
    """Changes made while `get -w` runs appear in its output as rows, in order."""
    process = subprocess.Popen(
        [bench.kubectl_path, "get", "configmaps", "-n", "default", "--watch-only",
         "--output-watch-events"], stdout=subprocess.PIPE, text=True, env=bench.environment,
        stderr=subprocess.DEVNULL)
    time.sleep(pace.limit(0.7))
    for typed in ("create configmap seen --from-literal=a=1", "label configmap seen x=y",
                  "delete configmap seen"):
        bench.kubectl(typed)
    time.sleep(pace.limit(0.3))
    process.terminate()
    text = process.communicate(timeout=pace.limit(10))[0]
    bench.check("kubectl get -w", matches(
        r"EVENT +NAME +DATA +AGE ... ^ADDED +seen +1 ... ^MODIFIED +seen +1 ... ^DELETED +seen",
        text) and text.count("EVENT") == 1, text)


def waits_for_end(bench):
    bench.kubectl("create configmap ends --from-literal=a=1")
    process = subprocess.Popen([bench.kubectl_path, "wait", "--for=delete", "configmap/ends",
                                f"--timeout={pace.limit(10):.0f}s"], stdout=subprocess.PIPE, text=True,
                               env=bench.environment)
    time.sleep(pace.limit(0.5))
    bench.kubectl("delete configmap ends")
    text = process.communicate(timeout=pace.limit(15))[0]
    bench.check("kubectl wait --for=delete", process.returncode == 0 and "met" in text, text)


def official(bench):
    bench.kubectl("apply -f -", WIDGETS)
    done = subprocess.run([bench.python, HERE / "clients/official.py"], text=True,
                          capture_output=True, timeout=pace.limit(60), check=False, env=bench.environment)
    bench.check("the Python client", done.returncode == 0, done.stdout + done.stderr)
    print("the Python client:", ", ".join(re.findall(r"^(\w+): ok", done.stdout, re.M)),
          flush=True)


def operator(bench):
    """kopf: create, update and delete handlers, its finalizer, status and annotations by patch."""
    log = bench.folder / "kopf.log"
    bench.kubectl("apply -f -", WIDGETS)
    bench.kubectl("create namespace ops")
    with open(log, "w", encoding="utf-8") as out:
        process = subprocess.Popen(
            [bench.python, "-m", "kopf", "run", "--standalone", "-n", "ops",
             HERE / "clients/widgets.py"], stdout=out, stderr=out, env=bench.environment)

    def says(typed, expected):
        what = f"operator: {typed} says {expected}"
        try:
            pace.wait_for(what, lambda: matches(expected, bench.kubectl("-n ops " + typed)[1]), 15, 0.2)
        except TimeoutError as e:
            bench.check(what, False, f"{e}\n{bench.kubectl('-n ops ' + typed)[1]}"
                        + log.read_text(encoding="utf-8")[-3000:])

    try:
        bench.kubectl("-n ops create -f -", WIDGET)
        says("get configmap a -o jsonpath={.data.size}", r"^3$")
        says("get widget a -o jsonpath={.status}", r'"size":3')
        says("get widget a -o jsonpath={.metadata.finalizers}", r"kopf")
        bench.kubectl("-n ops patch widget a --type=merge -p {\"spec\":{\"size\":7}}")
        says("get configmap a -o jsonpath={.data.size}", r"^7$")
        says("get widget a -o jsonpath={.status.seen}", r"^7$")
        bench.kubectl("-n ops create configmap other")
        bench.kubectl("-n ops label configmap other watched=yes")
        says("get configmap other -o jsonpath={.metadata.annotations.seen}", r"^yes$")
        bench.kubectl("-n ops delete widget a --timeout=15s")
        says("get configmap a-is-gone", r"a-is-gone")
        says("get widgets", r"No resources found")
        says("get configmap a", r"NotFound")  # garbage-collected with its owner
        says("get events", r"Sized +widget/a +it has a ConfigMap")
    finally:
        process.terminate()
        process.wait(pace.limit(15))
    print("the operator on kopf: created, updated, deleted", flush=True)


def again(bench):
    """A killed server finds its CA, its token and its objects again; the old kubeconfig still
    works."""
    server = bench.server
    ca = (server.folder / "ca.crt").read_text()
    bench.kubectl("create configmap lasting --from-literal=a=1")
    server.stop(signal.SIGKILL)
    took = min(bench.took, server.start())
    bench.check("ready within a second, of two starts", took < pace.limit(1), f"{took:.2f} s; allowed: {pace.words(1)}")
    bench.check("the CA stays", (server.folder / "ca.crt").read_text() == ca)
    code, text = bench.kubectl("get configmap lasting -o jsonpath={.data.a}")
    bench.check("objects stay", code == 0 and text == "1", text)


def refuses(bench):
    def start(*options):
        done = subprocess.run([DROVER, "apiserver", *map(str, options)], text=True, timeout=pace.limit(10),
                              capture_output=True, check=False, stdin=subprocess.DEVNULL)
        return done.returncode, done.stderr

    used = f"127.0.0.1:{bench.server.port}"
    a_file = bench.folder / "file"
    a_file.write_text("")
    for options, code, expected in (
            (("--data", bench.folder / "two", "--listen", used), 1,
             rf"cannot listen on {used}: Address already in use"),
            (("--data", bench.server.folder, "--listen", "127.0.0.1:0"), 1, r"process|in use"),
            (("--data", a_file, "--listen", "127.0.0.1:0"), 1, r"file.*: Not a directory"),
            (("--data", "/proc/nowhere", "--listen", "127.0.0.1:0"), 1, r"/proc/nowhere: "),
            (("--data", bench.folder / "two", "--listen", "here"), 1, r"here"),
            ((), 2, r"--data or --kubeconfig-out")):
        got, text = start(*options)
        bench.check(f"drover apiserver {options} is refused",
                    got == code and re.search(expected, text), f"    status {got}: {text}")


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--keep", action="store_true", help="leave the folder")
    args.add_argument("--only", default="", help="parts whose name has this text")
    args = args.parse_args()
    built = subprocess.run([sys.executable, HERE / "parts/build", "--json", "--no-packages",
                            "kube", "clients"], check=True, stdout=subprocess.PIPE, text=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="drover-clients-"))
    bench = Bench(folder, json.loads(built.stdout.splitlines()[-1]))
    began = time.monotonic()
    try:
        bench.kubectl("version --client")
        pace.learn("kubectl version --client", time.monotonic() - began, QUIET_KUBECTL_S)
        bench.took = bench.server.start()
        for part in (table, watches, waits_for_end, official, operator, again, refuses):
            if args.only in part.__name__:
                part(bench)
        bench.check("it ends when told to", bench.server.stop() == 0)
    finally:
        if bench.server.process and bench.server.process.poll() is None:
            bench.server.process.kill()
        if args.keep or bench.bad:
            print(f"left in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"clients: {bench.bad} failed, {time.monotonic() - began:.1f} s")
    return 1 if bench.bad else 0


if __name__ == "__main__":
    sys.exit(main())
