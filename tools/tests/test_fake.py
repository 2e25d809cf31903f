# SPDX-License-Identifier: GPL-2.0
"""twheel arm and the demo on a wheel in user space, which can be told to cheat."""
import json
import re
import subprocess

import pytest
from commands import Result, cases, program, start

GOOD = r"demo: [1-9]\d* cut, 0 early, 0 missed"
MISSED = r"demo: \d+ cut, 0 early, [1-9]\d* missed"
EARLY = r"demo: \d+ cut, [1-9]\d* early, 0 missed"
LOAD = ("--connections", "200", "--timeout", "500ms")


def test_arm_prints_events_in_order_of_time(fake_twheel):
    """Below a head of two lines."""
    lines = fake_twheel("arm", "20ms", "10ms").lines[2:]
    assert [line.split()[-1] for line in lines] == ["10ms", "20ms"]


def test_arm_tells_of_a_cgroup_that_does_not_let_it_open_the_device(fake_twheel):
    """And where to read more."""
    fake_twheel("arm", "1ms", env={"FAKE": "denied"}).refused(
        1, "^twheel arm: not permitted to open /dev/twheel: twheel doctor says who may$")


def test_arm_runs_without_the_device_in_its_own_process(fake_twheel):
    """With --fallback, which is named where there is no device."""
    fake_twheel("arm", "1ms", env={"FAKE": "absent"}).refused(
        1, "^twheel arm: no /dev/twheel: twheel doctor says why, or see --fallback$")
    result = fake_twheel("arm", "--fallback", "--json", "--id", "3", "--every", "10ms", "--times", "2",
                         "--cookie", "7", "20ms", "10ms", env={"FAKE": "absent"})
    events = [json.loads(line) for line in result.good().lines[2:]]
    assert sorted((event["id"], event["last"]) for event in events) == [
        (3, False), (3, True), (4, False), (4, True)]
    for event in events:
        assert event["cookie"] == 7
        assert event["deadline_ns"] <= event["fired_ns"] <= event["read_ns"]


def test_arm_ends_by_itself_after_the_last_expiration(fake_twheel):
    """Three events, below two lines."""
    assert len(fake_twheel("arm", "--every", "10ms", "--times", "3", "5ms").lines) == 5


def test_arm_prints_json(fake_twheel):
    """An event has its cookie, and says that it is the last."""
    lines = fake_twheel("arm", "--json", "--cookie", "7", "1ms").lines
    assert len([line for line in lines
                if re.search('"what":"expired".*"cookie":7.*"last":true', line)]) == 1


@pytest.fixture(name="demos", scope="module")
def fixture_demos():
    """Demos on wheels that cheat, and on one that does not: all at once, as they mostly wait."""
    running = {
        fake: start(program("fake-demo"), *LOAD, *more, env={"FAKE": fake},
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for fake, *more in (("honest",), ("wordless",), ("early",), ("lose",), ("late",),
                            ("stale", "--no-words"))
    }
    ended = {}
    for fake, child in running.items():
        out, _ = child.communicate(timeout=120)
        ended[fake] = Result(child.returncode, out, "")
    return ended


def table(result, row):
    """The numbers in that row of the last table."""
    rows = re.findall(f"^  {row} *([0-9, ]+)$", result.out, re.MULTILINE)
    return [int(word.replace(",", "")) for word in rows[-1].split()]


def test_an_honest_wheel_passes(demos):
    """With words, and without."""
    assert demos["honest"].status == 0
    assert re.fullmatch(GOOD, demos["honest"].lines[-1])


def test_no_timer_is_pushed_back_by_a_call_with_words_and_each_without(demos):
    """Times and calls with words, then without."""
    times, calls, times_without, calls_without = table(demos["honest"], "pushed back, on a message")
    assert times > 1000
    assert calls == 0
    assert times_without > 1000
    assert calls_without == times_without


def test_timers_are_armed_by_the_batch_with_words_and_one_by_one_without(demos):
    """Times and calls with words, then without."""
    times, calls, _, calls_without = table(demos["honest"], "armed, on accept")
    assert times == 200
    assert 4 <= calls < 100
    assert calls_without == 200


def test_a_kernel_without_words_passes_and_the_demo_says_so(demos):
    """There is no table of what was measured with words."""
    result = demos["wordless"]
    assert result.status == 0
    assert re.fullmatch(GOOD, result.lines[-1])
    assert "because there are no words here" in result.out
    assert "with words" not in result.out


@cases("fake, pattern", ("early", EARLY), ("lose", MISSED), ("late", MISSED))
def test_a_wheel_is_found_out_that_is(demos, fake, pattern):
    """By the last line, and the exit status."""
    assert demos[fake].status == 1
    assert re.fullmatch(pattern, demos[fake].lines[-1])


def test_stale_events_are_found_out(demos):
    """They are counted apart."""
    assert demos["stale"].status == 1
    assert re.search("stale events *[1-9]", demos["stale"].out)


def test_the_demo_runs_without_the_device_in_its_own_process(fake_demo):
    """The library has a wheel then."""
    result = fake_demo("--fallback", *LOAD)
    assert result.status == 0
    assert re.fullmatch(GOOD, result.lines[-1])
    times, calls = table(result, "pushed back, on a message")
    assert times > 1000
    assert calls == 0
    assert "its own process" in result.out


def test_the_demo_prints_one_object_with_json(fake_demo):
    """Both runs in it."""
    result = fake_demo("--json", "--connections", "20", "--timeout", "200ms")
    result.prints(r'^\{"good":true,"runs":\[\{"good":true,"words":true,.*\},'
                  r'\{"good":true,"words":false,.*\}\]\}$')
    assert len(result.lines) == 1
