"""The config drive of docs/image-contract.md, made without drover: the reference for drover's own,
and used by the smoke test to boot."""
import datetime
import os
import subprocess

SECTOR = 2048


def _both(n, size):
    return n.to_bytes(size, "little") + n.to_bytes(size, "big")


def _record(name, sector, length, is_dir):
    now = datetime.datetime.now(datetime.timezone.utc)
    when = bytes([now.year - 1900, now.month, now.day, now.hour, now.minute, now.second, 0])
    body = (b"\0" + _both(sector, 4) + _both(length, 4) + when + bytes([2 if is_dir else 0])
            + b"\0\0" + _both(1, 2) + bytes([len(name)]) + name)
    if len(body) % 2 == 0:
        body += b"\0"
    return bytes([len(body) + 1]) + body


def iso9660(files, label="cidata"):
    """Returns an ISO9660 file system, without extensions, with files {name: bytes} in its root
    folder."""
    root, first = 20, 21
    places, sector = [], first
    for name in sorted(files):
        places.append((f"{name.upper()};1".encode(), sector, files[name]))
        sector += -(-len(files[name]) // SECTOR)
    listing = _record(b"\0", root, SECTOR, True) + _record(b"\1", root, SECTOR, True)
    for name, at, data in places:
        listing += _record(name, at, len(data), False)
    if len(listing) > SECTOR:
        raise ValueError("too many files for one sector of folder")

    def text(value, size):
        return value.encode().ljust(size)

    never = b"0" * 16 + b"\0"
    volume = (b"\1CD001\1\0" + text("", 32) + text(label, 32) + bytes(8) + _both(sector, 4)
              + bytes(32) + _both(1, 2) + _both(1, 2) + _both(SECTOR, 2) + _both(10, 4)
              + (18).to_bytes(4, "little") + bytes(4) + (19).to_bytes(4, "big") + bytes(4)
              + _record(b"\0", root, SECTOR, True) + text("", 623) + never * 4 + b"\1")

    def table(order):
        return b"\1\0" + root.to_bytes(4, order) + (1).to_bytes(2, order) + b"\0\0"

    out = bytearray(sector * SECTOR)

    def put(at, data):
        out[at * SECTOR:at * SECTOR + len(data)] = data

    put(16, volume)
    put(17, b"\xffCD001\1")
    put(18, table("little"))
    put(19, table("big"))
    put(root, listing)
    for _, at, data in places:
        put(at, data)
    return bytes(out)


def contents(uid, node, join, user_data="#cloud-config\n{}\n",
             network="version: 2\nethernets: {eth0: {dhcp4: true}}\n"):
    """Returns the four files; join is the dict of drover-join.cfg."""
    return {
        "meta-data": f"instance-id: {uid}\nlocal-hostname: {node}\n".encode(),
        "user-data": user_data.encode(),
        "network-config": network.encode(),
        "drover-join.cfg": "".join(f"{k}={v}\n" for k, v in join.items() if v).encode(),
    }


def write_disk(path, image_zst, iso):
    """Writes the image to the drive file path, moves its backup GPT to the end, and appends the
    partition cidata, as drover's agent does."""
    size = os.stat(path).st_size
    with open(path, "r+b") as disk:
        disk.truncate(0)
        subprocess.run(["zstd", "-q", "-d", "-c", str(image_zst)], check=True, stdout=disk)
        disk.truncate(size)
    mib = 1 << 20
    start = (size // mib - 1 - -(-len(iso) // mib)) * mib
    _sfdisk(path, "", "--relocate", "gpt-bak-std")
    _sfdisk(path, f"start={start // 512}, size={-(-len(iso) // mib) * mib // 512}, "
                  "type=linux, name=cidata\n", "--append")
    with open(path, "r+b") as disk:
        disk.seek(start)
        disk.write(iso)


def _sfdisk(path, script, *options):
    subprocess.run(["sfdisk", "-q", "--no-reread", "--no-tell-kernel", *options, str(path)],
                   input=script, text=True, check=True)


def count(path, needle, piece=16 << 20):
    """Returns how often the bytes occur in the drive's file, read from outside; holes read as
    zeros."""
    found, keep, at = 0, b"", 0
    with open(path, "rb") as f:
        size = os.fstat(f.fileno()).st_size
        while True:
            try:
                start = os.lseek(f.fileno(), at, os.SEEK_DATA)
            except OSError:  # only holes from here on
                return found
            keep = keep if start == at else b""
            end = min(os.lseek(f.fileno(), start, os.SEEK_HOLE), start + piece, size)
            data = keep + os.pread(f.fileno(), end - start, start)
            found += data.count(needle)
            keep, at = data[-(len(needle) - 1):], end


def not_zero(path, first, piece=16 << 20):
    """Returns the number of nonzero bytes from offset first on."""
    found, at = 0, first
    with open(path, "rb") as f:
        size = os.fstat(f.fileno()).st_size
        while True:
            try:
                at = os.lseek(f.fileno(), at, os.SEEK_DATA)
            except OSError:
                return found
            end = min(os.lseek(f.fileno(), at, os.SEEK_HOLE), at + piece, size)
            data = os.pread(f.fileno(), end - at, at)
            found += len(data) - data.count(0)
            at = end
