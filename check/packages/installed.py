# SPDX-License-Identifier: GPL-2.0
"""What the tests of installed packages share: debian/tests and contrib/rpm/tests. They run as root,
on a machine that they may break, and each test goes on where the one before it has ended."""
import pathlib
import subprocess

import pytest
from commands import run, start, until

MODULE = pathlib.Path("/sys/module/twheel")


def do(*command, **options):
    """Run a command that has to succeed, however long dkms takes to compile the module."""
    result = run(*command, stderr=subprocess.STDOUT, **{"timeout": 900, **options})
    assert result.status == 0
    return result


def by(user, *command):
    """The words that run a command as this user, with all of its groups."""
    return ("setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", *command)


def loaded():
    """The version of the module that is loaded."""
    return (MODULE / "version").read_text("ascii").strip()


def built():
    """The version of the module that is installed for the running kernel."""
    do("dkms", "status")
    return do("modinfo", "-F", "version", "twheel").out.strip()


def device():
    """Owner, group and mode of the device, when udev has seen to it."""
    do("udevadm", "settle")
    return do("stat", "-c", "%U:%G %a", "/dev/twheel").out.strip()


class Daemon:
    """A member's program with a timer, which prints a line five times a second."""

    def __init__(self, log):
        self.log = log
        with log.open("wb") as file:
            self.child = start(*by("member", "twheel", "arm", "--every", "200ms", "200ms"),
                               stdout=file, stderr=subprocess.STDOUT)
        self.goes_on()

    def events(self):
        """How many there have been."""
        return self.log.read_bytes().count(b"\n")

    def goes_on(self):
        """Wait for five more events, for at most a minute."""
        enough = self.events() + 5
        try:
            until(lambda: self.events() >= enough, 60)
        finally:
            print(self.log.read_text("utf-8", "replace")[-1000:])

    def end(self):
        """Its wheel ends with it."""
        self.child.terminate()
        self.child.wait()


def start_daemon(tmp_path_factory):
    """Start a daemon, and end it after the tests if none of them has."""
    child = Daemon(tmp_path_factory.mktemp("daemon") / "events")
    yield child
    child.end()


daemon = pytest.fixture(scope="module", name="daemon")(start_daemon)
second_daemon = pytest.fixture(scope="module", name="second_daemon")(start_daemon)
