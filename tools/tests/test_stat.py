# SPDX-License-Identifier: GPL-2.0
"""What twheel stat tells of the wheels of a /proc that is made up: for people, and for Prometheus,
as promtool and node_exporter understand it, and the rules of examples/prometheus."""
import re
import resource
import shutil
import signal
import subprocess

import pytest
from commands import TOOLS, cases, run, start, until

RULES = TOOLS.parent / "examples" / "prometheus"


@pytest.fixture(name="stat")
def fixture_stat(fake_twheel, proc):
    """Runs twheel stat."""
    return lambda *options, **more: fake_twheel("stat", *options, env={"FAKE_PROC": proc.folder},
                                                **more)


@pytest.fixture(name="metrics")
def fixture_metrics(stat):
    """What it prints for Prometheus."""
    return stat("--prometheus").good()


# --- for people ---

def test_a_wheel_that_two_processes_hold_is_told_once(stat):
    """The server has two, one of them with its child."""
    assert len([line for line in stat().lines if re.match(r" *\d+ +\d+ +server ", line)]) == 2


def test_a_wheel_that_systemd_keeps_is_told_as_its_process_s(stat):
    """What is left is one that no process uses."""
    lines = [line.split()[:2] for line in stat().lines if " systemd " in line]
    assert lines == [["1", "21"]]


def test_wheels_that_do_not_tell_which_they_are_are_told_each(stat):
    """There are two of them."""
    assert "6 wheels open" in stat().good().lines


def test_the_table_has_what_an_operator_looks_for(stat):
    """Pending, expired, fired, next due, the most late, memory."""
    row = [line.split()[3:10] for line in stat().lines if line.split()[1:2] == ["5"]]
    assert row == [["1,000", "3", "200", "2.5s", "5ms", "97.7", "KiB"]]


@pytest.fixture(name="one")
def fixture_one(fake_twheel):
    """What is printed of one wheel."""
    return fake_twheel("stat", "--fd", "0", env={"FAKE_TIMERS": 1}).good()


@cases(
    "line",
    "  pending                             1,000",
    "  none due for                         2.5s",
    "  expired, not read yet                   3",
    "  events                                200",
    "  p50: less than                    32.77us",
    "  p99: less than                    8.389ms",
    "  max                                   5ms",
    "  less than   32.77us                   150   75.0 % ##############################",
    "  less than   65.54us                    40   20.0 % ########",
    "  less than   131.1us                     0    0.0 %",
    "  less than   8.389ms                    10    5.0 % ##",
)
def test_stat_of_one_wheel_has(one, line):
    """What is due and what waits, and how late events were found."""
    assert line in one.lines


def test_the_histogram_ends_where_classes_are_empty(one):
    """At both ends."""
    assert len(re.findall("^  (?:less than|at least) ", one.out, re.MULTILINE)) == 9


# --- for Prometheus ---

@cases(
    "options, status, pattern",
    ("--output x", 2, "give both"),
    ("--prometheus --json", 2, "give one of them"),
    ("--prometheus --pid 1", 2, "leave --pid"),
    ("--prometheus --fd 0", 2, "leave --pid"),
    ("--prometheus --output /dev/null", 1, "not a file"),
    ("--prometheus --output none/twheel.prom", 1, "No such file"),
)
def test_refuses(stat, tmp_path, monkeypatch, options, status, pattern):
    """In one line."""
    monkeypatch.chdir(tmp_path)
    stat(*options.split()).refused(status, pattern)


@cases(
    "case, lines",
    ("sums by command, of each wheel once", """
        twheel_unseen_processes 0
        twheel_wheels{comm="server"} 2
        twheel_wheels{comm="?"} 2
        twheel_pending_timers{comm="server"} 1010
        twheel_expired_timers{comm="server"} 3
        twheel_arms_total{comm="server"} 5050
        twheel_memory_bytes{comm="server"} 105000"""),
    ("the soonest and the most of what can't be added", """
        twheel_next_due_seconds{comm="server"} 1.000000000
        twheel_max_late_seconds{comm="server"} 0.007000000"""),
    ("a histogram, of which each bucket has those before it", """
        # TYPE twheel_late_seconds histogram
        twheel_late_seconds_bucket{comm="server",le="0.000001023"} 0
        twheel_late_seconds_bucket{comm="server",le="0.000032767"} 160
        twheel_late_seconds_bucket{comm="server",le="4.294967295"} 200
        twheel_late_seconds_bucket{comm="server",le="+Inf"} 210
        twheel_late_seconds_sum{comm="server"} NaN
        twheel_late_seconds_count{comm="server"} 210"""),
    ("names with signs that mean something there, and numbers of any size", r"""
        twheel_pending_timers{comm="odd\"\\name"} 18446744073709551615
        twheel_late_seconds_count{comm="odd\"\\name"} 12000000000000000000"""),
)
def test_metrics_have(metrics, lines):
    """Each line as it stands."""
    assert not {line.strip() for line in lines.strip().split("\n")} - set(metrics.lines)


def test_the_last_line_has_an_end_and_none_is_empty(metrics):
    """As Prometheus wants it."""
    assert metrics.out.endswith("\n")
    assert "" not in metrics.lines


def test_output_replaces_the_file_and_leaves_nothing_else(stat, metrics, tmp_path):
    """All may read the file."""
    path = tmp_path / "textfile" / "twheel.prom"
    path.parent.mkdir()
    path.write_text("old\n", encoding="ascii")
    assert stat("--prometheus", "--output", path).status == 0
    assert path.read_text("ascii") == metrics.out
    assert list(path.parent.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_full_disk_leaves_the_old_file_as_it_is(stat, tmp_path):
    """And nothing else."""
    path = tmp_path / "textfile" / "twheel.prom"
    path.parent.mkdir()
    path.write_text("old\n", encoding="ascii")

    def full():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    result = stat("--prometheus", "--output", path, preexec_fn=full, restore_signals=False)
    assert result.status == 1
    assert path.read_text("ascii") == "old\n"
    assert list(path.parent.iterdir()) == [path]


def test_many_names_make_a_bounded_number_of_time_series(stat, proc):
    """A process names itself as it likes: the rest is one sum, and none comes twice."""
    for i in range(200, 300):
        comm = "(others)" if i == 299 else f"name{i}"
        proc.wheel(i, 3, comm, i, "/any/name", pending=10)
    result = stat("--prometheus")
    assert result.status == 0
    wheels = re.findall(r"^twheel_wheels\{.*\} (\d+)$", result.out, re.MULTILINE)
    assert len(wheels) <= 51
    assert re.search(r'^twheel_wheels\{comm="\(others\)"\} [1-9]', result.out, re.MULTILINE)
    assert sum(map(int, wheels)) == 106
    series = [line.rsplit(" ", 1)[0] for line in result.lines if not line.startswith("#")]
    assert len(series) == len(set(series))


@pytest.fixture(name="promtool")
def fixture_promtool():
    """Runs promtool."""
    if not shutil.which("promtool"):
        pytest.skip("there is no promtool, of the package prometheus")
    return lambda *words, **options: run("promtool", *words, **options)


def test_promtool_has_nothing_to_say_against_the_metrics(promtool, metrics):
    """Not even a warning."""
    assert promtool("check", "metrics", stdin=metrics.out).good().out == ""


@cases("verb, file", ("check", "twheel.rules.yml"), ("test", "twheel.rules.test.yml"))
def test_the_rules_of_the_examples_are_rules_and_fire_when_they_should(promtool, verb, file):
    """By tests of their own."""
    assert promtool(verb, "rules", RULES / file).status == 0


def test_node_exporter_tells_all_of_them_and_no_more(stat, metrics, tmp_path):
    """Numbers in its own way."""
    exporter = "prometheus-node-exporter"
    if not shutil.which(exporter) or not shutil.which("curl"):
        pytest.skip(f"there is no {exporter}, or no curl")
    folder = tmp_path / "textfile"
    folder.mkdir()
    stat("--prometheus", "--output", folder / "twheel.prom").good()
    log = tmp_path / "log"
    scraped = []

    def scrape():
        port = re.search(r'msg="Listening on".*:(\d+)', log.read_text("utf-8"))
        if port:
            got = run("curl", "-sf", f"http://127.0.0.1:{port.group(1)}/metrics")
            scraped.extend(got.lines if got.status == 0 else [])
        return scraped

    with log.open("w", encoding="utf-8") as file:
        child = start(exporter, "--web.listen-address=127.0.0.1:0", "--collector.disable-defaults",
                      "--collector.textfile", f"--collector.textfile.directory={folder}",
                      stdout=file, stderr=subprocess.STDOUT)
    try:
        until(scrape, 30)
    finally:
        child.kill()
        child.wait()
    assert not {
        "node_textfile_scrape_error 0",
        'twheel_wheels{comm="server"} 2',
        'twheel_interrupts_total{comm="server"} 50',
        'twheel_pending_timers{comm="odd\\"\\\\name"} 1.8446744073709552e+19',
        'twheel_late_seconds_bucket{comm="server",le="+Inf"} 210',
        'twheel_late_seconds_sum{comm="server"} NaN',
    } - set(scraped)

    def series(lines):
        return len([line for line in lines if re.match(r"twheel_.*\{", line)])

    assert series(scraped) == series(metrics.lines)
