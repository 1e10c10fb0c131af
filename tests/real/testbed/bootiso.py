"""A bootable ISO for the tests of the test bed itself: Debian's kernel with one shell script as all
of its user space."""
import gzip
import pathlib
import subprocess
import tempfile

STUB = "/usr/lib/systemd/boot/efi/linuxx64.efi.stub"
BUSYBOX = "/bin/busybox"


def _cpio(entries):
    """Returns entries (name, mode, bytes) as an initramfs (newc)."""
    out = bytearray()

    def add(number, name, mode, data):
        fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        out.extend(b"070701" + b"".join(b"%08x" % f for f in fields))
        out.extend(name.encode() + b"\0")
        out.extend(bytes(-len(out) % 4))
        out.extend(data)
        out.extend(bytes(-len(out) % 4))
    for number, (name, mode, data) in enumerate(entries, 1):
        add(number, name, mode, data)
    add(0, "TRAILER!!!", 0, b"")
    return bytes(out)


def make(path, kernel, script):
    """Writes an ISO that boots through UEFI and runs script under busybox sh."""
    init = f"#!/bin/sh\n/bin/busybox --install -s /bin\n{script}\n"
    initrd = gzip.compress(_cpio([
        ("bin", 0o40755, b""), ("dev", 0o40755, b""),
        ("bin/busybox", 0o100755, pathlib.Path(BUSYBOX).read_bytes()),
        ("bin/sh", 0o120777, b"busybox"), ("init", 0o100755, init.encode())]), 1)
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        (work / "initrd").write_bytes(initrd)
        (work / "cmdline").write_text("console=ttyS0 quiet")
        (work / "osrel").write_text("ID=drover-test\nVERSION_ID=1\n")
        sections = []
        for name, file, at in ((".osrel", work / "osrel", 0x20000),
                               (".cmdline", work / "cmdline", 0x30000),
                               (".linux", kernel, 0x2000000),
                               (".initrd", work / "initrd", 0x4000000)):
            sections += ["--add-section", f"{name}={file}",
                         "--change-section-vma", f"{name}={at:#x}"]
        uki, esp = work / "BOOTX64.EFI", work / "iso/esp.img"
        (work / "iso").mkdir()

        def run(*argv):
            subprocess.run([str(a) for a in argv], check=True, capture_output=True)
        run("objcopy", *sections, STUB, uki)
        with open(esp, "wb") as f:
            f.truncate((uki.stat().st_size // (1 << 20) + 3) << 20)
        run("mkfs.vfat", esp)
        run("mmd", "-i", esp, "::/EFI", "::/EFI/BOOT")
        run("mcopy", "-i", esp, uki, "::/EFI/BOOT/")
        run("xorriso", "-as", "mkisofs", "-V", "BOOT", "-e", "esp.img", "-no-emul-boot",
            "-o", path, work / "iso")
