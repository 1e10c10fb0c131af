#!/usr/bin/env python3
"""Virtual machines that drover defines itself: a Provider of type libvirt, on QEMU and a real
Kubernetes.

    tests/real/libvirt.py [--folder FOLDER]

drover-libvirt defines a machine from the Provider's template, boots the agent from a medium that it
inserts, and wipes it; a pod brings it into a tenant, and it is released. In between, libvirtd is
stopped and started again. At last the Provider requests no machine: the domain and its drives are
deleted.
"""
import argparse
import os
import pathlib
import re
import signal
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fleet  # noqa: E402  (beside this file)
import serving  # noqa: E402
import testbed  # noqa: E402
from testbed import pace, rack  # noqa: E402

QUIET_BOOT_S = 15
LAB = "drover-lab"
MACHINE = f"{LAB}-0"


class NoRack:
    """In place of a rack with BMCs: there is only libvirt."""
    machines, user, password = (), "nobody", "no password at all"

    def start(self):
        rack.libvirt_up()
        rack.sweep(LAB)
        for volume in volumes():
            rack.virsh("vol-delete", volume, "--pool", "default", check=False)

    def stop(self):
        rack.sweep(LAB)


class Lab(fleet.Fleet):
    """A fleet whose machines drover provisions."""

    def __init__(self, folder):
        super().__init__(folder, machines=0, prefix=LAB)
        self.rack = NoRack()
        self.extra_args = ["--allow-libvirt", rack.URI]

    def provider(self, count=1):
        p = super().provider()
        p["metadata"]["name"] = LAB
        del p["spec"]["credentialsSecretRef"]
        p["spec"]["type"] = "libvirt"
        p["spec"]["libvirt"] = {"uri": rack.URI, "machines": {
            "count": count, "instanceType": "vm-gpu-8", "cpus": 2, "memory": "2560Mi",
            "accelerator": "none",
            "drives": [{"size": "4Gi", "bus": "nvme"}, {"size": "1Gi"}]}}
        return p

    def pool(self, **template):
        p = super().pool(**{"providerRefs": [{"name": LAB}], **template})
        # The speed of this machine is not known yet.
        p["spec"]["deadlines"] = {state: "20m" for state in fleet.DEADLINES_S}
        return p

    def apply_objects(self):
        self.host.apply(self.provider(), self.pool(), *[self.virtual_cluster(t) for t in self.tenants])

    def start(self):
        super().start()
        pace.watch("the agent's first boot, from the power-on to its first answer,", QUIET_BOOT_S, self.first_boot)

    def first_boot(self):
        """Returns the seconds that the machine was dirty; None while it is."""
        found = re.search(r"from=dirty to=inspecting .* ms=(\d+)", (self.folder / "drover.log").read_text())
        return int(found[1]) / 1000 if found else None

    def states(self):
        try:
            return super().states()
        except testbed.plane.ApiError as e:
            if e.code == 429:  # a definition that was just established
                return {}
            raise

    def lab_state(self, state, limit_s=300):
        self.until(f"{MACHINE} {state}",
                   lambda: self.states().get(MACHINE, {}).get("state") == state, limit_s)


def domains():
    return [d for d in rack.virsh("list", "--all", "--name").split() if d.startswith(LAB)]


def volumes():
    listed = [line.split()[0] for line in rack.virsh("vol-list", "default").splitlines() if line.split()]
    return [v for v in listed if v.startswith((LAB, "drover-"))]


def restart_libvirtd():
    os.kill(int((rack.HOME / "libvirtd.pid").read_text()), signal.SIGTERM)
    testbed.wait_for("libvirtd to be gone", lambda: not rack.virsh("version", check=False), 30)
    rack.libvirt_up()


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--folder", type=pathlib.Path)
    folder = args.parse_args().folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-libvirt-"))
    print(f"Logs and keys: {folder}", flush=True)
    testbed.parts.paths()
    timer = testbed.Timer()
    f = Lab(folder)
    try:
        f.start()
        timer.phase("a host cluster, two tenants, drover: and a Provider that wants one machine")
        f.until("the machine's wipe", lambda: f.states().get(MACHINE, {}).get("state") in ("inspecting", "wiping"), 300)
        restart_libvirtd()
        f.lab_state("free")
        f.view.done()
        timer.phase("defined, booted from its medium, wiped beside a libvirtd that restarted: free")
        assert domains() == [MACHINE], domains()
        assert volumes() == [f"{MACHINE}-drive{n}.raw" for n in range(2)], volumes()
        assert rack.virsh("domstate", MACHINE) == "shut off"

        serving.run_pods(f, [("team-a", "train")])
        f.view.done()
        timer.phase("a pod of team-a Running on it")
        machine = f.get("machines", MACHINE)
        node = f.pod_running("team-a", "train")["spec"]["nodeName"]
        seen = f.tenants["team-a"].node(node)["status"]["nodeInfo"]["systemUUID"].lower()
        assert seen == machine["spec"]["identity"]["systemUUID"] == rack.virsh("domuuid", MACHINE)

        f.tenants["team-a"].kubectl("delete", "pod", "train", "--wait=false")
        f.host.kubectl("delete", "nodeclaim", node, "--wait=false")
        f.lab_state("wiping")
        f.lab_state("free")
        f.view.done()
        timer.phase("given back, wiped, free")

        f.host.apply(f.provider(count=0))
        f.until("no machine left", lambda: MACHINE not in f.states(), 120)
        assert domains() == [] and volumes() == [], (domains(), volumes())
        timer.phase("domain and drives gone")
        serving.secrets_kept(f)
    except BaseException:
        f.last_words()
        raise
    finally:
        f.stop()
    print("\nlibvirt: one machine made, used, given back and unmade\n1 passed, 0 failed")


if __name__ == "__main__":
    main()
