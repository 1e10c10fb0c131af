"""Record of stage results: build/stages/history.jsonl, one JSON object for each line.

    {"stage": "san", "tree": "<hash>", "result": "ok", "seconds": 412.0, "load": 0.3, "at": 1789000000}

tree: git's hash of all files that are not ignored, committed or not; null if files changed while
the stage ran, or without git. result: ok, FLAKY (red, then green) or FAILED and why. load: the
machine's load average when the stage began.
"""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

PASSED = ("ok", "FLAKY")


def tree_hash(root):
    """Returns the hash of the working tree, or None; changes neither the index nor the tree."""
    def git(*argv, **more):
        return subprocess.run(["git", *argv], cwd=root, check=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **more).stdout.strip()
    try:
        index = pathlib.Path(root, git("rev-parse", "--git-path", "index"))
        with tempfile.TemporaryDirectory(prefix="drover-tree-") as folder:
            copy = pathlib.Path(folder, "index")
            if index.exists():
                shutil.copy2(index, copy)  # with its cache of unchanged files
            env = {**os.environ, "GIT_INDEX_FILE": str(copy)}
            git("add", "--all", ".", env=env)
            return git("write-tree", env=env)
    except (subprocess.CalledProcessError, FileNotFoundError):
        return None


class History:
    """The history file; an unreadable line is skipped."""

    def __init__(self, path, root):
        self.path, self.root = pathlib.Path(path), root

    def tree(self):
        return tree_hash(self.root)

    def add(self, stage, tree, result, seconds, load):
        """Appends one run in a single write, so that concurrent runs do not mix lines."""
        line = json.dumps({"stage": stage, "tree": tree, "result": result, "seconds": round(seconds, 1),
                           "load": round(load, 2), "at": int(time.time())})
        with open(self.path, "a", encoding="utf-8") as f:
            f.write(line + "\n")

    def runs(self):
        """Returns all runs, oldest first."""
        found = []
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return found
        for line in text.splitlines():
            try:
                run = json.loads(line)
            except ValueError:
                continue
            if isinstance(run, dict) and isinstance(run.get("stage"), str) and isinstance(run.get("result"), str):
                found.append(run)
        return found

    def flaky_before(self, stage):
        return any(run["stage"] == stage and run["result"] == "FLAKY" for run in self.runs())


def ago(seconds):
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size:.0f} {unit} ago"
    return "now"


def status(goals, history, now):
    """Returns a line for each stage: its result on exactly this tree, else on the newest older one.
    goals: [(goal's name, stages)]; a stage is listed with the first goal that has it."""
    tree, rows, seen = history.tree(), [], set()
    last_here, last_green = {}, {}
    for run in history.runs():
        if tree and run.get("tree") == tree:
            last_here[run["stage"]] = run
        if run["result"] in PASSED:
            last_green[run["stage"]] = run
    for goal, stages in goals:
        for stage in stages:
            if stage.name in seen:
                continue
            seen.add(stage.name)
            run, word = last_here.get(stage.name), None
            if run:
                word = "passed" if run["result"] == "ok" else run["result"]
            else:
                run = last_green.get(stage.name)
                word = "on an older tree" if run else "never"
            when = f"{run.get('seconds', 0):7.0f} s  {ago(now - run.get('at', now))}" if run else ""
            rows.append(f"{stage.name:18} {goal:10} {word:18} {when}".rstrip())
    return [f"{'STAGE':18} {'GOAL':10} {'ON THIS TREE':18} {'TOOK':>9}  WHEN", *rows]
