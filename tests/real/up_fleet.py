#!/usr/bin/env python3
"""`drover up` with many machines: pods come and go and machines are drained, without a lost Lease.

    tests/real/up_fleet.py [MACHINES [MINUTES]]     (default: 300 machines, 5 minutes)

Up to 1,000 machines run at the speed of the other tests, more at the speed of real machines.

Both tenants keep a number of pods that each need a whole machine. Each round deletes the oldest
pods, creates new ones, and drains one machine that serves. Machines that drover sees for the first
time are inspected and wiped meanwhile. All numbers come from drover's metrics, because a list of
10,000 machines is slower to read than a round. In the end the Lease must have had one holder
without a gap, no claim and no wipe may have failed, and each pod of the last round must run.
"""
import datetime
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import up as real_up  # noqa: E402  (beside this file)
from testbed import pace  # noqa: E402

demo = real_up.demo
LEASE = "/apis/coordination.k8s.io/v1/namespaces/drover-system/leases/drover-controller"
PODS, CHANGED = 8, 2  # pods of each tenant; those that each round replaces
ROUND_S = 20
QUICK = 1000  # the highest number of machines that run faster than real ones
OPS = 5  # port of the metrics, behind the first port of drover up (cli/up/ports.h)


class Fleet(real_up.Up):
    def __init__(self, folder, machines):
        super().__init__(folder, machines)
        self.tenants, self.pods, self.number, self.drains = [], {}, 0, 0
        self.gap_s = 0

    def command(self, *more):
        return super().command(*more, *(("--speed", "1") if self.machines > QUICK else ()))

    def begin(self):
        self.start()
        self.tenants = [demo.Cluster(f"{self.folder}/team-{t}.conf") for t in "ab"]
        self.pods = {t: [] for t in self.tenants}

    def metrics(self):
        """Returns {name with labels: value} of all series."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port + OPS}/metrics", timeout=pace.limit(30)) as page:
            lines = page.read().decode().splitlines()
        return {m[1]: float(m[2]) for m in (re.match(r"(\S+) ([\d.e+-]+)$", line) for line in lines) if m}

    def look_at_lease(self):
        """Notes the longest time between two renewals that were seen, and that it was acquired only once."""
        spec = self.host.call("GET", LEASE)["spec"]
        assert spec["leaseTransitions"] == 1, f"drover lost its Lease: {spec}"
        renewed = datetime.datetime.fromisoformat(spec["renewTime"].replace("Z", "+00:00")).timestamp()
        self.gap_s = max(self.gap_s, time.time() - renewed)

    def change_pods(self):
        for tenant, names in self.pods.items():
            for name in names[:max(0, len(names) - PODS + CHANGED)]:
                if tenant.call("GET", f"{demo.PODS}/{name}")["status"].get("phase") == "Running":
                    tenant.call("DELETE", f"{demo.PODS}/{name}")
                    names.remove(name)
            while len(names) < PODS:
                self.number += 1
                names.append(f"train-{self.number}")
                tenant.call("POST", demo.PODS, demo.gpu_pod(names[-1]))

    def drain_one(self):
        """Drains the machine of the newest pod that runs; its pod is created again."""
        tenant = self.tenants[self.drains % 2]
        for name in reversed(self.pods[tenant]):
            pod = tenant.call("GET", f"{demo.PODS}/{name}")
            node = pod["spec"].get("nodeName")
            if node and pod["status"].get("phase") == "Running":
                subprocess.run([real_up.DROVER, "drain", "--kubeconfig", self.host.kubeconfig, node, "--reason",
                                "rotation"], check=True, stdout=subprocess.DEVNULL, timeout=pace.limit(60))
                self.pods[tenant].remove(name)
                self.drains += 1
                return

    def all_run(self):
        return all(tenant.call("GET", f"{demo.PODS}/{name}")["status"].get("phase") == "Running"
                   for tenant, names in self.pods.items() for name in names)


def memory_mb(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024


def children(pid):
    return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def line(fleet, began):
    m = fleet.metrics()
    states = {k: m[f'drover_machines{{state="{k}"}}'] for k in ("known", "free", "serving", "quarantined")
              if f'drover_machines{{state="{k}"}}' in m}
    pids = [fleet.process.pid, *children(fleet.process.pid)[:1]]
    print(f"  {time.monotonic() - began:5.0f} s  "
          + "  ".join(f"{k} {v:.0f}" for k, v in states.items())
          + f"  claims {total(m, 'drover_claims_created_total'):.0f}  drains {fleet.drains}"
          + f"  longest turn {m['drover_loop_longest_turn_ms']:.0f} ms  Lease at most {fleet.gap_s:.0f} s old"
          + "  " + " + ".join(f"{memory_mb(p):.0f} MB" for p in pids), flush=True)
    return m


def total(metrics, name):
    return sum(v for k, v in metrics.items() if re.match(rf"{name}(\{{|$)", k))


def run(fleet, minutes):
    began = time.monotonic()
    fleet.begin()
    for tenant in ("team-a", "team-b"):
        fleet.host.call("PATCH", f"{demo.API}/virtualclusters/{tenant}", {"spec": {"quota": {demo.GPU: "1000"}}})
    rounds = 0
    while time.monotonic() - began < minutes * 60:
        fleet.change_pods()
        if rounds % 2:
            fleet.drain_one()
        rounds += 1
        until = time.monotonic() + ROUND_S
        while time.monotonic() < until:
            assert fleet.process.poll() is None, "drover up ended"
            fleet.look_at_lease()
            time.sleep(1)
        if rounds % 3 == 0:
            line(fleet, began)
    fleet.until("all pods run", fleet.all_run, 600 if fleet.machines <= QUICK else 1800)
    m = line(fleet, began)
    failed = total(m, "drover_claims_failed_total")
    assert failed == 0, f"{failed:.0f} claims failed"
    assert m.get('drover_machines{state="quarantined"}', 0) == 0, "a machine is in quarantine"
    assert fleet.end(signal.SIGTERM) == 0
    print(f"\nup_fleet: {fleet.machines} machines, {minutes} minutes: {fleet.number} pods ran, {fleet.drains} drains, "
          f"{total(m, 'drover_wipes_total'):.0f} wipes; the Lease was never more than {fleet.gap_s:.0f} s old")
    print("1 passed, 0 failed")


def main():
    machines, minutes = (int(a) for a in [*sys.argv[1:], *("300", "5")[len(sys.argv) - 1:]])
    with tempfile.TemporaryDirectory(prefix="drover-fleet-") as folder:
        fleet = Fleet(f"{folder}/data", machines)
        try:
            run(fleet, minutes)
        except BaseException:
            fleet.tell()
            raise
        finally:
            fleet.kill()


if __name__ == "__main__":
    main()
