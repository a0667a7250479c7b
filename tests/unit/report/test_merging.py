"""One chapter for each release, and a title for each chapter."""

import dataclasses
import re

import numpy as np
import pytest
from helpers.scope import size

import ogive
from ogive.errors import ParameterError
from ogive.ledger import Ledger
from ogive.privacy import Adjacency, PrivacyUnit, PureDP
from ogive.report import render_report, summarize
from ogive.statistics.kinds import read_estimate

AGES = np.random.default_rng(5).integers(20, 80, 4_000)
GRID = ogive.Grid.integers(0, 110)
CURVE, QUANTILES = ogive.Ecdf("age", grid=GRID), ogive.Quantiles("age", (0.2, 0.8), grid=GRID, few="curve")


def released(statistic=CURVE, epsilon="0.5", account=None):
    return ogive.release(statistic, trust=ogive.Central({"age": AGES}), privacy=PureDP(epsilon), ledger=account)


def exact():
    return ogive.release(CURVE, trust=ogive.Clear({"age": AGES}))


def again(estimate):
    return read_estimate(estimate.to_dict())


def titles(estimates, **arguments):
    return [section["title"] for section in summarize(estimates, **arguments)]


def test_a_release_that_is_given_twice_is_shown_once():
    curve = released()
    source = render_report([curve, again(curve)], title="x")
    assert source == render_report([curve], title="x")
    assert source.count("<article") == 1
    assert "<nav" not in source


def test_a_curve_and_quantiles_read_off_it_are_one_chapter_with_all_tables():
    quantiles = released(QUANTILES)
    for pair in ([quantiles, quantiles.curve], [quantiles.curve, again(quantiles)]):
        source = render_report(pair, title="x")
        assert source.count("<article") == 1
        assert source.count("<figure") == 1
        names = re.findall(r"<caption>(.*?)</caption>", source)
        assert names.count("Quantiles") == 2  # those that were asked for, and those of every curve
        assert ">20 %</th>" in source
        assert ">99 %</th>" in source


def test_the_truth_is_shown_whichever_of_the_two_it_was_given_for():
    curve, truth = released(), exact()
    expected = render_report([curve], title="x", truths=[truth])
    assert "do not publish" in expected
    for truths in ([None, truth], [truth, None]):
        assert render_report([curve, again(curve)], title="x", truths=truths) == expected
    with pytest.raises(ParameterError, match="exact curve"):
        render_report([curve, curve], title="x", truths=[truth, curve])


def test_what_contradicts_a_release_of_the_same_id_is_not_hidden_behind_it():
    curve = released()
    other = dataclasses.replace(curve, cumulative=np.sort(curve.cumulative / 2))
    assert titles([curve, other, curve]) == ["Distribution of age, 1 of 2", "Distribution of age, 2 of 2"]


def test_titles_that_are_the_same_get_the_guarantee_then_the_file_then_a_count():
    one, two, half, other = released(epsilon=1), released(epsilon=1), released(), released()
    assert titles([one]) == ["Distribution of age"]
    assert titles([one, half, exact()]) == [
        "Distribution of age, epsilon = 1",
        "Distribution of age, epsilon = 0.5",
        "Distribution of age, exact values",
    ]
    assert titles([one, half, two], names=["a.json", "b.json", "c.json"]) == [
        "Distribution of age, epsilon = 1, a.json",
        "Distribution of age, epsilon = 0.5",
        "Distribution of age, epsilon = 1, c.json",
    ]
    # two folders may hold files of one name
    assert titles([half, other], names=["a.json", "a.json"]) == [
        "Distribution of age, 1 of 2",
        "Distribution of age, 2 of 2",
    ]


def test_with_a_ledger_parts_numbers_and_dates_tell_releases_apart():
    with Ledger.open() as books:
        account = books.account("patients", unit=PrivacyUnit(Adjacency.REPLACE), limit=PureDP(9))
        north = released(account=account.part("north"))
        # other grids are other questions, which the ledger does not answer for free
        grids = [ogive.Ecdf("age", grid=ogive.Grid.integers(0, high)) for high in (100, 120)]
        found = titles([north, *(released(grid, account=account) for grid in grids)], account=account)
    assert found[0] == "Distribution of age, part north"
    assert re.fullmatch(r"Distribution of age, all records, no\. 2 of \d{4}-\d\d-\d\d \d\d:\d\d", found[1])
    assert found[2].startswith("Distribution of age, all records, no. 3 of ")


def test_thirty_releases_of_one_column_can_be_found_and_left_again():
    number = size(30, part=8)
    estimates = [released(epsilon=f"0.{1 + i % 6}") for i in range(number)]
    source = render_report(estimates, title="x")
    contents = re.findall(r'<li><a href="#(release-\d+)">(.*?)</a></li>', source)
    assert len({title for _, title in contents}) == len(contents) == number
    for place, title in contents:
        assert f'<h2 id="{place}">{title}</h2>' in source
    assert source.count('<a href="#contents">') == number
    assert 'id="contents"' in source
