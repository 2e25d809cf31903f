#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Takes the examples out of the pages: extract.py FOLDER PAGE.scd...

Each literal block of a page's EXAMPLE, and of any other place that has a mark in front:

    ; run: anywhere as NAME prints TEXT    with or without /dev/twheel
    ; run: guest as NAME prints TEXT       only with it

(process 1234 is one that has two timers armed, for hours)

goes to FOLDER/anywhere/NAME or FOLDER/guest/NAME, and TEXT to NAME.prints.  A block without a mark
is a synopsis, and has no business behind that section.
"""
import pathlib
import re
import sys

MARK = re.compile(r"; run: (anywhere|guest) as ([^ ]+\.(?:c|sh)) prints (.+)")


def extract(page, folder):
    """The examples of a page."""
    section = ""
    mark = None
    block = None

    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        def wrong(what, where=f"{page}:{number}"):
            sys.exit(f"{where}: {what}")

        if line.startswith("# "):
            section = line
        if MARK.match(line):
            if mark:
                wrong("the mark before this one has no block")
            mark = MARK.match(line)
        elif line.startswith("; run:"):
            wrong("nobody knows how to run this: see man/tests/extract.py")
        elif line != "```":
            if block is not None:
                block.append(line + "\n")
        elif block is None:
            if not mark and section != "# SYNOPSIS":
                wrong("this example does not say how it is run: see man/tests/extract.py")
            block = []
        else:
            if mark:
                path = folder / mark[1] / mark[2]
                if path.exists():
                    wrong("another example has this name")
                path.write_text("".join(block), "utf-8")
                path.with_name(path.name + ".prints").write_text(mark[3] + "\n", "utf-8")
            block = mark = None


def main():
    """All pages."""
    folder = pathlib.Path(sys.argv[1])
    for name in "anywhere", "guest":
        (folder / name).mkdir(parents=True, exist_ok=True)
    for page in sys.argv[2:]:
        extract(pathlib.Path(page), folder)


main()
