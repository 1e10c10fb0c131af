"""Builds a container image without a container tool: one layer, in docker-archive form, for `ctr
images import`."""
import hashlib
import io
import json
import tarfile


def _add(archive, name, data, mode=0o644):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    info.mode = mode
    archive.addfile(info, io.BytesIO(data))


def docker_archive(path, programs, entrypoint, tags):
    """Writes an image with programs {name: bytes} in / to path."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as archive:
        for name, data in sorted(programs.items()):
            _add(archive, name, data, 0o755)
    layer = layer.getvalue()
    config = json.dumps({
        "architecture": "amd64", "os": "linux", "config": {"Entrypoint": entrypoint},
        "rootfs": {"type": "layers",
                   "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
        "history": [{"created_by": "drover test bed"}],
    }).encode()
    config_name = hashlib.sha256(config).hexdigest() + ".json"
    manifest = json.dumps([{"Config": config_name, "RepoTags": tags,
                            "Layers": ["layer.tar"]}]).encode()
    with tarfile.open(path, "w") as archive:
        _add(archive, config_name, config)
        _add(archive, "layer.tar", layer)
        _add(archive, "manifest.json", manifest)
