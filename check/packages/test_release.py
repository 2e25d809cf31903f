# SPDX-License-Identifier: GPL-2.0
"""The files of a release, made of what is committed here. That two bare roots build the same
packages is tested by what makes them."""
import datetime
import gzip
import hashlib
import json
import re
import tarfile

import pytest
from commands import run
from packages import TREE, VERSION, Deb, do, output
from spdx import SPDX

pytestmark = pytest.mark.deb
NAME = f"twheel-{VERSION}"
SUMS = {"SHA1": hashlib.sha1, "SHA256": hashlib.sha256}


@pytest.fixture(scope="module", name="commit")
def fixture_commit():
    """The commit of which it is made."""
    head = run("git", "-C", TREE, "rev-parse", "HEAD")
    if head.status:
        pytest.skip("this tree is no clone, and a release is made of a commit")
    return head.out.strip()


@pytest.fixture(scope="module", name="folder")
def fixture_folder(commit, tmp_path_factory):
    """The folder of the release."""
    folder = tmp_path_factory.mktemp("release")
    do("check/packages/release", folder, commit)
    return folder


@pytest.fixture(scope="module", name="source")
def fixture_source(folder):
    """The files of the source by their paths."""
    with tarfile.open(folder / f"{NAME}.tar.gz") as tar:
        return {file.name.removeprefix(f"{NAME}/"): tar.extractfile(file).read()
                for file in tar if file.isfile()}


@pytest.fixture(scope="module", name="sbom")
def fixture_sbom(folder):
    """The list of what is in it."""
    return json.loads((folder / f"{NAME}.spdx.json").read_text("utf-8"))


def test_the_last_release_has_one_date():
    """In RELEASES, CHANGELOG.md, debian/changelog and the spec."""
    version, _, date = (TREE / "RELEASES").read_text("ascii").splitlines()[-1].split()
    if version != VERSION:
        pytest.skip(f"{VERSION} is not released: RELEASES ends with {version}")
    day = datetime.date.fromisoformat(date)
    assert f"\n## {VERSION}, {date}\n" in (TREE / "CHANGELOG.md").read_text("utf-8")
    assert f"{day:%a, %d %b %Y}" in do("dpkg-parsechangelog", "-S", "Date").out
    assert f"\n* {day:%a %b %d %Y} " in (TREE / "contrib/rpm/twheel.spec").read_text("utf-8")


def test_the_packages_are_there_and_the_checksums_are_right(folder):
    """SHA256SUMS names all other files."""
    assert Deb.packages <= {Deb.of(file)[0] for file in folder.glob("*.deb")}
    do("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=folder)
    named = re.findall(r"(?m)^[0-9a-f]{64}  (.*)$", (folder / "SHA256SUMS").read_text("ascii"))
    assert sorted([*named, "SHA256SUMS"]) == sorted(path.name for path in folder.iterdir())


def test_the_source_is_what_git_archive_makes_of_the_commit(folder, commit):
    """Wherever it is made: git's default of tar.umask is 0002."""
    made = do("sh", "-c", f"umask 077; git archive --prefix={NAME}/ {commit} | sha256sum",
              env={"TZ": "Asia/Kathmandu"}).out.split()[0]
    data = (folder / f"{NAME}.tar.gz").read_bytes()
    assert data[4:8] == b"\0\0\0\0", "gzip -n has no time in it"
    assert hashlib.sha256(gzip.decompress(data)).hexdigest() == made


def test_the_notes_are_the_section_of_the_changes(folder, commit):
    """Its heading comes first, and the next release's is not there."""
    notes = (folder / f"{NAME}.md").read_text("utf-8")
    assert notes.startswith(f"## {VERSION}") and len(notes) > 100
    assert notes.count("\n## ") == 0
    assert notes in output("git", "show", f"{commit}:CHANGELOG.md")


def test_the_sbom_has_each_file_with_its_licence_and_checksums(source, sbom):
    """A file that names a licence has that one."""
    assert [file["fileName"][2:] for file in sbom["files"]] == sorted(source)
    for file in sbom["files"]:
        data = source[file["fileName"][2:]]
        assert {entry["algorithm"]: entry["checksumValue"] for entry in file["checksums"]} == {
            name: made(data).hexdigest() for name, made in SUMS.items()}
        said = re.search(rb"SPDX-License-Identifier: ([\w. +-]*\w)",
                         b"\n".join(data.split(b"\n", 5)[:5]))
        assert file["licenseConcluded"] in ({said[1].decode()} if said else SPDX.values())


def test_the_sbom_has_each_archive_with_its_checksum(folder, sbom):
    """The source, and the packages, which are made of it."""
    named = {package["packageFileName"]: package["checksums"][0]["checksumValue"]
             for package in sbom["packages"]}
    assert named == {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
                     for path in folder.iterdir() if path.name.endswith((".deb", ".tar.gz"))}
    ids = {part["SPDXID"] for part in sbom["packages"] + sbom["files"]} | {"SPDXRef-DOCUMENT"}
    assert len(ids) == len(sbom["packages"]) + len(sbom["files"]) + 1
    assert {end for link in sbom["relationships"]
            for end in (link["spdxElementId"], link["relatedSpdxElement"])} <= ids
