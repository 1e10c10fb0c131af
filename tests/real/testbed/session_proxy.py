"""Redfish sessions in front of a BMC without them, and a point to intercept its requests.

sushy-tools supports only Basic. This proxy has TLS of its own and adds sessions as in DSP0266: POST
to the Sessions collection returns an X-Auth-Token, DELETE ends the session, and any other request
without a valid token is answered with 401. Accepted requests are forwarded with Basic. Each request
is recorded in `log`; `hold` may delay or refuse one, or close the connection.
"""
import base64
import http.client
import http.server
import json
import ssl
import threading
import time
import uuid

SESSIONS = "/redfish/v1/SessionService/Sessions"
OPEN = ("/redfish", "/redfish/", "/redfish/v1", "/redfish/v1/")
DROP = 0  # returned by hold() to end the connection without a reply
HOP = {"connection", "transfer-encoding", "content-length", "date", "server", "keep-alive"}


class Request:
    """One request as received: at (monotonic), method, path, body, session (None: none named, or
    unknown), status (None: not answered yet), done (time of the answer)."""

    def __init__(self, method, path, body):
        self.at, self.method, self.path, self.body = time.monotonic(), method, path, body
        self.session = self.status = self.done = None
        self.named = None  # the session of its token, valid or ended

    @property
    def effect(self):
        """True if the request changes the machine."""
        return self.method != "GET" and not self.path.startswith(SESSIONS)

    def __repr__(self):
        return f"{self.method} {self.path} by {self.named} -> {self.status}"


class SessionProxy:
    """For a started Rack: url in place of rack.url. hold(request) runs in the request's own thread
    before its session is checked: it may sleep, and returns None to forward the request, a status
    to refuse it, or DROP."""

    def __init__(self, rack, hold=None):
        self.rack, self.hold = rack, hold
        self.log = []
        self.sessions = {}  # id -> token, valid ones
        self.tokens = {}  # token -> id, ended ones too
        self.lock = threading.Lock()
        self.upstream_tls = ssl.create_default_context(cafile=rack.ca_file)
        pair = f"{rack.user}:{rack.password}".encode()
        self.basic = "Basic " + base64.b64encode(pair).decode()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 120

            def log_message(self, *_):
                pass

            def setup(self):
                tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                tls.load_cert_chain(rack.folder / "bmc.crt", rack.folder / "bmc.key")
                self.request.settimeout(30)
                self.request = tls.wrap_socket(self.request, server_side=True)
                super().setup()

            def serve(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                entry = Request(self.command, self.path.rstrip("/") or "/", body)
                with outer.lock:
                    outer.log.append(entry)
                token = self.headers.get("X-Auth-Token")
                entry.named = outer.tokens.get(token)
                refused = outer.hold(entry) if outer.hold else None
                if refused == DROP and refused is not None:
                    entry.status, entry.done = "dropped", time.monotonic()
                    self.close_connection = True
                    return
                if refused:
                    status, headers, reply = refused, {}, error(refused)
                else:
                    status, headers, reply = outer.answer(entry, token)
                entry.status = status
                try:
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(reply)))
                    self.end_headers()
                    self.wfile.write(reply)
                except OSError:
                    self.close_connection = True
                entry.done = time.monotonic()

            do_GET = do_POST = do_PATCH = do_DELETE = serve

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass  # clients are killed in these tests

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"https://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    # -- BMC functions

    def answer(self, entry, token):
        if entry.path == SESSIONS and entry.method == "POST":
            return self.log_in(entry)
        with self.lock:
            number = self.tokens.get(token)
            entry.session = number if number in self.sessions else None
        if entry.path not in OPEN and not entry.session:
            return 401, {}, error(401)
        if entry.path.startswith(SESSIONS + "/"):
            return self.end(entry)
        status, headers, reply = self.send_on(entry)
        if entry.path in OPEN[2:] and status == 200:
            root = json.loads(reply)
            root["Links"] = {**root.get("Links", {}), "Sessions": {"@odata.id": SESSIONS}}
            root["SessionService"] = {"@odata.id": "/redfish/v1/SessionService"}
            reply = json.dumps(root).encode()
        return status, headers, reply

    def log_in(self, entry):
        try:
            said = json.loads(entry.body)
        except ValueError:
            return 400, {}, error(400)
        entry.body = b""  # the password is not recorded
        if (said.get("UserName"), said.get("Password")) != (self.rack.user, self.rack.password):
            return 401, {}, error(401)
        token = uuid.uuid4().hex
        with self.lock:
            number = str(len(self.tokens) + 1)
            self.sessions[number] = token
            self.tokens[token] = number
        entry.session = number
        path = f"{SESSIONS}/{number}"
        return 201, {"X-Auth-Token": token, "Location": path}, json.dumps(
            {"@odata.id": path, "Id": number, "Name": "session"}).encode()

    def end(self, entry):
        with self.lock:
            known = self.sessions.pop(entry.path.rsplit("/", 1)[1], None)
        return (204, {}, b"") if known else (404, {}, error(404))

    def send_on(self, entry):
        wire = http.client.HTTPSConnection("127.0.0.1", self.rack.port, timeout=60,
                                           context=self.upstream_tls)
        try:
            wire.request(entry.method, entry.path, entry.body or None, {
                "Authorization": self.basic, "Content-Type": "application/json"})
            got = wire.getresponse()
            headers = {k: v for k, v in got.getheaders() if k.lower() not in HOP}
            return got.status, headers, got.read()
        except (OSError, http.client.HTTPException):
            return 503, {}, error(503)
        finally:
            wire.close()


def error(status):
    return json.dumps({"error": {"code": f"Base.1.0.{status}", "message": "refused"}}).encode()
