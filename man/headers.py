# SPDX-License-Identifier: GPL-2.0
"""What the comments of the headers say of functions, structs, enums and constants."""
import pathlib
import re
import sys

TREE = pathlib.Path(__file__).resolve().parents[1]
COMMENT = re.compile(r"^/\*\*\n(.*?)\n \*/\n(.*?)(?=^/\*|\Z)", re.MULTILINE | re.DOTALL)
MACROS = re.compile(r"(?:^/\*(?!\*)((?:(?!\*/).)*)\*/\n)?"
                    r"((?:^#define[ \t]+TWHEEL_\w+[ \t]+\S[^\n]*\n)+)", re.MULTILINE | re.DOTALL)
# Of a name: its line, its members (name and text), its text (paragraphs), what a function returns
# (lines), and the code behind the comment.
docs = {}
functions = []
# The lines of each DOC comment.
texts = {}
# Lists of macro names and values, with the comment that stands above them.
constants = []


def lines_of(comment):
    """The lines of a comment without its stars."""
    return [re.sub(r"^\s*\* ?", "", line) for line in comment.split("\n")]


def paragraphs(lines):
    """Paragraphs of lines, a blank line between. An item of a list begins with "- "; its further
    lines are indented."""
    found, now = [], []
    for line in [*lines, ""]:
        if now and (not line.strip() or line.startswith("- ") or
                    (now[0].startswith("- ") and not line[0].isspace())):
            found.append(" ".join(now))
            now = []
        if line.strip():
            now.append(line.strip())
    return found


def read_comment(comment, code):
    """A comment that begins with /**, and the code behind it."""
    head, *lines = lines_of(comment)
    while lines and not lines[0].strip():
        lines.pop(0)
    if head.startswith("DOC: "):
        texts[head[5:]] = lines
        return
    match = re.match(r"(?:(struct|enum) )?(\w+)(?:\(\))? - (.*)", head)
    if not match:
        sys.exit(f"no name in this comment: {head}")
    kind, name, brief = match.groups()
    members, text, returns = [], [], []
    in_member = False
    for line in lines:
        member = re.match(r"@(\w+): ?(.*)", line)
        if member:
            members.append([member[1], member[2]])
            in_member = True
        elif line.startswith("Return:") or returns:
            returns.append(re.sub(r"^Return:\s*", "", line))
            in_member = False
        elif in_member and line.strip():
            members[-1][1] += " " + line.lstrip()
        else:
            in_member = False
            text.append(line)
    if not kind:
        functions.append(name)
    docs[name] = {"brief": brief, "members": members, "text": paragraphs(text), "returns": returns,
                  "code": code}


def read_header(path):
    """Fill the tables above."""
    text = (TREE / path).read_text("utf-8")
    for comment, code in COMMENT.findall(text):
        read_comment(comment, re.sub(r"\A((?:struct|enum).*?\n\};).*", r"\1", code,
                                     flags=re.DOTALL))
    for comment, block in MACROS.findall(text):
        constants.append((re.findall(r"^#define\s+(\w+)\s+\(?(.*?)\)?$", block, re.MULTILINE),
                          " ".join(paragraphs(lines_of(comment)))))


def doc_of(name):
    """What the headers say of a name."""
    if name not in docs:
        sys.exit(f"the headers say nothing of {name}")
    return docs[name]


read_header("uapi/linux/twheel.h")
read_header("lib/twheel.h")
