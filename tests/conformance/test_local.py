"""The local model: reports agree with the exact answer within what they state, and all else is refused in one line."""

import dataclasses

import numpy as np
import pytest
from helpers.declared import public_of
from helpers.examples import NEW, example_of

from ogive.errors import ParameterError, UnsupportedError
from ogive.noise import KeyedSource
from ogive.pate import GNMax, LargestMargins
from ogive.privacy import Adjacency, ApproxDP, PureDP, ZeroConcentratedDP
from ogive.queries import Ballots
from ogive.releasing.release import release
from ogive.statistics import (
    STATISTICS,
    Bounds,
    Boxplot,
    Count,
    Crosstab,
    Describe,
    Ecdf,
    GroupAuc,
    Grouped,
    Histogram,
    HosmerLemeshow,
    Labels,
    Mean,
    Proportion,
    Quantiles,
    Roc,
    Sum,
    Ustatistic,
)
from ogive.statistics.boxplot.estimate import Boxplots
from ogive.statistics.methods.curve_methods import HistogramQueries
from ogive.trust import Clear, Local, SecAgg

N = 20_000
RNG = np.random.default_rng(5)
LABELS = (RNG.random(N) < 0.4).astype(int)
TABLE = {
    "x": RNG.beta(2, 5, size=N),
    "u": RNG.random(N),
    "y": LABELS,
    "s": np.clip(RNG.normal(0.4 + 0.2 * LABELS, 0.2), 0, 1),
    "a": RNG.integers(1, 5, size=N),
}
TABLE["c"] = TABLE["y"] + (TABLE["u"] < 0.3)
TABLE["b"] = np.clip(TABLE["a"] + RNG.integers(-1, 2, size=N), 1, 5)
ASKED = [
    Ustatistic("x", "gini", bounds=(0, 1), bins=16),
    Ustatistic("x", "gini_coefficient", bounds=(0, 1), bins=16),
    Ustatistic("a", "collision", categories=(1, 2, 3, 4, 5)),
    Ustatistic(("a", "b"), "kendall", categories=(1, 2, 3, 4, 5)),
    Ustatistic(("a", "b"), "kendall_b", categories=(1, 2, 3, 4, 5)),
    Ustatistic(("s", "y"), "auc", bounds=(0, 1), bins=16, public_labels=True),
    Ustatistic(("s", "y"), "auc", bounds=(0, 1), bins=16, public_labels=False),
    Ustatistic(("s", "c"), "vus", bounds={"s": (0, 1)}, bins=16, categories={"c": (0, 1, 2)}),
]
METHODS = ("krr", "unary", "haar", "hierarchy")
CASES = [
    pytest.param(dataclasses.replace(asked, method=method), id=f"{number}-{asked.measure.name}-{method}")
    for number, asked in enumerate(ASKED)
    for method in METHODS
    if method != "hierarchy" or asked.measure.name == "auc"
]
CURVES = [
    Ecdf("x", (0, 1), bins=64),
    Ecdf("x", (0, 1), bins=64, method=HistogramQueries(groups=16)),
    Quantiles("x", (0.25, 0.5, 0.75), bounds=(0, 1), bins=64),
    Boxplot("x", (0, 1), bins=64),
    Boxplot("x", (0, 1), bins=64, by="y", groups=(0, 1), public_groups=True),
]
SUMS = [
    Mean("x", (0, 1), step="0.01"),
    Sum("x", (0, 1), step="0.01"),
    Proportion("y"),
    Count("a", among=(4, 5)),
]
TABLES = [
    Histogram("a", values=(1, 2, 3, 4)),
    Crosstab("y", "c", rows=(0, 1), columns=(0, 1, 2)),
]
SEVERAL = [Describe(("x",), bounds={"x": (0, 1)})]
LATER = [example_of(kind) for kind in NEW if kind.owners]
REFUSED = [
    Ecdf("x", (0, 1), bins=64, method="projection"),
    Ecdf("x", (0, 1), bins=64, method="adaptive"),
    Ecdf("x", (0, 1), bins=64, method="selected"),
    Quantiles("x", (0.5,), bounds=(0, 1), bins=64, method="bisection"),
    Boxplot("x", (0, 1), bins=16, method="five_numbers"),
    Roc("s", "y", (0, 1), bins=16),
    HosmerLemeshow("u", "y", bins=16, groups=4),
    Grouped(Roc("s", "y", (0, 1), bins=16), "y", (0, 1), public=True),
    Bounds("x"),
    GroupAuc("s", "y", "g", (0, 1), bins=8, group_values=("a", "b")),
    Labels(GNMax(40), Ballots(("y",), classes=2)),
    Labels(LargestMargins(None, keep=1), Ballots(("y",), classes=2)),
    *(example_of(kind) for kind in NEW if not kind.owners),
]


def released(statistic, privacy, key=bytes(32)):
    return release(statistic, trust=Local(TABLE), privacy=privacy, public=public_of(statistic), source=KeyedSource(key))


@pytest.mark.parametrize("statistic", CASES)
def test_is_within_five_standard_errors_of_the_exact_value_for_little_and_for_much_privacy(statistic):
    truth = release(statistic, trust=Clear(TABLE))
    for privacy in (PureDP(1), PureDP(8)):
        found = released(statistic, privacy)
        off = abs(found.value - truth.value)
        # a false alarm once in millions; rounding is bounded, not random
        assert off <= 5 * found.randomization_error + found.quantization
        assert found.provenance.trust == "local"
        assert found.provenance.price.epsilon <= privacy.epsilon
        assert found.method == statistic.method
    # Hadamard and Haar bits sample, so their noise stays; the others have almost none left
    few = 0.02 if statistic.method in ("krr", "unary") else 0.15
    assert found.randomization_error < few * (found.limits[1] - found.limits[0])


def test_an_error_of_five_times_the_stated_one_would_be_seen():
    statistic = ASKED[0]
    truth = release(statistic, trust=Clear(TABLE))
    found = released(statistic, PureDP(1))
    wrong = dataclasses.replace(found, value=found.value + 6 * found.randomization_error + 2 * found.quantization)
    assert abs(wrong.value - truth.value) > 5 * wrong.randomization_error + wrong.quantization


@pytest.mark.parametrize("privacy", [ZeroConcentratedDP("0.5"), ApproxDP(1, "1e-6")], ids=["zcdp", "approx"])
@pytest.mark.parametrize("statistic", ASKED, ids=lambda each: each.measure.name)
def test_every_kind_of_guarantee_is_spent_as_pure_reports(statistic, privacy):
    found = released(statistic, privacy)
    assert isinstance(found.provenance.price, PureDP)
    assert 0.99 < found.provenance.price.epsilon <= 1
    assert found.provenance.privacy == privacy


@pytest.mark.parametrize("statistic", SUMS, ids=lambda each: each.name)
def test_sums_are_within_five_standard_errors_and_spend_pure_reports(statistic):
    truth = release(statistic, trust=Clear(TABLE))
    for privacy in (PureDP(1), ZeroConcentratedDP("0.5"), ApproxDP(1, "1e-6")):
        found = released(statistic, privacy)
        assert 0 < abs(found.value - truth.value) <= 5 * found.standard_error
        assert found.provenance.trust == "local"
        assert isinstance(found.provenance.price, PureDP)
        assert 0.99 < found.provenance.price.epsilon <= 1


@pytest.mark.parametrize("statistic", TABLES, ids=lambda each: each.name)
def test_tables_are_within_six_standard_errors_and_spend_pure_reports(statistic):
    truth = np.array(release(statistic, trust=Clear(TABLE)).counts, float)
    for privacy in (PureDP(1), ZeroConcentratedDP("0.5"), ApproxDP(1, "1e-6")):
        found = released(statistic, privacy)
        off = np.abs(np.array(found.counts, float) - truth)
        assert off.max() > 0
        assert (off <= 6 * np.array(found.noise_errors, float) + 1).all()
        assert isinstance(found.provenance.price, PureDP)
        assert 0.99 < found.provenance.price.epsilon <= 1


@pytest.mark.parametrize("statistic", SEVERAL, ids=lambda each: each.name)
def test_an_owner_who_sends_one_report_answers_no_several_questions(statistic):
    with pytest.raises(UnsupportedError, match="use trust central or secagg"):
        released(statistic, PureDP(1))


def shares(estimate):
    """Where an estimate says the quartiles or thresholds are, as positions on the grid, shape (numbers,)."""
    if isinstance(estimate, Boxplots):
        return np.array([box.numbers[1:4] for box in estimate.boxes]).ravel()
    return np.array(estimate.numbers) if hasattr(estimate, "numbers") else estimate.raw / estimate.raw[-1]


@pytest.mark.parametrize("statistic", CURVES, ids=lambda each: f"{each.name}-{getattr(each, 'by', None)}")
def test_curves_are_near_those_of_the_records_and_nearer_with_less_privacy(statistic):
    truth = shares(release(statistic, trust=Clear(TABLE)))
    off = []
    for privacy, room in ((PureDP(1), 0.15), (PureDP(8), 0.02)):
        found = released(statistic, privacy)
        off.append(np.abs(shares(found) - truth).max())
        assert off[-1] < room
        assert (found.provenance.trust, found.provenance.price, found.provenance.total) == ("local", privacy, N)
    assert off[0] > off[1]


@pytest.mark.parametrize("privacy", [ZeroConcentratedDP("0.5"), ApproxDP(1, "1e-6")], ids=["zcdp", "approx"])
@pytest.mark.parametrize("statistic", CURVES, ids=lambda each: f"{each.name}-{getattr(each, 'by', None)}")
def test_every_kind_of_guarantee_is_spent_as_pure_reports_on_curves_too(statistic, privacy):
    found = released(statistic, privacy)
    assert isinstance(found.provenance.price, PureDP)
    assert 0.99 < found.provenance.price.epsilon <= 1


@pytest.mark.parametrize("statistic", REFUSED, ids=lambda each: f"{each.name}-{getattr(each, 'method', '')}")
def test_what_needs_somebody_who_sees_records_is_refused_in_one_line_that_says_what_would_work(statistic):
    with pytest.raises(
        UnsupportedError,
        match="needs somebody who sees records, and under local no party does; use trust central, or",
    ) as why:
        released(statistic, PureDP(1))
    assert "\n" not in str(why.value)
    for works in (
        "ecdf and quantiles with method='reports' or 'histogram'",
        "boxplot with method='resample'",
        "ustatistic",
    ):
        assert works in str(why.value)


def test_every_statistic_is_either_asked_by_reports_here_or_refused():
    asked = (*ASKED, *CURVES, *SUMS, *TABLES, *SEVERAL, *LATER, *REFUSED)
    assert {kind.name for kind in STATISTICS} == {each.name for each in asked}


def test_nobody_but_owners_answers_reports_and_owners_answer_nothing_else():
    reports, kernel, cells = (dataclasses.replace(ASKED[0], method=name) for name in ("krr", "kernel", "cells"))
    halves = [{"x": TABLE["x"][: N // 2]}, {"x": TABLE["x"][N // 2 :]}]
    with pytest.raises(UnsupportedError, match="use trust local"):
        release(reports, trust=SecAgg(halves), privacy=PureDP(1))
    with pytest.raises(UnsupportedError, match="needs all records in one place"):
        release(kernel, trust=SecAgg(halves), privacy=PureDP(1))
    assert release(cells, trust=SecAgg(halves), privacy=PureDP(1)).method == "cells"
    for statistic in (kernel, cells):
        with pytest.raises(UnsupportedError, match="needs somebody who sees records"):
            released(statistic, PureDP(1))


def test_reports_can_be_counted_so_their_number_is_never_private():
    with pytest.raises(ParameterError, match="so the number of records cannot be private"):
        release(ASKED[0], trust=Local(TABLE), privacy=PureDP(1), adjacency=Adjacency.ADD_OR_REMOVE)


def test_a_second_source_gives_other_reports_and_the_same_one_the_same():
    one, again, other = (released(ASKED[0], PureDP(1), key) for key in (bytes(32), bytes(32), b"1" * 32))
    assert one.value == again.value != other.value
