"""The test bed: real parts, started and stopped by the tests.

    parts.paths()      the built parts (tests/real/parts/build)
    plane.ControlPlane a Kubernetes control plane on this machine's loopback
    rack.Rack          virtual machines behind a Redfish BMC that others wrote
    files.HttpFiles    a small file server on the loopback
    drive              the config drive, made without drover

Everything lives in one work folder: data, keys, logs (*.log) and pid files.
"""
from . import drive, files, parts, plane, process, rack  # noqa: F401
from .files import HttpFiles  # noqa: F401
from .plane import ControlPlane  # noqa: F401
from .process import Timer, free_port, wait_for  # noqa: F401
from .rack import Rack  # noqa: F401

GUEST_SEES_HOST = plane.GUEST_SEES_HOST
