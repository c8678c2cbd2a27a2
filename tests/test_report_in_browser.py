"""The page of `hrcase report` in headless Chromium: on a phone, on a screen, on paper."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import start
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

LOOKS = Path(__file__).with_name("looks.js").read_text()
PHONE, SCREEN = 360, 1280
PAPER = 703
"""CSS pixels between the margins of A4, 186 mm."""

LAYOUTS = {"phone": (PHONE, "screen"), "screen": (SCREEN, "screen"), "paper": (PAPER, "print")}
ASKED = {
    "exp": ("exp", "--format", "binary32", "--exponent-range=-26:7", "--bits", "21"),
    "wide": ("log", "--format", "x87", "--interval", "0x1p-80,0x1.00000001p-80", "--bits", "28"),
    "empty": ("exp", "--format", "binary16", "--interval", "1,1.01", "--bits", "20"),
}
"""Every part of the page; the longest numbers; no case at all."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in programs:
        # No package of Python brings a browser, and nothing but this page needs one. Where one is
        # asked for (.ci/run sets the variable once it has fetched it), a missing one is a failure.
        why = "no chromium or no chromedriver; run: apt-get install chromium chromium-driver"
        assert os.environ.get("HRCASE_NEEDS_BROWSER") != "1", why
        pytest.skip(why)
    chromium, driver = map(str, programs)
    options = ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with Chrome(options, Service(driver)) as found:
        yield found


@pytest.fixture(scope="module", params=ASKED)
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("report")
    job, output = str(directory / "job"), directory / "page.html"
    search = ("search", *ASKED[request.param], "--device", "cpu", "--threads", "1", "--job", job)
    for words in (search, ("report", job, "--output", str(output))):
        done = start(*words)
        _, err = done.communicate()
        assert done.returncode == 0, err
    return output


def laid_out(browser: Chrome, page: Path, width: int, medium: str) -> list[str]:
    """Show a page; what is wrong with it, and what the console says."""
    metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width == PHONE}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": medium})
    browser.get(page.as_uri())
    wrong: list[str] = browser.execute_script(LOOKS)
    said = browser.execute("getLog", {"type": "browser"})["value"]
    return wrong + [entry["message"] for entry in said]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nothing_is_cut_off_or_hard_to_read(browser: Chrome, page: Path, layout: str) -> None:
    assert laid_out(browser, page, *LAYOUTS[layout]) == []


@pytest.mark.parametrize(
    ("old", "new", "layout", "said"),
    [
        (".scroll { overflow-x: auto;", ".scroll {", "phone", "the page is"),
        ("--faint: #5a5a5a", "--faint: #b0b0b0", "screen", "has a contrast of"),
        ("table { font-size: 8pt", "table { font-size: 30pt", "paper", "reaches from"),
        (".claim {", ".claim { visibility: hidden;", "screen", "is not visible"),
        ("font: 12px", "font: 40px", "screen", "is written over"),
        ("<main>", '<main><img alt="" src="none.png">', "screen", "Failed to load"),
    ],
)
@pytest.mark.parametrize("page", ["exp"], indirect=True)
def test_what_is_wrong_is_seen(
    browser: Chrome, page: Path, old: str, new: str, layout: str, said: str
) -> None:
    text = page.read_text()
    assert old in text
    broken = page.with_name("broken.html")
    broken.write_text(text.replace(old, new))
    assert said in " ".join(laid_out(browser, broken, *LAYOUTS[layout]))
