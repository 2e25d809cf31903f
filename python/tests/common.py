# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests share: each is run with a wheel in the process, and with the device's."""
import ctypes
import gc
import os
import sys
import unittest

DEVICE = "/dev/twheel"
PR_SET_THP_DISABLE = 41
MS = 1_000_000


class NoDevice(unittest.TestCase):
    """In place of the tests with the device."""

    def test_device(self):
        """All of them once more."""
        self.skipTest(f"there is no {DEVICE}")


def with_devices(loader, classes):
    """Tests of classes that have an attribute device, with each that there is."""
    suite = unittest.TestSuite()
    for cls in classes:
        made = [type(cls.__name__ + "InProcess", (cls, unittest.TestCase), {"device": False})]
        if os.path.exists(DEVICE):
            made.append(type(cls.__name__ + "InKernel", (cls, unittest.TestCase),
                             {"device": True}))
        for case in made:
            # So that one can be named.
            case.__module__ = cls.__module__
            case.__qualname__ = case.__name__
            suite.addTests(loader.loadTestsFromTestCase(case))
    if not os.path.exists(DEVICE):
        suite.addTests(loader.loadTestsFromTestCase(NoDevice))
    return suite


def open_files():
    """How many there are, but for those that nobody refers to."""
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def resident():
    """Memory of this process in KiB that it does not share: the kernel's count."""
    with open("/proc/self/smaps_rollup", encoding="ascii") as file:
        for line in file:
            if line.startswith("Pss_Anon:"):
                return int(line.split()[1])
    raise OSError("there is no Pss_Anon")


def in_child(function):
    """Fork: what the function returns in the child, an int below 100."""
    pid = os.fork()
    if not pid:
        code = 100
        try:
            code = function()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


class Leaks:
    """Nothing is left, however often."""

    TIMES = 100_000

    def steady(self, function, objects=()):
        """Doing it many times leaves no memory, no file and no reference."""
        # Or else pages that were never used are made one with others.
        ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)
        for _ in range(self.TIMES // 100):
            function()
        gc.collect()
        counts = [sys.getrefcount(thing) for thing in objects]
        blocks, files, memory = sys.getallocatedblocks(), open_files(), resident()
        for _ in range(self.TIMES):
            function()
        gc.collect()
        # Others than the function have some, too; but not one each time.
        few = self.TIMES // 100
        for thing, count in zip(objects, counts):
            self.assertLess(abs(sys.getrefcount(thing) - count), few, thing)
        self.assertLess(sys.getallocatedblocks() - blocks, few)
        # Python takes memory by the MiB.  The smallest block that malloc gives is 32 bytes.
        self.assertLess(resident() - memory, 1024 + self.TIMES * 8 // 1024)
        self.assertEqual(open_files(), files)
