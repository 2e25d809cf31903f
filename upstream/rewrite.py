# SPDX-License-Identifier: GPL-2.0
"""How upstream/series rewrites the files of the module: the verbs of upstream/cut, which take the
text of a file and what a rule says, and what the kernel's style wants of each file.
"""
import re
import textwrap

# The head of a function, or its declaration.
HEAD = re.compile(r"(?m)^(\w[^(=;{}\n]*\((?:[^(){};]|\(\*\w+\)\([^)]*\))*\))(;|(?=\n\{))")
# The kernel builds the module with the device, and its functions are not static.
DECIDED = re.compile(r"(?m)^#if(?:(n)|)def (?:__KERNEL__|TWHEEL_DEVICE|TWHEEL_PART)\n"
                     r"((?:(?!#if|#else|#endif).*\n)*)"
                     r"(?:#else\n((?:(?!#if|#endif).*\n)*))?#endif.*\n")


class Stale(Exception):
    """A rule that does not find its text."""


def depth(line):
    """How many tabs it begins with."""
    return len(line) - len(line.lstrip("\t"))


def block(lines, first):
    """The end of the statement or declaration that begins at a line."""
    nest, end = 0, first
    while True:
        line, end = lines[end], end + 1
        nest += sum(map(line.count, "({")) - sum(map(line.count, ")}"))
        after = lines[end] if end < len(lines) else ""
        if not nest and line.endswith((";", "}", ",", ":")) and not (
                after.strip() and depth(after) > depth(lines[first]) or
                re.match(r"\t*else\b", after)):
            return end


def drop(text, first, end):
    """Remove lines, the comment above them, and a blank line that would be one too many."""
    lines = text.splitlines()
    if first and lines[first - 1].endswith("*/"):
        first -= 1
        while not re.match(r"\t*/\*", lines[first]):
            first -= 1
    blank = first == 0 or not lines[first - 1].strip() or lines[first - 1].endswith("{")
    while blank and end < len(lines) and not lines[end].strip():
        end += 1
    del lines[first:end]
    if first and not lines[first - 1].strip() and lines[first:] and \
            re.match(r"\t*\}", lines[first]):
        del lines[first - 1]
    return "\n".join(lines) + "\n"


def statement(text, pattern):
    """Remove the one statement, or declaration, whose first line has a pattern."""
    lines = text.splitlines()
    found = [i for i, line in enumerate(lines) if re.search(pattern, line)]
    if len(found) != 1:
        raise Stale(f"{len(found)} lines have it")
    return drop(text, found[0], block(lines, found[0]))


def function(text, name):
    """Remove a function, its declaration, or a macro."""
    lines = text.splitlines()
    pattern = re.compile(rf"(#define {name}\b|[a-zA-Z_].*[ *]{name}\()")
    first = next((i for i, line in enumerate(lines) if pattern.match(line)), None)
    if first is None:
        raise Stale("there is no such function")
    end, body = first + 1, False
    if lines[first].startswith("#define"):
        while lines[end - 1].endswith("\\"):
            end += 1
    else:
        while lines[end - 1] != "}" and (body or not lines[end - 1].endswith(";")):
            body |= lines[end] == "{"
            end += 1
    return drop(text, first, end)


def definition(text, rule):
    """Put other lines in the place of a function, or a macro, and its comment."""
    name, _, new = rule.partition("\n")
    text, count = re.subn(
        rf"(?m)^(/\*((?!\*/)[\s\S])*\*/\n)?([a-zA-Z_][^\n;{{}}]*[ *]{name}\([^;{{]*\n\{{\n"
        rf"[\s\S]*?^\}}|#define {name}\b(.*\\\n)*.*)$", lambda found: new, text, count=1)
    if not count:
        raise Stale("there is no such function")
    return text


def member(text, name):
    """Remove a field of a struct, or a parameter's line, with what kernel-doc says of it."""
    text, docs = re.subn(rf"(?m)^ \* @{name}: .*\n(?: \*\t.*\n)*", "", text)
    inside = re.compile(r"(?ms)^struct \w+ \{$.*?^\}")
    fields = len(inside.findall(text))
    text = inside.sub(lambda found: re.sub(rf"(?m)^\t[^()\n]*[\s*]{name}(\[.*\])*;.*\n", "",
                                           found[0]), text)
    if not docs + fields:
        raise Stale("there is no such field")
    return text


def fill(words, margin):
    """The lines of a paragraph of a comment, without its margin."""
    indent = re.match(r"@|(E[A-Z0-9]+ +|R?\d+\. )?", words)
    later = "\0" * 5 if words.startswith("@") else " " * len(indent[0])
    lines = textwrap.wrap(words, 97 - margin, subsequent_indent=later, break_on_hyphens=False,
                          fix_sentence_endings=True, replace_whitespace=False)
    return [line.replace("\0" * 5, "\t") for line in lines]


def paragraph(text, rule):
    """Replace, or remove, the paragraph of a comment that has a pattern."""
    pattern, _, new = rule.partition(" | ")
    for found in re.finditer(r"(?ms)^(\t*)/\*(\*?)(.*?)\*/\n", text):
        lines = [re.sub(r"^\t* ?\*? ?", "", line) for line in found[3].rstrip().split("\n")]
        parts = [[]]
        for line in lines:
            # Fields come before the first blank line.
            item = r"E[A-Z0-9]+ |R?\d+\. " + ("" if [""] in (part[:1] for part in parts[2:]) else
                                              r"|@\w+:")
            if not line or re.match(item, line):
                parts.append([])
            parts[-1].append(line)
        hit = next((part for part in parts if re.search(pattern, "\n".join(part), re.M)), None)
        if hit is None:
            continue
        gap = hit[:1] if hit[0] == "" and new else []
        hit[:] = gap + (fill(new, 8 * len(found[1])) if new else [])
        lines = [line for part in parts for line in part]
        while lines and not lines[0]:
            del lines[0]
        tab, mark = found[1], found[2]
        if len(lines) == 1 and not mark and len(lines[0]) + 8 * len(tab) < 94:
            body = f"{tab}/* {lines[0]} */\n"
        elif lines:
            body = f"{tab}/*{mark}\n" + "".join(f"{tab} * {line}".rstrip().replace("* \t", "*\t")
                                                + "\n" for line in lines) + f"{tab} */\n"
        else:
            body = ""
        return text[:found.start()] + body + text[found.end():]
    raise Stale("no comment has it")


def replace(text, rule):
    """Replace what a rule s/REGEX/NEW/ matches."""
    pattern, new = re.fullmatch(r"/((?:[^/\\]|\\.)*)/((?:[^/\\]|\\.)*)/", rule).groups()
    text, count = re.subn("(?m)" + pattern, new.replace(r"\/", "/"), text)
    if not count:
        raise Stale("nothing matches")
    return text


RULES = {"fn": function, "del": statement, "field": member, "s": replace, "par": paragraph,
         "def": definition}


def decided(match):
    """The part of an #ifdef that the kernel builds."""
    return (match[3] or "") if match[1] else match[2]


def brief(match):
    """The kernel-doc of a function, as a comment of what it does."""
    text = re.sub(r"\n \* ", " ", match[1])
    text = f"/* {text[0].upper()}{text[1:].rstrip('.')}{'' if text[-1] == '?' else '.'} */"
    if len(text) > 99:
        text = "/*\n" + "".join(f" * {line}\n" for line in textwrap.wrap(
            text[3:-3], 96, break_on_hyphens=False, fix_sentence_endings=True)) + " */"
    return text + "\n"


def head(match):
    """The head of a function, within its lines."""
    text = re.sub(r"\s+", " ", match[1]) + match[2]
    indent = "\0" * (text.index("(") + 1)
    lines = textwrap.wrap(re.sub("(?<!,) ", "\1", text), 99, subsequent_indent=indent,
                          break_long_words=False, break_on_hyphens=False)
    return re.sub("[\0\1]", " ", "\n".join(lines).replace("\0" * 8, "\t"))


def kernel(text):
    """As the kernel has it, after the rules."""
    # On PREEMPT_RT softirq is a thread, which would preempt the holder of a raw lock and wait for it.
    text = text.replace("raw_spin", "spin")
    text = DECIDED.sub(decided, text).replace("TWHEEL_PART ", "").replace('"uapi/linux/', "<linux/")
    text = re.sub(r'(<linux/twheel\.h)"', r"\1>", text)
    text = re.sub(r"(?m)^/\*\*\n \* \w+\(\) - (.*(?:\n \* [^@].*)*)(?:\n \*.*)*?\n \*/\n", brief,
                  text)
    # Headings inside a file.
    text = re.sub(r"(?m)^/\* [A-Z][^.\n]* \*/\n\n", "", text)
    return re.sub(r"\n{3,}", "\n\n", text)


# Lines of a comment's paragraph that is no list, table or field.
PROSE = re.compile(r"(?m)(^ \* (?!R\d)[^\s@\d][^\t\n]*\n){2,}")


def reflowed(match):
    """A paragraph, in lines as long as the kernel's are."""
    words = " ".join(line[3:] for line in match[0].splitlines())
    return "".join(f" * {line}\n" for line in fill(words, 0))


STRUCT = re.compile(r"(?ms)^/\*\*\n \* (?:struct|enum) \w+ - (.*?)\n \*/\n(\w+ \w+ \{\n)(.*?)^\}")


def remark(text, indent, first=""):
    """A comment, behind what is there if it fits."""
    if first and len(first.expandtabs()) + len(text) < 94:
        return f"{first}/* {text} */\n"
    lines = textwrap.wrap(text, 94 - 8 * len(indent), break_on_hyphens=False,
                          fix_sentence_endings=True)
    body = f"/* {text} */" if len(lines) == 1 else \
        "/*\n" + "".join(f"{indent} * {line}\n" for line in lines) + f"{indent} */"
    return f"{indent}{body}\n{first.rstrip()}" + "\n" * bool(first)


def beside(lines, tabs):
    """Fields, with what they are behind as many tabs."""
    return "".join(remark(text, "\t", line + "\t" * max(tabs - len(line.expandtabs()) // 8, 1))
                   if text else f"{line}\n" for line, text in lines)


def described(match):
    """A struct whose kernel-doc stands beside its fields, which are so named once."""
    text = re.sub(r"(?m)^ \*[ \t]*", "", match[1]).replace("\n\n", "\n@: ")
    title, *docs = (part.replace("\n", " ") for part in re.split(r"\n@(\w*): ", text))
    docs = list(zip(docs[::2], docs[1::2]))
    title = "  ".join([f"{title[0].upper()}{title[1:]}."] +
                      [text for name, text in docs if not name])
    docs = {name: text for name, text in docs if name}
    lines = re.sub(r"\t*/\*.*?\*/", "", match[3]).splitlines()
    # Each name stands in the first of the lines that has it.
    lines = [(line, next((docs.pop(name) for name in list(docs) if
                          re.search(rf"\b{name}\b", line)), "")) for line in lines]
    # One column for all, unless more comments fit behind the names with another.
    last = max(len(line.expandtabs()) for line, _ in lines) // 8 + 1
    body = min((beside(lines, tabs) for tabs in range(last, 2, -1)),
               key=lambda text: text.count("\n"))
    return f"{remark(title, '')}{match[2]}{body}}}"
