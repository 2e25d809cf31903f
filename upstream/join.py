# SPDX-License-Identifier: GPL-2.0
"""How upstream/series makes one file of several."""
import re

INCLUDE = re.compile(r"(?m)(?<!TRACE_POINTS\n)^#include .*\n")


def renamed(text, name, host):
    """A file that includes a header which is a part of another one."""
    include = f'#include "{host}"\n'
    text = text.replace(f'#include "{name}"\n', include).replace(include * 2, include)
    return re.sub(rf"\b{re.escape(name)}", host, text)


def join(text, name, host, header):
    """A header, with another one as a part of it."""
    line = f'#include "{name}"\n'
    # Of its first comment a table is kept.
    comment, body = re.search(r"(?s)(/\*\n.*?\*/\n)#ifndef \w+\n#define \w+\n(.*)\n#endif",
                              header).groups()
    body = (comment + "\n" if " *\t" in comment else "") + body
    needed = set(INCLUDE.findall(text + body)) - {line, f'#include "{host}"\n'}
    body = INCLUDE.sub("", body).strip("\n")
    start = re.search(r"(?m)^#define \w+_H\n", text).end()
    rest = INCLUDE.sub("", text[start:]).strip("\n")
    # Behind what it needs itself.
    rest = f"{body}\n\n{rest}" if line in text else \
        rest.replace("\n#endif /*", f"\n{body}\n\n#endif /*")
    own, others = ("".join(sorted(found for found in needed if mark in found)) for mark in '"<')
    return re.sub("\n{3,}", "\n\n", f"{text[:start]}\n{others}\n{own}\n{rest}\n")


def unit(names, parts):
    """One file that is made of several, of which the last one's comment and functions stand at its
    ends.  What is defined in it is not declared.
    """
    first, last = re.fullmatch(r"(?s)(.*?\*/\n)(.*)", parts[-1]).groups()
    around = r"(?s)\A// SPDX.*?\n|^#ifndef (\w+_H)\n#define \1\n|\n#endif[^\n]*\n\Z"
    parts = [re.sub(around, "", part) for part in parts[:-1]] + [last]
    needed = set(INCLUDE.findall("".join(parts)))
    own, others = ("".join(sorted(line for line in needed if mark in line and not
                                  any(f'"{name}"' in line for name in names))) for mark in '"<')
    body = INCLUDE.sub("", "\n".join(parts))
    body = re.sub(r"(?m)^static [^;{=(]*?\b[a-z_]\w*\([^;{]*;\n", "", body)
    return re.sub("\n{3,}", "\n\n", f"{first}{others}\n{own}\n{body}")
