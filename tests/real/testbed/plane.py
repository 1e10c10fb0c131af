"""A real control plane: etcd, kube-apiserver, scheduler and controller-manager on the loopback,
with the PKI and the cluster configuration that kubeadm makes, so that a real machine can `kubeadm
join` it."""
import base64
import hashlib
import json
import pathlib
import re
import secrets
import shutil
import ssl
import string
import subprocess
import urllib.error
import urllib.request

from . import pace, parts, process

GUEST_SEES_HOST = "10.0.2.2"  # QEMU's user network: the host's loopback

KUBEADM_CONFIG = """\
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {{advertiseAddress: {guest}, bindPort: {port}}}
nodeRegistration: {{name: {name}, criSocket: "unix:///run/containerd/containerd.sock"}}
bootstrapTokens: []
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
clusterName: {name}
kubernetesVersion: v1.36.3
certificatesDir: {pki}
controlPlaneEndpoint: {guest}:{port}
encryptionAlgorithm: {algorithm}
networking: {{serviceSubnet: 10.96.0.0/16, dnsDomain: cluster.local}}
apiServer: {{certSANs: [127.0.0.1, localhost, "{guest}"]}}
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: systemd
rotateCertificates: true
"""


class ApiError(Exception):
    def __init__(self, code, body):
        super().__init__(f"HTTP {code}: {body[:500]}")
        self.code = code
        self.body = body


class ControlPlane:
    """start(), wait_ready(), stop(). start() only starts the processes, so several planes can start
    before the first is waited for. folder holds data, keys and logs."""

    def __init__(self, name, folder, algorithm="ECDSA-P256", apiserver_args=(),
                 durable=False, guest=GUEST_SEES_HOST):
        """guest: the address of the plane for virtual machines."""
        self.name = name
        self.guest = guest
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.algorithm = algorithm
        self.apiserver_args = list(apiserver_args)
        self.etcd_args = [] if durable else ["--unsafe-no-fsync"]
        self.port = process.free_port()
        self.etcd_port = process.free_port()
        self.peer_port = process.free_port()
        self.pki = self.folder / "pki"
        self.kubeconfig = self.folder / "admin.conf"  # server address for this machine
        self.guest_kubeconfig = self.folder / "guest.conf"  # server address for virtual machines
        self.server = f"https://127.0.0.1:{self.port}"
        self.guest_endpoint = f"{guest}:{self.port}"
        self.processes = []
        self._tls = None

    # -- life

    def start(self):
        kube = parts.paths()["kube"]
        for left in ("etcd", "pki"):
            shutil.rmtree(self.folder / left, ignore_errors=True)
        for left in (*self.folder.glob("*.conf"), *self.folder.glob("*.log")):
            left.unlink()
        self._make_pki()
        self._spawn("etcd", [
            parts.paths()["etcd"] / "etcd", "--name", "one", "--data-dir", self.folder / "etcd",
            *self.etcd_args, "--log-level", "warn",
            "--listen-client-urls", f"http://127.0.0.1:{self.etcd_port}",
            "--advertise-client-urls", f"http://127.0.0.1:{self.etcd_port}",
            "--listen-peer-urls", f"http://127.0.0.1:{self.peer_port}",
            "--initial-advertise-peer-urls", f"http://127.0.0.1:{self.peer_port}",
            "--initial-cluster", f"one=http://127.0.0.1:{self.peer_port}"])
        pki = self.pki
        self._spawn("kube-apiserver", [
            kube / "kube-apiserver", f"--etcd-servers=http://127.0.0.1:{self.etcd_port}",
            "--bind-address=127.0.0.1", f"--secure-port={self.port}",
            f"--advertise-address={self.guest}",
            f"--tls-cert-file={pki}/apiserver.crt",
            f"--tls-private-key-file={pki}/apiserver.key",
            f"--client-ca-file={pki}/ca.crt",
            f"--service-account-key-file={pki}/sa.pub",
            f"--service-account-signing-key-file={pki}/sa.key",
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
            f"--kubelet-client-certificate={pki}/apiserver-kubelet-client.crt",
            f"--kubelet-client-key={pki}/apiserver-kubelet-client.key",
            f"--requestheader-client-ca-file={pki}/front-proxy-ca.crt",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            "--authorization-mode=Node,RBAC", "--enable-bootstrap-token-auth",
            "--enable-admission-plugins=NodeRestriction", "--allow-privileged",
            "--service-cluster-ip-range=10.96.0.0/16", "--profiling=false",
            *self.apiserver_args])
        return self

    def wait_ready(self, limit_s=60):
        """Waits until nodes can join: the last objects are created here, once the API server
        answers."""
        pace.wait_for(f"API server of {self.name}", self._answers, limit_s)
        kube = parts.paths()["kube"]
        self._spawn("kube-scheduler", [
            kube / "kube-scheduler", f"--kubeconfig={self.folder}/scheduler.conf",
            "--leader-elect=false", "--secure-port=0"])
        self._spawn("kube-controller-manager", [
            kube / "kube-controller-manager",
            f"--kubeconfig={self.folder}/controller-manager.conf",
            "--leader-elect=false", "--secure-port=0",
            "--controllers=*,bootstrap-signer-controller,token-cleaner-controller",
            f"--cluster-signing-cert-file={self.pki}/ca.crt",
            f"--cluster-signing-key-file={self.pki}/ca.key",
            f"--root-ca-file={self.pki}/ca.crt",
            f"--service-account-private-key-file={self.pki}/sa.key",
            "--use-service-account-credentials=true"])
        # With the CA's folder on a node instead of here, because kubelets read it.
        config = self._write_config("kubeadm-node.yaml", "/etc/kubernetes/pki")
        self.kubeadm("init", "phase", "upload-config", "all", "--config", config,
                     "--kubeconfig", self.kubeconfig)
        self.kubeadm("init", "phase", "bootstrap-token", "--config", config,
                     "--kubeconfig", self.kubeconfig, "--skip-token-print")
        # kubeadm took the server from the kubeconfig, but nodes reach it at a different address.
        path = "/api/v1/namespaces/kube-public/configmaps/cluster-info"
        info = self.api("GET", path)["data"]["kubeconfig"]
        self.api("PATCH", path, {"data": {
            "kubeconfig": info.replace(self.server, f"https://{self.guest_endpoint}")}})
        pace.wait_for(f"service accounts of {self.name}",
                         lambda: self.get("/api/v1/namespaces/default/serviceaccounts/default"),
                         limit_s)
        return self

    def stop(self):
        """Kills the processes: no state needs an orderly shutdown. Keys and logs stay."""
        for p in reversed(self.processes):
            p.stop(grace_s=0)
        self.processes = []
        shutil.rmtree(self.folder / "etcd", ignore_errors=True)

    def rss_mb(self):
        return {p.name: p.rss_mb() for p in self.processes}

    # -- use

    def api(self, method, path, body=None, content_type=None):
        """Sends one request as the administrator; returns decoded JSON, or raises ApiError."""
        if content_type is None:
            content_type = ("application/merge-patch+json" if method == "PATCH"
                            else "application/json")
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.server + path, data=data, method=method,
                                         headers={"Content-Type": content_type})
        try:
            with urllib.request.urlopen(request, context=self._context(), timeout=pace.limit(30)) as reply:
                return json.loads(reply.read() or b"null")
        except urllib.error.HTTPError as e:
            raise ApiError(e.code, e.read().decode(errors="replace")) from None

    def get(self, path):
        """As api("GET"), but returns None for a missing object."""
        try:
            return self.api("GET", path)
        except ApiError as e:
            if e.code == 404:
                return None
            raise

    def kubectl(self, *args, stdin=None, check=True):
        """Runs kubectl as the administrator; returns its output."""
        done = subprocess.run(
            [str(parts.paths()["kube"] / "kubectl"), "--kubeconfig", str(self.kubeconfig),
             *[str(a) for a in args]], input=stdin, capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise RuntimeError(f"kubectl {' '.join(map(str, args))}: {done.stderr.strip()}")
        return done.stdout

    def apply(self, *objects):
        """Applies dicts or YAML text."""
        for o in objects:
            self.kubectl("apply", "-f", "-", stdin=o if isinstance(o, str) else json.dumps(o))

    def ca_pem(self):
        return (self.pki / "ca.crt").read_text()

    def ca_hash(self):
        """Returns the value for --discovery-token-ca-cert-hash."""
        key = subprocess.run(["openssl", "x509", "-in", str(self.pki / "ca.crt"), "-noout",
                              "-pubkey"], check=True, capture_output=True).stdout
        der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "der"], input=key,
                             check=True, capture_output=True).stdout
        return "sha256:" + hashlib.sha256(der).hexdigest()

    def mint_token(self):
        """Creates a bootstrap token for one node; returns id.secret."""
        letters = string.ascii_lowercase + string.digits
        token_id = "".join(secrets.choice(letters) for _ in range(6))
        secret = "".join(secrets.choice(letters) for _ in range(16))
        self.api("POST", "/api/v1/namespaces/kube-system/secrets", {
            "metadata": {"name": f"bootstrap-token-{token_id}"},
            "type": "bootstrap.kubernetes.io/token",
            "stringData": {
                "token-id": token_id, "token-secret": secret,
                "usage-bootstrap-signing": "true", "usage-bootstrap-authentication": "true",
                "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token"}})
        return f"{token_id}.{secret}"

    def kubeconfig_for(self, namespace, account, hours=24, server=None):
        """Returns the text of a kubeconfig with a bound token of a ServiceAccount and inline CA,
        without admin rights."""
        token = self.kubectl("create", "token", account, "-n", namespace,
                             f"--duration={hours}h").strip()
        return self._kubeconfig({"token": token}, server)

    def kubeconfig_signed(self, user, groups=(), server=None):
        """Returns the text of a kubeconfig with a client certificate for user, through a CSR that
        the cluster itself signs."""
        stem = self.folder / f"user-{re.sub(r'[^A-Za-z0-9]', '-', user)}"
        subject = "".join(f"/O={g}" for g in groups) + f"/CN={user}"
        subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-subj", subject, "-keyout",
                        f"{stem}.key", "-out", f"{stem}.csr"], check=True, capture_output=True)
        name = f"user-{secrets.token_hex(4)}"
        path = f"/apis/certificates.k8s.io/v1/certificatesigningrequests/{name}"
        request = base64.b64encode(pathlib.Path(f"{stem}.csr").read_bytes()).decode()
        csr = self.api("POST", path.rsplit("/", 1)[0], {
            "metadata": {"name": name},
            "spec": {"request": request, "usages": ["client auth"],
                     "signerName": "kubernetes.io/kube-apiserver-client"}})
        csr["status"] = {"conditions": [{"type": "Approved", "status": "True",
                                         "reason": "TestBed", "message": "by the test bed"}]}
        self.api("PUT", path + "/approval", csr)
        certificate = pace.wait_for(
            "signed certificate", lambda: self.api("GET", path)["status"].get("certificate"), 20)
        key = base64.b64encode(pathlib.Path(f"{stem}.key").read_bytes()).decode()
        return self._kubeconfig({"client-certificate-data": certificate,
                                 "client-key-data": key}, server)

    def node(self, name):
        return self.get(f"/api/v1/nodes/{name}")

    def node_ready(self, name):
        node = self.node(name)
        return node if node and any(c["type"] == "Ready" and c["status"] == "True"
                                    for c in node["status"].get("conditions", [])) else None

    # -- inside

    def kubeadm(self, *args):
        done = subprocess.run([str(parts.paths()["kube"] / "kubeadm"), *[str(a) for a in args]],
                              capture_output=True, text=True, check=False)
        with open(self.folder / "kubeadm.log", "a", encoding="utf-8") as log:
            log.write(done.stdout + done.stderr)
        if done.returncode:
            raise RuntimeError(f"kubeadm {' '.join(map(str, args))}: {done.stderr.strip()}")

    def _spawn(self, name, argv):
        self.processes.append(process.Process(name, self.folder, argv))

    def _write_config(self, name, pki):
        path = self.folder / name
        path.write_text(KUBEADM_CONFIG.format(name=self.name, port=self.port, pki=pki,
                                              guest=self.guest, algorithm=self.algorithm))
        return path

    def _make_pki(self):
        config = self._write_config("kubeadm.yaml", self.pki)
        self.kubeadm("init", "phase", "certs", "all", "--config", config)
        self.kubeadm("init", "phase", "kubeconfig", "all", "--config", config,
                     "--kubeconfig-dir", self.folder)
        self.guest_kubeconfig.write_text(self.kubeconfig.read_text())
        for conf in ("admin", "scheduler", "controller-manager", "super-admin"):
            path = self.folder / f"{conf}.conf"
            path.write_text(path.read_text().replace(f"https://{self.guest_endpoint}",
                                                     self.server))
        # kubeadm binds admin.conf's group in a phase that needs kubelets; its super-admin needs no
        # binding.
        self.kubeconfig.write_text((self.folder / "super-admin.conf").read_text())

    def _context(self):
        if self._tls is None:
            text = self.kubeconfig.read_text()

            def field(name):
                return base64.b64decode(re.search(rf"{name}: (\S+)", text).group(1))
            self._tls = ssl.create_default_context(
                cadata=field("certificate-authority-data").decode())
            pair = self.folder / "admin.pem"
            pair.touch(mode=0o600)
            pair.write_bytes(field("client-certificate-data") + field("client-key-data"))
            self._tls.load_cert_chain(pair)
        return self._tls

    def _answers(self):
        for p in self.processes:
            p.check()
        try:
            # /readyz waits for every hook; the last, RBAC's bootstrap, is what kubeadm needs.
            with urllib.request.urlopen(self.server + "/readyz", context=self._context(),
                                        timeout=5) as reply:
                return reply.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def _kubeconfig(self, user, server):
        ca = base64.b64encode((self.pki / "ca.crt").read_bytes()).decode()
        return json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": self.name,
            "clusters": [{"name": self.name, "cluster": {
                "server": server or self.server, "certificate-authority-data": ca}}],
            "users": [{"name": self.name, "user": user}],
            "contexts": [{"name": self.name,
                          "context": {"cluster": self.name, "user": self.name}}]}, indent=1)
