"""Paths of the built parts; missing ones are built first."""
import functools
import json
import pathlib
import subprocess
import sys

BUILD = pathlib.Path(__file__).resolve().parent.parent / "parts/build"


@functools.cache
def named(name):
    """The folder of a part that paths() leaves out."""
    done = subprocess.run([sys.executable, str(BUILD), "--json", "--no-packages", name], check=True,
                          stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    return pathlib.Path(json.loads(done.stdout.splitlines()[-1])[name])


@functools.cache
def paths():
    """{"kube": Path, "etcd": Path, "venv": Path, "nodeimage": Path, "rootfs": Path, ...}"""
    done = subprocess.run([sys.executable, str(BUILD), "--json"], check=True,
                          stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    return {k: pathlib.Path(v) for k, v in json.loads(done.stdout.splitlines()[-1]).items()}
