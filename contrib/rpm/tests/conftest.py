# SPDX-License-Identifier: GPL-2.0
"""Commands are run as for the tests of the tools."""
import pathlib
import sys

import pytest

TREE = pathlib.Path(__file__).resolve().parents[3]
for name, folder in ("commands", "tools/tests"), ("installed", "check/packages"):
    pytest.register_assert_rewrite(name)
    sys.path.insert(0, str(TREE / folder))
# pylint: disable=wrong-import-position,unused-import
from installed import daemon  # noqa: E402,F401
