"""Runs libvirt's daemons where no init system does: python3 reaper.py virtlogd libvirtd

QEMU daemonizes itself, and libvirt waits until a killed one's pid is gone.  A container's first
process may take many seconds to reap an orphan, each power-off and each capability probe
waiting as long.  So the orphans come here, and are reaped at once.

They also see another /etc/libvirt/qemu.conf, with QEMU as root: where only root may open
/dev/kvm, libvirt finds KVM in every probe, then finds that its own QEMU user has none, and
probes anew at each call (0.6 s, several to each Redfish request).
"""
import ctypes
import os
import signal
import subprocess
import sys
import tempfile

PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWNS = 0x00020000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
CONFIG = b"/etc/libvirt/qemu.conf"
QEMU_CONF = """\
user = "root"
group = "root"
dynamic_ownership = 0
remember_owner = 0
security_driver = "none"
namespaces = []
"""


def own_config(libc):
    """Lays QEMU_CONF over CONFIG, for this process and its children alone."""
    with tempfile.NamedTemporaryFile("w", prefix="qemu-conf-") as conf:
        conf.write(QEMU_CONF)
        conf.flush()
        if (libc.unshare(CLONE_NEWNS) < 0
                or libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) < 0
                or libc.mount(conf.name.encode(), CONFIG, None, MS_BIND, None) < 0):
            sys.exit(f"reaper: {CONFIG.decode()}: {os.strerror(ctypes.get_errno())}")


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0:
        sys.exit("reaper: not allowed to adopt orphans")
    own_config(libc)
    daemons = {subprocess.Popen([program]).pid for program in sys.argv[1:]}

    def stop(*_):
        for pid in daemons:
            os.kill(pid, signal.SIGTERM)
    signal.signal(signal.SIGTERM, stop)
    while daemons:
        pid, _ = os.wait()
        daemons.discard(pid)


if __name__ == "__main__":
    main()
