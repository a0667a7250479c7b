"""Quantiles that are selected, with intervals from counts near them: levels, thresholds, and when "auto" takes them."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from helpers.coverage import fewest
from helpers.scope import size
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import ogive
from ogive import PureDP, Quantiles
from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.errors import ParameterError
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.statistics.base import Terms
from ogive.statistics.methods.base import CurveTask
from ogive.statistics.methods.choose import unbiased
from ogive.statistics.quantiles import selection

REPLACE, ADD = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE
QUARTILES = (0.25, 0.5, 0.75)


@given(
    quantiles=st.integers(1, 3), bins=st.sampled_from([31, 64, 1024]), places=st.lists(st.integers(0, 1023), min_size=9)
)
def test_the_thresholds_are_as_many_whatever_was_selected(quantiles, bins, places):
    cells = selection.counted_cells(quantiles)
    chosen = np.sort(np.array(places[: 3 * quantiles]).reshape(3, -1) % bins, axis=0)[[1, 0, 2]]
    found = selection._rungs(chosen, cells, bins - 1)
    assert len(found) == cells
    assert np.all(np.diff(found) > 0)
    assert (found[0] >= 0, found[-1]) == (True, bins - 1)


def exact_noise(strategy, known):
    """Values and chances of the noise of every cumulative count, added up over all values of three or four nodes."""
    laws = [level.law for level in strategy.levels for _ in range(level.nodes)]
    values = np.arange(-7, 8)
    every = np.array(list(itertools.product(values, repeat=len(laws))))
    chances = np.prod([np.exp(law.log_probability(values))[row + 7] for law, row in zip(laws, every.T, strict=True)], 0)
    parts = np.split(every, np.cumsum([level.nodes for level in strategy.levels])[:-1], axis=1)
    return strategy.estimate(strategy.spread(tuple(parts)), 0 if known else None), chances


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("share", [Fraction(1, 4), Fraction(1, 2)])
def test_no_end_fails_more_often_than_its_level_whichever_threshold_the_records_choose(adjacency, share):
    """The exact law of noise and of sampling, for the worst threshold at each number of records below the quantile."""
    terms = Terms(PureDP(4), PrivacyUnit(adjacency), lambda query: None, count=lambda: 12)
    strategy = unbiased("auto", CurveTask(Binning("x", Grid.linear(0, 1, bins=3)), terms))
    known, q, room = adjacency is REPLACE, float(share), 0.025
    noise, chances = exact_noise(strategy, known)
    assert chances.sum() > 0.999
    errors = noise[:, :-1] - q * noise[:, -1:]
    law = selection._Noise(strategy, known, True)

    def chance(margin, side, records):
        """Of refusing a threshold that must not be: its count is at least, or at most, that at the quantile."""
        at = np.arange(records + 1)
        off = -side * (at - q * records)
        worst = [max(chances @ (-side * errors[:, t] < -margin - each) for t in range(2)) for each in off]
        return float(binom.pmf(at, records, q) @ worst)

    for records in (5, 12, 40):
        for side in (-1, 1):
            margin = selection._margin(law, q, (records, 1), room, side)
            assert chance(margin, side, records) <= 1.1 * room
            assert chance(0.7 * margin, side, records) > 1.5 * room  # the control


SHAPES = {"smooth": lambda u: 100 * u**2, "atoms": lambda u: 10 * np.ceil(10 * u**2), "one": lambda u: 0 * u + 37}


def coverage(adjacency, records, shape, wanted, runs):
    """How often all intervals hold the population's quantiles."""
    hits, rng = 0, np.random.default_rng(records)
    truth = SHAPES[shape](np.array(wanted))
    for run in range(runs):
        found = ogive.quantiles(
            SHAPES[shape](rng.uniform(size=records)), wanted, bounds=(0, 100), bins=1_000, privacy=PureDP(1),
            adjacency=adjacency, method="counted", expected_records=records, source=KeyedSource.from_seed(run),
        )  # fmt: skip
        assert np.all((np.array(found.low) <= found.numbers) & (np.array(found.numbers) <= found.high))
        hits += bool(np.all((np.array(found.low) <= truth) & (truth <= found.high)))
    return hits


@pytest.mark.each_value
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("records", [200, 2_000, 20_000])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("wanted", [(0.5,), QUARTILES], ids=["median", "quartiles"])
def test_intervals_hold_the_quantiles_of_the_population(adjacency, records, shape, wanted):
    runs = size(1_000, part=40)
    assert coverage(adjacency, records, shape, wanted, runs) >= fewest(runs)


def test_control_without_margins_intervals_miss(monkeypatch):
    margin = selection._margin
    monkeypatch.setattr(selection, "_RUNGS", (0.1, 0.2, 0.4, 1.0, 4.0))
    assert coverage(REPLACE, 2_000, "smooth", (0.5,), 60) >= fewest(60)
    monkeypatch.setattr(selection, "_margin", lambda *given: 0.2 * margin(*given))
    assert coverage(REPLACE, 2_000, "smooth", (0.5,), 60) < fewest(60)


def mean_width(values, wanted, **asked):
    found = [
        ogive.quantiles(values, wanted, bounds=(0, 100), privacy=PureDP(1), source=KeyedSource.from_seed(run), **asked)
        for run in range(12)
    ]
    return np.mean([np.subtract(each.high, each.low) for each in found])


def test_intervals_are_far_narrower_than_those_of_a_selection_beside_a_curve():
    values = SHAPES["smooth"](np.random.default_rng(1).uniform(size=2_000))
    counted = mean_width(values, (0.5,), method="counted")
    assert counted < 0.4 * mean_width(values, (0.5,), method="joint")
    assert counted < 1.4 * 1.96 * 2_000**-0.5 * 2**0.5 * 100  # the density there is 1 / 2 ** 0.5 / 100


def test_auto_counts_few_records_and_reads_a_curve_of_many():
    def taken(records, adjacency=REPLACE, guess=None, wanted=(0.5,)):
        terms = Terms(PureDP("0.3"), PrivacyUnit(adjacency), lambda query: None, count=lambda: records)
        return Quantiles("x", wanted, bounds=(0, 1), expected_records=guess).resolved(terms).method

    assert [taken(records) for records in (500, 1_000, 100_000)] == ["counted", "counted", "auto"]
    assert taken(200, wanted=QUARTILES) == "auto"  # three bins of each of three are far off among 200 records
    assert [taken(500, ADD, guess) for guess in (None, 500)] == ["auto", "counted"]


def test_a_plan_tells_the_errors_and_widths_by_which_auto_chooses():
    for records, method in ((1_000, "counted"), (100_000, "hat_ls")):
        plan = ogive.plan(Quantiles("x", (0.5,), bounds=(0, 1)), privacy=PureDP(1), records=records)
        rows = {row.method: row.errors for row in plan.rows if "width" in row.errors}
        assert plan.chosen.method == method
        best = min(("counted", "hat_ls"), key=lambda name: rows[name]["mean_rank"] + rows[name]["width"] / 2)
        assert best == method
        assert rows[method]["width"] <= rows["hat_ls"]["width"]
        assert 2 * 1.96 * (0.25 / records) ** 0.5 < rows[method]["width"] < 1


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"probabilities": (0.2, 0.4, 0.6, 0.8)}, "at most 3 quantiles"),
        ({"probabilities": (0.5,), "bins": 10}, "at least 11 thresholds"),
        ({"probabilities": (0.123456789,)}, "common denominator"),
    ],
)
def test_refuses_what_is_not_counted(asked, message):
    with pytest.raises(ParameterError, match=message):
        Quantiles("x", bounds=(0, 1), method="counted", **asked)


def test_dates_and_whole_numbers_and_groups_are_counted():
    days = np.datetime64("2020-01-01") + np.arange(2_000) % 360
    found = ogive.quantiles(
        days, QUARTILES, bounds=("2020-01-01", "2020-12-31"), grid="days", privacy=PureDP(1), method="counted"
    )
    assert found.intervals[1][0] < found.values[1] < found.intervals[1][1]
    table = {"x": np.arange(4_000) % 100, "ward": np.where(np.arange(4_000) % 2, "a", "b")}
    groups = ogive.Session(table, limit=PureDP(4)).quantiles(
        "x", (0.5,), bounds=(0, 99), grid="integers", privacy=PureDP(4), by="ward", groups=("a", "b"), method="counted"
    )
    for ward in "ab":
        assert 40 < groups[ward].low[0] <= groups[ward].values[0] <= groups[ward].high[0] < 60


def test_what_an_earlier_default_answered_is_answered_again_for_nothing(tmp_path):
    """The same call asks another question now; a ledger that knows the former one gives its answer."""
    values = np.random.default_rng(3).uniform(0, 100, 600)
    asked, trust = Quantiles("x", (0.5,), bounds=(0, 100), bins=128), ogive.Central({"x": values})
    accounts = [
        ogive.Ledger.open(tmp_path / f"{name}.db").account("a", limit=PureDP(3), unit=PrivacyUnit(REPLACE))
        for name in ("old", "new")
    ]

    def ask(statistic, account):
        return ogive.release(statistic, trust=trust, privacy=PureDP(1), ledger=account)

    before = ask(replace(asked, few="selected"), accounts[0])
    assert ask(asked, accounts[0]).to_dict() == before.to_dict()
    assert ask(replace(asked, confidence_level=0.9), accounts[0]).provenance.method != before.provenance.method
    assert [len(account.history) for account in accounts] == [2, 0]
    first = ask(asked, accounts[1])  # the control: what nobody asked before is the new question
    assert first.provenance.method != before.provenance.method
    assert ask(asked, accounts[1]).to_dict() == first.to_dict()
    assert len(accounts[1].history) == 1
    ask(replace(asked, few="selected"), accounts[1])
    assert len(accounts[1].history) == 2


def test_what_an_earlier_default_paid_for_and_did_not_finish_goes_on(tmp_path, monkeypatch):
    values = np.random.default_rng(3).uniform(0, 100, 600)
    asked = Quantiles("x", (0.5,), bounds=(0, 100), bins=128)
    terms = {"trust": ogive.Central({"x": values}), "privacy": PureDP(1)}
    account = ogive.Ledger.open(tmp_path / "a.db").account("a", limit=PureDP(1), unit=PrivacyUnit(REPLACE))
    with monkeypatch.context() as broken:
        broken.setattr("ogive.releasing.release.Payment.record", lambda *given: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            ogive.release(replace(asked, few="selected"), ledger=account, **terms)
    found = ogive.release(asked, ledger=account, **terms)
    assert found.to_dict() == ogive.release(replace(asked, few="selected"), ledger=account, **terms).to_dict()
    assert len(account.history) == 1


def test_rows_of_one_person_that_are_alike_widen_the_intervals():
    rng = np.random.default_rng(5)
    truth, held, widths = 32.0, [], []
    for seed in range(12):
        values = np.repeat(rng.uniform(0, 64, 400), 5)
        table = {"x": values, "id": np.repeat(np.arange(400), 5)}
        result = ogive.release(
            ogive.Quantiles("x", (0.5,), bounds=(0, 64), bins=256, method="counted"),
            trust=ogive.Central(table, person="id", max_rows_per_person=5),
            privacy=ogive.PureDP(20),
            adjacency=ADD,
            source=KeyedSource.from_seed(seed),
        )
        alone = ogive.quantiles(
            values, (0.5,), bounds=(0, 64), bins=256, method="counted", privacy=ogive.PureDP(4),
            adjacency=ADD, source=KeyedSource.from_seed(seed),
        )  # fmt: skip
        held.append(result.low[0] <= truth <= result.high[0])
        widths.append((result.high[0] - result.low[0], alone.high[0] - alone.low[0]))
    assert sum(held) >= 11
    of_people, of_rows = np.mean(widths, axis=0)
    assert of_people > 1.5 * of_rows
