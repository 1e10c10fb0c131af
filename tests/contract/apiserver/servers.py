"""Starts and stops the two servers against which the cases run."""
import base64
import http.client
import os
import pathlib
import re
import ssl
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
DROVER = os.environ.get("DROVER", ROOT / "build/rel/drover")
sys.path.insert(0, str(ROOT / "tests/real"))
from testbed import pace, parts, process  # noqa: E402  (beside the real tests)
from testbed.plane import ControlPlane  # noqa: E402

# The controllers that the cases need: garbage collection, emptying namespaces, disruption budgets,
# tokens of ServiceAccounts.  No scheduler runs, so nothing else changes the pods of a case.
CONTROLLERS = ("garbage-collector-controller,namespace-controller,disruption-controller,"
               "serviceaccount-controller,serviceaccount-token-controller,"
               "clusterrole-aggregation-controller")


def field(kubeconfig, name):
    found = re.search(rf"{name}: (\S+)", kubeconfig)
    return found and found.group(1)


def killed(old):
    """Ends the process with SIGKILL; returns a new one with the same command."""
    old.popen.kill()
    old.popen.wait()
    old.stop()
    return process.Process(old.name, old.folder, old.popen.args)


class Server:
    """A server that answers.  patience: factor by which time limits of the cases are extended."""
    patience = 1

    def __init__(self, kubeconfig):
        text = self.kubeconfig = pathlib.Path(kubeconfig).read_text()
        self.path = pathlib.Path(kubeconfig)
        self.address = re.search(r"server: https://(\S+)", text).group(1)
        self.ca = base64.b64decode(field(text, "certificate-authority-data")).decode()
        self.tls = ssl.create_default_context(cadata=self.ca)
        self.nobody = ssl.create_default_context(cadata=self.ca)
        self.token = field(text, "token")
        if field(text, "client-certificate-data"):
            with tempfile.NamedTemporaryFile(dir=self.path.parent) as pair:
                for part in ("client-certificate-data", "client-key-data"):
                    pair.write(base64.b64decode(field(text, part)))
                pair.flush()
                self.tls.load_cert_chain(pair.name)

    def connect(self, user=None):
        return http.client.HTTPSConnection(self.address, timeout=30,
                                           context=self.tls if user is None else self.nobody)

    def headers(self, user=None):
        """Returns the HTTP headers of a user: None: administrator, "": anonymous, else a token."""
        token = self.token if user is None else user
        return {"Authorization": f"Bearer {token}"} if token else {}


class Real:
    """etcd, kube-apiserver, and the controllers on whose work the cases rely."""
    name = "kube-apiserver"
    kills = 1  # only one, because kube-apiserver restarts slowly

    def __init__(self, folder, durable=False):
        """durable: etcd waits until each write is on disk, as in production."""
        self.plane = ControlPlane("real", folder, durable=durable, apiserver_args=[
            "--disable-admission-plugins=ServiceAccount"])
        self.plane.start()

    def ready(self):
        p = self.plane
        pace.wait_for("kube-apiserver", p._answers, 60)  # pylint: disable=protected-access
        p._spawn("kube-controller-manager", [  # pylint: disable=protected-access
            parts.paths()["kube"] / "kube-controller-manager",
            f"--kubeconfig={p.folder}/controller-manager.conf", "--leader-elect=false",
            "--secure-port=0", f"--controllers={CONTROLLERS}", "--kube-api-qps=500",
            "--kube-api-burst=500",
            f"--root-ca-file={p.pki}/ca.crt",
            f"--service-account-private-key-file={p.pki}/sa.key",
            "--use-service-account-credentials=true"])
        server = Server(p.kubeconfig)
        server.patience = 4
        return server

    def kill_and_start(self):
        """Kills and restarts kube-apiserver; etcd, which has its state, continues."""
        p = self.plane
        n = next(i for i, one in enumerate(p.processes) if one.name == "kube-apiserver")
        p.processes[n] = killed(p.processes[n])
        pace.wait_for("kube-apiserver", p._answers, 60)  # pylint: disable=protected-access

    def stop(self):
        self.plane.stop()

    def rss_mb(self):
        return sum(self.plane.rss_mb().values())


class Embedded:
    """The embedded API server, as the command `drover apiserver` runs it."""
    name = "drover apiserver"
    kills = 20

    def __init__(self, folder, **_):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.process = process.Process("drover-apiserver", self.folder, [
            DROVER, "apiserver", "--data", self.folder / "data",
            "--listen", f"127.0.0.1:{process.free_port()}",
            "--kubeconfig-out", self.folder / "admin.conf"])

    def ready(self):
        def answers():
            self.process.check()
            return (self.folder / "admin.conf").exists()
        pace.wait_for("drover apiserver", answers, 10, 0.02)
        return Server(self.folder / "admin.conf")

    def kill_and_start(self):
        self.process = killed(self.process)
        connection = Server(self.folder / "admin.conf").connect()

        def answers():
            self.process.check()
            try:
                connection.request("GET", "/readyz")
                return connection.getresponse().read()
            except OSError:
                connection.close()
                return False
        pace.wait_for("drover apiserver", answers, 10, 0.02)

    def stop(self):
        self.process.stop()

    def rss_mb(self):
        return self.process.rss_mb()
