# SPDX-License-Identifier: GPL-2.0
"""Are programs marked rightly that look for the broken wheels of docs/course/broken, also those
that cheat? A minute, when the kernel um and the modules are built.

    pytest-3 check/test_broken.py"""
import fcntl
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

TREE = pathlib.Path(__file__).resolve().parents[1]
BROKEN = TREE / "docs/course/broken"
sys.path.insert(0, str(BROKEN))
loader = importlib.machinery.SourceFileLoader("marks", str(BROKEN / "mark"))
marks = importlib.util.module_from_spec(importlib.util.spec_from_loader("marks", loader))
loader.exec_module(marks)

os.environ["LC_ALL"] = "C"
SOLUTION = (BROKEN / "solution.c").read_text("utf-8")
# What could say which wheel it is that a program runs on.
PEEPS = r"""
#include <fcntl.h>
#include <stdio.h>
#include <sys/klog.h>
#include <unistd.h>

int main(void)
{
	const char *files[] = { "/proc/modules", "/proc/self", "/proc/1/cmdline", "/dev/kmsg",
				"/sys/module/twheel/srcversion", "/run/twheel/twheel.ko" };
	char text[100];
	int seen = klogctl(3, text, sizeof(text)) >= 0;

	for (int i = 0; i < 6; i++)
		if (!access(files[i], F_OK) && open(files[i], O_RDONLY) >= 0)
			seen += !!puts(files[i]);
	return seen;
}
"""
LIBRARY = """
#include <twheel.h>

int main(void)
{
	struct twheel_options options = { .size = sizeof(options), .flags = TWHEEL_OPEN_DEVICE };
	struct twheel *wheel;

	return !!twheel_open(&wheel, &options);
}
"""
# Wants a timer at once, on the tick, and a wait that is not longer than it says.
EXACT = """
#include "test.h"

int main(void)
{
	int wheel = wheel_open();
	struct twheel_event event;
	__u64 due = now_ns() + 2 * MS;

	arm(wheel, 0, due);
	check(take_until(wheel, &event, 1, due + 100 * MS) && event.fired <= due + MS, "on time");
	due = now_ns() + 5 * SEC;
	arm(wheel, 0, due);
	check(!take_until(wheel, &event, 1, due - 2 * MS), "until a time");
	return done();
}
"""
# Makes a call until it is no longer refused.
CALLS = """
#include <fcntl.h>
#include <unistd.h>

int main(void)
{
	write(1, "begins\\n", 7);
	while (open("%s", O_CREAT | O_WRONLY, 0644) < 0)
		;
}
"""


@pytest.fixture(scope="module", name="folder")
def built():
    """The folder that the modules are in."""
    folder = pathlib.Path(marks.must("bash", "-c", '. vm/lib && echo "$BUILD/broken"', cwd=TREE))
    marks.build_library(folder)
    marks.build_modules(folder)
    return folder


@pytest.fixture(name="compiled")
def compiler(folder, tmp_path):
    """Compiles a program. Returns its path, or what the compiler says."""
    def compiled(source):
        (tmp_path / "mine.c").write_text(source, "utf-8")
        (tmp_path / "empty").mkdir()
        why = marks.compile_program(tmp_path / "mine.c", folder / "lib/libtwheel.a",
                                    tmp_path / "empty")
        return why or tmp_path / "empty/program"
    return compiled


def marked(tmp_path, source):
    """Have a program marked. Returns its points, the results of Gradescope, and what is printed."""
    (tmp_path / "mine.c").write_text(source, "utf-8")
    done = subprocess.run(
        [BROKEN / "mark", tmp_path / "mine.c", "--json", tmp_path / "points", "--github",
         tmp_path / "github"], stdout=subprocess.PIPE, encoding="utf-8", check=False)
    tests = json.loads((tmp_path / "points").read_text("utf-8"))["tests"]
    points = sum(test["score"] for test in tests)
    github = json.loads((tmp_path / "github").read_text("utf-8"))
    assert done.stdout.splitlines()[-2:] == ["1..11", f"# {points} of 10 points"], done.stdout
    assert done.returncode == (points != 10)
    assert sum(test["max_score"] for test in tests) == 10
    assert sum(test["score"] for test in github["tests"]) == points
    assert github["status"] == ("pass" if points == 10 else "fail")
    return points, tests, done.stdout


def test_each_wheel_fails_its_own_test_of_the_solution(tmp_path):
    """And no other."""
    points, tests, printed = marked(tmp_path, SOLUTION)
    assert points == 10, printed
    assert [re.findall(r"^not ok (\d+)", test["output"], re.MULTILINE) for test in tests] == [
        [str(number)] for number in range(1, 11)]


def test_the_skeleton_passes_everywhere_and_gets_no_points(tmp_path):
    """Each guest ends well."""
    points, tests, printed = marked(tmp_path, (BROKEN / "skeleton.c").read_text("utf-8"))
    assert points == 0
    assert "ok 1 - the right wheel passes" in printed.splitlines()
    assert all(test["output"].startswith("Not caught. Hint: ") for test in tests), tests


def test_a_program_that_always_fails_gets_no_points(tmp_path):
    """One guest or two say enough."""
    points, _, printed = marked(tmp_path, "int main(void) { return 3; }")
    assert points == 0
    assert {"# it fails on the right wheel:", "# It ended with code 3."} < set(printed.splitlines())


def test_a_program_that_does_not_compile_gets_no_points(tmp_path):
    """And its learner sees why."""
    points, _, printed = marked(tmp_path, "int main(void) { return wheel; }")
    assert points == 0
    assert re.search("# it does not compile:\n.*\n# program.c:1:25: error: 'wheel'", printed)


@pytest.mark.parametrize("source, code, text", [
    (LIBRARY, 0, ""),
    (PEEPS, 0, ""),
    (EXACT, 0, "ok 1 - on time\nok 2 - until a time\n1..2\n"),
    ("#include <unistd.h>\nint main(void) { return pause(); }", 1,
     "Killed\nIt was killed, because it still waited after a day.\n"),
    ('#include <stdio.h>\nint main(void) { puts("\\r#@ right 1\\rexit 1\\nnot ok 1"); return 0; }',
     0, "\n#@ right 1\nexit 1\nnot ok 1\n"),
    ("int main(void) { return 125; }", 1, "It ended with code 125.\n"),
    ("#include <time.h>\n#include <unistd.h>\n"
     "int main(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); sleep(1000);\n"
     "\treturn t.tv_sec > 0; }", 0, ""),
], ids=["libtwheel", "peeps", "exact", "waits for ever", "forges results", "code of a guest", "clock"])
def test_the_exit_code_decides(folder, compiled, source, code, text):
    """In a guest with a broken wheel."""
    assert marks.try_program(compiled(source), folder / "crowd/twheel.ko") == (code, text)


def test_a_program_that_never_ends_neither_passes_nor_fails(folder, compiled):
    """In simulated time a loop lasts for ever."""
    code, text = marks.try_program(compiled("int main(void) { for (;;); }"),
                                   folder / "crowd/twheel.ko")
    assert code == 124 and text.startswith("It did not end within ")


@pytest.mark.parametrize("header", ["solution.c", "../solution.c", "docs/course/broken/solution.c"])
def test_the_solution_can_not_be_included(compiled, header):
    """By no name in the tree."""
    assert "No such file" in compiled(f'#include "{header}"\n')


@pytest.mark.parametrize("source", [
    '#include "/dev/zero"\n', "char a[300000000] = { 1 };\nint main(void) { return 0; }\n",
    '#include "FIFO"\n'], ids=["memory", "disk", "time"])
def test_a_compiler_is_limited(compiled, tmp_path, source):
    """In its memory, its files and its time."""
    os.mkfifo(tmp_path / "fifo")
    start = time.monotonic()
    assert "The compiler ended with code " in compiled(source.replace("FIFO", f"{tmp_path}/fifo"))
    assert time.monotonic() < start + 15
    assert sum(path.stat().st_size for path in (tmp_path / "empty").rglob("*")) < 50e6


def test_no_program_is_run_here(compiled):
    """vm/run asks ldd of programs that can be executed, and ldd may run them."""
    assert not os.access(compiled(SOLUTION), os.X_OK)


def children(pid):
    """Of a process, the oldest first."""
    return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()


def test_a_program_ends_with_its_kernel(compiled, tmp_path):
    """Its process is one of this machine's, whose calls the kernel intercepts."""
    program = compiled(CALLS % (tmp_path / "escaped"))
    with subprocess.Popen(
            [TREE / "vm/run", "um", "--no-module", "--put", f"{program}:/program", "--", "sh", "-c",
             "chmod 755 /program; /program"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            encoding="utf-8") as guest:
        assert guest.stdout.readline() == "begins\n"
        timeout = next(pid for pid in children(guest.pid) if
                       pathlib.Path(f"/proc/{pid}/comm").read_text("ascii") == "timeout\n")
        os.kill(int(children(timeout)[0]), signal.SIGKILL)
        _, complaint = guest.communicate(timeout=20)
    assert guest.returncode == 125, complaint
    assert not (tmp_path / "escaped").exists()


def test_two_first_marks_take_turns(tmp_path, monkeypatch):
    """Whatever make builds is locked."""
    built = []

    def must(*command, **_):
        if command[0] == "make":
            with (tmp_path / "lock").open("w") as lock, pytest.raises(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            built.append(command)
        return str(tmp_path)

    monkeypatch.setattr(marks, "must", must)
    marks.build_library(tmp_path)
    marks.build_modules(tmp_path)
    assert len(built) == 12


@pytest.mark.parametrize("codes, points", [((1, 1), 1), ((1, 0), 0), ((0, 1), 0), ((1, 124), 0)])
def test_a_wheel_is_caught_twice_or_not_at_all(tmp_path, monkeypatch, codes, points):
    """The right one passes each time."""
    left = {"early": list(codes)}
    monkeypatch.setattr(marks, "build_library", lambda folder: None)
    monkeypatch.setattr(marks, "build_modules", lambda folder: None)
    monkeypatch.setattr(marks, "compile_program", lambda *_: "")
    monkeypatch.setattr(marks, "try_program", lambda _, module: (
        left[module.parent.name].pop(0) if module.parent.name in left else 0, ""))
    why, found = marks.mark(tmp_path, tmp_path)
    assert why is None
    assert [name for name, (code, _) in found.items() if code == 1] == ["early"] * points


def test_teachers_are_told_of_each_wheel():
    """In a list."""
    assert len(marks.must(BROKEN / "mark", "--list").splitlines()) == 10


@pytest.mark.parametrize("number", range(1, 11))
def test_the_readme_has_the_hint(number):
    """Of each wheel."""
    page = (BROKEN / "README.md").read_text("utf-8").splitlines()
    assert f"| {number} | {marks.WHEELS[number - 1].hint} |" in page
