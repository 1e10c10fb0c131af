"""Known bytes on the drives of virtual machines: written, and searched in the files behind the
drives.

A tenant's pod writes them (parts/plant.c), or plant() from outside, in place of an earlier tenant.
The search needs nothing from drover, the agent or the guest.
"""
import os
import pathlib
import sys
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fleet  # noqa: E402  (beside this file)
from testbed import drive  # noqa: E402

STAMP_BYTES = 4096  # size of the agent's stamp at the beginning of a clean drive
COPIES = 3  # copies on a drive without a file system
LINES = (1 << 20) // 64
UNTOUCHED = (COPIES * LINES, COPIES * (1 << 20) - STAMP_BYTES)  # remains() of a planted drive
RACK = "topology.drover.dev/rack"  # label by which a pod selects one machine


def marker(who):
    return f"drover-planted-{who}-{uuid.uuid4().hex[:24]}"


def plant(path, mark):
    """Writes what a tenant's pod would write to a drive without a file system."""
    with open(path, "r+b") as f:
        size = os.fstat(f.fileno()).st_size
        for at in (0, size // 2, size - (1 << 20)):
            f.seek(at)
            f.write(b"".join(f"{mark:<54} {n:08}\n".encode() for n in range(LINES)))


def left_on(paths, mark):
    """Returns how often the marker occurs on each drive."""
    return [drive.count(path, mark.encode()) for path in paths]


def remains(paths, mark):
    """Returns what each drive of a machine that is off contains: (number of markers, number of
    nonzero bytes after the stamp). A wiped drive: (0, 0)."""
    return list(zip(left_on(paths, mark), (drive.not_zero(p, STAMP_BYTES) for p in paths)))


def planted(paths, mark):
    """True if root drive and data drive contain everything that planting_pod() writes. The root
    drive may contain more markers, because the pod's manifest is on it."""
    root, data = left_on(paths, mark)
    return root >= LINES and data == COPIES * LINES


def planting_pod(name, gpus, vm, mark):
    """Returns a pod for that machine only, which writes the marker to both drives and then waits."""
    pod = fleet.gpu_pod(name, gpus)
    pod["metadata"]["labels"] = {"app": name}
    pod["spec"]["nodeSelector"] = {RACK: vm.name}
    pod["spec"]["volumes"] = [{"name": "host", "hostPath": {"path": "/"}}]
    pod["spec"]["containers"][0] |= {
        "command": ["/plant", mark, "/host/var/lib/planted", mark, f"nvme:{vm.serial}N1"],
        "securityContext": {"privileged": True},
        "volumeMounts": [{"name": "host", "mountPath": "/host"}]}
    return pod
