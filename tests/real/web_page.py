#!/usr/bin/env python3
"""The page of the view in a real browser: Chromium by its driver, and axe-core, a judge of
accessibility that others wrote.

First before a fleet of 1,000 machines that this script makes up and serves, then before `drover
up`. Nothing is timed: each wait has a limit of minutes. --screenshots FOLDER writes pictures of
`drover up`. tests/real/web_page.py
"""
import argparse
import http.server
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import testbed  # noqa: E402  (beside this file)
import up as real_up  # noqa: E402
from testbed import browser, page  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WEB = ROOT / "controller/view/web"
RACKS, EACH = 40, 25
HOSTILE = "<img src=x onerror=document.title='hit'>"
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


# --- a made-up fleet ------------------------------------------------------------------------------

class Fleet:
    """1,000 machines, a queue, a history, and a stream of changes."""

    def __init__(self):
        states = ["serving"] * 6 + ["free", "wiping", "booting", "quarantined"]
        self.machines = {}
        for i in range(RACKS * EACH):
            state = states[i % len(states)]
            name = f"gpu-{i // EACH:02}-{i % EACH:02}"
            self.machines[name] = {"name": name, "state": state, "since": "2026-01-02T03:04:05Z", "gpus": 8,
                                   "rack": f"r{i // EACH:02}", "tenant": f"team-{i % 7}" if state == "serving" else None}
            if state == "quarantined":
                self.machines[name]["reason"] = "DriveMissing"
        self.pods = [{"tenant": HOSTILE, "pod": f"default/p-{i}", "place": i + 1, "reason": "NoCapacity",
                      "message": HOSTILE, "since": "2026-01-02T03:04:05Z", "expectedP50": "2090-01-01T00:00:00Z",
                      "expectedP90": "2090-01-01T01:00:00Z"} for i in range(200)]
        self.pods[1]["gang"] = {"name": f"default/gangs/{HOSTILE}", "size": 8, "bound": 2, "waiting": 6}
        self.rows = [self.stuck(m) for m in self.machines.values() if m["state"] == "quarantined"]
        self.changes, self.version = [], 0
        self.changed = threading.Condition()

    @staticmethod
    def stuck(machine):
        """The row of a quarantined machine in /v1/attention."""
        name = machine["name"]
        return {"need": "Person", "owner": "operator", "object": f"machine/{name}", "kind": "Machine", "name": name,
                "state": "quarantined", "since": machine["since"], "reason": "DriveMissing", "text": HOSTILE,
                "help": [HOSTILE, "put the drive back", "a third"], "commands": [f"drover approve {name} --wipe"]}

    def send(self, event, data):
        with self.changed:
            self.version += 1
            self.changes.append((event, {"version": str(self.version), **data}))
            self.changed.notify_all()

    def change(self, name, **members):
        self.machines[name] = {**self.machines[name], **members}
        self.send("fleet", {"machines": [self.machines[name]], "removed": []})

    def answer(self, path):
        """The JSON reply to a path, or None."""
        if path == "/v1/fleet":
            return {"total": len(self.machines), "machines": list(self.machines.values())}
        if path == "/v1/attention":
            return {"total": len(self.rows), "byNeed": {"Person": len(self.rows)}, "rows": self.rows}
        if path == "/v1/queue":
            return {"total": len(self.pods) + 5, "rows": len(self.pods), "pods": self.pods}
        if path == "/v1/history":
            return {"from": "2026-01-02T03:00:00Z", "stepSeconds": 300, "points": 288,
                    "tenants": {f"team-{k}": [(i * k) % 40 for i in range(288)] for k in range(9)}, "states": {}}
        name = path.removeprefix("/v1/machines/")
        if name in self.machines:
            return {**self.machines[name], "doing": "serves its tenant", "failures": [],
                    "states": [{"state": "known"}, {"state": "free", "since": "2026-01-02T03:00:05Z"},
                               {"state": "serving", "since": "2026-01-02T03:04:05Z", "tenant": "team-1"}],
                    "wipes": [{"record": f"{name}-7-1", "end": "2026-01-02T02:00:05Z", "level": "Purge",
                               "drives": [{"serial": HOSTILE, "technique": "SanitizeCryptoErase", "level": "Purge"}]}]}
        return None


def handler(fleet, token):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def send(self, status, kind, body):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            if kind.startswith("text/html"):
                self.send_header("Content-Security-Policy", POLICY)
            self.end_headers()
            self.wfile.write(body)

        def stream(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            at = len(fleet.changes)
            try:
                self.wfile.write(b"retry: 3000\n\nevent: hello\ndata: {}\n\n")
                while True:
                    with fleet.changed:
                        fleet.changed.wait(0.5)
                    for event, data in fleet.changes[at:]:
                        self.wfile.write(f"event: {event}\nid: {data['version']}\ndata: {json.dumps(data)}\n\n".encode())
                        at += 1
                    self.wfile.write(b": ok\n\n")
                    self.wfile.flush()
            except OSError:
                pass

        def do_GET(self):
            path = urllib.parse.urlsplit(self.path).path
            if not path.startswith("/v1/"):
                file = WEB / (path[1:] or "index.html")
                kind = TYPES.get(file.suffix[1:])
                self.send(200 if kind and file.exists() else 404, f"{kind}; charset=utf-8",
                          file.read_bytes() if kind and file.exists() else b"")
            elif self.headers["Authorization"] != f"Bearer {token}":
                self.send(401, "application/json", b'{"error": "the host cluster does not accept the bearer token"}')
            elif path == "/v1/events":
                self.stream()
            else:
                body = fleet.answer(path)
                self.send(200 if body else 404, "application/json", json.dumps(body or {}).encode())

    return Handler


POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'")


# --- what the page has to do ----------------------------------------------------------------------

def accessible(b, axe, where):
    """No violation of WCAG 2.2 AA or of axe's best practices."""
    found = b.run(axe + "; const r = await axe.run(document, {resultTypes: ['violations']}); "
                  "return r.violations.map((v) => v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.target.join(' ')).join(', '))")
    assert not found, f"{where}: {found}"


def before_a_thousand(folder, axe):
    fleet = Fleet()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(fleet, "right"))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/"
    b = browser.Browser(folder)

    page.connect(b, url, "wrong")
    b.until("a wrong token is named", lambda: "does not accept the bearer token" in b.text("#live"))
    accessible(b, axe, "before the login")
    page.connect(b, url, "right")
    b.until("all machines", lambda: b.count(".tile") == RACKS * EACH)
    b.until("live", lambda: b.text("#live") == "Live")
    assert b.count(".rack") == RACKS
    assert "600 serving" in b.text("#totals"), b.text("#totals")
    assert b.text("#queue-total").startswith("205 pods wait; the first 50 rows"), b.text("#queue-total")
    b.until("the use of GPUs", lambda: b.count("#use rect") > 1000)

    # Texts of others are texts.
    assert HOSTILE in b.text("#queue"), b.text("#queue")[:300]
    assert f"gang default/gangs/{HOSTILE}: 6 wait, 2 have a Node, 8 needed" in b.text("#queue"), b.text("#queue")[:900]
    assert b.count("img") == 0 and b.run("return document.title") == "drover"

    # What needs attention comes first, without a search, and a change touches one entry.
    assert b.text("#stuck-total") == "100 needs an operator; the first 50 are shown, drover why lists all"
    first = page.attention(b)[0]
    assert first["object"] == "machine/gpu-00-09" and first["state"] == "quarantined", first
    assert first["why"] == f"DriveMissing: {HOSTILE}" and first["since"] == "2026-01-02T03:04:05Z", first
    assert len(first["helps"]) == 2 and first["command"] == "drover approve gpu-00-09 --wipe", first
    assert b.run("return document.querySelector('#stuck').compareDocumentPosition(document.querySelector('#racks')) & 4")
    b.run("window.second = document.querySelectorAll('#stuck > li')[1]")
    worse = {**fleet.stuck(fleet.machines["gpu-07-00"]), "since": "2026-01-01T00:00:00Z", "kind": "Provider",
             "object": "provider/<b>hall</b>"}
    fleet.send("attention", {"rows": [worse], "removed": ["machine/gpu-00-09"]})
    b.until("an older one is the first", lambda: page.attention(b)[0]["object"] == "provider/<b>hall</b>")
    assert page.attention(b)[1]["object"] == "machine/gpu-00-19" and b.text("#stuck-total").startswith("100 ")
    assert b.run("return document.querySelectorAll('#stuck > li')[1] === window.second")

    # A change arrives, and touches one tile.
    b.run("window.touched = new Set(); new MutationObserver((all) => all.forEach((m) => "
          "window.touched.add((m.target.nodeType === 1 ? m.target : m.target.parentElement).closest('.tile')"
          "?.dataset.name))).observe(document.querySelector('#racks'), "
          "{subtree: true, childList: true, attributes: true, characterData: true})")
    fleet.change("gpu-03-07", state="draining", since=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    b.until("the change", lambda: "draining" in b.run("return document.querySelector('[data-name=gpu-03-07]').textContent"))
    assert b.run("return [...window.touched].filter((x) => x && x !== 'gpu-03-07').length") < RACKS * EACH

    # Search.
    b.type("#search", "quarantined r01")
    b.until("the search", lambda: "machines match" in b.text("#found"))
    assert b.count(".tile:not([hidden])") in (2, 3), b.text("#found")
    assert b.count("#stuck > li:not([hidden])") == 0, "no entry has the word r01"
    b.run("document.querySelector('#search').value = ''; document.querySelector('#search').dispatchEvent(new Event('input'))")

    # An entry opens its machine, and the focus returns to the entry.
    b.run("document.querySelector('#stuck [data-machine]').focus()")
    b.press(browser.ENTER)
    b.until("the machine of an entry", lambda: b.text("#machine-title") == "gpu-00-19")
    b.press(browser.ESCAPE)
    b.until("closed", lambda: b.run("return document.activeElement.dataset.machine") == "gpu-00-19")

    # Keyboard: one stop for a rack, arrows within, Enter opens, Escape closes and returns.
    b.run("document.querySelector('.tile').focus()")
    b.press(browser.RIGHT, browser.RIGHT)
    assert b.run("return document.activeElement.dataset.name") == "gpu-00-02"
    b.press(browser.ENTER)
    b.until("a machine", lambda: b.text("#machine-title") == "gpu-00-02")
    b.until("its past", lambda: "Purge" in b.text("#wipes") and "free" in b.text("#states"))
    assert "NaN" not in b.text("#states"), b.text("#states")
    assert HOSTILE in b.text("#wipes") and b.count("img") == 0
    accessible(b, axe, "one machine")
    b.press(browser.ESCAPE)
    b.until("closed", lambda: b.run("return document.activeElement.dataset.name") == "gpu-00-02")

    frames = b.run("let n = 0; const end = performance.now() + 2000; while (performance.now() < end) "
                   "{ await new Promise(requestAnimationFrame); n++; } return n / 2")
    paint = b.run("return performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
    print(f"page: 1,000 machines: {frames:.0f} frames a second, first paint after {paint or 0:.0f} ms", flush=True)
    accessible(b, axe, "1,000 machines, light")
    origins = b.run("return [...new Set(performance.getEntriesByType('resource').map((e) => new URL(e.name).origin))]")
    assert origins == [url[:-1]], origins
    wrong = [e for e in b.errors() if "401" not in e]
    assert not wrong, wrong
    b.close()

    for width, dark in ((360, False), (1280, True), (360, True)):
        b = browser.Browser(folder, width=max(width, 500), dark=dark)
        if width < 500:
            b.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {
                "width": width, "height": 740, "deviceScaleFactor": 2, "mobile": True}})
        b.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]}})
        page.connect(b, url, "right")
        b.until("all machines", lambda: b.count(".tile") == RACKS * EACH)
        accessible(b, axe, f"{width} pixels, {'dark' if dark else 'light'}")
        assert b.run("return document.documentElement.scrollWidth <= window.innerWidth + 1"), f"{width}: scrolls sideways"
        b.close()
    server.shutdown()


def before_drover_up(folder, axe, shots):
    up = real_up.Up(folder, machines=8)
    up.start()
    try:
        view = testbed.wait_for("the address of the view", lambda: page.address_of(up.host), 60)
        token = up.host.token
        b = browser.Browser(folder)
        page.connect(b, view, token)
        b.until("the machines", lambda: b.count(".tile") == 8)
        for name in ("train", "eval"):
            up.tenant.call("POST", "/api/v1/namespaces/default/pods", real_up.demo.gpu_pod(name))
        b.until("a machine serves", lambda: "serving" in b.text("#totals"), 180)
        subprocess.run([real_up.DROVER, "sim", "fault", "--rack", f"{folder}/rack", "gpu-8", "BmcHang"], check=True)
        b.until("a machine whose BMC hangs", lambda: "BmcUnreachable" in b.text("[data-name=gpu-8]"), 240)
        row = b.until("an entry for it", lambda: [r for r in page.attention(b) if r["object"] == "machine/gpu-8"])[0]
        assert row["why"].startswith("BmcUnreachable: ") and row["command"] == "drover retry gpu-8", row
        b.click("[data-name=gpu-8]")
        b.until("what helps", lambda: "drover retry gpu-8" in b.text("#helps"))
        accessible(b, axe, "drover up")
        if shots:
            b.screenshot(shots / "view-machine.png")
        b.press(browser.ESCAPE)
        if shots:
            b.screenshot(shots / "view.png")
        assert not b.errors(), b.errors()
        b.close()
    finally:
        up.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--screenshots", type=pathlib.Path, metavar="FOLDER")
    args = parser.parse_args()
    axe = (testbed.parts.named("axe") / "package/axe.min.js").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="drover-page-") as folder:
        before_a_thousand(folder, axe)
        before_drover_up(folder, axe, args.screenshots)
    print("web page: passed")


if __name__ == "__main__":
    main()
