#!/usr/bin/env python3
"""The commands of docs/sim.md, verbatim, one block after the other.

No VM. Only folders, ports and the rack's speed differ; kubectl is that of parts/build. Nothing is
timed: each wait has a limit of minutes. tests/real/sim_page.py
"""
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import testbed  # noqa: E402  (beside this file)
from testbed import pace  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIMIT_S = 240
STAYS = ("drover sim rack ", "drover apiserver ", "drover run ")
PORTS = {"9443": "rack", "8443": "agents", "8080": "media"}  # ports on the page


def free_ports(n):
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(n)]
        for s in found:
            s.bind(("127.0.0.1", 0))
        return [str(s.getsockname()[1]) for s in found]


class Page:
    def __init__(self, folder):
        self.folder, self.running = folder, []
        text = (ROOT / "docs/sim.md").read_text(encoding="utf-8")
        self.blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
        ports = free_ports(len(PORTS) + 2)
        self.ports, (api, ops) = dict(zip(PORTS, ports)), ports[-2:]
        self.more = {"drover sim rack ": " --speed 8", "drover apiserver ": f" --listen 127.0.0.1:{api}",
                     "drover run ": f" --agent-listen 127.0.0.1:{self.ports['8443']} --ops-listen 127.0.0.1:{ops}"
                                    f" --media-listen 127.0.0.1:{self.ports['8080']}"}
        self.env = {**os.environ, "PATH": f"{ROOT / 'build/rel'}:{testbed.parts.paths()['kube']}:"
                                          f"{os.environ['PATH']}"}
        self.env.pop("KUBECONFIG", None)

    def here(self, block):
        for theirs, ours in self.ports.items():
            block = re.sub(rf"\b{theirs}\b", ours, block)
        return block.replace("/var/tmp", self.folder)

    def start(self, block, more):
        log = open(f"{self.folder}/{len(self.running)}.log", "w+", encoding="utf-8")
        self.running.append((subprocess.Popen(["bash", "-c", "exec " + self.here(block).strip() + more],
                                              env=self.env, cwd=ROOT, stdout=log, stderr=log), log))

    def run(self, block):
        """Runs the block and returns its output; retries until it succeeds, since the services
        started before need a moment."""
        done = []

        def works():
            done[:] = [subprocess.run(["bash", "-c", "set -e -o pipefail\n" + self.here(block)], env=self.env,
                                      cwd=ROOT, capture_output=True, text=True,
                                      timeout=pace.limit(LIMIT_S), check=False)]
            return done[0].returncode == 0 or "already exists" in done[0].stderr and self.fail(block, done[0])

        try:
            pace.wait_for(block.splitlines()[0], works, LIMIT_S / 4, 1)
        except AssertionError:
            self.fail(block, done[0])
        return done[0].stdout

    @staticmethod
    def fail(block, done):
        raise AssertionError(f"{block}\n{done.stdout}{done.stderr}")

    def states(self):
        found = self.run("kubectl --kubeconfig /var/tmp/drover-api/admin.conf get machines -o json\n")
        return {m["metadata"]["name"]: m.get("status", {}).get("state") for m in json.loads(found)["items"]}

    def stop(self, broken):
        for process, log in reversed(self.running):
            process.send_signal(signal.SIGINT)
            process.wait(pace.limit(30))
            log.seek(0)
            if broken:
                print("\n".join(log.read().splitlines()[-15:]), file=sys.stderr)
            log.close()


def story(page):
    last = page.blocks.pop()
    for block in page.blocks:
        kind = next((s for s in STAYS if block.startswith(s)), None)
        if kind:
            page.start(block, page.more[kind])
        else:
            page.run(block)
    assert len(page.running) == len(STAYS), page.running
    pace.wait_for("all free", lambda: list(page.states().values()) == ["free"] * 4, LIMIT_S, 1)
    said = page.run(last)
    assert "Machine gpu-1" in said and "free" in said, said


def main():
    with tempfile.TemporaryDirectory(prefix="drover-sim-page-") as folder:
        page, broken = Page(folder), True
        try:
            story(page)
            broken = False
        finally:
            page.stop(broken)
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
