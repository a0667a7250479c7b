"""The budget section, from a real ledger."""

import re

import numpy as np
import pytest
from helpers.scope import is_everything

import ogive
from ogive.ledger import Ledger
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.releasing.accounts import subject
from ogive.report import render_report
from ogive.report.budget import size
from ogive.statistics.questions import subjects
from ogive.strategies import design_projection

DATA = {"age": np.arange(4_000) % 90}
AGE = ogive.Ecdf("age", grid=ogive.Grid.integers(0, 90))
RECORDS = PrivacyUnit(Adjacency.REPLACE)


@pytest.fixture
def ledger():
    with Ledger.open() as books:
        yield books


def pay(account, privacy, statistic=AGE):
    return ogive.release(statistic, trust=ogive.Central(DATA), privacy=privacy, ledger=account)


def section(estimates, account):
    source = render_report(estimates, title="x", account=account)
    found = source[source.index('<section class="budget"') : source.index("<main")]
    return found, re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", found))


def test_the_section_says_limit_spent_left_and_on_what(ledger):
    account = ledger.account("patients", unit=RECORDS, limit=PureDP(3))
    curve = pay(account, PureDP(1))
    deciles = pay(account, PureDP("0.5"), ogive.Quantiles("age", grid=ogive.Grid.integers(0, 90)))
    source, text = section([curve, deciles], account)
    assert "Budget of patients" in text
    assert "Limit epsilon = 3" in text
    assert "Spent epsilon = 1.5" in text
    assert "Left epsilon = 1.5" in text
    assert "Spent: 50 %" in text
    assert "distribution of age epsilon = 1 released" in text
    assert "quantiles of age epsilon = 0.5 released" in text
    assert "20.1 times" in text  # e^3: what the limit promises, not what is spent
    assert "right in at most 96 % of cases" in text
    assert RECORDS.words in text
    assert "Total price" not in text
    assert "not paid from this budget" not in text
    assert 'class="spent"' in source


def test_a_budget_that_is_used_up_or_has_no_limit_says_so(ledger):
    account = ledger.account("patients", unit=RECORDS, limit=PureDP(1))
    curve = pay(account, PureDP(1))
    assert "Left nothing" in section([curve], account)[1]
    free = ledger.account("others", unit=RECORDS)
    curve = pay(free, PureDP(1))
    source, text = section([curve], free)
    assert "Limit none" in text
    assert "Left no limit is set" in text
    assert "Spent epsilon = 1" in text
    assert "No limit is set, so the total may grow" in text
    assert 'class="left"' not in source


def test_releases_that_others_paid_for_come_on_top(ledger):
    account = ledger.account("patients", unit=RECORDS, limit=PureDP(3))
    text = section([pay(account, PureDP(1)), pay(None, PureDP(1))], account)[1]
    assert "One release on this page was not paid from this budget." in text
    empty = ledger.account("empty", unit=RECORDS)
    text = section([pay(None, PureDP(1)), pay(None, PureDP(1))], empty)[1]
    assert "2 releases on this page were not paid from this budget." in text
    assert "Nothing has been released" in text
    assert "Spent nothing" in text


def test_what_is_reserved_and_not_finished_is_shown_as_that(ledger):
    account = ledger.account("patients", unit=RECORDS, limit=PureDP(3))
    curve = pay(account, PureDP(1))
    account.reserve({"odd": 1}, statistic="new", charge=PureDP(1), secret=b"x")
    text = section([curve], account)[1]
    assert "new epsilon = 1 reserved, not finished" in text
    assert "Left epsilon = 1" in text


def test_a_part_is_named_and_so_is_its_share_of_the_history(ledger):
    account = ledger.account("patients", unit=RECORDS, limit=PureDP(3))
    north = account.part("north")
    curve = pay(north, PureDP(1))
    assert "Budget of patients, part north" in section([curve], north)[1]
    whole = pay(account, PureDP(1))
    text = section([curve, whole], account)[1]
    assert "distribution of age north epsilon = 1" in text
    assert "distribution of age all records epsilon = 1" in text


@pytest.mark.parametrize("limit", [ApproxDP(3, "1e-6"), ZeroConcentratedDP("0.5")], ids=str)
def test_limits_of_every_type_are_drawn(ledger, limit):
    account = ledger.account("patients", unit=RECORDS, limit=limit)
    curve = pay(account, ZeroConcentratedDP("0.1"))
    source, text = section([curve], account)
    assert 'class="spent"' in source
    assert "except for an added chance of at most 1 in 1,000,000" in text
    assert size(limit) == pytest.approx(3 if isinstance(limit, ApproxDP) else 0.5)


def test_questions_of_any_shape_have_subjects_or_none():
    assert subjects({"statistic": {"score": "s", "label": "d"}}) == ["s", "d"]
    crosstab = {"name": "crosstab", "row": "sex", "column": "ill", "rows": ["m"], "columns": ["yes", "no"]}
    assert subjects({"statistic": crosstab}) == ["sex", "ill"]
    assert subjects({"statistic": {"name": "describe", "columns": ["age", "sex"]}}) == ["age", "sex"]
    assert subject({"statistic": {"name": "describe", "columns": list("abcdefg")}}) == "describe a b c d and 3 more"
    assert subjects({"statistic": {"column": 7}}) == []
    assert subjects({"statistic": None}) == []
    assert subjects({}) == []
    pairs = {"columns": [{"column": "s"}, 3], "classes": {"column": "d"}, "kernel": {"measure": "mean", "name": "auc"}}
    assert subjects({"statistic": pairs}) == ["s", "d"]
    assert subject({"statistic": {"name": "ustatistic", **pairs}}) == "auc s d"
    assert subject({"statistic": {"name": "ustatistic", "kernel": {"measure": "gamma"}}}) == "gamma"
    assert subject({"statistic": {"name": 1, "kernel": {"name": []}}}) == "release"


def test_gaussian_releases_are_listed_by_their_mu_and_counted_exactly(ledger):
    limit = ApproxDP(1, "1e-6")
    account = ledger.account("patients", unit=RECORDS, limit=limit)
    half = ApproxDP("0.5", "1e-6")
    design = design_projection(90, privacy=half, adjacency=Adjacency.REPLACE, degree=4)
    curves = [
        pay(account, half, ogive.Ecdf("age", grid=ogive.Grid.integers(0, 89), method=design, missing=policy))
        for policy in ("refuse", "low")
    ]
    # bands of two such curves take long, and the section does not have them
    shown = curves if is_everything() else [ogive.release(AGE, trust=ogive.Clear(DATA))]
    _, text = section(shown, account)
    assert "Limit epsilon = 1, delta = 1e-06" in text
    assert "Spent epsilon = 0.72492, delta = 1e-06" in text
    assert len(re.findall(r"distribution of age mu = 0\.124\d+ \(Gaussian\) released", text)) == 2
