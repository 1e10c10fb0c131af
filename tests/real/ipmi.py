#!/usr/bin/env python3
"""Machines behind IPMI: drover and ipmitool against ipmi_sim, a third-party simulator.

    tests/real/ipmi.py [--folder FOLDER]

drover takes over a machine that is on: it switches the machine off by IPMI, and names the critical
sensor. `drover console` opens the serial console on a terminal, is refused while another one has it
open, and can take it over. Beside the machine there are a BMC with another password, and an address
where nothing answers. Each ipmitool process that drover starts is checked from outside: no password
in its arguments or environment.
"""
import argparse
import os
import pathlib
import pty
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import testbed  # noqa: E402  (beside this file)
from testbed import process  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DROVER = ROOT / "build/rel/drover"
API = "drover.dev/v1alpha1"
USER, PASSWORD = "drover", "s3cret-of-the-bmc"
GUID = "a1234567-89ab-4def-a123-456789abcdef"

LAN = """\
name "drover"
set_working_mc 0x20
  startlan 1
    addr 127.0.0.1 {port}
    priv_limit admin
    allowed_auths_admin none md2 md5 straight
    guid {guid}
    lan_config_program "/bin/true"
  endlan
  sol "tcp:127.0.0.1:{line}" 115200
  chassis_control "{chassis}"
  user 1 true "" "x" user 10 none md2 md5 straight
  user 2 true "{user}" "{password}" admin 10 none md2 md5 straight
"""
COMMANDS = """\
mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
sensor_add 0x20 0 1 0x01 0x01
sensor_set_threshold 0x20 0 1 readable 111000 100 90 80 0 0 0
sensor_set_event_support 0x20 0 1 enable scanning per-state 000111111000000 000111111000000 000111111000000 000111111000000
sensor_set_value 0x20 0 1 95 0
main_sdr_add 0x20 {sdr}
mc_enable 0x20
"""
HOT = b"CPU Temp"
# A full sensor record, IPMI 2.0 table 43-1: sensor 1, degrees C, readable thresholds.
SDR = bytes([0, 0, 0x51, 1, 43 + len(HOT), 0x20, 0, 1, 3, 1, 0x7F, 0x68, 1, 1, 0, 0x38, 0, 0x38, 0x38, 0x38, 0, 1, 0, 0, 1,
             0, 0, 0, 0, 0, 0, 30, 0, 0, 255, 0, 100, 90, 80, 0, 0, 0, 0, 0, 0, 0, 0, 0xC0 | len(HOT)]) + HOT
# get PARAMETER | set PARAMETER VALUE
CHASSIS = """\
#!{python}
import pathlib, sys
state = pathlib.Path({state!r})
words = [w for w in sys.argv[1:] if not w.startswith("0x")]
while words:
    verb = words.pop(0)
    if verb == "get":
        name = words.pop(0)
        path = state / name
        print(f"{{name}}:{{path.read_text() if path.exists() else 'none'}}")
    elif verb == "set":
        name, value = words.pop(0), words.pop(0)
        (state / name).write_text(value)
"""


def ipmi_sim(folder, port, line):
    folder.mkdir()
    chassis = folder / "chassis"
    chassis.write_text(CHASSIS.format(python=sys.executable, state=str(folder)))
    chassis.chmod(0o755)
    (folder / "power").write_text("1")
    (folder / "lan.conf").write_text(LAN.format(port=port, line=line, guid=GUID.replace("-", ""), chassis=chassis, user=USER,
                                                password=PASSWORD))
    (folder / "commands").write_text(COMMANDS.format(sdr=" ".join(f"{b:#04x}" for b in SDR)))
    return process.Process("ipmi_sim", folder, [
        shutil.which("ipmi_sim"), "-c", folder / "lan.conf", "-f", folder / "commands", "-s", folder, "-n"])


def serial_line():
    """Serves the machine's end of its serial line, which prompts after any input. Returns its
    port."""
    server = socket.create_server(("127.0.0.1", 0))

    def talk(line):
        while data := line.recv(256):
            line.sendall(b"login: " + data)

    def accept():
        while True:
            threading.Thread(target=talk, args=(server.accept()[0],), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()
    return server.getsockname()[1]


class Watch(threading.Thread):
    """What other processes see of each ipmitool that drover started: (pid, arguments,
    environment)."""

    def __init__(self):
        super().__init__(daemon=True)
        self.parents, self.seen = set(), {}

    def look(self):
        for comm in pathlib.Path("/proc").glob("[0-9]*/comm"):
            try:
                of, pid = comm.parent, int(comm.parent.name)
                parent = int((of / "stat").read_text().rsplit(")", 1)[1].split()[1])
                if comm.read_text() == "ipmitool\n" and self.parents & {pid, parent}:
                    self.seen[pid] = ((of / "cmdline").read_bytes(), (of / "environ").read_bytes())
            except (OSError, IndexError):
                continue  # the process has ended

    def run(self):
        while True:
            self.look()
            time.sleep(0.05)


class Terminal:
    """drover console on a terminal."""

    def __init__(self, watch, *words):
        self.said = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execv(DROVER, [str(w) for w in (DROVER, "console", *words)])
        watch.parents.add(self.pid)

    def has(self, words):
        while select.select([self.fd], [], [], 0)[0]:
            try:
                self.said += os.read(self.fd, 4096)
            except OSError:
                break
        return words in self.said

    def type(self, words):
        os.write(self.fd, words)

    def status(self):
        self.has(b"")
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        return (os.waitstatus_to_exitcode(status),) if pid else None


def use_console(watch, kubeconfig):
    words = ("old-1", "--kubeconfig", kubeconfig)
    first = Terminal(watch, *words)
    testbed.wait_for("the console", lambda: first.has(b"SOL Session operational"), 60)
    first.type(b"root\r")
    testbed.wait_for("the machine's answer", lambda: first.has(b"login: root"), 20)
    second = Terminal(watch, *words)
    testbed.wait_for("that it is held", lambda: second.has(b"already active on another session"), 60)
    assert second.has(b"drover console old-1 --take"), second.said
    testbed.wait_for("the second's end", second.status, 20)
    third = Terminal(watch, *words, "--take")
    testbed.wait_for("the console again", lambda: third.has(b"SOL Session operational"), 90)
    # The simulated BMC may take the first packet for a repetition of the last session's.
    testbed.wait_for("the machine's answer", lambda: third.type(b"admin\r") or third.has(b"login: admin"), 30, 2)
    third.type(b"\r~.")
    assert testbed.wait_for("the console's end", third.status, 20)[0] in (0, 1), third.said
    assert b"terminated ipmitool" in third.said, third.said
    os.kill(first.pid, 9)
    os.waitpid(first.pid, 0)
    for t in (first, second, third):
        assert PASSWORD.encode() not in t.said, "a password is on the terminal"


def check_watched(watch, at_least):
    assert len(watch.seen) >= at_least, f"{len(watch.seen)} processes were seen"
    for pid, (argv, env) in watch.seen.items():
        for text in (argv, env):
            assert PASSWORD.encode() not in text and b"another one" not in text, f"ipmitool {pid} shows a password"
            assert b"IPMI_PASSWORD" not in text
        assert b"\0-f\0/proc/self/fd/" in argv, argv


def ipmitool(port, *words):
    return subprocess.run(["ipmitool", "-I", "lanplus", "-H", "127.0.0.1", "-p", str(port), "-U", USER, "-E", *words],
                          env={**os.environ, "IPMI_PASSWORD": PASSWORD}, capture_output=True, text=True, check=False).stdout


def yaml(kind, name, spec):
    return f"apiVersion: {API}\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {spec}\n"


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--folder", type=pathlib.Path)
    folder = args.parse_args().folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-ipmi-"))
    print(f"Logs: {folder}", flush=True)
    for program in ("ipmi_sim", "ipmitool"):
        if not shutil.which(program):
            sys.exit(f"{program} is not there: apt-get install openipmi ipmitool")
    port, other, gone, api, ops, agent, media = (testbed.free_port() for _ in range(7))
    kubeconfig = folder / "api/admin.conf"
    kubectl = testbed.parts.paths()["kube"] / "kubectl"
    timer, running, watch, line = testbed.Timer(), [], Watch(), serial_line()

    def kube(*words, stdin=None):
        return subprocess.run([kubectl, "--kubeconfig", kubeconfig, *words], input=stdin, check=True, text=True,
                              capture_output=True).stdout

    def status(name, path):
        return kube("get", "machine", name, "-o", f"jsonpath={{.status.{path}}}")
    try:
        running += [ipmi_sim(folder / "sim", port, line), ipmi_sim(folder / "other", other, line)]
        running.append(process.Process("apiserver", folder, [
            DROVER, "apiserver", "--data", folder / "api", "--listen", f"127.0.0.1:{api}"]))
        testbed.wait_for("the API server", kubeconfig.exists, 20)
        testbed.wait_for("the simulated BMC", lambda: "is on" in ipmitool(port, "chassis", "power", "status"), 30)
        guid = re.search(r"System GUID\s*: (\S+)", ipmitool(port, "mc", "guid"))[1]
        testbed.wait_for("the API server's answer", lambda: "default" in kube("get", "namespaces"), 20)
        kube("create", "namespace", "drover-system")
        kube("apply", "-f", str(ROOT / "deploy/crds"))
        for name, password in (("right", PASSWORD), ("wrong", "another one")):
            kube("create", "secret", "generic", name, "-n", "drover-system", f"--from-literal=username={USER}",
                 f"--from-literal=password={password}")
        kube("apply", "-f", "-", stdin="---\n".join([
            yaml("Provider", "old", f"""{{type: ipmi, credentialsSecretRef: {{name: right}},
              boot: {{mediaURL: "http://127.0.0.1:{media}"}}, agent: {{endpoint: "https://127.0.0.1:{agent}"}}}}"""),
            *[yaml("Machine", name, f"""{{providerRef: {{name: old}}, managementPolicy: Manage,
                identity: {{systemUUID: {uuid}}},
                bmc: {{address: "ipmi://127.0.0.1:{at}", credentialsSecretRef: {{name: {secret}}}}}}}""")
              for name, at, secret, uuid in (("old-1", port, "right", guid),
                                             ("refused", other, "wrong", GUID.replace("a", "c")),
                                             ("gone", gone, "right", GUID.replace("a", "b")))]]))
        running.append(process.Process("drover", folder, [
            DROVER, "run", "--kubeconfig", kubeconfig, "--identity", "replica-1", "--agent-name", "127.0.0.1",
            "--agent-listen", f"127.0.0.1:{agent}", "--media-listen", f"127.0.0.1:{media}",
            "--ops-listen", f"127.0.0.1:{ops}"], env={"PATH": "/usr/bin:/bin"}))
        watch.parents.add(running[-1].pid)
        watch.start()
        testbed.wait_for("old-1 known by its GUID", lambda: status("old-1", "identity.systemUUID") == guid, 60)
        timer.phase("observed by IPMI")
        kube("patch", "machine", "old-1", "--type", "merge", "-p",
             '{"spec":{"approval":{"action":"Wipe","id":"real-test"}}}')
        testbed.wait_for("old-1 switched off", lambda: "is off" in ipmitool(port, "chassis", "power", "status"), 180)
        testbed.wait_for("old-1 seen off", lambda: status("old-1", "power.state") == "Off", 60)
        timer.phase("switched off, and seen off")
        testbed.wait_for("what the other waits for", lambda: status("gone", "operation.lastError.reason") == "BmcUnreachable", 120)
        said = status("gone", "operation.lastError.message")
        assert "does not answer IPMI" in said, said
        testbed.wait_for("what the third waits for", lambda: status("refused", "operation.lastError.reason") == "BmcAuthFailed", 60)
        assert "refuse" in status("refused", "operation.lastError.message")
        timer.phase("a BMC that is not there, and one that refuses the password, are named")
        testbed.wait_for("the sensor that is critical", lambda: "HardwareFault" in kube(
            "get", "machine", "old-1", "-o", "jsonpath={.status.conditions[?(@.type=='Healthy')].reason}"), 180)
        said = kube("get", "machine", "old-1", "-o", "jsonpath={.status.conditions[?(@.type=='Healthy')].message}")
        assert said == "CPU Temp (critical: 95 degrees C)", said
        timer.phase("a sensor that is critical is named")
        use_console(watch, kubeconfig)
        timer.phase("the serial console: used, held, taken")
        check_watched(watch, 6)
        log = (folder / "drover.log").read_text(errors="replace")
        assert PASSWORD not in log and "another one" not in log, "a password is in the log"
        for p in running:
            p.check()
    except BaseException:
        print((folder / "drover.log").read_text(errors="replace")[-3000:] if (folder / "drover.log").exists() else "")
        raise
    finally:
        for p in reversed(running):
            p.stop()
    print("\nipmi: a machine observed, switched off and seen by its console, by ipmitool against ipmi_sim\n1 passed, 0 failed")


if __name__ == "__main__":
    main()
