"""The page of owners in a real browser, on a desk and on a phone; the report that it makes is one of a device."""

from fractions import Fraction

import pytest
from helpers.chromium import Page
from helpers.local_service import LocalProcess, LocalTrial, described
from helpers.waiting import until

import ogive
from ogive.local import Collection
from ogive.local.base import WORD, flip_threshold
from ogive.study.local.service import LocalService, ReleasedFile, owners_page, status_page

FLIPS = flip_threshold(Fraction(1))
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1100}


@pytest.fixture(scope="module")
def process(browser, tmp_path_factory):
    with LocalProcess(LocalTrial(tmp_path_factory.mktemp("local"), people=4)) as running:
        yield running


@pytest.mark.each_value
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("screen", [PHONE, DESK], ids=["phone", "desk"])
def test_a_page_fits_its_screen_and_asks_for_nothing_else(browser, process, screen, dark):
    page = Page(browser, f"{process.base}/#3-abc", dark=dark, **screen)
    try:
        assert page.requests == [f"{process.base}/"]
        assert page.complaints == []
        assert page.ask("document.documentElement.scrollWidth <= innerWidth")
        assert page.ask("document.querySelector('[name=token]').value") == "3-abc"
        color = page.ask("getComputedStyle(document.body).backgroundColor")
        assert color == ("rgb(20, 24, 29)" if dark else "rgb(255, 255, 255)")
        text = page.ask("document.body.innerText")
    finally:
        page.close()
    for words in (
        "Ages <of> people",
        "'age', from 0.0 to 120.0, in 64 bins",
        f"That is true with probability 0.7311 (exactly {WORD - FLIPS} / 2^64) and false with",
        f"probability 0.2689 (exactly {FLIPS} / 2^64)",
        "epsilon = 1: no report is more than 2.72 times as likely",
        "What an observer cannot learn",
        process.trial.description.digest.hex(),
    ):
        assert words in text, words


@pytest.fixture(scope="module")
def status_file(tmp_path_factory):
    """The status page of a collection of which the curve is released."""
    trial = LocalTrial(tmp_path_factory.mktemp("released"), people=50)
    collection = Collection(trial.description)
    collection.add(b"".join(trial.reports))
    estimate = tmp_path_factory.mktemp("file") / "ages.json"
    ogive.estimate_collection(collection).to_json(estimate)
    released, reports = ReleasedFile(estimate), trial.opened()
    told = LocalService(trial.description, reports, trial.participants(), released).public()
    reports.close()
    path = tmp_path_factory.mktemp("page") / "status.html"
    path.write_text(status_page(told, released.pictured()), encoding="utf-8")
    return path


@pytest.mark.each_value
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("screen", [PHONE, DESK], ids=["phone", "desk"])
def test_the_status_page_shows_the_released_curve(browser, status_file, screen, dark):
    page = Page(browser, status_file.as_uri(), dark=dark, **screen)
    try:
        assert [each for each in page.requests if not each.startswith("data:")] == [status_file.as_uri()]
        assert page.complaints == []
        assert page.ask("document.documentElement.scrollWidth <= innerWidth")
        assert page.ask("document.querySelector('img').naturalWidth") > 100
        color = page.ask("getComputedStyle(document.body).backgroundColor")
        assert color == ("rgb(20, 24, 29)" if dark else "rgb(255, 255, 255)")
        text = page.ask("document.body.innerText")
    finally:
        page.close()
    assert "0 of 50 participants have reported" in text
    assert "Release estimate" in text


def said(page, wanted):
    """What the page says of a report, once it says so."""
    text = ""

    def says():
        nonlocal text
        text = page.ask("document.querySelector('output').value")
        return wanted in text

    until(says, told=lambda: text, every=0.05)
    return text


SEND = """
document.querySelector('output').value = '';
document.querySelector('[name=answer]').value = '{answer}';
document.querySelector('form').requestSubmit();
"""


def test_an_owner_reports_from_the_page_and_once_alone(browser, process):
    trial, before = process.trial, process.status()["uploads"]
    page = Page(browser, f"{process.base}/#{trial.tokens[2]}", **DESK)
    try:
        page.ask(SEND.format(answer=""))
        said(page, "there is no value")
        page.ask(SEND.format(answer="41"))
        first = said(page, "Sent: ")
        page.ask(SEND.format(answer="99"))
        again = said(page, "made before; your answer was not read")
        assert page.complaints == []
        assert {url for url in page.requests if not url.startswith(process.base)} == set()
    finally:
        page.close()
    report = first.removeprefix("Sent: ").partition(".")[0]
    assert again.startswith(f"Sent: {report}.")
    assert process.status()["uploads"] == before + 1
    collection = Collection(trial.description)
    assert collection.add(bytes.fromhex(report)).accepted == 1
    assert collection.heard(2)


def test_a_wrong_token_is_said(browser, process):
    before = process.status()["uploads"]
    page = Page(browser, f"{process.base}/#1-{'0' * 64}", **PHONE)
    try:
        page.ask(SEND.format(answer="41"))
        said(page, "somebody who is enrolled")
        page.ask("document.querySelector('[name=token]').value = 'x'")
        page.ask(SEND.format(answer="41"))
        said(page, "the token is not complete")
    finally:
        page.close()
    assert process.status()["uploads"] == before


@pytest.mark.parametrize(
    "statistic",
    [
        ogive.Ustatistic("age", "gini", bounds=(0, 120), method="haar"),
        ogive.Boxplot("age", (0, 120), bins=16, by="ward", groups=("A", "B"), public_groups=True),
    ],
    ids=["haar", "groups"],
)
def test_a_question_that_browsers_cannot_answer_has_no_form(browser, tmp_path, statistic):
    path = tmp_path / "page.html"
    path.write_text(owners_page(described(100, statistic=statistic)), encoding="utf-8")
    page = Page(browser, path, **PHONE)
    try:
        assert page.complaints == []
        assert page.ask("document.documentElement.scrollWidth <= innerWidth")
        assert page.ask("document.querySelector('form') === null")
        assert "ogive local randomize makes it" in page.ask("document.body.innerText")
    finally:
        page.close()
