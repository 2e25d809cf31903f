# SPDX-License-Identifier: GPL-2.0
"""What twheel sim prints: the cases of textbooks as they stand there, and what it says of a script
that is wrong."""
import re

import pytest
from commands import TOOLS, cases, program, run

BOTH = "arm 1 350ms;arm 2 450ms;where 1;where 2;run"
NOTE = "^note: twheel .*blackboard, which --as hierarchical shows$"


@pytest.fixture(name="sim")
def fixture_sim(twheel):
    """Runs a script, whose lines end with ;"""
    return lambda script, options="": twheel("sim", *options.split(),
                                             stdin=script.replace(";", "\n") + "\n")


@cases(
    "case, script, options, lines",
    ("350 and 450 ms on Kafka's wheels", BOTH,
     "--as hierarchical --tick 1ms --slots 20 --levels 3 --trace", """
        0 armed 1 due 350ms, level 1 (slots of 20ms), slot 17, position 0
        0 armed 2 due 450ms, level 2 (slots of 400ms), slot 1, position 0
        0 where 1 due 350ms, level 1 (slots of 20ms), slot 17, position 0; 0 moves so far
        0 where 2 due 450ms, level 2 (slots of 400ms), slot 1, position 0; 0 moves so far
        340ms woken
        340ms moved 1 from level 1, slot 17 to level 0 (slots of 1ms), slot 10, position 0
        350ms woken
        350ms expired 1 on time
        400ms woken
        400ms moved 2 from level 2, slot 1 to level 1 (slots of 20ms), slot 2, position 0
        440ms moved 2 from level 1, slot 2 to level 0 (slots of 1ms), slot 10, position 0
        450ms expired 2 on time
        inserts 2
        moves 3 to another slot, on the way down
        wake-ups 5
        empty wake-ups 0 nothing has expired, nothing was moved"""),
    ("350 and 450 ms on twheel, which says what differs", BOTH, "--slots 20", """
        0 where 1 due 350ms, level 1 (slots of 32ms), slot 10, position 0; 0 moves so far
        0 where 2 due 450ms, level 1 (slots of 32ms), slot 14, position 0; 0 moves so far
        350ms expired 1 on time
        450ms expired 2 on time
        twheel: tick 1ms, 32 slots
        moves 0 to another slot, on the way down"""),
    ("455 ms comes down with 450 ms",
     "arm 1 450ms # a comment;;  # another;arm 2 455ms;run", "--slots 20 --trace", """
        450ms woken
        450ms moved 2 from level 1, slot 14 to level 0 (slots of 1ms), slot 7, position 0
        450ms expired 1 on time
        455ms woken
        455ms expired 2 on time"""),
    ("the simple wheel refuses what is later than a turn",
     "arm 1 30ms;arm 2 10ms;extend 2 40ms;run", "--as simple --slots 20 --trace", """
        0 arm 1 refused: that is later than the wheel reaches
        0 armed 2 due 10ms, level 0 (slots of 1ms), slot 10, position 0
        0 extend 2 refused: that is later than the wheel reaches
        9ms woken 9 times since 1ms, for nothing
        10ms woken
        10ms expired 2 on time
        refused 2 arms and extends"""),
    ("a cancel, also by an arm that is refused", "arm 1 5ms;cancel 1;arm 2 9ms;arm 2 9s;run",
     "--as simple --slots 20 --trace", """
        0 armed 1 due 5ms, level 0 (slots of 1ms), slot 5, position 0
        0 cancel 1 it was due 5ms
        0 armed 2 due 9ms, level 0 (slots of 1ms), slot 9, position 0
        0 cancel 2 it was due 9ms
        0 arm 2 refused: that is later than the wheel reaches"""),
    ("Netty's wheel: the queue, rounds, what stop hands back",
     "arm 1 5ms;run 1ms;where 1;arm 2 900ms;run 10ms;stop", "--as hashed --slots 3 --trace", """
        0 armed 1 due 5ms, in the queue, position 0
        1ms woken
        1ms placed 1 due 5ms, level 0 (slots of 1ms), slot 1, position 0, 1 round left
        1ms where 1 due 5ms, level 0 (slots of 1ms), slot 1, position 0, 1 round left; 0 moves so far
        6ms expired 1 1ms late
        11ms woken 5 times since 7ms, for nothing
        11ms left 2 due 901ms, level 0 (slots of 1ms), slot 1, position 0, 222 rounds left; 0 moves so far
        hashed: tick 1ms, 4 slots
        armed still 1 run alone goes on until none is"""),
    ("Netty's wheel begins with the first timer, and takes no more than its limit",
     "at 3500us;arm 1 2ms;arm 2 5ms;run", "--as hashed --tick 10us --pending 1 --trace", """
        3.5ms armed 1 due 5.5ms, in the queue, position 0
        3.5ms arm 2 refused: the limit of pending timers is reached
        4.5ms woken
        4.5ms placed 1 due 5.5ms, level 0 (slots of 1ms), slot 2, position 0
        5.5ms woken for nothing
        6.5ms woken
        6.5ms expired 1 1ms late
        hashed: tick 1ms, 512 slots
        wake-ups 3
        note: hashed has raised the tick to 1ms, as Netty does with a warning; \
it has a power of two of slots, and handles a tick when it is over, so a timer comes up to one \
tick late"""),
    ("the face of a clock", "arm 1 50m45s;run", "--as clock --start 10h24m30s --trace", """
        10h24m30s armed 1 due 11h15m15s, level 2 (slots of 1h), slot 11, position 0
        11h moved 1 from level 2, slot 11 to level 1 (slots of 1m), slot 15, position 0
        11h15m moved 1 from level 1, slot 15 to level 0 (slots of 1s), slot 15, position 0
        11h15m15s expired 1 on time"""),
    ("keys, repeats, and what is not armed",
     "arm 7 20ms every 20ms times 3;arm 8 5ms every 30ms times -1;run 41ms;cancel 8;cancel 9;run",
     "--as keys --tick 1ms", """
        6ms expired 8 1ms late
        21ms expired 7 1ms late
        36ms expired 8 1ms late
        41ms expired 7 1ms late
        41ms cancel 9 it is not armed
        61ms expired 7 1ms late
        lateness, the most 1ms"""),
    ("keys: 12 slots of 1 s, what is refused, rounds of whole turns",
     "arm 1 16s;arm 1 20s;arm 2 999ms;arm 3 12s;extend 3 25s", "--as keys --trace", """
        0 armed 1 due 16s, level 0 (slots of 1s), slot 4, position 0, 1 round left
        0 arm 1 refused: the key is armed already: cancel it first
        0 arm 2 refused: a delay or a period is below one tick
        0 armed 3 due 12s, level 0 (slots of 1s), slot 0, position 0, 1 round left
        0 extended 3 due 25s, level 0 (slots of 1s), slot 1, position 0, 2 rounds left
        keys: tick 1s, 12 slots
        refused 2 arms and extends"""),
    ("Linux moves nothing and is late",
     "arm 1 350ms;at 100ms;extend 1 +50ms;at 200ms;extend 1 201ms;run", "--as linux --trace", """
        0 armed 1 due 350ms, level 1 (slots of 8ms), slot 44, position 0
        100ms extended 1 due 400ms, level 1 (slots of 8ms), slot 51, position 0
        200ms extended 1 due 401ms, level 1 (slots of 8ms), slot 51, position 0
        408ms expired 1 7ms late
        extends 2"""),
    ("Kafka's wheels round down", "arm 1 5ms;run;arm 2 2ms;run",
     "--as hierarchical --tick 3ms --trace", """
        0 armed 1 due 5ms, level 0 (slots of 3ms), slot 1, position 0
        3ms woken
        3ms expired 1 2ms early
        3ms armed 2 due 5ms, in the queue, position 0
        3ms woken
        3ms expired 2 2ms early
        early 2 before their deadlines
        earliness, the most 2ms
        lateness, the most 0
        note: hierarchical rounds deadlines down, as these systems do, so timers fire \
up to a tick early; with --round up they fire up to a tick late"""),
    ("or up, if they are told to", "arm 1 5ms;run", "--as hierarchical --tick 3ms --round up", """
        6ms expired 1 1ms late
        lateness, the most 1ms"""),
    ("how late, at the most and on average", BOTH, "--as linux", """
        352ms expired 1 2ms late
        456ms expired 2 6ms late
        lateness, the most 6ms
        lateness, the mean 4ms
        bytes a timer 64"""),
    ("a DelayQueue's leader sleeps, and an earlier timer wakes it",
     "arm 1 2s;arm 2 3s;at 5ms;arm 3 10ms;at 10ms;cancel 3;run", "--as heap --trace", """
        0 armed 1 due 2s, position 0
        0 woken by a timer that is due first
        0 sleeps until 2s
        0 armed 2 due 3s, position 1
        5ms armed 3 due 15ms, position 0
        5ms woken by a timer that is due first
        5ms sleeps until 15ms
        10ms cancel 3 it was due 15ms
        15ms woken for nothing
        15ms sleeps until 2s
        2s woken
        2s expired 1 on time
        2s sleeps until 3s
        3s expired 2 on time
        wake-ups 3
        empty wake-ups 1 nothing has expired, nothing was moved
        signals 2 a timer that became the first woke the sleeper"""),
    ("a heap has no ticks", "arm 1 1.5us;arm 2 2h;run", "--as heap", """
        1.5us expired 1 on time
        2h expired 2 on time"""),
)
def test_prints(sim, script, options, lines):
    """These lines in this order, blanks apart."""
    printed = (" ".join(line.split()) for line in sim(script, options).good().lines)
    missing = [line for line in map(str.strip, lines.strip().split("\n")) if line not in printed]
    assert not missing


@cases("options", "--slots 20", "--compare --slots 20")
def test_a_note_tells_how_twheel_differs_from_the_textbook(sim, options):
    """It differs where the other wheels cascade."""
    sim(BOTH, options).prints(NOTE)


def test_compare_prints_a_row_for_each_system(sim):
    """By inserts, moves, wake-ups, refusals, lateness and bytes."""
    rows = [line.split() for line in sim(BOTH, "--compare --slots 20").good().lines[1:11]]
    assert [row[0] for row in rows] == \
        "twheel simple hashed hierarchical clock keys heap list poll linux".split()
    assert all(len(row) >= 12 for row in rows)
    row = {row[0]: row for row in rows}
    assert row["twheel"][1:3] + row["twheel"][4:5] == ["2", "0", "2"]
    assert (row["simple"][7], row["simple"][13]) == ("2", "320")
    assert (row["hierarchical"][2], row["hierarchical"][4]) == ("3", "5")
    assert row["linux"][8:10] == ["0", "6ms"]


def test_compare_tells_how_early_timers_fire(sim):
    """In a column of its own, beside the lateness."""
    rows = [line.split() for line in sim("arm 1 5ms;run", "--compare --tick 3ms").good().lines]
    row = {row[0]: row for row in rows[1:11]}
    assert rows[0][8:12] == ["EARLY", "MAX", "LATE", "MAX"]
    assert row["hierarchical"][8:11] == ["2ms", "0", "0"]
    assert row["poll"][8:11] == ["0", "1ms", "1ms"]


def test_a_load_runs_in_all_systems_but_two(sim):
    """None fires early but on the wheel with keys, and at the end none is armed."""
    result = sim("", "--load 30000 --compare --json")
    assert result.status == 0
    assert len(result.lines) == 8
    assert result.out.count('"early":0,"early_max_ns":0,"armed":0,') == 7
    assert result.out.count('"armed":0,') == 8


def test_a_load_at_once_is_held_as_a_whole(sim):
    """By all systems, if a turn is long enough for the simple wheel."""
    result = sim("", "--load 3000 --at-once --tick 100ms --slots 1024 --compare --json")
    assert result.status == 0
    assert len(result.lines) == 10
    assert result.out.count('"armed":0,"armed_max":3000,') == 10
    rows = sim("", "--load 3000 --at-once --tick 100ms --slots 1024 --compare").good().lines
    assert [row.split()[11] for row in rows[1:11]] == ["3,000"] * 10


def test_polling_is_left_out_unless_its_ticks_are_long(sim):
    """A sorted list always is, of so many timers."""
    rows = sim("", "--load 20001 --at-once --tick 100ms --compare").good().lines
    assert [row.split()[0] for row in rows if "left out" in row] == ["list"]
    rows = sim("", "--load 20001 --at-once --tick 99ms --compare").good().lines
    assert [row.split()[0] for row in rows if "left out" in row] == ["list", "poll"]


def test_a_load_is_the_same_by_its_seed(sim):
    """And another one with another seed."""
    load = "--load 30000 --compare --json"
    first = sim("", load).prints("^{")
    assert sim("", load).out == first.out
    assert sim("", load + " --seed 2").prints("^{").out != first.out


def test_a_load_is_cancelled_but_for_what_expires_within_a_second(sim):
    """All that is armed is cancelled or expires."""
    result = sim("", "--load 1000 --cancelled 100 --as keys --tick 1ms --json")
    assert result.status == 0
    assert len(result.lines) == 1
    count = {key: int(re.search(f'"{key}":(\\d+)', result.out).group(1))
             for key in ("cancels", "expired")}
    assert count["cancels"] + count["expired"] == 1000
    assert count["cancels"] >= 900


def test_a_refusal_says_why(sim):
    """In a word, for programs."""
    said = sim("arm 1 5s;arm 1 6s;arm 2 1ms", "--as keys --json").prints(
        '"what":"refused",.*"operation":"arm","why":"exists"', '"why":"short"')
    assert said.out.count("refused\",") == 2
    sim("arm 1 600ms", "--as simple --json").prints('"what":"refused",.*"why":"late"')


def test_help_says_how_a_timer_repeats_for_ever(sim):
    """As the wheels with repeat counts call it."""
    sim("", "--help").prints(r"every DURATION \[times N\]\].*times -1: for ever")


@cases(
    "script, options, text",
    ("arm 1 350ms;jump 2", "", "standard input:2: jump: no such operation: use arm, extend"),
    ("arm 1 350", "", "standard input:1: arm '350' needs a unit"),
    ("arm 1 0", "", "arm 0: give at least 1ns"),
    ("arm one 1ms", "", "arm one: give a number"),
    ("arm 1", "", "standard input:1: write: arm ID DURATION"),
    ("arm 1 1ms each 2ms", "", "arm ID DURATION every"),
    ("arm 1 1ms every 2ms for 3", "", "for: write: arm ID DURATION every"),
    ("arm 1 1ms every 2ms times 0", "", "times 0: give how often"),
    ("arm 1 1ms every 2ms times 8388608", "", "times 8388608: give a number up to 8388607"),
    ("arm 1 1ms arm 2 1ms arm 3 1ms", "", "one operation on a line"),
    ("at 2ms;at 1ms", "", "at 1ms: time does not go back"),
    ("arm 70000 1ms", "", "standard input:1: arm 70000: ids are below 65536: raise --capacity"),
    ("stop;arm 1 1ms", "", "no operation may follow stop"),
    ("arm 1 1ms every 1ms;run", "", "repeats for ever: say how long"),
    ("arm 1 1ms;at 300d", "--as poll --tick 1us", "give a longer --tick"),
)
def test_refuses_script(sim, script, options, text):
    """In one line, with status 1."""
    result = sim(script, options)
    assert result.status == 1
    assert text in result.err
    assert result.err.count("\n") == 1


@cases(
    "options, status, text",
    ("--as kafka", 2, "--as kafka: no such system: --help lists them"),
    ("--tick 2s", 2, "--tick 2s: give 1ns to 1s"),
    ("--pending 0", 2, "--pending 0: "),
    ("--round half", 2, "--round half: give up or down"),
    ("--pending 1", 2, "--pending is for hashed: give --as hashed with it"),
    ("--round up --as keys", 2, "--round is for hierarchical: give --as hierarchical with it"),
    ("--load 1 script", 2, "give no script with it"),
    ("--at-once", 2, "--at-once needs --load: give --load N with it"),
    ("--compare --trace", 2, "give no --trace with it"),
    ("script other", 2, "there is a script already"),
    ("other", 1, "other: No such file or directory: give a script"),
)
def test_refuses_options(sim, tmp_path, monkeypatch, options, status, text):
    """In one line, before it reads its input."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script").write_text("\n", encoding="ascii")
    sim("", options).refused(status, re.escape(text))


@cases("options", "--trace", "--as hierarchical --trace --json", "--compare", "--as kafka", "other")
def test_twheel_sim_by_itself_is_the_same(sim, twheel_sim, options):
    """But for its name in messages."""
    script = BOTH.replace(";", "\n") + "\n"
    alone, verb = twheel_sim(*options.split(), stdin=script), sim(BOTH, options)
    assert (alone.status, alone.out) == (verb.status, verb.out)
    assert alone.err == verb.err.replace("twheel sim:", "twheel-sim:")


def test_twheel_sim_by_itself_needs_no_library_but_c():
    """So that the course needs a compiler, make and python3 only."""
    libraries = run("ldd", program("twheel-sim")).good().lines
    known = r"\b(libc|ld-linux\S*|linux-vdso)\."
    assert all(re.search(known, line) for line in libraries)


def test_the_model_includes_nothing_but_itself_and_the_wheel():
    """So that it can be built where there is no C library, in a browser for instance."""
    outside = ("job", "load", "memory", "script", "show")
    found = set()
    for path in (TOOLS / "sim").glob("*.[ch]"):
        if path.stem not in outside:
            found |= set(re.findall(r"^#include (\S+)", path.read_text("ascii"), re.MULTILINE))
    # The page says with SIM_WHEEL_LINES which lines of the wheel are to be noted.
    assert found == {'"../../filing.h"', '"../../tests/owner.h"', '"../../trace.h"',
                     '"../../unit.c"', '"binary.h"', '"sim.h"', '"system.h"', "SIM_WHEEL_LINES",
                     "<stdbool.h>", "<stddef.h>", "<stdint.h>"}
