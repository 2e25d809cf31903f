#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Runs pytest and prints TAP, for the runner of all tests.

Usage: tap.py ARGUMENT...    as for pytest; people run pytest-3 tools/tests
"""
import sys

sys.dont_write_bytecode = True
try:
    import pytest
except ImportError:
    print("Bail out! there is no pytest; on Debian: apt-get install python3-pytest")
    sys.exit(1)


class Tap:
    """A line for each test, below what explains it."""

    def __init__(self):
        self.number = 0

    def line(self, report, more=""):
        """test_list.py::test_shows[--id 4-6] is "list: shows[--id 4-6]"."""
        self.number += 1
        file, _, test = report.nodeid.partition("::")
        name = file.split("/")[-1].replace(".py", ": ") + test
        word = "not ok" if report.failed else "ok"
        print(word, self.number, "-", name.replace("test_", "").replace("#", "") + more, flush=True)

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config):
        """Nothing else is printed."""
        config.pluginmanager.unregister(name="terminalreporter")

    def pytest_collectreport(self, report):
        """A file that can't be read has failed; one that skips itself has been skipped."""
        if not report.passed:
            self.pytest_runtest_logreport(report)

    def pytest_runtest_logreport(self, report):
        """A test has been run, or its fixtures have failed or skipped it."""
        if report.failed:
            for line in (report.longreprtext + "\n" + report.capstdout).splitlines():
                print("#", line)
            self.line(report)
        elif report.skipped:
            self.line(report, " # SKIP " + report.longrepr[2].replace("Skipped: ", ""))
        elif getattr(report, "when", "") == "call":
            self.line(report)

    def pytest_internalerror(self, excrepr):
        """pytest itself has failed."""
        print("Bail out!", str(excrepr).replace("\n", "\n# "))

    def pytest_sessionfinish(self):
        """The plan comes last, if there are tests: without one all of it has failed."""
        if self.number:
            print(f"1..{self.number}")


# Not pytest's own code: by 4 a test says that it was skipped.
sys.exit(bool(pytest.main(["-p", "no:cacheprovider", *sys.argv[1:]], [Tap()])))
