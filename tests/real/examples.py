#!/usr/bin/env python3
"""Applies every file of examples/ to the real kube-apiserver, as a reader would.

    tests/real/examples.py

Kinds of others have their own definitions there. What is for a command of drover (scenarios,
programs, configuration files) is left out by its path in OTHERS; overlays are built first.
"""
import pathlib
import sys
import tempfile

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import testbed  # noqa: E402  (beside this file)
from testbed import parts  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples"
# Files that are input of a command, and the command.
OTHERS = {
    "burst/scenarios/*.yaml": "drover burst plan",
    "simulate/*.yaml": "drover simulate",
    "deploy/*/drover.yaml": "drover run --config",
    "deploy/*/kustomization.yaml": "kubectl apply -k",
}


def others():
    """Returns the files that OTHERS names; each entry must name one."""
    found = set()
    for pattern in OTHERS:
        more = set(EXAMPLES.glob(pattern))
        assert more, f"OTHERS: {pattern} names no file of examples/"
        found |= more
    return found


def namespaces(path):
    return {d["metadata"]["namespace"] for d in yaml.safe_load_all(path.read_text())
            if d and "namespace" in d.get("metadata", {})}


def main():
    with tempfile.TemporaryDirectory(prefix="drover-examples-") as name:
        folder = pathlib.Path(name)
        testbed.process.sweep(folder)
        plane = testbed.ControlPlane("host", folder / "host").start()
        try:
            plane.wait_ready()
            plane.kubectl("apply", "--server-side", "-f", ROOT / "deploy/crds", "-f", parts.named("kueue"))
            plane.kubectl("wait", "--for=condition=Established", "crd", "--all",
                          f"--timeout={testbed.pace.limit(60):.0f}s")
            files = sorted(set(EXAMPLES.rglob("*.yaml")) - others())
            for ns in sorted(set().union(*map(namespaces, files)) - {"default"}):
                plane.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ns}})
            for path in files:
                plane.kubectl("apply", "-f", path)
                print(f"  {path.relative_to(ROOT)}", flush=True)
            for overlay in sorted(EXAMPLES.glob("deploy/*/kustomization.yaml")):
                plane.kubectl("apply", "-k", overlay.parent)
                print(f"  {overlay.parent.relative_to(ROOT)}", flush=True)
        finally:
            plane.stop()
    print(f"examples: {len(files)} files applied\n1 passed, 0 failed")


if __name__ == "__main__":
    main()
