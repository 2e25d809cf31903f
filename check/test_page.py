# SPDX-License-Identifier: GPL-2.0
"""The page of docs/play in a browser: it says what twheel sim says, it shows what it promises, and
it can be read on screens of three widths.

    make tools play
    TWHEEL_SHOTS=/tmp/shots pytest-3 check/test_page.py

TWHEEL_PAGE is the page; pictures of it are left in the folder TWHEEL_SHOTS."""
import base64
import os
import pathlib
import re
import sys
import urllib.parse

import pytest

TREE = pathlib.Path(__file__).resolve().parents[1]
pytest.register_assert_rewrite("commands")
sys.path.insert(0, str(TREE / "tools" / "tests"))
# pylint: disable=wrong-import-position
from commands import program, run, until  # noqa: E402
By = pytest.importorskip("selenium.webdriver.common.by").By
Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys

PAGE = pathlib.Path(os.environ.get("TWHEEL_PAGE", TREE / "build/play/index.html")).resolve()
SYSTEMS = ["twheel", "simple", "hashed", "hierarchical", "clock", "keys", "heap", "list", "poll",
           "linux"]
SIZES = {390: 844, 820: 1180, 1440: 900}
ALL = """arm 1 35ms every 10ms times 2
cancel 7		# it is not armed
where 1
extend 1 +5ms
run 36ms
arm 2 700ms every 3m
extend 1 99h		# a simple wheel refuses that
at 1.5s
arm 3 1ns
arm 4 5s		# a wheel with keys takes this, and not twice
arm 4 6s
where 2
stop
"""
SCRIPTS = {
    **{path.name: path.read_text("utf-8")
       for path in sorted((TREE / "docs/course/exercises").glob("*.sim"))},
    "all": ALL, "endless": "arm 1 5ms every 5ms\nrun\n", "stopped": "stop\narm 1 5ms\n",
    "id": "arm 70000 5ms\n", "unit": "\narm 1 5", "backwards": "at 5ms\nat 3ms\n",
    "short": "arm 1 1.7ms\ncancel 1\narm 1 1.6ms\nrun\narm 1 300us\nrun\n",
}
SIXTY = "".join(f"arm {i} {i * 37 % 60 * 8 + 5}ms\n" for i in range(1, 61)) + "run\n"
TRACE_LINES = (TREE / "check/page_trace.js").read_text("utf-8")
# Returns what the model of the page says of a script; time passes in pieces, as while it plays.
TRACES = TRACE_LINES + """
const [script, start] = arguments;
return systems.map(({ name }) => {
    try {
        const shape = { tick: 0n, slots: 0, levels: 0, start: parseTime(compiled, "start", start) };
        const s = new Simulation(compiled, systems, name, shape, parseScript(compiled, script));
        for (let frame = 1n; frame < 500n; frame++)
            s.advance(shape.start + frame * 1700000n);
        s.advance(NEVER, true);
        if (s.error)
            throw s.error;
        return traceLines(s).join("\\n");
    } catch (why) {
        return typeof why === "string" ? why : why.stack;
    }
});"""
# The next frame of the page, a 60th of a second later however busy the machine is.  Returns the
# clock, what travels, and along which lines.
FRAME = """
window.requestAnimationFrame = () => 0;
window.time = (window.time || performance.now()) + 1000 / 60;
frame(time);
const at = g => g.getAttribute("transform").match(/[\\d.]+/g).map(Number);
return { now: String(simulation.now),
    falls: [...document.querySelectorAll("#view0 g.flying")].map(g => ({ ids: g.dataset.ids.split(" "),
        at: at(g), square: g.querySelector("rect").getAttribute("rx") === "0" })),
    lines: [...document.querySelectorAll("#view0 .trail")].map(l => ["x1", "y1", "x2", "y2"].map(
        k => Number(l.getAttribute(k)))) };"""
# Returns pairs of labels whose boxes overlap.
OVERLAPS = """
const labels = [...document.querySelectorAll(
    "#views svg text, #axis span, .levels li, .lane, figcaption label, #stage button, .key > span")]
    .filter(e => e.textContent.trim() && getComputedStyle(e).visibility === "visible" &&
                 !e.closest(".flying, .gone"))
    .map(e => [e.textContent.trim(), e.getBoundingClientRect()]);
return labels.flatMap(([a, r], i) => labels.slice(i + 1).filter(([, s]) =>
    r.left + 1 < s.right && s.left + 1 < r.right && r.top + 1 < s.bottom && s.top + 1 < r.bottom)
    .map(([b]) => `${a} / ${b}`));"""
# Returns words that stand on two lines.
BROKEN = """
const broken = [], range = document.createRange();
for (const cell of document.querySelectorAll("td, th, .levels span, button, label, h2"))
    for (const node of cell.childNodes)
        for (const { index, 0: word } of node.nodeType === 3 ? node.data.matchAll(/\\S+/g) : []) {
            range.setStart(node, index);
            range.setEnd(node, index + word.length);
            if (new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1)
                broken.push(word);
        }
return broken;"""
LUMINANCE = """
const light = name => {
    const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const [r, g, b] = [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16) / 255)
        .map(c => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b + .05;
};
const [a, b] = [...arguments].map(light);
return Math.max(a, b) / Math.min(a, b);"""


class Page:
    """The page, and what one does with it."""

    def __init__(self, driver):
        self.driver = driver
        self.js = driver.execute_script

    def open(self, fragment="", size=1440, **media):
        """Open it anew, on a screen of this width."""
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": name.replace("_", "-"), "value": value} for name, value in media.items()]})
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": size, "height": SIZES[size], "deviceScaleFactor": 1, "mobile": False})
        self.driver.get("about:blank")
        self.driver.get(PAGE.as_uri() + fragment)
        until(lambda: self.js("return document.documentElement.dataset.ready === '1'"))

    def state(self, script, as_="hierarchical", beside="twheel", done=0, now="0", **more):
        """Open it at a state."""
        self.open("#" + urllib.parse.urlencode({"as": as_, "beside": beside, "done": done,
                                                "now": now, "script": script}), **more)

    def click(self, element):
        """Click on the element with this id."""
        self.driver.find_element(By.ID, element).click()

    def type(self, element, text):
        """Type a text over what is there."""
        field = self.driver.find_element(By.ID, element)
        field.clear()
        field.send_keys(text)

    def key(self, key):
        """Press a key, with nothing in focus."""
        self.js("document.activeElement.blur()")
        self.driver.find_element(By.TAG_NAME, "body").send_keys(key)

    def text(self, element):
        """What the element with this id shows."""
        return self.js("return $(arguments[0]).textContent", element)

    def trace(self):
        """What has happened, as twheel sim prints it."""
        return self.js(TRACE_LINES + "return traceLines(simulation).join('\\n')")

    def shot(self, name):
        """Leave a picture of all of the page."""
        if "TWHEEL_SHOTS" in os.environ:
            folder = pathlib.Path(os.environ["TWHEEL_SHOTS"])
            folder.mkdir(parents=True, exist_ok=True)
            data = self.driver.execute_cdp_cmd("Page.captureScreenshot",
                                               {"captureBeyondViewport": True})["data"]
            (folder / f"{name}.png").write_bytes(base64.b64decode(data))


@pytest.fixture(scope="module", name="page")
def fixture_page(driver):
    """The page in a browser."""
    return Page(driver)


def sim(system, start, file):
    """What twheel sim prints of a script, or what it says is wrong with it."""
    result = run(program("twheel"), "sim", "--as", system, "--start", start, "--trace", "--json", file)
    if result.status:
        why = re.sub(r"^twheel sim: [^:]*:(\d+):", r"line \1:", result.err.strip())
        return re.sub(r": raise --cap.*", "", why)
    return re.sub(r'"timer_bytes":\d+,"memory_max":\d+,', "", result.out.strip())


@pytest.mark.parametrize("start", ["0", "250ms"])
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_page_says_what_twheel_sim_says(page, tmp_path, name, start):
    """Of each system, to the last digit."""
    file = tmp_path / "script"
    file.write_text(SCRIPTS[name], "utf-8")
    page.state("")
    for system, said in zip(SYSTEMS, page.js(TRACES, SCRIPTS[name], start)):
        assert said == sim(system, start, file), system


def test_it_opens_with_two_wheels_that_turn(page):
    """hierarchical and twheel, armed, on one clock."""
    page.open()
    assert page.js("return [$('as').value, $('beside').value]") == ["hierarchical", "twheel"]
    for view in "#view0", "#view1":
        assert page.js("return document.querySelectorAll(arguments[0] + ' .entry').length", view) > 3
    assert page.text("play") == "Pause"
    until(lambda: page.js("return Number(simulation.now)") > 5e6)
    assert page.js("return Number(beside.now - simulation.now)") < 2e6


def test_a_cascade_is_in_the_frames_while_it_plays(page):
    """An entry travels along a line from slot to slot for 600 ms, and the clock waits."""
    page.open()
    falls = []
    for _ in range(300):
        frame = page.js(FRAME)
        if any("1" in fall["ids"] for fall in frame["falls"]):
            falls.append(frame)
            if len(falls) in (6, 18, 30):
                page.shot(f"cascade-{len(falls)}")
        elif falls:
            break
    assert 34 <= len(falls) <= 37
    assert len({frame["now"] for frame in falls}) == 1
    parts = []
    for frame in falls:
        fall = next(fall for fall in frame["falls"] if "1" in fall["ids"])
        x1, y1, x2, y2 = frame["lines"][0]
        length = (x2 - x1) ** 2 + (y2 - y1) ** 2
        x, y = fall["at"][0] - x1, fall["at"][1] - y1
        parts.append((x * (x2 - x1) + y * (y2 - y1)) / length)
        assert abs(x * (y2 - y1) - y * (x2 - x1)) < length ** .5, "it leaves the line"
        assert fall["square"] and length > 400
    assert parts == sorted(parts) and parts[0] < .01
    assert sum(.1 < part < .9 for part in parts) > 20


def test_an_entry_that_falls_differs_by_shape_and_by_brightness(page):
    """Colours alone would not do."""
    for scheme in "light", "dark":
        page.state("arm 1 35ms\nrun\n", done=1, now="20ms", prefers_color_scheme=scheme)
        assert page.js("return document.querySelector('#view0 .entry.moved rect').getAttribute('rx')"
                       ) == "0"
        assert page.js(LUMINANCE, "--slot", "--moved") > 1.7


def test_without_motion_nothing_travels(page):
    """If the reader wants none: the page does not play, and a line shows from where to where."""
    page.open(prefers_reduced_motion="reduce")
    assert page.text("play") == "Play"
    for _ in range(40):
        page.click("step")
        assert page.js("return document.querySelector('.flying')") is None
        if page.js("return document.querySelector('#view0 .trail')"):
            return
    pytest.fail("there was no cascade")


@pytest.mark.parametrize("width", SIZES)
@pytest.mark.parametrize("system", SYSTEMS)
def test_nothing_overlaps_with_sixty_timers(page, system, width):
    """Nor is a word broken, nor the page wider than the screen."""
    page.state(SIXTY, as_=system, beside="heap", done=60, now="70ms", size=width)
    page.shot(f"sixty-{system}-{width}")
    assert page.js(OVERLAPS) == []
    assert page.js(BROKEN) == []
    assert page.js("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", SIZES)
def test_pictures_and_arm_are_on_the_first_screen(page, width, scheme):
    """Also on a phone."""
    page.open(size=width, prefers_color_scheme=scheme)
    page.js("$('play').click()")
    page.shot(f"open-{width}-{scheme}")
    assert page.js(OVERLAPS) == []
    assert page.js(BROKEN) == []
    for element in "#view0 .picture svg", "#view1 .picture svg", "[name=arm]":
        bottom = "return document.querySelector(arguments[0]).getBoundingClientRect().bottom"
        assert page.js(bottom, element) <= SIZES[width], element
    sizes = page.js("return [...document.querySelectorAll('#view0 .entry text')].map(t => "
                    "t.getBoundingClientRect().height)")
    assert min(sizes) >= 9
    assert page.js("return [...document.querySelectorAll('input, select, textarea')].every("
                   "e => e.labels.length)")


def test_fine_rings_are_arcs(page):
    """From 64 slots on, cells are not divided, and tokens stand apart."""
    page.state(SIXTY, as_="twheel", beside="linux", done=60, now="70ms")
    assert page.js("return document.querySelectorAll('#views .cells').length") == 0
    widths = page.js("return [...document.querySelectorAll('#views path.slot')].map(p => "
                     "p.getTotalLength())")
    assert min(widths) > 2.5


def test_end_jumps(page):
    """Over three hours at once, and over 300,000 wake-ups of a poll."""
    for system, end in ("hierarchical", "3h"), ("poll", "5m"):
        page.state(f"arm 1 5ms\narm 6 {end}\nrun\n", as_=system)
        page.key(Keys.END)
        until(lambda: page.text("now") == end, 5)  # pylint: disable=cell-var-from-loop
        assert "expired" in page.text("live") and "the script is over" in page.text("live")


def test_three_hours_are_readable_on_the_time_line(page):
    """It is logarithmic then."""
    page.state("arm 1 5ms\narm 2 70ms\narm 3 451ms\narm 4 5s\narm 5 10m\narm 6 3h\nrun\n", done=7)
    page.shot("hours")
    places = page.js("return [...document.querySelectorAll('#timeline svg')[0].querySelectorAll("
                     "'.t-expired')].map(l => l.getBoundingClientRect().left).sort((a, b) => a - b)")
    assert len(places) == 6
    assert min(b - a for a, b in zip(places, places[1:])) > 40
    assert len(page.js("return [...$('axis').children].map(s => s.textContent)")) >= 5


@pytest.mark.parametrize("view, file, line", [
    (0, "tools/sim/hierarchical.c", "sim_moved(s, sim_timer_of(part));"),
    (1, "wheel.c", "wheel_put(w, id, tick);")])
def test_the_line_that_ran_stands_next_to_the_picture(page, view, file, line):
    """As it is in the source; with links to pages that there are."""
    now = ("440ms", "451ms")[view]
    page.state("arm 1 451ms\narm 2 455ms\nrun\n", done=2, now=now)
    if view:
        page.js("beside.events.splice(beside.events.findLastIndex(e => e.what === 'moved') + 1);"
                "views[1].showLine()")
    about = page.js(f"return $('code{view}').querySelector('p').textContent")
    ran = page.js(f"return $('code{view}').querySelector('.ran').textContent")
    number = int(re.search(r":(\d+) in ", about)[1])
    assert about.startswith(file.split("/")[-1])
    assert (TREE / file).read_text("utf-8").splitlines()[number - 1].strip() == line
    assert line in ran
    for link in page.js("return [...document.querySelectorAll('.code a')].map(a => a.href)"):
        path, _, name = link.partition("#")
        target = pathlib.Path(path.removeprefix("file://"))
        assert target.exists(), link
        if name:
            assert re.search("(?mi)^#+ " + name.replace("-", " "), target.read_text("utf-8"))


def test_what_is_armed_by_hand_comes_into_the_script(page):
    """A run that this comes into ends when it would have; and the link brings the state back."""
    page.state("arm 1 350ms\nrun 500ms\n", beside="")
    page.click("step")
    page.click("step")
    page.type("id", "2")
    page.type("delay", "60ms" + Keys.ENTER)
    assert page.js("return $('script').value") == "arm 1 350ms\nat 340ms\narm 2 60ms\nat 500ms\n"
    assert page.js("return [...$('timers').rows].map(r => r.textContent)")[1].startswith("2400ms")
    link, before = page.js("return location.href"), page.trace()
    page.open("#" + link.split("#")[1])
    assert page.trace() == before and page.text("now") == "340ms"
    page.open()
    page.js("location.hash = arguments[0]", link.split("#")[1])
    until(lambda: page.text("now") == "340ms")
    assert page.trace() == before


def test_keys_do_what_buttons_do(page):
    """With nothing in focus."""
    page.state("arm 1 350ms\narm 2 450ms\nrun\n", done=2, now="340ms")
    before = page.trace()
    page.key(Keys.ARROW_RIGHT)
    until(lambda: page.text("now") == "350ms")
    page.key(Keys.ARROW_LEFT)
    assert page.text("now") == "340ms" and page.trace() == before
    page.key(Keys.HOME)
    assert page.text("now") == "0"
    page.key(" ")
    assert page.text("play") == "Pause"
    page.key(" ")
    assert page.text("play") == "Play"


@pytest.mark.parametrize("fragment, why", [
    ("#as=fly&done=x&now=y&script=arm+1+5%0A", "line 1: arm '5' needs a unit"),
    ("#as=poll&done=1&now=100000d&script=arm+1+5ms+every+5ms%0A", "too long"),
    ("#script=%3Cimg+src=x+onerror=alert(1)%3E", "no such operation"),
    ("#as=twheel&slots=1&script=arm+1+5ms%0A", "slots 1: give 2 to 4096")])
def test_a_link_with_a_mistake_says_what_is_wrong(page, fragment, why):
    """And brings nothing into the page."""
    page.open(fragment)
    assert why in page.text("error")
    assert page.js("return document.querySelectorAll('img').length") == 0
