# SPDX-License-Identifier: GPL-2.0
"""Commands are run as for the tests of the tools."""
import pathlib
import sys

import pytest

pytest.register_assert_rewrite("commands")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "tests"))
