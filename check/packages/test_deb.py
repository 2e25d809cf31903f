# SPDX-License-Identifier: GPL-2.0
"""What only Debian's packages have; and what is installed without packages."""
import re

import pytest
from packages import TREE, VERSION, Deb, another, do, tree_files

pytestmark = pytest.mark.deb
# Debian's names of licences.
NAMES = {"GPL-2.0": "GPL-2", "MIT": "Expat", "GPL-2.0 OR MIT": "GPL-2 or Expat",
         "LGPL-2.1-or-later": "LGPL-2.1+",
         "GPL-2.0 WITH Linux-syscall-note": "GPL-2 with Linux-syscall-note exception"}


def test_changelog_and_dkms_conf_are_of_the_release():
    """As VERSION says."""
    assert do("dpkg-parsechangelog", "-S", "Version").out.strip() == VERSION
    text = (TREE / "dkms.conf").read_text("utf-8")
    assert re.findall('(?m)^PACKAGE_VERSION="(.*)"', text) == [VERSION]


def licences():
    """Of debian/copyright: patterns of paths with their licence; the last one that fits holds."""
    for part in (TREE / "debian/copyright").read_text("utf-8").split("\n\n"):
        rule = re.search(r"^Files:(.*?)\n\S.*^License: (.*?)$", part, re.MULTILINE | re.DOTALL)
        for glob in rule[1].split() if rule else ():
            yield re.compile(re.escape(glob).replace(r"\*", ".*")), rule[2]


def test_copyright_says_of_each_file_what_that_says_itself():
    """In one of its first five lines."""
    rules, wrong = list(licences()), []
    for name in tree_files():
        head = b"\n".join((TREE / name).read_bytes().split(b"\n", 5)[:5]).decode("utf-8", "replace")
        spdx = re.search(r"SPDX-License-Identifier: ([\w. +-]*\w)", head)
        said = [licence for pattern, licence in rules if pattern.fullmatch(name)][-1:]
        if spdx and said != [NAMES.get(spdx[1], spdx[1])]:
            wrong.append((name, spdx[1], said))
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
