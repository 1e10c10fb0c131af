"""Writes a container image to one file that is both an OCI archive and a docker-archive, without a daemon.

A layer is {path: (mode, content)}: content is bytes; mode "link": the target of a symbolic link; mode
"folder": the folder's permissions. The same layers give the same bytes.
"""
import gzip
import hashlib
import io
import json
import pathlib
import tarfile


def digest(data):
    return hashlib.sha256(data).hexdigest()


def parents(layer):
    """Returns the layer with an entry for each folder before its contents."""
    whole = {}
    for name in sorted(layer):
        for above in reversed(pathlib.PurePosixPath(name).parents):
            if str(above) != "." and str(above) not in layer:
                whole.setdefault(str(above), ("folder", 0o755))
        whole[name] = layer[name]
    return whole


def pack(layer, epoch):
    """Returns the layer as a tar archive. epoch: date of each entry."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, (mode, content) in parents(layer).items():
            info = tarfile.TarInfo(name)
            info.mtime = epoch
            if mode == "link":
                info.type, info.linkname, info.mode = tarfile.SYMTYPE, content, 0o777
                archive.addfile(info)
            elif mode == "folder":
                info.type, info.mode = tarfile.DIRTYPE, content
                archive.addfile(info)
            else:
                info.size, info.mode = len(content), mode
                archive.addfile(info, io.BytesIO(content))
    return data.getvalue()


def size_of(layers):
    """Returns the size of all files in bytes."""
    return sum(len(content) for layer in layers for mode, content in layer.values() if isinstance(mode, int))


def lay_out(layers, root):
    """Writes the files of all layers below root, from where a Containerfile copies them."""
    for layer in layers:
        for name, (mode, content) in parents(layer).items():
            path = root / name
            if mode == "link":
                path.symlink_to(content)
            elif mode == "folder":
                path.mkdir(exist_ok=True)
                path.chmod(content)
            else:
                path.write_bytes(content)
                path.chmod(mode)


def encode(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


class Packed:
    """A layer as it is stored: compressed, with the digest of what is compressed."""

    def __init__(self, layer, epoch):
        data = pack(layer, epoch)
        self.diff_id = f"sha256:{digest(data)}"
        self.data = gzip.compress(data, 6, mtime=0)


def archive(configuration, layers, name, tag, epoch):
    """Returns (bytes of the archive, the manifest's digest). configuration: the image's, without the list of layers,
    which are Packed. name: NAME of the NAME:TAG under which `docker load` knows the image."""
    blobs = {}

    def blob(data, kind):
        blobs[digest(data)] = data
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest(data)}", "size": len(data)}

    rootfs = {"rootfs": {"type": "layers", "diff_ids": [layer.diff_id for layer in layers]}}
    config = blob(encode(configuration | rootfs), "config.v1+json")
    stored = [blob(layer.data, "layer.v1.tar+gzip") for layer in layers]
    annotations = configuration["config"]["Labels"]
    manifest = blob(encode({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                            "config": config, "layers": stored, "annotations": annotations}), "manifest.v1+json")
    manifest["annotations"] = {"org.opencontainers.image.ref.name": tag}
    entries = {f"blobs/sha256/{ident}": data for ident, data in blobs.items()}
    entries["oci-layout"] = encode({"imageLayoutVersion": "1.0.0"})
    entries["index.json"] = encode({"schemaVersion": 2, "manifests": [manifest]})
    entries["manifest.json"] = encode([{"Config": f"blobs/sha256/{config['digest'][7:]}", "RepoTags": [f"{name}:{tag}"],
                                        "Layers": [f"blobs/sha256/{s['digest'][7:]}" for s in stored]}])
    return pack({path: (0o644, data) for path, data in entries.items()}, epoch), manifest["digest"]
