"""The test bed: real parts, started and stopped by the tests.

    parts.paths()      the built parts (tests/real/parts/build)
    plane.ControlPlane a Kubernetes control plane on this machine's loopback
    rack.Rack          virtual machines behind a Redfish BMC that others wrote
    network.Network    bridges that machines are moved between, one for each segment
    files.HttpFiles    a small file server on the loopback
    drive              the config drive, made without drover

Everything lives in one work folder: data, keys, logs (*.log) and pid files.
"""
from . import drive, files, network, parts, plane, process, rack
from .files import HttpFiles
from .network import Network
from .plane import GUEST_SEES_HOST, ControlPlane
from .process import Timer, free_port, wait_for
from .rack import Rack

__all__ = ["ControlPlane", "GUEST_SEES_HOST", "HttpFiles", "Network", "Rack", "Timer",
           "drive", "files", "free_port", "network", "parts", "plane", "process", "rack",
           "wait_for"]
