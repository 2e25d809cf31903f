# SPDX-License-Identifier: GPL-2.0
"""The commands as fixtures, and a /proc that is made up."""
import functools
import os
import pathlib
import signal
import sys

import pytest

pytest.register_assert_rewrite("commands")
sys.path.insert(0, str(pathlib.Path(__file__).parent))
# pylint: disable=wrong-import-position
from commands import Terminal, program, run  # noqa: E402


def command(name):
    """A fixture that is a function, which runs this program."""
    return pytest.fixture(scope="session", name=name.replace("-", "_"))(
        lambda: functools.partial(run, program(name)))


twheel = command("twheel")
twheel_sim = command("twheel-sim")
demo = command("twheel-demo")
fake_twheel = command("fake-twheel")
fake_demo = command("fake-demo")


@pytest.fixture(name="terminal")
def fixture_terminal():
    """Starts commands on terminals until the test ends."""
    terminals = []

    def terminal(*command):
        terminals.append(Terminal(*command))
        return terminals[-1]

    yield terminal
    for each in terminals:
        each.end(signal.SIGTERM)
        os.close(each.fd)


class Proc:
    """A folder like /proc, for FAKE_PROC."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()

    def wheel(self, pid, fd, comm, number, link="/dev/twheel", **more):
        """A process has a wheel; the rest of it is as always."""
        process = self.folder / str(pid)
        for name in ("fd", "fdinfo"):
            (process / name).mkdir(parents=True, exist_ok=True)
        (process / "comm").write_text(comm + "\n", encoding="ascii")
        (process / "fd" / str(fd)).symlink_to(link)
        keys = {"number": number, "clock": 1, "tick_ns": 1000000, "levels": 11, "slots": 64,
                "capacity": 65536, "now_ns": 5000000000, **more}
        (process / "fdinfo" / str(fd)).write_text(
            "pos:\t0\nflags:\t02000002\nmnt_id:\t9\nino:\t77\n" +
            "".join(f"twheel-{key.replace('_', '-')}:\t{value}\n" for key, value in keys.items()),
            encoding="ascii")


def late(**classes):
    """24 classes of lateness, all 0 but these: c5=150."""
    return " ".join(str(classes.get(f"c{i}", 0)) for i in range(24)) + " "


@pytest.fixture
def proc(tmp_path):
    """Processes with wheels."""
    made = Proc(tmp_path / "proc")
    # systemd keeps a wheel of a service, and one that nobody uses.
    made.wheel(1, 20, "systemd", 1)
    made.wheel(1, 21, "systemd", 4)
    # A server's, which its child has as well.
    for pid, link in (100, "/dev/twheel"), (101, "/dev/twheel (deleted)"):
        made.wheel(pid, 5, "server", 1, link, pending=1000, expired=3, arms=5000, fired=200,
                   delivered=190, interrupts=50, memory=100000, next_ns=7500000000,
                   max_late_ns=5000000, late=late(c5=150, c6=30, c13=10))
    # As in a container.
    made.wheel(102, 3, "server", 2, "/any/name", pending=10, expired=0, arms=50, fired=20,
               delivered=20, memory=5000, next_ns=6000000000, max_late_ns=7000000,
               late=late(c5=10, c23=10))
    # Numbers as large as they can be.
    made.wheel(103, 4, 'odd"\\name', 3, "/any/name", pending=18446744073709551615, next_ns=0,
               late="500000000000000000 " * 24)
    # Two that do not tell which they are, and a name that is none.
    made.wheel(104, 3, "", 0, "/any/name", pending=1)
    made.wheel(104, 4, "", 0, "/any/name", pending=1)
    # Managers of users keep them too: so many that one is seen first, in whatever order.
    for pid in range(11, 19):
        made.wheel(pid, 20, "systemd", 1, "/any/name")
        made.wheel(pid, 21, "systemd", 2, "/any/name")
    # Its text says that it is a wheel; it has no path, so it can't be one.
    made.wheel(107, 3, "server", 5, "socket:[77]")
    # No wheel, and no process.
    other = made.folder / "105"
    for name in ("fd", "fdinfo"):
        (other / name).mkdir(parents=True)
    (other / "fd" / "0").symlink_to("/dev/null")
    (other / "fdinfo" / "0").write_text("pos:\t0\n", encoding="ascii")
    (made.folder / "sys").mkdir()
    return made
