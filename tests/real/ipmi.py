#!/usr/bin/env python3
"""Machines behind IPMI: drover and ipmitool against ipmi_sim, which others wrote.

    tests/real/ipmi.py [--folder FOLDER]

A machine that is on is taken over: drover switches it off by IPMI, and says by name that there is no way to boot the agent.  Beside
it stand a BMC whose password is another one, and an address where nothing answers.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

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
  chassis_control "{chassis}"
  user 1 true "" "x" user 10 none md2 md5 straight
  user 2 true "{user}" "{password}" admin 10 none md2 md5 straight
"""
COMMANDS = """\
mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
mc_enable 0x20
"""
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


def ipmi_sim(folder, port):
    folder.mkdir()
    chassis = folder / "chassis"
    chassis.write_text(CHASSIS.format(python=sys.executable, state=str(folder)))
    chassis.chmod(0o755)
    (folder / "power").write_text("1")
    (folder / "lan.conf").write_text(LAN.format(port=port, guid=GUID.replace("-", ""), chassis=chassis, user=USER,
                                                password=PASSWORD))
    (folder / "commands").write_text(COMMANDS)
    return process.Process("ipmi_sim", folder, [
        shutil.which("ipmi_sim"), "-c", folder / "lan.conf", "-f", folder / "commands", "-s", folder, "-n"])


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
    timer, running = testbed.Timer(), []

    def kube(*words, stdin=None):
        return subprocess.run([kubectl, "--kubeconfig", kubeconfig, *words], input=stdin, check=True, text=True,
                              capture_output=True).stdout

    def status(name, path):
        return kube("get", "machine", name, "-o", f"jsonpath={{.status.{path}}}")
    try:
        running += [ipmi_sim(folder / "sim", port), ipmi_sim(folder / "other", other)]
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
    print("\nipmi: a machine observed and switched off by ipmitool against ipmi_sim\n1 passed, 0 failed")


if __name__ == "__main__":
    main()
