"""A registry of container images over TLS, at one address of this machine. Needs docker-registry."""
import subprocess

from . import process

CONFIG = """\
version: 0.1
storage: {{filesystem: {{rootdirectory: {folder}/registry}}}}
http: {{addr: "{address}", tls: {{certificate: {folder}/registry.crt, key: {folder}/registry.key}}}}
log: {{level: warn}}
"""


class Registry:
    """name: host:port, as in the names of images. certificate: path of its certificate, which is its
    own CA."""

    def __init__(self, folder, host):
        self.name = f"{host}:{process.free_port()}"
        self.certificate = folder / "registry.crt"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "2", "-subj", "/CN=registry", "-addext", f"subjectAltName=IP:{host}", "-keyout",
                        str(folder / "registry.key"), "-out", str(self.certificate)], check=True, capture_output=True)
        (folder / "registry.yaml").write_text(CONFIG.format(folder=folder, address=self.name))
        self.process = process.Process("registry", folder, ["docker-registry", "serve", folder / "registry.yaml"])

    def stop(self):
        self.process.stop()
