#!/usr/bin/env python3
"""Compares the embedded API server with kube-apiserver and etcd, with the same client.

apiserver_creates_per_s, apiserver_gets_per_s: requests per second of one client process with 16 TLS
connections, one request in progress on each, for ConfigMaps of 1 KiB.  Both servers store on disk
(etcd with fsync).  apiserver_watch_10k_mb: resident memory of the embedded server with 10,000 open
watches and only the objects that it creates itself.
apiserver_create_beside_1k_ms: median time of one create, 50 times a second, while 1,000 watches
receive each object; its curve has 0, 10, 100 and 1,000 watches.  apiserver_create_apart_1k_ms: the
same while these watches receive nothing, because the objects are in another namespace.  The reference
of both is what this computer takes in any case: the median time of one get without watches, plus that
of writing 4 KiB to the disk, both as often.
apiserver_fanout_per_s: events that 1,000 watches receive per second while one client creates objects
without a pause.

The clients share the processors with the server, and so do other programs.  The figures ..._cpu_us do
not depend on that: processor time of the embedded server for one create, one get, and one event that
a watch receives.  The reference of creates and gets is the processor time of the client, which
explains a rate that is lower than the server's processor time allows.
Arguments: seconds of each measurement (3), number of watches (10000).
"""
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "contract/apiserver"))
import servers  # noqa: E402  (in tests/contract/apiserver)

LOAD = servers.ROOT / "build/rel/tests/bench/load_apiserver"
CONNECTIONS = 16
# Numbers of watches beside which creates are measured
BESIDE = [0, 10, 100, 1000]


def credential(server, folder):
    """Writes the client's files; returns its arguments: address, CA, and a token or certificate and key."""
    folder = pathlib.Path(folder)
    (folder / "bench-ca.pem").write_text(server.ca)
    if server.token:
        (folder / "bench-credential").write_text(server.token)
    else:
        (folder / "bench-credential").write_bytes(
            servers.base64.b64decode(servers.field(server.kubeconfig, "client-certificate-data"))
            + servers.base64.b64decode(servers.field(server.kubeconfig, "client-key-data")))
    return [server.address, folder / "bench-ca.pem", folder / "bench-credential"]


def server_cpu(server):
    """Returns the processor time of an embedded server, in microseconds."""
    tasks = pathlib.Path(f"/proc/{server.process.pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1000


def clients_cpu():
    """Returns the processor time of the clients that have ended, in microseconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1e6


def rate(where, what, seconds, prefix):
    """Returns (requests per second, number of requests)."""
    done = subprocess.run([LOAD, *where, what, str(CONNECTIONS), str(seconds), prefix],
                          check=True, stdout=subprocess.PIPE, text=True)
    n, took = done.stdout.split()
    return int(n) / float(took), int(n)


def cpu_of(server, fn):
    """Returns fn(), and the processor time that the embedded server and the clients used for it."""
    before = server_cpu(server), clients_cpu()
    value = fn()
    return value, server_cpu(server) - before[0], clients_cpu() - before[1]


def watches(where, server, n):
    """Returns the server's resident memory in MB: (with n watches of two processes, before them)."""
    before = server.rss_mb()
    clients = [subprocess.Popen([LOAD, *where, "watch", str(n // 2), "0", "w"],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
               for _ in range(2)]
    try:
        if any(c.stdout.readline() != "open\n" for c in clients):
            raise RuntimeError("the watches did not open")
        time.sleep(1)
        return server.rss_mb(), before
    finally:
        for c in clients:
            c.stdin.close()
            c.wait()


def beside(where, n, action, seconds, server=None):
    """Returns the median ms of a create beside n watches, the rate and number of their events, and
    the processor time of the embedded server meanwhile (0 without server).

    action: "beside" with a pause between creates, "flood" without; "apart" for objects that the
    watches do not receive; "beside-get" for gets instead of creates.
    """
    follower = subprocess.Popen([LOAD, *where, "follow", str(n), "0", "w"],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if follower.stdout.readline() != "open\n":
            raise RuntimeError("the watches did not open")
        before = server_cpu(server) if server else 0
        done = subprocess.run([LOAD, *where, action, "1", str(seconds), action],
                              check=True, stdout=subprocess.PIPE, text=True)
        creates, median = done.stdout.split()
        follower.stdin.close()
        events, took = follower.stdout.read().split()
        used = server_cpu(server) - before if server else 0
    finally:
        follower.stdin.close()
        follower.wait()
    if int(events) != (int(creates) * n if action in ("beside", "flood") else 0):
        raise RuntimeError(f"{n} watches received {events} events of {creates} objects")
    return float(median), int(events) / float(took) if float(took) else 0, int(events), used


def sync_ms(folder, seconds):
    """Returns the median ms of writing 4 KiB to the disk, 50 times a second."""
    took, until = [], time.monotonic() + seconds
    with open(f"{folder}/sync", "wb", buffering=0) as file:
        file.write(bytes(1 << 20))
        while time.monotonic() < until:
            began = time.monotonic()
            os.pwrite(file.fileno(), bytes(4096), len(took) % 256 * 4096)
            os.fdatasync(file.fileno())
            took.append(time.monotonic() - began)
            time.sleep(0.02)
    return statistics.median(took) * 1000


def beside_new(folder, n, action, seconds):
    """Returns what beside() returns on an embedded server of its own."""
    folder = f"{folder}/{action}-{n}"
    server = servers.Embedded(folder, durable=True)
    try:
        return beside(credential(server.ready(), folder), n, action, seconds, server)
    finally:
        server.stop()


def show(name, value, unit, goal, better, reference, n, **more):
    found = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    print(json.dumps({"name": name, "value": value, "unit": unit, "goal": goal, "better": better,
                      "reference": {"name": reference[0], "value": reference[1]},
                      "ratio": value / reference[1], "n": n, "cpu": found.group(1) if found else "", **more}),
          flush=True)


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
    figures = {}
    with tempfile.TemporaryDirectory(prefix="drover-bench-") as folder:
        for kind, of in (("real", servers.Real), ("embedded", servers.Embedded)):
            server = of(f"{folder}/{kind}", durable=True)
            try:
                where = credential(server.ready(), f"{folder}/{kind}")
                if kind == "embedded":
                    cpu = {what: cpu_of(server, lambda w=what: rate(where, w, seconds, "bench"))
                           for what in ("create", "get")}
                    figures[kind] = {what: found[0] for what, found in cpu.items()}
                else:
                    figures[kind] = {what: rate(where, what, seconds, "bench")
                                     for what in ("create", "get")}
                    flood = beside(where, BESIDE[-1], "flood", seconds / 2)
            finally:
                server.stop()
        server = servers.Embedded(f"{folder}/watched", durable=True)
        try:
            held, empty = watches(credential(server.ready(), f"{folder}/watched"), server, count)
        finally:
            server.stop()
        points = [beside_new(folder, n, "beside", seconds / 2)[0] for n in BESIDE]
        apart = beside_new(folder, BESIDE[-1], "apart", seconds / 2)[0]
        least = beside_new(folder, 0, "beside-get", seconds / 2)[0] + sync_ms(folder, seconds / 2)
        _, fanout, events, event_us = beside_new(folder, BESIDE[-1], "flood", seconds / 2)
    for what, name, goal in (("create", "apiserver_creates_per_s", 3000),
                             ("get", "apiserver_gets_per_s", 20000)):
        value, n = figures["embedded"][what]
        show(name, value, "1/s", goal, "higher",
             ("kube-apiserver + etcd", figures["real"][what][0]), n)
    show("apiserver_watch_10k_mb", held, "MB", 256, "lower", ("before the watches", empty), count)
    show("apiserver_create_beside_1k_ms", points[-1], "ms", 1, "lower",
         ("a get without watches and a write", least), BESIDE[-1],
         curve=[list(point) for point in zip(BESIDE, points)])
    show("apiserver_create_apart_1k_ms", apart, "ms", 1, "lower",
         ("a get without watches and a write", least), BESIDE[-1])
    for what, goal in (("create", 100), ("get", 25)):
        (_, n), server_us, client_us = cpu[what]
        show(f"apiserver_{what}_cpu_us", server_us / n, "us", goal, "lower",
             ("the client", client_us / n), n)
    show("apiserver_event_cpu_us", event_us / events, "us", 10, "lower",
         ("a get", cpu["get"][1] / cpu["get"][0][1]), events)
    show("apiserver_fanout_per_s", fanout, "1/s", 100000, "higher",
         ("kube-apiserver + etcd", flood[1]), BESIDE[-1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
