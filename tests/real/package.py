#!/usr/bin/env python3
"""The Debian packages: the single package of earlier versions installed, upgraded to the present
three, configured, upgraded, removed and purged on a machine with systemd.

    tests/real/package.py [--folder FOLDER]

The machine is a systemd-nspawn container that boots Debian 12 (the part rootfs, with an overlay for
writes). drover is started by its unit, and uses a real control plane with the kubeconfig of its own
ServiceAccount. The steps inside are tests/real/package_probe.sh. Needs the output of `make deb`,
and root.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import debs  # noqa: E402  (of tests/tools)
import testbed  # noqa: E402  (beside this file)
from testbed import network, pace, process  # noqa: E402
from testbed.network import Cable  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
UNIT = """\
[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=-/probe/probe.sh {address}
StandardOutput=file:/probe/said
StandardError=inherit
ExecStopPost=systemctl --no-block poweroff
"""


def run(*argv, fails=False, **more):
    done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **more)
    assert bool(done.returncode) == fails, f"{' '.join(map(str, argv))}: {done.returncode}\n{done.stdout}"
    return done.stdout


def newer(deb, folder, out):
    """Writes the same package with a higher version, also where it names its own version."""
    unpacked = folder / "newer"
    shutil.rmtree(unpacked, ignore_errors=True)
    run("dpkg-deb", "-R", deb, unpacked)
    control = unpacked / "DEBIAN/control"
    version = re.search(r"^Version: (.*)$", control.read_text(), re.M)[1]
    control.write_text(control.read_text().replace(version, "9999"))
    run("dpkg-deb", "--root-owner-group", "-Znone", "--build", unpacked, out)


class Machine:
    """Debian in a folder that is never written."""

    def __init__(self, folder):
        self.root = folder / "root"
        if os.path.ismount(self.root):  # left by a run that was killed
            self.close()
        for name in ("root", "over", "work"):
            shutil.rmtree(folder / name, ignore_errors=True)
            (folder / name).mkdir()
        run("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={testbed.parts.paths()['rootfs'] / 'root'},"
            f"upperdir={folder / 'over'},workdir={folder / 'work'}", self.root)
        self.probe = self.root / "probe"
        self.probe.mkdir()

    def install(self, found):
        """Installs with the install script, which accepts only the right digest: first the single
        package, then the three, which take over its files."""
        for name in ("deploy/install.sh", "tests/real/package_probe.sh"):
            shutil.copy(ROOT / name, self.probe)
        (self.probe / "package_probe.sh").rename(self.probe / "probe.sh")
        debs.single(found, self.probe / "single.deb")
        for name, deb in found.items():
            shutil.copy(deb, self.probe / f"{name}.deb")
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")
        inside = ["chroot", self.root, "env", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
        run(*inside, "apt-get", "-q=2", "update")
        digests = {name: run("sha256sum", self.probe / f"{name}.deb").split()[0] for name in ("single", *found)}
        install = [*inside, "/probe/install.sh"]
        said = run(*install, "--package", "/probe/single.deb", "--sha256", "0" * 64, fails=True)
        assert "nothing was installed" in said, said
        run(*install, "--package", "/probe/single.deb", "--sha256", digests["single"])
        said = run(*install, *(word for name in found for word in (
            "--package", f"/probe/{name}.deb", "--sha256", digests[name])))
        assert "installed: drover" in said and "set agent-name in /etc/drover/drover.yaml" in said, said
        run(*inside, "systemd-analyze", "verify", "--man=no", "/lib/systemd/system/drover.service")

    def boot(self, folder, cable, limit_s):
        """Boots the machine; returns the output of the probe."""
        units = self.root / "etc/systemd/system"
        (units / "probe.service").write_text(UNIT.format(address=cable.there))
        wanted = units / "default.target.wants"
        wanted.mkdir(exist_ok=True)
        (wanted / "probe.service").symlink_to("../probe.service")
        with open(folder / "boot.log", "wb") as log:
            subprocess.run(["systemd-nspawn", "-q", "--register=no", "--keep-unit", "-D", str(self.root), "--boot",
                            f"--network-namespace-path={network.NETNS / cable.name}", f"--machine={cable.name}"],
                           stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False, timeout=limit_s)
        said = self.probe / "said"
        return said.read_text() if said.exists() else (folder / "boot.log").read_text(errors="replace")[-3000:]

    def close(self):
        run("umount", self.root)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--folder", type=pathlib.Path)
    args = p.parse_args()
    folder = args.folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-package-"))
    folder.mkdir(parents=True, exist_ok=True)
    process.sweep(folder)
    timer, machine = testbed.Timer(), Machine(folder)
    cable = Cable(f"drp{os.getpid() % 100000}", f"10.232.{os.getpid() % 200}")
    plane = testbed.ControlPlane("host", folder / "host", guest=cable.here,
                                 apiserver_args=["--bind-address=0.0.0.0"]).start()
    try:
        found = debs.found(ROOT / "build/debian")
        machine.install(found)
        for name, deb in found.items():
            newer(deb, folder, machine.probe / f"newer-{name}.deb")
        timer.phase("installed")
        plane.wait_ready()
        deploy = machine.root / "usr/share/drover/deploy"
        for what in ("crds", "rbac.yaml"):
            plane.kubectl("apply", "--server-side", "-f", deploy / what)
        (machine.probe / "kubeconfig").write_text(plane.kubeconfig_for(
            "drover-system", "drover", server=f"https://{cable.here}:{plane.port}"))
        timer.phase("a control plane")
        said = machine.boot(folder, cable, pace.limit(300))
        assert said.splitlines()[-1:] == ["whole"], said
        timer.phase("started by its unit, upgraded, removed, purged")
    finally:
        plane.stop()
        machine.close()
        cable.close()
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
