"""The page of a study of people in a real browser, on a desk and on a phone."""

import pytest
from helpers.chromium import Page
from helpers.people_study import Serving, study_of

from ogive.study.https.pages import Released
from ogive.study.pairs.service import status_page

PHONE, DESK = {"width": 360, "height": 740}, {"width": 1100}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """What the page of a study says before anybody is there, when it is complete, and when nothing came out."""
    folder = tmp_path_factory.mktemp("pages")
    with Serving(tmp_path_factory.mktemp("study"), study_of(title='"Wards <of> people"')) as serving:
        waiting = serving.service.public(serving.service.read())
        serving.people(dict.fromkeys(range(1, 9), 3))
        done = serving.service.public(serving.service.read())
        found = {"ward": Released.of(serving.service.result("ward"))}
    over = done | {"reason": "no pair was opened", "releases": [done["releases"][0] | {"state": "over"}]}
    for name, told, released in (("waiting", waiting, {}), ("done", done, found), ("over", over, {})):
        (folder / f"{name}.html").write_text(status_page(told, released), encoding="utf-8")
    return folder


SAID = {
    "waiting": ("0 of 8 people are connected. No pair begins after", "waiting for people"),
    "done": ("No more pairs compute.", "released", "costs each person epsilon = 140"),
    "over": ("over without a release: no pair was opened.", "over"),
}


@pytest.mark.each_value
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("screen", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("name", SAID)
def test_a_page_fits_its_screen_and_asks_for_nothing_else(browser, pages, name, screen, dark):
    address = (pages / f"{name}.html").as_uri()
    page = Page(browser, address, dark=dark, **screen)
    try:
        assert [each for each in page.requests if not each.startswith("data:")] == [address]
        assert page.complaints == []
        assert page.ask("document.documentElement.scrollWidth <= innerWidth")
        text = page.ask("document.body.innerText")
    finally:
        page.close()
    for words in ("Wards <of> people", *SAID[name]):
        assert words in text
