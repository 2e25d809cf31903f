# SPDX-License-Identifier: GPL-2.0
"""The browser of the tests of pages."""
import pathlib

import pytest


@pytest.fixture(scope="module", name="driver")
def fixture_driver():
    """A browser that shows no window."""
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    for word in ("--headless", "--disable-gpu", "--no-sandbox", "--allow-file-access-from-files"):
        options.add_argument(word)
    # What is in /usr/bin is a script: the driver would end that, and not the browser.
    headless = pathlib.Path("/usr/lib/chromium/chromium-headless-shell")
    if headless.exists():
        options.binary_location = str(headless)
    service = pytest.importorskip("selenium.webdriver.chrome.service").Service("/usr/bin/chromedriver")
    driver = webdriver.Chrome(service=service, options=options)
    driver.set_script_timeout(60)
    yield driver
    driver.quit()
