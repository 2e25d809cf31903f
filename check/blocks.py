# SPDX-License-Identifier: GPL-2.0
"""The code blocks of a page in Markdown, each with the mark in front of it: <!-- run: HOW -->"""
import pathlib
import re

CODE = r"(?:[ ]{4}|\t)[^\n]*\S[^\n]*\n"
TOKEN = re.compile(rf"""
    ^<!--\ run:\ (?P<how>.*?)\ ?-->
    | ^(?P<fence>```+|~~~+)[^\S\n]*(?P<language>\S*)[^\n]*\n(?P<fenced>.*?)^(?:(?P=fence)\s*?$|\Z)
    | (?:\A|(?<=\n\n)|(?<=-->\n))(?P<indented>{CODE}(?:\n*{CODE})*)
    | ^(?P<text>[^\n]*\S[^\n]*)$
""", re.MULTILINE | re.DOTALL | re.VERBOSE)
NOTHING = "nothing up to the next heading, because "


def blocks_of(page):
    """Place, language, mark and text of each block. A mark without a block has no text."""
    source = re.sub("[ \t]+$", "", pathlib.Path(page).read_text("utf-8"), flags=re.MULTILINE)
    mark = skip = None
    for token in TOKEN.finditer(source):
        line = source.count("\n", 0, token.start()) + 1
        block = token["fenced"] if token["fence"] else token["indented"]
        if block is not None:
            if token["fence"]:
                line += 1
            else:
                block = re.sub(r"^(?: {4}|\t)", "", block, flags=re.MULTILINE)
            yield f"{page}:{line}", token["language"] or "sh", mark or skip or "none", \
                block.rstrip() + "\n"
            mark = None
            continue
        if mark:
            yield f"{page}:{line}", "-", mark, None
            mark = None
        how = re.sub(r"\s+", " ", token["how"] or "")
        if how.startswith(NOTHING):
            skip = how
        elif how:
            mark = how
        elif (token["text"] or "").startswith("#"):
            skip = None
    if mark:
        yield f"{page}:{len(source.splitlines())}", "-", mark, None
