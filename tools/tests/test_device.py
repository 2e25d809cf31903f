# SPDX-License-Identifier: GPL-2.0
"""The command twheel and the demo on the real device.  Wants to be root, with the module loaded
and no other wheel open.

What comes with --json is kept by verb in the folder $TWHEEL_JSON, for test_json.py."""
import json
import os
import pathlib
import re
import signal
import subprocess

import pytest
from commands import Result, cases, full_disk, program, run, start, until, usage, verbs

pytestmark = pytest.mark.skipif(not os.access("/dev/twheel", os.R_OK | os.W_OK),
                                reason="there is no /dev/twheel")


def kept(*command, **options):
    """Runs a command, and keeps what comes with --json."""
    result = run(*command, **options)
    if "--json" in command and "TWHEEL_JSON" in os.environ:
        folder = pathlib.Path(os.environ["TWHEEL_JSON"])
        folder.mkdir(parents=True, exist_ok=True)
        verb = "demo" if command[0] == "twheel-demo" else command[1]
        with (folder / verb).open("a", encoding="ascii") as file:
            file.write(result.out)
    return result


def twheel(*words, **options):
    """twheel, as it is in PATH."""
    return kept("twheel", *words, **options)


def as_nobody(command):
    """The same by a user without rights."""
    return run("su", "-s", "/bin/sh", "nobody", "-c", command)


class Holder:
    """Another process with a wheel."""

    def __init__(self, *command, **options):
        self.child = start(*command, **{"stdout": subprocess.PIPE, **options})
        self.pid = self.child.pid

    def counter(self, key):
        """A counter of its wheel, or None as long as it has none."""
        result = run("twheel", "stat", "--pid", self.pid, "--json")
        found = re.search(f'"{key}":(\\d+)', result.out)
        return found and int(found.group(1))

    def reaches(self, key, value):
        """Waits until a counter has a value."""
        until(lambda: self.counter(key) == value)
        return self

    def end(self):
        """Ends the process, however it stands."""
        if self.child.poll() is None:
            self.child.kill()
        return self.child.communicate(timeout=10)


@pytest.fixture(name="hold")
def fixture_hold():
    """Starts processes that hold wheels until the test ends."""
    holders = []

    def hold(*command, **options):
        holders.append(Holder(*command, **options))
        return holders[-1]

    yield hold
    for holder in holders:
        holder.end()


@pytest.fixture(name="held")
def fixture_held(hold):
    """A process with two timers, ids 3 and 4, for hours."""
    line = "twheel arm --id 3 --every 1m --times 5 --cookie 99 --slack 5ms 2h 1h30m"
    return hold(*line.split()).reaches("pending", 2)


# --- the command line ---

@cases(
    "line, status, pattern",
    ("twheel", 2, "say what to do"),
    ("twheel frobnicate", 2, "no such verb"),
    ("twheel --frobnicate", 2, "no such option"),
    ("twheel arm", 2, "say when"),
    ("twheel arm 90", 2, "needs a unit"),
    ("twheel arm 1x", 2, "unknown unit"),
    ("twheel arm -- -1s", 2, "negative"),
    ("twheel arm 30m1h", 2, "out of order"),
    ("twheel arm 300000d", 2, "292 years"),
    ("twheel arm 0.5ns", 2, "finer than a nanosecond"),
    ("twheel arm --frobnicate 1s", 2, "no such option"),
    ("twheel arm -5ms", 2, "^twheel arm: -5ms: no such option"),
    ("twheel arm 1s --id", 2, "its argument is wrong"),
    ("twheel arm --id x 1s", 2, "give a number"),
    ("twheel arm --id 65536 1s", 2, "give it --capacity 65537"),
    ("twheel arm --times 3 1s", 2, "needs --every"),
    ("twheel arm --clock sundial 1s", 2, "unknown clock"),
    ("twheel arm --tick 2s 1s", 2, "from 1ns to 1s"),
    ("twheel list everything", 2, "takes no arguments"),
    ("twheel doctor everything", 2, "takes no arguments"),
    ("twheel stat --pid 1 --fd 3", 2, "give one of them"),
    ("twheel stat --output /tmp/x", 2, "give both"),
    ("twheel list --state idle", 2, "is pending or expired"),
    ("twheel list --sort size", 2, "use id, remaining"),
    ("twheel get", 2, "say which"),
    ("twheel watch --interval 1ms", 2, "at least 10ms"),
    ("twheel-demo --connections 0", 2, "give a number"),
    ("twheel list --pid SELF", 1, "has no wheel open"),
    ("twheel stat --pid 4194304", 1, "no process"),
    ("twheel watch", 1, "no wheel is open"),
    ("twheel list --fd 0", 1, "not a wheel"),
)
def test_refuses(line, status, pattern):
    """In one line."""
    run(*line.replace("SELF", str(os.getpid())).split()).refused(status, pattern)


def test_help_names_the_verbs():
    """Below how the command is used."""
    assert re.match(r"Usage: twheel \[OPTION", usage("twheel"))
    assert len(verbs()) >= 6


@cases("verb", *verbs())
def test_help_shows_how_it_is_used_in_lines_that_run(verb, hold):
    """As they stand, but for the process."""
    text = usage("twheel", verb)
    assert re.match(rf"Usage: twheel {verb} \[OPTION", text)
    holder = hold("twheel", "arm", "1h").reaches("pending", 1)
    lines = re.findall(rf"^  ((?:printf .* \| )*twheel {verb}(?: .*)*)$", text, re.MULTILINE)
    assert lines
    result = run("sh", "-ec", "\n".join(lines).replace("1234", str(holder.pid)))
    if verb == "top":
        result.refused(1, "standard output is not a terminal")
        return
    # Whether all is well in this guest is what test_doctor.py asks.
    assert result.status == 0 or verb == "doctor"
    assert result.out


def test_version_tells_the_abi():
    """In one line."""
    twheel("--version").prints(r"^twheel [0-9.]+ \(ABI [0-9]+\)$")


@cases(
    "line",
    "twheel --version",
    "twheel arm --help",
    "twheel features",
    "twheel features --json",
    "twheel doctor",
    "twheel doctor --json",
    "twheel arm --every 10ms 10ms",
    "twheel arm --every 10ms 10ms --json",
)
def test_a_full_disk_ends(line):
    """With an error, also what would go on for ever."""
    full_disk(*line.split())


@cases("name", "twheel", "twheel-demo")
def test_no_message_sends_anybody_to_a_source_tree(name):
    """What was installed is in none."""
    binary = pathlib.Path(program(name)).read_bytes()
    assert not re.search(b"make load|insmod", binary)


# --- doctor, sim, features ---

def test_doctor_prints_json():
    """Whether all is well or not."""
    result = twheel("doctor", "--json")
    assert result.status <= 1
    assert re.match(r'\{"good":(true|false),"checks":\[\{"what":"kernel","verdict":"ok"',
                    result.out)


def test_sim_prints_json(tmp_path):
    """An event among it."""
    script = tmp_path / "script"
    script.write_text("arm 1 450ms\nrun\n", encoding="ascii")
    twheel("sim", "--json", "--trace", script).prints('"what":"expired","time_ns":450000000,')


def test_features_names_the_clocks():
    """Two at least."""
    twheel("features").prints("^  clocks +monotonic, boottime")


def test_features_prints_json():
    """One object, limits at its end."""
    twheel("features", "--json").prints(
        r'^\{"abi":[0-9]+,"clocks":\["monotonic","boottime".*"max_user_wheels":[0-9]+\}$')


# --- arm ---

def test_arm_prints_events_in_the_order_of_their_deadlines():
    """Below a head of two lines."""
    result = twheel("arm", "150ms", "50ms", "0.1s")
    assert result.status == 0
    assert [line.split()[-1] for line in result.lines[2:]] == ["50ms", "100ms", "150ms"]


@cases(
    "line, pattern",
    ("arm 0", " 0$"),
    ("arm --clock boottime --tick 10ms --slack 20ms --capacity 100 30ms", " 30ms$"),
    ("arm --clock realtime 10ms", " 10ms$"),
    ("arm --id 70000 --capacity 70001 1ms", " 70000 "),
)
def test_the_event_comes_of(line, pattern):
    """Due at once; a wheel of one's own making; by CLOCK_REALTIME; with room for larger ids."""
    twheel(*line.split()).prints(pattern)


def test_arm_prints_json():
    """Two lines of what was armed, two events; none is early: deadline <= fired <= read."""
    result = twheel("arm", "--json", "--id", "7", "--cookie", "0xffffffffffffffff", "20ms", "10ms")
    result.prints('"what":"expired","id":7,"generation":[0-9]*,"cookie":18446744073709551615,',
                  '"what":"expired","id":8,.*"last":true}$')
    assert len(re.findall('^{"what":"[a-z]*",.*}$', result.out, re.MULTILINE)) == 4
    events = [event for event in map(json.loads, result.lines) if event["what"] == "expired"]
    assert len(events) == 2
    for event in events:
        assert 0 < event["deadline_ns"] <= event["fired_ns"] <= event["read_ns"]


def test_arm_every_ends_after_the_last():
    """Expirations in between may be one event."""
    result = twheel("arm", "--every", "100ms", "--times", "3", "10ms", "--json")
    assert result.status == 0
    assert result.out.count('"last":false') <= 2
    assert result.out.count('"last":true') == 1


# --- another process's wheel ---

def test_stat_tells_setup_and_counters(held):
    """How late events were found as well; no event is waited for."""
    twheel("stat", "--pid", held.pid).prints(
        "^  tick +1ms$", "^  capacity +65,536 ", "^  pending +2$", "^  its time +[0-9.]+[a-z]",
        "^  words +none$", "^  events +0$")


def test_stat_tells_for_how_long_none_is_due(held):
    """A level comes down before the timer is due."""
    twheel("stat", "--pid", held.pid).prints("^  none due for +(1h|[0-9]+m)[0-9smh.]*$")


def test_stat_of_a_process_prints_json(held):
    """Which wheel, its setup, its counters."""
    twheel("stat", "--pid", held.pid, "--json").prints(
        rf'^\{{"pid":{held.pid},"fd":[0-9]+,"comm":"twheel","number":[0-9]+,'
        r'"setup":\{.*"stats":\{.*\}\}$')


def test_stat_finds_the_wheel_of_another_process(held):
    """In a row."""
    twheel("stat").prints(f"^ *{held.pid} +[0-9]+ +twheel +2 ")


def test_stat_finds_the_wheel_of_another_process_and_prints_json(held):
    """In an object."""
    twheel("stat", "--json").prints(
        rf'^\{{"pid":{held.pid},"fd":[0-9]+,"comm":"twheel",.*"pending":2,.*\}}$')


@pytest.mark.usefixtures("held")
def test_stat_prints_metrics():
    """Of the wheels of all processes."""
    result = twheel("stat", "--prometheus")
    assert {'twheel_wheels{comm="twheel"} 1', 'twheel_pending_timers{comm="twheel"} 2',
            "twheel_unseen_processes 0"} <= set(result.lines)
    assert re.search(r'^twheel_next_due_seconds\{comm="twheel"\} [1-9][0-9]*\.[0-9]{9}$',
                     result.out, re.MULTILINE)


@pytest.mark.usefixtures("held")
def test_stat_writes_metrics_to_a_file(tmp_path):
    """And nothing to standard output."""
    path = tmp_path / "twheel.prom"
    result = twheel("stat", "--prometheus", "--output", path)
    assert (result.status, result.out) == (0, "")
    assert 'twheel_late_seconds_count{comm="twheel"} 0' in path.read_text("ascii").splitlines()


@pytest.mark.usefixtures("held")
def test_list_finds_the_only_wheel_and_tells_the_remaining_time():
    """A row for each timer, and a sum."""
    twheel("list").prints(
        r"^ +3 +1 +pending +(2h|1h59m[0-9.]*s?) +1m +5 +5ms +0 +99$",
        r"^ +4 +1 +pending +1h(30m|29m[0-9.]*s?) ",
        "^2 pending, 0 expired$")


def test_list_prints_json(held):
    """An object for each timer."""
    result = twheel("list", "--pid", held.pid, "--json")
    assert len(re.findall('^{"id":[34],.*"state":"pending","count":5,"cookie":99,.*}$',
                          result.out, re.MULTILINE)) == 2


def test_list_finds_the_timer_that_is_due_next(held):
    """The first one by the time that remains."""
    result = twheel("list", "--pid", held.pid, "--json", "--sort", "remaining", "--limit", "1")
    assert len(result.lines) == 1
    assert result.out.startswith('{"id":4,')


def test_list_shows_what_all_options_allow(held):
    """One of the two."""
    line = f"list --pid {held.pid} --within 100m --state pending --periodic --id 0-4"
    twheel(*line.split()).prints("^1 pending, 0 expired$")


def test_get_tells_all_about_a_timer(held):
    """A line for each member."""
    twheel("get", "--pid", held.pid, "3").prints("^  state +pending$", "^  left +5  expirations$")


def test_get_prints_json(held):
    """One object."""
    twheel("get", "--pid", held.pid, "3", "--json").prints(r'^\{"id":3,.*"overruns":0\}$')


def test_get_tells_that_a_timer_is_not_armed(held):
    """It is idle."""
    twheel("get", "--pid", held.pid, "9").prints("^  state +idle$")


def test_get_refuses_an_id_out_of_range(held):
    """As the kernel does."""
    twheel("get", "--pid", held.pid, "70000").refused(1, "out of its range")


def test_list_takes_a_process_and_its_file_descriptor(held):
    """Which stat tells."""
    twheel("list", "--pid", f"{held.pid}:{held.counter('fd')}").prints("^2 pending")


@cases("fd, pattern", (0, "is not a wheel"), (987, "has no file descriptor"))
def test_list_refuses_a_file_descriptor(held, fd, pattern):
    """Another file's, and none."""
    twheel("list", "--pid", f"{held.pid}:{fd}").refused(1, pattern)


def test_watch_prints_a_line_each_interval(held):
    """Pending and expired first."""
    result = twheel("watch", "--pid", held.pid, "--interval", "100ms", "--count", "3")
    assert result.status == 0
    assert len(re.findall("^ +2 +0 ", result.out, re.MULTILINE)) == 3


def test_watch_prints_json(held):
    """An object each interval."""
    result = twheel("watch", "--pid", held.pid, "--interval", "50ms", "--count", "2", "--json")
    assert len(re.findall('^{"pending":2,.*"fired_per_s":0,.*}$', result.out, re.MULTILINE)) == 2


@cases("line", "watch --interval 50ms", "list", "stat --json")
def test_a_full_disk_ends_what_looks_at_a_wheel(held, line):
    """With an error."""
    full_disk("twheel", *line.split(), *(["--pid", held.pid] if "watch" in line else []))


def test_watch_ends_with_the_process_without_waiting_for_the_interval(hold):
    """With status 0, or else a line that says why."""
    holder = hold("twheel", "arm", "1h").reaches("pending", 1)
    watcher = hold("twheel", "watch", "--pid", holder.pid, "--interval", "1h",
                   stderr=subprocess.PIPE)
    holder.end()
    _, err = watcher.child.communicate(timeout=20)
    assert watcher.child.returncode == 0 or err.count("\n") == 1


def test_watch_does_not_go_over_to_another_wheel_of_the_same_number(hold, tmp_path):
    """The descriptor is another wheel's from some time on."""
    go = tmp_path / "go"
    os.mkfifo(go)
    script = 'exec 5<>/dev/twheel; read -r _ <"$1"; exec 5<>/dev/twheel; sleep 100'
    holder = hold("sh", "-c", script, "sh", go)
    holder.reaches("pending", 0)
    watcher = hold("twheel", "watch", "--pid", holder.pid, "--interval", "20ms", "--count", "500")
    until(lambda: "PENDING" in watcher.child.stdout.readline())
    go.write_text("\n", encoding="ascii")
    out, _ = watcher.child.communicate(timeout=30)
    assert "the wheel was closed" in out


def test_an_expired_timer_stays_for_its_owner(hold):
    """list shows it and watch counts it, and neither takes it."""
    holder = hold("twheel", "arm", "--cookie", "5", "2s").reaches("pending", 1)
    holder.child.send_signal(signal.SIGSTOP)
    holder.reaches("expired", 1)
    twheel("list", "--pid", holder.pid).prints(" expired +0 .* 5$")
    watched = twheel("watch", "--pid", holder.pid, "--interval", "20ms", "--count", "3")
    assert len(re.findall("^ +0 +1 ", watched.out, re.MULTILINE)) == 3
    holder.child.send_signal(signal.SIGCONT)
    out, _ = holder.child.communicate(timeout=20)
    Result(holder.child.returncode, out, "").prints(" 2s$")


def test_stat_tells_how_late_an_event_was_found(hold):
    """Late by as long as it was not read; the next one is on time."""
    holder = hold("twheel", "arm", "2s", "1h").reaches("pending", 2)
    holder.child.send_signal(signal.SIGSTOP)
    holder.reaches("expired", 1)
    holder.child.send_signal(signal.SIGCONT)
    holder.reaches("delivered", 1)
    twheel("stat", "--pid", holder.pid).prints("^  events +1$", "^  less than .* 1  100.0 % #+$")


@pytest.fixture(name="wheel")
def fixture_wheel():
    """A wheel of this process, for others to inherit."""
    fd = os.open("/dev/twheel", os.O_RDWR)
    yield fd
    os.close(fd)


def test_list_takes_an_inherited_wheel(wheel):
    """By its descriptor."""
    twheel("list", "--fd", wheel, pass_fds=[wheel]).prints("^0 pending, 0 expired$")


def test_stat_finds_the_wheel_of_a_process_that_only_holds_one(wheel, hold):
    """Another program than twheel."""
    holder = hold("sleep", "60", pass_fds=[wheel])
    twheel("stat", "--pid", holder.pid).prints("^  pending +0$")


def test_stat_tells_each_wheel_once_with_its_number(wheel, hold):
    """Two processes hold one, this process another one."""
    shared = os.open("/dev/twheel", os.O_RDWR)
    holders = [hold("sleep", "60", pass_fds=[shared]) for _ in range(2)]
    os.close(shared)
    until(lambda: "2 wheels open" in run("twheel", "stat").out)
    for holder in holders:
        assert os.path.exists(f"/proc/{holder.pid}/fd/{shared}")
    assert os.path.exists(f"/proc/self/fd/{wheel}")
    numbers = [json.loads(line)["number"] for line in twheel("stat", "--json").lines]
    assert len(numbers) == len(set(numbers)) == 2


# --- top ---

INSTANCES = pathlib.Path("/sys/kernel/tracing/instances")


def instance(top):
    """Where a twheel top has its tracepoints."""
    return INSTANCES / f"twheel-top-{top.child.pid}"


@pytest.fixture(name="top")
def fixture_top(terminal):
    """Starts twheel top until the test ends."""
    return lambda *options: terminal("twheel", "top", *options)


def test_the_first_screen_of_top_has_all_timers(hold, top, tmp_path):
    """Of 2,000, which were armed before; it sees the tracepoints."""
    hold("twheel", "arm", *(f"{600 + i}s" for i in range(2000))).reaches("pending", 2000)
    record = tmp_path / "record"
    screen = top("--record", record).shows("quit").text
    assert re.search("speed 1, live.*armed 2000, next due in ", screen, re.DOTALL)
    assert sum(map(int, re.findall(r" {2,}(\d+)(?=\x1b|\r)", screen))) == 2000
    assert record.read_text("ascii").count("found=listed") == 2000


def test_top_records_a_timer_from_level_to_level(hold, top, tmp_path):
    """And twheel plot draws it."""
    record = tmp_path / "record"
    # The first timer of a slot may expire there; the others come down.
    line = "twheel arm --id 3 4s 4.005s 4.01s 4.015s"
    hold(*line.split()).reaches("pending", 4)
    shown = top("--record", record).shows("armed 4, ")
    way = re.compile(r"timer_move: wheel=\d+ id=(\d) .*timer_deliver: wheel=\d+ id=\1 ", re.DOTALL)
    until(lambda: way.search(record.read_text("ascii")) or shown.has_written("$^"))
    assert shown.end(signal.SIGTERM) == 0
    twheel("plot", record).prints(r"timer (\d), level 1, slot .*\n(?s:.*)timer \1, level 0, slot ")


@cases("name", "SIGINT", "SIGTERM", "SIGQUIT", "SIGHUP")
def test_top_leaves_no_tracing_behind_after(held, top, name):
    """Its instance is gone, and so is another that was left by a top that was killed."""
    killed = top("--pid", held.pid).shows("live")
    killed.end(signal.SIGKILL)
    assert instance(killed).exists()
    first, second = top().shows("live"), top().shows("live")
    assert not instance(killed).exists()
    assert instance(first).exists() and instance(second).exists()
    for each in first, second:
        assert each.end(getattr(signal, name)) == 0
    assert not list(INSTANCES.iterdir())


def test_top_lists_the_timers_again_after_events_were_lost(hold, top, tmp_path):
    """Which it counts. One whose event is unread at that time is filed when it is read."""
    record = tmp_path / "record"
    holder = hold("twheel", "arm", "--every", "10ms", "10ms")
    until(lambda: holder.counter("fired"))
    shown = top("--record", record).shows("live")
    (instance(shown) / "buffer_size_kb").write_text("4", "ascii")
    shown.child.send_signal(signal.SIGSTOP)
    fired = holder.counter("fired")
    until(lambda: holder.counter("fired") > fired + 100)
    shown.child.send_signal(signal.SIGCONT)
    shown.shows("events lost")
    until(lambda: re.search(r"(?s)\[LOST .*twheel_list: .* id=\d+ .*found=(listed|pending)",
                            record.read_text("ascii")) or shown.has_written("$^"))


# --- who may ---

@pytest.fixture(name="chmod")
def fixture_chmod():
    """Sets the mode of the device until the test ends, if there is another user to try it."""
    try:
        if os.geteuid() or as_nobody("true").status:
            pytest.skip("no user nobody, or not root")
    except FileNotFoundError:
        pytest.skip("there is no su")
    before = os.stat("/dev/twheel").st_mode & 0o777
    yield lambda mode: os.chmod("/dev/twheel", mode)
    os.chmod("/dev/twheel", before)


def test_a_user_who_may_not_open_the_device_is_sent_to_the_doctor(chmod):
    """In one line."""
    chmod(0o600)
    as_nobody("twheel arm 1s").refused(1, "not permitted to open .*twheel doctor")


def test_a_user_who_may_open_the_device_arms_but_with_no_short_tick(chmod):
    """That takes a capability."""
    chmod(0o666)
    as_nobody("twheel arm --tick 99us 1s").refused(1, "CAP_SYS_RESOURCE")
    as_nobody("twheel arm 10ms").prints(" 10ms$")


def test_a_user_sees_no_wheel_of_another_user_and_is_told_so(hold, chmod):
    """Metrics count the processes that were not seen."""
    chmod(0o666)
    holder = hold("twheel", "arm", "1h").reaches("pending", 1)
    as_nobody(f"twheel list --pid {holder.pid}").refused(1, "not permitted")
    result = as_nobody("twheel stat --prometheus").prints("^twheel_unseen_processes [1-9]")
    assert "twheel_wheels{" not in result.out


# --- the demo ---

@pytest.fixture(name="quick", scope="module")
def fixture_quick(tmp_path_factory):
    """What a quick run of the demo prints, and the path of its record."""
    record = tmp_path_factory.mktemp("demo") / "record"
    return twheel("demo", "--quick", "--record", record), record


def test_the_demo_ends_well(quick):
    """Timers are pushed back by calls only in the run without words."""
    result, _ = quick
    result.prints("^  hrtimer interrupts per timer fired ",
                  "^  pushed back, on a message +[0-9,]+ +0 +[0-9,]+ +[1-9][0-9,]+$")
    assert re.fullmatch("demo: [1-9][0-9]* cut, 0 early, 0 missed", result.lines[-1])


def test_the_record_of_the_demo_bears_it_out(quick):
    """The same judgement from the record alone: of two runs, each with its timeout."""
    result, record = quick
    connections = cuts = timeout = 0
    names = []
    for line in record.read_text("ascii").splitlines():
        if line.startswith("# timeout_ns "):
            timeout = int(line.split()[2])
        elif line.startswith("#"):
            names = line.split()[1:]
        else:
            row = dict(zip(names, line.split("\t")))
            connections += 1
            assert row["messages"] == row["said"] == row["heard"]
            assert row["cuts"] == ("1" if row["plan"] == "silent" else "0")
            if row["cuts"] == "1":
                cuts += 1
                heard = int(row["last_heard"])
                assert heard + timeout <= int(row["cut"])
                assert int(row["cut_done"]) <= heard + 2 * timeout
                assert int(row["last_said"]) + timeout <= int(row["saw_close"])
    assert connections == 700
    assert cuts == int(result.lines[-1].split()[1])


def test_the_demo_prints_one_object_with_json():
    """Its last line goes to stderr."""
    result = kept("twheel-demo", "--connections", "100", "--timeout", "500ms", "--seed", "42",
                  "--json")
    result.prints(r'^\{"good":true,"runs":\[\{"good":true,"words":true,"connections":100,"seed":42,'
                  r'.*\}\]\}$')
    assert len(result.lines) == 1
    assert re.search("^demo: [1-9][0-9]* cut, 0 early, 0 missed$", result.err, re.MULTILINE)
