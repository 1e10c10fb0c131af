"""A network of segments: one bridge each; a machine's port can be moved between them while the
machine runs.

Isolation is by construction. The switch is a network namespace with the bridges and the machines'
ports, and without any address. The outside of each segment is a namespace of its own, connected to
its bridge and to nothing else: a DHCP server, and at GUEST_SEES_HOST one listener for each target
that the segment may reach, forwarded to this machine's loopback. Nothing routes.
"""
import atexit
import ctypes
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time

from . import pace, process

GATEWAY = "10.0.2.2"  # in every segment; only the listeners at it differ
PROBE = "10.0.2.250"  # outside the DHCP range
RANGE = ("10.0.2.20", "10.0.2.200")
NETNS = pathlib.Path("/run/netns")
CLONE_NEWNET = 0x40000000
QEMU = "/usr/bin/qemu-system-x86_64"
PROBER = str(pathlib.Path(__file__).resolve().parent / "probe.py")

_libc = ctypes.CDLL(None, use_errno=True)


def ip(*args, netns=None, check=True, stdin=None):
    argv = ["ip", *(["-n", netns] if netns else []), *[str(a) for a in args]]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, input=stdin)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(argv)}: {done.stderr.strip()}")
    return done.stdout


def _enter(path):
    """Makes this thread create its sockets in that namespace from here on."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if _libc.setns(fd, CLONE_NEWNET) < 0:
            raise OSError(ctypes.get_errno(), f"setns {path}")
    finally:
        os.close(fd)


class Cable:
    """A namespace with one address, and this machine's address as seen from it."""

    def __init__(self, name, net="10.231.7"):
        self.name, self.here, self.there = name, f"{net}.1", f"{net}.2"
        ip("netns", "add", name)
        ip("link", "add", f"{name}-h", "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("address", "add", f"{self.here}/30", "dev", f"{name}-h")
        ip("link", "set", f"{name}-h", "up")
        for words in (("address", "add", f"{self.there}/30", "dev", "eth0"), ("link", "set", "eth0", "up"),
                      ("link", "set", "lo", "up")):
            ip(*words, netns=name)

    def route_to(self, address):
        """Lets the namespace reach a further address of this machine."""
        ip("route", "add", address, "via", self.here, netns=self.name)

    def close(self):
        ip("link", "delete", f"{self.name}-h", check=False)
        ip("netns", "delete", self.name, check=False)


class Place:
    """Sends and receives frames at eth0 of a namespace: of a segment's outside, or of a stand-in."""

    ARP, OWN = b"\x08\x06", b"\x88\xb5"  # the latter is for experiments
    ALL = b"\xff" * 6

    def __init__(self, space, address):
        self.address = socket.inet_aton(address)
        got = []

        def enter():
            try:
                _enter(NETNS / space)
                got.append(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)))
                got[0].bind(("eth0", 0))
            except OSError as e:
                got.append(e)
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        if isinstance(got[-1], OSError):
            raise got[-1]
        self.socket = got[0]
        self.mac = self.socket.getsockname()[4]

    def close(self):
        self.socket.close()

    def send(self, kind, payload, to=ALL):
        self.socket.send(to + self.mac + kind + payload.ljust(46, b"\0"))

    def hears(self, wanted, limit_s):
        """Returns the first frame for which wanted(kind, payload) is true, or None."""
        end = time.monotonic() + pace.limit(limit_s)
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                frame = self.socket.recv(2048)
            except TimeoutError:
                return None
            if frame[6:12] != self.mac and wanted(frame[12:14], frame[14:]):
                return frame
        return None

    def is_heard_by(self, other, limit_s=0.5):
        """Sends a broadcast and a unicast frame to other. Returns "both", "one" or None: which of
        them arrive."""
        token = os.urandom(16)
        found = 0
        for to in (self.ALL, other.mac):
            self.send(self.OWN, token, to)
            found += bool(other.hears(lambda kind, rest: kind == self.OWN
                                      and rest.startswith(token), limit_s))
        return (None, "one", "both")[found]

    def gets_answer_from(self, address, limit_s=0.5):
        """True if an ARP request for that address is answered."""
        asked = socket.inet_aton(address)
        self.send(self.ARP, b"\0\1\x08\0\6\4\0\1" + self.mac + self.address + bytes(6) + asked)
        return bool(self.hears(lambda kind, rest: kind == self.ARP and rest[6:8] == b"\0\2"
                               and rest[14:18] == asked, limit_s))


class Forwarder:
    """Forwards address:port in a namespace to 127.0.0.1:target in the namespace of this process."""

    def __init__(self, netns, port, target, address=GATEWAY):
        self.netns, self.port, self.target, self.address = netns, port, target, address
        self.listener = None
        self.error = None
        ready = threading.Event()
        threading.Thread(target=self._run, args=[ready], daemon=True).start()
        ready.wait()
        if self.error:
            raise self.error

    def _run(self, ready):
        try:
            _enter(NETNS / self.netns)
            self.listener = socket.create_server((self.address, self.port), backlog=64)
            _enter("/proc/self/ns/net")  # later threads and connections are outside again
        except OSError as e:
            self.error = e
        ready.set()
        while not self.error:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=[near], daemon=True).start()

    def _carry(self, near):
        try:
            far = socket.create_connection(("127.0.0.1", self.target), timeout=10)
        except OSError:
            near.close()
            return
        far.settimeout(None)
        back = threading.Thread(target=self._pump, args=[far, near], daemon=True)
        back.start()
        self._pump(near, far)
        back.join()
        near.close()
        far.close()

    @staticmethod
    def _pump(source, sink):
        try:
            while data := source.recv(1 << 18):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            for end in (source, sink):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def stop(self):
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()


class Network:
    """start(), then port(machine) for each machine; stop() removes all of it.

    segments {name: bridge}; name: what a network driver is asked for, bridge: a short word.
    """

    def __init__(self, name, folder, segments):
        self.name = name
        self.folder = pathlib.Path(folder)
        self.segments = dict(segments)
        self.ports = {}  # machine or stand-in -> its interface in the switch
        self.forwarders = []
        self.servers = []

    # -- life

    def start(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        sweep(self.name)
        atexit.register(self.stop)
        self._space(self.name)
        for bridge in self.segments.values():
            # No snooping and no spanning tree: a port forwards as soon as it is in the bridge.
            ip("link", "add", "name", bridge, "type", "bridge", "stp_state", 0, "forward_delay", 0,
               "mcast_snooping", 0, netns=self.name)
            ip("link", "set", bridge, "up", netns=self.name)
            side = self._side(bridge)
            self._join(side, f"up-{bridge}", bridge, f"{GATEWAY}/24")
            self.servers.append(process.Process(f"dhcp-{bridge}", self.folder, [
                "ip", "netns", "exec", side, "dnsmasq", "--conf-file=/dev/null", "--no-daemon",
                "--port=0", "--user=root", "--no-ping", "--dhcp-authoritative", "--no-hosts",
                "--interface=eth0", "--bind-interfaces", "--log-dhcp",
                f"--dhcp-range={RANGE[0]},{RANGE[1]},1h",
                f"--dhcp-option=option:router,{GATEWAY}", f"--dhcp-option=option:dns-server,{GATEWAY}",
                f"--dhcp-leasefile={self.folder}/{bridge}.leases"]))
        (self.folder / "moves.log").unlink(missing_ok=True)
        self.monitor = process.Process("moves", self.folder, [
            "ip", "-n", self.name, "-o", "monitor", "link"])
        self.servers.append(self.monitor)
        self._wrap_qemu()
        return self

    def stop(self):
        for f in self.forwarders:
            f.stop()
        for s in self.servers:
            s.stop()
        self.forwarders, self.servers = [], []
        sweep(self.name)
        atexit.unregister(self.stop)

    def _side(self, bridge):
        return f"{self.name}.{bridge}"

    @staticmethod
    def _space(name):
        """Creates a namespace whose kernel sends nothing on its own."""
        ip("netns", "add", name)
        subprocess.run(["ip", "netns", "exec", name, "sh", "-c",
                        "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6"],
                       stderr=subprocess.DEVNULL, check=False)

    def _join(self, side, uplink, bridge, address):
        """Creates a namespace with eth0 in that bridge."""
        self._space(side)
        ip("link", "add", "name", uplink, "netns", self.name, "type", "veth",
           "peer", "name", "eth0", "netns", side)
        ip("link", "set", uplink, "master", bridge, "up", netns=self.name)
        ip("address", "add", address, "dev", "eth0", netns=side)
        ip("link", "set", "eth0", "up", netns=side)

    def _wrap_qemu(self):
        """Writes the program that libvirt runs in place of QEMU: only the machine itself runs in
        the switch's namespace. It enters through this process, because libvirt does not see mounts
        newer than itself."""
        space = f"/proc/{os.getpid()}/root{NETNS / self.name}"
        self.emulator = self.folder / "qemu"
        self.emulator.write_text(f"#!/bin/sh\nexec nsenter --net={space} {QEMU} \"$@\"\n")
        self.emulator.chmod(0o755)

    # -- use

    def allow(self, segment, port, target=None, address=GATEWAY):
        """Lets the segment reach address:port, which is this machine's 127.0.0.1:target."""
        self.forwarders.append(Forwarder(self._side(self.segments[segment]), port, target or port, address))
        return self.forwarders[-1]

    def answers(self, segment, address):
        """Makes the address answer in this segment and in no other: the segment's outside has it,
        where GATEWAY is."""
        ip("address", "add", f"{address}/32", "dev", "eth0", netns=self._side(self.segments[segment]))

    def port(self, machine):
        """Creates the interface that is this machine's port, not yet in any segment."""
        if machine not in self.ports:
            self.ports[machine] = f"port{len(self.ports)}"
            ip("tuntap", "add", "dev", self.ports[machine], "mode", "tap", netns=self.name)
            ip("link", "set", self.ports[machine], "up", netns=self.name)
        return self.ports[machine]

    def stand_in(self, name, address):
        """Returns a port that a driver can move like those of machines, and the Place at its other
        end, for sending in place of a machine."""
        self.ports[name] = f"port{len(self.ports)}"
        side = self._side(name)
        self._space(side)
        ip("link", "add", "name", self.ports[name], "netns", self.name, "type", "veth",
           "peer", "name", "eth0", "netns", side)
        ip("link", "set", self.ports[name], "up", netns=self.name)
        ip("link", "set", "eth0", "up", netns=side)
        return Place(side, address)

    def outside(self, segment):
        """Returns the segment's outside, where the agent endpoint is."""
        return Place(self._side(self.segments[segment]), GATEWAY)

    def keep_apart(self, name, on):
        """Sets by hand what a driver sets for a private segment."""
        ip("link", "set", "dev", self.ports[name], "type", "bridge_slave",
           "isolated", "on" if on else "off", netns=self.name)

    def address(self, segment, mac):
        """Returns the address that DHCP of that segment gave to the card, or None."""
        leases = self.folder / f"{self.segments[segment]}.leases"
        for line in leases.read_text().splitlines() if leases.exists() else []:
            if line.split()[1:2] == [mac]:
                return line.split()[2]
        return None

    def where(self, machine):
        """Returns the segment in which the machine's port forwards now, or None."""
        link = json.loads(ip("-j", "link", "show", "dev", self.ports[machine], netns=self.name))[0]
        return {b: s for s, b in self.segments.items()}.get(link.get("master"))

    def moves(self, machine):
        """Returns all segments of the machine's port so far, in order, as the kernel reported."""
        names, found = {b: s for s, b in self.segments.items()}, []
        for line in self.monitor.log.read_text().splitlines():
            at = re.match(rf"\d+: {self.ports[machine]}: .* master (\S+)", line)
            if at and found[-1:] != [names[at[1]]]:
                found.append(names[at[1]])
        return found

    def reaches(self, segment, targets, limit_s=1):
        """Returns which of the targets (host, port) a guest in that segment can connect to."""
        bridge = self.segments[segment]
        side = f"{self.name}.probe"
        self._join(side, "probe", bridge, f"{PROBE}/24")
        ip("route", "add", "default", "via", GATEWAY, netns=side)
        try:
            done = subprocess.run(
                ["ip", "netns", "exec", side, sys.executable, PROBER, str(pace.limit(limit_s))],
                input=json.dumps(list(targets)), capture_output=True, text=True, check=True)
        finally:
            # By name: a deleted namespace deletes its links only later.
            ip("link", "delete", "probe", netns=self.name)
            ip("netns", "delete", side)
        return [tuple(t) for t in json.loads(done.stdout)]


def sweep(name):
    """Removes what a killed run of that name left over."""
    for space in [line.split()[0] for line in ip("netns", "list").splitlines()]:
        if space != name and not space.startswith(name + "."):
            continue
        for pid in ip("netns", "pids", space, check=False).split():
            try:
                os.kill(int(pid), 9)
            except (OSError, ValueError):
                pass
        ip("netns", "delete", space, check=False)
