#!/usr/bin/env python3
"""Each BurstPolicy of examples/burst on a real Kubernetes: an instance is launched as its page says,
and ends with its work.

    tests/real/burst_examples.py [--folder FOLDER]     # runs itself again with the Python of parts/build

Moto's server is every cloud: it also gets the regions that only other clouds have. The policies are
those of the files. Changed are: the tenant's name, how long work waits, and the hour at which a
window opens. Moto has no capacity reservations, so the policy for deadlines launches from its
second tier. No VM.
"""
import datetime
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import bcm  # noqa: E402  (beside this file)
import burst  # noqa: E402
import ec2  # noqa: E402
import fleet  # noqa: E402
import serving  # noqa: E402
import testbed  # noqa: E402

TENANT = burst.TENANT
WAIT_S = 15
# Provider: region, zone, instance type, product, currency, price for an hour, EFA interfaces
CLOUDS = {
    "aws": ("eu-west-1", "eu-west-1a", "p5.48xlarge", "H100", "EUR", "60", 1),
    "gcp": ("europe-west4", "europe-west4-a", "a3-highgpu-8g", "H100", "EUR", "26", 0),
    "sovereign": ("de-1", "de-1a", "gpu8", "H100", "EUR", "90", 0),
    "lambda": ("eu", "eu-1", "gpu_8x_b200", "B200", "USD", "40", 0),
}
SPOT = "22"


class Example:
    """A policy's file, the changes to it, and the work that it launches instances for."""

    def __init__(self, file, policy, cloud, market, changes=(), tenant=None, pods=1, notes=None, product=None, approved=False):
        self.file, self.policy, self.cloud, self.market, self.tenant = file, policy, cloud, market, tenant
        self.changes, self.pods, self.notes, self.product, self.approved = changes, pods, notes or {}, product, approved
        self.names = [f"{file}-{i}" for i in range(pods)]

    def text(self):
        text = (fleet.ROOT / f"examples/burst/{self.file}.yaml").read_text()
        changes = [*self.changes, *([(f"tenants: [{self.tenant}]", f"tenants: [{TENANT}]")] if self.tenant else [])]
        for old, new in changes:
            assert text.count(old) == 1, f"{self.file}: {text.count(old)} of {old}"
            text = text.replace(old, new)
        return text

    def work(self):
        for name in self.names:
            pod = fleet.gpu_pod(name, fleet.GPUS)
            pod["metadata"]["annotations"] = {f"drover.dev/{k}": v for k, v in self.notes.items()}
            if self.product:
                pod["spec"]["nodeSelector"] = {"nvidia.com/gpu.product": self.product}
            yield pod


def examples():
    now = datetime.datetime.now(datetime.timezone.utc)
    soon = (now + datetime.timedelta(minutes=25)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [
        Example("research", "research", "aws", "Spot", tenant="research", changes=[("{default: 30m,", f"{{default: {WAIT_S}s,")],
                notes={"checkpoint": "true", "expected-runtime": "3h"}),
        Example("deadline", "production-deadlines", "aws", "OnDemand", tenant="production", notes={"latest-start": soon}),
        Example("night-spot", "batch-at-night", "gcp", "Spot", changes=[("0 20 * * *", f"0 {now.hour} * * *")], pods=3,
                notes={"checkpoint": "true"}),
        Example("sovereign", "clinic", "sovereign", "OnDemand", tenant="clinic", notes={"data-class": "public"}, approved=True,
                changes=[("{default: 10m}", f"{{default: {WAIT_S}s}}")]),
        Example("overflow", "overflow", "lambda", "OnDemand", product="B200"),
    ]


class Moto(ec2.Moto):
    """Moto with the regions of CLOUDS."""
    START = """
import sys
from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend, Zone
from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS
from moto.server import main
for cloud in sys.argv[1].split():
    region, zone, kind = cloud.split(",")
    RegionsAndZonesBackend.zones.setdefault(region, [Zone(zone, region, zone)])
    INSTANCE_TYPE_OFFERINGS["availability-zone"].setdefault(region, [{"InstanceType": kind, "Location": zone}])
main(sys.argv[2:])
"""
    more = {"MOTO_ALLOW_NONEXISTENT_REGION": "true"}

    def command(self, python):
        return [python, "-c", self.START, " ".join(",".join(c[:3]) for c in CLOUDS.values())]


class Clouds(burst.Bursting):
    """A fleet of one owned machine, and moto as four clouds."""

    def __init__(self, folder, moto):
        super().__init__(folder, moto)
        self.amis = {}

    def apply_objects(self):
        bcm.Bcm.apply_objects(self)
        self.host.apply(*self.secrets())
        for name, (region, zone, kind, product, currency, price, efa) in CLOUDS.items():
            cloud = self.at(region)
            where, group, image = burst.defaults(cloud, zone)
            self.host.apply({"apiVersion": fleet.API, "kind": "Provider", "metadata": {"name": name}, "spec": {
                "type": "ec2", "credentialsSecretRef": {"name": "aws"},
                "ec2": {"endpoint": self.moto.url, "caSecretRef": {"name": "aws-ca"},
                        "image": image, "zones": [{"region": region, "zone": zone, "subnet": where, "securityGroups": [group]}]},
                "instanceTypes": [{
                    "name": kind, "pricePerHour": price, "spotPricePerHour": SPOT, "currency": currency,
                    "labels": {"nvidia.com/gpu.product": product}, **({"efaInterfaces": efa} if efa else {}),
                    "capacity": {"cpu": "2", "memory": "8Gi", "pods": "110", "nvidia.com/gpu": str(fleet.GPUS)}}]}})

    def stop(self):
        for ami in self.amis.values():
            ami.stop()
        super().stop()

    def at(self, region):
        return ec2.client(self.moto, region=region)

    def check(self):
        super().check()
        for ami in self.amis.values():
            assert not ami.error, ami.error

    def alive(self, name):
        """Lets each new instance of that cloud join, as its image would; returns all that run."""
        cloud = self.at(CLOUDS[name][0])
        found = self.instances(cloud=cloud)
        for i in found:
            if i["InstanceId"] not in self.amis:
                self.amis[i["InstanceId"]] = self.join(i, cloud)
        return found


def launch(f, x):
    _, zone, kind, *_ = CLOUDS[x.cloud]
    f.host.kubectl("apply", "-f", "-", stdin=x.text())
    f.host.apply(burst.cloud_pool(x.cloud, kind))
    asked = time.time()
    f.tenants[TENANT].apply(*x.work())
    if x.approved:
        approve(f, x, asked)
    f.until(f"{x.file}: {x.pods} instances", lambda: len(f.alive(x.cloud)) == x.pods, 180)
    for i in f.alive(x.cloud):
        got = (i["Placement"]["AvailabilityZone"], i["InstanceType"], i.get("InstanceLifecycle"))
        assert got == (zone, kind, "spot" if x.market == "Spot" else None), got
        assert {"Key": "drover.dev/policy", "Value": x.policy} in i["Tags"], i["Tags"]
    for name in x.names:
        f.until(f"{name} Running", lambda name=name: f.pod_running(TENANT, name), 120)
    decisions = f.get("burstpolicies", x.policy)["status"]["decisions"]
    chosen = [(d["market"], d["provider"]) for d in decisions if d["reason"] == "Chosen"]
    assert chosen and set(chosen) == {(x.market, x.cloud)}, decisions
    return next(d["message"] for d in decisions if d["reason"] == "Chosen")


def approve(f, x, asked):
    """Approves the work once its policy asks for it, and not before it has waited."""
    def asks():
        return any(d["reason"] == "ApprovalNeeded"
                   for d in f.get("burstpolicies", x.policy).get("status", {}).get("decisions", []))
    f.until(f"{x.file}: the policy asks", asks, 120)
    assert time.time() - asked >= WAIT_S - 2
    assert not f.alive(x.cloud), "an instance that nobody approved"
    subprocess.run([fleet.DROVER, "approve", "--kubeconfig", f.host.kubeconfig, f"burst/{x.policy}/default/{x.names[0]}",
                    "--reason", "agreed"], check=True, stdout=subprocess.DEVNULL, timeout=testbed.pace.limit(60))


def home(f, x):
    """Ends the work; its instances end, and their cost is settled."""
    for name in x.names:
        f.tenants[TENANT].kubectl("delete", "pod", name, "--wait=false")
    f.until(f"{x.file}: no instance left", lambda: not f.alive(x.cloud), 300)
    f.until(f"{x.file}: no claim left", lambda: not [c for c in f.get("nodeclaims") if c["spec"].get("burst")], 120)
    for ami in f.amis.values():
        ami.stop()
    f.amis.clear()
    rows = f.until(f"{x.file}: its cost settled", lambda: (f.get("burstledgers", x.policy) or {}).get("status", {}).get("rows"), 120)
    f.host.kubectl("delete", "burstpolicy", x.policy)
    f.host.kubectl("delete", "nodepool", x.cloud)
    return rows


def run(f, timer):
    f.start()
    timer.phase("a host cluster, a tenant, one machine, moto, drover")
    f.wait_state("free", limit_s=300)
    serving.run_pods(f, [(TENANT, "train")])
    f.view.done()
    timer.phase("the owned machine is in use")
    for x in examples():
        message = launch(f, x)
        home(f, x)
        f.view.done()
        timer.phase(f"{x.file}: {message}")


if __name__ == "__main__":
    burst.play(Moto, Clouds, run, __doc__.splitlines()[0],
               f"burst_examples: {len(examples())} policies launched what their pages say")
