# SPDX-License-Identifier: GPL-2.0
"""What only the packages of Arch Linux have: pacman upgrades and removes them in a folder. What
hooks of Arch Linux's own packages do is not there to be tried."""
import shutil

import pytest
from commands import run
from packages import LATER, TREE, VERSION, Arch, Pacman, Program, only_these, output, twheel

pytestmark = pytest.mark.arch


@pytest.fixture(scope="module", name="pacman")
def fixture_pacman(build, tmp_path_factory):
    """pacman, with the packages installed."""
    pacman = Pacman(tmp_path_factory.mktemp("pacman"))
    pacman.install(build(Arch).values())
    return pacman


@pytest.fixture(scope="module", name="program")
def fixture_program(pacman, tmp_path_factory):
    """A program that is built with the library there, before the upgrade."""
    return Program(pacman.root, Arch.libdir(), tmp_path_factory.mktemp("program"))


def test_on_an_arch_linux_a_build_says_which_packages_it_lacks(tmp_path):
    """There pacman knows its own package, and here none of those that are needed."""
    path = only_these(tmp_path / "bin", "dirname", "cksum", "cut", "sed", "makepkg", "bsdtar")
    config = Pacman(tmp_path).config
    bash = shutil.which("bash")
    fake = path / "pacman"
    fake.write_text(f'#!{bash}\n[ "$1" = -Q ] || '
                    f'exec {shutil.which("pacman")} --config {config} "$@"\n', "utf-8")
    fake.chmod(0o755)
    run(bash, TREE / Arch.build, tmp_path / "none",
        env={"PATH": path}).refused(1, r"missing: json-c kmod ncurses python scdoc\. ")


def test_all_files_are_root_s_who_alone_may_write_to_them(build):
    """Who has built them does not show."""
    modes = {"drwxr-xr-x", "-rwxr-xr-x", "-rw-r--r--", "lrwxrwxrwx"}
    lines = [line.split() for file in build(Arch).values()
             for line in output("bsdtar", "-tvf", file).splitlines()]
    assert "usr/bin/twheel" in [line[-1] for line in lines]
    assert [line for line in lines if line[0] not in modes or line[2:4] != ["root", "root"]] == []


def test_pacman_has_the_packages_and_all_files(pacman):
    """These packages and no others."""
    pacman.has(VERSION)


def test_what_is_installed_is_of_this_version(pacman, program):
    """The command, the library, and the module's source for dkms."""
    assert VERSION in twheel(pacman.root)
    assert [path.name for path in (pacman.root / "usr/src").iterdir()] == [f"twheel-{VERSION}"]
    assert program.versions() == [VERSION, VERSION]


def test_the_packages_are_upgraded(pacman, build):
    """All files of the later version are there."""
    pacman.install(build(Arch, LATER).values())
    pacman.has(LATER)


def test_what_is_installed_then_is_of_the_later_version(pacman, program):
    """The program runs with the later library, and there is no source of the old module."""
    assert LATER in twheel(pacman.root)
    assert [path.name for path in (pacman.root / "usr/src").iterdir()] == [f"twheel-{LATER}"]
    assert program.versions() == [LATER, VERSION]


def test_the_packages_are_removed_and_nothing_is_left(pacman):
    """Not a folder."""
    pacman("-R", *Arch.packages)
    assert list(pacman.root.iterdir()) == []
