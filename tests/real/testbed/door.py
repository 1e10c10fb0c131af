"""The single address of several replicas: a TCP forwarder to the leader.

In production this is the address of a Service whose EndpointSlice the leader writes, or a load
balancer that asks /leadz. Without named(): GET /leadz of each replica, every 0.2 s; connections go
to the replica that answered 200 last, and are closed when that changes. With named(): connections
go to the replica whose name it returned last, and open ones stay, as those of a Service do.
"""
import selectors
import socket
import threading
import time
import urllib.error
import urllib.request


class Door:
    """Listens at `ports` ({name: port}). replicas() returns the current list of objects with .ports
    (same names, and "ops") and .name. named() returns the name of a replica; None: no replica."""

    def __init__(self, ports, replicas, named=None):
        self.replicas, self.named = replicas, named
        self.leader = None
        self.ended = False
        self.wires = set()
        self.lock = threading.Lock()
        self.listeners = []
        for name, port in ports.items():
            s = socket.create_server(("127.0.0.1", port))
            self.listeners.append(s)
            threading.Thread(target=self._accept, args=(s, name), daemon=True).start()
        threading.Thread(target=self._follow, daemon=True).start()

    def stop(self):
        self.ended = True
        for s in self.listeners:
            s.close()
        self._cut()

    def _follow(self):
        while not self.ended:
            if self.named:
                name = self.named()
                self.leader = next((r for r in self.replicas() if r.name == name), None)
            else:
                self._ask_each()
            time.sleep(0.2)

    def _ask_each(self):
        leads = next((r for r in self.replicas() if _leads(r)), None)
        if leads is not self.leader:
            self.leader = leads
            self._cut()

    def _cut(self):
        with self.lock:
            wires, self.wires = self.wires, set()
        for s in wires:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _accept(self, listener, name):
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(near, name), daemon=True).start()

    def _carry(self, near, name):
        with near:
            try:
                far = socket.create_connection(("127.0.0.1", self.leader.ports[name]), 5)
            except (AttributeError, OSError):  # no leader, or the leader just died
                return
            with far:
                far.settimeout(None)
                with self.lock:
                    self.wires |= {near, far}
                try:
                    _pump(near, far)
                except OSError:
                    pass
                with self.lock:
                    self.wires -= {near, far}


def _pump(a, b):
    """Copies data until either side closes."""
    with selectors.DefaultSelector() as ready:
        ready.register(a, selectors.EVENT_READ, b)
        ready.register(b, selectors.EVENT_READ, a)
        while True:
            for key, _ in ready.select():
                piece = key.fileobj.recv(65536)
                if not piece:
                    return
                key.data.sendall(piece)


def _leads(replica):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{replica.ports['ops']}/leadz",
                                    timeout=0.5) as reply:
            return reply.status == 200
    except (urllib.error.URLError, OSError):
        return False
