# SPDX-License-Identifier: GPL-2.0
"""What twheel plot draws, of scripts, recordings and tracepoints."""
import re
import xml.etree.ElementTree as ET

import pytest
from commands import cases

SVG = "{http://www.w3.org/2000/svg}"
BOTH = "arm 1 350ms\narm 2 450ms\nrun\n"

# Two timers of 300 ms and 310 ms, of which the second is pushed back and then cancelled, and one
# that is read late; as tracefs prints them.
EVENTS = """
100.000100 timer_arm: wheel=7 id=1 generation=1 cookie=0 deadline=5300000000 interval=0 tick=5300 level=1 slot=82 found=idle
100.000200 timer_arm: wheel=7 id=2 generation=1 cookie=0 deadline=5310000000 interval=0 tick=5310 level=1 slot=82 found=idle
100.000300 hrtimer_start: clock=1 expires=105300000000 late_ns=0
100.050000 timer_arm: wheel=7 id=2 generation=2 cookie=0 deadline=5900000000 interval=0 tick=5310 level=-1 slot=-1 found=pending
100.300150 hrtimer_fire: clock=1 expires=105300000000 late_ns=150000
100.300160 cascade: wheel=7 level=1 slot=82 timers=2 tick=5300
100.300165 timer_move: wheel=7 id=2 generation=2 deadline=5900000000 from=5310 tick=5900 level=1 slot=92
100.300170 timer_expire: wheel=7 id=1 generation=1 cookie=0 deadline=5300000000 late_ns=150000 unread_ns=20000 overruns=0
100.400000 timer_deliver: wheel=7 id=1 generation=1 cookie=0 deadline=5300000000 late_ns=150000 unread_ns=99850000 overruns=0
100.500000 timer_cancel: wheel=7 id=2 generation=2 cookie=0 deadline=5900000000 interval=0 tick=0 level=-1 slot=-1 found=pending
100.600000 timer_expire: wheel=8 id=3 generation=1 cookie=0 deadline=9999990000 late_ns=10000 unread_ns=0 overruns=0
""".strip().splitlines()

FORMS = {
    "tracefs": ("# tracer: nop\n#\n", "     twheel_timer_x-93      [001] d..2.   {} twheel_{}\n"),
    "trace-cmd": ("cpus=2\n", "          twheel-93    [001]   {} twheel_{}\n"),
    "perf": ("", "twheel    93 [001]   {} twheel:twheel_{}\n"),
}


def trace(form):
    """The events, as a tool prints them."""
    head, line = FORMS[form]
    return head + "".join(line.format(f"{time}:", rest)
                          for time, rest in (event.split(" ", 1) for event in EVENTS))


class Picture:
    """What is in an SVG."""

    def __init__(self, text):
        self.text = text
        self.root = ET.fromstring(text)

    def words(self):
        """All texts but the titles of bars."""
        return ["".join(e.itertext()) for e in self.root.iter(SVG + "text")]

    def bars(self):
        """The titles of bars, in their order."""
        return [e.find(SVG + "title").text for e in self.root.iter(SVG + "rect")
                if e.find(SVG + "title") is not None]

    def bar(self, title):
        """The bar whose title begins so."""
        return [e for e in self.root.iter(SVG + "rect")
                if e.find(SVG + "title") is not None
                and e.find(SVG + "title").text.startswith(title)][0]

    def count(self, pattern):
        """Elements that look so."""
        return len(re.findall(pattern, self.text))

    def boxes(self):
        """About where texts are: left, top, right, bottom."""
        for e in self.root.iter(SVG + "text"):
            size = float(e.get("font-size"))
            wide = 0.47 * size * len("".join(e.itertext()))
            x, y = float(e.get("x")), float(e.get("y"))
            anchor = {"end": 1, "middle": 0.5}.get(e.get("text-anchor"), 0)
            yield x - anchor * wide, y - 0.7 * size, x + (1 - anchor) * wide, y + 0.1 * size


@pytest.fixture(name="plot")
def fixture_plot(twheel):
    """Draws what it reads."""
    return lambda text, *options: Picture(twheel("plot", *options, stdin=text).good().out)


@pytest.fixture(name="recorded")
def fixture_recorded(twheel):
    """A recording of a script."""
    return lambda script, *options: twheel("sim", "--trace", "--json", *options,
                                           stdin=script).good().out


def test_a_timer_comes_down_from_level_to_level(plot):
    """A bar for each slot, and lines that lead down: two of these end in an arrow."""
    picture = plot(BOTH, "--as", "hierarchical")
    assert picture.bars() == [
        "timer 1, level 1, slot 17: 0 to 340ms, due 350ms",
        "timer 2, level 2, slot 1: 0 to 400ms, due 450ms",
        "timer 1, level 0, slot 10: 340ms to 350ms, due 350ms",
        "timer 2, level 1, slot 2: 400ms to 440ms, due 450ms",
        "timer 2, level 0, slot 10: 440ms to 450ms, due 450ms"]
    assert picture.count("l-3 -6h6z") == 3
    heights = [float(picture.bar(f"timer 2, level {level}").get("y")) for level in (2, 1, 0)]
    assert heights == sorted(heights)
    assert {"2: slot 1", "level 2", "slots of 400ms", "2 timers, 3 moved, 5 wake-ups"} <= \
        set(picture.words())


def test_systems_are_below_each_other_on_one_axis(plot):
    """In the order in which they are named."""
    picture = plot(BOTH, "--as", "linux", "--as", "twheel", "--as", "heap")
    assert [word for word in picture.words() if word in ("linux", "twheel", "heap")] == \
        ["linux", "twheel", "heap"]
    assert len([word for word in picture.words() if word == "400ms"]) == 1
    assert "in order" in picture.words()


def test_a_recording_gives_the_picture_of_its_script(plot, recorded):
    """What comes from the trace is all that there is."""
    script = "arm 1 35ms every 10ms times 3\narm 2 9ms\nat 5ms\ncancel 2\narm 3 700ms\nrun\n"
    assert plot(recorded(script)).text == plot(script).text


@cases("form", *FORMS)
def test_tracepoints_are_read_as_printed_by(plot, form):
    """Time counts from the first one; deadlines are told by the trace's clock."""
    picture = plot(trace(form), "--wheel", "7")
    assert picture.bars() == [
        "timer 1, level 1, slot 82: 0 to 300.07ms, due 299.9ms",
        "timer 2, level 1, slot 82: 100us to 300.065ms, due 899.9ms",
        "timer 2, level 1, slot 92: 300.065ms to 499.9ms, due 899.9ms"]
    assert {"1: slot 82, 150us late", "2: slot 92, cancelled", "hrtimer fired", "wheel 7",
            "2 timers, 1 moved, 1 hrtimer"} <= set(picture.words())
    # From when it was found until it was read.
    assert picture.count('stroke-dasharray="2 2"') == 1


def test_each_wheel_of_a_trace_is_drawn(plot):
    """A timer of which no arm is there has waited somewhere since the beginning."""
    picture = plot(trace("perf"))
    assert {"wheel 7", "wheel 8", "unknown place"} <= set(picture.words())
    assert picture.bars()[-1].startswith("timer 3, unknown place: ")


@cases(
    "script, system, words, colour, shape",
    ("arm 1 350ms\nrun\n", "twheel", "1: slot 5", "#15803d", "circle"),
    ("arm 1 350ms\nrun\n", "linux", "1: slot 44, 2ms late", "#c2410c", "l10 5l-10 5z"),
    ("arm 1 99s\nrun\n", "linux", "1: slot 25, 3.4s late", "#701a1a", "l14 7l-14 7z"),
    ("arm 1 350ms\nat 100ms\ncancel 1\n", "heap", "1, cancelled", "#64748b", "l8 8m0 -8l-8 8"),
)
def test_the_end_of_a_life_is_told_in_words_colour_and_shape(plot, script, system, words, colour,
                                                             shape):
    """Colour alone would not do."""
    picture = plot(script, "--as", system)
    label = [word for word in picture.words() if re.match(r"1[:,]", word)]
    assert label == [words]
    assert picture.bar("timer 1").get("stroke") == colour
    assert picture.count(shape + '[^>]*"' + colour + '"' if shape != "circle" else
                         f'<circle [^>]*r="4" fill="{colour}"') >= 1


def test_of_some_timers_no_label_covers_another(plot):
    """Of 16 timers that are armed at once."""
    script = "".join(f"arm {i} {23 * i * i}ms\n" for i in range(1, 17)) + "run\n"
    for system in "twheel", "hierarchical", "linux":
        picture = plot(script, "--as", system)
        boxes = list(picture.boxes())
        assert len(boxes) >= 30
        for i, a in enumerate(boxes):
            for b in boxes[i + 1:]:
                assert a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3], (a, b)


def test_a_hundred_timers_are_thin_bars(plot):
    """Without words, but each with its title."""
    script = "".join(f"arm {i} {1 + 37 * i}ms\n" for i in range(1, 101)) + "run\n"
    picture = plot(script, "--as", "hierarchical")
    assert len(picture.bars()) > 200
    assert len(picture.words()) < 40


def test_ten_thousand_timers_are_shaded_slots_and_counts(plot):
    """The same number of elements as of any such load, and their sums."""
    picture = plot("", "--load", "10000", "--as", "hierarchical", "--as", "linux")
    assert not picture.bars()
    assert len(picture.words()) < 100
    assert len(picture.text) < 600000
    words = picture.words()
    sums = {name: int(words[words.index(name) + 1].replace(",", ""))
            for name in ("armed", "moved", "cancelled", "on time")}
    assert sums["armed"] >= 10000
    assert sums["cancelled"] + sums["on time"] == 10000
    assert {"to 10 ms late", "to 100 ms late", "over 100 ms late", "slot 19"} <= set(words)


def test_one_timer_of_ten_thousand_is_drawn_by_itself(plot):
    """With its label."""
    picture = plot("", "--load", "10000", "--as", "hierarchical", "--id", "77")
    assert {bar.split(",")[0] for bar in picture.bars()} == {"timer 77"}
    assert [word for word in picture.words() if word.startswith("77: slot")]


def test_a_part_of_the_time_is_drawn_larger(plot):
    """What is not there is left out, and the axis says from when to when."""
    picture = plot(BOTH, "--as", "hierarchical", "--from", "395ms", "--to", "445ms")
    assert [bar.split(":")[0] for bar in picture.bars()] == [
        "timer 2, level 2, slot 1", "timer 2, level 1, slot 2", "timer 2, level 0, slot 10"]
    assert "400ms" in picture.words()
    assert "0" not in picture.words()


def test_a_period_is_a_life_of_its_own(plot):
    """Each begins where the one before has ended."""
    picture = plot("arm 7 20ms every 20ms times 3\nrun\n")
    assert [re.search(": (.*),", bar).group(1) for bar in picture.bars()] == [
        "0 to 20ms", "20ms to 40ms", "40ms to 60ms"]


def test_a_period_of_tracepoints_begins_when_the_event_is_read(plot):
    """Which files the timer for its next period; dotted lines and rings are explained."""
    event = "x-1 [000] ..... {} twheel_timer_{}: wheel=7 id=1 deadline={} {}\n".format
    picture = plot(
        event("1.0:", "arm", 1100000000, "level=0 slot=12") +
        event("1.05:", "arm", 1100000000, "level=0 slot=12") +
        event("1.1:", "expire", 1100000000, "late_ns=0 unread_ns=0") +
        event("1.2:", "deliver", 1100000000, "late_ns=0 unread_ns=100000000") +
        event("1.2:", "file", 2100000000, "tick=2100 level=1 slot=32") +
        event("2.1:", "expire", 2100000000, "late_ns=0 unread_ns=0"))
    assert [bar.split(", due")[0] for bar in picture.bars()] == [
        "timer 1, level 0, slot 12: 0 to 50ms", "timer 1, level 0, slot 12: 50ms to 100ms",
        "timer 1, level 1, slot 32: 200ms to 1.1s"]
    assert {"1 timer, 0 moved, 0 hrtimers", "filed again", "read"} <= set(picture.words())


def test_a_timer_with_a_word_is_where_it_is_filed(plot):
    """Its arm does not tell."""
    event = "x-1 [000] ..... {} twheel_timer_{}: wheel=7 id=1 deadline={} {}\n".format
    picture = plot(
        event("1.0:", "arm", 1100000000, "tick=0 level=-1 slot=-1") +
        event("1.0:", "file", 1100000000, "tick=1100 level=1 slot=17") +
        event("1.05:", "arm", 1060000000, "tick=1100 level=-1 slot=-1") +
        event("1.05:", "file", 1060000000, "tick=1060 level=0 slot=36"))
    assert [bar.split(", due")[0] for bar in picture.bars()] == [
        "timer 1, level 1, slot 17: 0 to 50ms", "timer 1, level 0, slot 36: 50ms to 50ms"]


def test_a_file_is_kept_if_there_is_no_picture(twheel, tmp_path):
    """As it was."""
    (tmp_path / "kept").write_text("old", "ascii")
    twheel("plot", "-o", tmp_path / "kept", "--from", "1h", stdin=BOTH).refused(1, "earlier time$")
    assert (tmp_path / "kept").read_text("ascii") == "old"


def test_output_goes_to_a_file(twheel, tmp_path):
    """And nothing to standard output."""
    result = twheel("plot", "--output", tmp_path / "plot.svg", stdin=BOTH).good()
    assert result.out == ""
    Picture((tmp_path / "plot.svg").read_text("utf-8"))


@cases("comment", "# expired timers come late", "# see twheel_arm: x", "# tracer: none here",
       "# x-1 [000] 1.000000: twheel_timer_arm: wheel=1 id=1 deadline=9 level=0 slot=0")
def test_a_comment_of_a_script_makes_it_no_recording(plot, comment):
    """Whatever it says."""
    assert plot(f"arm 1 350ms\n{comment}\nrun\n").text == plot("arm 1 350ms\nrun\n").text


def placed(ns=1, deadline=5, place='"slot"', slot=1, level=0):
    """A line of a recording."""
    return (f'{{"what":"placed","time_ns":{ns},"id":1,"deadline_ns":{deadline},"where":' +
            f'{{"place":{place},"level":{level},"slot":{slot}}}}}\n')


@cases(
    "case, line",
    ("a slot beyond all rings", placed(slot=3000000000)),
    ("the slot after the last ring", placed(slot=8192)),
    ("a level beyond all wheels", placed(level=65)),
    ("a time that is no ktime", placed(ns=18446744073709551000)),
    ("a deadline that is none", placed(deadline=1 << 63)),
    ("a slot of tracepoints", "a-1 [0] 1.0: twheel_timer_arm: wheel=1 id=3 deadline=1042000000 "
     "tick=21 level=0 slot=18446744073709551615\n"),
    ("a lateness that has no opposite", "a-1 [0] 1.0: twheel_timer_expire: wheel=1 id=3 "
     "deadline=1 late_ns=-9223372036854775808\n"),
)
def test_a_record_that_no_wheel_has_is_skipped(twheel, plot, line):
    """It is as if it were not there: alone there is nothing to draw."""
    good = placed() if line.startswith("{") else \
        "a-1 [0] 1.0: twheel_timer_arm: wheel=1 id=3 deadline=2 tick=2 level=0 slot=2\n"
    assert plot(good + line).text == plot(good).text
    twheel("plot", stdin=line, timeout=20).refused(1, "record it|standard input:1: ")


def test_a_place_that_is_null_is_the_queue(plot):
    """As is any other place that has no name here."""
    assert "queue" in plot(placed(place="null")).words()


def test_slots_that_no_wheel_has_are_unknown(plot):
    """The picture is that of the recording without its shape."""
    shape = '{"what":"counters","system":"","tick_ns":1,"slots":2147483648}\n'
    assert plot(shape + placed()).text == plot(placed()).text


def test_the_axis_ends_with_the_last_time_that_there_is(plot):
    """The records are in any order."""
    first, last = placed(ns=1000), placed(ns=(1 << 63) - 1)
    assert "level 0" in plot(first + last).words()
    assert plot(last + first).words()[-1] == plot(first + last).words()[-1]


def test_a_timer_that_a_later_list_does_not_have_ends_there(plot):
    """Without a mark, because it is not known how."""
    event = "twheel-0 [000] ..... {} twheel_{}: wheel=7 id={} deadline={} level=0 slot=52\n".format
    picture = plot("# twheel-top: tick=1000000 slots=64 ahead=0\n" +
                   "".join(event("1.0:", "timer_arm", i, 5000000000) for i in (1, 2)) +
                   event("2.0:", "list", 0, 0) + event("2.0:", "timer_arm", 2, 5000000000) +
                   event("3.0:", "timer_cancel", 2, 5000000000))
    assert [bar.split(", due")[0] for bar in picture.bars()] == [
        "timer 1, level 0, slot 52: 0 to 1s", "timer 2, level 0, slot 52: 0 to 1s",
        "timer 2, level 0, slot 52: 1s to 2s"]
    # And one in the legend.
    assert picture.count("l8 8m0 -8l-8 8") == 2


@cases(
    "case, text, options, status, message",
    ("a trace for people", " 0 armed 1 due 3ms\n", "", 1, "standard input:1: 0: no such operation"),
    ("a record without a kind", '{"what":null}\n', "", 1, "it has no places of timers"),
    ("a recording without places", '{"what":"expired","time_ns":1,"id":1,"deadline_ns":1}\n', "", 1,
     "it has no places of timers: record it with twheel sim --trace --json$"),
    ("a trace without events", "# tracer: nop\n", "", 1, "trace-cmd record -e twheel$"),
    ("an empty script", "", "", 1,
     "it arms no timer: write lines such as arm 1 350ms and run$"),
    ("a script that is refused", "arm 1 5ms\nrun\n", "--as keys", 1,
     "keys refuses all timers: see twheel sim --trace, and give another --tick$"),
    ("a recording that was cut", '{"what":"placed","time_ns":0,"id":4,\n', "", 1,
     "a line is cut: .*: record the wheel again$"),
    ("what is no script", "fly 1\n", "", 1, "standard input:1: fly: no such operation"),
    ("an id that is not there", BOTH, "--id 9", 1, "leave out --id and --wheel$"),
    ("options of a script", trace("perf"), "--as heap", 2,
     "it is a recording: leave out --as and the options of a script$"),
    ("a null byte", trace("perf") + "\0\n", "", 1, "there is a null byte in it$"),
    ("a last line that was cut", trace("perf")[:-9], "", 1,
     "the last line is cut: record the wheel again$"),
    ("a span after the end", BOTH, "--from 1h", 1, "ends at 4[0-9.]*ms: give an earlier time$"),
    ("a span that ends before it begins", BOTH, "--from 2s --to 1s", 2, "give a later time$"),
    ("a file that is not there", "", "/no/such/file", 1, "give a script or a recording, or -"),
    ("a file that can't be written", BOTH, "-o /no/such/file", 1,
     "give a file that can be written$"),
    ("two files", "", "a b", 2, "there is a script already"),
)
def test_refuses(twheel, text, options, status, message):
    """In one line that says what to do."""
    twheel("plot", *options.split(), stdin=text).refused(status, message)
