# SPDX-License-Identifier: GPL-2.0
"""The site in a browser: it can be read on a phone and on a wide screen, and loads nothing else.

    make site
    TWHEEL_SHOTS=/tmp/shots pytest-3 check/test_site.py

Pictures of its pages are left in the folder TWHEEL_SHOTS. make site itself checks the links."""
import os
import pathlib

import pytest

SITE = pathlib.Path(__file__).resolve().parents[1] / "build/site"
PAGES = ["index", "docs/course/05-levels", "docs/figures", "docs/sim", "man/twheel.4", "man/twheel.1",
         "CONTRIBUTING", "wheel.c", "examples/survive", "play/index"]
# Returns what is wider than the screen and can't be moved sideways.
WIDE = """
const moves = e => e && (getComputedStyle(e).overflowX !== "visible" || moves(e.parentElement));
return [...document.querySelectorAll("body :is(p, li, pre, code, table, img, h1, h2, h3)")]
    .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !moves(e))
    .map(e => e.outerHTML.slice(0, 80));"""
# Returns pictures that are not there, or too small for the words in them.
PICTURES = """
return [...document.images].filter(i => !i.naturalWidth || i.width < 600).map(i => i.src);"""
LOADS = "return performance.getEntriesByType('resource').map(e => e.name);"


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_read(driver, name, width):
    """No words are cut off, pictures are seen, and nothing comes from elsewhere."""
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 800})
    driver.get((SITE / f"{name}.html").as_uri())
    if "TWHEEL_SHOTS" in os.environ:
        folder = pathlib.Path(os.environ["TWHEEL_SHOTS"])
        folder.mkdir(parents=True, exist_ok=True)
        driver.save_screenshot(str(folder / f"{name.replace('/', '-')}-{width}.png"))
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    assert not driver.execute_script(WIDE)
    assert not driver.execute_script(PICTURES)
    assert not [url for url in driver.execute_script(LOADS) if not url.startswith("file:")]


def test_the_wheels_that_turn_have_links_into_the_site(driver):
    """To the chapter about each system, and to the words."""
    driver.get((SITE / "play/index.html").as_uri())
    for url in driver.execute_script("""
            return systems.flatMap(({ name }) => [...readOn(name).querySelectorAll("a")].map(a => a.href));"""):
        path, _, heading = url.removeprefix("file://").partition("#")
        assert f'id="{heading}"' in pathlib.Path(path).read_text("utf-8") or not heading


def test_what_happens_is_folded(driver):
    """In a chapter, until one has said what one thinks."""
    driver.get((SITE / "docs/course/05-levels.html").as_uri())
    heights = [driver.execute_script("""
        const details = document.querySelector("details");
        details.open = arguments[0];
        return details.getBoundingClientRect().height;""", opened) for opened in (False, True)]
    assert heights[0] * 3 < heights[1]
