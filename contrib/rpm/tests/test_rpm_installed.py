# SPDX-License-Identifier: GPL-2.0
"""The RPM packages are installed, used, upgraded while a wheel is open, and removed. This is done
on a Debian, whose rpm runs the scripts of packages as any other does, and knows of no package
beside these. check/packages/guest runs it, with the packages in the folder TWHEEL_PACKAGES, and
those of a later version in TWHEEL_LATER."""
import os
import pathlib

import pytest
from installed import MODULE, built, by, device, do, loaded

NAMES = ("twheel-tools", "libtwheel-devel", "libtwheel", "twheel-dkms")


def rpm(*words):
    """What rpm prints while it does that."""
    return do("rpm", "--nodeps", "--force-debian", *words).out


def in_folder(variable):
    """The files of packages in the folder that this variable names."""
    return sorted(pathlib.Path(os.environ[variable]).glob("*.rpm"))


def version(packages):
    """Their version."""
    return do("rpm", "-qp", "--qf", "%{VERSION}", packages[0]).out


@pytest.fixture(scope="module", name="packages")
def fixture_packages():
    """The packages."""
    return in_folder("TWHEEL_PACKAGES")


@pytest.fixture(scope="module", name="later")
def fixture_later():
    """Those of a later version."""
    return in_folder("TWHEEL_LATER")


def only(wanted):
    """dkms has this version installed, and no other one; modprobe finds it."""
    assert do("dkms", "status").out.count(": installed\n") == 1
    assert built() == wanted


def test_the_packages_install(packages):
    """On a machine that has a user."""
    do("useradd", "member")
    rpm("-i", *packages)


def test_dkms_has_built_the_module(packages):
    """Once."""
    only(version(packages))


def test_the_module_is_loaded(packages):
    """Without a reboot."""
    assert loaded() == version(packages)


def test_the_device_belongs_to_the_group():
    """Which there was not when udev read its rules."""
    assert device() == "root:twheel 660"


def test_a_member_of_the_group_arms_a_timer():
    """By the command twheel."""
    do("usermod", "-a", "-G", "twheel", "member")
    do(*by("member", "twheel", "arm", "10ms"))


def test_the_packages_are_upgraded_while_a_daemon_has_a_timer(daemon, later):
    """It is said that the new module has to wait."""
    said = rpm("-U", *later)
    assert f"twheel: {version(later)} comes with the next reboot" in said
    daemon.goes_on()


def test_dkms_has_built_the_new_module_and_forgotten_the_old_one(later):
    """The version that is installed is the later one."""
    only(version(later))


def test_the_old_module_is_loaded(packages):
    """As before."""
    assert loaded() == version(packages)


def test_the_timers_go_on(daemon):
    """As if nothing had been upgraded."""
    daemon.goes_on()


def test_the_new_module_comes_when_the_daemon_has_ended(daemon, later):
    """With the same device."""
    daemon.end()
    do("rmmod", "twheel")
    do("modprobe", "twheel")
    assert loaded() == version(later)
    assert device() == "root:twheel 660"


def test_the_same_packages_install_once_more(later):
    """The module is still there."""
    rpm("-U", "--replacepkgs", "--replacefiles", *later)
    only(version(later))


def test_the_packages_are_removed():
    """All of them at once."""
    rpm("-e", *NAMES)


def test_nothing_is_left():
    """But the group, which stays as groups do."""
    assert "twheel" not in do("dkms", "status").out
    assert not MODULE.exists()
    prune = "-path /home -o -path /tmp -o -path /proc -o -path /var/lib/rpm".split()
    assert do("find", "/", "-xdev", "(", *prune, ")", "-prune", "-o", "-name", "*twheel*",
              "-print").lines == []
