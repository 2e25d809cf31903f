# SPDX-License-Identifier: GPL-2.0
"""Builds packages once for all tests: of this tree, and of a copy with a later version.

What has to be installed for it, vm/deps knows as deb, rpm and arch. By hand, for one system:

    pytest-3 check/packages -m deb

If TWHEEL_PACKAGES names a folder, the packages are left there, in deb/old, deb/new and so on, for
check/packages/guest.
"""
import os
import pathlib
import sys

import pytest

pytest.register_assert_rewrite("commands", "packages")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "tests"))
sys.path.insert(0, str(pathlib.Path(__file__).parent))
# pylint: disable=wrong-import-position
from commands import run  # noqa: E402
from packages import TREE, VERSION, another  # noqa: E402


def pytest_configure(config):
    """Each test is of one system."""
    for name in "deb", "rpm", "arch":
        config.addinivalue_line("markers", f"{name}: a test of these packages")


@pytest.fixture(scope="session", name="build")
def fixture_build(tmp_path_factory):
    """Builds the packages of a system and a version: a function, which returns them by name."""
    given = os.environ.get("TWHEEL_PACKAGES")
    shelf = pathlib.Path(given) if given else tmp_path_factory.mktemp("packages")
    results = {}

    def build(system, version=VERSION):
        folder = shelf / system.name / ("old" if version == VERSION else "new")
        if folder not in results:
            tree = TREE
            if version != VERSION:
                tree = another(version, tmp_path_factory.mktemp(system.name) / "tree")
            results[folder] = run(tree / system.build, folder, timeout=1500)
        assert results[folder].status == 0, results[folder].err
        return {system.of(file)[0]: file for file in sorted(folder.glob(system.files))}

    return build


@pytest.fixture(scope="session", name="install")
def fixture_install(build, tmp_path_factory):
    """Installs the packages of a system, once: a function, which returns the folder."""
    roots = {}

    def install(system):
        if system.name not in roots:
            files = build(system)
            roots[system.name] = system.install([files[name] for name in sorted(system.packages)],
                                                tmp_path_factory.mktemp(system.name))
        return roots[system.name]

    return install
