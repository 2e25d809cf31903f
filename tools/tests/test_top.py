# SPDX-License-Identifier: GPL-2.0
"""What twheel top shows: on terminals of tmux, whose screens are compared."""
import os
import re
import shlex
import shutil
import signal
import time

import pytest
from commands import cases, program, run, until

BOTH = "arm 1 350ms\narm 2 450ms\nrun\n"


class Screen:
    """A program on a terminal of tmux."""

    def __init__(self, folder, *command, columns=80, lines=24, before=":", shell="", **env):
        self.socket = folder / "tmux"
        (folder / "tmux.conf").write_text("set -g remain-on-exit on\n", "ascii")
        words = [f"{key}={value}" for key, value in {"TERM": "vt100", **env}.items()]
        line = shlex.join(str(word) for word in ("env", "-u", "NO_COLOR", *words, *command))
        self.tmux("-f", folder / "tmux.conf", "new-session", "-d", "-x", columns, "-y", lines,
                  f"{before}; exec {line} {shell}")

    def tmux(self, *words):
        """Runs tmux, and returns what it prints."""
        return run("tmux", "-S", self.socket, *words).good().out

    def screen(self, *options):
        """The lines on it, without blanks at their ends."""
        return [line.rstrip() for line in self.tmux("capture-pane", "-p", *options).split("\n")]

    def shows(self, pattern):
        """Waits until it shows that; returns all lines."""
        until(lambda: re.search(pattern, "\n".join(self.screen()), re.MULTILINE))
        return self.screen()

    def press(self, *keys):
        """One key after the other."""
        self.tmux("send-keys", *keys)

    def end(self):
        """Nothing is left."""
        run("tmux", "-S", self.socket, "kill-server")


@pytest.fixture(name="top")
def fixture_top(tmp_path):
    """Shows a script, or another file, on a terminal."""
    if not shutil.which("tmux"):
        pytest.skip("there is no tmux")
    terminals = []

    def top(text, *options, twheel="twheel", **more):
        (tmp_path / "file").write_text(text, "utf-8")
        file = [tmp_path / "file"] if text else []
        terminals.append(Screen(tmp_path, program(twheel), "top", *options, *file, **more))
        return terminals[-1]

    yield top
    for terminal in terminals:
        terminal.end()


HEAD = "level of  slots: . none, 1-9, x from 10, X 100, # 1000, @ 10000; ^ hand   timers"
KEYS = "space: pause   s: step   + -: speed   r: from the beginning   q: quit"


def of_screen(lines):
    """A screen of 24 lines: those that are not empty, and the keys at the bottom."""
    assert lines[23] == KEYS
    return [line for line in lines[:23] if line]


def test_a_timer_comes_down_step_by_step(top):
    """The screens of the first three steps, and of the end."""
    terminal = top(BOTH, "--pause", "--as", "hierarchical")
    none = "in a second: armed 0, moved 0, expired 0, cancelled 0, woken 0"
    assert of_screen(terminal.shows("paused")) == [
        "twheel top: hierarchical                                      0, speed 1, paused",
        "armed 0", none, "late at most 0:", HEAD]
    terminal.press("s")
    assert of_screen(terminal.shows("^armed 2")) == [
        "twheel top: hierarchical                                      0, speed 1, paused",
        "armed 2, next due in 350ms", none, "late at most 0:", HEAD,
        " 2  400ms .1..................                                                 1",
        "          ^",
        " 1   20ms .................1..                                                 1",
        "          ^",
        " 0        ....................                                                 0",
        "          ^"]
    terminal.press("s")
    assert of_screen(terminal.shows("^ 0    1ms")) == [
        "twheel top: hierarchical                                  340ms, speed 1, paused",
        "armed 2, next due in 10ms", none, "late at most 0:", HEAD,
        " 2  400ms .1..................                                                 1",
        "          ^",
        " 1   20ms ....................                                                 0",
        "                           v",
        " 0    1ms ..........1.........                                                 1",
        "          ^         *",
        "         340ms  level 1, slot 17 (v) to level 0, slot 10 (*): 1 timer"]
    terminal.press("s")
    assert "late at most 0:  on time 1" in terminal.shows("^armed 1")
    terminal.press(*"ssss")
    assert of_screen(terminal.shows("at the end"))[-3:] == [
        "         440ms  level 1, slot 2 (v) to level 0, slot 10 (*): 1 timer",
        "         400ms  level 2, slot 1 to level 1, slot 2: 1 timer",
        "         340ms  level 1, slot 17 to level 0, slot 10: 1 timer"]


def test_the_space_bar_pauses_and_goes_on(top):
    """The clock stands, and then it comes to the end."""
    terminal = top("arm 1 1h\nrun\n", "--pause")
    terminal.shows("paused")
    terminal.press("s")
    paused = terminal.shows("speed 256, paused")
    assert paused == terminal.screen()
    terminal.press("Space", *"++++")
    terminal.shows(r" 1h, speed 4096, at the end$")


def test_plus_and_minus_change_the_speed(top):
    """By halves."""
    terminal = top(BOTH, "--pause")
    terminal.shows("speed 1, paused")
    terminal.press("+", "+")
    terminal.shows("speed 4, paused")
    terminal.press("-", "-", "-")
    terminal.shows("speed 1/2, paused")


def test_a_recording_of_hours_is_shown_within_seconds(top):
    """Its speed is chosen."""
    assert top("arm 1 3h\nrun\n").shows(r"speed 1024, running$")


def test_records_in_any_order_come_to_an_end(top):
    """The end is the latest time."""
    record = '{{"what":"placed","time_ns":{},"id":{},"deadline_ns":9000000000,"where":' \
        '{{"place":"slot","level":0,"slot":3}}}}\n'
    text = record.format(8000000000, 1) + record.format(9000000000, 1) + record.format(1000, 2)
    assert top(text).shows("at the end$")[1] == "armed 2, next due in 0"


def test_slots_that_no_wheel_has_are_those_seen(top):
    """The ring grows to the slot."""
    text = ('{"what":"counters","system":"twheel","tick_ns":1,"slots":2147483648}\n' +
            '{"what":"placed","time_ns":0,"id":1,"deadline_ns":5,' +
            '"where":{"place":"slot","level":1,"slot":3}}\n')
    top(text).shows(r"^ 1 +\.\.\.1 +1$")


def test_a_list_takes_the_place_of_what_was_known(top):
    """Timers that it does not have are gone, without being counted."""
    event = "twheel-0 [000] ..... {} twheel_{}: wheel=7 id={} deadline=9000000000 {}\n".format
    terminal = top("# twheel-top: tick=1000000 slots=64 ahead=0\n" +
                   "".join(event("1.0:", "timer_arm", i, "level=0 slot=5") for i in range(9)) +
                   event("2.0:", "list", 0, "") + event("2.0:", "timer_arm", 3, "level=0 slot=7"),
                   "--pause")
    terminal.press("s")
    terminal.shows("^armed 9")
    terminal.press("s")
    terminal.shows("^armed 1, ")
    terminal.shows(r"^ 0 +\.{3}1\.+ +1$")


def test_the_next_period_of_a_timer_waits_in_its_slot(top):
    """From when the event of the last one was read."""
    event = "twheel-0 [000] ..... {} twheel_timer_{}: wheel=7 id=1 deadline=9000000000 {}\n".format
    terminal = top("# twheel-top: tick=1000000 slots=64 ahead=0\n" +
                   event("1.0:", "expire", "late_ns=0 unread_ns=0") +
                   event("1.2:", "file", "tick=9000 level=1 slot=13"), "--pause")
    terminal.press("s", "s")
    terminal.shows("^armed 1, ")
    terminal.shows(r"^ 1 +\.{6}1\.+ +1$")


def test_rates_of_a_short_recording_are_those_of_all_of_it(top):
    """At its end."""
    top("arm 1 350ms\narm 2 450ms\nrun\n", "--as", "simple").shows(
        "^in a second: armed 4, moved 0, expired 4, cancelled 0, woken 1000$")


def test_a_wheel_that_a_recording_does_not_have(tmp_path):
    """It is told in one line."""
    (tmp_path / "file").write_text("x-1 [000] 1.0: twheel_timer_arm: wheel=7 id=1 deadline=9\n")
    run(program("twheel"), "top", "--wheel", "4", tmp_path / "file").refused(
        1, "^twheel top: --wheel 4: the recording has no such wheel: give one of its wheels$")


def test_r_begins_again(top):
    """With an empty wheel."""
    terminal = top(BOTH, "--pause")
    terminal.press(*"ssss")
    terminal.shows("at the end")
    terminal.press("r")
    terminal.shows("^armed 0$")


def test_q_quits_and_leaves_the_terminal_as_it_was(terminal):
    """With exit status 0."""
    top = terminal(program("twheel"), "top", "--load", "9", "--pause").shows("quit")
    os.write(top.fd, b"q")
    until(top.has_ended)
    assert top.child.returncode == 0
    assert top.is_as_before()


def test_slots_are_shaded_by_how_full_they_are(top):
    """With other signs, and in bold and reverse."""
    script = "".join(f"arm {i} {at}ms\n" for i, at in enumerate(
        [10] * 9 + [20] * 10 + [30] * 99 + [40] * 100 + [50] * 1000))
    terminal = top(script, "--as", "simple", "--slots", "64")
    assert (" 0    1ms ..........9.........x.........x.........X.........#............." +
            "  1218") in terminal.shows("^armed 1218")
    text = terminal.tmux("capture-pane", "-p", "-e")
    assert re.search("\x1b\\[[0-9;]*1m[^\x1b]*X", text)
    assert re.search("\x1b\\[[0-9;]*7m[^\x1b]*#", text)


@cases("case, env, coloured", ("a colour terminal", {"TERM": "screen-256color"}, True),
       ("NO_COLOR", {"TERM": "screen-256color", "NO_COLOR": "1"}, False),
       ("a vt100", {"TERM": "vt100"}, False))
def test_colours_are_for(top, env, coloured):
    """And nothing but colours differs."""
    terminal = top(BOTH, "--pause", **env)
    terminal.press("s")
    lines = terminal.shows("^armed 2")
    assert " 1   64ms ..11" in "\n".join(lines)
    text = terminal.tmux("capture-pane", "-p", "-e")
    assert bool(re.search("\x1b\\[[0-9;]*3[0-7]m", text)) == coloured


def test_a_terminal_of_another_size_has_room_for_other_slots(top):
    """Of 128 slots four are a cell in 60 columns."""
    terminal = top(BOTH, "--pause", columns=60, lines=16)
    terminal.press("s")
    terminal.shows(r"^ 1   64ms \.2\.{30} +2$")


def test_levels_without_room_are_counted(top):
    """Of three levels two are on a terminal of 12 lines."""
    terminal = top(BOTH, "--pause", "--as", "hierarchical", lines=12)
    terminal.press("s")
    assert terminal.shows("^armed 2")[9] == "1 level not shown"


def test_lines_are_cut_on_a_narrow_terminal(top):
    """None goes on in the next one."""
    terminal = top(BOTH, "--as", "hierarchical", columns=40, lines=20)
    lines = terminal.shows("^in a second: armed 4, moved 7, expired 4$")
    assert lines[3:5] == ["late at most 0:  on time 2",
                          "level of  slots: . none, 1-9, x frtimers"]
    assert lines[12] == "         400ms  level 2, slot 1 to level"


def test_a_small_terminal_is_told(top):
    """It shows nothing else."""
    top(BOTH, columns=30, lines=10).shows("twheel top needs 40\ncolumns and 12 lines.")


def test_a_script_from_standard_input(tmp_path, top):
    """The keys come from the terminal then."""
    (tmp_path / "script").write_text(BOTH, "ascii")
    terminal = top("", "--pause", "-", shell=f"<{tmp_path}/script")
    terminal.press("s")
    terminal.shows("^armed 2")
    terminal.press("q")
    until(lambda: terminal.tmux("list-panes", "-F", "#{pane_dead}") == "1\n")


def test_tracepoints_are_replayed(top):
    """Of the wheel that comes first; the line of --record tells its shape."""
    event = "x-1 [000] d..2. {} twheel_timer_{}: wheel={} id={} deadline={} {}\n".format
    terminal = top(
        "# twheel-top: tick=1000000 slots=64 ahead=-95000000000\n" +
        event("100.0:", "arm", 7, 1, 5300000000, "tick=5300 level=1 slot=82") +
        event("100.0:", "arm", 8, 1, 5300000000, "tick=5300 level=0 slot=1") +
        event("100.3:", "move", 7, 1, 5300000000, "tick=5300 level=0 slot=52") +
        event("100.30017:", "expire", 7, 1, 5300000000, "late_ns=150000 unread_ns=0"),
        "--pause", "--replay")
    terminal.press("s")
    lines = terminal.shows("^armed 1, next due in 300ms")
    assert re.fullmatch("twheel top: wheel 7 {43}0, speed 1, paused", lines[0])
    # The hand: 5,000 ticks are 78 slots of 64, and two slots are a cell.
    at = lines.index(" 1        " + "." * 41 + "1" + "." * 22 + "     1")
    assert lines[at + 1] == " " * (10 + 39) + "^"
    terminal.press("s", "s")
    terminal.shows("^late at most 150us:  <1ms 1$")


def test_a_wheel_that_may_not_be_traced_is_listed(top, proc):
    """Timers are in the places that their deadlines tell."""
    proc.wheel("self", 0, "twheel", 7, pending=1000, expired=3)
    terminal = top("", "--fd", "0", twheel="fake-twheel", before=f"ln -s self {proc.folder}/$$",
                   FAKE_TIMERS="20", FAKE_PROC=proc.folder)
    lines = terminal.shows("listed each second$")
    assert lines[1].startswith("armed 1000, expired and unread 3")
    assert lines[5].startswith(" 0        ....11222212221.") and lines[5].endswith(" 18")
    assert "unknown place 982" in lines


def test_what_a_paused_screen_does_not_show_is_not_kept(top, proc, tmp_path):
    """A list of 72,000 timers waits, and no other one is read meanwhile."""
    proc.wheel("self", 0, "twheel", 7)
    terminal = top("", "--fd", "0", "--pause", "--record", tmp_path / "record",
                   twheel="fake-twheel", before=f"ln -s self {proc.folder}/$$",
                   FAKE_TIMERS="80000", FAKE_PROC=proc.folder)

    def lists():
        return (tmp_path / "record").read_text("ascii").count("twheel_list")

    terminal.shows("paused$")
    until(lambda: lists() == 2)
    # Two intervals, in which others would come.
    time.sleep(2.2)
    assert lists() == 2
    terminal.press("Space")
    until(lambda: lists() == 3)


def test_the_rates_of_a_live_wheel_are_those_of_real_time(top, proc):
    """They are shown while the clock stands, too."""
    proc.wheel("self", 0, "twheel", 7, arms=1000)
    terminal = top("", "--fd", "0", "--pause", twheel="fake-twheel",
                   before=f"ln -s self {proc.folder}/$$", FAKE_TIMERS="20", FAKE_PROC=proc.folder)
    terminal.shows("^in a second: armed 0, .*")
    info = proc.folder / "self" / "fdinfo" / "0"
    info.write_text(info.read_text("ascii").replace("arms:\t1000", "arms:\t6000"), "ascii")
    lines = terminal.shows("^in a second: armed [1-9]")
    assert 1000 < int(re.search(r"armed (\d+)", lines[2])[1]) <= 5000


@cases("name", "SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT")
def test_a_signal_ends_it_in_order(terminal, name):
    """As q does."""
    top = terminal(program("twheel"), "top", "--load", "9", "--pause").shows("quit")
    assert not top.is_as_before()
    assert top.end(getattr(signal, name)) == 0
    assert top.is_as_before()


@cases(
    "options, status, message",
    ("--load 9", 1, "standard output is not a terminal: use twheel plot, or twheel watch$"),
    ("--load 9 --pid 1", 2, "give no file with them$"),
    ("--load 9 --record x", 2, "a script is recorded with twheel sim --trace --json$"),
    ("--as heap", 2, "are for a script: give one, or - for standard input$"),
    ("--as heap --as list --load 9", 2, "one system can be shown: give it once$"),
    ("--replay x y", 2, "there is y already: give one$"),
    ("--replay /no/such/file", 1, "give a script or a recording"),
)
def test_refuses(twheel, options, status, message):
    """In one line that says what to do."""
    twheel("top", *options.split()).refused(status, message)


def test_an_unknown_terminal_is_told(top):
    """With one that most know."""
    terminal = top(BOTH, TERM="no-such-terminal")
    until(lambda: re.search("twheel top: TERM=no-such-terminal: .*: try TERM=vt100",
                            terminal.tmux("capture-pane", "-p", "-S", "-5")))
