"""The coordinator's pages in a real browser, on a desk and on a phone, served over TLS."""

import httpx
import pytest
from helpers.chromium import Browser, Page, find
from helpers.study import AGE, Trial, text_of
from helpers.study_service import Serving, running
from helpers.waiting import PATIENCE, until

PHONE, DESK = {"width": 360, "height": 740}, {"width": 1100}
OTHER = AGE | {"name": "later"}


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    """A study of which one release is complete, and another waits for two parties."""
    text = text_of(releases=(AGE, OTHER)).replace(
        b'name = "test"', b'name = "test"\ntitle = "Five hospitals <one> curve"'
    )
    trial = Trial(tmp_path_factory.mktemp("study"), text)
    with Serving(trial) as served:
        with running(served):
            trial.coordinator.request("age")
            until(lambda: trial.coordinator.result("age") is not None)
            until(lambda: all(site.agent.results() for site in trial.sites.values()))
        trial.coordinator.request("later")
        with running(served, numbers=(1, 2)):
            until(lambda: trial.coordinator.waiting_for == (3, 4))
        yield served


@pytest.fixture(scope="module")
def browser(serving, tmp_path_factory):  # ends before the service, to which it keeps connections
    program = find()
    if program is None:
        pytest.skip("no Chromium on this machine to open pages in (Debian: make services)")
    with Browser(program, tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.mark.each_value
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("screen", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("place", ["/", "/releases/age"])
def test_a_page_fits_its_screen_and_asks_for_nothing_else(browser, serving, place, screen, dark):
    address = f"https://127.0.0.1:{serving.port}{place}"
    page = Page(browser, address, dark=dark, **screen)
    try:
        assert [each for each in page.requests if not each.startswith("data:")] == [address]
        assert page.complaints == []
        assert page.ask("document.documentElement.scrollWidth <= innerWidth")
        assert page.ask("document.documentElement.lang") == "en"
        text = page.ask("document.body.innerText")
        light, paper = (
            page.ask("getComputedStyle(document.body).color"),
            page.ask("getComputedStyle(document.body).backgroundColor"),
        )
        assert light != paper
    finally:
        page.close()
    if place == "/":
        for words in (
            "Five hospitals <one> curve",
            "waits for site-3, site-4",
            "step keys",
            "epsilon = 4",
            "costs epsilon = 1",
            "site-1",
        ):
            assert words in text
    else:
        assert "age" in text
        assert "epsilon = 1" in text


def test_the_curve_of_a_release_is_drawn_with_its_band_and_said_to_a_screen_reader(browser, serving):
    page = Page(browser, f"https://127.0.0.1:{serving.port}/", **DESK)
    assert page.ask("document.querySelector('a').textContent") == "age"
    assert page.ask("document.querySelector('img').naturalWidth") > 100
    assert page.ask("document.querySelector('img').alt") == "The chart of age"
    page.close()
    page = Page(browser, f"https://127.0.0.1:{serving.port}/releases/age", **DESK)
    try:
        assert page.ask("document.querySelectorAll('svg').length") >= 1
        assert page.ask("document.querySelectorAll('svg .band, svg path, svg polygon').length") >= 2
        assert any(node.get("role", {}).get("value") in ("image", "img") for node in page.accessible())
    finally:
        page.close()


def test_pages_come_with_a_policy_that_forbids_everything_else(serving):
    with httpx.Client(verify=False, trust_env=False, timeout=PATIENCE) as client:
        found = client.get(f"https://127.0.0.1:{serving.port}/")
    assert "default-src 'none'" in found.headers["Content-Security-Policy"]
    assert "<script" not in found.text
