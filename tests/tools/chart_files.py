"""The files of deploy/helm/drover that are made from others, and deploy/controller.yaml, which is
made from the chart.

A chart is read from its directory alone: Helm packages it, and Flux drops symbolic links. So
files/ has copies; its alerts are written by deploy/monitoring/make-rules. The comments of values.yaml are also the descriptions of values.schema.json and
the table of README.md. The properties of `settings` are the options of `drover run`.
"""
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm/drover"
BASE = DEPLOY / "controller.yaml"
DROVER = ROOT / "build/rel/drover"
MAKE_RULES = DEPLOY / "monitoring/make-rules"
OBJECTIVES = DEPLOY / "monitoring/objectives.yaml"
RULE_VALUES = ("monitoring", "prometheusRule")
# Options that the chart sets, because Services and permissions depend on them.
SET_BY_CHART = {"config", "kubeconfig", "namespace", "identity", "log-json", "leader-service", "pod-ip", "node-name"}
RULES = "files/rules.yaml"
NAMESPACE = "drover-system"
KUBE = "1.30.0"  # the oldest that the chart supports
# Templates whose objects are in deploy/controller.yaml; the rest of the chart is in deploy/crds,
# deploy/rbac.yaml and an overlay's ConfigMap.
IN_BASE = ["deployment", "service", "poddisruptionbudget", "networkpolicy"]
BASE_HEAD = """\
# The controller, as an overlay installs it: examples/deploy/ adds the image and the settings.
# Generated from deploy/helm/drover by `make charts`; do not edit.
"""
# Lines that only a release of Helm needs.
ONLY_HELM = re.compile(r"^ *(?:app\.kubernetes\.io/(?:instance|managed-by|version)|helm\.sh/chart): .*\n"
                       r"|^ *annotations:\n *checksum/settings: .*\n|^# Source: .*\n", re.M)


def copies():
    """Yields (name below files/, source)."""
    yield "rbac.yaml", DEPLOY / "rbac.yaml"
    for path in sorted((DEPLOY / "crds").glob("*.yaml")):
        yield f"crds/{path.name}", path
    for path in sorted((DEPLOY / "monitoring").glob("*.json")):
        yield f"dashboards/{path.name}", path


def values():
    """Returns {(key, ...): (comment, default as text; None for a mapping of further values)}."""
    found, path, comment = {}, [], []
    for line in (CHART / "values.yaml").read_text().splitlines():
        text = line.strip()
        if text.startswith("#"):
            comment.append(text[1:].strip())
        elif not text:
            comment = []
        else:
            depth = (len(line) - len(line.lstrip())) // 2
            key, _, default = text.partition(":")
            path = path[:depth] + [key]
            assert comment, f"values.yaml: {'.'.join(path)} has no comment above it"
            found[tuple(path)] = (" ".join(comment), default.strip() or None)
            comment = []
    return found


def objectives():
    """Returns {(key, ...) below RULE_VALUES: default as text}, as objectives.yaml has them."""
    found, objective = {}, None
    for line in OBJECTIVES.read_text().splitlines():
        key, _, text = line.split("#")[0].partition(":")
        if key.strip() and text.strip():
            found[("objectives", objective, key.strip()) if key.startswith(" ") else (key,)] = text.strip()
        elif key.strip():
            objective = key
    return found


def check_objectives():
    """Fails if the chart's alerts are for other objectives than deploy/monitoring/rules.yaml."""
    for path, text in objectives().items():
        default = values().get((*RULE_VALUES, *path), ("", None))[1]
        assert default == text, f"values.yaml: {'.'.join((*RULE_VALUES, *path))} is {default}, in objectives.yaml {text}"


def rules():
    """Returns the chart's alerts, with names for the values."""
    return subprocess.run([str(MAKE_RULES), "--chart"], check=True, stdout=subprocess.PIPE, text=True).stdout


def options():
    """Returns {option of `drover run`: (description, has an argument)}."""
    text = subprocess.run([str(DROVER), "run", "--help"], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in text.splitlines():
        head = re.match(r"(?:  -., |      )--([a-z-]+)(=\S+)?(?: +(.*))?$", line)
        if head:
            name = head[1]
            found[name] = ([head[3] or ""], bool(head[2]))
        elif found and line.startswith(" " * 20):
            found[name][0].append(line.strip())
        elif not line.strip() and "usage" in found:
            break
    return {name: (" ".join(words).strip(), arg) for name, (words, arg) in found.items()
            if name not in SET_BY_CHART | {"help", "usage"}}


def schema():
    """Returns the text of values.schema.json, with all descriptions from values.yaml and drover."""
    root = json.loads((CHART / "values.schema.json").read_text())
    known = values()
    told = {path[1]: text for path, (text, _) in known.items() if path[0] == "settings" and len(path) == 2}
    root["properties"]["settings"]["properties"] = {
        name: {"description": told.get(name, text),
               **({"$ref": "#/definitions/option"} if arg else {"type": "boolean"})}
        for name, (text, arg) in sorted(options().items())}
    for path, (text, _) in known.items():
        at = root
        for key in path:
            assert key in at.get("properties", {}), f"values.schema.json has no {'.'.join(path)}"
            at = at["properties"][key]
        rest = {k: v for k, v in at.items() if k != "description"}
        at.clear()
        at.update({"description": text, **rest})
    check_schema(root, known)
    return json.dumps(root, indent=2) + "\n"


def check_schema(at, known, path=()):
    """Fails if a mapping of values is open, a value is not described, or values.yaml lacks it."""
    where = ".".join(path)
    for key, one in at.get("properties", {}).items():
        below = (*path, key)
        assert one.get("description"), f"values.schema.json: {'.'.join(below)} has no description"
        listed = path and (path[0] == "settings" or known.get(path, ("", ""))[1] is not None)
        assert key == "global" or listed or below in known, f"values.yaml lacks {'.'.join(below)}"
        check_schema(one, known, below)
    if path in known and known[path][1] is None:
        assert at.get("additionalProperties") is False, f"values.schema.json: {where} accepts values that do not exist"


def readme():
    """Returns the text of README.md, with its table of values."""
    text = (CHART / "README.md").read_text().split("## Values\n", 1)[0]
    rows = [f"| `{'.'.join(path)}` | `{default}` | {comment} |" for path, (comment, default) in values().items()
            if default is not None]
    return "\n".join([text + "## Values\n", "| Value | Default | Meaning |", "|---|---|---|", *rows, ""])


def base(helm):
    """Returns the text of deploy/controller.yaml, as this program helm renders it."""
    shown = [word for name in IN_BASE for word in ("--show-only", f"templates/{name}.yaml")]
    text = subprocess.run([str(helm), "template", "drover", str(CHART), "--namespace", NAMESPACE, *shown,
                           "--kube-version", KUBE, "--set", "image.repository=drover",
                           "--set", "settings.agent-name=unused"],
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    return BASE_HEAD + "---\n".join(ONLY_HELM.sub("", part) for part in re.split(r"^---\n", text, flags=re.M)[1:])


def generated():
    """Yields (path, text) of all files that are made without Helm."""
    for name, source in copies():
        yield CHART / "files" / name, source.read_text()
    check_objectives()
    yield CHART / RULES, rules()
    yield CHART / "values.schema.json", schema()
    yield CHART / "README.md", readme()


def left_over():
    """Returns the files below files/ that have no source any more."""
    wanted = {CHART / "files" / name for name, _ in copies()} | {CHART / RULES}
    return sorted(p for p in (CHART / "files").rglob("*") if p.is_file() and p not in wanted)
