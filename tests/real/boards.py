#!/usr/bin/env python3
"""The Grafana boards, judged by Grafana's own types and by a Prometheus that scrapes drover.

No VM: `drover up` with four machines. Grafana's types (grafana-foundation-sdk) read each board
strictly: no unknown member, none of a wrong type. Debian's Prometheus scrapes drover for a minute
while machines serve, are drained and wiped, and one BMC does not answer; it must answer each query of
the boards, and each that does not need a rare event with a value. tests/real/boards.py
"""
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import testbed  # noqa: E402  (beside this file)
import up as real_up  # noqa: E402
from testbed import pace, process  # noqa: E402

ROOT = real_up.ROOT
LOADER = importlib.machinery.SourceFileLoader("monitoring", str(ROOT / "tests/tools/monitoring"))
monitoring = importlib.util.module_from_spec(importlib.util.spec_from_loader("monitoring", LOADER))
LOADER.exec_module(monitoring)
SCRAPE_S, SCRAPED_S = 1, 60
OPS = 5  # UP_PORT_OPS in cli/up/ports.h
# Queries that may be empty: what they count does not happen in this test.
RARE = re.compile(r"drover_claims_failed_total|drover_act_failures_total|drover_machines_warm|drover_cost_month_amount"
                  r"|drover_machines_quarantined|drover_machines_unreachable|changes\(drover_leading|out_of_order"
                  r"|drover:error_budget|drover:objective")
CONFIG = """\
global: {{scrape_interval: {interval}s}}
rule_files: [rules.yaml]
scrape_configs:
- job_name: drover
  static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


class Prometheus:
    def __init__(self, folder, ops):
        self.port = process.free_port()
        (folder / "rules.yaml").write_text(monitoring.bare_rules())
        (folder / "prometheus.yaml").write_text(CONFIG.format(interval=SCRAPE_S, port=ops))
        program = pathlib.Path(monitoring.promtool()).with_name("prometheus")
        self.process = process.Process("prometheus", folder, [
            program, f"--config.file={folder}/prometheus.yaml", f"--storage.tsdb.path={folder}/tsdb",
            f"--web.listen-address=127.0.0.1:{self.port}"])

    def get(self, path, **values):
        self.process.check()
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(values)}"
        with urllib.request.urlopen(url, timeout=pace.limit(10)) as reply:
            answer = json.loads(reply.read())
        assert answer["status"] == "success", answer
        return answer["data"]

    def scrapes(self):
        try:
            target, = self.get("targets")["activeTargets"]
        except (OSError, ValueError):
            return False
        assert target["health"] != "down", target
        return target["health"] == "up"

    def values(self, query):
        return [r["value"][1] for r in self.get("query", query=query)["result"]]

    def stop(self):
        self.process.stop()


def judged_by_grafana():
    judge = testbed.parts.named("boards") / "boards"
    done = subprocess.run([judge, *monitoring.BOARDS], stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stdout
    with tempfile.NamedTemporaryFile("w", suffix=".json") as bad:
        bad.write(monitoring.BOARDS[0].read_text().replace('"legendFormat"', '"legend"', 1))
        bad.flush()
        assert subprocess.run([judge, bad.name], stdout=subprocess.PIPE, check=False).returncode == 1, "no judge"


def work(up):
    """Lets machines serve, and one be drained and wiped."""
    up.until("all free", lambda: set(up.states().values()) == {"free"})
    for name in ("train", "infer"):
        up.tenant.call("POST", real_up.demo.PODS, real_up.demo.gpu_pod(name))
        up.until(f"{name} Running", lambda n=name: up.runs(n))
    machine = next(n for n, state in up.states().items() if state == "serving")
    subprocess.run([real_up.DROVER, "drain", machine, "--reason", "fan", "--kubeconfig", f"{up.folder}/host.conf"],
                   check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    up.until("drained and wiped", lambda: up.states()[machine] in ("free", "retired", "claimed"), 300)


def answers(prometheus):
    empty, asked = [], 0
    for path in monitoring.BOARDS:
        board = json.loads(path.read_text())
        for query in monitoring.board_expressions(board):
            asked += 1
            # The hours and days of the boards are longer than the test.
            if not prometheus.values(re.sub(r"\[\d+[hd]\]", "[10m]", query)) and not RARE.search(query):
                empty.append(f"{path.name}: {query}")
    assert not empty, "queries without a value:\n" + "\n".join(empty)
    return asked


def main():
    judged_by_grafana()
    print("  Grafana's types read each board", flush=True)
    with tempfile.TemporaryDirectory(prefix="drover-boards-") as folder:
        folder, prometheus = pathlib.Path(folder), None
        up = real_up.Up(f"{folder}/up", machines=4)
        try:
            up.start()
            prometheus = Prometheus(folder, up.port + OPS)
            began = time.monotonic()
            pace.wait_for("Prometheus scrapes drover", prometheus.scrapes, 60)
            work(up)
            # drover shows a new series with 0 for two minutes (docs/metrics.md).
            pace.wait_for("the evicted pod is counted", lambda: prometheus.values("drover_gpu_pods_ended_total > 0"), 240,
                          1)
            time.sleep(max(0, SCRAPED_S - (time.monotonic() - began)))
            asked = answers(prometheus)
            firing = [a for a in prometheus.get("alerts")["alerts"] if a["state"] == "firing"]
            assert not firing, firing
            total = float(prometheus.values("sum(drover_gpus)")[0])
            assert total == 4 * 8, f"{total} GPUs of 4 machines"
            print(f"  Prometheus answers {asked} queries of {len(monitoring.BOARDS)} boards; no alert fires", flush=True)
            assert up.end(signal.SIGTERM) == 0
        except BaseException:
            up.tell()
            raise
        finally:
            if prometheus:
                prometheus.stop()
            up.kill()
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
