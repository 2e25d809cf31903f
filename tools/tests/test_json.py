# SPDX-License-Identifier: GPL-2.0
"""What the verbs print with --json, by schema.json.

$TWHEEL_JSON is a folder in which a guest has left what each verb printed, in a file of its name.
Without it they print of a wheel in user space."""
import json
import os
import pathlib
import shutil

import pytest
from commands import TOOLS, cases, options_of, program, run, verbs

jsonschema = pytest.importorskip("jsonschema", reason="there is no python3-jsonschema")
SCHEMA = json.loads((TOOLS / "schema.json").read_text("ascii"))
SCRIPT = "arm 1 350ms\narm 2 450ms\ncancel 2\nwhere 1\nrun 345ms\narm 2 9ms\nstop\n"


@pytest.fixture(name="printed", scope="session")
def fixture_printed(tmp_path_factory):
    """The folder of what has been printed."""
    if "TWHEEL_JSON" in os.environ:
        return pathlib.Path(os.environ["TWHEEL_JSON"])
    # The demo is looked for beside twheel, by its name.
    folder = tmp_path_factory.mktemp("json")
    binaries = tmp_path_factory.mktemp("bin")
    for name in "twheel", "demo":
        installed = "twheel-demo" if name == "demo" else name
        shutil.copy(program("fake-" + name), binaries / installed)
    # What comes first is an event, and last the counters: all kinds are there.
    for line, options in (
            ("arm --every 1ms --times 2 --cookie 7 1ms", {}),
            ("watch --fd 0 --interval 10ms --count 2", {"env": {"FAKE_TIMERS": 20}}),
            ("list --fd 0", {"env": {"FAKE_TIMERS": 20}}),
            ("get --fd 0 0", {"env": {"FAKE_TIMERS": 20}}),
            ("get --fd 0 3", {"env": {"FAKE_TIMERS": 20}}),
            ("get --fd 0 40", {"env": {"FAKE_TIMERS": 20}}),
            ("stat --fd 0", {"env": {"FAKE_TIMERS": 20}}),
            ("doctor", {}),
            ("features", {}),
            ("sim --as hierarchical --trace --levels 2", {"stdin": SCRIPT}),
            ("sim", {"stdin": SCRIPT}),
            ("sim --as heap --trace", {"stdin": SCRIPT}),
            ("sim --as keys", {"stdin": "arm 1 5s\narm 1 6s\n"}),
            ("demo --connections 20 --timeout 200ms", {})):
        verb, *words = line.split()
        with (folder / verb).open("a", encoding="ascii") as file:
            file.write(run(binaries / "twheel", verb, "--json", *words, **options).out)
    return folder


@pytest.fixture(name="lines")
def fixture_lines(printed, fake_twheel, proc, request):
    """The objects that a verb has printed."""
    verb = request.getfixturevalue("verb")
    text = (printed / verb).read_text("ascii")
    if verb == "stat" and "TWHEEL_JSON" not in os.environ:
        text += fake_twheel("stat", "--json", env={"FAKE_PROC": proc.folder}).out
    return [json.loads(line) for line in text.splitlines()]


def loose(schema, path="", part=False):
    """Objects that take any key, and keys without a word about them; a part of another schema
    is closed there."""
    if isinstance(schema, list):
        for i, one in enumerate(schema):
            yield from loose(one, f"{path}/{i}")
    if not isinstance(schema, dict):
        return
    closed = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
    if schema.get("type") == "object" and closed is not False and not part:
        yield path + ": any key may come"
    for name, one in schema.get("properties", {}).items():
        if not {"description", "$ref", "oneOf"} & set(one):
            yield f"{path}/{name}: what is it?"
    for key in ("properties", "$defs"):
        for name, one in schema.get(key, {}).items():
            yield from loose(one, f"{path}/{name}", name == "counters")
    for key in ("items", "oneOf"):
        yield from loose(schema.get(key), f"{path}/{key}")


def test_the_schema_knows_all_keys_and_what_they_are():
    """And is a schema itself."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert not list(loose(SCHEMA))


def test_the_schema_has_each_verb_that_has_json_and_no_other():
    """By what --help names."""
    with_json = {verb for verb in verbs() if "--json" in options_of("twheel", verb)}
    assert len(with_json) > 4
    assert set(SCHEMA["properties"]) == with_json


@cases("verb", *SCHEMA["properties"])
def test_json_is_as_in_the_schema(verb, lines):
    """All lines that a verb has printed; the schema refuses a key more or a key less."""
    # With a property for each verb, the references are to the whole.
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert lines
    assert not [error.message for line in lines for error in validator.iter_errors({verb: line})]
    first = lines[0]
    assert not validator.is_valid({verb: dict(first, undocumented=1)})
    for key in first:
        rest = {name: value for name, value in first.items() if name != key}
        assert not validator.is_valid({verb: rest}), f"it is taken without {key}"
