"""The section of a published data-dependent cost: its numbers, what they mean, and why the exact one stays secret."""

import dataclasses
import math
import re
from functools import cache

import pytest

from ogive.errors import ParameterError
from ogive.noise import KeyedSource
from ogive.pate import ConfidentGNMax, label, sanitize, simulated_votes
from ogive.pate.sensitivity.smooth import smooth_cost
from ogive.report import render_report, summarize, write_report

CONFIDENT = ConfidentGNMax(150, 60, 30)
VOTES, _ = simulated_votes(100, 250, 4, seed=3)
GIVEN = VOTES.max(axis=1) > 160


@cache
def joint():
    return sanitize(VOTES, CONFIDENT, target_delta=1e-5, max_answers=80, source=KeyedSource.from_seed(5))


@cache
def additive():
    return sanitize(
        VOTES,
        CONFIDENT,
        target_delta=1e-5,
        form="additive",
        answered=GIVEN,
        upper_limit=False,
        source=KeyedSource.from_seed(6),
    )


@cache
def labels():
    return label(VOTES, CONFIDENT, target_delta="1e-5", max_answers=80)


def text_of(page):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def cells(page):
    return dict(re.findall(r'<th scope="row"[^>]*>([^<]*)</th><td[^>]*>([^<]*)</td>', page))


def test_the_section_says_the_number_what_it_means_and_why_the_exact_one_is_secret():
    page = render_report([labels()], title="x", costs=[joint()])
    text = text_of(page)
    assert f"100 queries to 250 teachers cost about epsilon = {joint().epsilon:.3f} at delta = 1e-05" in text
    assert "What a data-dependent epsilon means" in text
    assert "this cost is not differential privacy, cannot be charged to a budget" in text
    assert "Why the exact number must not be published" in text
    assert "Two sets of votes that differ in one teacher have different costs" in text
    assert "half of the time it is below the true cost" in text
    assert cells(page)["Estimate for these votes"] == f"{joint().epsilon:.3f}"
    assert cells(page)["Upper limit, 95 % confidence"] == f"{math.ceil(1000 * joint().upper_limit) / 1000:.3f}"
    assert cells(page)["Bound for any votes"] == f"{math.ceil(1000 * joint().independent_epsilon) / 1000:.3f}"
    assert "for at most 80 answers" in text
    secret = smooth_cost(VOTES, CONFIDENT, order=joint().order, smoothness=joint().smoothness, noise="scaled")
    assert f"{secret.sensitivity:.3g}" not in text


def test_the_section_of_answers_that_were_given_says_so_and_has_no_upper_limit():
    page = render_report([], title="x", costs=[additive()])
    text = text_of(page)
    assert f"of which {GIVEN.sum()} were answered, cost about" in text
    assert "this fails with a chance of at most delta" in text
    assert "95 %" not in text
    assert "Back to the contents" not in text
    assert "Total price" not in text
    assert "Made with" not in text


def test_a_limit_above_what_holds_for_all_votes_says_which_number_to_go_by():
    few, _ = simulated_votes(5, 20, 3, seed=1)
    loose = sanitize(few, ConfidentGNMax(12, 30, 30), target_delta=1e-5, source=KeyedSource.from_seed(7))
    assert loose.upper_limit > loose.independent_epsilon
    assert "use that one" in text_of(render_report([], title="x", costs=[loose]))
    tight = dataclasses.replace(joint(), independent_epsilon=joint().upper_limit + 1)
    assert "use that one" not in text_of(render_report([], title="x", costs=[tight]))


def test_costs_stand_in_the_contents_after_the_releases_and_in_no_total(tmp_path):
    page = write_report([labels()], tmp_path / "page.html", title="x", costs=[joint(), additive()]).read_text()
    links = re.findall(r'href="#(release-\d)"', page)
    assert links == ["release-1", "release-2", "release-3"]
    assert all(page.count(f'id="{place}"') == 1 for place in links)
    assert page.count("Back to the contents") == 3
    assert "Total price" not in page
    found = summarize([labels()], costs=[joint()])
    assert [each["schema"] for each in found] == ["ogive.labels/1", "ogive.sanitized_cost/1"]
    assert found[1]["privacy"] is None
    assert f"{joint().epsilon:.3f}" in found[1]["headline"]


def test_a_page_of_nothing_is_refused():
    with pytest.raises(ParameterError, match="at least one"):
        render_report([], title="x")
