# SPDX-License-Identifier: GPL-2.0
"""What is meant by the answer to a question of the course."""
import re

NS = {word: ns for words, ns in (
    ("d day days", 86400e9), ("h hour hours", 3600e9), ("m min mins minute minutes", 60e9),
    ("s sec secs second seconds", 1e9), ("ms msec msecs millisecond milliseconds", 1e6),
    ("us usec usecs microsecond microseconds", 1e3), ("ns nanosecond nanoseconds", 1)
) for word in words.split()}
UNIT = f"(?:{'|'.join(NS)})(?![a-z])"
NUMBER = r"\d*\.?\d+"
WORDS = {"none": 0, "never": 0, "on time": 0, "once": 1, "twice": 2, "thrice": 3}
WORDS.update((word, number) for number, word in enumerate(
    "zero one two three four five six seven eight nine ten eleven twelve".split()))
LABEL = "slot|level|timer|key|round|position"
# The forms of answers: how each is called, how right answers of it look, and what is read of one.
FORMS = {"number": ("one number", r"[\d,]+$", None),
         "duration": ("a duration as 250ms, or 0", r"\d", None),
         "yes": ("yes or no", r"(yes|no)$", r"\b(yes|no)\b"),
         "file": ("a file as users.c", r".*\.[ch]$", r"^(?:\./)?(\w+\.[ch])$"),
         "word": ("one word", "", r"^(?:(?:an?|the) )?([\w.-]+)(?:\(\))?$")}


def added(found):
    """1m 30s is one duration, 30s 1m are two."""
    parts = [(NS[unit], float(number))
             for number, unit in re.findall(f"({NUMBER}) ?({UNIT})", found[0])]
    units = [unit for unit, _ in parts]
    if units != sorted(set(units), reverse=True):
        return found[0]
    return f"{sum(unit * number for unit, number in parts):f} ns "


def numbers(text, question):
    """The numbers in a text, and whether each has a unit. One with a label, as in "level 0", is
    left out, unless the question asks for such a number: then the others are. None of a sum, a
    guess or a denial."""
    asked = re.search(rf"(?i)\bwhich (?:is the first )?({LABEL})\b|$", question["Text"])[1]
    text = re.sub(r"(\d)[,'_](?=\d{3}\b)", r"\1", text)
    if re.search(r"[+*/^=%<>~]|\d[,:]\d|\b(?:not|or|about|more|less|least|most)\b", text):
        return []
    text = re.sub(rf"\b({'|'.join(WORDS)})\b", lambda found: str(WORDS[found[1]]), text)
    text = re.sub(f"(?:{NUMBER} ?{UNIT} ?){{2,}}", added, text)
    found = re.findall(rf"(?:\b({LABEL})[ :#]*)?(-?{NUMBER})(?: ?({UNIT}))?", text)
    # And 0, which makes 0 of -0.
    return [(f"{float(number) * NS.get(unit, 1) + 0:.12g}", unit) for label, number, unit in found
            if label == (asked if asked in [each[0] for each in found] else "")]


def meant(form, text, question):
    """What an answer says: the same for answers that mean the same, and None if it is not of that
    form or could mean two things."""
    if len(text) > 200:
        return None
    # A micro sign, or a Greek letter, in UTF-8.
    text = re.sub("\udcc2\udcb5|\udcce\udcbc", "u", text.lower())
    text = re.sub(r"[.!]$", "", re.sub(r"\s+", " ", text))
    if FORMS[form][2]:
        said = re.findall(FORMS[form][2], re.sub("[`'\"]", "", text))
    elif form == "number":
        said = [number for number, unit in numbers(text, question) if not unit]
    else:
        said = [number if unit or number == "0" else None
                for number, unit in numbers(text, question)]
    return said[0] if len(set(said)) == 1 else None
