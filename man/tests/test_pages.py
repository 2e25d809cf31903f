# SPDX-License-Identifier: GPL-2.0
"""The man pages: their form, that nothing public is missing in them, and how they are installed.

$MAN_BUILD is the folder where they are built; twheel is in PATH."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from commands import cases, options_of, run, usage, verbs

MAN = pathlib.Path(__file__).resolve().parents[1]
TREE = MAN.parent
BUILD = pathlib.Path(os.environ.get("MAN_BUILD", MAN / "build")).resolve()
EXTRACT = MAN / "tests" / "extract.py"


def read(path):
    """A file of this tree."""
    return (TREE / path).read_text("utf-8")


def all_names():
    """The names that each page has: of a page about functions, one for each."""
    names = {}
    for path in sorted(MAN.glob("*.scd")):
        functions = re.findall("^@functions (.*)", path.read_text("utf-8"), re.MULTILINE)
        names[path.stem] = (functions or [path.stem.rsplit(".", 1)[0]])[0].split()
    return names


NAMES = all_names()
PAGES = list(NAMES)
each_page = pytest.mark.parametrize("page", PAGES)
KERNEL = read("uapi/linux/twheel.h")
HEADER = read("lib/twheel.h")
KERNEL_ABI = read("uapi/abi.txt")
LIBRARY_ABI = read("lib/abi.txt")


def show(page, width):
    """What a person reads of a page, and what man has to say about it."""
    result = run("man", "--warnings", "-E", "UTF-8", "-l", BUILD / page,
                 env={"MANWIDTH": width})
    return run("col", "-bx", stdin=result.out).out, result.err


@pytest.fixture(name="text", scope="session")
def fixture_text():
    """The text of each page, in lines so long that no word is broken."""
    return {page: show(page, 5000)[0] for page in PAGES}


def between(text, first, last):
    """From a line that begins so to one that does, or to the end."""
    found = re.search(rf"^{first}.*?(?=^{last}|\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, first
    return found.group()


def words(text):
    """The words of a text."""
    return set(re.findall("[A-Za-z_][A-Za-z0-9_-]*", text))


def comments(header, begin):
    """The texts of comments that begin so, without what all lines of them begin with."""
    found = re.findall(rf"^ \* {begin}.*?^ \*/$", header, re.MULTILINE | re.DOTALL)
    return re.sub(r"^ \* ?(DOC: .*)?", "", "\n".join(found), flags=re.MULTILINE)


def in_page(wanted, text):
    """All of these are words of a text."""
    assert wanted
    assert not set(wanted) - words(text)


# --- form ---

@each_page
def test_mandoc_finds_nothing(page):
    """But for the empty paragraphs that scdoc leaves."""
    if not shutil.which("mandoc"):
        pytest.skip("there is no mandoc")
    result = run("mandoc", "-T", "lint", "-W", "warning", BUILD / page, stderr=subprocess.STDOUT)
    known = r"WARNING: skipping paragraph macro: PP (empty|after S[HS])$"
    assert not [line for line in result.lines if not re.search(known, line)]


@each_page
def test_man_renders(page):
    """Without a warning of groff's, and no line is too wide for a terminal."""
    text, warnings = show(page, 80)
    assert warnings == ""
    assert text.count("\n") > 30
    assert max(map(len, text.splitlines())) <= 100


@each_page
def test_has_the_sections_that_a_reader_looks_for(page, text):
    """With two exceptions."""
    wanted = {"NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLE", "SEE ALSO"}
    wanted -= {"twheel.7": {"SYNOPSIS"}, "twheel.1": {"EXAMPLE"}}.get(page, set())
    assert not wanted - set(text[page].splitlines())


@each_page
def test_whatis_finds_each_name(page):
    """By what NAME says it is."""
    found = run("lexgrog", BUILD / page).lines
    for name in NAMES[page]:
        assert [line for line in found if re.search(f': "{name} - [a-z ]..*"$', line)], name


def test_what_pages_refer_to_is_there(text):
    """Ours are built; of the others, the system knows the names."""
    references = set(re.findall(r"([a-zA-Z_][a-zA-Z0-9_-]*)\(([1-8])\)", "\n".join(text.values())))
    assert len(references) > 30
    files = run("dpkg", "-L", "manpages", "manpages-dev", "libsystemd-dev").out
    known = set(re.findall(r"/man[1-8]/(.*)\.gz$", files, re.MULTILINE))
    missing = {f"{name}.{section}" for name, section in references} - known
    assert not [page for page in missing if not (BUILD / page).exists()]


# --- nothing is missing ---

def test_each_function_of_the_library_has_a_page(text):
    """But for two of the inline functions, as libtwheel(3) says."""
    exported = set(re.findall(r"^\t(twheel_[a-z_]*);$", read("lib/libtwheel.map"), re.MULTILINE))
    in_page(exported, text["libtwheel.3"])
    about = {name for names in NAMES.values() for name in names}
    assert not exported - about - {"twheel_cancel_slow", "twheel_cancel_state"}


@cases("page", *(page for page in PAGES if page.startswith("twheel_")))
def test_each_word_that_the_header_says_of_a_function_is_in_its_page(page, text):
    """Errnos are among them."""
    for name in NAMES[page]:
        said = comments(HEADER, rf"{name}\(\) - ")
        said = re.sub("^(@w: the handle$|Return:)", "", said, flags=re.MULTILINE)
        in_page(words(said), text[page])


def test_each_word_that_the_headers_say_of_the_device_and_of_the_library(text):
    """In comments that are for reference."""
    found = re.findall(r"^/\*\*$.*?^ \*/$", KERNEL, re.MULTILINE | re.DOTALL)
    said = re.findall(r"^ \* (?:DOC: .*)?(.*)", "\n".join(found), re.MULTILINE)
    in_page(words("\n".join(said)), text["twheel.4"])
    in_page(words(comments(HEADER, "DOC: ")), text["libtwheel.3"])


def constants(abi):
    """The constants of an ABI."""
    return set(re.findall("^(TWHEEL_[A-Z_]+) ", abi, re.MULTILINE))


def test_each_constant_is_in_a_page(text):
    """The kernel's in twheel(4)."""
    in_page(constants(KERNEL_ABI), text["twheel.4"])
    in_page(constants(LIBRARY_ABI), "\n".join(text.values()))


def structs():
    """The structs and their members; no program needs to know of twheel_shared."""
    found = {}
    for name, body in re.findall(r"^struct (\w+) size .*\n((?:\t.*\n)*)",
                                 KERNEL_ABI + "\n" + LIBRARY_ABI, re.MULTILINE):
        found[name] = re.findall(r"^\t.*[ *](\w+)(?:\[\d+\])?;?$", body, re.MULTILINE)
    del found["twheel_shared"]
    return found


STRUCTS = structs()


def test_there_are_structs():
    """Of the kernel and of the library."""
    assert len(STRUCTS) > 10


@cases("name", *STRUCTS)
def test_each_struct_is_in_a_page_with_what_its_members_mean(name, text):
    """The declaration, and each member once more."""
    page = "twheel.4"
    if not re.search(f"^struct {name} ", KERNEL_ABI, re.MULTILINE):
        page = next(page for page in PAGES
                    if f"@struct {name}" in read(f"man/{page}.scd").splitlines())
    inside = False
    said = set()
    for line in text[page].splitlines():
        if re.match(f" *struct {name} {{", line):
            inside = True
        elif re.match(" {0,3}[^ ]", line):
            inside = False
        elif inside and re.fullmatch(" {7}[a-z_]+", line):
            said.add(line.strip())
    assert re.search(f"^ *struct {name} {{", text[page], re.MULTILINE)
    assert not set(STRUCTS[name]) - said


def calls_and_errors(text):
    """Two parts of twheel(4)."""
    page = text["twheel.4"]
    return between(page, "CALLS", "STRUCTS"), between(page, "ERRORS", "MODULE")


IOCTLS = re.findall(r"^#define (TWHEEL_IOC_\w+)\s+_IO", KERNEL, re.MULTILINE)


@cases("name", *IOCTLS)
def test_twheel_4_says_how_each_ioctl_can_fail(name, text):
    """Or that it has no errors."""
    calls, _ = calls_and_errors(text)
    assert re.search("(No e|E)rrors", between(calls, f"   {name}$", "   [^ ]"))


def test_each_errno_of_a_call_is_explained(text):
    """There are calls."""
    assert IOCTLS
    calls, errors = calls_and_errors(text)
    in_page(re.findall(r"\bE[A-Z0-9]{3,}\b", calls), errors)


def test_each_errno_of_the_kernel_is_explained_and_a_call_is_named_that_has_it(text):
    """By the header's table."""
    part = re.search(r"DOC: what each errno means.*?\*/$", KERNEL, re.MULTILINE | re.DOTALL)
    errnos = re.findall(r"^ \* (E[A-Z0-9]+) ", part.group(), re.MULTILINE)
    calls, errors = calls_and_errors(text)
    in_page(errnos, errors)
    in_page(errnos, calls)


def test_each_module_parameter_and_each_key_of_fdinfo(text):
    """In twheel(4)."""
    part = between(text["twheel.4"], "MODULE", "FILES")
    sources = "\n".join(path.read_text("utf-8") for path in TREE.glob("*.c"))
    parameters = re.findall(r"^module_param\((\w+),", sources, re.MULTILINE)
    assert parameters
    for name in parameters:
        assert re.search(rf"^       {name} \(.*\)$", part, re.MULTILINE), name
    in_page(re.findall(r'seq_printf\(m, "(twheel-[a-z-]+):', sources), text["twheel.4"])


def test_the_nine_promises_are_those_of_readme(text):
    """By name and in order."""
    part = re.search(r"^## What it promises.*?^## ", read("README.md"), re.MULTILINE | re.DOTALL)
    promises = re.findall(r"^[0-9]\. \*\*(.*)\*\*", part.group(), re.MULTILINE)
    assert len(promises) == 9
    assert re.findall(r"^ +[0-9]\. +([A-Z][a-z ]+\.) ", text["twheel.4"], re.MULTILINE) == promises


@cases("command", "twheel", *(f"twheel {verb}" for verb in verbs()))
def test_each_option_has_a_paragraph(command, text):
    """Each verb has an example as well."""
    part = text["twheel.1"]
    verb = command.partition(" ")[2]
    if verb == "demo":
        part = text["twheel-demo.1"]
    elif verb:
        part = between(part, "OPTIONS", "VERBS") + between(part, f"   {command}$", r" {0,3}[^ \n]")
        assert re.search(rf"^ {{11}}.*{command}\b", part, re.MULTILINE)
    found = options_of(*command.split())
    found += re.findall("^ {2,6}(-.), --", usage(*command.split()), re.MULTILINE)
    assert len(found) > 3
    for option in found:
        assert re.search(rf"^ {{7}}(-., )?{re.escape(option)}(,|=|$)", part, re.MULTILINE), option


def test_each_example_says_how_it_is_run(tmp_path):
    """One that nobody could find would be none."""
    pages = sorted(MAN.glob("*.scd"))
    run(EXTRACT, tmp_path / "examples", *pages).good()
    assert len(list((tmp_path / "examples").glob("*/*.prints"))) >= 20
    bad = tmp_path / "bad.scd"
    bad.write_text(re.sub("^; run:.*\n", "", read("man/libtwheel.3.scd"), flags=re.MULTILINE),
                   encoding="utf-8")
    assert run(EXTRACT, tmp_path / "examples-bad", bad).status != 0


@cases(
    "line, message",
    ("@functoins twheel_arm", "there is no @functoins"),
    ("@functions twheel_arm twheel_amr", "say nothing of twheel_amr"),
    ("@functions twheel_extend twheel_arm", "the first function is not the page's"),
    ("@struct twheel_opp", "say nothing of twheel_opp"),
    ("@constants TWHEEL_AMR_", "no constant begins so: TWHEEL_AMR_"),
    ("@text the ABI", 'no DOC comment is called "the ABI"'),
    ("```", "a block has no end"),
)
def test_a_mistake_in_a_page_is_found(line, message, tmp_path, monkeypatch):
    """When it is expanded."""
    monkeypatch.chdir(MAN)
    page = tmp_path / "twheel_arm.3.scd"
    page.write_text(line + "\n", encoding="ascii")
    result = run("./expand", page)
    assert result.status != 0
    assert message in result.err


def test_expand_wants_a_page(monkeypatch):
    """It says so."""
    monkeypatch.chdir(MAN)
    result = run("./expand")
    assert result.status != 0
    assert result.err.startswith("usage: ")


# --- installed ---

def test_make_install_and_uninstall(tmp_path):
    """man finds each name, and then nothing is left."""
    make = ("make", "-s", "-C", MAN, f"O={BUILD}", f"DESTDIR={tmp_path}", "PREFIX=/opt")
    run(*make, "install").good()
    folder = tmp_path / "opt/share/man"
    for page, names in NAMES.items():
        section = page[-1]
        for name in names:
            found = run("man", "-M", folder, "-w", section, name).out.strip()
            assert found == str(folder / f"man{section}" / page)
    run(*make, "uninstall").good()
    assert not [path for path in tmp_path.rglob("*") if not path.is_dir()]


def test_make_install_does_without_pages_where_there_is_no_scdoc(tmp_path, monkeypatch):
    """Somebody may only want to use twheel."""
    install = ("make", "-n", "-C", TREE, "install")
    result = run(*install)
    assert result.status == 0
    assert re.search(r"share/man/man4 .*twheel\.4", result.out)
    programs = tmp_path / "bin"
    programs.mkdir()
    for path in pathlib.Path("/usr/bin").iterdir():
        if path.name != "scdoc":
            (programs / path.name).symlink_to(path)
    monkeypatch.setenv("PATH", str(programs))
    hint = "^On Debian: apt-get install scdoc"
    result = run(*install, stderr=subprocess.STDOUT)
    assert result.status == 0
    assert "share/man/man4" not in result.out
    assert re.search(hint, result.out, re.MULTILINE)
    result = run("make", "-s", "-C", MAN, f"O={tmp_path}/build", "all", stderr=subprocess.STDOUT)
    assert result.status != 0
    assert re.search(hint, result.out, re.MULTILINE)
