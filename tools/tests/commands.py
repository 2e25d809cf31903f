# SPDX-License-Identifier: GPL-2.0
"""Runs commands for tests, and says what became of them."""
import dataclasses
import functools
import os
import pathlib
import re
import select
import shlex
import shutil
import subprocess
import termios
import time

import pytest

TOOLS = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("TWHEEL_BUILD", TOOLS / "build")).resolve()

# Messages are compared.
os.environ["LC_ALL"] = "C"
# The makes that are run here are no parts of one that runs the tests.
for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
    os.environ.pop(name, None)


def program(name):
    """The path of a program: what has been built, or else what is in PATH."""
    for path in (BUILD / name, BUILD / "tests" / name):
        if path.exists():
            return str(path)
    path = shutil.which(name)
    if not path:
        pytest.exit(f"there is no {name}: make -C tools all fakes, or TWHEEL_BUILD=FOLDER", 3)
    return path


@dataclasses.dataclass
class Result:
    """What a command has printed, and its exit status."""
    status: int
    out: str
    err: str

    @property
    def lines(self):
        """Of standard output."""
        return self.out.splitlines()

    def good(self):
        """The command has succeeded, without a word on standard error."""
        assert self.status == 0
        assert self.err == ""
        return self

    def prints(self, *patterns):
        """The command has succeeded; each pattern is found in a line of its output."""
        assert self.status == 0
        for pattern in patterns:
            assert re.search(pattern, self.out, re.MULTILINE), pattern
        return self

    def refused(self, status, pattern):
        """The command has failed, with a line on standard error and nothing else."""
        assert self.status == status
        assert self.out == ""
        assert re.search(pattern, self.err)
        assert self.err.count("\n") == 1


def start(*command, env=(), **options):
    """Starts a command, with more variables in its environment."""
    options = {"stdin": subprocess.DEVNULL, "encoding": "utf-8", "errors": "replace", **options}
    # The commands are to find what lies beside them.
    return subprocess.Popen([str(word) for word in command], **options,
                            env={**os.environ, **{k: str(v) for k, v in dict(env).items()}})


def run(*command, stdin="", timeout=120, **options):
    """Runs a command until it ends; standard output goes to Result.out if to no file."""
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
               **options}
    with start(*command, **options) as child:
        try:
            out, err = child.communicate(stdin, timeout)
        except subprocess.TimeoutExpired:
            child.kill()
            pytest.fail(f"still running after {timeout} s: {command}")
    # pytest shows this if the test fails.
    print("$", shlex.join(str(word) for word in command), "\n" + (out or "")[:4000], err)
    return Result(child.returncode, out or "", err or "")


def full_disk(*command):
    """What can't be written is an error, also of a command that would run for ever."""
    with open("/dev/full", "w", encoding="ascii") as full:
        result = run(*command, stdout=full, timeout=20)
    result.refused(1, "^twheel.*: not all could be written")


def until(condition, seconds=10):
    """Waits until the condition is true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.05)


class Terminal:
    """A command on a vt100, and all that it has written there."""

    def __init__(self, *command):
        self.fd, terminal = os.openpty()
        self.text = ""
        self.modes = termios.tcgetattr(self.fd)
        self.child = start(*command, env={"TERM": "vt100"}, stdin=terminal, stdout=terminal,
                           stderr=terminal)
        os.close(terminal)

    def has_written(self, pattern):
        """After what it has written by now."""
        while select.select([self.fd], [], [], 0)[0]:
            try:
                self.text += os.read(self.fd, 1 << 16).decode("ascii")
            except OSError:
                break
        return re.search(pattern, self.text)

    def shows(self, pattern):
        """Waits until it has written that: only of its first screen all comes in one piece."""
        until(lambda: self.has_written(pattern))
        return self

    def is_as_before(self):
        """Are the modes of the terminal those of the beginning?"""
        return termios.tcgetattr(self.fd) == self.modes

    def has_ended(self):
        """What it writes at its end is read, so that it can end."""
        self.has_written("")
        return self.child.poll() is not None

    def end(self, how):
        """Ends it with a signal, and returns its exit status."""
        self.child.send_signal(how)
        until(self.has_ended)
        return self.child.returncode


@functools.lru_cache(None)
def usage(*command):
    """What a command prints with --help."""
    return run(program(command[0]), *command[1:], "--help").good().out


def verbs():
    """The verbs that twheel --help names."""
    part = re.search(r"^Verbs:\n(.*?)\n\n", usage("twheel"), re.MULTILINE | re.DOTALL)
    return re.findall(r"^  ([a-z]+) ", part.group(1), re.MULTILINE)


def options_of(*command):
    """The long options that --help of a command names."""
    return re.findall(r"^ {2,6}(?:-., )?(--[a-z-]+)", usage(*command), re.MULTILINE)


def cases(names, *rows):
    """A test for each row, called after its first column, which is no argument if its name is
    case."""
    names = names.split(", ")
    rows = [row if len(names) > 1 else (row,) for row in rows]
    first = names[0] == "case"
    return pytest.mark.parametrize(names[first:], [row[first:] for row in rows],
                                   ids=[str(row[0]) for row in rows])
