#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What the verbs print with --json, by tools/schema.json.  TAP.

Usage: check-json.py SCHEMA FOLDER TWHEEL

In FOLDER is what each verb has printed, in a file of its name.  A verb of TWHEEL's that has
--json and no schema, or of which there is no output, is a failure.
"""
import json
import os
import re
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("ok 1 - what is printed with --json # SKIP there is no python3-jsonschema\n1..1")
    sys.exit(0)

COUNT = 0
FAILED = False


def result(problems, what):
    """A test that passes if there are no problems."""
    global COUNT, FAILED
    COUNT += 1
    for problem in problems[:20]:
        print("# " + problem)
    print(f"{'not ' if problems else ''}ok {COUNT} - {what}")
    FAILED = FAILED or bool(problems)


def loose(schema, path, part=False):
    """Objects that take any key, and keys without a word about them; a part of another schema
    is closed there."""
    problems = []
    if isinstance(schema, list):
        for i, one in enumerate(schema):
            problems += loose(one, f"{path}/{i}")
        return problems
    if not isinstance(schema, dict):
        return problems
    closed = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
    if schema.get("type") == "object" and closed is not False and not part:
        problems.append(path + ": any key may come")
    for name, one in schema.get("properties", {}).items():
        if not {"description", "$ref", "oneOf"} & set(one):
            problems.append(f"{path}/{name}: what is it?")
    for key in ("properties", "$defs"):
        for name, one in schema.get(key, {}).items():
            problems += loose(one, f"{path}/{name}", name == "counters")
    for key in ("items", "oneOf"):
        problems += loose(schema.get(key), f"{path}/{key}")
    return problems


def verbs_with_json(twheel):
    """Of those that --help names, those whose --help names --json."""
    def ask(*verb):
        return subprocess.run([twheel, *verb, "--help"], check=True, capture_output=True,
                              text=True).stdout

    verbs = re.search(r"^Verbs:\n(.*?)\n\n", ask(), re.MULTILINE | re.DOTALL).group(1)
    verbs = re.findall(r"^  ([a-z]+) ", verbs, re.MULTILINE)
    return [verb for verb in verbs if re.search(r"^ +--json\b", ask(verb), re.MULTILINE)]


def check(schema, verb, folder):
    """All lines that a verb has printed, and that it is told what is wrong with others."""
    if verb not in schema["properties"]:
        return ["it has --json, and no schema"]
    path = os.path.join(folder, verb)
    if not os.path.exists(path):
        return ["there is no output of it"]
    with open(path, encoding="ascii") as file:
        lines = [json.loads(line) for line in file]
    # With a property for each verb, the references are to the whole.
    validator = jsonschema.Draft202012Validator(schema)
    problems = [error.message for line in lines for error in validator.iter_errors({verb: line})]
    if not lines:
        problems.append("it has printed nothing")
    for line in lines[:1]:
        if validator.is_valid({verb: dict(line, undocumented=1)}):
            problems.append("a key that is not in the schema is taken")
        for key in line:
            rest = {name: value for name, value in line.items() if name != key}
            if validator.is_valid({verb: rest}):
                problems.append(f"it is taken without {key}")
    return problems


def main():
    path, folder, twheel = sys.argv[1:]
    with open(path, encoding="ascii") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    result(loose(schema, ""), "the schema knows all keys, and what they are")
    verbs = verbs_with_json(twheel)
    result([] if len(verbs) > 4 else ["these have: " + " ".join(verbs)], "verbs have --json")
    for verb in verbs:
        result(check(schema, verb, folder), f"{verb} --json is as in the schema")
    unknown = set(schema["properties"]) - set(verbs)
    result(sorted(unknown), "the schema has no other verbs")
    print(f"1..{COUNT}")
    sys.exit(FAILED)


main()
