"""What a cycle leaves, and the state while its pod runs, so that cycles can be compared: everything
reported by the API servers, the BMC, the switch and the console, without what has to differ, namely
names, identities and times. Events are not included: a killed process does not send its pending
events again."""
import collections
import json
import pathlib
import re
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import testbed  # noqa: E402  (beside this file)
from smoke import Bmc  # noqa: E402

KINDS = ("machines", "nodeclaims", "nodepools", "providers", "virtualclusters", "drains",
         "wiperecords")
# Members that differ between cycles: names, identities and what depends on them; values that grow
# with each leader or write; the size of memory, which differs by a page from boot to boot;
# durations of operations, of which a leader that dies forgets the unfinished ones; a tenant's GPU
# seconds, and the month; the BMC's latency, and the number of requests of a cycle that one leader
# saw from start to end.
DIFFER = {"uid", "id", "resourceVersion", "generation", "observedGeneration", "managedFields", "fence", "sessionURI",
          "bootID", "nodeUID", "tenancy", "record", "previous", "nonceDigest", "envelope",
          "agentBoot", "memory", "memoryBytes", "paths", "usage", "seconds", "month", "latencyMilliseconds", "tripCalls"}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")
SETTLED_S = 3


def is_identity(key, value):
    """True for an operation's identifier, and for the UIDs of pods."""
    return (key == "operation" and isinstance(value, str)) or (key == "pods" and isinstance(value, list))


def scrub(value, differ=DIFFER):
    """Returns value without the named members, and without times."""
    if isinstance(value, dict):
        return {k: scrub(v, differ) for k, v in sorted(value.items())
                if k not in differ and not is_identity(k, v) and not (isinstance(v, str) and TIME.match(v))}
    if isinstance(value, list):
        return [scrub(v, differ) for v in value]
    return value


def left(f):
    """Returns what a cycle leaves. Numbers and Counters are values that grow; so are numbers in
    tuples, at their ends."""
    vm = f.vm
    machine = f.get("machines", vm.name)
    status = dict(machine["status"])
    bmc = Bmc(f.rack, vm)
    boot = bmc.call("GET")["Boot"]
    records = sorted(f.get("wiperecords"), key=lambda r: r["metadata"]["creationTimestamp"])
    out = {
        "tenancy": status.pop("tenancy"),
        "failures": collections.Counter(x["reason"] for x in status.pop("failures", None) or []),
        "status": scrub(status), "spec": machine["spec"],
        "finalizers": machine["metadata"].get("finalizers"),
        "labels": machine["metadata"].get("labels"),
        "annotations": machine["metadata"].get("annotations"),
        "power": vm.power(),
        "medium": bmc.call("GET", "/VirtualMedia/Cd").get("Image") or None,
        "override": boot["BootSourceOverrideTarget"],
        "sessions": len(f.proxy.sessions.keys() & journaled(f)),
        "open media": open_media(f),
        "records": tuple(json.dumps(scrub(r["spec"]), sort_keys=True) for r in records),
        "record of": f.get("wiperecords", status["lastWipe"]["record"])["spec"]["tenancy"],
        "objects": collections.Counter({k: len(f.get(k)) for k in KINDS}),
        "secrets": contents(f.host, "/api/v1/secrets"),
        "config maps": contents(f.host, "/api/v1/configmaps"),
        "agent boots": vm.console_text().count("msg=drover-agent"),
        "boots": vm.console_text().count("BdsDxe: starting"),
    }
    for kind in ("nodepools", "providers", "virtualclusters"):
        for o in f.get(kind):
            out[f"{kind}/{o['metadata']['name']}"] = scrub(o.get("status", {}))
    if f.network:
        out["segment"], out["moves"] = f.network.where(vm.name), tuple(f.network.moves(vm.name))
    for name, plane in f.tenants.items():
        for what, path in (("nodes", "/api/v1/nodes"), ("pods", "/api/v1/pods"),
                           ("secrets", "/api/v1/secrets"), ("config maps", "/api/v1/configmaps"),
                           ("leases", "/apis/coordination.k8s.io/v1/leases"),
                           ("attachments", "/apis/storage.k8s.io/v1/volumeattachments")):
            out[f"{name}: {what}"] = contents(plane, path)
        out[f"{name}: certificates"] = collections.Counter(
            f"{c['spec']['signerName']} {[x['type'] for x in c['status'].get('conditions', [])]}"
            for c in plane.get("/apis/certificates.k8s.io/v1/certificatesigningrequests")["items"])
    return out


def journaled(f):
    """Returns the numbers of the BMC sessions that the journal has named so far: each has an owner
    that ends it."""
    uris = (o.get("status", {}).get("bmc", {}).get("sessionURI") for _, _, o in f.watch.seen)
    return {uri.rsplit("/", 1)[1] for uri in uris if uri}


def contents(plane, path):
    """Returns namespaces and names of the objects of a kind."""
    return sorted(f"{o['metadata'].get('namespace', '')}/{o['metadata']['name']}"
                  for o in plane.get(path)["items"])


def open_media(f):
    """True if any URL of a medium that was ever inserted still answers."""
    urls = {json.loads(r.body)["Image"] for r in f.proxy.log
            if r.path.endswith("VirtualMedia.InsertMedia") and r.body}
    for url in urls:
        try:
            with urllib.request.urlopen(urllib.request.Request(
                    url, headers={"Range": "bytes=0-0"}), timeout=10):
                return True
        except urllib.error.HTTPError as e:
            assert e.code in (403, 404), (url, e.code)
    return False


def settled(f):
    """Returns left(), once it stays the same for a while: background deletions are done."""
    last, since = None, 0

    def same():
        nonlocal last, since
        f.drover.check()
        now, clock = left(f), time.monotonic()
        if now != last:
            last, since = now, clock
        return clock - since > SETTLED_S
    testbed.wait_for("what is left stays the same", same, 60, 0.5)
    return last


def change(before, after):
    """Returns the change: the difference for values that grow, the new value for others."""
    out = {}
    for k, now in after.items():
        was = before[k]
        if isinstance(now, collections.Counter):
            out[k] = {x: now[x] - was[x] for x in now | was if now[x] != was[x]}
        elif isinstance(now, tuple):
            assert now[:len(was)] == was, f"{k}: {was} is no beginning of {now}"
            out[k] = now[len(was):]
        elif isinstance(now, int) and not isinstance(now, bool):
            out[k] = now - was
        else:
            out[k] = now
    return out


def serving(f):
    """Returns Node, claim and machine while they serve."""
    machine = f.get("machines", f.vm.name)
    name = machine["status"]["claimRef"]["name"]
    claim = f.get("nodeclaims", name)
    node = next(p.node(name) for p in f.tenants.values() if p.node(name))
    status = dict(machine["status"])
    status.pop("tenancy")
    metadata = ("labels", "annotations", "finalizers")
    found = {
        "machine": scrub(status),
        "claim": {"spec": scrub(claim["spec"]), "status": scrub(claim["status"]),
                  **{k: claim["metadata"].get(k) for k in metadata}},
        "node": {"spec": scrub(node["spec"]), "status": scrub(node["status"]),
                 **{k: node["metadata"].get(k) for k in metadata}},
    }
    return json.loads(json.dumps(found).replace(name, "NODE"))


def differences(a, b, path=""):
    """Returns [(where, of a, of b)], for messages."""
    if isinstance(a, dict) and isinstance(b, dict):
        return [d for k in sorted({*a, *b})
                for d in differences(a.get(k), b.get(k), f"{path}/{k}")]
    return [] if a == b else [(path, a, b)]
