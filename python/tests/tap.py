#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs all tests of this folder, and prints TAP.

    tests/tap.py [NAME...]      a module, a class or a test, as unittest names them
"""
import faulthandler
import pathlib
import sys
import unittest


class Tap(unittest.TestResult):
    """A line for each test."""

    def __init__(self):
        super().__init__()
        self.number = 0

    def line(self, test, good, more=""):
        self.number += 1
        name = getattr(test, "test_case", test).id().replace("#", "")
        print(f"{'' if good else 'not '}ok {self.number} - {name}{more}", flush=True)

    def explain(self, text):
        for line in text.splitlines():
            print(f"# {line}")

    def addSuccess(self, test):
        self.line(test, True)

    def addSkip(self, test, reason):
        self.line(test, True, f" # SKIP {reason}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.explain(self.failures[-1][1])
        self.line(test, False)

    def addError(self, test, err):
        super().addError(test, err)
        self.explain(self.errors[-1][1])
        self.line(test, False)

    def addSubTest(self, test, subtest, err):
        # One that passes is told by its test.
        if err is not None:
            super().addSubTest(test, subtest, err)
            self.explain(f"{subtest.id()}: {err[1]}")
            self.line(test, False)


def main(names):
    """All of them, or those that are named."""
    folder = str(pathlib.Path(__file__).resolve().parent)
    sys.path.insert(0, folder)
    loader = unittest.defaultTestLoader
    tests = loader.loadTestsFromNames(names) if names else loader.discover(folder)
    print("TAP version 13")
    # A thread that waits for ever shows where.
    faulthandler.dump_traceback_later(1200, exit=True)
    result = Tap()
    tests.run(result)
    print(f"1..{result.number}")
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
