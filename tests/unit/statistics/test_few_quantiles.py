"""What "auto" does with a few quantiles: it selects them, or reads a curve, as predicted errors and widths say."""

from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import is_everything, size
from hypothesis import given, settings
from hypothesis import strategies as st

import ogive
from ogive import ApproxDP, PureDP, Quantiles, ZeroConcentratedDP
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import CurveQuery, JointQuantilesQuery, NoisyMaxQuery
from ogive.statistics.base import Terms, describe
from ogive.statistics.methods.base import EVERY, Shapes
from ogive.trust.imagined import Imagined

REPLACE, ADD = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE
BINS = 512
QUARTILES = (0.25, 0.5, 0.75)
NAMED = {JointQuantilesQuery: "joint", NoisyMaxQuery: "exponential", CurveQuery: "curve"}


def evenly(quantiles):
    return tuple(k / (quantiles + 1) for k in range(1, quantiles + 1))


def terms_of(privacy, adjacency, records):
    return Terms(privacy, PrivacyUnit(adjacency), lambda query: None, simulations=0, count=lambda: records)


def queries_of(statistic, terms, counts, run=0):
    """The questions of a release of records with these counts, and the estimate."""
    ends = np.append(0, np.cumsum(counts))

    def sums(aggregate):
        return np.diff(ends[np.rint(aggregate.grid.thresholds * len(counts)).astype(int)], prepend=0)

    holder = Imagined(sums, terms.adjacency, adding=1, honest=1, run=run)
    asked, procedure = [], statistic.questions(terms)
    try:
        query = next(procedure)
        while True:
            asked.append(query)
            query = procedure.send(holder.answer(query))
    except StopIteration as stop:
        return asked, stop.value


def method_of(statistic, privacy="0.1", adjacency=REPLACE, records=1_000):
    return statistic.resolved(terms_of(PureDP(privacy), adjacency, records)).method


@settings(max_examples=size(40, part=8), deadline=None)
@given(
    quantiles=st.integers(1, 10),
    records=st.integers(50, 5_000),
    privacy=st.sampled_from([PureDP("0.1"), PureDP(1), ZeroConcentratedDP("0.05"), ApproxDP(1, "1e-6")]),
    adjacency=st.sampled_from(list(Adjacency)),
    guess=st.sampled_from([None, 1_000]),
    bins=st.sampled_from([4, 64, 300]),
    place=st.integers(0, 3),
    few=st.sampled_from(["auto", "selected"]),
)
def test_the_choice_rests_on_public_quantities_alone(quantiles, records, privacy, adjacency, guess, bins, place, few):
    """The first question about evenly spread records is that about records of one value."""
    statistic = Quantiles("x", evenly(quantiles), bounds=(0, 1), bins=bins, expected_records=guess, few=few)
    even = np.diff(np.arange(bins + 1) * records // bins)
    one = np.zeros(bins, np.int64)
    one[place] = records
    first = [queries_of(statistic, terms_of(privacy, adjacency, records), counts)[0][0] for counts in (even, one)]
    assert first[0] == first[1]
    if adjacency is ADD:  # a private number of records changes nothing either
        assert first[0] == queries_of(statistic, terms_of(privacy, adjacency, None), one)[0][0]


@pytest.mark.each_value
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize(
    ("quantiles", "privacy", "method"),
    [(1, PureDP(10), "exponential"), (1, PureDP("0.1"), "joint"), (3, PureDP("0.1"), "joint"), (7, PureDP(1), "joint")],
)
def test_auto_releases_what_the_named_method_releases(adjacency, quantiles, privacy, method):
    values = np.random.default_rng(5).normal(50, 10, 1_000)
    asked = {"bounds": (0, 100), "bins": BINS, "privacy": privacy, "adjacency": adjacency, "expected_records": 1_000}
    asked["few"] = "selected"
    one, other = (
        ogive.quantiles(values, evenly(quantiles), **asked, method=name, source=KeyedSource.from_seed(7))
        for name in ("auto", method)
    )
    assert (one.numbers, one.low, one.high) == (other.numbers, other.low, other.high)
    assert one.curve is None
    assert one.provenance.method == other.provenance.method
    assert one.provenance.price == other.provenance.price


@pytest.mark.each_value
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("quantiles", [1, 3, 9, 10])
@pytest.mark.parametrize("bins", [16, 1024])
def test_a_plan_names_the_method_of_the_release(adjacency, quantiles, bins, monkeypatch):
    if not is_everything():  # which errors there are is looked at, and not how large they are
        monkeypatch.setattr("ogive.statistics.ecdf.plan._SHAPES", Shapes(EVERY.names[::8], runs=1))
    statistic = Quantiles("x", evenly(quantiles), bounds=(0, 1), bins=bins, few="selected")
    plan = ogive.plan(statistic, privacy=PureDP(1), records=2_000, adjacency=adjacency)
    chosen = plan.chosen.method
    terms = terms_of(PureDP(1), adjacency, 2_000)
    first = next(statistic.questions(terms))
    named = NAMED[type(first)]
    assert named == (chosen if chosen in ("joint", "exponential") else "curve")
    assert ("rank" in plan.chosen.errors) == (named != "curve")


def test_a_median_of_few_records_is_off_by_15_of_them():
    """Standard errors are near 1, or 1.7 of 50 runs; the control is the curve."""
    counts = np.full(BINS, 2, np.int64)
    counts[-1] -= 24

    def off(few):
        statistic = Quantiles("x", (0.5,), bounds=(0, 1), bins=BINS, few=few)
        found = []
        for run in range(size(150, part=50) if few == "selected" else size(30, part=10)):
            estimate = queries_of(statistic, terms_of(PureDP("0.1"), ADD, 1_000), counts, run)[1]
            place = round(estimate.numbers[0] * BINS)
            found.append(max(0, 2 * (place - 1) - 500, 500 - 2 * place))
        return np.mean(found)

    assert off("selected") < 15
    assert off("curve") > 25


@pytest.mark.parametrize(
    "statistic",
    [
        Quantiles("x", evenly(10), bounds=(0, 1), few="selected"),
        Quantiles("x", QUARTILES, bounds=(0, 1), few="curve"),
        Quantiles("x", QUARTILES, bounds=(0, 1), method="hat_ls"),
        Quantiles("x", QUARTILES, bounds=(0, 1), bins=(1 << 16) + 1, few="selected"),
        Quantiles("x", (0.5, 0.123456789), bounds=(0, 1), few="selected"),
        Quantiles("x", QUARTILES, bounds=(0, 1), bins=4, few="selected"),
    ],
    ids=["ten", "by wish", "named", "many bins", "long fraction", "coarse grid"],
)
def test_others_are_read_off_a_curve(statistic):
    assert method_of(statistic) == statistic.method
    assert isinstance(next(statistic.questions(terms_of(PureDP("0.1"), REPLACE, 1_000))), CurveQuery)


def test_many_quantiles_of_a_private_number_of_records_need_a_guess():
    asked = {"bounds": (0, 1), "bins": 1024, "few": "selected"}
    assert method_of(Quantiles("x", evenly(5), **asked), adjacency=ADD) == "joint"
    assert method_of(Quantiles("x", evenly(6), **asked), adjacency=ADD, records=100_000) == "auto"
    assert method_of(Quantiles("x", evenly(9), **asked, expected_records=100_000), adjacency=ADD) == "joint"
    assert method_of(Quantiles("x", evenly(9), **asked, expected_records=1_000), adjacency=ADD) == "auto"


VALUES = np.random.default_rng(3).uniform(0, 100, 600)


@pytest.mark.parametrize("trust", ["secagg", "servers", "local"])
def test_who_cannot_select_reads_a_curve(trust):
    parts = {"secagg": {"parties": 3}, "servers": {"servers": 2}, "local": {}}
    types = {"secagg": ogive.SecAgg, "servers": ogive.Servers, "local": ogive.Local}
    found = ogive.quantiles(
        VALUES, (0.5,), bounds=(0, 100), bins=128, privacy=PureDP(1),
        trust=ogive.Simulation(types[trust], **parts[trust]),
    )  # fmt: skip
    assert found.curve is not None


def test_exact_quantiles_and_those_of_groups_have_their_curve():
    assert ogive.quantiles(VALUES, (0.5,), bounds=(0, 100), trust=ogive.Clear).curve is not None
    table = {"x": VALUES, "ward": np.where(np.arange(600) % 2, "a", "b")}
    session = ogive.Session(table, limit=PureDP(2), adjacency=REPLACE)
    groups = session.quantiles("x", (0.5,), bounds=(0, 100), privacy=PureDP(1), by="ward", groups=("a", "b"))
    assert all(groups[ward].curve is not None for ward in ("a", "b"))


def test_only_a_question_that_may_be_selected_is_a_new_one():
    curve = Quantiles("x", QUARTILES, bounds=(0, 1), few="curve")
    assert "few" not in describe(curve)
    for few in ("auto", "selected"):
        assert describe(Quantiles("x", QUARTILES, bounds=(0, 1), few=few))["few"] == few
    assert Quantiles("x", QUARTILES, bounds=(0, 1)).few == "auto"
    assert describe(Quantiles("x", evenly(4), bounds=(0, 1))) == describe(
        Quantiles("x", evenly(4), bounds=(0, 1), few="curve")
    )
    for same in (
        {"probabilities": evenly(10)},
        {"method": "joint"},
        {"method": "hat_ls"},
        {"bins": (1 << 16) + 1},
    ):
        asked = {"probabilities": QUARTILES, "bounds": (0, 1), **same}
        assert describe(Quantiles("x", **asked)) == describe(Quantiles("x", **asked, few="curve"))
        assert "few" not in describe(Quantiles("x", **asked))
    with pytest.raises(ogive.ParameterError, match=r"few must be"):
        Quantiles("x", QUARTILES, bounds=(0, 1), few="none")


def test_the_share_for_intervals_is_that_of_the_joint_selection():
    asked = {"bounds": (0, 1), "bins": 1024, "interval_share": Fraction(1, 8), "few": "selected"}
    auto, joint = (Quantiles("x", QUARTILES, **asked, method=name) for name in ("auto", "joint"))
    terms = terms_of(PureDP(1), REPLACE, 1_000)
    assert next(auto.questions(terms)) == next(joint.questions(terms))


@pytest.mark.parametrize("method", ["joint", "exponential", "bisection"])
def test_what_is_selected_of_nobody_is_not_shown_without_a_word(method):
    """The noise of what tells their number would hide as many records as a good median needs: there is no dash."""
    said = "perhaps there are no records"
    values = np.random.default_rng(1).normal(50, 15, 2_000).clip(0, 100)
    people = {"x": values, "g": np.full(2_000, "a")}
    asked = Quantiles("x", (0.5,), bounds=(0, 100), bins=BINS, method=method)

    nobody, everybody = (
        ogive.release(
            ogive.Subset(asked, {"g": group}),
            trust=ogive.Central(people),
            privacy=PureDP(20),
            source=KeyedSource.from_seed(1),
        )
        for group in ("zz", "a")
    )
    assert said in str(nobody)
    assert said in nobody._repr_html_()
    assert said not in str(everybody) + everybody._repr_html_()
    # where the number of records is public, it is known that there are some
    known = ogive.release(asked, trust=ogive.Central(people), privacy=PureDP("0.001"))
    assert said not in str(known)


@pytest.mark.parametrize("method", ["joint", "exponential"])
def test_a_group_of_which_perhaps_nobody_is_there_is_named(method):
    values = np.random.default_rng(1).normal(50, 15, 2_000).clip(0, 100)
    both = ogive.release(
        ogive.Grouped(Quantiles("x", (0.5,), bounds=(0, 100), bins=BINS, method=method), "g", ("a", "zz")),
        trust=ogive.Central({"x": values, "g": np.full(2_000, "a")}),
        privacy=PureDP(20),
        source=KeyedSource.from_seed(1),
    )
    text = str(both)
    assert "zz: an interval that is all of the bounds says nothing: perhaps there are no records" in text
    assert "\na: " not in text
