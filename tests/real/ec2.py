#!/usr/bin/env python3
"""The EC2 simulator against third-party clients, and drover against a third-party server.

botocore and the AWS CLI call `drover sim ec2` over TLS, with signatures checked. This test checks
how the clients' own models, paginators and waiters interpret its answers;
tests/unit/sim/test_ec2*.c test its behaviour in detail. Moto is the opposite: a server that checks
signatures and policies, for drover's own provider, which ec2_drive.c drives. No VM, and nothing
beyond the loopback.

    tests/real/ec2.py            # runs itself again with the Python of parts/build
"""
import contextlib
import json
import os
import pathlib
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from testbed import free_port, pace  # noqa: E402  (beside this file)

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DROVER = ROOT / "build/rel/drover"
DRIVE = ROOT / "build/rel/tests/real/ec2_drive"
REGION = "eu-west-1"
ENV = {"PATH": os.environ["PATH"], "HOME": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true", "AWS_DEFAULT_REGION": REGION,
       "AWS_MAX_ATTEMPTS": "1", "AWS_RETRY_MODE": "standard", "AWS_PAGER": ""}


def parts():
    """Returns the folder of the third-party tools; builds it if it is missing."""
    done = subprocess.run([sys.executable, HERE / "parts/build", "--json", "--no-packages", "ec2"], check=True,
                          stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    return pathlib.Path(json.loads(done.stdout.splitlines()[-1])["ec2"])


class Simulated:
    """drover sim ec2, as a context."""

    def __init__(self, folder, *options):
        self.port, self.data = free_port(), pathlib.Path(folder) / "ec2"
        self.url = f"https://127.0.0.1:{self.port}"
        self.log = open(pathlib.Path(folder) / "ec2.log", "w", encoding="utf-8")
        self.process = subprocess.Popen([DROVER, "sim", "ec2", "--listen", f"127.0.0.1:{self.port}", "--data", self.data,
                                         *options], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.env = {**ENV, "AWS_SHARED_CREDENTIALS_FILE": str(self.data / "credentials"),
                    "AWS_CA_BUNDLE": str(self.data / "ca.crt")}

    def __enter__(self):
        pace.wait_for("the simulated EC2", self.answers, 20)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()

    def answers(self):
        assert self.process.poll() is None, "drover sim ec2 has ended; see ec2.log"
        try:
            return self.control("/sim/bill")
        except OSError:
            return None

    def control(self, path, body=None, method=None):
        tls = ssl.create_default_context(cafile=self.data / "ca.crt")
        data = json.dumps(body).encode() if body is not None else None
        ask = urllib.request.Request(self.url + path, data=data, method=method)
        with urllib.request.urlopen(ask, context=tls, timeout=10) as reply:
            return json.load(reply)

    def fault(self, what, **more):
        self.control("/sim/faults", {"what": what, **more})

    def well(self):
        self.control("/sim/faults", {}, "DELETE")


class Moto:
    """moto's server with an account of its own, limited to `actions`; from then on signatures and
    policies are checked. `env` has the access key."""
    more = {}  # more environment variables of the server

    def command(self, python):
        return [python, "-m", "moto.server"]

    def __init__(self, python, folder, actions=("ec2:*",), tls=False):
        """tls: use a certificate of its own; `ca` is its CA."""
        self.port, self.actions = free_port(), list(actions)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}"
        self.ca, key, options = pathlib.Path(folder) / "moto.crt", pathlib.Path(folder) / "moto.key", []
        if tls:
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                            "2", "-subj", "/CN=moto", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", self.ca],
                           check=True, capture_output=True)
            options = ["-s", "-c", self.ca, "-k", key]
            os.environ["AWS_CA_BUNDLE"] = str(self.ca)
        self.log = open(pathlib.Path(folder) / "moto.log", "w", encoding="utf-8")
        # CreateUser, CreateAccessKey and PutUserPolicy are the three calls that need no signature.
        self.process = subprocess.Popen([*self.command(python), "-H", "127.0.0.1", "-p", str(self.port), *options],
                                        env={**ENV, "INITIAL_NO_AUTH_ACTION_COUNT": "3", "PYTHONUNBUFFERED": "1", **self.more},
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.env = {}

    def __enter__(self):
        import botocore.session
        pace.wait_for("moto's server", self.answers, 60)
        iam = botocore.session.Session().create_client(
            "iam", REGION, endpoint_url=self.url, aws_access_key_id="any", aws_secret_access_key="any")
        iam.create_user(UserName="drover")
        key = iam.create_access_key(UserName="drover")["AccessKey"]
        iam.put_user_policy(UserName="drover", PolicyName="drover", PolicyDocument=json.dumps({
            "Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": self.actions, "Resource": "*"}]}))
        self.env = {**ENV, "AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()

    def answers(self):
        assert self.process.poll() is None, "moto has ended; see moto.log"
        try:
            tls = ssl.create_default_context(cafile=self.ca) if self.url.startswith("https") else None
            urllib.request.urlopen(f"{self.url}/moto-api/", timeout=5, context=tls).close()
            return True
        except OSError:
            return False


def client(where, region=REGION, service="ec2", **more):
    """Returns botocore's client; more: other credentials."""
    import botocore.config
    import botocore.session
    os.environ.update({name: value for name, value in where.env.items() if name.startswith("AWS_")})
    retries = botocore.config.Config(retries={"total_max_attempts": 1}, read_timeout=5)
    return botocore.session.Session().create_client(service, region, endpoint_url=where.url, config=retries, **more)


def code_of(call, **asked):
    """Returns (error code, HTTP status) of a call that must fail."""
    import botocore.exceptions
    try:
        call(**asked)
    except botocore.exceptions.ClientError as e:
        return e.response["Error"]["Code"], e.response["ResponseMetadata"]["HTTPStatusCode"]
    raise AssertionError(f"{asked} went well")


def same(got, want):
    assert got == want, f"{got!r}, not {want!r}"


def launch(ec2, count=1, **more):
    asked = {"ImageId": "ami-0123", "InstanceType": "g6.xlarge", "MinCount": count, "MaxCount": count,
             "TagSpecifications": [{"ResourceType": "instance", "Tags": [{"Key": "drover.dev/cluster", "Value": "ü <&> 1"}]}]}
    return ec2.run_instances(**{**asked, **more})


def every_way(ec2, sim):
    """Launches, waits, lists over pages, ends and waits again; checks the cost."""
    made = launch(ec2, 7, ClientToken="once", UserData="#!/bin/sh\n",
                  NetworkInterfaces=[{"DeviceIndex": 0, "InterfaceType": "efa", "SubnetId": "subnet-eu-west-1b",
                                      "Groups": ["sg-1"], "DeleteOnTermination": True}],
                  MetadataOptions={"HttpTokens": "required"})
    ids = [i["InstanceId"] for i in made["Instances"]]
    same(len(set(ids)), 7)
    same(made["OwnerId"], "123456789012")
    same({i["Placement"]["AvailabilityZone"] for i in made["Instances"]}, {"eu-west-1b"})
    same({i["State"]["Name"] for i in made["Instances"]}, {"pending"})
    same(made["Instances"][0]["Tags"], [{"Key": "drover.dev/cluster", "Value": "ü <&> 1"}])
    ec2.get_waiter("instance_running").wait(InstanceIds=ids, WaiterConfig={"Delay": 1, "MaxAttempts": 60})
    pages = list(ec2.get_paginator("describe_instances").paginate(
        Filters=[{"Name": "tag:drover.dev/cluster", "Values": ["ü <&> 1"]}], PaginationConfig={"PageSize": 5}))
    same(len(pages), 2)
    same([i["InstanceId"] for p in pages for r in p["Reservations"] for i in r["Instances"]], ids)
    same({i["State"]["Code"] for p in pages for r in p["Reservations"] for i in r["Instances"]}, {16})
    ended = ec2.terminate_instances(InstanceIds=ids)["TerminatingInstances"]
    same({(e["PreviousState"]["Name"], e["CurrentState"]["Name"]) for e in ended}, {("running", "shutting-down")})
    ec2.get_waiter("instance_terminated").wait(InstanceIds=ids, WaiterConfig={"Delay": 1, "MaxAttempts": 60})
    told = ec2.describe_instances(InstanceIds=ids[:1])["Reservations"][0]["Instances"][0]
    same(told["StateReason"]["Code"], "Client.UserInitiatedShutdown")
    # At least a minute each is billed.
    same(sim.control("/sim/bill")["micros"], 7 * -(-804800 * 60 // 3600))


def tokens(ec2):
    first = launch(ec2, ClientToken="t")
    same(launch(ec2, ClientToken="t")["Instances"][0]["InstanceId"], first["Instances"][0]["InstanceId"])
    same(code_of(launch, ec2=ec2, ClientToken="t", KeyName="other"), ("IdempotentParameterMismatch", 400))
    listed = ec2.describe_instances(Filters=[{"Name": "client-token", "Values": ["t"]}])["Reservations"]
    same([i["InstanceId"] for r in listed for i in r["Instances"]], [first["Instances"][0]["InstanceId"]])


def errors(ec2, sim):
    """Checks each error's code and status against EC2's, as botocore's parser reads them."""
    import botocore.exceptions
    same(code_of(ec2.describe_instances, InstanceIds=["i-0000"]), ("InvalidInstanceID.NotFound", 400))
    same(code_of(launch, ec2=ec2, InstanceType="q9.huge"), ("InvalidParameterValue", 400))
    same(code_of(launch, ec2=ec2, DryRun=True), ("DryRunOperation", 412))
    for what, more, want in (("Capacity", {"zone": "eu-west-1a"}, ("InsufficientInstanceCapacity", 500)),
                             ("Quota", {"value": 3}, ("VcpuLimitExceeded", 400)),
                             ("Unsupported", {"type": "g6.xlarge"}, ("Unsupported", 400)),
                             ("Throttle", {"value": 7}, ("RequestLimitExceeded", 503)),
                             ("Error", {"name": "UnauthorizedOperation", "value": 403}, ("UnauthorizedOperation", 403))):
        sim.fault(what, **more)
        same(code_of(launch, ec2=ec2, SubnetId="subnet-eu-west-1a"), want)
        sim.well()
    before = sim.control("/sim/bill")["launched"]
    sim.fault("LostReply", on="RunInstances", count=1)
    try:
        launch(ec2, ClientToken="lost")
        raise AssertionError("the reply was not lost")
    except botocore.exceptions.HTTPClientError:
        pass
    same(sim.control("/sim/bill")["launched"], before + 1)
    launch(ec2, ClientToken="lost")
    same(sim.control("/sim/bill")["launched"], before + 1)
    sim.fault("Dies", value=1, name="Server.InternalError", count=1)
    dead = launch(ec2)["Instances"][0]["InstanceId"]
    time.sleep(0.05)
    told = ec2.describe_instances(InstanceIds=[dead])["Reservations"][0]["Instances"][0]
    same((told["State"]["Name"], told["StateReason"]["Code"]), ("terminated", "Server.InternalError"))


def signatures(sim):
    key = ec2_key(sim)
    for other, want in (({"aws_secret_access_key": "wrong" + key[1]}, ("AuthFailure", 401)),
                        ({"aws_access_key_id": "AKIANOBODY"}, ("AuthFailure", 401)),
                        ({"aws_session_token": "none"}, ("AuthFailure", 401))):
        ec2 = client(sim, **{"aws_access_key_id": key[0], "aws_secret_access_key": key[1], **other})
        same(code_of(ec2.describe_instances), want)
    sim.fault("Skew", value=20 * 60000)
    same(code_of(client(sim).describe_instances), ("RequestExpired", 400))
    sim.well()


def ec2_key(sim):
    words = (sim.data / "credentials").read_text(encoding="utf-8").split()
    return words[words.index("aws_access_key_id") + 2], words[words.index("aws_secret_access_key") + 2]


def offers(ec2, sim):
    """Checks what a client reads before it chooses an offer."""
    same([r["RegionName"] for r in ec2.describe_regions()["Regions"]], ["eu-west-1", "us-east-1"])
    same(len(ec2.describe_availability_zones()["AvailabilityZones"]), 3)
    gpu = ec2.describe_instance_types(InstanceTypes=["p5.48xlarge"])["InstanceTypes"][0]
    same((gpu["VCpuInfo"]["DefaultVCpus"], gpu["GpuInfo"]["Gpus"][0]["Count"]), (192, 8))
    where = ec2.describe_instance_type_offerings(LocationType="availability-zone", Filters=[
        {"Name": "instance-type", "Values": ["p5.48xlarge"]}])["InstanceTypeOfferings"]
    same([o["Location"] for o in where], ["eu-west-1a", "eu-west-1b", "eu-west-1c"])
    prices = ec2.get_paginator("describe_spot_price_history").paginate(
        InstanceTypes=["g6.xlarge"], ProductDescriptions=["Linux/UNIX"], AvailabilityZone="eu-west-1c").build_full_result()
    same([p["SpotPrice"] for p in prices["SpotPriceHistory"]], ["0.350000"])
    sim.control("/sim/reservations", {"id": "cr-1", "type": "p5.48xlarge", "zone": "eu-west-1a", "count": 2,
                                      "endsInMs": 7200000, "upfrontMicros": 1000000})
    made = launch(ec2, InstanceType="p5.48xlarge", InstanceMarketOptions={"MarketType": "capacity-block"},
                  CapacityReservationSpecification={"CapacityReservationTarget": {"CapacityReservationId": "cr-1"}})
    same(made["Instances"][0]["CapacityReservationId"], "cr-1")
    told = ec2.describe_capacity_reservations(CapacityReservationIds=["cr-1"])["CapacityReservations"][0]
    same((told["State"], told["AvailableInstanceCount"], told["EndDateType"]), ("active", 1, "limited"))
    spot = launch(ec2, InstanceMarketOptions={"MarketType": "spot", "SpotOptions": {"MaxPrice": "0.36"}})["Instances"][0]
    same(spot["InstanceLifecycle"], "spot")
    ec2.get_waiter("instance_running").wait(InstanceIds=[spot["InstanceId"]], WaiterConfig={"Delay": 1, "MaxAttempts": 60})
    sim.fault("SpotNotice", name=spot["InstanceId"])
    asked = ec2.describe_spot_instance_requests()["SpotInstanceRequests"]
    same([(s["InstanceId"], s["Status"]["Code"]) for s in asked], [(spot["InstanceId"], "marked-for-termination")])


def command_line(sim, python):
    """Uses the AWS CLI like an operator."""
    def aws(*args):
        done = subprocess.run([python, "-m", "awscli", "--endpoint-url", sim.url, "ec2", *args], env=sim.env,
                              capture_output=True, text=True, check=False, timeout=pace.limit(60))
        return done.returncode, done.stdout.strip() or done.stderr.strip()

    status, made = aws("run-instances", "--image-id", "ami-1", "--instance-type", "m7i.large", "--count", "2", "--query",
                       "Instances[].InstanceId", "--output", "text", "--tag-specifications",
                       "ResourceType=instance,Tags=[{Key=who,Value=cli}]")
    same((status, len(made.split())), (0, 2))
    status, listed = aws("describe-instances", "--filters", "Name=tag:who,Values=cli", "--query",
                         "Reservations[].Instances[].InstanceId", "--output", "text")
    same((status, listed.split()), (0, made.split()))
    same(aws("terminate-instances", "--instance-ids", *made.split())[0], 0)
    status, said = aws("describe-instances", "--instance-ids", "i-0")
    assert status and "InvalidInstanceID.NotFound" in said, said


def moto_checks(python, folder):
    """Checks that the server which is to test drover does refuse."""
    with Moto(python, folder, ["ec2:RunInstances", "ec2:DescribeInstances", "ec2:DescribeImages"]) as moto:
        ec2 = client(moto)
        same(ec2.describe_instances()["Reservations"], [])
        same(code_of(ec2.describe_regions), ("AccessDenied", 403))
        wrong = client(moto, aws_access_key_id=moto.env["AWS_ACCESS_KEY_ID"], aws_secret_access_key="wrong")
        same(code_of(wrong.describe_instances), ("AuthFailure", 401))


def drive(where, **more):
    """Runs drover's own provider against that endpoint."""
    asked = {"EC2_ENDPOINT": where.url, "EC2_ZONE": "eu-west-1a", "EC2_IMAGE": "ami-1", "EC2_TYPE": "g6.xlarge", "EC2_CA": "", **more}
    done = subprocess.run([DRIVE], env={**where.env, **asked}, capture_output=True, text=True, check=False, timeout=pace.limit(60))
    if not done.stdout:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def drives_sim(sim):
    key = ec2_key(sim)
    sim.env.update(AWS_ACCESS_KEY_ID=key[0], AWS_SECRET_ACCESS_KEY=key[1])
    at = {"EC2_SUBNET": "subnet-eu-west-1a", "EC2_GROUP": "sg-1", "EC2_CA": str(sim.data / "ca.crt")}
    before = sim.control("/sim/bill")["launched"]
    sim.fault("LostReply", on="RunInstances", count=1)
    same(drive(sim, **at)["at"], "launch")
    said = drive(sim, **at)
    same(sim.control("/sim/bill")["launched"], before + 2)
    same((len(said["launched"]), sorted(said["owned"]), said["again"], said["gone"]),
         (2, sorted(said["launched"]), said["launched"], 2))


ROLE_ACTIONS = ["ec2:RunInstances", "ec2:DescribeInstances", "ec2:TerminateInstances", "ec2:CreateTags"]


def role_in(moto, external_id, actions):
    """Creates a role which moto's user may assume with that external ID; returns its ARN."""
    iam = client(moto, service="iam")
    trust = {"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::123456789012:user/drover"}, "Action": "sts:AssumeRole",
         "Condition": {"StringEquals": {"sts:ExternalId": external_id}}}]}
    arn = iam.create_role(RoleName="gpus", AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
    iam.put_role_policy(RoleName="gpus", PolicyName="gpus", PolicyDocument=json.dumps({
        "Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}]}))
    return arn


def place_in(moto):
    """Returns the environment of ec2_drive for a launch in moto's default network."""
    ec2 = client(moto)
    subnets = ec2.describe_subnets(Filters=[{"Name": "availability-zone", "Values": ["eu-west-1a"]}])["Subnets"]
    return {"EC2_SUBNET": subnets[0]["SubnetId"], "EC2_GROUP": ec2.describe_security_groups()["SecurityGroups"][0]["GroupId"],
            "EC2_IMAGE": ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"], "EC2_TYPE": "m5.large"}


PLACE_ACTIONS = ["ec2:DescribeSubnets", "ec2:DescribeSecurityGroups", "ec2:DescribeImages"]


def drives_moto(python, folder):
    """Moto ignores the client token: the second launch makes two more instances there. Moto also
    checks the signature of a body that it has encoded again, with + for a space, so a body with a
    space is refused."""
    with Moto(python, folder, [*PLACE_ACTIONS, *ROLE_ACTIONS]) as moto:
        ec2, at = client(moto), place_in(moto)
        said = drive(moto, **at)
        assert "error" not in said, said
        same((len(said["launched"]), sorted(said["owned"])), (2, sorted(said["launched"])))
        told = ec2.describe_instances(InstanceIds=said["launched"])["Reservations"]
        same({i["State"]["Name"] for r in told for i in r["Instances"]}, {"terminated"})
        same({t["Value"] for r in told for i in r["Instances"] for t in i["Tags"]}, {"ec2-drive", "uid-<&>-ü"})
        moto.env["AWS_SECRET_ACCESS_KEY"] = "wrong"
        same(drive(moto, **at)["at"], "launch")


def assumes_role(python, folder):
    """The user may not launch; the role that it assumes may."""
    with Moto(python, folder, [*PLACE_ACTIONS, "sts:AssumeRole", "iam:CreateRole", "iam:PutRolePolicy"]) as moto:
        at = {**place_in(moto), "EC2_STS": moto.url, "EC2_ROLE": role_in(moto, "42", ROLE_ACTIONS), "EC2_EXTERNAL_ID": "42"}
        said = drive(moto, **at)
        assert "error" not in said, said
        same(sorted(said["owned"]), sorted(said["launched"]))
        refused = drive(moto, **{**at, "EC2_EXTERNAL_ID": "43"})
        same(refused["at"], "launch")
        assert f"AssumeRole {at['EC2_ROLE']}: AccessDenied" in refused["error"], refused


def event(kind, instance, at, **more):
    """Returns an event of EC2 as EventBridge writes it to a queue (EC2 User Guide, "Spot interruptions" and "Rebalance
    recommendations")."""
    return json.dumps({"version": "0", "id": "12345678-1234-1234-1234-123456789012", "detail-type": kind, "source": "aws.ec2",
                       "account": "123456789012", "region": REGION, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at)),
                       "resources": [f"arn:aws:ec2:{REGION}a:instance/{instance}"], "detail": {"instance-id": instance, **more}})


def reads_queue(python, folder):
    """Warnings lie in a queue of moto among other messages. SQS hands out ten messages at once, and drover reads the second
    warning only after it has deleted the first ten messages."""
    warning, advice = "EC2 Spot Instance Interruption Warning", "EC2 Instance Rebalance Recommendation"
    with Moto(python, folder, [*PLACE_ACTIONS, *ROLE_ACTIONS, "sqs:*"]) as moto:
        at, sqs = place_in(moto), client(moto, service="sqs")
        url = sqs.create_queue(QueueName="drover")["QueueUrl"]
        tags = [{"ResourceType": "instance", "Tags": [{"Key": "drover.dev/cluster", "Value": "ec2-drive"}]}]
        made = client(moto).run_instances(ImageId=at["EC2_IMAGE"], InstanceType="m5.large", MinCount=3, MaxCount=3,
                                          TagSpecifications=tags)
        first, second, third = (i["InstanceId"] for i in made["Instances"])
        now = int(time.time()) - 60
        bodies = [event(warning, first, now, **{"instance-action": "terminate"}),
                  *[event(advice, third, now - k) for k in range(8)], "no event",
                  event(warning, second, now + 1, **{"instance-action": "terminate"})]
        for body in bodies:
            sqs.send_message(QueueUrl=url, MessageBody=body)
        said = drive(moto, **at, EC2_QUEUE=url)
        same(said, {"ends": {first: (now + 120) * 1000, second: (now + 121) * 1000}, "atRisk": {third: now * 1000}})
        told = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        left = int(told["ApproximateNumberOfMessages"]) + int(told["ApproximateNumberOfMessagesNotVisible"])
        assert left <= 1, told
        wrong = client(moto, service="sqs", aws_access_key_id=moto.env["AWS_ACCESS_KEY_ID"], aws_secret_access_key="wrong")
        assert code_of(wrong.receive_message, QueueUrl=url)[1] in (401, 403), "moto does not check the signatures of SQS"


def judge():
    python = sys.executable
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="drover-ec2-"))
        sim = stack.enter_context(Simulated(folder, "--pending-ms", "500", "--ending-ms", "500"))
        for what, check in (("every way", lambda: every_way(client(sim), sim)), ("tokens", lambda: tokens(client(sim))),
                            ("errors", lambda: errors(client(sim), sim)), ("signatures", lambda: signatures(sim)),
                            ("offers", lambda: offers(client(sim), sim)), ("the AWS CLI", lambda: command_line(sim, python)),
                            ("moto", lambda: moto_checks(python, folder)),
                            ("drover before the simulated EC2", lambda: drives_sim(sim)),
                            ("drover before moto", lambda: drives_moto(python, folder)),
                            ("drover in a role of moto", lambda: assumes_role(python, folder)),
                            ("drover before a queue of moto", lambda: reads_queue(python, folder))):
            began = time.monotonic()
            check()
            print(f"   {what}: {time.monotonic() - began:.1f} s", flush=True)
    print("ec2: botocore and the AWS CLI find the simulated EC2 as they expect EC2, and moto finds drover so")


def main():
    folder = parts()
    if pathlib.Path(sys.prefix) != folder:
        os.execv(folder / "bin/python", [str(folder / "bin/python"), __file__])
    judge()


if __name__ == "__main__":
    main()
