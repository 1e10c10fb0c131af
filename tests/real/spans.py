#!/usr/bin/env python3
"""The traces of drover, as an OpenTelemetry collector receives them.

No VM: `drover up` with two machines, and a collector that is built from its Go module. One machine
serves a pod, is drained and wiped; what the collector wrote must be one trace for the claim and one
for the Drain, each span inside its parent. Then the collector hangs, and is stopped: a machine
serves as before. tests/real/spans.py
"""
import json
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import testbed  # noqa: E402  (beside this file)
import up as real_up  # noqa: E402
from testbed import pace  # noqa: E402

COMING = ["claimed", "imaging", "attaching", "booting", "joining", "gating"]
BACK = ["draining", "stopping", "isolating", "leaving", "dirty", "inspecting", "wiping", "verifying"]
CONFIG = """yaml:receivers: {otlp: {protocols: {http: {endpoint: "127.0.0.1:%d"}}}}
exporters: {file: {path: %s, flush_interval: 200ms}}
service:
  telemetry: {metrics: {level: none}}
  pipelines: {traces: {receivers: [otlp], exporters: [file]}}
"""


class Collector:
    def __init__(self, folder):
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.port = s.getsockname()[1]
        self.file = pathlib.Path(folder, "spans.json")
        self.log = pathlib.Path(folder, "collector.log")
        program = testbed.parts.named("collector") / "collector"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([program, "--config", CONFIG % (self.port, self.file)],
                                            stdout=log, stderr=log)
        try:
            pace.wait_for("the collector listens", self.listens, 60, 0.1)
        except BaseException:
            self.process.kill()
            raise

    def listens(self):
        assert self.process.poll() is None, self.log.read_text()
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.port)) == 0

    def spans(self):
        """All spans so far, as dictionaries of OTLP's JSON, with their attributes as a dictionary."""
        found = []
        for line in self.file.read_text().splitlines() if self.file.exists() else ():
            for resource in json.loads(line)["resourceSpans"]:
                assert attributes(resource["resource"])["service.name"] == "drover", resource
                for scope in resource["scopeSpans"]:
                    found += [{**span, "attributes": attributes(span)} for span in scope["spans"]]
        return found


def attributes(o):
    return {a["key"]: next(iter(a["value"].values())) for a in o.get("attributes", ())}


def named(spans, name):
    return [s for s in spans if s["name"] == name]


def one(spans, name, trace=None):
    found = [s for s in named(spans, name) if trace in (None, s["traceId"])]
    assert len(found) == 1, (name, found)
    return found[0]


def inside(span, parent):
    """A child of the parent, and within its time: states have whole seconds."""
    assert span["traceId"] == parent["traceId"] and span["parentSpanId"] == parent["spanId"], (span, parent)
    assert int(span["startTimeUnixNano"]) >= int(parent["startTimeUnixNano"]), (span, parent)
    assert int(span["endTimeUnixNano"]) <= int(parent["endTimeUnixNano"]) + 10**9, (span, parent)


def check_claim(spans):
    claim = one(spans, "claim")
    assert not claim.get("parentSpanId") and claim["attributes"]["drover.tenant"] == "team-a", claim
    back = one(spans, "return", claim["traceId"])
    for names, parent in ((COMING, claim), (BACK, back)):
        for name in names:
            span = one(spans, name, claim["traceId"])
            inside(span, parent)
            assert not span["status"].get("code"), span
    wiping = one(spans, "wiping")
    assert int(wiping["endTimeUnixNano"]) > int(wiping["startTimeUnixNano"]), wiping
    on = [s for s in named(spans, "power-on") if s["parentSpanId"] == one(spans, "booting")["spanId"]]
    assert on and on[0]["kind"] == 3, on
    # Redfish requests, as children of the phases in which they were sent.
    posts = [s for s in named(spans, "POST") if s["attributes"].get("url.path", "").endswith("ComputerSystem.Reset")]
    assert posts and all(s["traceId"] == claim["traceId"] for s in posts), posts
    assert not [s for s in named(spans, "GET") if not s["status"].get("code")], "reads that succeed"


def check_drain(spans):
    drain = one(spans, "drain")
    machine = one(spans, "drain machine", drain["traceId"])
    inside(machine, drain)
    assert machine["attributes"]["drover.claim.trace"] == one(spans, "claim")["traceId"], machine


def main():
    with tempfile.TemporaryDirectory(prefix="drover-spans-") as folder:
        collector = Collector(folder)
        up = real_up.Up(f"{folder}/up")
        try:
            up.start("--traces-endpoint", f"http://127.0.0.1:{collector.port}")
            up.until("all free", lambda: set(up.states().values()) == {"free"})
            up.tenant.call("POST", real_up.demo.PODS, real_up.demo.gpu_pod("train"))
            up.until("train Running", lambda: up.runs("train"))
            up.until("serving", lambda: "serving" in up.states().values())
            machine = next(n for n, state in up.states().items() if state == "serving")
            subprocess.run([real_up.DROVER, "drain", machine, "--reason", "fan", "--kubeconfig",
                            f"{up.folder}/host.conf"], check=True, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL)
            up.until("the Drain's trace", lambda: named(collector.spans(), "drain"), 300)
            spans = collector.spans()
            check_claim(spans)
            check_drain(spans)
            print(f"  {len(spans)} spans: one trace of the claim, one of the Drain", flush=True)
            # A collector that hangs, and one that is gone.
            collector.process.send_signal(signal.SIGSTOP)
            up.tenant.call("POST", real_up.demo.PODS, real_up.demo.gpu_pod("hangs"))
            up.until("hangs Running", lambda: up.runs("hangs"))
            collector.process.kill()
            up.tenant.call("POST", real_up.demo.PODS, real_up.demo.gpu_pod("gone"))
            up.until("gone Running", lambda: up.runs("gone"))
            print("  a collector that hangs or is gone delays no pod", flush=True)
            assert up.end(signal.SIGTERM) == 0
        except BaseException:
            up.tell()
            print(collector.log.read_text()[-3000:], file=sys.stderr)
            raise
        finally:
            up.kill()
            collector.process.kill()
            collector.process.wait()
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
