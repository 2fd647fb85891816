"""A real headless Chromium, driven through WebDriver; skipped where there is none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDE = (1360, 1500)
PHONE = (390, 2600)


class Browser:
    """A tab: the page's elements by CSS selector, its console, and pictures of it."""

    def __init__(self, binary, driver_binary):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = binary
        for argument in (
            "--headless=new",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--disable-gpu",
        ):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(driver_binary))
        self.size(*WIDE)
        self.problems = []

    def size(self, width, height, phone=False):
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {
                "width": width,
                "height": height,
                "deviceScaleFactor": 2 if phone else 1,
                "mobile": phone,
            },
        )

    def scheme(self, name):
        """``light`` or ``dark``, as the system would prefer."""
        feature = {"name": "prefers-color-scheme", "value": name}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})

    def open(self, url):
        self.driver.get(url)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        from selenium.webdriver.common.by import By

        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def press(self, selector, keys):
        """Type ``keys`` on an element, also where the page is just drawing it anew."""

        def typed():
            self.find(selector).send_keys(keys)
            return True

        self.wait(typed, f"{selector} to stand still")

    def text(self, selector):
        """All text of the first match, shown or not; empty where nothing matches."""
        script = "const e = document.querySelector(arguments[0]); return e ? e.textContent : ''"
        return self.run(script, selector)

    def wait(self, condition, what, timeout_s=20.0):
        from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
        from selenium.webdriver.support.ui import WebDriverWait

        try:
            return WebDriverWait(
                self.driver, timeout_s, 0.05, ignored_exceptions=[StaleElementReferenceException]
            ).until(lambda _: condition())
        except TimeoutException:
            self.picture("failure")
            pytest.fail(f"waited {timeout_s:g} s for {what}; the page is in {SCREENSHOTS}")

    def picture(self, name):
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(SCREENSHOTS / f"{name}.png"))

    def console(self):
        """What the page logged since the last call, at the level of a warning or above."""
        return [
            f"{entry['level']}: {entry['message']}"
            for entry in self.driver.get_log("browser")
            if entry["level"] in ("SEVERE", "WARNING")
        ]


@pytest.fixture(scope="session")
def chromium():
    pytest.importorskip("selenium", reason="the browser tests need selenium: make setup")
    binary = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("no chromium with chromedriver is found: make chromium")
    browser = Browser(binary, driver)
    yield browser
    browser.driver.quit()


@pytest.fixture
def browser(chromium):
    """The tab, as new: wide, light, and with an empty console."""
    chromium.size(*WIDE)
    chromium.scheme("light")
    chromium.open("about:blank")
    chromium.console()
    return chromium
