# SPDX-License-Identifier: GPL-2.0
"""What holds for the packages of each system, and what those of other systems have in common with
Debian's: the same files, and a library that programs are built with."""
import re
import shutil

import pytest
from commands import run
from packages import LATER, TREE, VERSION, Arch, Deb, Program, Rpm, another, only_these, twheel


def of(system, *arguments):
    """A case that is of one system."""
    return pytest.param(system, *arguments, marks=getattr(pytest.mark, system.name),
                        id="-".join((system.name, *map(str, arguments[:1]))))


each = pytest.mark.parametrize("system", [of(Deb), of(Rpm), of(Arch)])
others = pytest.mark.parametrize("system", [of(Rpm), of(Arch)])


@pytest.mark.parametrize("system, missing, there", [
    of(Rpm, "rpmbuild", ""),
    of(Arch, "makepkg", "sed"),
    of(Arch, "bsdtar", "sed makepkg"),
    of(Arch, "scdoc", "sed makepkg bsdtar"),
])
def test_what_a_build_lacks_is_said_in_one_line(system, missing, there, tmp_path):
    """With hardly a program in PATH."""
    path = only_these(tmp_path / "bin", "dirname", "cksum", "cut", *there.split())
    run(shutil.which("bash"), TREE / system.build, tmp_path / "none",
        env={"PATH": path}).refused(1, rf"missing: {missing}\. ")


@pytest.mark.deb
def test_which_packages_a_build_lacks_is_said_in_one_line(tmp_path):
    """By what debian/control wants."""
    tree = another(VERSION, tmp_path / "tree")
    control = tree / "debian/control"
    text = control.read_text("utf-8").replace("\n scdoc,", "\n scdoc,\n no-such-package,", 1)
    control.write_text(text, "utf-8")
    run(tree / Deb.build, tmp_path / "none").refused(1, r"missing: no-such-package\. ")


@pytest.mark.parametrize("version", [VERSION, LATER])
@each
def test_the_packages_build(build, system, version):
    """All of them, of this version."""
    files = build(system, version)
    assert system.packages <= set(files)
    assert {system.of(file)[1] for file in files.values()} == {version}


@pytest.mark.parametrize("system, name", [of(system, name) for system in (Rpm, Arch)
                                          for name in system.same])
def test_the_files_are_those_that_other_packages_of_this_tree_have(build, system, name, tmp_path):
    """Debian's, but for folders that have another name there."""
    debs, files, debians = build(Deb), system.paths(build(system)[name]), set()
    for deb in system.same[name]:
        for path in Deb.paths(debs[deb]):
            path = re.sub("^/usr/lib/[^/]*-linux-gnu[^/]*/", f"{system.libdir()}/", path)
            debians.add(path.replace("/zsh/vendor-completions/", "/zsh/site-functions/"))
    if not system.compressed:
        debians, files = ({path.removesuffix(".gz") for path in paths}
                          for paths in (debians, files))
    assert debians
    assert sorted(files) == sorted(debians)


@others
def test_twheel_runs_from_there(install, system):
    """From the folder in which the packages are installed."""
    assert VERSION in twheel(install(system))


@others
def test_a_program_is_built_with_the_library_there_and_runs(install, system, tmp_path):
    """The library is the one that its header says."""
    program = Program(install(system), system.libdir(), tmp_path)
    assert program.versions() == [VERSION, VERSION]
