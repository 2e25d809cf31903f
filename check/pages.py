# SPDX-License-Identifier: GPL-2.0
"""Generated blocks of pages, and the measurements that they show.

A block stands between <!-- figures: NAME --> and <!-- end of figures -->, and shows a JSON file
that a benchmark has written. The file has a checksum of the sources that were measured. If the tree
has another one, a line below the page's first block says so: no history of git is needed for that.
"""
import contextlib
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->\n)", re.DOTALL)
SOURCES = ("*.[ch]", "Kbuild", "compat/*.h", "uapi/linux/*.h", "lib/*.[ch]", "bench/*.[ch]",
           "bench/Makefile", "bench/wheel/*.[ch]", "bench/wheel/Makefile")
NOT = "not measured"


class Measured:
    """The facts and figures of a benchmark's JSON file."""

    def __init__(self, path, facts):
        data = json.loads((TREE / path).read_text("utf-8"))
        self.fact = data["measured"]
        self.figures = {}
        for figure in data["figures"]:
            self.figures.setdefault((figure["bed"], figure["name"]), []).append(figure)
        if not self.figures:
            sys.exit(f"{path} has no figures")
        for name in facts.split():
            if name not in self.fact:
                sys.exit(f"{path} does not name: {name}")

    def figure(self, bed, name, peer=None, n=None):
        """The first figure of that name, with the most timers unless n is given, or None."""
        found = [figure for figure in self.figures.get((bed, name), ())
                 if peer in (None, figure["peer"]) and n in (None, figure["n"])]
        return max(found, key=lambda figure: figure["n"], default=None)

    def cell(self, bed, name, peer=None, n=None):
        """A figure's median, for a table."""
        figure = self.figure(bed, name, peer, n)
        return number(figure["median"]) if figure else NOT

    def changed(self):
        """Whether the tree has other sources than those that were measured."""
        return sources(TREE) != self.fact["sources"]


def number(value):
    """A value with at least three digits."""
    if value == 0:
        return "0"
    digits = 3 if value < 0.1 else 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{digits}f}"


def row(*cells):
    """A line of a table."""
    return "| " + " | ".join(cells) + " |\n"


def sources(tree):
    """The checksum of the sources that figures depend on."""
    total = hashlib.sha256()
    # A build leaves .mod.c files.
    paths = [path for pattern in SOURCES for path in tree.glob(pattern)
             if path.is_file() and not path.name.endswith(".mod.c")]
    if not paths:
        sys.exit("no sources")
    for name, path in sorted((str(path.relative_to(tree)), path) for path in paths):
        text = path.read_bytes()
        total.update(f"{name} {len(text)}\n".encode() + text)
    return total.hexdigest()[:16]


@contextlib.contextmanager
def extracted(commit):
    """A folder with the files of a commit."""
    archive = subprocess.run(["git", "-C", TREE, "archive", commit], stdout=subprocess.PIPE,
                             check=False)
    if archive.returncode:
        sys.exit(f"no {commit}")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        yield pathlib.Path(folder)


def filled(page, tables, note):
    """The text of a page, and the same with what tables say; the note stands in its first block."""
    def block(match):
        nonlocal note
        begin, name, end = match.groups()
        if name not in tables:
            sys.exit(f"{page}: there are no figures called {name}")
        if name == "measured":
            note = re.sub(r"^Measured at commit \w+; the", "The", note)
        line = f"\n{note}\n" if note else ""
        note = ""
        return f"{begin}\n{tables[name]()}{line}\n{end}"

    text = (TREE / page).read_text("utf-8")
    return text, BLOCK.sub(block, text)


def compare(nr, name, text, should, hint):
    """Print TAP: whether a page's text is what it should be."""
    if text == should:
        print(f"ok {nr} {name}")
        return True
    has, wants = text.splitlines(), should.splitlines()
    for line in has:
        if line not in wants:
            print(f"# has:    {line}")
    for line in wants:
        if line not in has:
            print(f"# should: {line}")
    print(f"# {hint}")
    print(f"not ok {nr} {name}")
    return False
