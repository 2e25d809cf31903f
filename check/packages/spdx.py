# SPDX-License-Identifier: GPL-2.0
"""The licences of a tree's files, by their names in SPDX, and the SPDX document of a release."""
import hashlib
import re

# Debian's names.
SPDX = {"GPL-2": "GPL-2.0", "Expat": "MIT", "GPL-2 or Expat": "GPL-2.0 OR MIT",
        "LGPL-2.1+": "LGPL-2.1-or-later",
        "GPL-2 with Linux-syscall-note exception": "GPL-2.0 WITH Linux-syscall-note"}


def own(path):
    """What one of the first five lines of a file says, or None."""
    head = b"\n".join(path.read_bytes().split(b"\n", 5)[:5]).decode("utf-8", "replace")
    found = re.search(r"SPDX-License-Identifier: ([\w. +-]*\w)", head)
    return found and found[1]


def by_debian(tree):
    """What debian/copyright says: a function of a path in the tree."""
    rules = []
    for part in (tree / "debian/copyright").read_text("utf-8").split("\n\n"):
        rule = re.search(r"^Files:(.*?)\n\S.*^License: (.*?)$", part, re.MULTILINE | re.DOTALL)
        for glob in rule[1].split() if rule else ():
            rules.append((re.compile(re.escape(glob).replace(r"\*", ".*")), SPDX[rule[2]]))

    def licence(name):
        """The last rule that fits holds."""
        return [found for pattern, found in rules if pattern.fullmatch(name)][-1]

    return licence


def digest(path, name="sha256"):
    """The checksum of a file."""
    return hashlib.new(name, path.read_bytes()).hexdigest()


def file_entry(number, path, name, licence):
    """A file of the source."""
    said = own(path)
    return {"SPDXID": f"SPDXRef-File-{number}", "fileName": f"./{name}",
            "checksums": [{"algorithm": kind.upper(), "checksumValue": digest(path, kind)}
                          for kind in ("sha1", "sha256")],
            "licenseConcluded": licence,
            # Licences alone, without operators.
            "licenseInfoInFiles": [part.partition(" WITH ")[0]
                                   for part in (said or "NONE").split(" OR ")],
            "copyrightText": "NOASSERTION"}


def package_entry(path, name, version, **more):
    """An archive of the release: of the source, or a package."""
    return {"SPDXID": f"SPDXRef-Package-{name}", "name": name, "versionInfo": version,
            "packageFileName": path.name, "downloadLocation": "NOASSERTION",
            "checksums": [{"algorithm": "SHA256", "checksumValue": digest(path)}],
            "copyrightText": "2026 the twheel authors", **more}


def document(source, archive, packages, commit, date):
    """Of an unpacked source, its archive, and the packages that were built of it."""
    licence, version = by_debian(source), (source / "VERSION").read_text("ascii").strip()
    names = sorted(path.relative_to(source).as_posix() for path in source.rglob("*")
                   if path.is_file())
    files = [file_entry(number, source / name, name, licence(name))
             for number, name in enumerate(names)]
    code = "".join(sorted(file["checksums"][0]["checksumValue"] for file in files))
    whole = package_entry(
        archive, "twheel", version, hasFiles=[file["SPDXID"] for file in files],
        packageVerificationCode={
            "packageVerificationCodeValue": hashlib.sha1(code.encode()).hexdigest()},
        licenseDeclared=" AND ".join(f"({name})" for name in sorted(set(map(licence, names)))))
    built = [package_entry(path, *path.stem.split("_")[:2], filesAnalyzed=False)
             for path in packages]
    links = [("SPDXRef-DOCUMENT", "DESCRIBES"),
             *((entry["SPDXID"], "GENERATED_FROM") for entry in built)]
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": source.name, "documentNamespace": f"https://example.org/twheel/{commit}",
        "creationInfo": {"created": date, "creators": [f"Tool: twheel-release-{version}"]},
        "packages": [whole, *built], "files": files,
        "relationships": [{"spdxElementId": element, "relationshipType": kind,
                           "relatedSpdxElement": whole["SPDXID"]} for element, kind in links]}
