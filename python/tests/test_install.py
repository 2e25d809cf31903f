# SPDX-License-Identifier: LGPL-2.1-or-later
"""pip installs what is in this folder without a network, and leaves nothing in it."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parents[1]


def files():
    """What is in the folder, but for what builds and Python itself leave in places of their own."""
    return {path for path in FOLDER.glob("**/*")
            if not {"build", "__pycache__"} & set(path.relative_to(FOLDER).parts)}


@unittest.skipUnless(importlib.util.find_spec("ensurepip"), "there is no python3-venv")
class Install(unittest.TestCase):
    """In a virtual environment, as Debian wants it."""

    def test_pip_needs_no_network_and_leaves_nothing_in_the_tree(self):
        """And the package works."""
        env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        env["PIP_NO_INDEX"] = "1"
        before = files()
        with tempfile.TemporaryDirectory() as venv:
            for command in ([sys.executable, "-m", "venv", venv],
                            [f"{venv}/bin/pip", "install", FOLDER],
                            [f"{venv}/bin/python", "-c", "import twheel; twheel.Wheel().close()"]):
                run = subprocess.run(command, cwd=venv, env=env, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True, check=False)
                self.assertEqual(run.returncode, 0, run.stdout)
        self.assertEqual(files(), before)
