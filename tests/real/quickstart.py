#!/usr/bin/env python3
"""The commands of docs/quickstart.md, verbatim, one block after the other.

No VM. Left out are the block that installs packages, and lines that watch (-w), for which this test
waits instead; only the port and the speed of `drover up` differ. kubectl is that of parts/build.
Nothing is timed: each wait has a limit of minutes. tests/real/quickstart.py
"""
import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import testbed  # noqa: E402  (beside this file)
from testbed import pace  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SPEC = importlib.util.spec_from_file_location("demo", ROOT / "examples/demo.py")
demo = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(demo)
LIMIT_S = 240
QUIET_READY_S = 0.3
PORT = 18440  # the port on the page


class Page:
    def __init__(self, home):
        text = (ROOT / "docs/quickstart.md").read_text(encoding="utf-8")
        self.blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
        self.port, self.env = demo.free_ports(), {**os.environ, "HOME": str(home)}
        self.env.pop("KUBECONFIG", None)
        self.env["PATH"] = f"{testbed.parts.paths()['kube']}:{self.env['PATH']}"
        self.exports = self.take("export PATH=")

    def take(self, word):
        """Returns the next block that contains word."""
        found = [b for b in self.blocks if word in b]
        assert len(found) == 1, f"docs/quickstart.md: {len(found)} blocks have: {word}"
        self.blocks.remove(found[0])
        return found[0]

    def shell(self, script):
        """Returns the script's output. Aliases and variables are those of the page."""
        script = "".join(line for line in script.splitlines(True) if not re.search(r" -w$", line))
        script = script.replace(str(PORT + 7), str(self.port + 7))
        done = subprocess.run(["bash", "-c", "set -e -o pipefail\nshopt -s expand_aliases\n" + self.exports
                               + script], env=self.env, cwd=ROOT, capture_output=True, text=True,
                              timeout=pace.limit(LIMIT_S), check=False)
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
        return done.stdout

    def items(self, command):
        return json.loads(self.shell(f"{command} -o json\n"))["items"]

    def states(self):
        return {m["metadata"]["name"]: m.get("status", {}).get("state")
                for m in self.items("host get machines")}

    def serving(self):
        return {name for name, state in self.states().items() if state == "serving"}

    def runs(self, pod):
        return any(p["metadata"]["name"] == pod and p.get("status", {}).get("phase") == "Running"
                   for p in self.items("team-a get pods"))


def until(what, done):
    pace.wait_for(what, done, LIMIT_S, 0.5)


def start(page):
    command = page.take("drover up ").split()
    assert command == ["build/rel/drover", "up", "--machines", "4"], command
    process = subprocess.Popen([*command, "--port", str(page.port), "--speed", "4"], env=page.env,
                               cwd=ROOT, stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        ready = re.match(r"drover is up after ([\d.]+) s", line)
        if ready:
            pace.learn("drover up's start", float(ready[1]), QUIET_READY_S)
        if "team-b.conf" in line:
            return process
    raise AssertionError("drover up did not start")


def story(page):
    page.take("apt-get install")
    page.blocks.remove("host get machines -w\n")
    until("all free", lambda: list(page.states().values()) == ["free"] * 4)
    assert "RESULT" in page.shell(page.take("drover wipe verify"))
    assert "train" in page.shell(page.take("metadata: {name: train}"))
    until("train Running", lambda: page.runs("train"))
    print("  rack, records, a pod", flush=True)

    said = page.shell(page.take("on_gpus() {"))
    assert "condition met" in said and 'deployment "serve" successfully rolled out' in said, said
    until("no pods of theirs", lambda: len(page.items("team-a get pods")) == 1)
    until("their machine is given back", lambda: len(page.serving()) == 1)
    assert page.runs("train")
    print("  a Deployment, a Job", flush=True)

    assert "notebooks" in page.shell(page.take("host label virtualcluster"))
    page.shell(page.take("for name in notebook-1 notebook-2"))
    until("notebook-1 Running", lambda: page.runs("notebook-1"))
    until("notebook-2 is told", lambda: "limit" in page.shell(
        "team-a get events --field-selector involvedObject.name=notebook-2\n").lower())
    assert not page.runs("notebook-2")
    until("two serve", lambda: len(page.serving()) == 2)
    assert page.states()["gpu-4"] == "free", page.states()
    print("  a pool of one's own, its limit", flush=True)

    page.shell(page.take("team-a delete pod notebook-1"))
    page.shell(page.take("pull-drive"))
    until("gpu-4 in quarantine", lambda: page.states()["gpu-4"] == "quarantined")
    assert "what helps" in page.shell("drover why gpu-4\n")
    until("the notebooks' machine is taken back", lambda: len(page.serving()) == 1)
    assert page.runs("train")
    assert not page.blocks, f"never run: {page.blocks}"
    print("  given back; a drive pulled out", flush=True)


def main():
    with tempfile.TemporaryDirectory(prefix="drover-quickstart-") as home:
        page = Page(home)
        process = start(page)
        try:
            story(page)
        except BaseException:
            log = pathlib.Path(home, ".drover/up/drover.log")
            print("\n".join(log.read_text(errors="replace").splitlines()[-30:]), file=sys.stderr)
            raise
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(pace.limit(30))
            process.stdout.close()
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
