"""Runs cases against an API server.

A case has a name and steps.  A step is one request and the expected answer: the HTTP status, and
predicates on JSON paths.  In paths and bodies, names in braces are replaced by the variables of
the run: {ns}, {id}, and values that `keep` saved from earlier answers.
"""
import http.client
import json
import re
import socket
import time
import urllib.parse

CASES = []
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"


class Absent:
    def __repr__(self):
        return "ABSENT"


ABSENT = Absent()


class Test:
    """A predicate on a value, with the words that describe it in messages."""

    def __init__(self, words, fn):
        self.words, self.fn = words, fn

    def __repr__(self):
        return self.words


ANY = Test("anything", lambda v: v is not ABSENT)
TEXT = Test("a text that is not empty", lambda v: isinstance(v, str) and v != "")
DIGITS = Test("digits", lambda v: isinstance(v, str) and v.isdigit())


def has(part):
    return Test(f"contains {part!r}", lambda v: v is not ABSENT and v is not None and part in v)


def lacks(part):
    return Test(f"lacks {part!r}", lambda v: v is ABSENT or v is None or part not in v)


def like(pattern):
    return Test(f"like {pattern}", lambda v: isinstance(v, str)
                and re.fullmatch(pattern, v) is not None)


def one_of(*values):
    return Test(f"one of {values}", lambda v: v in values)


def differs(value):
    """A predicate: the value differs from this text, in which names in braces are replaced."""
    return ("differs", value)


def dig(value, path):
    """Returns the value at path, or ABSENT.

    Paths: metadata.name, items.0.x, items.*.x (of each), items.# (number), labels[a.b/c].
    """
    tokens = [a or b for a, b in re.findall(r"\[([^\]]+)\]|([^.\[\]]+)", path)]
    for i, token in enumerate(tokens):
        if token == "#":
            return len(value) if isinstance(value, (list, dict)) else ABSENT
        if token == "*":
            rest = "".join(f"[{t}]" for t in tokens[i + 1:])
            return [dig(v, rest) for v in value] if isinstance(value, list) else ABSENT
        if isinstance(value, list) and token.lstrip("-").isdigit():
            if not -len(value) <= int(token) < len(value):
                return ABSENT
            value = value[int(token)]
        elif isinstance(value, dict) and token in value:
            value = value[token]
        else:
            return ABSENT
    return value


def fill(what, names):
    """Returns the JSON value with each {name} in its texts replaced by names[name]."""
    if isinstance(what, str):
        return re.sub(r"\{(\w+)\}", lambda m: str(names.get(m.group(1), m.group(0))), what)
    if isinstance(what, list):
        return [fill(v, names) for v in what]
    if isinstance(what, dict):
        return {fill(k, names): fill(v, names) for k, v in what.items()}
    return what


class Wrong(Exception):
    """The server's answer is not the expected one."""


def check(value, want, names):
    for path, test in (want or {}).items():
        got = dig(value, fill(path, names))
        if isinstance(test, Test):
            good = test.fn(got)
        elif isinstance(test, tuple):
            test = ("differs", fill(test[1], names))
            good = got is not ABSENT and got != test[1]
        else:
            test = fill(test, names)
            good = got is ABSENT if test is ABSENT else (got == test and
                                                         isinstance(got, bool)
                                                         == isinstance(test, bool))
        if not good:
            raise Wrong(f"{path} is {json.dumps(got, default=repr)[:300]}, want {test!r}")


class Run:
    """The state of one running case: its variables, its connection, its open watches."""

    def __init__(self, server, names):
        self.server, self.names = server, names
        self.connection = None
        self.watches = {}

    def request(self, method, path, body=None, headers=None, user=None):
        headers = dict(headers or {})
        data = body
        if body is not None and not isinstance(body, (bytes, str)):
            data = json.dumps(body)
        if isinstance(data, str):
            data = data.encode("utf-8", "surrogateescape")
        for again in (True, False):
            connection = self.server.connect(user) if user is not None else self.connection
            if connection is None:
                connection = self.connection = self.server.connect()
            try:
                connection.request(method, path, data,
                                   {**self.server.headers(user), **headers})
                reply = connection.getresponse()
                content = reply.read()
                break
            except (http.client.HTTPException, ConnectionError):
                # The server closed the idle connection: connect again, once.
                connection.close()
                self.connection = None
                if not again:
                    raise
        if user is not None:
            connection.close()
        try:
            value = json.loads(content) if content else None
        except ValueError:
            value = content.decode(errors="replace")
        return reply, value

    def close(self):
        for w in self.watches.values():
            w.close()
        if self.connection:
            self.connection.close()


class Step:
    """One request.  within: seconds for which it is repeated until the answer is as expected."""

    def __init__(self, method, path, body=None, code=200, want=None, keep=None, within=0,
                 headers=None, kind=None, answer=None, user=None):
        self.method, self.path, self.body = method, path, body
        self.code, self.want, self.keep, self.within = code, want, keep, within
        self.headers = dict(headers or {})
        self.answer, self.user = answer, user
        if kind or body is not None:
            self.headers.setdefault("Content-Type", kind or "application/json")

    def __str__(self):
        return f"{self.method} {self.path}"

    def run(self, run):
        until = time.monotonic() + self.within * run.server.patience
        while True:
            try:
                return self.once(run)
            except Wrong:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)

    def once(self, run):
        path = urllib.parse.quote(fill(self.path, run.names), safe="/?&=%:,!+()'*~;@$[]-._")
        body = fill(self.body, run.names)
        reply, value = run.request(self.method, path, body, fill(self.headers, run.names),
                                   self.user)
        codes = self.code if isinstance(self.code, tuple) else (self.code,)
        if reply.status not in codes:
            raise Wrong(f"code {reply.status}, want {self.code}: {json.dumps(value)[:400]}")
        for name, test in (self.answer or {}).items():
            check({"header": reply.getheader(name, ABSENT)}, {"header": test}, run.names)
        check(value, self.want, run.names)
        for name, where in (self.keep or {}).items():
            run.names[name] = dig(value, where)


def get(path, **more):
    return Step("GET", path, **more)


def post(path, body, code=201, **more):
    return Step("POST", path, body, code=code, **more)


def put(path, body, **more):
    return Step("PUT", path, body, **more)


def patch(path, body, kind=MERGE, **more):
    return Step("PATCH", path, body, kind=kind, **more)


def delete(path, body=None, **more):
    return Step("DELETE", path, body, **more)


def fault(code, reason, **more):
    """Arguments of a step that expects this Status.  also: further predicates."""
    want = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason,
            "code": code, "message": TEXT}
    want.update(more.pop("also", {}))
    return {"code": code, "want": want, **more}


class Wait:
    """A step that waits for some seconds."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __str__(self):
        return f"wait {self.seconds} s"

    def run(self, _run):
        time.sleep(self.seconds)


class Watch:
    """A step that opens a watch and gives it a name."""

    def __init__(self, name, path, code=200, want=None, headers=None):
        self.name, self.path, self.code, self.want = name, path, code, want
        self.headers = headers or {}

    def __str__(self):
        return f"watch {self.path}"

    def run(self, run):
        connection = run.server.connect()
        path = urllib.parse.quote(fill(self.path, run.names), safe="/?&=%:,!+()'*~;@$[]-._")
        connection.request("GET", path, headers={**run.server.headers(), **self.headers})
        reply = connection.getresponse()
        run.watches[self.name] = connection
        connection.reply_ = reply
        if reply.status != self.code:
            raise Wrong(f"code {reply.status}, want {self.code}: {reply.read()[:300]!r}")
        if self.code != 200:
            check(json.loads(reply.read()), self.want, run.names)


class Events:
    """A step that expects the next events of a watch, each as (type, predicates).

    then: "end": the watch ends after them; "quiet": nothing follows at once; None: not checked.
    """

    def __init__(self, name, *events, then=None, within=10, keep=None):
        self.name, self.events, self.then, self.within = name, events, then, within
        self.keep = keep

    def __str__(self):
        return f"events of {self.name}"

    def run(self, run):
        connection = run.watches[self.name]
        reply = connection.reply_
        value = None
        for n, (kind, want) in enumerate(self.events):
            line = self.read(connection, reply, self.within)
            if line is None:
                raise Wrong(f"event {n}: nothing within {self.within} s, want {kind}")
            if not line.strip():
                raise Wrong(f"event {n}: the watch ended, want {kind}")
            event = json.loads(line)
            if event["type"] != kind:
                raise Wrong(f"event {n} is {line[:400]!r}, want {kind}")
            value = event["object"]
            try:
                check(value, want, run.names)
            except Wrong as e:
                raise Wrong(f"event {n}, {kind}: {e}") from None
        for name, where in (self.keep or {}).items():
            run.names[name] = dig(value, where)
        if self.then == "end":
            line = self.read(connection, reply, self.within)
            if line is None or line.strip():
                raise Wrong(f"want the end of the watch, got {line!r}")
        elif self.then == "quiet":
            line = self.read(connection, reply, 0.5)
            if line is not None:
                raise Wrong(f"want nothing more, got {line[:400]!r}")

    def read(self, connection, reply, limit_s):
        """Returns the next line; b"": the watch has ended; None: no line came in time.

        Bookmarks may come at any time.  They are skipped unless they end the initial events.
        """
        while True:
            line = self.read_line(connection, reply, limit_s)
            if not line or not line.startswith(b'{"type":"BOOKMARK"') or b"initial-events" in line:
                return line

    @staticmethod
    def read_line(connection, reply, limit_s):
        # If the server closes the connection after this reply, only the reply has the socket.
        sock = connection.sock or reply.fp.raw._sock  # pylint: disable=protected-access
        sock.settimeout(limit_s)
        try:
            return reply.readline()
        except (socket.timeout, TimeoutError):
            return None
        except http.client.IncompleteRead:
            return b""


def case(name, *steps):
    assert all(name != c[0] for c in CASES), name
    CASES.append((name, steps))
