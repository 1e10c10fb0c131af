#!/usr/bin/env python3
"""Checks the Debian packages of `make deb`: lintian, files, relations, hardening; that dpkg replaces the
single package of earlier versions by the three; and that a second build gives the same bytes.

    tests/tools/debs.py [--folder build/debian] [--once]     --once: without the second build

Needs the output of `make deb`, lintian, and root, for dpkg. Nothing is installed on this machine: dpkg
works in a folder. tests/real/package.py runs the maintainer scripts.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NAMES = ["drover", "drover-agent-image", "drover-libvirt"]
OLD = "0.1.0+gdfcf17ece2e2"  # a version of the single package
PROGRAMS = {"drover": ["usr/bin/drover", "usr/lib/drover/drover-agent"],
            "drover-libvirt": ["usr/lib/drover/drover-libvirt"]}
SINGLE = """\
Package: drover
Version: {version}
Architecture: {arch}
Maintainer: The drover authors <drover@drover.dev>
Description: the single package of earlier versions
"""


def run(*argv, **more):
    done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **more)
    if done.returncode:
        sys.exit(f"debs: {' '.join(map(str, argv))}: {done.returncode}\n{done.stdout}")
    return done.stdout


def check(holds, *words):
    if not holds:
        sys.exit("debs: " + " ".join(str(w) for w in words))


def found(folder):
    """Returns {package: its file}."""
    return {name: next(folder.glob(f"{name}_*.deb")) for name in NAMES}


def field(deb, name):
    return run("dpkg-deb", "-f", deb, name).strip()


def files(deb):
    """Returns the paths of the package that are not folders."""
    lines = run("dpkg-deb", "-c", deb).splitlines()
    return {line.split()[5].removeprefix("./") for line in lines if not line.startswith("d")}


def packed(tree, out):
    run("dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, out)


def single(debs, out):
    """Writes a package as earlier versions had it: all files in one."""
    with tempfile.TemporaryDirectory(prefix="drover-debs-") as tree:
        for deb in debs.values():
            run("dpkg-deb", "-x", deb, tree)
        os.chmod(tree, 0o755)
        control = pathlib.Path(tree, "DEBIAN")
        control.mkdir()
        (control / "control").write_text(SINGLE.format(version=OLD, arch=field(debs["drover"], "Architecture")))
        (control / "conffiles").write_text("/etc/drover/drover.yaml\n")
        packed(tree, out)


def judge(debs):
    versions = {field(deb, "Version") for deb in debs.values()}
    check(len(versions) == 1, "different versions:", versions)
    version, = versions
    held = {name: files(deb) for name, deb in debs.items()}
    check(sum(map(len, held.values())) == len(set().union(*held.values())), "a file is in two packages")
    image = {n for n in held["drover-agent-image"] if n.startswith("usr/share/drover/")}
    check(image == {f"usr/share/drover/drover-agent.{n}" for n in ("iso", "iso.sha256", "iso.sig", "pub", "spdx.json")},
          "drover-agent-image has", image)
    check(field(debs["drover-agent-image"], "Architecture") == "all", "the boot image is for one architecture")
    check(f"drover-agent-image (= {version})" in field(debs["drover"], "Depends"), "drover runs without its boot image")
    check(not re.search("libvirt|libxml2|libicu", field(debs["drover"], "Depends")), "drover depends on libvirt")
    check("etc/drover/drover.yaml" in held["drover"] and "lib/systemd/system/drover.service" in held["drover"],
          "no unit or settings")
    check(run("dpkg", "--compare-versions", version, "gt", OLD) == "", version, "is older than", OLD)


def hardened(debs):
    with tempfile.TemporaryDirectory(prefix="drover-debs-") as tree:
        for name, paths in PROGRAMS.items():
            run("dpkg-deb", "-x", debs[name], tree)
            for path in paths:
                said = run("readelf", "-lWd", f"{tree}/{path}")
                check("GNU_RELRO" in said and "PIE" in said and "NOW" in said, path, "is not hardened")


def replaces(debs):
    """Lets dpkg install the single package in a folder, and the three over it. Scripts are left out, because they
    concern a systemd that runs."""
    with tempfile.TemporaryDirectory(prefix="drover-debs-") as folder:
        folder = pathlib.Path(folder)
        for name in ("root", "admin/info", "admin/updates", "admin/triggers"):
            (folder / name).mkdir(parents=True)
        for name in ("status", "available"):
            (folder / "admin" / name).touch()
        dpkg = ["dpkg", f"--admindir={folder}/admin", f"--instdir={folder}/root", "--force-depends",
                "--force-not-root", "--auto-deconfigure", "--log=/dev/null", "-i"]
        single(debs, folder / "single.deb")
        run(*dpkg, folder / "single.deb")
        (folder / "root/etc/drover/drover.yaml").write_text("agent-name: 10.1.0.5\n")
        for name, deb in debs.items():
            run("dpkg-deb", "-R", deb, folder / name)
            for script in ("postinst", "prerm", "postrm"):
                (folder / name / "DEBIAN" / script).unlink(missing_ok=True)
            packed(folder / name, folder / f"{name}.deb")
        run(*dpkg, "--force-confold", *(folder / f"{name}.deb" for name in reversed(NAMES)))
        for name, deb in debs.items():
            lost = [n for n in files(deb) if not os.path.lexists(folder / "root" / n)]
            check(not lost, "after the upgrade these are missing:", lost)
            owned = run("dpkg-query", f"--admindir={folder}/admin", "-L", name).split()
            check(all(f"/{n}" in owned for n in files(deb)), name, "does not own its files")
        check((folder / "root/etc/drover/drover.yaml").read_text() == "agent-name: 10.1.0.5\n",
              "the upgrade lost the settings")


def again(folder, debs):
    """Builds all packages a second time, in another time zone and with another umask."""
    with tempfile.TemporaryDirectory(prefix="drover-debs-") as out:
        release = subprocess.run([ROOT / "build/rel/drover", "--version"], check=True, stdout=subprocess.PIPE,
                                 text=True).stdout.split()[1]
        old = os.umask(0o077)
        run(ROOT / "deploy/debian/build", "--out", out, "--release", release, env={**os.environ, "TZ": "Asia/Kathmandu"})
        os.umask(old)
        for deb in debs.values():
            check(pathlib.Path(out, deb.name).exists(), deb.name, "has another name in a second build")
            check(pathlib.Path(out, deb.name).read_bytes() == deb.read_bytes(), deb.name, "differs in a second build")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/debian")
    p.add_argument("--once", action="store_true")
    args = p.parse_args()
    debs = found(args.folder)
    judge(debs)
    hardened(debs)
    replaces(debs)
    said = run("lintian", "--pedantic", "--allow-root", "--fail-on", "error,warning,info,pedantic", *debs.values())
    check(not re.search(r"^[EWIP]:", said, re.M), said)
    if not args.once:
        again(args.folder, debs)
    print(f"debs: {', '.join(deb.name for deb in debs.values())}")


if __name__ == "__main__":
    main()
