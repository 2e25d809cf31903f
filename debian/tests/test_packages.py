# SPDX-License-Identifier: GPL-2.0
"""The Debian packages are installed, used, upgraded while a wheel is open, and removed.

autopkgtest runs this by the file control:

    autopkgtest build/deb/*.deb ./ -- qemu IMAGE

and check/packages/guest does so in a guest. The packages are those that apt has, which are
autopkgtest's, or those in the folder TWHEEL_PACKAGES. TWHEEL_LATER is a folder with the packages
of a later version; without it the package of the module is upgraded alone.
"""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest
from commands import run
from installed import MODULE, built, by, device, do, loaded

RELEASE = os.uname().release
HEADERS = pathlib.Path("/lib/modules", RELEASE, "build")
# In the order in which they can be removed.
NAMES = ("twheel-doc", "twheel-tools", "libtwheel-dev", "libtwheel0", "twheel-dkms")
# Where other programs write meanwhile, or dkms leaves its key.
OTHERS = ("/home", "/tmp", "/run", "/var/cache", "/var/log", "/var/lib/apt", "/var/lib/dpkg",
          "/var/lib/systemd", "/var/lib/dkms/mok.key", "/var/lib/dkms/mok.pub",
          f"/usr/lib/modules/{RELEASE}/modules.*", "/etc/*-")
PROGRAM = """
#include <linux/twheel.h>
#include <twheel.h>

int main(void)
{
    struct twheel_options options = { .size = sizeof(options), .flags = TWHEEL_OPEN_DEVICE };
    struct twheel_event event;
    struct twheel *wheel;

    return twheel_open(&wheel, &options) ||
           twheel_arm(wheel, 7, twheel_now(wheel) + 1000000) ||
           twheel_wait(wheel, &event, 1, -1) != 1 || event.id != 7;
}
"""


def files():
    """All files of the machine."""
    prune = [word for path in OTHERS for word in ("-path", path, "-o")][:-1]
    # Not by do(): a test that fails would show them all. A file may go meanwhile.
    found = subprocess.run(["find", "/", "-xdev", "(", *prune, ")", "-prune", "-o", "-print"],
                           stdout=subprocess.PIPE, encoding="utf-8", check=False).stdout
    return set(found.splitlines())


def dpkg(*words):
    """What dpkg prints while it does that."""
    return do("dpkg", *words).out


def version(packages):
    """The version of packages that lie in files."""
    return do("dpkg-deb", "-f", packages["twheel-dkms"], "Version").out.strip()


def in_folder(folder):
    """The files of packages by the packages' names."""
    return {file.name.partition("_")[0]: file for file in pathlib.Path(folder).glob("*.deb")
            if file.name.partition("_")[0] in NAMES}


@contextlib.contextmanager
def without_headers():
    """As where the headers of the running kernel are not installed."""
    aside = HEADERS.rename(HEADERS.with_name("aside"))
    try:
        yield
    finally:
        aside.rename(HEADERS)


@pytest.fixture(scope="module", name="before", autouse=True)
def fixture_before():
    """The files of the machine, when it has the headers and two users."""
    if not HEADERS.exists():
        do("apt-get", "-q", "-y", "install", f"linux-headers-{RELEASE}")
    for user in "member", "stranger":
        do("useradd", user)
    return files()


@pytest.fixture(scope="module", name="packages")
def fixture_packages(tmp_path_factory):
    """The packages."""
    folder = os.environ.get("TWHEEL_PACKAGES")
    if not folder:
        folder = tmp_path_factory.mktemp("packages")
        do("apt-get", "-q", "-o", "APT::Sandbox::User=", "download", *NAMES, cwd=folder)
    return in_folder(folder)


@pytest.fixture(scope="module", name="later")
def fixture_later(packages, tmp_path_factory):
    """Those of a later version."""
    if "TWHEEL_LATER" in os.environ:
        return in_folder(os.environ["TWHEEL_LATER"])
    root = tmp_path_factory.mktemp("later")
    old = version(packages)
    new = old + "+later"
    do("dpkg-deb", "-R", packages["twheel-dkms"], root)
    source = (root / f"usr/src/twheel-{old}").rename(root / f"usr/src/twheel-{new}")
    for file in (*(root / "DEBIAN").iterdir(), source / "VERSION", source / "dkms.conf"):
        file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")
    do("dpkg-deb", "-b", root, root.with_name("twheel-dkms.deb"))
    return {"twheel-dkms": root.with_name("twheel-dkms.deb")}


@pytest.fixture(scope="module", name="module")
def fixture_module(tmp_path_factory):
    """A copy of the module that is installed, which outlives its package."""
    return shutil.copy(do("modinfo", "-F", "filename", "twheel").out.strip(),
                       tmp_path_factory.mktemp("module"))


def test_without_headers_the_module_s_package_installs_and_says_what_is_missing(packages):
    """The name of the package of headers is in what it says."""
    with without_headers():
        said = dpkg("-i", packages["twheel-dkms"])
        dpkg("-P", "twheel-dkms")
    assert re.search(f"twheel: .*apt install linux-headers-{re.escape(RELEASE)}", said)


def test_the_packages_install(packages):
    """All of them at once."""
    dpkg("-i", *packages.values())


def test_dkms_has_built_the_module(packages):
    """It is where dkms puts modules."""
    assert built() == version(packages)
    assert "/updates/dkms/twheel.ko" in do("modinfo", "-F", "filename", "twheel").out


def test_dkms_has_signed_the_module():
    """With a key of this machine."""
    assert do("modinfo", "-F", "sig_key", "twheel").out.strip()


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


def test_a_stranger_is_refused():
    """The device can't be opened."""
    opened = run(*by("stranger", "sh", "-c", ": <>/dev/twheel"))
    assert opened.status != 0
    assert "Permission denied" in opened.err
    assert run(*by("stranger", "twheel", "arm", "10ms")).status != 0


def test_a_program_is_compiled_with_the_library_and_uses_the_device():
    """A member's program, by pkg-config."""
    flags = do("pkg-config", "--cflags", "--libs", "libtwheel").out.split()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program = pathlib.Path(folder, "program")
        do("cc", "-Wall", "-Werror", "-x", "c", "-o", program, "-", *flags, stdin=PROGRAM)
        do(*by("member", program))


def test_the_packages_are_upgraded_while_a_daemon_has_a_timer(daemon, packages, later):
    """It is said that the loaded module stays, and how the new one comes."""
    said = dpkg("-i", *later.values())
    assert f"twheel: the module {version(packages)} stays loaded" in said
    assert "rmmod twheel; modprobe twheel" in said
    daemon.goes_on()


def test_dkms_has_built_the_new_module(later):
    """The version that is installed is the later one."""
    assert built() == version(later)


def test_the_old_module_is_in_use(packages):
    """It can't be unloaded."""
    assert run("rmmod", "twheel").status != 0
    assert loaded() == version(packages)


def test_the_timers_go_on(daemon):
    """As if nothing had been upgraded."""
    daemon.goes_on()


def test_the_new_module_comes_when_the_daemon_has_ended_with_the_parameters_of_etc(daemon, later):
    """The file in /etc replaces that of the package."""
    daemon.end()
    packaged = pathlib.Path("/usr/lib/modprobe.d/twheel.conf").read_text("utf-8")
    local = pathlib.Path("/etc/modprobe.d/twheel.conf")
    local.write_text(re.sub("(?m)^#(options twheel max_user_wheels=).*", r"\g<1>3", packaged),
                     "utf-8")
    try:
        do("rmmod", "twheel")
        do("modprobe", "twheel")
    finally:
        local.unlink()
    assert loaded() == version(later)
    assert (MODULE / "parameters/max_user_wheels").read_text("ascii") == "3\n"
    assert device() == "root:twheel 660"


def test_the_module_is_loaded_when_the_machine_starts(later):
    """By systemd."""
    do("rmmod", "twheel")
    do("systemctl", "restart", "systemd-modules-load")
    assert loaded() == version(later)


def test_the_packages_are_removed_while_a_daemon_has_a_timer(module, second_daemon, later):
    """The module stays."""
    assert module
    dpkg("-r", *NAMES)
    assert loaded() == version(later)
    second_daemon.goes_on()


def test_the_packages_are_purged_and_say_that_the_module_stays(second_daemon, later):
    """The timers go on."""
    assert re.search("twheel: .* stays loaded until", dpkg("-P", *NAMES))
    assert loaded() == version(later)
    second_daemon.goes_on()


def test_the_module_can_be_unloaded_when_the_daemon_has_ended(second_daemon):
    """As was said."""
    second_daemon.end()
    do("rmmod", "twheel")


def test_a_purge_unloads_a_module_that_is_not_in_use(module, packages, later):
    """Even one that is not the package's."""
    do("insmod", module)
    assert loaded() == version(later)
    with without_headers():
        dpkg("-i", packages["twheel-dkms"])
        dpkg("-P", "twheel-dkms")
    assert not MODULE.exists()


def test_nothing_is_left(before):
    """Nor is any file gone."""
    assert sorted(files() ^ before) == []
