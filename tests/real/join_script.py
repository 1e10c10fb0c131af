#!/usr/bin/env python3
"""A machine that joins by the script that its tenant's cluster serves, on real components.

    tests/real/join_script.py [--folder FOLDER]

A stand-in serves the cluster's /node/join only, and its script ends in `kubeadm join` of the real
control plane, like that of a vCluster with private nodes. At first it shows a certificate of
another CA: the machine reports that on its console and retries. Then a pod runs on the machine. Its
Node has all that only KUBELET_EXTRA_ARGS can have set, and nothing of the config drive is left.
"""
import argparse
import http.server
import pathlib
import ssl
import subprocess
import sys
import tempfile
import threading
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fleet  # noqa: E402  (beside this file)
import serving  # noqa: E402
import testbed  # noqa: E402
from testbed import drive  # noqa: E402

TENANT, POD = "team-a", "train"
SCRIPT = """set -eu
[ "$1" = --node-name ]
cat >/run/node-join.yaml <<END
apiVersion: kubeadm.k8s.io/v1beta4
kind: JoinConfiguration
discovery: {{bootstrapToken: {{apiServerEndpoint: "{endpoint}", token: "{token}", caCertHashes: ["{ca}"]}}}}
nodeRegistration:
  name: "$2"
  criSocket: unix:///run/containerd/containerd.sock
  kubeletExtraArgs: [{{name: cgroup-driver, value: cgroupfs}}]
END
kubeadm join --config /run/node-join.yaml --skip-phases=preflight
rm /run/node-join.yaml
"""


def openssl(*args):
    subprocess.run(["openssl", *[str(a) for a in args]], check=True, capture_output=True)


class Front:
    """https://GUEST:PORT/node/join of a control plane."""

    def __init__(self, plane):
        self.plane, self.folder = plane, plane.folder / "front"
        self.asked, self.refused = [], 0  # paths; handshakes that the caller aborted
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def setup(self):
                self.request.settimeout(30)
                try:
                    self.request = outer.tls.wrap_socket(self.request, server_side=True)
                except ssl.SSLError:
                    outer.refused += 1
                    outer.tls = outer.context("plane")
                    raise
                super().setup()

            def do_GET(self):
                outer.asked.append(self.path)
                at = urllib.parse.urlsplit(self.path)
                token = urllib.parse.parse_qs(at.query).get("token", [""])[0]
                body = SCRIPT.format(endpoint=plane.guest_endpoint, token=token, ca=plane.ca_hash()).encode()
                self.send_response(200 if at.path == "/node/join" and token else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None
        self.port = self.server.server_address[1]
        self.endpoint = f"{plane.guest}:{self.port}"

    def certificate(self, name, ca, key):
        made = self.folder / name
        made.with_suffix(".ext").write_text(f"subjectAltName=IP:{self.plane.guest}\n")
        openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=front",
                "-keyout", f"{made}.key", "-out", f"{made}.csr")
        openssl("x509", "-req", "-in", f"{made}.csr", "-CA", ca, "-CAkey", key, "-CAcreateserial", "-CAserial", f"{made}.srl",
                "-days", 2, "-extfile", f"{made}.ext", "-out", f"{made}.crt")

    def context(self, name):
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(self.folder / f"{name}.crt", self.folder / f"{name}.key")
        return tls

    def start(self):
        self.folder.mkdir(exist_ok=True)
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 2, "-subj",
                "/CN=another", "-keyout", self.folder / "ca.key", "-out", self.folder / "ca.crt")
        self.certificate("another", self.folder / "ca.crt", self.folder / "ca.key")
        self.certificate("plane", self.plane.pki / "ca.crt", self.plane.pki / "ca.key")
        self.tls = self.context("another")
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        self.server.server_close()


class Scripted(fleet.Fleet):
    def __init__(self, folder):
        super().__init__(folder, machines=1, prefix="drover-script", isolated=True)
        self.tenants = {TENANT: self.tenants[TENANT]}
        self.front = Front(self.tenants[TENANT])

    def may_reach(self):
        ports = super().may_reach()
        ports[f"tenant/{TENANT}"].append(self.front.port)
        return ports

    def apply_objects(self):
        self.front.start()
        super().apply_objects()

    def virtual_cluster(self, name):
        vc = super().virtual_cluster(name)
        vc["spec"].update(join="Script", joinEndpoint=self.front.endpoint)
        return vc

    def stop(self):
        self.front.stop()
        super().stop()


def joined_by_script(f):
    """Checks that the machine joined by the script only, and only after the right certificate was
    shown."""
    vm, front = f.rack.machines[0], f.front
    said = vm.console_text()
    assert f"join-script: the CA of the config drive does not verify {front.endpoint}" in said, said[-2000:]
    assert "by_script, try 1" in said and "by_kubeadm" not in said, said[-2000:]
    assert front.refused == 1 and len(front.asked) == 1, (front.refused, front.asked)
    token = urllib.parse.parse_qs(urllib.parse.urlsplit(front.asked[0]).query)["token"][0]
    assert token.split(".")[1] not in (f.folder / "drover.log").read_text(errors="replace"), "the token is in drover's log"
    assert token not in said, "the token is on the console"
    for path in vm.drives:
        for needle in (b"JOIN_ENDPOINT=" + front.endpoint.encode(), b"TOKEN=" + token.encode()):
            assert not drive.count(path, needle), f"{needle} is still on {path}"


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--folder", type=pathlib.Path)
    folder = args.parse_args().folder or pathlib.Path(tempfile.mkdtemp(prefix="drover-script-"))
    print(f"Logs and keys: {folder}", flush=True)
    testbed.parts.paths()
    timer = testbed.Timer()
    f = Scripted(folder)
    try:
        f.start()
        f.wait_state("free", limit_s=300)
        f.until("the tenant takes nodes", lambda: f.condition(TENANT, "TakesNodes") == "True JoinScript", 60)
        f.view.done()
        timer.phase("a tenant whose nodes join by its script, a machine: free and off")
        pods = [(TENANT, POD)]
        serving.run_pods(f, pods)
        f.view.done()
        serving.check(f, pods)
        serving.secrets_kept(f)
        joined_by_script(f)
        timer.phase("a pod Running on the machine that the script joined")
    except BaseException:
        f.last_words()
        raise
    finally:
        f.stop()
    print("\njoin_script: a machine joined by the script of its tenant's cluster, verified by its CA alone\n1 passed, 0 failed")


if __name__ == "__main__":
    main()
