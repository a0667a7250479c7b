"""The page of a server in a real browser, on a desk and on a phone."""

import pytest
from helpers.chromium import Page
from helpers.servers_study import AGE, Trial, ages, text_of

from ogive.study.https.pages import Released
from ogive.study.servers.service import ServerService, status_page
from ogive.study.store import OfServers

PHONE, DESK = {"width": 360, "height": 740}, {"width": 1100}
RELEASES = (AGE, AGE | {"name": "costly"})
HOUR = 1_795_726_800


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    """A study of which one release is complete, and another is over because the budget is spent."""
    text = text_of(releases=RELEASES, budget="{ epsilon = 1 }", records=200)
    text = text.replace(b'name = "test"', b'name = "test"\ntitle = "Ages <of> people"', 1)
    with Trial(tmp_path_factory.mktemp("servers"), people=200, text=text) as trial:
        trial.upload({"age": ages(200)})
        trial.release()
        with trial.stores[0].write() as kept:
            OfServers(trial.study, kept).end(trial.study.place_of("costly"), "the account has nothing left")
        service = ServerService(trial.nodes[0], trial.leader)
        told = service.public(service.read()) | {"uploads_by_hour": [[HOUR, 120], [HOUR + 3600, 80]]}
        page = status_page(told, {"age": Released.of(trial.nodes[0].estimate(0).to_dict())})
    path = tmp_path_factory.mktemp("page") / "server.html"
    path.write_text(page, encoding="utf-8")
    return path


@pytest.mark.each_value
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("screen", [PHONE, DESK], ids=["phone", "desk"])
def test_a_page_fits_its_screen_and_asks_for_nothing_else(browser, page_file, screen, dark):
    page = Page(browser, page_file.as_uri(), dark=dark, **screen)
    try:
        assert [each for each in page.requests if not each.startswith("data:")] == [page_file.as_uri()]
        assert page.complaints == []
        assert page.ask("document.documentElement.scrollWidth <= innerWidth")
        assert page.ask("document.querySelector('img').naturalWidth") > 100
        text = page.ask("document.body.innerText")
    finally:
        page.close()
    for words in (
        "Ages <of> people",
        "200 uploads are stored; no more are taken",
        "200 people are counted",
        "2026-11-26 21:00",
        "120",
        "Release costly is over",
        "the account has nothing left",
        "The budget of this study is epsilon = 1. Spent so far: epsilon = 1.",
    ):
        assert words in text
