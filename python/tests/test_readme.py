# SPDX-License-Identifier: LGPL-2.1-or-later
"""README.md: its programs, as they stand there."""
import pathlib
import re
import subprocess
import sys
import unittest

README = pathlib.Path(__file__).resolve().parent.parent / "README.md"
PRINTS = ["in time\n", "timer 7 is due\n"]


class ReadMe(unittest.TestCase):
    """Each program in a process of its own."""

    def test_programs(self):
        programs = re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.M | re.S)
        self.assertEqual(len(programs), len(PRINTS))
        for program, text in zip(programs, PRINTS):
            done = subprocess.run([sys.executable, "-c", program], capture_output=True,
                                  text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, text), done.stderr)
