#!/usr/bin/env python3
"""What deploy/*.yaml permits each of drover's roles, tested on the real kube-apiserver with their
own tokens.

    tests/real/rights.py [--folder FOLDER] [--keep]

On-call operators: each command of theirs, and nothing else on any object. drover in its own cluster
and in a tenant's: each request that its code sends, and none that a thief of the token would want.
Every line of the tables below is one request; exits 0 only if each was answered as expected.
"""
import argparse
import json
import pathlib
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import testbed  # noqa: E402  (beside this file)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DROVER = ROOT / "build/rel/drover"
OURS = "/apis/drover.dev/v1alpha1"
SYSTEM = "drover-system"
TENANT = "drover-in-tenant"  # one control plane is both host and tenant here, with two accounts
DEVICES = "/apis/resource.k8s.io/v1"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
POLICY = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/drover-tenant"
MERGE, JSON, APPLY = ("application/merge-patch+json", "application/json-patch+json",
                      "application/apply-patch+yaml")
PIN = "sha256:" + "f" * 64
GROUP = "system:bootstrappers:kubeadm:default-node-token"


class Caller:
    """A client with a bearer token."""

    def __init__(self, plane, token):
        self.server, self.token = plane.server, token
        self.tls = ssl.create_default_context(cadata=plane.ca_pem())

    def ask(self, method, path, body=None, content_type=None):
        """(status, text)"""
        kind = content_type or (MERGE if method == "PATCH" else "application/json")
        request = urllib.request.Request(
            self.server + path, method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": kind, "Authorization": f"Bearer {self.token}"})
        try:
            with urllib.request.urlopen(request, context=self.tls,
                                        timeout=testbed.pace.limit(30)) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as e:
            return e.code, e.read().decode(errors="replace")


class Judge:
    """Counts requests, and records those with an unexpected answer."""

    def __init__(self):
        self.asked, self.wrong = 0, []

    def may(self, caller, method, path, *rest):
        self.asked += 1
        code, text = caller.ask(method, path, *rest)
        if code >= 300:
            self.wrong.append(f"refused: {method} {path} {rest}: {code} {text[:400]}")

    def may_not(self, caller, method, path, *rest):
        """Checks that the request is refused for lack of rights, and for nothing else."""
        self.asked += 1
        code, text = caller.ask(method, path, *rest)
        if code != 403:
            self.wrong.append(f"allowed: {method} {path} {rest}: {code} {text[:400]}")

    def refused(self, caller, method, path, *rest):
        """Checks that the definition refuses what RBAC and the policies allow."""
        self.asked += 1
        code, text = caller.ask(method, path, *rest)
        if code != 422:
            self.wrong.append(f"accepted: {method} {path} {rest}: {code} {text[:400]}")

    def passes(self, caller, method, path, *rest):
        """Checks that RBAC allows the request; what it asks for may be missing."""
        self.asked += 1
        code, text = caller.ask(method, path, *rest)
        if code in (401, 403):
            self.wrong.append(f"refused: {method} {path} {rest}: {code} {text[:400]}")

    def verb(self, kubeconfig, ok, *args):
        self.asked += 1
        done = subprocess.run([str(DROVER), *args, "--kubeconfig", str(kubeconfig)],
                              capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if (done.returncode == 0) != ok or (not ok and "orbidden" not in done.stderr):
            self.wrong.append(f"drover {' '.join(args)}: {done.returncode} {done.stderr}")


def annotations(**kv):
    return {"metadata": {"annotations": {f"drover.dev/{k.replace('_', '-')}": v
                                         for k, v in kv.items()}}}


def spec(**kv):
    return {"spec": kv}


def token_of(plane, namespace, account):
    return plane.kubectl("create", "token", account, "-n", namespace, "--duration=1h").strip()


def person(plane, name, role):
    """Creates a ServiceAccount that stands for a person: only the role matters."""
    plane.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": "default"}},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
         "metadata": {"name": name},
         "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
         "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "default"}]})
    return Caller(plane, token_of(plane, "default", name))


def in_force(what, caller, *request):
    """Waits until a policy is in force, a moment after it was written."""
    testbed.wait_for(what, lambda: caller.ask(*request)[0] == 403, 60)


# --- on call ------------------------------------------------------------------------------------------

MACHINE, POOL = f"{OURS}/machines/gpu-r1-07", f"{OURS}/nodepools/h100"
PROVIDER, CLUSTER = f"{OURS}/providers/hall-a", f"{OURS}/virtualclusters/team-a"
LEDGER, POLICY = f"{OURS}/burstledgers/research-burst", f"{OURS}/burstpolicies/research-burst"

# Requests that would make the holder drover, or take a machine from its tenant. An administrator
# may send all of them.
ADMINISTERS = [
    (MACHINE, spec(bmc={"address": "https://10.6.6.6/redfish/v1/Systems/1"})),
    (MACHINE, spec(bmc={"tls": {"fingerprint": PIN}})),
    (MACHINE, spec(bmc={"tls": {"fingerprint": None, "trustOnFirstUse": True}})),
    (MACHINE, spec(bmc={"credentialsSecretRef": {"name": "drover-boot-key"}})),
    (MACHINE, spec(identity={"serialNumber": "another"})),
    (MACHINE, spec(drives=[], waivers=[
        {"what": "Drive", "wwn": w, "by": "system:serviceaccount:default:ada", "tenancy": 1000,
         "at": "2026-12-01T10:00:00Z"} for w in ("eui.000a75013f7a5c11", "eui.000b")])),
    (MACHINE, spec(approval={"action": "Wipe", "id": "02"})),
    (MACHINE, spec(approval=None)),
    (MACHINE, spec(providerRef={"name": "other"})),
    (MACHINE, spec(bootMACAddress="b8:ce:f6:01:02:04")),
    (MACHINE, spec(instanceType="other")),
    (MACHINE, spec(managementPolicy="Retire", bootMACAddress=None)),
    (MACHINE, {"metadata": {"labels": {"topology.drover.dev/rack": "r2"}}}),
    (MACHINE, {"metadata": {"finalizers": ["drover.dev/machine", "example.com/other"]}}),
    (MACHINE, annotations(retry="1", resume="1")),
    (MACHINE, {"metadata": {"annotations": {"example.com/other": "1"}}}),
    (POOL, spec(template={"metadata": {"labels": {"a.example/b": "c"}}})),
    (POOL, spec(wipe={"minimumLevel": {"flash": "Clear"}})),
    (POOL, spec(limits={"nodes": "1000"})),
    (POOL, annotations(retry="1")),
    (PROVIDER, spec(network={"exec": {"command": ["/bin/sh", "-c", "id"]}})),
    (PROVIDER, spec(credentialsSecretRef={"name": "other"})),
    (PROVIDER, spec(boot={"mediaURL": "http://10.6.6.6"})),
    (PROVIDER, spec(agent={"endpoint": "https://10.6.6.6:8443"})),
    (PROVIDER, spec(wipe={"minimumTrust": "BootNetwork", "minimumLevel": {"flash": "Clear"}})),
    (PROVIDER, spec(paused=True, limits={"powerOnPerMinute": 600})),
    (CLUSTER, spec(server="https://10.6.6.6:6443")),
    (CLUSTER, spec(kubeconfigSecretRef={"namespace": SYSTEM})),
    (CLUSTER, spec(quota={"nvidia.com/gpu": "1000"})),
    (CLUSTER, annotations(retry="1")),
    (LEDGER, spec(reset={"id": "2", "by": "system:serviceaccount:default:ada", "reason": "new year"})),
    (LEDGER, spec(approvals=[{"tenant": "team-a", "work": "default/train", "by": "system:serviceaccount:default:ada",
                              "at": "2026-12-01T10:00:00Z"}])),
    (POLICY, spec(budget=[{"scope": "Policy", "amount": "1000000", "per": "Day"}])),
]
VERBS = [
    (MACHINE, annotations(retry="1")),
    (MACHINE, annotations(quarantine="the fan is loud")),
    (MACHINE, annotations(quarantine=None, release="1")),
    (MACHINE, annotations(confirm_off="01JD")),
    (MACHINE, annotations(retry=None, release=None, confirm_off=None)),
    (MACHINE, spec(managementPolicy="Observe")),
    (MACHINE, spec(managementPolicy="Retire")),
    (POOL, spec(paused=True)), (POOL, spec(paused=False)),
    (PROVIDER, spec(paused=True)), (PROVIDER, spec(paused=None)),
    (CLUSTER, spec(paused=True)), (CLUSTER, spec(paused=False)),
    (POOL, annotations(resume="2026-12-01T10:00:00Z")),
    (PROVIDER, annotations(resume="2026-12-01T10:00:00Z")),
    (CLUSTER, annotations(resume="2026-12-01T10:00:00Z")),
]


def on_call(plane, folder, judge):
    oncall, admin = person(plane, "olga", "drover-oncall"), person(plane, "ada", "drover-admin")
    view = person(plane, "vera", "drover-view")
    testbed.wait_for("role drover-view", lambda: view.ask("GET", MACHINE)[0] == 200, 60)
    conf = folder / "oncall.conf"
    conf.touch(mode=0o600)
    conf.write_text(plane.kubeconfig_for("default", "olga"))
    in_force("policy drover-oncall", oncall, "PATCH", f"{MACHINE}?dryRun=All",
             {"metadata": {"labels": {"a": "b"}}})
    for path, patch in VERBS:
        judge.may(oncall, "PATCH", path, patch)
        judge.may_not(view, "PATCH", path, patch)
    judge.may_not(oncall, "PATCH", MACHINE, spec(managementPolicy="Manage"))
    judge.may(admin, "PATCH", MACHINE, spec(managementPolicy="Manage"))
    for path, patch in ADMINISTERS:
        judge.may_not(oncall, "PATCH", path, patch)
    for kind, patch in ((JSON, [{"op": "replace", "path": "/spec/bmc/address", "value": "https://10.6.6.6"}]),
                        (APPLY, {"apiVersion": "drover.dev/v1alpha1", "kind": "Machine",
                                 "spec": {"bmc": {"address": "https://10.6.6.6"}}})):
        judge.may_not(oncall, "PATCH", f"{MACHINE}?fieldManager=x&force=true" if kind == APPLY else MACHINE,
                      patch, kind)
    whole = json.loads(admin.ask("GET", MACHINE)[1])
    judge.may_not(oncall, "PUT", MACHINE, whole)
    judge.may_not(oncall, "POST", f"{OURS}/machines", {**whole, "metadata": {"name": "mine"}})
    judge.may_not(oncall, "DELETE", MACHINE)
    for plural in ("machines", "providers", "nodepools", "virtualclusters", "nodeclaims", "wiperecords"):
        judge.may(oncall, "GET", f"{OURS}/{plural}")
        judge.may_not(oncall, "DELETE", f"{OURS}/{plural}")
    judge.may_not(oncall, "PATCH", f"{MACHINE}/status", {"status": {"clean": True}})
    judge.may_not(oncall, "PATCH", f"{OURS}/nodeclaims/h100-x7k2p", {"metadata": {"finalizers": []}})
    judge.may_not(oncall, "GET", f"/api/v1/namespaces/{SYSTEM}/secrets")
    judge.may_not(oncall, "GET", f"/api/v1/namespaces/{SYSTEM}/secrets/bmc-default")
    # Requests of the command line: these writes must be allowed.
    plane.api("PATCH", f"{MACHINE}/status", {"status": {"state": "quarantined", "operation": {"id": "01JD"},
              "quarantine": {"reason": "QuarantinedByOperator", "exit": "auto"}}})
    for args in (("retry", "gpu-r1-07"), ("quarantine", "gpu-r1-07", "--reason", "fan"), ("release", "gpu-r1-07"),
                 ("confirm-off", "gpu-r1-07", "--yes"), ("retire", "gpu-r1-07"), ("resume", "nodepool/h100"),
                 ("resume", "provider/hall-a"), ("drain", "gpu-r1-07", "--reason", "fan"),
                 ("why", "gpu-r1-07")):
        judge.verb(conf, True, *args)
    drains = json.loads(admin.ask("GET", f"{OURS}/drains")[1])["items"]
    judge.verb(conf, True, "cancel", drains[0]["metadata"]["name"])
    judge.may(oncall, "DELETE", f"{OURS}/drains/{drains[0]['metadata']['name']}")
    judge.verb(conf, False, "approve", "gpu-r1-07", "--wipe")
    judge.verb(conf, False, "approve", "gpu-r1-07", "--bmc")
    judge.verb(conf, False, "burst", "reset", "research-burst", "--reason", "new year")
    for path, patch in ADMINISTERS:
        code, text = admin.ask("PATCH", f"{path}?dryRun=All", patch)
        if code == 403:
            judge.wrong.append(f"refused to drover-admin: {path} {patch}: {text[:400]}")


# --- approvals ------------------------------------------------------------------------------------------

DECIDED = f"{OURS}/nodeclaims/h100-x7k2p"
CLAIM = f"{OURS}/nodeclaims/h100-open"


def decision(by):
    return {"decision": "Approved", "by": by, "at": "2026-12-01T10:00:00Z"}


def work(name):
    return {"tenant": "team-a", "work": "default/train", "by": f"system:serviceaccount:default:{name}",
            "at": "2026-12-01T10:00:00Z"}


def reset(name):
    return {"id": "9", "by": f"system:serviceaccount:default:{name}", "reason": "new year"}


def approvals(plane, judge):
    """The policy drover-approval: whoever may administer decides, under the own name."""
    plane.apply({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                 "metadata": {"name": "claim-editor"},
                 "rules": [{"apiGroups": ["drover.dev"],
                            "resources": ["nodeclaims", "nodeclaims/status"],
                            "verbs": ["create", "patch"]}]})
    decided = plane.get(DECIDED)
    open_ = {"apiVersion": decided["apiVersion"], "kind": "NodeClaim", "metadata": {"name": "h100-open"},
             "spec": {k: v for k, v in decided["spec"].items() if k != "approval"}}
    plane.api("POST", f"{OURS}/nodeclaims", open_)
    admin, editor = person(plane, "adam", "drover-admin"), person(plane, "edda", "claim-editor")
    oncall = person(plane, "otto", "drover-oncall")
    own = spec(approval=decision("system:serviceaccount:default:adam"))
    in_force("policy drover-approval", admin, "PATCH", f"{CLAIM}?dryRun=All",
             spec(approval=decision("system:serviceaccount:default:ada")))
    judge.may(admin, "PATCH", f"{CLAIM}?dryRun=All", own)
    judge.may(editor, "PATCH", f"{CLAIM}?dryRun=All", {"metadata": {"labels": {"a": "b"}}})
    for name, caller in (("edda", editor), ("otto", oncall)):
        judge.may_not(caller, "PATCH", f"{CLAIM}?dryRun=All",
                      spec(approval=decision(f"system:serviceaccount:default:{name}")))
        judge.may_not(caller, "PATCH", f"{CLAIM}?dryRun=All", own)
    whole = json.loads(admin.ask("GET", CLAIM)[1])
    made = {**whole, "metadata": {"name": "made"}, "spec": {**whole["spec"], **own["spec"]}}
    judge.may_not(editor, "POST", f"{OURS}/nodeclaims?dryRun=All", made)
    judge.may(admin, "POST", f"{OURS}/nodeclaims?dryRun=All", made)
    judge.may_not(oncall, "PATCH", CLUSTER, spec(approval={"claims": "None", "webhook": None}))
    in_force("policy drover-burst-approval", admin, "PATCH", f"{LEDGER}?dryRun=All",
             spec(approvals=[work("ada")]))
    judge.may(admin, "PATCH", f"{LEDGER}?dryRun=All", spec(approvals=[work("adam")]))
    plane.apply({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                 "metadata": {"name": "ledger-editor"},
                 "rules": [{"apiGroups": ["drover.dev"], "resources": ["burstledgers"],
                            "verbs": ["get", "create", "patch"]}]})
    clerk = person(plane, "carl", "ledger-editor")
    judge.may(clerk, "PATCH", f"{LEDGER}?dryRun=All", {"metadata": {"labels": {"a": "b"}}})
    for who, caller in (("carl", clerk), ("otto", oncall), ("ada", admin), ("adam", clerk)):
        judge.may_not(caller, "PATCH", f"{LEDGER}?dryRun=All", spec(reset=reset(who)))
    judge.may(admin, "PATCH", f"{LEDGER}?dryRun=All", spec(reset=reset("adam")))
    ledger = json.loads(admin.ask("GET", LEDGER)[1])
    for who, allowed in (("ada", False), ("adam", True)):
        made = {"apiVersion": ledger["apiVersion"], "kind": "BurstLedger", "metadata": {"name": "made"},
                "spec": {"reset": reset(who)}}
        (judge.may if allowed else judge.may_not)(admin, "POST", f"{OURS}/burstledgers?dryRun=All", made)
    recorded = {"status": {"approval": {**decision("adam"), "claim": "h100-x7k2p"}}}
    bound = {"status": {"machineRef": {"name": "gpu-r1-07", "uid": "other"}}}
    in_force("policy drover-claim-status", editor, "PATCH", f"{CLAIM}/status?dryRun=All", recorded)
    judge.may_not(editor, "PATCH", f"{CLAIM}/status?dryRun=All", bound)
    judge.may(editor, "PATCH", f"{CLAIM}/status?dryRun=All", {"status": {"phase": "Pending"}})
    judge.may(admin, "PATCH", f"{CLAIM}/status?dryRun=All", recorded)


# --- waivers of a wipe ----------------------------------------------------------------------------

def waived(what, who, wwn=None, tenancy=5, **more):
    return {"what": what, **({"wwn": wwn} if wwn else {}), "by": f"system:serviceaccount:default:{who}",
            "at": "2026-12-01T10:00:00Z", "reason": "shredded", "tenancy": tenancy, **more}


def waivers(plane, folder, judge):
    """The policy drover-waivers: whoever may administer lets go what was not wiped, under the own
    name, and each act needs its entry."""
    admin = person(plane, "ava", "drover-admin")
    others = {name: person(plane, name, role) for name, role in (
        ("owen", "drover-oncall"), ("viola", "drover-view"), ("abel", "drover-auditor"))}
    plane.apply({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                 "metadata": {"name": "machine-editor"},
                 "rules": [{"apiGroups": ["drover.dev"], "resources": ["machines"],
                            "verbs": ["get", "patch"]}]})
    others["mona"] = person(plane, "mona", "machine-editor")
    drives = [{"wwn": "eui.1", "bytes": 10, "serialNumber": "S1"}, {"wwn": "eui.2", "bytes": 10}]
    drover = Caller(plane, token_of(plane, SYSTEM, "drover"))
    judge.may(drover, "PATCH", MACHINE, spec(drives=drives, waivers=None, approval=None,
                                             managementPolicy="Manage"))
    plane.api("PATCH", f"{MACHINE}/status", {"status": {"state": "quarantined", "tenancy": 5, "lastWipe": None,
              "quarantine": {"reason": "NotWiped", "exit": "operator"}}})
    dry = f"{MACHINE}?dryRun=All"
    gone = spec(drives=drives[1:], waivers=[waived("Drive", "ava", "eui.1")])
    in_force("policy drover-waivers", admin, "PATCH", dry, spec(drives=drives[1:]))
    for what in (gone, spec(managementPolicy="Retire", waivers=[waived("Retirement", "ava")]),
                 spec(approval={"action": "Wipe", "id": "77"})):
        judge.may(admin, "PATCH", dry, what)
        for caller in others.values():
            if "approval" not in what["spec"] or caller is not others["mona"]:
                judge.may_not(caller, "PATCH", dry, what)
    for name, caller in others.items():  # also under the own name
        judge.may_not(caller, "PATCH", dry, spec(drives=drives[1:], waivers=[waived("Drive", name, "eui.1")]))
        judge.may_not(caller, "PATCH", dry, spec(managementPolicy="Retire",
                                                 waivers=[waived("Retirement", name)]))
        judge.may_not(caller, "PATCH", dry, spec(managementPolicy="Retire"))
    # Without an entry, with one of another drive, of an earlier tenancy, or in another name.
    for entry in ([], [waived("Drive", "ava", "eui.2")], [waived("Drive", "ava", "eui.1", tenancy=4)],
                  [waived("Drive", "owen", "eui.1")]):
        judge.may_not(admin, "PATCH", dry, spec(drives=drives[1:], waivers=entry))
    judge.may_not(admin, "PATCH", dry, spec(managementPolicy="Retire"))
    judge.may_not(admin, "PATCH", dry, spec(managementPolicy="Retire", waivers=[waived("Drive", "ava", "eui.1")]))
    judge.may_not(admin, "PATCH", dry, spec(managementPolicy="Retire", waivers=[waived("Retirement", "ava", tenancy=4)]))
    # A machine whose status begins anew may hold the data of its tenant before.
    plane.api("PATCH", f"{MACHINE}/status", {"status": {"state": "known"}})
    judge.may(others["owen"], "PATCH", dry, spec(managementPolicy="Retire"))
    plane.api("PATCH", f"{MACHINE}/status", {"status": {"lastWipe": {"record": "r", "tenancy": 4}}})
    judge.may_not(others["owen"], "PATCH", dry, spec(managementPolicy="Retire"))
    judge.may(admin, "PATCH", dry, spec(managementPolicy="Retire", waivers=[waived("Retirement", "ava")]))
    plane.api("PATCH", f"{MACHINE}/status", {"status": {"state": "quarantined"}})
    # An entry stays until two tenancies are over.
    judge.may(admin, "PATCH", MACHINE, gone)
    for caller in (admin, *others.values()):
        judge.may_not(caller, "PATCH", dry, spec(waivers=None))
        judge.may_not(caller, "PATCH", dry, spec(waivers=[waived("Drive", "ava", "eui.1", reason="lost")]))
    judge.may(admin, "PATCH", dry, spec(waivers=[*gone["spec"]["waivers"], waived("UnseenDrive", "ava", "S9")]))
    for tenancy, ended in ((6, False), (7, True)):
        plane.api("PATCH", f"{MACHINE}/status", {"status": {"tenancy": tenancy}})
        (judge.may if ended else judge.may_not)(admin, "PATCH", dry, spec(waivers=None))
    # Wiped: the on-call may retire it. Unknown to drover: taken over only with an entry.
    plane.api("PATCH", f"{MACHINE}/status", {"status": {"lastWipe": {"record": "r", "tenancy": 7}}})
    judge.may(others["owen"], "PATCH", dry, spec(managementPolicy="Retire"))
    adopt = {"action": "Adopt", "id": "78", "claim": "h100-x7k2p"}
    judge.may(admin, "PATCH", dry, spec(approval=adopt))
    plane.api("PATCH", f"{MACHINE}/status", {"status": {"state": "known"}})
    judge.may_not(admin, "PATCH", dry, spec(approval=adopt))
    for name, caller in (("ava", admin), *others.items()):
        (judge.may if caller is admin else judge.may_not)(caller, "PATCH", dry, spec(approval=adopt, waivers=[
            *gone["spec"]["waivers"], waived("Adoption", name, tenancy=8)]))
    judge.may(others["owen"], "PATCH", dry, spec(managementPolicy="Retire"))
    # The command line writes what the policy wants.
    plane.api("PATCH", f"{MACHINE}/status", {"status": {"state": "quarantined", "tenancy": 8, "inventory": {
        "drives": [{"wwn": "eui.3", "bytes": 10}]}}})
    for name, ok in (("owen", False), ("ava", True)):
        conf = folder / f"{name}.conf"
        conf.touch(mode=0o600)
        conf.write_text(plane.kubeconfig_for("default", name))
        judge.verb(conf, ok, "approve", "gpu-r1-07", "--drives", "--yes", "--reason", "shredded")
        judge.verb(conf, ok, "retire", "gpu-r1-07", "--reason", "sold")
    kept = plane.get(MACHINE)["spec"]["waivers"]
    if [(w["what"], w["wwn"], w.get("reason")) for w in kept if w["tenancy"] == 8] != [
            ("Drive", "eui.2", "shredded"), ("Retirement", "eui.3", "sold")]:
        judge.wrong.append(f"spec.waivers: {kept}")


# --- the audit log ------------------------------------------------------------------------------------

def auditor(plane, judge):
    """The role drover-auditor reads AuditSegments and WipeRecords, and nothing else; the policy
    drover-audit and the definition: the log is append-only, and only drover writes it."""
    reader, admin = person(plane, "aida", "drover-auditor"), person(plane, "adel", "drover-admin")
    drover = Caller(plane, token_of(plane, SYSTEM, "drover"))
    digest = "sha256:" + "a" * 64

    def entry(seq):
        return {"seq": seq, "time": "2026-12-01T10:00:00Z", "who": "drover", "event": "LeaderStarted",
                "previous": digest, "digest": digest}

    segments = f"{OURS}/auditsegments"
    one = {"apiVersion": "drover.dev/v1alpha1", "kind": "AuditSegment", "metadata": {"name": "audit-00000009"},
           "spec": {"number": 9, "entries": [entry(1)]}}
    path = f"{segments}/audit-00000009"
    for caller in (reader, admin):
        judge.may_not(caller, "POST", segments, one)
    judge.may(drover, "POST", segments, one)
    add = [{"op": "add", "path": "/spec/entries/-", "value": entry(2)}]
    for caller in (reader, admin):
        judge.may_not(caller, "PATCH", path, add, JSON)
        judge.may_not(caller, "PATCH", path, {"metadata": {"labels": {"a": "b"}}})
        judge.may_not(caller, "DELETE", path)
        judge.may_not(caller, "DELETE", segments)
    judge.may(drover, "PATCH", path, add, JSON)
    for bent in ([{"op": "replace", "path": "/spec/entries/0/who", "value": "eve"}],
                 [{"op": "remove", "path": "/spec/entries/0"}], [{"op": "replace", "path": "/spec/number", "value": 8}]):
        judge.refused(drover, "PATCH", path, bent, JSON)
    for plural in ("auditsegments", "wiperecords"):
        judge.may(reader, "GET", f"{OURS}/{plural}")
        judge.may(reader, "GET", f"{OURS}/{plural}?watch=1&timeoutSeconds=1")
        judge.may_not(reader, "POST", f"{OURS}/{plural}", one)
        judge.may_not(reader, "DELETE", f"{OURS}/{plural}")
    home = f"/api/v1/namespaces/{SYSTEM}"
    for path in (*(f"{OURS}/{p}" for p in ("machines", "nodeclaims", "virtualclusters", "providers", "drains",
                                           "burstledgers", "nodepools")),
                 f"{home}/secrets", f"{home}/secrets/bmc-default", "/api/v1/secrets", f"{home}/configmaps",
                 f"{home}/configmaps/drover-evidence-keys", "/v1/queue"):
        judge.may_not(reader, "GET", path)
    granted(plane, "aida", "drover-auditor")
    plane.api("POST", f"{home}/configmaps", {"metadata": {"name": "drover-evidence-keys"}})
    testbed.wait_for("Role drover-auditor", lambda: reader.ask(
        "GET", f"{home}/configmaps/drover-evidence-keys")[0] == 200, 60)
    for path in (f"{home}/configmaps", f"{home}/configmaps/drover-view", f"{home}/secrets/bmc-default"):
        judge.may_not(reader, "GET", path)
    judge.may_not(reader, "PATCH", f"{home}/configmaps/drover-evidence-keys", {"data": {}})
    leases = f"/apis/coordination.k8s.io/v1/namespaces/{SYSTEM}/leases"
    for name in ("drover-controller", "other"):
        plane.api("POST", leases, {"metadata": {"name": name}})
    judge.may(reader, "GET", f"{leases}/drover-controller")
    judge.may_not(reader, "PATCH", f"{leases}/drover-controller", {"spec": {"holderIdentity": "eve"}})
    for path in (leases, f"{leases}/other"):
        judge.may_not(reader, "GET", path)


def names_of_users(plane, judge):
    """deploy/requested-by.yaml: a change that names no user gets the name of its user."""
    admin, other = person(plane, "irma", "drover-admin"), person(plane, "omar", "drover-admin")
    drover, key = Caller(plane, token_of(plane, SYSTEM, "drover")), "drover.dev/requested-by"

    def name():
        return (plane.get(CLUSTER)["metadata"].get("annotations") or {}).get(key, "").rsplit(" ", 1)[0]

    def check(want, what):
        if name() != want:
            judge.wrong.append(f"{key} after {what}: {name()}")

    plane.api("PATCH", CLUSTER, {"metadata": {"annotations": None}})
    plane.kubectl("apply", "-f", ROOT / "deploy/requested-by.yaml")

    def stamps():
        judge.may(admin, "PATCH", CLUSTER, spec(weight=3))
        judge.may(admin, "PATCH", CLUSTER, spec(weight=2))
        return name()

    testbed.wait_for("policy drover-requested-by", stamps, 60)
    check("system:serviceaccount:default:irma", "a change of spec")
    judge.may(other, "PATCH", CLUSTER, annotations(resume="2026-12-01T10:00:00Z"))
    check("system:serviceaccount:default:omar", "a change of an annotation")
    judge.may(admin, "PATCH", CLUSTER, {"metadata": {"labels": {"a": "b"}}})
    judge.may(admin, "PATCH", CLUSTER, spec(weight=2))
    judge.may(drover, "PATCH", f"{CLUSTER}/status", {"status": {"observedGeneration": 1}})
    check("system:serviceaccount:default:omar", "changes that the log does not name")
    version = plane.get(CLUSTER)["metadata"]["resourceVersion"]
    judge.may(admin, "PATCH", CLUSTER, spec(weight=2))
    if plane.get(CLUSTER)["metadata"]["resourceVersion"] != version:
        judge.wrong.append("a write that changes nothing was stored")
    # Whoever names a user must be that user.
    judge.may_not(admin, "PATCH", CLUSTER, {**annotations(requested_by="eve 1"), **spec(weight=5)})
    judge.may(admin, "PATCH", CLUSTER, {**annotations(requested_by="system:serviceaccount:default:irma 1"),
                                        **spec(weight=5)})
    check("system:serviceaccount:default:irma", "a change that names its user")
    judge.may(admin, "PATCH", CLUSTER, {"metadata": {"annotations": None}})
    check("system:serviceaccount:default:irma", "a change that removes the annotation")
    plane.kubectl("delete", "-f", ROOT / "deploy/requested-by.yaml")


def granted(plane, name, role):
    """Binds a Role of drover's namespace to the person."""
    plane.apply({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
                 "metadata": {"name": f"{name}-{role}", "namespace": SYSTEM},
                 "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role},
                 "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "default"}]})


def billing(plane, judge):
    """drover-view together with the Role drover-billing reads the bills, and writes nothing."""
    clerk = person(plane, "bill", "drover-view")
    home = f"/api/v1/namespaces/{SYSTEM}"
    for name in ("drover-bills-0", "drover-bills-f", "drover-bills-10"):
        plane.api("POST", f"{home}/configmaps", {"metadata": {"name": name}})
    judge.may_not(clerk, "GET", f"{home}/configmaps/drover-bills-0")
    granted(plane, "bill", "drover-billing")
    testbed.wait_for("Role drover-billing", lambda: clerk.ask(
        "GET", f"{home}/configmaps/drover-bills-0")[0] == 200, 60)
    judge.may(clerk, "GET", f"{home}/configmaps/drover-bills-f")
    for path in (f"{home}/configmaps", f"{home}/configmaps/drover-bills-10", f"{home}/configmaps/drover-view",
                 f"{home}/secrets", f"{home}/secrets/bmc-default"):
        judge.may_not(clerk, "GET", path)
    for method, body in (("PATCH", {"data": {}}), ("DELETE", None)):
        judge.may_not(clerk, method, f"{home}/configmaps/drover-bills-0", body)
    for plural in ("machines", "virtualclusters", "burstledgers", "auditsegments", "wiperecords"):
        judge.may(clerk, "GET", f"{OURS}/{plural}")
        judge.may_not(clerk, "DELETE", f"{OURS}/{plural}")
    judge.may_not(clerk, "PATCH", MACHINE, annotations(retry="9"))
    judge.may_not(clerk, "POST", f"{OURS}/drains", {})


# --- readers of the view ------------------------------------------------------------------------------

def readers(plane, judge):
    """The Role drover-view beside each ClusterRole for users; and the ServiceAccount drover-view."""
    home = f"/api/v1/namespaces/{SYSTEM}"
    wanted = {"spec": {"audiences": ["drover.dev/view"], "expirationSeconds": 600}}
    proxy = f"{home}/services/https:drover-view:view/proxy/v1/queue"
    for name, role in (("rita", "drover-view"), ("rob", "drover-oncall"), ("ruth", "drover-admin")):
        reader = person(plane, name, role)
        judge.may_not(reader, "GET", proxy)
        judge.may_not(reader, "POST", f"{home}/serviceaccounts/drover-view/token", wanted)
        plane.apply({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
                     "metadata": {"name": name, "namespace": SYSTEM},
                     "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "drover-view"},
                     "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "default"}]})
        testbed.wait_for("Role drover-view", lambda reader=reader: reader.ask("GET", proxy)[0] != 403, 60)
        judge.passes(reader, "GET", proxy)
        judge.passes(reader, "GET", f"{home}/configmaps/drover-view")
        judge.may(reader, "POST", f"{home}/serviceaccounts/drover-view/token", wanted)
        judge.may_not(reader, "POST", f"{home}/serviceaccounts/drover/token", wanted)
        judge.may_not(reader, "POST", proxy, {})
        judge.may_not(reader, "GET", f"{home}/services/https:drover:agent/proxy/")
        judge.may_not(reader, "GET", f"{home}/configmaps")
        judge.may_not(reader, "GET", f"{home}/secrets/bmc-default")
    account = Caller(plane, token_of(plane, SYSTEM, "drover-view"))
    judge.may_not(account, "GET", f"{OURS}/machines")
    judge.may_not(account, "GET", f"{home}/configmaps/drover-view")


# --- drover in the host cluster -------------------------------------------------------------------

def at_home(plane, judge):
    drover = Caller(plane, token_of(plane, SYSTEM, "drover"))
    home = f"/api/v1/namespaces/{SYSTEM}"
    judge.may(drover, "PATCH", MACHINE, {"metadata": {"finalizers": ["drover.dev/machine", "a.example/b"]}})
    judge.may(drover, "PATCH", MACHINE, annotations(quarantine="Drain d-1"))
    judge.may(drover, "PATCH", MACHINE, spec(drives=[{"wwn": "eui.000b", "bytes": 1}]))
    judge.may(drover, "PATCH", MACHINE, spec(managementPolicy="Retire"))
    judge.may(drover, "PATCH", f"{MACHINE}/status", {"status": {"clean": False}})
    judge.may(drover, "GET", f"{home}/secrets/bmc-default")
    slices = f"/apis/discovery.k8s.io/v1/namespaces/{SYSTEM}/endpointslices"
    slice_ = {"metadata": {"name": "drover-leader", "labels": {"kubernetes.io/service-name": "drover"}},
              "addressType": "IPv4", "endpoints": [], "ports": [{"name": "agent", "port": 8443}]}
    judge.may(drover, "POST", slices, slice_)
    judge.may(drover, "GET", f"{slices}/drover-leader")
    judge.may(drover, "PATCH", f"{slices}/drover-leader", {"endpoints": [{"addresses": ["10.2.0.1"]}]})
    judge.may(drover, "DELETE", f"{slices}/drover-leader")
    plane.api("POST", slices, {**slice_, "metadata": {"name": "other"}})
    for method, path, body in (("GET", slices, None), ("GET", f"{slices}/other", None),
                               ("PATCH", f"{slices}/other", {"endpoints": []}), ("DELETE", f"{slices}/other", None),
                               ("POST", slices.replace(SYSTEM, "default"), slice_),
                               ("GET", f"{home}/services/drover", None), ("GET", f"{home}/endpoints/drover", None)):
        judge.may_not(drover, method, path, body)
    judge.may(drover, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": "t"}})
    judge.may(drover, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
              {"spec": {"user": "jane", "nonResourceAttributes": {"path": "/v1/queue", "verb": "get"}}})
    for path in (f"{home}/secrets", "/api/v1/secrets", "/api/v1/namespaces/kube-system/secrets/x",
                 "/api/v1/pods", f"{RBAC}/clusterroles"):
        judge.may_not(drover, "GET", path)
    judge.may_not(drover, "DELETE", f"{home}/secrets/bmc-default")
    judge.may_not(drover, "PATCH", f"{home}/secrets/bmc-default", {"data": {}})
    judge.may_not(drover, "DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/machines.drover.dev")
    judge.may_not(drover, "PATCH", f"{RBAC}/clusterroles/drover-oncall", {"rules": []})


# --- drover in a tenant -------------------------------------------------------------------------------

PODS, NODES, SECRETS = ("/api/v1/namespaces/default/pods", "/api/v1/nodes",
                        "/api/v1/namespaces/kube-system/secrets")
EVENTS = "/api/v1/namespaces/default/events"
RENAMED = "/apis/events.k8s.io/v1/namespaces/default/events"
CONFIGS = "/api/v1/namespaces/kube-system/configmaps"


def pod(name, node="h100-x7k2p", owner=None, **notes):
    meta = {"name": name, "namespace": "default", "annotations": notes, "labels": {"app": "train"}}
    if owner:
        meta["ownerReferences"] = [{"apiVersion": "v1", "kind": "Node", "name": node, "uid": owner, "controller": True}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {
        "containers": [{"name": "main", "image": "drover.test/pause:1"}], "terminationGracePeriodSeconds": 0,
        "tolerations": [{"operator": "Exists"}], **({"nodeName": node} if node else
                                                    {"schedulingGates": [{"name": "a.example/wait"}]})}}


def token(name, groups=GROUP, label=True, kind="bootstrap.kubernetes.io/token", expires=True):
    """Returns a bootstrap token like controller/life/join.c."""
    ident = name[-6:]
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {
        "name": name, "namespace": "kube-system",
        "labels": {"vcluster.loft.sh/token-node-type": "worker",
                   **({"drover.dev/nodeclaim": "h100-x7k2p"} if label else {})}},
        "type": kind, "stringData": {
            "token-id": ident, "token-secret": "0123456789abcdef", "usage-bootstrap-signing": "true",
            "usage-bootstrap-authentication": "true", "auth-extra-groups": groups,
            **({"expiration": "2030-01-01T00:00:00Z"} if expires else {}), "description": "drover: h100-x7k2p"}}


def event(name, reporter="drover.dev/controller", kind="Pod", namespace="default"):
    return {"apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": "default"},
            "eventTime": "2026-12-01T10:00:00.000000Z", "firstTimestamp": "2026-12-01T10:00:00Z",
            "lastTimestamp": "2026-12-01T10:00:00Z", "count": 1, "source": {"component": reporter},
            "reportingComponent": reporter, "reportingInstance": "replica-1", "type": "Normal",
            "reason": "Waiting", "action": "Provision", "message": "1st in the queue",
            "involvedObject": {"apiVersion": "v1", "kind": kind, "name": "train", "namespace": namespace}}


def renamed_event(name, reporter="drover.dev/controller"):
    """Returns an event as earlier versions of drover wrote it."""
    return {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": name, "namespace": "default"},
            "eventTime": "2026-12-01T10:00:00.000000Z", "reportingController": reporter,
            "reportingInstance": "replica-1", "type": "Normal", "reason": "Waiting", "action": "Provision",
            "note": "1st in the queue",
            "regarding": {"apiVersion": "v1", "kind": "Pod", "name": "train", "namespace": "default"}}


def made(plane, path, body):
    """Creates an object; retries, because a kind is served a moment after its definition is
    Established."""
    try:
        return plane.api("POST", path, body)
    except testbed.plane.ApiError as e:
        if e.code != 404:
            raise
        return None


REQUESTS = "/apis/autoscaling.x-k8s.io/v1/namespaces/default/provisioningrequests"


def provisioning_requests(plane, drover, judge):
    """Requests of controller/tenant/provisioning_requests.c and request_writer.c."""
    group, plural = "autoscaling.x-k8s.io", "provisioningrequests"
    plane.apply({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                 "metadata": {"name": f"{plural}.{group}"},
                 "spec": {"group": group, "scope": "Namespaced",
                          "names": {"plural": plural, "singular": "provisioningrequest",
                                    "kind": "ProvisioningRequest"},
                          "versions": [{"name": "v1", "served": True, "storage": True,
                                        "subresources": {"status": {}},
                                        "schema": {"openAPIV3Schema": {
                                            "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}})
    plane.kubectl("wait", "--for=condition=Established", f"crd/{plural}.{group}",
                  f"--timeout={testbed.pace.limit(30):.0f}s")
    for name, kind in (("ours", "queued.drover.dev"), ("theirs", "queued.example")):
        request = {"apiVersion": f"{group}/v1", "kind": "ProvisioningRequest",
                   "metadata": {"name": name}, "spec": {"provisioningClassName": kind}}
        testbed.wait_for(f"{plural} to be served", lambda r=request: made(plane, REQUESTS, r), 30)
    for path in (REQUESTS.replace("/namespaces/default", ""), f"{REQUESTS}/ours", "/api/v1/podtemplates",
                 f"/apis/{group}/v1"):
        judge.may(drover, "GET", path)
    status = {"status": {"conditions": [{
        "type": "Accepted", "status": "True", "reason": "Accepted", "message": "",
        "lastTransitionTime": "2026-12-01T10:00:00Z"}]}}
    in_force("the policy on them", drover, "PATCH", f"{REQUESTS}/theirs/status?dryRun=All", status)
    judge.may(drover, "PATCH", f"{REQUESTS}/ours/status", status)
    judge.may_not(drover, "PATCH", f"{REQUESTS}/theirs/status", status)
    judge.may_not(drover, "PATCH", f"{REQUESTS}/ours", {"metadata": {"labels": {"a": "b"}}})
    judge.may_not(drover, "DELETE", f"{REQUESTS}/ours")
    judge.may_not(drover, "POST", REQUESTS, {"apiVersion": f"{group}/v1", "kind": "ProvisioningRequest",
                                             "metadata": {"name": "mine"}})
    judge.may_not(drover, "POST", "/api/v1/namespaces/default/podtemplates", {"metadata": {"name": "mine"}})


def in_a_tenant(plane, judge):
    drover = Caller(plane, token_of(plane, TENANT, "drover"))
    for name, more in (("h100-x7k2p", {"spec": {"providerID": "drover://hall-a/gpu-r1-07"}}),
                       ("adopted", {"metadata": {"name": "adopted", "labels": {"drover.dev/nodeclaim": "adopted"}}}),
                       ("theirs", {"spec": {"providerID": "aws:///x/i-1", "taints": [
                           {"key": "a", "effect": "NoSchedule"}]}}), ("bare", {})):
        plane.api("POST", NODES, {"metadata": {"name": name}, **more})
    owner = plane.node("h100-x7k2p")["metadata"]["uid"]
    for p in (pod("train", **{"drover.dev/checkpoint": "5m"}), pod("web"), pod("agent", owner=owner),
              pod("waits", node=None), pod("static", **{"kubernetes.io/config.mirror": "x"})):
        plane.api("POST", PODS, p)
    plane.api("POST", SECRETS, token("bootstrap-token-theirs", label=False))
    plane.api("POST", SECRETS, {"metadata": {"name": "theirs", "labels": {"drover.dev/nodeclaim": "x"}}})
    in_force("policy drover-tenant", drover, "PATCH", f"{NODES}/theirs?dryRun=All",
             {"spec": {"unschedulable": True}})

    # Reads: lists and watches, one namespace, one lease.
    for path in (PODS.replace("/namespaces/default", ""), NODES, f"{NODES}?watch=1&timeoutSeconds=1",
                 "/apis/storage.k8s.io/v1/volumeattachments", "/api/v1/namespaces/kube-system", "/version",
                 "/apis/certificates.k8s.io/v1/certificatesigningrequests",
                 "/api/v1/persistentvolumeclaims", "/api/v1/persistentvolumes",
                 "/apis/storage.k8s.io/v1/storageclasses", "/apis/storage.k8s.io/v1/csinodes",
                 "/apis/apps/v1/daemonsets", "/apis/apps/v1/daemonsets?watch=1&timeoutSeconds=1",
                 f"{DEVICES}/resourceclaims", f"{DEVICES}/resourceclaimtemplates", f"{DEVICES}/deviceclasses",
                 f"{DEVICES}/resourceslices?watch=1&timeoutSeconds=1"):
        judge.may(drover, "GET", path)
    for path in (f"{DEVICES}/namespaces/default/resourceclaims/theirs", f"{DEVICES}/resourceslices/theirs",
                 "/apis/apps/v1/namespaces/default/daemonsets/theirs"):
        judge.may_not(drover, "PATCH", path, {"metadata": {"labels": {"x": "y"}}})
        judge.may_not(drover, "DELETE", path)
    plane.api("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
              {"metadata": {"name": "h100-x7k2p"}})
    judge.may(drover, "GET", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/h100-x7k2p")
    judge.may(drover, "GET", f"{CONFIGS}/kubeadm-config")
    own = f"/api/v1/namespaces/{TENANT}/configmaps"
    judge.may(drover, "POST", own, {"metadata": {"name": "drover-queue"}})
    judge.may(drover, "PATCH", f"{own}/drover-queue", {"data": {"queue.json": "{}"}})
    judge.may(drover, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": "x"}})
    judge.may(drover, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
              {"spec": {"user": "x", "nonResourceAttributes": {"path": "/v1/tenants/a/queue", "verb": "get"}}})
    judge.may_not(drover, "PATCH", f"{own}/kube-root-ca.crt", {"data": {}})
    for path in ("/api/v1/namespaces", "/api/v1/namespaces/default", "/api/v1/secrets", SECRETS,
                 f"{SECRETS}/bootstrap-token-theirs", "/api/v1/namespaces/default/secrets",
                 "/api/v1/configmaps", CONFIGS, f"{CONFIGS}/kubelet-config", f"{PODS}/web/log", f"{NODES}/theirs/proxy/", f"{RBAC}/clusterroles",
                 "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler", EVENTS,
                 "/apis/apps/v1/deployments", "/apis/storage.k8s.io/v1/csidrivers", "/api/v1/services"):
        judge.may_not(drover, "GET", path)

    nodes(drover, judge)
    pods(drover, judge)
    provisioning_requests(plane, drover, judge)

    # Bootstrap tokens: controller/steps/coming.c, joining.c.
    judge.may(drover, "POST", SECRETS, token("bootstrap-token-abc123"))
    for wrong in (token("bootstrap-token-abc124", groups="system:bootstrappers:admins"),
                  token("bootstrap-token-abc125", groups=GROUP + ",system:bootstrappers:admins"),
                  token("bootstrap-token-abc126", label=False), token("bootstrap-token-abc127", expires=False),
                  token("other-abc128", kind="Opaque"), token("bootstrap-token-abc129", kind="Opaque"),
                  {"metadata": {"name": "sa", "labels": {"drover.dev/nodeclaim": "x"},
                                "annotations": {"kubernetes.io/service-account.name": "default"}},
                   "type": "kubernetes.io/service-account-token"}):
        judge.may_not(drover, "POST", SECRETS, wrong)
    judge.may_not(drover, "POST", "/api/v1/namespaces/default/secrets", token("bootstrap-token-abc130"))
    judge.may_not(drover, "PATCH", f"{SECRETS}/bootstrap-token-abc123", {"data": {}})
    judge.may_not(drover, "DELETE", f"{SECRETS}/bootstrap-token-theirs")
    judge.may_not(drover, "DELETE", f"{SECRETS}/theirs")
    judge.may_not(drover, "DELETE", SECRETS)
    judge.may(drover, "DELETE", f"{SECRETS}/bootstrap-token-abc123")

    # Events: kube/event.c.
    judge.may(drover, "POST", EVENTS, event("train.1"))
    judge.may(drover, "PATCH", f"{EVENTS}/train.1",
              {"count": 2, "lastTimestamp": "2026-12-01T10:00:10Z",
               "series": {"count": 2, "lastObservedTime": "2026-12-01T10:00:10.000000Z"}})
    judge.may(drover, "POST", RENAMED, renamed_event("train.4"))
    judge.may_not(drover, "POST", RENAMED, renamed_event("train.5", reporter="kubelet"))
    plane.api("POST", EVENTS, event("theirs.1", reporter="kubelet"))
    judge.may_not(drover, "POST", EVENTS, event("train.2", reporter="kubelet"))
    judge.may_not(drover, "POST", EVENTS, event("train.3", kind="Deployment"))
    judge.may_not(drover, "PATCH", f"{EVENTS}/theirs.1", {"metadata": {"labels": {"a": "b"}}})
    judge.may_not(drover, "DELETE", f"{EVENTS}/train.1")

    # Requests that a thief of the token would want.
    for method, path, body in (
            ("POST", PODS, pod("mine")), ("POST", NODES, {"metadata": {"name": "mine"}}),
            ("POST", f"{PODS}/web/exec?command=id", None), ("POST", f"{PODS}/web/binding", {}),
            ("POST", "/api/v1/namespaces/kube-system/serviceaccounts/default/token", {}),
            ("POST", f"/api/v1/namespaces/{TENANT}/serviceaccounts/drover/token", {}),
            ("POST", f"{RBAC}/clusterrolebindings", {"metadata": {"name": "mine"}, "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}}),
            ("PATCH", f"{RBAC}/clusterroles/drover-tenant", {"rules": []}),
            ("DELETE", POLICY, None), ("DELETE", POLICY.replace("policies/", "policybindings/"), None),
            ("POST", "/api/v1/namespaces", {"metadata": {"name": "mine"}}),
            ("PATCH", "/api/v1/namespaces/kube-system", {"metadata": {"labels": {"a": "b"}}}),
            ("POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", {"metadata": {"name": "mine"}})):
        judge.may_not(drover, method, path, body)


def on_host_nodes(plane, judge):
    """deploy/host-nodes-rbac.yaml, for virtual clusters that share the host's nodes."""
    drover = Caller(plane, token_of(plane, SYSTEM, "drover"))
    judge.may_not(drover, "GET", NODES)
    plane.kubectl("apply", "-f", ROOT / "deploy/host-nodes-rbac.yaml")
    in_force("policy drover-host-nodes", drover, "PATCH", f"{NODES}/theirs?dryRun=All",
             {"spec": {"unschedulable": True}})
    for path in (NODES, "/apis/storage.k8s.io/v1/volumeattachments", f"{CONFIGS}/kubeadm-config",
                 "/apis/certificates.k8s.io/v1/certificatesigningrequests",
                 "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/h100-x7k2p"):
        judge.may(drover, "GET", path)
    for path in (CONFIGS, SECRETS, PODS, "/api/v1/pods"):
        judge.may_not(drover, "GET", path)
    judge.may(drover, "PATCH", f"{NODES}/h100-x7k2p", {"metadata": {"labels": {"drover.dev/virtual-cluster": "a"}}})
    judge.may(drover, "PATCH", f"{NODES}/h100-x7k2p", spec(taints=[
        {"key": "drover.dev/virtual-cluster", "value": "a", "effect": "NoExecute"}]))
    judge.may_not(drover, "PATCH", f"{NODES}/h100-x7k2p", {"metadata": {"finalizers": ["a.example/b"]}})
    judge.may_not(drover, "PATCH", f"{NODES}/theirs", spec(unschedulable=True))
    judge.may_not(drover, "DELETE", f"{NODES}/theirs")
    judge.may(drover, "POST", SECRETS, token("bootstrap-token-abc140"))
    judge.may_not(drover, "POST", SECRETS, token("bootstrap-token-abc141", groups="system:masters"))
    judge.may_not(drover, "POST", SECRETS, token("other-abc142", kind="Opaque"))
    judge.may_not(drover, "DELETE", f"{SECRETS}/bootstrap-token-theirs")
    judge.may(drover, "DELETE", f"{SECRETS}/bootstrap-token-abc140")


def nodes(drover, judge):
    """Requests of controller/life/node.c, steps/joining.c, steps/leaving.c, tenant/pending_cleanup.c."""
    ours = f"{NODES}/h100-x7k2p"
    away = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}
    judge.may(drover, "PATCH", ours, {"metadata": {
        "labels": {"drover.dev/nodeclaim": "h100-x7k2p", "node.kubernetes.io/instance-type": "hgx", "a.example/b": "c"},
        "annotations": {"a.example/b": "c"}}})
    judge.may(drover, "PATCH", ours, spec(taints=[{"key": "drover.dev/draining", "effect": "NoSchedule"}],
                                          unschedulable=True))
    judge.may(drover, "PATCH", ours, spec(taints=[], unschedulable=False))
    judge.may(drover, "PATCH", ours, spec(taints=[away]))
    judge.may(drover, "PATCH", f"{NODES}/adopted", spec(unschedulable=True))
    judge.may_not(drover, "PATCH", ours, spec(podCIDR="10.6.6.0/24", podCIDRs=["10.6.6.0/24"]))
    judge.may_not(drover, "PATCH", ours, {"metadata": {"finalizers": ["a.example/b"]}})
    judge.may_not(drover, "PATCH", f"{ours}/status", {"status": {"capacity": {"nvidia.com/gpu": "64"}}})
    for name in ("theirs", "bare"):
        judge.may_not(drover, "PATCH", f"{NODES}/{name}", spec(unschedulable=True))
        judge.may_not(drover, "PATCH", f"{NODES}/{name}", spec(taints=[away]))
        judge.may_not(drover, "PATCH", f"{NODES}/{name}", {"metadata": {"labels": {"drover.dev/nodeclaim": "x"}}})
        judge.may_not(drover, "DELETE", f"{NODES}/{name}")
    judge.may_not(drover, "PATCH", f"{NODES}/bare", spec(providerID="drover://hall-a/gpu-r1-07"))
    judge.may_not(drover, "DELETE", NODES)
    judge.may(drover, "DELETE", f"{NODES}/adopted")
    judge.may(drover, "DELETE", f"{ours}?dryRun=All")


def pods(drover, judge):
    """Requests of controller/drain/checkpoint.c, evict.c."""
    judge.may(drover, "PATCH", f"{PODS}/train", {"metadata": {"annotations": {
        "drover.dev/checkpoint-requested": "2026-12-01T10:00:00Z", "drover.dev/checkpoint-done": None}}})
    for patch in ({"metadata": {"annotations": {"drover.dev/checkpoint": "1h"}}},
                  {"metadata": {"annotations": {"a.example/b": "c"}}},
                  {"metadata": {"labels": {"app": "web"}}},
                  {"metadata": {"finalizers": ["a.example/b"]}},
                  spec(activeDeadlineSeconds=1),
                  spec(tolerations=[{"operator": "Exists"}, {"key": "a", "operator": "Exists"}])):
        judge.may_not(drover, "PATCH", f"{PODS}/train", patch)
    judge.may_not(drover, "PATCH", f"{PODS}/train", [
        {"op": "replace", "path": "/spec/containers/0/image", "value": "evil.example/x"}], JSON)
    judge.may_not(drover, "PATCH", f"{PODS}/web", annotations(checkpoint_requested="2026-12-01T10:00:00Z"))
    judge.may_not(drover, "PATCH", f"{PODS}/train/status", {"status": {"phase": "Succeeded"}})
    judge.may_not(drover, "PATCH", f"{PODS}/train/ephemeralcontainers", spec(ephemeralContainers=[]))
    for name in ("agent", "waits", "static"):
        judge.may_not(drover, "DELETE", f"{PODS}/{name}")
    judge.may_not(drover, "DELETE", PODS)
    judge.may(drover, "POST", f"{PODS}/train/eviction", {
        "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "train", "namespace": "default"}})
    judge.may(drover, "DELETE", f"{PODS}/web", {"gracePeriodSeconds": 0})


# --- who may name workloads in a tenant -----------------------------------------------------------

JOBS = "/apis/batch/v1/namespaces/default/jobs"


def named(name, workload=None):
    """Returns a pod that waits forever, with that workload."""
    return pod(name, node=None, **({"drover.dev/workload": workload} if workload else {}))


def job(name, workload):
    template = named(name, workload)
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "default"},
            "spec": {"template": {"metadata": {"annotations": template["metadata"]["annotations"]},
                                  "spec": {**template["spec"], "restartPolicy": "Never"}}}}


def workloads(plane, judge):
    """deploy/tenant-workloads.yaml: an author may name the workload that is allowed for them, and
    no other."""
    plane.kubectl("apply", "-f", ROOT / "deploy/tenant-workloads.yaml")
    author = person(plane, "anna", "edit")
    plane.apply(
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
         "metadata": {"name": "uses-sweep", "namespace": "default"},
         "rules": [{"apiGroups": ["drover.dev"], "resources": ["workloads"], "resourceNames": ["sweep"],
                    "verbs": ["use"]}]},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
         "metadata": {"name": "uses-sweep", "namespace": "default"},
         "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "uses-sweep"},
         "subjects": [{"kind": "ServiceAccount", "name": "anna", "namespace": "default"}]})
    in_force("policy drover-workloads", author, "POST", f"{PODS}?dryRun=All", named("other", "other"))
    judge.may(author, "POST", PODS, named("plain"))
    judge.may(author, "POST", PODS, named("sweep", "sweep"))
    judge.may_not(author, "POST", PODS, named("other", "other"))
    judge.may_not(author, "PATCH", f"{PODS}/plain", annotations(workload="other"))
    judge.may(author, "PATCH", f"{PODS}/plain", annotations(workload="sweep"))
    judge.may(author, "POST", JOBS, job("sweep", "sweep"))
    judge.may_not(author, "POST", JOBS, job("other", "other"))
    declarations(plane, judge, author)
    testbed.wait_for("the Job's pod, which its controller makes", lambda: [
        p for p in plane.get(PODS)["items"] if (p["metadata"].get("labels") or {}).get("job-name") == "sweep"], 60)


def declaring(kind, name, **notes):
    """A pod or Job whose pods have these annotations."""
    o = named(name) if kind == "Pod" else job(name, None)
    template = o if kind == "Pod" else o["spec"]["template"]
    template["metadata"]["annotations"] = {f"drover.dev/{k.replace('_', '-')}": v for k, v in notes.items()}
    return o


def declarations(plane, judge, author):
    """deploy/tenant-annotations.yaml: what drover cannot read is refused, and the rest is not."""
    plane.kubectl("apply", "-f", ROOT / "deploy/tenant-annotations.yaml")
    good = {"expected_runtime": "1h30m", "latest_start": "2026-12-01T10:20:00Z", "data_class": "public",
            "checkpoint_interval": "30m", "data": "imagenet,other"}
    testbed.wait_for("policy drover-annotations in force", lambda: author.ask(
        "POST", f"{PODS}?dryRun=All", declaring("Pod", "asks", expected_runtime="soon"))[0] == 422, 60)
    for kind, path in (("Pod", PODS), ("Job", JOBS)):
        judge.may(author, "POST", f"{path}?dryRun=All", declaring(kind, "asks", **good))
        for name, value in (("expected_runtime", "soon"), ("expected_runtime", "-1h"), ("expected_runtime", "0s"),
                            ("expected_runtime", "99999h"), ("latest_start", "tomorrow"), ("data_class", "a b"),
                            ("data_class", ""), ("checkpoint_interval", "often"), ("checkpoint_interval", "0s"),
                            ("checkpoint_interval", "99999h"), ("data", "a b"), ("data", "a,"), ("data", "")):
            judge.refused(author, "POST", f"{path}?dryRun=All", declaring(kind, "asks", **{**good, name: value}))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--folder", type=pathlib.Path)
    p.add_argument("--keep", action="store_true", help="leave the control plane up until Enter")
    args = p.parse_args()
    folder = args.folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-rights-"))
    folder.mkdir(parents=True, exist_ok=True)
    testbed.process.sweep(folder)
    timer, judge = testbed.Timer(), Judge()
    plane = testbed.ControlPlane("both", folder / "both").start()
    try:
        plane.wait_ready()
        timer.phase("a control plane")
        plane.kubectl("apply", "-f", ROOT / "deploy/crds")
        plane.kubectl("wait", "--for=condition=Established", "crd", "--all",
                      f"--timeout={testbed.pace.limit(30):.0f}s")
        # Before the policies, which let the super-administrator write nothing in another's name.
        plane.kubectl("apply", "-f", ROOT / "tests/data/objects/valid.yaml")
        plane.kubectl("apply", "-f", ROOT / "deploy/rbac.yaml")
        plane.apply((ROOT / "deploy/tenant-rbac.yaml").read_text().replace(SYSTEM, TENANT))
        plane.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "bmc-default", "namespace": SYSTEM}})
        timer.phase("roles, policies, objects")
        in_a_tenant(plane, judge)
        timer.phase("drover in a tenant")
        workloads(plane, judge)
        timer.phase("workloads of a tenant")
        at_home(plane, judge)
        timer.phase("drover at home")
        on_host_nodes(plane, judge)
        timer.phase("drover and the host's nodes")
        on_call(plane, folder, judge)
        approvals(plane, judge)
        readers(plane, judge)
        timer.phase("on call")
        waivers(plane, folder, judge)
        auditor(plane, judge)
        billing(plane, judge)
        names_of_users(plane, judge)
        timer.phase("waivers, audit log, bills")
        if args.keep:
            input(f"KUBECONFIG={plane.kubeconfig}; Enter ends it ")
    finally:
        plane.stop()
    for line in judge.wrong:
        print(line)
    print(f"rights: {judge.asked} requests, {len(judge.wrong)} answered wrongly")
    return 1 if judge.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
