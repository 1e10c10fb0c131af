"""Software bills of materials in SPDX 2.3 (JSON), for what drover builds from Debian packages.

A document describes some packages ("described", which were built here), and says what they contain.
Nothing in it depends on the time or on the machine, so that builds are reproducible.
"""
import json
import re
import time

SPDX_NAME = re.compile(r"[^A-Za-z0-9.-]")


def spdx_id(name):
    return "SPDXRef-" + SPDX_NAME.sub("-", name)


def checksum(digest):
    return {"checksums": [{"algorithm": "SHA256", "checksumValue": digest}]} if digest else {}


def debian(name, version, comment, digest=None, arch="amd64"):
    """Returns the entry of a Debian package. digest: SHA-256 of the package's file, if known."""
    return {"SPDXID": spdx_id(name), "name": name, "versionInfo": version,
            "supplier": "Organization: Debian", "comment": comment, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
            "copyrightText": "NOASSERTION", **checksum(digest),
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:deb/debian/{name}@{version}?arch={arch}"}]}


def own(name, version, purpose, digest, ident=None):
    """Returns the entry of something that was built here. purpose: INSTALL, APPLICATION, CONTAINER... What
    contains packages of others has no license as a whole."""
    license_ = "Apache-2.0" if purpose == "APPLICATION" else "NOASSERTION"
    return {"SPDXID": spdx_id(ident or name), "name": name, "primaryPackagePurpose": purpose,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": license_,
            "licenseDeclared": license_, "copyrightText": "NOASSERTION", "versionInfo": version,
            **checksum(digest)}


def included(text, ident):
    """Returns the packages of another document and the relations between them, with `ident` in the names
    of the packages. The first package is what the document describes first; it contains whatever else the
    document describes."""
    other = json.loads(text)
    renamed = {p["SPDXID"]: f"SPDXRef-{ident}-{p['SPDXID'].removeprefix('SPDXRef-')}" for p in other["packages"]}
    first = other["packages"][0]["SPDXID"]
    relations = [(first if r["relationshipType"] == "DESCRIBES" else r["spdxElementId"], r["relatedSpdxElement"])
                 for r in other["relationships"]]
    return ([{**p, "SPDXID": renamed[p["SPDXID"]]} for p in other["packages"]],
            [(renamed[a], "CONTAINS", renamed[b]) for a, b in relations if a != b])


def document(name, version, digest, tool, epoch, described, parts, inner=((), ())):
    """Returns the document as text. Each entry of `described` contains all `parts`. digest: SHA-256 of
    the first of them, which makes the namespace unique. inner: further packages, which a part contains,
    and their relations (included())."""
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", d["SPDXID"]) for d in described]
    relations += [(d["SPDXID"], "CONTAINS", p["SPDXID"]) for d in described for p in parts]
    relations += inner[1]
    return json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{name} {version}", "documentNamespace": f"https://drover.dev/spdx/{name}/{digest}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(epoch))),
                         "creators": [f"Tool: {tool}"]},
        "packages": [*described, *parts, *inner[0]],
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                          for a, kind, b in relations]}, indent=1) + "\n"
