"""Runs libvirt's daemons separately from any others: python3 reaper.py FOLDER virtlogd libvirtd

QEMU daemonizes itself, and libvirt waits until the pid of a killed one no longer exists. A
container's first process may take many seconds to reap an orphan, and each power-off and each
capability probe waits as long. So the orphans become children of this process, which reaps them at
once.

The daemons' state is in FOLDER, their socket FOLDER/run/libvirt-sock.

QEMU runs as root: if only root may open /dev/kvm, libvirt finds KVM in every probe, then finds that
its own QEMU user has no access, and probes again at each call (0.6 s, several for each Redfish
request). Control groups are not used, because they would keep QEMU from /dev/net/tun.
"""
import ctypes
import os
import pathlib
import signal
import subprocess
import sys

PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWNS = 0x00020000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
QEMU_CONF = """\
user = "root"
group = "root"
dynamic_ownership = 0
remember_owner = 0
security_driver = "none"
namespaces = []
cgroup_controllers = []
"""
LIBVIRTD_CONF = """\
auth_unix_ro = "none"
auth_unix_rw = "none"
"""
OWN = (("etc", "/etc/libvirt"), ("run", "/run/libvirt"), ("lib", "/var/lib/libvirt"))


def own_folders(libc, folder):
    """Mounts the folder's directories over libvirt's own, for this process and its children only."""
    def mount(source, target, flags):
        if libc.mount(os.fsencode(source), os.fsencode(target), None, flags, None) < 0:
            sys.exit(f"reaper: {target}: {os.strerror(ctypes.get_errno())}")
    if libc.unshare(CLONE_NEWNS) < 0:
        sys.exit(f"reaper: {os.strerror(ctypes.get_errno())}")
    mount("none", "/", MS_REC | MS_PRIVATE)
    for part, target in OWN:
        os.makedirs(folder / part, exist_ok=True)
        os.makedirs(target, exist_ok=True)
        mount(folder / part, target, MS_BIND)
    (folder / "etc/qemu.conf").write_text(QEMU_CONF)
    (folder / "etc/libvirtd.conf").write_text(LIBVIRTD_CONF)


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    folder = pathlib.Path(sys.argv[1])
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0:
        sys.exit("reaper: not allowed to adopt orphans")
    own_folders(libc, folder)
    daemons = {subprocess.Popen([p, "-p", folder / f"{pathlib.Path(p).name}.pid"]).pid
               for p in sys.argv[2:]}

    def stop(*_):
        for pid in daemons:
            os.kill(pid, signal.SIGTERM)
    signal.signal(signal.SIGTERM, stop)
    while daemons:
        pid, _ = os.wait()
        daemons.discard(pid)


if __name__ == "__main__":
    main()
