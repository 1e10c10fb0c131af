"""Checks that code uses each value of the API's enums (rows with FIELD_ENUM in api/*.c).

A value is used if a .c file outside its table has the enumerator, or the value as a string. The
enumerators of a list of values are those of the enum with as many members, of which at least half
end in the same words.
"""
import re

# Values that code knows only as what remains, by their order, or because they are equal to another.
# File: {field: values}
KNOWN = {
    "api/burstpolicy.c": {"required": ["Infiniband"], "mode": ["AllOrNothing", "Hard", "Soft", "Enforce"],
                          "onExhausted": ["StopNew", "RequireApproval"], "toOnPrem": ["AtCompletion"]},
    "api/common.c": {"operator": ["NotIn"], "format": ["raw+zstd"], "minimumTrust": ["SecureBoot"]},
    "api/nodepool.c": {"consolidationPolicy": ["WhenEmpty"], "drift": ["WithinBudgets"], "reclaim": ["Borrowed"],
                       "expander": ["Auto"]},
    "api/provider.c": {"minimumTrust": ["SecureBoot"]},
    "api/provider_types.c": {"interconnect": ["Infiniband"]},
}

ROOMS = ("api", "base", "cli", "controller", "kube", "planner", "providers", "wipe")
TABLE = re.compile(r"const char \*const (\w+)\[\w*\] = \{(.*?)\};", re.S)
ENUM = re.compile(r"^enum (?:\w+ )?\{(.*?)\};", re.S | re.M)
ROW = re.compile(r'"(\w+)",\s*FIELD_ENUM,(.*?)\.doc', re.S)


def plain(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def squeeze(word):
    return re.sub(r"[^a-z0-9]", "", word.lower())


def enumerators(values, enums):
    """Returns the enumerators of these values, in their order; None: no enum has them."""
    def alike(members):
        return sum(squeeze(m).endswith(squeeze(v)) for m, v in zip(members, values))
    best = max((e for e in enums if len(e) == len(values)), key=alike, default=None)
    return best if best and 2 * alike(best) >= len(values) else None


def check(root):
    """Returns (number of values, complaints)."""
    texts = {p: plain(p.read_text()) for room in ROOMS for p in sorted((root / room).rglob("*.[ch]"))}
    lists = {m[1]: re.findall(r'"([^"]*)"', m[2]) for t in texts.values() for m in TABLE.finditer(t)}
    enums = [re.findall(r"(?:^|,)\s*(\w+)", m[1]) for t in texts.values() for m in ENUM.finditer(t)]
    used = set()
    for path, text in texts.items():
        if path.suffix == ".c":
            used |= set(re.findall(r'\b[A-Z][A-Z0-9_]+\b|"\w+"', TABLE.sub("", text)))
    checked, bad = 0, []
    known = {(file, name, v) for file, names in KNOWN.items() for name, values in names.items() for v in values}
    for path in (p for p in texts if p.parent.name == "api"):
        file = str(path.relative_to(root))
        for name, row in ROW.findall(texts[path]):
            values = lists[re.search(r"\.enums = (\w+)", row)[1]]
            only = re.search(r"\.only = (\w+)", row)
            for value, member in zip(values, enumerators(values, enums) or values):
                if only and value not in lists[only[1]]:
                    continue
                checked += 1
                if member not in used and f'"{value}"' not in used and (file, name, value) not in known:
                    bad.append(f"{file}: {name}: nothing uses the value {value}")
    return checked, bad
