#!/usr/bin/env python3
"""Bad inputs on real components: a second caller with a boot's secret, and a BMC that stops
answering.

    tests/real/intruders.py [--folder FOLDER]

While a machine is prepared for a tenant, an intruder reads its boot medium and calls drover with
the secret in it: the operation ends as SecondCaller before anything of the tenant is written, and
the claim fails. While the machine is switched off, its BMC stops answering for a while: drover
waits and reports that, claims no progress, and continues when the BMC is back; the machine is
wiped.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fleet  # noqa: E402  (beside this file)
import replicas  # noqa: E402
import testbed  # noqa: E402
from testbed import session_proxy  # noqa: E402

AGENT = fleet.ROOT / "build/rel/drover-agent"
MARK = b'{"drover-boot-block":"unpatched"}'  # wipe/proto.h
BLOCK = 16384
DARK_S = 20


class Plug:
    """Pulled: the BMC does not answer."""

    def __init__(self):
        self.pulled = threading.Event()

    def __call__(self, request):
        return session_proxy.DROP if self.pulled.is_set() else None


def boot_block(f):
    """Returns the boot block in the newest medium that was inserted, as any reader finds it."""
    put = [r for r in f.proxy.log if r.path.endswith("VirtualMedia.InsertMedia")][-1]
    at = fleet.ISO.read_bytes().index(MARK)
    request = urllib.request.Request(json.loads(put.body)["Image"], headers={
        "Range": f"bytes={at}-{at + BLOCK - 1}"})
    with urllib.request.urlopen(request, timeout=testbed.pace.limit(30)) as reply:
        return json.loads(reply.read())


def second_caller(f, folder):
    """Runs the agent program elsewhere, with the same secret, a key of its own and the same boot
    id."""
    block = boot_block(f)
    block["endpoint"] = f"https://127.0.0.1:{f.ports['agent']}"
    boot_id = folder / "proc/sys/kernel/random/boot_id"
    boot_id.parent.mkdir(parents=True)
    boot_id.write_text(f.status()["agent"]["bootID"] + "\n")
    for name in ("sys", "dev"):
        (folder / name).mkdir()
    path = folder / "block"
    path.write_bytes(json.dumps(block).encode().ljust(BLOCK))
    with open(folder / "agent.log", "wb") as log:
        return subprocess.Popen([str(AGENT), "--pretend", str(folder), str(path)],
                                stdout=log, stderr=log, cwd=folder)


def reasons(f):
    return [x["reason"] for x in f.status().get("failures") or []]


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--folder", type=pathlib.Path)
    args = args.parse_args()
    folder = args.folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-intruders-"))
    print(f"Logs and keys: {folder}", flush=True)
    timer = testbed.Timer()
    plug = Plug()
    f = replicas.Fleet(folder, "drover-intruder", hold=plug)
    f.agent_names = ("10.0.2.2", "127.0.0.1")
    intruder = None
    try:
        f.start()
        f.wait_state("free", limit_s=200)
        timer.phase("machine free and off")
        tenancy = f.status()["tenancy"]
        f.tenants["team-a"].apply(fleet.gpu_pod("train", fleet.GPUS))
        f.until("the agent of the claim at home", lambda: f.status().get("state") in
              ("claimed", "imaging") and (f.status().get("agent") or {}).get("bootID"), 120)
        claim = f.status()["claimRef"]["name"]
        where = pathlib.Path(tempfile.mkdtemp(dir=folder))
        intruder = second_caller(f, where)
        f.until("SecondCaller", lambda: "SecondCaller" in reasons(f), 30)
        plug.pulled.set()
        f.until("stopping", lambda: f.status()["state"] == "stopping", 10)
        timer.phase("a second caller ended the operation")
        assert "welcome" not in (where / "agent.log").read_text(), "the intruder was let in"
        f.until("the BMC missed", lambda: (f.status()["operation"].get("lastError") or {})
              .get("reason") == "BmcUnreachable", 60)
        time.sleep(DARK_S)
        status = f.status()
        assert status["state"] == "stopping", status["state"]
        assert status["claimRef"]["name"] == claim, "the claim ended with the machine not off"
        plug.pulled.clear()
        back = time.monotonic()
        timer.phase("the BMC was away; the machine waited for it")
        # The pod still waits: a new claim may take the machine as soon as it is free.
        f.until("wiped, and free", lambda: any(at > back and o.get("status", {}).get("state") == "free"
                                             for at, _, o in list(f.watch.seen)), 240)
        timer.phase("BMC back, machine off, left, wiped")
        old = [c for c in f.get("nodeclaims") if c["metadata"]["name"] == claim]
        assert not old, f"the claim is still there: {old}"
        records = sorted((r["spec"]["tenancy"], r["spec"]["verdict"])
                         for r in f.get("wiperecords"))
        assert f.status()["tenancy"] in (tenancy, tenancy + 1), f.status()["tenancy"]
        assert records[-1] == (f.status()["tenancy"], "Clear"), records
        assert not f.tenants["team-a"].get("/api/v1/nodes")["items"], "a Node of a failed claim"
        secrets = json.loads((where / "block").read_text())["secret"]
        assert secrets not in f.logs(), "the boot secret is in the log"
    except BaseException:
        f.last_words()
        raise
    finally:
        if intruder:
            intruder.kill()
            intruder.wait()
        f.stop()
    print("\nintruders: a second caller ended its operation, a BMC that went away was waited for\n"
          "1 passed, 0 failed")


if __name__ == "__main__":
    main()
