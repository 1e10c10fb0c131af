#!/usr/bin/env python3
"""Cloud burst on a real Kubernetes: the second of two pods gets an EC2 instance by a BurstPolicy,
which later ends.

    tests/real/burst.py [--folder FOLDER]      # runs itself again with the Python of parts/build

One owned machine (simulated, behind the head node of `drover sim bcm`) serves the first pod. The
second pod waits as long as its policy requires, and then gets an instance of moto's server, which
checks signatures and permissions. Moto boots nothing: this test plays the AMI, from the user data
that moto received. It joins like kubeadm, with the bootstrap token and a certificate signed by the
cluster. When the pod ends, so does the instance. At last drover is killed right after a launch, and
everything that it recorded of that instance is deleted: drover finds the instance by its tag and
ends it. No VM.
"""
import argparse
import base64
import json
import os
import pathlib
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import bcm  # noqa: E402  (beside this file)
import ec2  # noqa: E402
import fleet  # noqa: E402
import serving  # noqa: E402
import testbed  # noqa: E402

TENANT = "team-a"
TYPE, ZONE = "m5.large", "eu-west-1a"
WAIT_S = 20
PRICE = "30"
# One hour plus ten minutes of boot, the most that is paid.
COMMITTED = "35.00"
ACTIONS = ["ec2:RunInstances", "ec2:DescribeInstances", "ec2:TerminateInstances", "ec2:CreateTags", "ec2:DescribeInstanceAttribute",
           "ec2:DescribeSubnets", "ec2:DescribeSecurityGroups", "ec2:DescribeImages"]
ORPHAN_S = 600


class Ami:
    """What an instance's image does: joins by the user data, sends heartbeats, and reports its pods
    as running."""

    def __init__(self, folder, user_data):
        head, _, text = user_data.partition("\n")
        assert head == "#cloud-config", head
        files = {f["path"]: base64.b64decode(f["content"]).decode() for f in json.loads(text)["write_files"]}
        self.said = dict(line.split("=", 1) for line in files["/run/drover/drover-join.cfg"].splitlines()
                         if line and not line.startswith("#"))
        self.name, self.folder = self.said["NODE_NAME"], pathlib.Path(folder)
        self.url = "https://" + self.said["JOIN_ENDPOINT"]
        self.tls, self.error, self.over = None, None, threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def join(self, ca):
        """ca: CA of the tenant; its key must match the hash in the user data."""
        key = subprocess.run(["openssl", "x509", "-in", ca, "-noout", "-pubkey"], check=True, capture_output=True).stdout
        der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "der"], input=key, check=True, capture_output=True).stdout
        digest = subprocess.run(["openssl", "dgst", "-sha256", "-r"], input=der, check=True, capture_output=True).stdout
        assert self.said["CA_CERT_HASH"] == "sha256:" + digest.split()[0].decode(), self.said
        stem = self.folder / self.name
        subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                        f"/O=system:nodes/CN=system:node:{self.name}", "-keyout", f"{stem}.key", "-out", f"{stem}.csr"],
                       check=True, capture_output=True)
        self.tls = ssl.create_default_context(cafile=ca)
        token = {"Authorization": "Bearer " + self.said["TOKEN"]}
        path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
        request = base64.b64encode(pathlib.Path(f"{stem}.csr").read_bytes()).decode()
        name = self.ask("POST", path, {"metadata": {"generateName": "csr-"}, "spec": {
            "request": request, "signerName": "kubernetes.io/kube-apiserver-client-kubelet",
            "usages": ["digital signature", "client auth"]}}, token)["metadata"]["name"]
        signed = testbed.wait_for("a certificate for the node", lambda: self.ask("GET", f"{path}/{name}", None, token)
                                  .get("status", {}).get("certificate"), 60)
        pathlib.Path(f"{stem}.crt").write_bytes(base64.b64decode(signed))
        self.tls = ssl.create_default_context(cafile=ca)
        self.tls.load_cert_chain(f"{stem}.crt", f"{stem}.key")
        self.register()
        self.thread.start()

    def ask(self, method, path, body=None, headers=None):
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        request = urllib.request.Request(self.url + path, data=None if body is None else json.dumps(body).encode(), method=method,
                                         headers={"Content-Type": kind, **(headers or {})})
        with urllib.request.urlopen(request, context=self.tls, timeout=testbed.pace.limit(30)) as reply:
            return json.loads(reply.read() or b"null")

    def ready(self):
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        return [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "", "lastHeartbeatTime": now,
                 "lastTransitionTime": now}]

    def register(self):
        def taint(text):
            pair, effect = text.rsplit(":", 1)
            key, _, value = pair.partition("=")
            return {"key": key, "effect": effect, **({"value": value} if value else {})}
        has = {"cpu": "2", "memory": "8Gi", "pods": "110", "nvidia.com/gpu": str(fleet.GPUS)}
        labels = dict(pair.split("=", 1) for pair in self.said["NODE_LABELS"].split(",") if pair)
        self.ask("POST", "/api/v1/nodes", {
            "kind": "Node", "apiVersion": "v1",
            "metadata": {"name": self.name, "labels": {"kubernetes.io/hostname": self.name, "kubernetes.io/os": "linux", **labels}},
            "spec": {"providerID": self.said["PROVIDER_ID"], "taints": [taint(t) for t in self.said["TAINTS"].split(",") if t]},
            "status": {"capacity": has, "allocatable": has, "conditions": self.ready(), "nodeInfo": {
                "machineID": uuid.uuid4().hex, "systemUUID": str(uuid.uuid4()), "bootID": str(uuid.uuid4()), "kernelVersion": "6",
                "osImage": "ami", "containerRuntimeVersion": "containerd://2", "kubeletVersion": "v1.36.0", "kubeProxyVersion": "",
                "operatingSystem": "linux", "architecture": "amd64"}}})

    def _run(self):
        try:
            while not self.over.wait(1):
                self.beat()
        except urllib.error.HTTPError as e:
            if e.code != 404:  # 404: the Node is deleted, so the instance has ended
                self.error = e
        except Exception as e:  # pylint: disable=broad-except  # the waiting thread raises it
            self.error = e

    def beat(self):
        self.ask("PATCH", f"/api/v1/nodes/{self.name}/status", {"status": {"conditions": self.ready()}})
        for pod in self.ask("GET", f"/api/v1/pods?fieldSelector=spec.nodeName%3D{self.name}")["items"]:
            path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
            if pod["metadata"].get("deletionTimestamp"):
                self.ask("DELETE", path, {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})
            elif pod.get("status", {}).get("phase") != "Running":
                began = {"startedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
                self.ask("PATCH", path + "/status", {"status": {"phase": "Running", "conditions": [
                    {"type": "Ready", "status": "True"}], "containerStatuses": [
                        {"name": c["name"], "image": c["image"], "imageID": "", "ready": True, "restartCount": 0,
                         "state": {"running": began}} for c in pod["spec"]["containers"]]}})

    def stop(self):
        self.over.set()
        if self.thread.is_alive():
            self.thread.join()


def defaults(cloud, zone):
    """Returns a subnet of the zone, a security group and an image, which moto has from the start."""
    return (cloud.describe_subnets(Filters=[{"Name": "availability-zone", "Values": [zone]}])["Subnets"][0]["SubnetId"],
            cloud.describe_security_groups()["SecurityGroups"][0]["GroupId"],
            cloud.describe_images(Owners=["amazon"])["Images"][0]["ImageId"])


def cloud_pool(provider, kind):
    """Returns a NodePool of that name, for instances of one type."""
    return {"apiVersion": fleet.API, "kind": "NodePool", "metadata": {"name": provider}, "spec": {
        "virtualClusterSelector": {},
        "template": {"spec": {
            "providerRefs": [{"name": provider}],
            "requirements": [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": [kind]}],
            "taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
            "images": [{"kubernetesVersion": "1.36", "category": "ami"}],
            "network": {"isolation": "NotRequired"}}},
        "disruption": {"consolidateAfter": "5s"}}}


class Bursting(bcm.Bcm):
    """A fleet of one owned machine and a cloud."""

    def __init__(self, folder, moto):
        super().__init__(folder)
        self.rack.count = 1
        self.tenants = {TENANT: self.tenants[TENANT]}
        self.moto, self.cloud, self.ami = moto, ec2.client(moto), None

    def apply_objects(self):
        where, group, image = defaults(self.cloud, ZONE)
        super().apply_objects()
        self.host.apply(
            *self.secrets(),
            {"apiVersion": fleet.API, "kind": "Provider", "metadata": {"name": "aws"}, "spec": {
                "type": "ec2", "credentialsSecretRef": {"name": "aws"},
                "ec2": {"endpoint": self.moto.url, "caSecretRef": {"name": "aws-ca"}, "image": image,
                        "zones": [{"region": ec2.REGION, "zone": ZONE, "subnet": where, "securityGroups": [group]}]},
                "instanceTypes": [{"name": TYPE, "pricePerHour": PRICE, "currency": "USD", "capacity": {
                    "cpu": "2", "memory": "8Gi", "pods": "110", "nvidia.com/gpu": str(fleet.GPUS)}}]}},
            cloud_pool("aws", TYPE),
            {"apiVersion": fleet.API, "kind": "BurstPolicy", "metadata": {"name": "research"}, "spec": {
                "mode": "Enforce", "match": {"tenants": [TENANT]}, "trigger": {"maxQueueWait": {"default": f"{WAIT_S}s"}},
                "tiers": [{"market": "OnDemand"}],
                "offers": [{"name": "aws", "provider": "aws", "regions": [ec2.REGION], "instanceTypes": [TYPE]}],
                "cost": {"currency": "USD", "bootAndStageTime": "10m"}, "runtime": {"maxRuntime": "1h"},
                "budget": [{"scope": "Policy", "amount": "80", "per": "Total"}]}})

    def stop(self):
        if self.ami:
            self.ami.stop()
        super().stop()

    def secrets(self):
        """Returns the Secrets of Providers whose API is moto's."""
        return (fleet.secret("drover-system", "aws", accessKeyID=self.moto.env["AWS_ACCESS_KEY_ID"], endpoint=self.moto.url,
                             secretAccessKey=self.moto.env["AWS_SECRET_ACCESS_KEY"]),
                fleet.secret("drover-system", "aws-ca", ca__crt=self.moto.ca.read_text()))

    def check(self):
        super().check()
        assert not (self.ami and self.ami.error), self.ami.error

    def instances(self, *states, cloud=None):
        """cloud: client of another region."""
        told = (cloud or self.cloud).describe_instances()["Reservations"]
        return [i for r in told for i in r["Instances"] if i["State"]["Name"] in (states or ("pending", "running"))]

    def join(self, instance, cloud=None):
        """Plays the instance's image: returns the Ami that has joined."""
        got = (cloud or self.cloud).describe_instance_attribute(InstanceId=instance["InstanceId"], Attribute="userData")
        ami = Ami(self.folder, base64.b64decode(got["UserData"]["Value"]).decode())
        ami.join(self.tenants[TENANT].pki / "ca.crt")
        return ami

    def launched(self):
        return self.until("an instance", lambda: next(iter(self.instances()), None), 120)

    def policy(self):
        return self.get("burstpolicies", "research")["status"]


def tagged(f, instance):
    tags = {t["Key"]: t["Value"] for t in instance["Tags"]}
    claim = f.get("nodeclaims", f.ami.name)
    space = f.host.get("/api/v1/namespaces/kube-system")
    assert tags == {"drover.dev/cluster": space["metadata"]["uid"], "drover.dev/machine": claim["spec"]["machineRef"]["name"],
                    "drover.dev/claim": claim["metadata"]["uid"], "drover.dev/virtual-cluster": TENANT,
                    "drover.dev/policy": "research"}, tags
    burst = claim["spec"]["burst"]
    assert (burst["policyRef"]["name"], burst["committed"]) == ("research", COMMITTED), burst


def told(f):
    """Checks the policy's status and the ledger."""
    status = f.policy()
    assert status["decisions"][0]["reason"] == "Chosen", status["decisions"]
    assert [(x["scope"], x["amount"]) for x in status["spend"]] == [("Policy", "80.00")], status["spend"]
    cost = json.loads(subprocess.run([fleet.DROVER, "cost", "-k", f.host.kubeconfig, "-o", "json"], check=True,
                                     capture_output=True, text=True).stdout)
    assert any(TYPE in json.dumps(row) for row in (cost if isinstance(cost, list) else cost["charges"])), cost


def burst(f):
    """Checks that the pod is served by an instance, and not before the queue wait."""
    before = time.time()
    f.tenants[TENANT].apply(fleet.gpu_pod("more", fleet.GPUS))
    instance = f.launched()
    assert instance["LaunchTime"].timestamp() - before >= WAIT_S - 2, (before, instance["LaunchTime"])
    f.ami = f.join(instance)
    f.until("the pod Running", lambda: f.pod_running(TENANT, "more"), 120)
    assert f.pod_running(TENANT, "more")["spec"]["nodeName"] == f.ami.name
    tagged(f, instance)
    f.until("its cost in the ledger", lambda: has_cost(f), 120)
    told(f)
    return instance


def has_cost(f):
    return any(x.get("instanceType") == TYPE for x in
               f.get("virtualclusters", TENANT).get("status", {}).get("cost", {}).get("charges", []))


def home(f, instance):
    f.tenants[TENANT].kubectl("delete", "pod", "more", "--wait=false")
    f.until("the instance's end", lambda: not f.instances(), 300)
    f.until("its claim's end", lambda: not f.get("nodeclaims", f.ami.name), 120)
    assert not f.tenants[TENANT].node(f.ami.name), "the Node is still there"
    f.ami.stop()
    f.ami = None
    assert [i["InstanceId"] for i in f.instances("terminated")] == [instance["InstanceId"]]
    spent = f.until("what it cost settled", lambda: [
        x["spent"] for x in f.policy()["spend"] if 0 < float(x["spent"]) < float(COMMITTED)], 120)
    return spent[0]


def orphan(f):
    """Kills drover right after a launch, and deletes everything recorded of the instance."""
    f.tenants[TENANT].apply(fleet.gpu_pod("again", fleet.GPUS))
    lost = testbed.wait_for("another instance", lambda: next(iter(f.instances()), None), 180, 0.05)
    os.kill(f.drover.pid, signal.SIGKILL)
    f.drover.popen.wait()
    f.tenants[TENANT].kubectl("delete", "pod", "again", "--wait=false", "--force")
    for plural in ("nodeclaims", "machines"):
        for o in f.get(plural):
            name = o["metadata"]["name"]
            if plural == "nodeclaims" and o["spec"].get("burst") or "instance" in o.get("status", {}) or "elastic" in o["spec"]:
                f.host.api("PATCH", f"/apis/{fleet.API}/{plural}/{name}", {"metadata": {"finalizers": None}})
                f.host.kubectl("delete", plural, name, "--wait=false", "--ignore-not-found")
    f.start_drover()
    f.until(f"the orphan {lost['InstanceId']} ended", lambda: not f.instances(), ORPHAN_S)


def run(f, timer):
    f.start()
    timer.phase("a host cluster, a tenant, one machine, moto, drover")
    f.wait_state("free", limit_s=300)
    serving.run_pods(f, [(TENANT, "train")])
    f.view.done()
    timer.phase("the owned machine serves the first pod")
    assert not f.instances(), "an instance that nobody waits for"
    instance = burst(f)
    f.view.done()
    timer.phase("the second one runs on an instance, with its tags and its cost")
    spent = home(f, instance)
    f.view.done()
    timer.phase(f"its instance is ended; it has cost {spent} USD of {COMMITTED} committed")
    orphan(f)
    f.view.done()
    timer.phase("a crash in between: the orphan is ended")
    serving.secrets_kept(f)
    log = (f.folder / "drover.log").read_text(errors="replace")
    assert f.moto.env["AWS_SECRET_ACCESS_KEY"] not in log and not re.search(r"token=\w{6}\.\w{16}", log)


def play(moto_class, fleet_class, run_, about, done):
    """Runs run_(fleet, timer) beside a moto server. about: what --help says; done: the last words."""
    args = argparse.ArgumentParser(description=about)
    args.add_argument("--folder", type=pathlib.Path)
    python = ec2.parts()
    if pathlib.Path(sys.prefix) != python:
        os.execv(python / "bin/python", [str(python / "bin/python"), *sys.argv])
    folder = args.parse_args().folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-burst-"))
    print(f"Logs and keys: {folder}", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    testbed.parts.paths()
    with moto_class(sys.executable, folder, ACTIONS, tls=True) as moto:
        f = fleet_class(folder, moto)
        try:
            run_(f, testbed.Timer())
        except BaseException:
            f.last_words()
            raise
        finally:
            f.stop()
    print(f"\n{done}\n1 passed, 0 failed")


if __name__ == "__main__":
    play(ec2.Moto, Bursting, run, __doc__.splitlines()[0],
         "burst: a pod served by an instance by policy, brought home, and an orphan ended")
