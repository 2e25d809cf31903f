# SPDX-License-Identifier: GPL-2.0
"""Is the course right? The right answers get all points and wrong ones none; they come from what
was printed, and not from the questions; what the pages in docs/course show is what comes out; the
tasks can be passed; the pictures are those of the trace.

    make tools && pytest-3 check/test_course.py"""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from blocks import blocks_of

TREE = pathlib.Path(__file__).resolve().parents[1]
pytest.register_assert_rewrite("commands")
sys.path.insert(0, str(TREE / "tools" / "tests"))
# pylint: disable=wrong-import-position
from commands import BUILD, Terminal, cases, program, run, until  # noqa: E402

COURSE = TREE / "docs/course"
os.environ["PATH"] = f"{BUILD}:{os.environ['PATH']}"
course = functools.partial(run, COURSE / "course", cwd=TREE)
race = functools.partial(run, COURSE / "race")
README = (COURSE / "README.md").read_text("utf-8")
TEACHING = (COURSE / "teaching.md").read_text("utf-8")
TEMPLATE = (COURSE / "answers.txt").read_text("utf-8")
EXERCISES = {int(path.stem): path.read_text("utf-8")
             for path in sorted((COURSE / "exercises").glob("*.questions"))}
PAGES = {number: next(COURSE.glob(f"{number:02}-*.md")) for number in EXERCISES}
QUESTIONS = {number: re.findall(r"(?m)^Question: (\S+)$", text)
             for number, text in EXERCISES.items()}
TEXTS = sorted((COURSE / "texts").glob("*.sim"))
# Rows of the table of wrong answers: question, answer, what the student thinks, hint.
MISTAKES = re.findall(r"(?m)^\| `(\S+)` \| (.*?) \| .*? \| (.*?) \|$", TEACHING)
SHOWN = "no, because it is what comes out"
# For what the pages run: the programs that the commands of a block build first are built.
BUILT = ((r"make -s -C tools build/twheel-sim$", ":"), (r"tools/build/", ""),
         (r"make -s course CHAPTER=(\d+)", r"docs/course/course show \1"),
         (r"make -s grade CHAPTER=(\d+) ANSWERS=(\S+)", r"docs/course/course grade \2 \1"),
         (r"make -s task CHAPTER=(\d+) FILE=(\S+)", r"docs/course/course task \1 \2"),
         (r"(mine\.(?:txt|sim))", r'"$DIR/\1"'))
chapters = pytest.mark.parametrize("number", EXERCISES)


@pytest.fixture(scope="module", name="key")
def fixture_key():
    """The right answers, by question."""
    program("twheel-sim")
    return dict(line.split(" = ", 1) for line in course("key").good().lines)


@pytest.fixture(name="graded")
def fixture_graded(tmp_path):
    """Have answers marked."""
    def graded(text, *chapter):
        (tmp_path / "answers").write_text(text, "utf-8")
        return course("grade", tmp_path / "answers", *chapter)
    return graded


@pytest.fixture(name="tasked")
def fixture_tasked(tmp_path):
    """Have work on a task checked."""
    def tasked(chapter, text):
        (tmp_path / "work").write_text(text, "utf-8")
        return course("task", chapter, tmp_path / "work")
    return tasked


def count(pattern, text):
    """In how many lines is it?"""
    return sum(bool(re.search(pattern, line)) for line in text.splitlines())


def answered(answers):
    """As a file for the grader."""
    return "".join(f"{question} = {answer}\n" for question, answer in answers.items())


def of_chapter(number, key):
    """Its questions and their answers."""
    return {question: answer for question, answer in key.items()
            if question.startswith(f"{number}.")}


def test_the_file_for_answers_has_all_questions():
    """In this order."""
    assert course("template").good().out == TEMPLATE


@chapters
def test_each_question_has_an_answer(key, number):
    """And is in the file for answers."""
    wanted = [f"{number}.{question}" for question in QUESTIONS[number]]
    assert list(of_chapter(number, key)) == wanted
    assert re.findall(rf"(?m)^({number}\.\S+) =$", TEMPLATE) == wanted


@chapters
def test_a_page_asks_what_its_exercise_asks(number):
    """Each question, and the task, word for word."""
    page = " ".join(PAGES[number].read_text("utf-8").split())
    asked = re.findall(r"(?ms)^(?:Question|Task): (\S+)\nText: (.*?)\n(?=\w)", EXERCISES[number])
    assert len(asked) == len(QUESTIONS[number]) + 1
    for name, text in asked:
        assert f"- `{number}.{name}`: {' '.join(text.split())}" in page


@chapters
def test_a_page_has_its_title_its_sources_and_its_task(number):
    """And the list of chapters has the page."""
    page = PAGES[number].read_text("utf-8")
    title = re.search(r"(?m)^Title: (.*)", EXERCISES[number])[1]
    assert f"# {number}. {title}" in page.splitlines()
    assert "glossary.md#sources" in page
    assert f"`make task CHAPTER={number} FILE=" in page
    assert f"({PAGES[number].name})" in README


@pytest.mark.parametrize("page", [*(page.stem for page in PAGES.values()), "README", "costs",
                                  "uses"])
def test_what_a_page_shows_is_what_comes_out(page, tmp_path):
    """Of the block before. A line ... stands for any lines."""
    printed, shows = "", 0
    for where, _, mark, block in blocks_of(COURSE / f"{page}.md"):
        if mark == SHOWN:
            shows += 1
            parts = re.split(r"(?m)^\.\.\.\n", block)
            assert re.search("(?ms)^" + ".*\n".join(map(re.escape, parts)), printed), where
        elif re.match(r"host\b", mark):
            for built, instead in BUILT:
                block = re.sub(f"(?m){built}", instead, block)
            printed = run("bash", "-c", block, cwd=TREE, env={"DIR": tmp_path}, timeout=300).out
    assert shows


@pytest.mark.parametrize("number", [number for number, text in EXERCISES.items()
                                    if "\nPicture:" in text])
def test_the_picture_in_a_page_is_that_of_the_trace(number):
    """As drawn by course draw."""
    assert course("draw", number).good().out == (COURSE / f"{number:02}.svg").read_text("utf-8")
    assert re.search(rf"(?m)^!\[.+\]\({number:02}\.svg\)$", PAGES[number].read_text("utf-8"))


@chapters
def test_the_right_answers_get_all_points(key, graded, number):
    """Of one chapter."""
    points = len(QUESTIONS[number])
    result = graded(answered(key), number).good()
    assert result.lines[-1] == f"# {points} of {points} points"
    assert count("^ok ", result.out) == points


def wrong(question, answer):
    """Another number, another time, the other word, another file."""
    answer = answer.replace(",", "")
    if question == "7.late":
        return "1ms"
    for right, instead in ((r"(.*\d)", r"\g<1>1"), (r"(\d.*[a-z])", r"\1 1ns"), ("yes", "no"),
                           ("no", "yes"), (r"(.*)\.c", r"\1x.c"), ("(.+)", r"\1x")):
        if found := re.fullmatch(right, answer):
            return found.expand(instead)
    return None


@chapters
def test_wrong_answers_get_no_points_and_a_hint_each(key, graded, number):
    """Of one chapter."""
    points = len(QUESTIONS[number])
    mistakes = {question: wrong(question, answer) for question, answer in key.items()}
    result = graded(answered(mistakes), number)
    assert result.status == 1
    assert result.lines[-1] == f"# 0 of {points} points"
    assert count("^not ok ", result.out) == count("^# hint: .", result.out) == points


def test_the_figures_in_the_sentences_of_the_costs_are_those_of_the_table():
    """Rounded."""
    tick, slots, table, sentences = re.search(
        r"(?ms)--tick (\d+)ms --slots (\d+).*?^```\n(SYSTEM.*?)^```\n(.*?)^## ",
        (COURSE / "costs.md").read_text("utf-8")).groups()
    unit = {"million": 1e6, "s": 1, "ms": 1e-3}
    known = [int(tick) * int(slots) / 1e3]
    known += [int(number.replace(",", ""))
              for number in re.findall(r"\b([\d,]+)\b(?!\.|ms|s)", table)]
    known += [float(number) * unit[name]
              for number, name in re.findall(r"\b([\d.]+)(ms|s)\b", table)]
    figures = re.findall(r"\b(\d[\d.]*) (million|s)\b", sentences)
    assert figures
    assert [(figure, name) for figure, name in figures
            if figure not in {f"{number / unit[name]:.{len(figure.partition('.')[2])}f}"
                              for number in known}] == []


@pytest.fixture(scope="module", name="mistaken")
def fixture_mistaken(tmp_path_factory):
    """What the grader says of all wrong answers of the page for teachers."""
    path = tmp_path_factory.mktemp("mistakes") / "answers"
    path.write_text(answered({question: answer for question, answer, _ in MISTAKES}), "utf-8")
    return course("grade", path).out


def test_teachers_are_told_of_wrong_answers():
    """There are enough of them, and each row of the table was read."""
    assert len(MISTAKES) == count(r"^\| `\d", TEACHING) >= 20


@cases("question, answer, hint", *MISTAKES)
def test_a_wrong_answer_gets_the_hint_that_teachers_are_told(mistaken, question, answer, hint):
    """Or a part of that."""
    said = re.search(rf" - {re.escape(question)}: it is not '{re.escape(answer)}'\n(.*)", mistaken)
    assert said and said[1].startswith("# hint: ") and hint in said[1]


@chapters
def test_teachers_are_told_the_points(number):
    """Of each chapter."""
    points = re.search(rf"(?m)^\| \[{number}\].* \| (\d+) \| [^|]* \|$", TEACHING)[1]
    assert int(points) == len(QUESTIONS[number])


@pytest.fixture(scope="module", name="slides")
def fixture_slides(tmp_path_factory):
    """By chapter."""
    if not shutil.which("pandoc"):
        pytest.skip("there is no pandoc")
    folder = tmp_path_factory.mktemp("slides")
    run("make", "-s", "slides", f"SLIDES={folder}", cwd=TREE).good()
    return {int(path.stem): path.read_text("utf-8") for path in folder.glob("*.html")}


@chapters
def test_slides_have_the_questions_and_pictures_and_nothing_from_elsewhere(slides, number):
    """A slide for each question, no more on one than fits."""
    asked = re.findall(rf"<code>{number}\.([a-z]*)</code>: ", slides[number])
    assert set(asked) >= set(QUESTIONS[number])
    assert ("data:image/svg" in slides[number]) == (
        re.search(r"(?m)\.svg\)$", PAGES[number].read_text("utf-8")) is not None)
    assert not re.search('(src|href)="[^#d]', slides[number])


def script(*lines):
    """One that ends with run."""
    return "".join(f"{line}\n" for line in (*lines, "run"))


def arms(timers, delay):
    """Lines that arm timers, from 1 on."""
    return [f"arm {timer} {delay}" for timer in range(1, timers + 1)]


# By chapter: work that does what its task asks for, and the smallest thing in it that spoils it.
WORK = {
    1: (script(*arms(3, "30s"), *(f"at {second}s\nextend 1 30s" + "\ncancel 3" * (second == 5)
                                  for second in range(1, 61))), "at 60s\n", ""),
    2: (script(*(f"arm {timer} {timer}ms" for timer in range(1, 1001))), "999ms", "1s"),
    3: ("#: --tick 100ms --slots 1200\n", "100ms", "101ms"),
    4: (script("#: --tick 1s --slots 64", *arms(7, "10s")), "arm 7 .*\n", ""),
    5: (script("arm 1 5m", "arm 2 3670016ms"), "3670016ms", "3670017ms"),
    6: (script("arm 1 50ms", "arm 2 10s", "at 1ms", "cancel 1"), "cancel 1", "extend 1 100ms"),
    7: (script(*arms(5000, "10s")), "arm 4[5-9].*\n", ""),
    8: (script("arm 7 20ms", "run 21ms", "arm 7 19ms", "run 20ms", "arm 7 19ms"), "19ms", "20ms"),
    9: ((COURSE / "race").read_text("utf-8").replace("[cancels, arms, ", "[cancels, arms, fence, ")
        .replace("\n\ndef loads_promise", '\n\ndef fence(state):\n    get_out(state, "program")\n'
                 '    return "fence"\n\n\ndef loads_promise'), ' +get_out.*"program"\\)\n', ""),
}


@pytest.mark.parametrize("number", WORK)
def test_work_that_does_what_the_task_asks_for_passes(tasked, number):
    """All that is wanted is there."""
    result = tasked(number, WORK[number][0]).good()
    assert count("^ok ", result.out) == count("^Want:", EXERCISES[number])


@pytest.mark.parametrize("number", WORK)
def test_work_that_lacks_a_little_fails(tasked, number):
    """And what it lacks is told."""
    work, part, instead = WORK[number]
    spoilt = re.sub(part, instead, work)
    assert spoilt != work
    result = tasked(number, spoilt)
    assert result.status == 1 and count("^not ok ", result.out)


@pytest.mark.parametrize("number", WORK)
def test_no_work_fails(tasked, number):
    """An empty file."""
    result = tasked(number, "")
    assert result.status == 1 and count("^not ok ", result.out)


# The one task that changes the module: what is put in place of which line, and where.
COUNTS = (
    ("wheel.h", "(?m)^\tu64\t*cascades;", r"\g<0>\n\tu64 heavies;"),
    ("wheel.c", r"(?m)^\t\t\tw->heavy \|= BIT\(l\);", "\t\t\tw->heavies++, w->heavy |= BIT(l);"),
    ("tools/sim/sim.h", "(?m)^\tuint64_t\tsignals;", r"\g<0>\n\tuint64_t heavies;"),
    ("tools/sim/twheel.c", r"(?m)^\towner_advance\(ts, s->now\);",
     r"\g<0>\n\ts->counters.heavies = ts->wheel.heavies;"),
    ("tools/sim/show.c", r"(?m)^\tif \(c->signals\)", "\tif (system == sim_systems[0])\n"
     r'\t\trow("heavy slots", c->heavies, "");' r"\n\g<0>"))
CASCADES = "wheel.c", r"w->cascades\+\+;"


@pytest.fixture(scope="module", name="copy")
def fixture_copy(tmp_path_factory):
    """Of this tree, as far as the simulator needs it."""
    folder = tmp_path_factory.mktemp("copy")
    for pattern in ("VERSION", "*.[ch]", "compat/**/*", "uapi/**/*", "lib/needs", "tests/*.h",
                    "tools/Makefile", "tools/*.[ch]", "tools/sim/*"):
        for path in filter(pathlib.Path.is_file, TREE.glob(pattern)):
            place = folder / path.relative_to(TREE)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)
    return folder


@pytest.mark.parametrize("chapter, text", [
    (3, "#: --as heap\n"), (3, "#: --tick 1ms --as heap\n"), (4, "#: --as=heap\narm 1 100s\nrun\n")])
def test_a_task_is_done_on_its_own_system(tasked, chapter, text):
    """Another one is refused."""
    tasked(chapter, text).refused(2, "give --tick and --slots, and nothing else$")


@pytest.mark.parametrize("changes, good, says", [
    ((), 1, "not ok 2 - 65 timers are a heavy one"),
    (COUNTS, 4, "ok 3 - two of them are two"),
    ((*COUNTS, (*CASCADES, r"\g<0> w->heavies++;")), None, "not ok 1 - 64 timers are a light slot"),
    ((*COUNTS, (*CASCADES, "w->cascade++;")), None, "# build: '.*wheel.c.*cascade.*'"),
], ids=["unchanged", "counts heavy slots", "counts light ones as well", "does not compile"])
def test_a_changed_wheel_is_checked(copy, changes, good, says):
    """One that counts its heavy slots passes, and no other. The compiler's error is told; what was
    built before may be there then."""
    texts = {name: (TREE / name).read_text("utf-8") for name, *_ in COUNTS}
    for name, line, instead in changes:
        texts[name], found = re.subn(line, instead, texts[name])
        assert found
    for name, text in texts.items():
        # make goes by the time of a file.
        if (copy / name).read_text("utf-8") != text:
            (copy / name).write_text(text, "utf-8")
    result = course("task", 10, copy, timeout=300)
    assert result.status == (good != 4)
    assert good is None or count("^ok ", result.out) == good
    assert re.search(f"(?m)^{says}$", result.out)


@pytest.fixture(scope="module", name="examples")
def fixture_examples():
    """What the script prints that runs the examples of the texts."""
    return run(COURSE / "texts/all")


def test_all_examples_of_the_texts_come_out(examples):
    """And they are counted."""
    assert examples.good().lines[-1] == f"# {len(TEXTS)} of {len(TEXTS)} come out"


@pytest.mark.parametrize("path", TEXTS, ids=[path.stem for path in TEXTS])
def test_an_example_of_the_texts_comes_out(examples, path):
    """And docs/sim.md has it."""
    title = path.read_text("utf-8").splitlines()[1].removeprefix("# ")
    assert re.search(rf"(?m)^ok \d+ - {re.escape(title)}$", examples.out)
    assert f"(course/texts/{path.name})" in (TREE / "docs/sim.md").read_text("utf-8")


def test_the_picture_of_the_costs_is_what_plot_counts():
    """It takes half a minute."""
    if run("perl", "-MJSON::PP", "-e", "1").status:
        pytest.skip("perl has no JSON::PP")
    result = run(COURSE / "plot", timeout=300).good()
    assert result.out == (COURSE / "costs.svg").read_text("utf-8")


def test_one_wrong_answer_costs_one_point(key, graded):
    """And it is the right question that lacks it."""
    result = graded(answered({**key, "3.slot": "53"}))
    assert result.status == 1
    assert result.lines[-1] == f"# {len(key) - 1} of {len(key)} points"
    assert [line for line in result.lines if line.startswith("not ok")] == [
        f"not ok {list(key).index('3.slot') + 1} - 3.slot: it is not '53'"]


def test_no_answers_get_no_points_and_no_hints(key):
    """As in the file for answers."""
    result = course("grade", COURSE / "answers.txt")
    assert result.status == 1
    assert count("^not ok .*: no answer yet$", result.out) == len(key)
    assert "hint" not in result.out


@cases("line", "1.last=1 min 20 sec.", "1.last = 80,000,000 µs", "1.last = 80000000 μs",
       "1.expired = Twice", "2.best = the heap", "3.slot = Slot 54",
       "3.refused = timer 4, of 65 ms", "3.twheel = level 0 slot 64",
       "5.level = level 1, slot 5", "5.moves = never",
       "7.light = 10 s, 10000ms", "7.late = on time", "7.thread = 3,600,001 times",
       "7.heavy = Yes, before that", "8.nobody = key 9", "9.buffer = the Promise",
       "10.floor = `./wheel.c`")
def test_what_is_meant_is_taken_out_of_an_answer(graded, line):
    """Behind a remark."""
    chapter, question = re.match(r"(\d+)\.(\w+)", line).groups()
    result = graded(f"  # a remark\n{line}\n", chapter)
    assert re.search(rf"(?m)^ok \d+ - {chapter}\.{question}: '", result.out)


@cases("line, form",
       ("3.slot = 54 or 53", "one number"), ("3.slot = 310 - 256 = 54", "one number"),
       ("3.slot = 54, 55", "one number"), ("3.slot = not 54", "one number"),
       ("3.slot = level 54", "one number"), ("3.slot = 54ms", "one number"),
       ("3.slot = 54/1", "one number"), ("3.slot = it depends", "one number"),
       ("1.last = 80", "a duration as 250ms, or 0"),
       ("1.last = 80s, then 90s", "a duration as 250ms, or 0"),
       ("1.last = 20s 1m", "a duration as 250ms, or 0"),
       ("7.late = not late", "a duration as 250ms, or 0"), ("7.heavy = yes and no", "yes or no"),
       ("9.buffer = deadline or promise", "one word"), ("10.floor = wheel", "a file as users.c"))
def test_of_two_answers_or_none_the_form_is_named(graded, line, form):
    """None is marked right."""
    result = graded(line + "\n", line.partition(".")[0])
    assert result.status == 1
    assert re.search(rf"(?m)^not ok .* can't be read: give {form}$", result.out)


def test_an_answer_is_no_line_of_tap_and_no_command_to_a_terminal(graded):
    """Whatever it says."""
    result = graded("7.idle = ok 99 # points\033[1m\n", 7)
    assert result.status == 1
    assert "not ok 2 - 7.idle: it is not 'ok 99 ? points?[1m'" in result.lines


@pytest.mark.parametrize("number, question", [
    pytest.param(number, question, id=f"{number}.{question}")
    for number, questions in QUESTIONS.items() for question in questions])
def test_no_answer_is_written_down(tmp_path, number, question):
    """In a copy whose runs print nothing none comes out."""
    folder = tmp_path / "docs/course"
    (folder / "exercises").mkdir(parents=True)
    for name in "course", "meaning.py":
        shutil.copy(COURSE / name, folder)
    silent = re.sub(r"(?ms)^(Run: \w+ = ).*?\n(?=\w|\n)", r"\1true\n", EXERCISES[number])
    head, *rest = silent.split("\n\n")
    asked = [part for part in rest if f"Question: {question}" in part.splitlines()]
    assert len(asked) == 1
    (folder / f"exercises/{number:02}.questions").write_text(f"{head}\n\n{asked[0]}\n", "utf-8")
    run(folder / "course", "key", number).refused(
        2, rf"^course: {number}\.{question}: the answer does not come out")


def test_with_all_rules_no_order_loses_the_timer():
    """That is what chapter 9 is about."""
    out = race().good().out
    assert re.search("(?m)^lost *0$", out) and "story" not in out


@cases("rule", "reread", "barrier", "exchange")
def test_without_a_rule_some_order_loses_the_timer(rule):
    """The shortest is told."""
    out = race("--without", rule).good().out
    assert re.search("(?m)^lost *[1-9]", out) and "story" in out


def test_an_exercise_is_shown():
    """Its script, its questions, and then what happens."""
    result = course("show", 3).good()
    assert "    arm 5 70ms" in result.lines
    assert re.search(r"(?s)\n  3\.twheel .*\n\$ twheel-sim --as simple", result.out)


@pytest.fixture(name="terminal")
def fixture_terminal():
    """An exercise on a terminal."""
    terminal = Terminal(COURSE / "course", "show", 3)
    yield terminal
    terminal.child.kill()
    terminal.child.wait()
    os.close(terminal.fd)


def test_on_a_terminal_one_enter_shows_one_answer_and_the_last_what_happens(terminal):
    """An answer that is typed before is judged."""
    typed = {"3.slot?": "timer 1: slot 54", "3.full?": "", "3.refused?": "5", "3.vain?": "54 or 60",
             "3.twheel?": "64", "Enter shows what happens.": ""}
    for shown, (prompt, text) in enumerate(typed.items()):
        terminal.shows(rf"\n{re.escape(prompt)} $")
        assert count(r"^  (yes, |no, |)\d+(:|$)", terminal.text) == shown
        assert "$ twheel" not in terminal.text
        os.write(terminal.fd, f"{text}\n".encode())
    terminal.shows("make task CHAPTER=3 FILE=yours checks it.")
    for line in "  yes, 54\r\n", "  58: after a whole turn", "  no, 4: ", "simple: tick 1ms":
        assert line in terminal.text
    until(terminal.has_ended)
    assert terminal.child.returncode == 0


def test_on_a_terminal_ctrl_d_ends_it(terminal):
    """Nothing more is shown."""
    terminal.shows(r"3\.slot\? $")
    os.write(terminal.fd, b"\x04")
    assert terminal.child.wait(10) == 0
    assert not terminal.has_written("(?m)^  (yes|no),|^[$] twheel|Traceback")


def test_nobody_has_to_read_all(tmp_path):
    """It ends without a word if its output is not read, and leaves nothing."""
    with subprocess.Popen([COURSE / "course", "template"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env={"TMPDIR": str(tmp_path)}) as child:
        child.stdout.close()
        assert child.stderr.read() == b""
    assert child.returncode == 1
    assert not list(tmp_path.iterdir())


def test_an_answer_of_any_length_is_judged_at_once(key, graded):
    """Within what a test may take: it is of no form."""
    answer = {"1.last": "7" * 30000 + " " * 40000 + "x"}
    assert re.search("(?m)^not ok .*1.last", graded(answered({**key, **answer}), 1).out)


@pytest.mark.parametrize("words, text", [
    ("", "say show CHAPTER, grade FILE"),
    ("show", "say which chapter, as in make course CHAPTER=3"),
    ("show 99", "chapter 99: there is none: say a number from 1 to 10"),
    ("grade docs/course/answers.txt x", "chapter x: there is none"),
    ("draw 7", "chapter 7 has no picture"),
    ("task 3 /none", "/none: No such file or directory: give the file that the task asks for"),
    ("grade /none", "/none: No such file or directory: write your answers into a copy of"),
])
def test_a_wrong_call_is_refused(words, text):
    """In one line, which says what to do."""
    course(*words.split()).refused(2, f"^course: {text}")


@pytest.mark.parametrize("text, why", [
    ("3.slot 54\n", ":1: write QUESTION = ANSWER"),
    ("3.size = 54\n", ":1: 3.size: no such question"),
    ("3.slot = 54\n3.slot = 55\n", ":2: 3.slot: it was answered above"),
], ids=["no =", "no question", "twice"])
def test_a_wrong_file_is_refused(graded, text, why):
    """With the line that is wrong."""
    graded(text).refused(2, f"/answers{why}")


def test_without_the_simulator_it_says_how_to_get_it():
    """It is not in PATH unless make calls."""
    course("key", 3, env={"PATH": "/nonexistent"}).refused(2, "there is no twheel-sim in PATH: use")


def test_race_refuses_a_rule_that_it_has_not():
    """And says which it has."""
    race("--without", "hope").refused(2, "say --without reread, barrier or exchange")
