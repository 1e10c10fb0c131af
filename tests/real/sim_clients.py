#!/usr/bin/env python3
"""Clients and validators written by others against `drover sim rack`: sushy, redfishtool,
Redfish-Tacklebox and DMTF's Redfish Protocol Validator.

    tests/real/sim_clients.py [--keep]

No machines and no root; about a minute. The permitted complaints of the validator are listed in
docs/sim.md and here; any other one fails the test, and so does an exception that no longer occurs.
"""
import argparse
import csv
import json
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from testbed import free_port, pace  # noqa: E402  (beside this file)

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DROVER = ROOT / "build/rel/drover"
MACHINES = 3
QUIET_START_S = 0.3
SUBSCRIPTIONS = "/redfish/v1/EventService/Subscriptions"
# Assertions of the protocol validator that fail: result and request of each.
EXCEPTIONS = {("SERV_EVENT_POST_RESP", "FAIL", "POST", SUBSCRIPTIONS),
              ("SERV_EVENT_ERROR_ON_BAD_REQUEST", "WARN", "POST", SUBSCRIPTIONS)}
# Reported for one random token in fifty: two tests of its bits, each at a level of 1 %.
BY_CHANCE = {("RESP_HEADERS_X_AUTH_TOKEN", "WARN", "POST", "/redfish/v1/SessionService/Sessions")}


def parts():
    """Returns the folder of the third-party tools; builds it if it is missing."""
    done = subprocess.run([sys.executable, HERE / "parts/build", "--json", "--no-packages",
                           "redfish"], check=True, stdout=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, text=True)
    return pathlib.Path(json.loads(done.stdout.splitlines()[-1])["redfish"])


class Rack:
    def __init__(self, folder):
        self.port = free_port()
        self.data = folder / "rack"
        self.log = open(folder / "rack.log", "w", encoding="utf-8")
        self.process = subprocess.Popen(
            [DROVER, "sim", "rack", "--machines", str(MACHINES), "--data", self.data,
             "--listen", f":{self.port}", "--speed", "4"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.ca = self.data / "ca.crt"
        began = time.monotonic()
        pace.wait_for("the rack", self.answers, 20)
        pace.learn("the simulated rack's start", time.monotonic() - began, QUIET_START_S)
        self.password = (self.data / "password").read_text(encoding="ascii")

    def url(self, machine):
        return f"https://127.10.0.{machine + 1}:{self.port}"

    def answers(self):
        assert self.process.poll() is None, "the rack has ended; see rack.log"
        try:
            tls = ssl.create_default_context(cafile=self.ca)
            urllib.request.urlopen(self.url(1) + "/redfish/v1/", context=tls, timeout=5).close()
            return True
        except OSError:
            return False

    def machine(self, number):
        tls = ssl.create_default_context(cafile=self.ca)
        with urllib.request.urlopen(self.url(1) + "/sim/machines", context=tls) as r:
            return json.load(r)["machines"][number - 1]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(pace.limit(20))
        self.log.close()
        assert status == 0, f"the rack ended with {status}"


# --- sushy: runs under the tools' Python ---------------------------------------------------------

def sushy_walk(url, ca, password):
    import sushy  # pylint: disable=import-outside-toplevel

    image = "http://127.0.0.1:9/agent.iso"
    auth = sushy.auth.SessionOrBasicAuth("admin", password)
    root = sushy.Sushy(url, verify=ca, auth=auth)
    system = root.get_system()
    assert len(root.get_system_collection().get_members()) == 1
    assert system.uuid.startswith("4c4c4544-"), system.uuid
    assert sushy.ResetType.FORCE_OFF in system.get_allowed_reset_system_values()
    assert sushy.BootSource.CD in system.get_allowed_system_boot_source_values()
    assert system.ethernet_interfaces.get_members()[0].mac_address == "b8:ce:f6:00:00:02"
    assert root.get_chassis().identity == "1"
    manager = root.get_manager("/redfish/v1/Managers/1")
    assert manager.get_supported_graphical_console_types() is not None
    slot = manager.virtual_media.get_members()[0]
    slot.insert_media(image)
    slot.invalidate()
    slot.refresh()
    assert slot.image == image and slot.inserted, slot.image
    system.set_system_boot_options(sushy.BootSource.CD,
                                   enabled=sushy.BootSourceOverrideEnabled.ONCE)
    system.invalidate()
    system.refresh()
    assert system.boot.target == sushy.BootSource.CD, system.boot

    def power(want):
        system.invalidate()
        system.refresh()
        return system.power_state == want

    system.reset_system(sushy.ResetType.ON)
    pace.wait_for("power on", lambda: power(sushy.PowerState.ON), 20)
    system.reset_system(sushy.ResetType.FORCE_OFF)
    pace.wait_for("power off", lambda: power(sushy.PowerState.OFF), 20)
    slot.eject_media()
    slot.invalidate()
    slot.refresh()
    assert not slot.inserted
    sessions = root.get_session_service().sessions.get_members()
    assert [s.username for s in sessions] == ["admin"], sessions
    try:
        sushy.Sushy(url, verify=ca, auth=sushy.auth.SessionAuth("admin", "wrong"))
        raise AssertionError("a wrong password came in")
    except sushy.exceptions.AccessError:
        pass
    auth.close()


def try_sushy(rack, python):
    subprocess.run([python, __file__, "--sushy", rack.url(2), rack.ca], check=True,
                   input=rack.password, text=True)


# --- redfishtool and Redfish-Tacklebox --------------------------------------------------------------

def try_redfishtool(rack, folder, python):
    env = dict(os.environ, REQUESTS_CA_BUNDLE=str(rack.ca))

    def tool(auth, *words):
        done = subprocess.run(
            [python, folder / "bin/redfishtool", "-r", rack.url(3)[len("https://"):], "-u", "admin",
             "-p", rack.password, "-S", "Always", "-A", auth, *words],
            env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        assert done.returncode == 0, f"redfishtool {words}: {done.stdout}"
        return done.stdout

    for auth in ("Basic", "Session"):
        assert json.loads(tool(auth, "Systems", "-1"))["Id"] == "1"
        tool(auth, "Systems", "-1", "setBootOverride", "Once", "Cd")
        assert rack.machine(3)["bootTarget"] == "Cd"
        tool(auth, "Systems", "-1", "setAssetTag", auth)
        assert json.loads(tool(auth, "Systems", "-1", "-P", "AssetTag"))["AssetTag"] == auth
        tool(auth, "Systems", "-1", "reset", "On")
        pace.wait_for("power on", lambda: rack.machine(3)["on"], 20)
        tool(auth, "Systems", "-1", "reset", "ForceOff")
        pace.wait_for("power off", lambda: not rack.machine(3)["on"], 20)
        tool(auth, "AccountService", "adduser", "joe", "joes-secret", "Operator")
        tool(auth, "AccountService", "useradmin", "joe", "disable")
        tool(auth, "AccountService", "deleteuser", "joe")
        for words in (["Managers", "-1"], ["Chassis", "-1"], ["SessionService"], ["odata"],
                      ["metadata"], ["Systems", "-1", "EthernetInterfaces"]):
            tool(auth, *words)


def try_tacklebox(rack, folder, python):
    env = dict(os.environ, REQUESTS_CA_BUNDLE=str(rack.ca), SSL_CERT_FILE=str(rack.ca))

    def tool(script, *words):
        done = subprocess.run(
            [python, folder / "bin" / script, "-r", rack.url(1), "-u", "admin", "-p",
             rack.password, *words], env=env, cwd=rack.data, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False)
        assert done.returncode == 0, f"{script} {words}: {done.stdout}"
        return done.stdout

    tool("rf_virtual_media.py", "insert", "--image", "http://127.0.0.1:9/a.iso")
    assert rack.machine(1)["image"] == "http://127.0.0.1:9/a.iso"
    tool("rf_boot_override.py", "--target", "Cd")
    assert rack.machine(1)["bootTarget"] == "Cd"
    tool("rf_power_reset.py", "--type", "On")
    pace.wait_for("power on", lambda: rack.machine(1)["on"], 20)
    tool("rf_power_reset.py", "--type", "ForceOff")
    pace.wait_for("power off", lambda: not rack.machine(1)["on"], 20)
    tool("rf_virtual_media.py", "eject", "--id", "Cd")
    assert rack.machine(1)["image"] is None


# --- the validator ----------------------------------------------------------------------------------

def judge(path):
    """Checks the validator's report."""
    found, passed = {}, 0
    with open(path, encoding="utf-8", newline="") as report:
        rows = csv.reader(report, delimiter="\t", quoting=csv.QUOTE_NONE)
        head = next(rows)
        assert head[:5] == ["Assertion", "Method", "Status code", "URI", "Result"], head
        for row in rows:
            if len(row) < 5:
                continue  # continuation of a message
            name, method, _, uri, level = row[:5]
            passed += level == "PASS"
            if level not in ("PASS", "NOT_TESTED"):
                found[name, level, method, uri] = "\t".join(row)
    wrong = [row for which, row in found.items() if which not in EXCEPTIONS | BY_CHANCE]
    gone = sorted(EXCEPTIONS - set(found))
    assert not wrong, "the protocol validator complains:\n" + "\n".join(wrong)
    assert not gone, f"no exceptions any more: {gone}"
    assert passed > 300, f"only {passed} assertions were tried"
    doc = (ROOT / "docs/sim.md").read_text(encoding="utf-8")
    unlisted = [name for name, *_ in EXCEPTIONS | BY_CHANCE if name not in doc]
    assert not unlisted, f"docs/sim.md does not list {unlisted}"
    return f"{passed} pass, {len(found)} exceptions"


def try_validator(rack, folder, python):
    reports = folder / "reports"
    env = dict(os.environ, REQUESTS_CA_BUNDLE=str(rack.ca))
    run = ("import sys; from redfish_protocol_validator.console_scripts import main; "
           "sys.exit(main())")
    with open(folder / "validator.log", "w", encoding="utf-8") as log:
        subprocess.run([python, "-c", run, "-u", "admin", "-p", rack.password, "-r", rack.url(1),
                        "--ca-bundle", rack.ca, "--avoid-http-redirect", "--report-dir", reports,
                        "--report-type", "tsv"],
                       env=env, cwd=folder, stdout=log, stderr=log, check=False, timeout=pace.limit(400))
    return judge(next(reports.glob("*.tsv")))


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--keep", action="store_true", help="keep the work folder")
    args.add_argument("--sushy", nargs=2, help=argparse.SUPPRESS)
    args = args.parse_args()
    if args.sushy:
        sushy_walk(*args.sushy, sys.stdin.read())
        return 0
    judges = parts()
    python = judges / "bin/python"
    folder = pathlib.Path(tempfile.mkdtemp(prefix="drover-sim-clients-"))
    rack = Rack(folder)
    try:
        for name, test in (
                ("sushy", lambda: try_sushy(rack, python)),
                ("redfishtool", lambda: try_redfishtool(rack, judges, python)),
                ("Redfish-Tacklebox", lambda: try_tacklebox(rack, judges, python)),
                ("Redfish Protocol Validator", lambda: try_validator(rack, folder, python))):
            began = time.monotonic()
            more = test()
            print(f"{time.monotonic() - began:6.1f} s  {name}{': ' + more if more else ''}",
                  flush=True)
    finally:
        rack.stop()
        if args.keep:
            print(folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print("sim_clients: all well")
    return 0


if __name__ == "__main__":
    sys.exit(main())
