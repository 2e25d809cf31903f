#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""CPython's own tests of asyncio, with this loop in the place of its own: the same outcome?

    tests/cpython.py [MODULE...]        TAP; all of test.test_asyncio unless named

Each module is run in two processes at once, and each of its tests compared.
On Debian the tests are in the package libpython3.11-testsuite.
"""
import concurrent.futures
import importlib.util
import json
import pathlib
import subprocess
import sys
import unittest

# Of proactors, which are Windows', and of other things of Windows.
SKIPPED = {"test_windows_events", "test_windows_utils"}


def use_loop():
    """Make all that asks for asyncio's loop get ours.  Returns the list of those that were."""
    import asyncio
    from asyncio import unix_events

    import twheel.asyncio

    made = []

    class loop(twheel.asyncio.EventLoop):
        def _watch(self, fd, nobody):
            super()._watch(fd, nobody)
            made.append(fd)

    loop.__name__ = loop.__qualname__ = "_UnixSelectorEventLoop"
    for module in asyncio, unix_events:
        module.SelectorEventLoop = loop
        # From Python 3.13 on.
        module.EventLoop = loop
    unix_events._UnixSelectorEventLoop = loop
    unix_events._UnixDefaultEventLoopPolicy._loop_factory = loop
    return made


class Result(unittest.TestResult):
    """The outcome of each test, by its name."""

    def __init__(self):
        super().__init__()
        self.outcomes = {}
        self.reasons = {}

    def note(self, test, outcome, reason=""):
        # Of subtests the worst one: it comes before the test's own, which is not told then.
        name = getattr(test, "test_case", test).id()
        self.outcomes.setdefault(name, outcome)
        self.reasons.setdefault(name, reason)

    def addSuccess(self, test):
        self.note(test, "passed")

    def addError(self, test, err):
        super().addError(test, err)
        self.note(test, "error", self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, "failed", self.failures[-1][1])

    def addSkip(self, test, reason):
        self.note(test, "skipped", reason)

    def addExpectedFailure(self, test, err):
        self.note(test, "failed as expected")

    def addUnexpectedSuccess(self, test):
        self.note(test, "passed unexpectedly")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.note(test, "failed", str(err[1]))


def run_here(which, name):
    """In a process of its own: run a module or a test, print the outcomes."""
    wheels = use_loop() if which == "twheel" else []
    result = Result()
    unittest.defaultTestLoader.loadTestsFromName(name).run(result)
    with open(3, "w", encoding="utf-8") as out:
        json.dump([result.outcomes, result.reasons, len(wheels)], out)


def start(which, name):
    """Have one run; what it prints is not ours."""
    return subprocess.Popen(
        ["sh", "-c", 'exec 3>&1 >/dev/null 2>&1; exec "$@"', "sh",
         sys.executable, "-Wignore", __file__, "--run", which, name],
        stdout=subprocess.PIPE)


def end(process):
    """The outcomes of one run, the reasons, and how many wheels were opened."""
    text = process.communicate()[0]
    try:
        return json.loads(text)
    except ValueError:
        return [{}, {"": f"exit code {process.returncode}"}, 0]


def modules():
    """All there are."""
    spec = importlib.util.find_spec("test.test_asyncio")
    if spec is None or not spec.submodule_search_locations:
        return []
    folder = pathlib.Path(spec.submodule_search_locations[0])
    return sorted(path.stem for path in folder.glob("test_*.py") if path.stem not in SKIPPED)


def compare(name):
    """Run a module: the outcomes, what to say of tests that differ, how many wheels it took."""
    processes = [start(which, name) for which in ("asyncio", "twheel")]
    (stock, _, _), (ours, reasons, wheels) = map(end, processes)
    lines = []
    for test in sorted(stock.keys() | ours.keys()):
        if stock.get(test) in ("failed", "error"):
            # What asyncio does not pass here, on a busy machine perhaps, says nothing of twheel.
            continue
        if stock.get(test) != ours.get(test):
            lines.append(f"{test}: asyncio: {stock.get(test)}, twheel: {ours.get(test)}")
            lines += reasons.get(test, "").splitlines()
    if not ours or not stock:
        lines.append(f"nothing came out of it {reasons.get('', '')}")
    return ours, lines, wheels


def main(names):
    """All modules, as TAP."""
    print("TAP version 13")
    names = names or modules()
    if not names:
        print("1..0 # SKIP there is no test.test_asyncio: on Debian libpython3.11-testsuite")
        return 0
    total = failed = wheels = 0
    kinds = {}
    # Most of them sleep most of the time.
    pool = concurrent.futures.ThreadPoolExecutor(2)
    compared = pool.map(compare, [f"test.test_asyncio.{name}" for name in names])
    for number, (name, (ours, lines, opened)) in enumerate(zip(names, compared), 1):
        for line in lines:
            print(f"# {line}")
        total += len(ours)
        wheels += opened
        for outcome in ours.values():
            kinds[outcome] = kinds.get(outcome, 0) + 1
        failed += bool(lines)
        print(f"{'not ' if lines else ''}ok {number} - {name}: {len(ours)} tests as with asyncio",
              flush=True)
    print(f"# {total} tests: " + ", ".join(f"{nr} {kind}" for kind, nr in sorted(kinds.items())))
    # Else the loop was not the one that they used.
    failed += not wheels
    print(f"{'' if wheels else 'not '}ok {len(names) + 1} - they opened {wheels} wheels")
    print(f"1..{len(names) + 1}")
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run_here(*sys.argv[2:4])
    else:
        sys.exit(main(sys.argv[1:]))
