# SPDX-License-Identifier: GPL-2.0
"""The examples of the man pages, as they stand there: each ends well and prints what it is to
print.

$TWHEEL_EXAMPLES is folders in which tests/extract.py has left them, compiled, with : between;
twheel and twheel-demo are in PATH."""
import os
import pathlib
import subprocess

import pytest
from commands import run, start

FOLDERS = os.environ.get("TWHEEL_EXAMPLES", "build/examples/anywhere").split(":")
TEXTS = sorted(path for folder in FOLDERS for path in pathlib.Path(folder).glob("*.prints"))


@pytest.fixture(name="holder", scope="module")
def fixture_holder():
    """A process that has two timers armed; its pid."""
    with start("twheel", "arm", "1h", "2d", stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        yield child.pid
        child.kill()


def test_there_are_examples():
    """In each folder."""
    for folder in FOLDERS:
        assert any(path.parent == pathlib.Path(folder) for path in TEXTS)


@pytest.mark.parametrize("text", TEXTS, ids=[path.stem for path in TEXTS])
def test_prints_what_the_page_says(text, request):
    """With such a process for the one that it names, 1234."""
    program = text.with_suffix("")
    if program.suffix == ".sh":
        script = program.read_text("utf-8")
        if "1234" in script:
            script = script.replace("1234", str(request.getfixturevalue("holder")))
        result = run("sh", "-ec", script, stderr=subprocess.STDOUT)
    else:
        result = run(program.with_suffix("").resolve(), stderr=subprocess.STDOUT)
    assert result.status == 0
    assert text.read_text("utf-8").rstrip("\n") in result.out
