"""Chromium, driven over WebDriver (https://www.w3.org/TR/webdriver2/)."""
import base64
import json
import time
import urllib.error
import urllib.request

from . import pace, process

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
ENTER, ESCAPE, TAB, RIGHT, DOWN, END = "\ue007", "\ue00c", "\ue004", "\ue014", "\ue015", "\ue010"


class Browser:
    """A headless Chromium in a window of this size. Accepts certificates of any CA. dark: the user
    prefers dark colours."""

    def __init__(self, folder, width=1280, height=900, dark=False):
        port = process.free_port()
        self.driver = process.Process(f"chromedriver-{port}", folder, ["chromedriver", f"--port={port}"])
        self.base = f"http://127.0.0.1:{port}"
        self.until("chromedriver", lambda: self.call("GET", "/status")["ready"])
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                            f"--window-size={width},{height}", *(["--force-dark-mode"] if dark else []),
                            *(["--blink-settings=preferredColorScheme=0"] if dark else [])]}
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "acceptInsecureCerts": True, "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.base += f"/session/{made['sessionId']}"
        self.call("POST", "/window/rect", {"width": width, "height": height})

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            self.base + path, method=method, headers={"Content-Type": "application/json"},
            data=None if method != "POST" else json.dumps(body or {}).encode())
        try:
            with urllib.request.urlopen(request, timeout=pace.limit(60)) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as e:
            raise AssertionError(f"{method} {path}: {json.load(e)['value'].get('message', '')[:600]}") from None

    def until(self, what, done, limit_s=60):
        """Waits until done() is true and returns its value. An error of done() counts as not yet."""
        began, error = time.monotonic(), ""
        while time.monotonic() - began < pace.limit(limit_s):
            try:
                value = done()
                if value:
                    return value
            except (AssertionError, OSError) as e:
                error = f": {e}"
            time.sleep(0.1)
        raise AssertionError(f"{what}: not within {pace.limit(limit_s):.0f} s{error}")

    def go(self, url):
        self.call("POST", "/url", {"url": url})

    def run(self, script, *args):
        """The result of a script: return ...; with `await` allowed."""
        return self.call("POST", "/execute/sync", {"script": f"return (async () => {{ {script} }})()",
                                                   "args": list(args)})

    def find(self, selector):
        return self.call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def text(self, selector):
        return self.run("const e = document.querySelector(arguments[0]); return e ? e.innerText : ''"
                        .replace("arguments[0]", json.dumps(selector)))

    def count(self, selector):
        return self.run(f"return document.querySelectorAll({json.dumps(selector)}).length")

    def click(self, selector):
        self.call("POST", f"/element/{self.find(selector)}/click")

    def type(self, selector, text):
        self.call("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def press(self, *keys):
        """Presses keys where the focus is."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def errors(self):
        """Errors that the page wrote to the console so far: failed scripts, violated policies."""
        return [e["message"] for e in self.call("POST", "/se/log", {"type": "browser"}) if e["level"] == "SEVERE"]

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.call("GET", "/screenshot")))

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.stop()
