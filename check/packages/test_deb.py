# SPDX-License-Identifier: GPL-2.0
"""What only Debian's packages have; and what is installed without packages."""
import re
import time

import pytest
from packages import TREE, VERSION, Deb, another, do, tree_files
from spdx import by_debian, own

pytestmark = pytest.mark.deb


def test_changelog_and_dkms_conf_are_of_the_release():
    """As VERSION says. A date to come would leave the times of files as they are in a package."""
    assert do("dpkg-parsechangelog", "-S", "Version").out.strip() == VERSION
    assert int(do("dpkg-parsechangelog", "-S", "Timestamp").out) < time.time()
    text = (TREE / "dkms.conf").read_text("utf-8")
    assert re.findall('(?m)^PACKAGE_VERSION="(.*)"', text) == [VERSION]


def test_copyright_says_of_each_file_what_that_says_itself():
    """In one of its first five lines."""
    licence = by_debian(TREE)
    wrong = [(name, said, licence(name)) for name in tree_files()
             if (said := own(TREE / name)) not in (None, licence(name))]
    assert wrong == []


def test_make_uninstall_leaves_nothing_of_what_make_install_has_installed(tmp_path):
    """Nor a folder of the module's source."""
    tree, stage = another(VERSION, tmp_path / "tree"), tmp_path / "stage"
    do("make", "-s", "-C", tree, "install", "install-system", "install-source", f"DESTDIR={stage}")
    for name in ("usr/local/bin/twheel", "usr/local/lib/libtwheel.so.0",
                 "usr/local/lib/udev/rules.d/60-twheel.rules",
                 "usr/local/lib/sysusers.d/twheel.conf",
                 f"usr/src/twheel-{VERSION}/compat/probe/vm_flags_set.c"):
        assert (stage / name).exists(), name
    do("make", "-s", "-C", tree, "uninstall", f"DESTDIR={stage}")
    assert [path for path in stage.rglob("*") if path.is_symlink() or not path.is_dir()] == []
    assert list((stage / "usr/src").iterdir()) == []


def test_dkms_builds_and_installs_the_module_from_the_tree_as_it_is(tmp_path):
    """Straight from a checkout, and of everything in it."""
    kernel = do("vm/kernel", "6.1").out.strip()
    release = do("cat", f"{kernel}/release").out.strip()
    tree = another(VERSION, tmp_path / "tree")
    for folder in "dkms", "src", f"modules/{release}":
        (tmp_path / folder).mkdir(parents=True)
    for step in ("add", tree), ("build", f"twheel/{VERSION}"), ("install", f"twheel/{VERSION}"):
        do("fakeroot", "dkms", *step, "-k", release, "--kernelsourcedir", f"{kernel}/headers",
           "--no-depmod", "--dkmstree", tmp_path / "dkms", "--sourcetree", tmp_path / "src",
           "--installtree", tmp_path / "modules")
    module, = (tmp_path / "modules" / release).glob("*/dkms/twheel.ko")
    assert do("modinfo", "-F", "version", module).out.strip() == VERSION


def test_lintian_has_nothing_against_the_packages(build):
    """Not even a warning."""
    changes, = build(Deb)["twheel-dkms"].parent.glob("*.changes")
    do("lintian", "--allow-root", "--fail-on", "error,warning", changes)
