"""The test bed: real components, started and stopped by the tests.

    parts.paths()      the built parts (tests/real/parts/build)
    plane.ControlPlane a Kubernetes control plane on this machine's loopback
    rack.Rack          virtual machines behind a third-party Redfish BMC
    network.Network    bridges that machines are moved between, one for each segment
    files.HttpFiles    a small file server on the loopback
    drive              the config drive, made without drover
    pace               time limits, adapted to the speed of this machine

Everything is in one work folder: data, keys, logs (*.log) and pid files.
"""
from . import drive, files, network, pace, parts, plane, process, rack
from .files import HttpFiles
from .network import Network
from .plane import GUEST_SEES_HOST, ControlPlane
from .pace import wait_for
from .process import Timer, free_port
from .rack import Rack

__all__ = ["ControlPlane", "GUEST_SEES_HOST", "HttpFiles", "Network", "Rack", "Timer",
           "drive", "files", "free_port", "network", "pace", "parts", "plane", "process", "rack",
           "wait_for"]
