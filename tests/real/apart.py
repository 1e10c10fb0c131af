"""Tests how the network of a fleet separates segments, and ports within quarantine and
provisioning.

Connections and frames come from test namespaces that are not machines; drover takes no part.
"""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fleet  # noqa: E402  (beside this file)
import testbed  # noqa: E402
from fleet import PROVISIONING, QUARANTINE  # noqa: E402


def segments_reach(f):
    """Checks, from a guest's position in each segment, that it reaches everything that it may reach
    and no other listener on this machine."""
    own = [a["local"] for link in json.loads(testbed.network.ip("-j", "-4", "address"))
           for a in link["addr_info"]]
    ports = {*f.ports.values(), f.files.port, f.rack.port, 22}
    for plane in (f.host, *f.tenants.values()):
        ports |= {plane.port, plane.etcd_port}
    targets = [(host, port) for port in sorted(ports)
               for host in {testbed.GUEST_SEES_HOST, *own}]
    for segment, allowed in f.may_reach().items():
        got = f.network.reaches(segment, targets)
        want = sorted((testbed.GUEST_SEES_HOST, port) for port in allowed)
        assert got == want, f"{segment} reaches {got}, not {want}"


class Driver:
    """The network driver of examples/, called as drover calls it."""

    def __init__(self, f, names):
        config = f.write_driver_config("stand-ins", names)
        self.process = subprocess.Popen([str(fleet.DRIVER), str(config)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.id = 0
        self.ask(op="hello", protocol=1)

    def ask(self, **request):
        self.id += 1
        print(json.dumps({"id": self.id, **request}), file=self.process.stdin, flush=True)
        reply = json.loads(self.process.stdout.readline())
        assert reply["id"] == self.id and "error" not in reply, reply
        return reply

    def place(self, name, segment):
        """Moves the port into the segment; afterwards its segment is reported with Strong proof."""
        common = {"machine": name, "mac": None, "operation": "stand-in", "fence": 1,
                  "limitMs": 30000}
        self.ask(op="place", segment=segment, **common)
        seen = self.ask(op="observe", **common)
        assert (seen["segment"], seen["proof"]) == (segment, "Strong"), seen

    def stop(self):
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()


class StandIns:
    """Two ports in addition to those of the machines, moved by the driver of examples/; call stop()
    at the end."""

    def __init__(self, f):
        self.f = f
        self.one, self.other = (f.network.stand_in(name, address) for name, address in
                                (("one", "10.0.2.251"), ("other", "10.0.2.252")))
        self.driver = Driver(f, ["one", "other"])

    def stop(self):
        self.driver.stop()
        self.one.close()
        self.other.close()

    def hear_each_other(self, segment, want):
        """Moves both ports into the segment. Checks whether each hears the other, as wanted, and
        that the segment's outside hears both."""
        for name in ("one", "other"):
            self.driver.place(name, segment)
        outside = self.f.network.outside(segment)
        for a, b in ((self.one, self.other), (self.other, self.one)):
            got = a.is_heard_by(b)
            assert got == want, f"{segment}: one port's frames arrive at the other: {got}, not {want}"
            assert a.is_heard_by(outside) == "both" == outside.is_heard_by(a), segment
        outside.close()

    def no_machine_answers(self):
        """Waits for a machine whose agent answers in quarantine. Checks that it answers the
        segment's outside, but no other port in the segment while ports are kept apart."""
        net = self.f.network
        outside = net.outside(QUARANTINE)

        def asked():
            """True if the machine was there before the probe that it must not answer, and still
            after the same probe from a port that is not kept apart."""
            for vm in self.f.rack.machines:
                address = net.address(QUARANTINE, vm.mac)
                if not address or not outside.gets_answer_from(address):
                    continue
                answered = self.one.gets_answer_from(address)
                net.keep_apart("one", False)
                there = self.one.gets_answer_from(address)
                net.keep_apart("one", True)
                if there and net.where(vm.name) == QUARANTINE:
                    assert not answered, f"{vm.name} in quarantine is reached from another port there"
                    return True
            return False
        self.f.until("a machine that answers in quarantine", asked, 240)
        outside.close()


def kept_apart(f):
    """Checks that in a segment where machines wait, two ports hear neither each other nor a machine
    there, and that in a tenant's segment the same ports do hear each other."""
    ports = StandIns(f)
    for segment, want in ((QUARANTINE, None), ("tenant/team-a", "both"), (PROVISIONING, None),
                          (QUARANTINE, None)):
        ports.hear_each_other(segment, want)
    ports.no_machine_answers()
    ports.stop()
