# SPDX-License-Identifier: GPL-2.0
"""Which timers twheel list shows, and in which order, of a wheel that does not change; and what
twheel get tells of one."""
import re

import pytest
from commands import cases, full_disk, program


@pytest.fixture(name="listed")
def fixture_listed(fake_twheel):
    """Lists a wheel with so many timers."""
    return lambda timers, *options: fake_twheel("list", "--fd", "0", *options,
                                                env={"FAKE_TIMERS": timers})


@pytest.fixture(name="get")
def fixture_get(fake_twheel):
    """Asks for timers of a wheel that has 300."""
    return lambda *options: fake_twheel("get", "--fd", "0", *options, env={"FAKE_TIMERS": 300})


@cases(
    "options, ids, total",
    ("", " ".join(map(str, range(20))), "18 pending, 2 expired"),
    ("--state expired", "3 13", "0 pending, 2 expired"),
    ("--id 4-6", "4 5 6", "3 pending, 0 expired"),
    ("--id 19", "19", "1 pending, 0 expired"),
    ("--id 20-30", "", "0 pending, 0 expired"),
    ("--periodic", "0 5 10 15", "4 pending, 0 expired"),
    # A timer that has expired is due within any time.
    ("--within 1ms", "0 3 13", "1 pending, 2 expired"),
    ("--within 1ms --state pending", "0", "1 pending, 0 expired"),
    ("--limit 4", "0 1 2 3", "3 pending, 1 expired"),
    ("--sort cookie --state expired", "13 3", "0 pending, 2 expired"),
    ("--sort remaining --limit 4", "3 13 0 6", "2 pending, 2 expired"),
    ("--sort remaining --reverse --limit 3 --id 6-19", "17 14 11", "3 pending, 0 expired"),
    # Equal ones by id, and the other way round.
    ("--sort overruns --limit 5", "0 4 8 12 16", "5 pending, 0 expired"),
    ("--sort overruns --reverse --limit 5", "19 15 11 7 3", "4 pending, 1 expired"),
    ("--reverse --limit 2", "19 18", "2 pending, 0 expired"),
)
def test_list_shows(listed, options, ids, total):
    """Of 20 timers these, and the last line counts them."""
    result = listed(20, *options.split())
    assert result.status == 0
    assert " ".join(line.split()[0] for line in result.lines[1:-1]) == ids
    assert result.lines[-1] == total


@cases(
    "options, pattern",
    ("--state idle", "is pending or expired"),
    ("--id x", "give a number"),
    ("--id 9-3", "from 9 to"),
    ("--within 5", "needs a unit"),
    ("--sort size", "use id, remaining"),
    ("--limit 0", "give a number from 1"),
)
def test_list_refuses(listed, options, pattern):
    """In one line, before anything is listed."""
    listed(20, *options.split()).refused(2, pattern)


@cases(
    "case, line",
    ("state", "state +pending"),
    ("remaining", "remaining +71ms"),
    ("interval", "interval +1s"),
    ("expirations left", "left +for ever  expirations"),
    ("overruns", "overruns +2"),
    ("generation", "generation +1  of.*"),
    ("cookie", "cookie +290"),
)
def test_get_tells(get, line):
    """A line for each member of a timer."""
    get(10).prints(f"^  {line}$")


def test_get_of_an_idle_timer_tells_its_state_alone(get):
    """It has no cookie either."""
    result = get(400).prints("^  state +idle$")
    assert "cookie" not in result.out


def test_get_prints_json(get):
    """One object."""
    get("--json", 13).prints(r'^\{"id":13,.*"overruns":1\}$')


@cases(
    "ids, status, pattern",
    ("", 2, "say which"),
    ("1 2", 2, "one timer at a time"),
    ("x", 2, "give a number"),
    ("70000", 1, "timer 70000: a number is out of its range"),
)
def test_get_refuses(get, ids, status, pattern):
    """In one line."""
    get(*ids.split()).refused(status, pattern)


# 3,000 timers are more than one call asks for, and more than a buffer holds.

def test_list_shows_3000_timers_by_id(listed):
    """Between a head and a sum."""
    result = listed(3000)
    assert result.status == 0
    assert len(result.lines) == 3002
    assert [int(line.split()[0]) for line in result.lines[1:-1]] == list(range(3000))


def test_list_sorts_3000_timers_as_json(listed):
    """By the time that remains."""
    result = listed(3000, "--json", "--sort", "remaining")
    assert result.status == 0
    assert len(result.lines) == 3000
    remaining = [int(re.search(r'"remaining_ns":(\d+)', line).group(1)) for line in result.lines]
    assert remaining == sorted(remaining)


def test_list_says_that_the_disk_is_full(monkeypatch):
    """Whatever has been written before."""
    monkeypatch.setenv("FAKE_TIMERS", "3000")
    full_disk(program("fake-twheel"), "list", "--fd", "0", "--json")
