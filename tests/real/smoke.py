#!/usr/bin/env python3
"""Tests the test bed without drover: control planes, BMC, virtual media, node image, a GPU pod.

    tests/real/smoke.py [--folder FOLDER] [--planes N] [--keep]

Prints the time of each phase; exits 0 only if everything worked.
"""
import argparse
import base64
import json
import pathlib
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import testbed  # noqa: E402  (beside this file)
from testbed import bootiso  # noqa: E402

POD = {
    "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train", "namespace": "default"},
    "spec": {"containers": [{
        "name": "main", "image": "drover.test/pause:1", "imagePullPolicy": "Never",
        "resources": {"limits": {"nvidia.com/gpu": "1"}}}]},
}


class Bmc:
    """A Redfish client in a few lines, with urllib only."""

    def __init__(self, rack, vm):
        self.rack, self.path = rack, f"/redfish/v1/Systems/{vm.uuid}"
        self.tls = ssl.create_default_context(cafile=rack.ca_file)
        pair = f"{rack.user}:{rack.password}".encode()
        self.auth = "Basic " + base64.b64encode(pair).decode()

    def call(self, method, path="", body=None):
        request = urllib.request.Request(
            self.rack.url + self.path + path, method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "Authorization": self.auth})
        # If the machine goes off during a request, the emulator answers 500, as real BMCs do.
        for left in (2, 1, 0):
            try:
                with urllib.request.urlopen(request, context=self.tls, timeout=60) as reply:
                    return json.loads(reply.read() or b"null")
            except urllib.error.HTTPError as e:
                if method != "GET" or e.code != 500 or not left:
                    raise
        return None

    def reset(self, kind):
        self.call("POST", "/Actions/ComputerSystem.Reset", {"ResetType": kind})

    def insert(self, url):
        self.call("POST", "/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia",
                  {"Image": url, "Inserted": True, "WriteProtected": True})
        self.call("PATCH", "", {"Boot": {"BootSourceOverrideTarget": "Cd",
                                         "BootSourceOverrideEnabled": "Once"}})

    def eject(self):
        self.call("POST", "/VirtualMedia/Cd/Actions/VirtualMedia.EjectMedia", {})


def virtual_media(timer, folder, rack, files):
    vm = rack.machines[0]
    bmc = Bmc(rack, vm)
    system = bmc.call("GET")
    assert system["UUID"] == vm.uuid and system["PowerState"] == "Off", system
    bootiso.make(folder / "hello.iso", testbed.parts.paths()["rootfs"] / "vmlinuz",
                 "echo drover-hello; poweroff -f")
    files.add("hello.iso", folder / "hello.iso")
    timer.phase("a boot ISO made")
    bmc.insert(files.url("hello.iso"))
    bmc.reset("On")
    timer.phase("BMC: medium in, power on")
    vm.wait_console("drover-hello", 60)
    timer.phase("ISO: user space")
    testbed.wait_for("power off", lambda: bmc.call("GET")["PowerState"] == "Off", 30)
    bmc.eject()
    timer.phase("off again, medium out")


def kibibytes(resources):
    return int(resources["memory"].removesuffix("Ki"))


def node(timer, rack, plane):
    vm = rack.machines[0]
    bmc = Bmc(rack, vm)
    image = testbed.parts.paths()["nodeimage"] / "node.raw.zst"
    name = f"claim-{uuid.uuid4().hex[:5]}"
    join = {"JOIN_ENDPOINT": plane.guest_endpoint, "TOKEN": plane.mint_token(),
            "CA_CERT_HASH": plane.ca_hash(), "NODE_NAME": name,
            "PROVIDER_ID": f"drover://rack/{vm.name}",
            "NODE_LABELS": "example.com/pool=h100,drover.dev/nodepool=h100",
            "TAINTS": "drover.dev/unregistered:NoSchedule,example.com/x=y:NoSchedule",
            "MAX_PODS": "64", "SYSTEM_RESERVED": "memory=200Mi",
            "KUBE_RESERVED": "memory=100Mi"}
    iso = testbed.drive.iso9660(testbed.drive.contents(str(uuid.uuid4()), name, join))
    testbed.drive.write_disk(vm.drives[0], image, iso)
    timer.phase("image and config drive written to the first drive")
    bmc.reset("On")
    vm.wait_console("drover-join:", 60)
    timer.phase("power on to drover-join")
    vm.wait_console("joining", 60)
    timer.phase("network up")
    testbed.wait_for("Node", lambda: plane.node(name), 120)
    timer.phase("Node registered")
    got = testbed.wait_for("Ready", lambda: plane.node_ready(name), 120)
    timer.phase("Node Ready")
    info = got["status"]["nodeInfo"]
    assert got["spec"]["providerID"] == join["PROVIDER_ID"], got["spec"]
    assert info["systemUUID"].lower() == vm.uuid, info
    assert got["metadata"]["labels"]["drover.dev/nodepool"] == "h100"
    keys = {t["key"] for t in got["spec"]["taints"]}
    assert {"drover.dev/unregistered", "example.com/x"} <= keys, keys
    assert got["status"]["capacity"]["pods"] == "64"
    kept = kibibytes(got["status"]["capacity"]) - kibibytes(got["status"]["allocatable"])
    assert kept >= 300 << 10, f"{kept} KiB kept back, want what SYSTEM_RESERVED and KUBE_RESERVED say"
    plane.apply(POD)
    plane.api("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": None}})
    testbed.wait_for("GPUs", lambda: plane.node(name)["status"]["allocatable"]
                     .get("nvidia.com/gpu") == "8", 60)
    timer.phase("8 GPUs allocatable")

    def running():
        pod = plane.get("/api/v1/namespaces/default/pods/train")
        return pod if pod["status"]["phase"] == "Running" else None
    pod = testbed.wait_for("pod", running, 60)
    timer.phase(f"pod Running at {pod['status'].get('podIP')}")
    bmc.reset("GracefulShutdown")
    testbed.wait_for("power off", lambda: vm.power() == "Off", 60)
    timer.phase("graceful power off")


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--folder", type=pathlib.Path)
    args.add_argument("--planes", type=int, default=3)
    args.add_argument("--keep", action="store_true", help="keep the drives")
    args = args.parse_args()
    folder = args.folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-smoke-"))
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    print(f"folder {folder}")
    testbed.process.sweep(folder)
    timer = testbed.Timer()
    testbed.parts.paths()
    timer.phase("parts")
    names = ["host", "team-a", "team-b"][:args.planes]
    planes = [testbed.ControlPlane(n, folder / n) for n in names]
    rack = testbed.Rack(folder / "rack", prefix="drover-smoke")
    files = testbed.HttpFiles()
    try:
        for plane in planes:
            plane.start()
        for plane in planes:
            plane.wait_ready()
            timer.phase(f"control plane {plane.name}")
        for plane in planes:
            print("          MB resident:", plane.name, plane.rss_mb())
        rack.start()
        timer.phase("rack")
        virtual_media(timer, folder, rack, files)
        node(timer, rack, planes[-1])
    finally:
        if not args.keep:
            rack.stop()
        files.stop()
        for plane in planes:
            plane.stop()
        timer.phase("stopped")
    used = subprocess.run(["du", "-sm", str(folder)], capture_output=True, text=True,
                          check=True).stdout.split()[0]
    print(f"{used} MB left in {folder}\nsmoke: all of it worked")


if __name__ == "__main__":
    main()
