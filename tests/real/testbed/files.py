"""A static file server on the loopback; guests reach it at 10.0.2.2."""
import http.server
import os
import pathlib
import re
import threading


class HttpFiles:
    """Serves named files: HttpFiles().add("node.raw.zst", path), then guest_url(name)."""

    def __init__(self, address="127.0.0.1", port=0):
        self.files = {}
        self.requests = []  # (method, name, bytes sent)
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, body):
                name = self.path.split("?")[0].lstrip("/")
                path = outer.files.get(name)
                if path is None:
                    self.send_error(404)
                    return
                size = os.stat(path).st_size
                first, last = 0, size - 1
                asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
                if asked and int(asked[1]) < size:
                    first, last = int(asked[1]), min(int(asked[2] or last), last)
                    self.send_response(206)
                    self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
                else:
                    self.send_response(200)
                self.send_header("Accept-Ranges", "bytes")
                self.send_header("Content-Type", "application/octet-stream")
                self.send_header("Content-Length", str(last - first + 1))
                self.end_headers()
                sent = 0
                try:
                    if body:
                        self.wfile.flush()
                        with open(path, "rb") as f:
                            sent = self.connection.sendfile(f, first, last - first + 1)
                except OSError:
                    self.close_connection = True
                outer.requests.append((self.command, name, sent))

            def do_GET(self):
                self.answer(True)

            def do_HEAD(self):
                self.answer(False)

        self.server = http.server.ThreadingHTTPServer((address, port), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def add(self, name, path):
        self.files[name] = pathlib.Path(path)
        return self

    def url(self, name):
        """Returns the URL for clients on this machine."""
        return f"http://127.0.0.1:{self.port}/{name}"

    def guest_url(self, name):
        """Returns the URL for virtual machines."""
        return f"http://10.0.2.2:{self.port}/{name}"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
