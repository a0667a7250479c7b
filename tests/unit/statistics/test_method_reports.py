"""Curves, quantiles and boxes from reports: what they state against simulated collections, and what is refused."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from helpers.declared import public_of
from helpers.scope import is_everything, size
from scipy.stats import binom

import ogive
from ogive import Boxplot, Clear, Ecdf, Local, ParameterError, PureDP, Quantiles, UnsupportedError
from ogive.local import PublicClasses, simulate
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import Cells, ReportsQuery
from ogive.releasing.planning.predict import rehearse
from ogive.statistics.base import Terms
from ogive.statistics.methods.base import CurveTask
from ogive.statistics.methods.curve_methods import Reports
from ogive.strategies import ReportedTree
from ogive.strategies.reported import read_reports
from ogive.strategies.smoothing import SMOOTHINGS, smooth
from ogive.trust import SecAgg
from ogive.trust.models import LocalOptions
from tests.helpers.smoothing import cost, violation, whitened

BINS, RECORDS = 32, 3_000
SHARES = np.random.default_rng(8).dirichlet(np.full(BINS, 0.7))
COUNTS = np.random.default_rng(9).multinomial(RECORDS, SHARES)
OWNERS = LocalOptions()
ASKED = Ecdf("x", (0, BINS), bins=BINS)
SIMPLE = ASKED if is_everything() else dataclasses.replace(ASKED, smooth="isotonic")
TABLE = {"x": np.repeat(np.arange(BINS) + 0.5, COUNTS)}


def terms(epsilon=2, records=RECORDS):
    return Terms(
        PureDP(epsilon), PrivacyUnit(Adjacency.REPLACE), OWNERS.refusal, simulations=999, count=lambda: records
    )


def collected(statistic, run, counts=COUNTS, epsilon=2):
    """The estimate of one simulated collection."""
    return rehearse(statistic, terms(epsilon, int(counts.sum())), lambda _: counts, run=run).estimate


@pytest.fixture(scope="module")
def curves():
    """Smoothed in a simple way, since what is looked at rests on the raw curves."""
    return [collected(SIMPLE, run) for run in range(size(200, part=120))]


def test_auto_is_reports_under_trust_local_alone():
    auto, named = (
        ogive.release(
            dataclasses.replace(ASKED, method=method),
            trust=Local(TABLE),
            privacy=PureDP(2),
            source=KeyedSource(bytes(32)),
        )
        for method in ("auto", "reports")
    )
    assert np.array_equal(auto.raw, named.raw)
    assert isinstance(auto.strategy, ReportedTree)
    assert auto.provenance.price == PureDP(2)
    assert auto.total == RECORDS
    seen = ogive.release(ASKED, trust=ogive.Central(TABLE), privacy=PureDP(2), source=KeyedSource(bytes(32)))
    assert not isinstance(seen.strategy, ReportedTree)


def test_raw_curves_are_unbiased_and_have_the_stated_error(curves):
    truth = np.cumsum(COUNTS)
    errors = np.array([curve.raw for curve in curves]) - truth
    stated = curves[0].strategy.variance(total_known=True)[:-1]
    # 31 thresholds, each off by five deviations once in two million
    assert np.all(np.abs(errors[:, :-1].mean(axis=0)) < 5 * np.sqrt(stated / len(curves)))
    # an error of half of the stated one on average would be seen
    shifted = errors[:, :-1].mean(axis=0) + 0.5 * np.sqrt(stated)
    assert np.any(np.abs(shifted) > 5 * np.sqrt(stated / len(curves)))
    measured = np.sqrt(np.mean(errors**2)) / RECORDS
    # a bound: unary nodes that hold many have more noise than others, and all of a level are said to have as much
    assert 1 < np.mean([curve.rmse() for curve in curves]) / measured < 1.4


@pytest.mark.parametrize("target", ["sample", "population"])
def test_bands_hold_the_whole_curve_and_narrower_ones_do_not(target):
    truth = np.cumsum(SHARES)
    rng = np.random.default_rng(11)
    held = narrow = 0
    runs = size(100, part=40)
    for run in range(runs):
        counts = COUNTS if target == "sample" else rng.multinomial(RECORDS, SHARES)
        band = collected(SIMPLE, run, counts).band(0.9, target=target, simulations=999)
        wanted = np.cumsum(counts) / RECORDS if target == "sample" else truth
        held += bool(np.all((band.low <= wanted + 1e-12) & (wanted <= band.high + 1e-12)))
        middle, half = (band.low + band.high) / 2, (band.high - band.low) * 0.25
        narrow += bool(np.all(np.abs(wanted - middle) <= half + 1e-12))
    # fewer hits than this once in a million, at a level of 90 %
    fewest = binom.ppf(1e-6, runs, 0.9)
    assert held >= fewest
    assert narrow < fewest


def test_pointwise_errors_cover_two_thirds_and_quantile_intervals_hold_the_quantiles(curves):
    share = np.cumsum(COUNTS)[11] / RECORDS
    inside = np.mean([abs(c.raw[11] / RECORDS - share) <= c.standard_error(12.0, target="sample") for c in curves])
    assert 0.57 < inside < 0.88  # 0.683 for normal noise; five deviations of 200 draws are 0.16
    third = np.mean([abs(c.raw[11] / RECORDS - share) <= c.standard_error(12.0, target="sample") / 3 for c in curves])
    assert third < 0.45, "the control"
    truth = ogive.release(ASKED, trust=Clear(TABLE)).quantile(0.5)
    intervals = [c.quantile_interval(0.5, confidence_level=0.9, target="sample") for c in curves[: size(60, part=20)]]
    hits = sum(low <= truth <= high for low, high in intervals)
    assert hits >= binom.ppf(1e-6, len(intervals), 0.9)


@pytest.mark.parametrize("kind", SMOOTHINGS)
def test_every_smoothing_gives_a_valid_curve_that_is_on_average_nearer(kind):
    truth = np.cumsum(COUNTS)
    before, after = [], []
    for run in range(25 if kind == "least_absolute" else size(25, part=6)):
        curve = collected(dataclasses.replace(ASKED, smooth=kind), run)
        assert curve.smoothing == kind
        assert np.all(np.diff(curve.cumulative) >= -1e-9)
        assert curve.cumulative[0] >= 0
        assert curve.cumulative[-1] == RECORDS
        before.append(np.mean((curve.raw - truth) ** 2))
        after.append(np.mean((curve.cumulative - truth) ** 2))
    # least absolute fits are right for Laplace noise, and this is nearly normal; these counts have no smooth density
    assert np.mean(after) < np.mean(before) * {"least_absolute": 1.2, "density": 1.05}.get(kind, 1)
    assert np.any(np.diff(curve.raw) < 0), "the raw curve is not valid, or the test shows nothing"


def test_auto_fits_a_density_to_reports_which_is_nearer_on_smooth_columns():
    shares = np.exp(-np.arange(BINS) / 8)
    counts = np.random.default_rng(1).multinomial(RECORDS, shares / shares.sum())
    truth, errors = np.cumsum(counts), np.zeros(2)
    for run in range(10):
        curves = [collected(dataclasses.replace(ASKED, smooth=kind), run, counts) for kind in ("auto", "shrinkage")]
        assert [curve.smoothing for curve in curves] == ["density", "shrinkage"]
        errors += [np.mean((curve.cumulative - truth) ** 2) for curve in curves]
    assert errors[0] < 0.85 * errors[1]
    quiet = collected(ASKED, 1, counts * 1000, epsilon=4)
    assert quiet.smoothing == "shrinkage", "little noise needs no fit"


@pytest.mark.parametrize("run", [3, 4])
def test_least_squares_and_least_absolute_fits_are_the_nearest_valid_curves(run):
    strategy = collected(ASKED, run).strategy
    exact = strategy.measure(COUNTS)
    # noise of a known law, large enough that constraints bind
    noise = np.random.default_rng(run).normal(0, 1, exact.size)
    sigma = np.repeat([float(level.law.sigma) for level in strategy.levels], [each.nodes for each in strategy.levels])
    answer = exact + np.rint(noise * sigma).astype(np.int64)
    design, target = whitened(strategy, answer)
    found = smooth(strategy, answer, total=RECORDS, kind="least_squares")
    assert violation(found, design, target, total=RECORDS) < 1e-6
    assert violation(np.cumsum(COUNTS), design, target, total=RECORDS) > 1e-3, "the control"
    assert np.any(np.diff(found) == 0), "no constraint binds, or the test shows nothing"
    absolute = smooth(strategy, answer, total=RECORDS, kind="least_absolute")
    least = cost(strategy, answer, total=RECORDS)
    assert cost(strategy, answer, total=RECORDS, curve=absolute) == pytest.approx(least, rel=1e-5)
    assert cost(strategy, answer, total=RECORDS, curve=found) > least * 1.0001


GROUPS = (500, 2_000, 9_000)
BOXES = Boxplot("x", (0, BINS), bins=BINS, by="g", groups=("a", "b", "c"), public_groups=True)


def grouped_table():
    rng = np.random.default_rng(3)
    values = [rng.choice(BINS, size=size, p=np.roll(SHARES, 10 * place)) + 0.5 for place, size in enumerate(GROUPS)]
    return {"x": np.concatenate(values), "g": np.repeat(["a", "b", "c"], GROUPS)}


def test_boxes_of_public_groups_are_the_groups_own_curves_at_one_price():
    table = grouped_table()
    truth = ogive.release(BOXES, trust=Clear(table))
    for privacy, room in ((PureDP(1), 16.0), (PureDP(8), 3.0)):
        found = ogive.release(BOXES, trust=Local(table), privacy=privacy, public="g", source=KeyedSource(bytes(32)))
        assert found.provenance.price == privacy
        assert found.public_groups
        assert [box.records for box in found.boxes] == list(GROUPS)
        errors = np.abs(
            [
                [mine.q1 - other.q1, mine.median - other.median, mine.q3 - other.q3]
                for mine, other in zip(found.boxes, truth.boxes, strict=True)
            ]
        )
        assert errors.max() <= room
        for curve, group in zip(found.curves, GROUPS, strict=True):
            assert curve.total == group
    # the control: the box of another group is farther off
    assert np.ptp([box.median for box in truth.boxes]) > 6.0


def test_groups_are_unbiased_and_have_the_error_of_a_collection_of_their_own():
    table = grouped_table()
    tables = [np.bincount(table["x"][table["g"] == group].astype(int), minlength=BINS) for group in "abc"]
    rows = np.stack(tables, axis=1).reshape(-1)
    asked = dataclasses.replace(terms(2, sum(GROUPS)), unit=PrivacyUnit(Adjacency.REPLACE, public=("g",)))
    runs = [rehearse(BOXES, asked, lambda _: rows, run=run).estimate for run in range(size(80, part=6))]
    for number, counts in enumerate(tables):
        errors = np.array([run.curves[number].raw for run in runs])[:, :-1] - np.cumsum(counts)[:-1]
        stated = np.mean([run.curves[number].strategy.variance(total_known=True)[:-1] for run in runs], axis=0)
        assert np.all(np.abs(errors.mean(axis=0)) < 5 * np.sqrt(stated / len(runs)))
        assert 0.6 < np.mean(errors**2) / stated.mean() < 1 + 0.15 * np.sqrt(80 / len(runs))
    # the control: another group's counts are not what these estimate
    wrong = np.array([run.curves[0].raw for run in runs])[:, :-1].mean(axis=0) - np.cumsum(tables[1])[:-1]
    assert np.abs(wrong).max() > 500


def test_a_box_of_a_group_without_records_says_nothing():
    table = {"x": np.full(400, 3.5), "g": np.array(["a"] * 400)}
    found = ogive.release(BOXES, trust=Local(table), privacy=PureDP(4), public="g", source=KeyedSource(bytes(32)))
    assert [box.defined for box in found.boxes] == [True, False, False]
    assert "the box of b is empty: there are no records" in str(found)


def test_owners_send_their_group_as_it_is():
    procedure = BOXES.questions(terms())
    query = next(procedure)
    assert isinstance(query, ReportsQuery)
    assert isinstance(query.oracle, PublicClasses)
    assert query.price(PrivacyUnit(Adjacency.REPLACE)) == PureDP(2)
    assert query.oracle.classes == 3


@pytest.mark.each_value
@pytest.mark.parametrize(
    "asked", [ASKED, Quantiles("x", (0.5,), bounds=(0, BINS), bins=BINS)], ids=lambda each: each.name
)
@pytest.mark.parametrize("epsilon", [1, 4])
def test_planned_errors_are_those_of_collections(asked, epsilon):
    row = next(
        row
        for row in ogive.plan(asked, records=RECORDS, privacy=PureDP(epsilon), trust=Local).rows
        if row.method == "reports"
    )
    assert row.price == PureDP(epsilon)
    oracle = Reports().oracle(CurveTask(ASKED.binning(), terms(epsilon)))
    generators = [np.random.default_rng(run) for run in range(size(400, part=100))]
    found = [read_reports(oracle, simulate(oracle, COUNTS, generator=each)) for each in generators]
    errors = np.array([strategy.estimate(answer, RECORDS) for strategy, answer in found]) - np.cumsum(COUNTS)
    largest = np.abs(errors).max(axis=1) / RECORDS
    # unary nodes are planned for with at most four times the even share in one, which these data may not reach
    room = 0.12 if epsilon == 1 else 0.2
    noise = float(row.noise.split("+/- ")[1].split()[0])
    assert noise == pytest.approx(np.sqrt(np.mean(errors**2)), rel=room)
    assert 0 < row.errors["ks"] < largest.mean()  # smoothing takes out the rest
    assert row.errors["ks"] < row.errors["ks_95"] < np.quantile(largest, 0.95)
    bands = [collected(SIMPLE, run, epsilon=epsilon).band(0.95, simulations=999) for run in range(8)]
    half = np.mean([np.max(band.high - band.low) / 2 for band in bands])
    assert row.errors["band"] == pytest.approx(half, rel=0.2 if epsilon == 1 else 0.4)
    assert noise / 2 != pytest.approx(np.sqrt(np.mean(errors**2)), rel=room), "the control"


def test_options_decide_the_hierarchy():
    way = Reports(branching=2, nodes="unary", split="budget", seed=7)
    query = next(dataclasses.replace(ASKED, method=way).questions(terms()))
    oracle = query.oracle
    assert (oracle.branching, oracle.nodes, oracle.split, oracle.seed) == (2, "unary", "budget", 7)
    assert oracle.loss == PureDP(2)
    assert query.aggregate.domain.size == BINS
    assert Cells(query.rows.domain).domain == query.rows.domain


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"branching": 9}, "branching must be a whole number from 2 to 8, got 9"),
        ({"branching": True}, "branching must be a whole number from 2 to 8, got True"),
        ({"branching": 2.0}, "branching must be a whole number from 2 to 8"),
        ({"nodes": "krr"}, "nodes must be hadamard or unary, got 'krr'"),
        ({"split": "both"}, "split must be users or budget, got 'both'"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"seed": None}, "seed must be a whole number from 0"),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    with pytest.raises(ParameterError, match=message) as why:
        Reports(**options)
    assert "\n" not in str(why.value)


def test_a_person_with_several_records_pays_for_all_their_reports():
    table = {"x": np.tile(TABLE["x"], 2), "who": np.tile(np.arange(RECORDS), 2)}
    trust = Local(table, person="who", max_rows_per_person=2)
    with pytest.raises(ParameterError):  # whose reports there are can be counted
        ogive.release(ASKED, trust=trust, privacy=PureDP(2), adjacency=Adjacency.ADD_OR_REMOVE)


@pytest.mark.parametrize(
    ("statistic", "trust", "message"),
    [
        (Ecdf("x", (0, 1), bins=1), Local(TABLE), "reports serve 2 to 1048576 thresholds, got 1"),
        (ASKED, Local({"x": [1.0]}), "reports on 2 levels need at least 2 records, got 1; take fewer bins"),
        (BOXES, Local({"x": [1.0, 2.0], "g": ["a", "b"]}), "need at least 2 records a group, got 0"),
        (dataclasses.replace(BOXES, public_groups=False), Local(grouped_table()), "use public_groups=True"),
        (dataclasses.replace(BOXES, groups=("a", "b")), Local(grouped_table()), "not among its categories"),
        (dataclasses.replace(ASKED, missing="drop"), Local(TABLE), "missing='drop' would publish"),
        (ASKED, Local({"x": [1.0, np.nan, 3.0, 4.0]}), "column 'x' has missing values"),
        (ASKED, Local({"y": [1.0, 2.0, 3.0, 4.0]}), "x"),
    ],
)
def test_what_owners_cannot_report_is_refused_in_one_line(statistic, trust, message):
    with pytest.raises(ogive.OgiveError, match=message) as why:
        ogive.release(statistic, trust=trust, privacy=PureDP(2), public=public_of(statistic))
    assert "\n" not in str(why.value)


@pytest.mark.parametrize("method", ["path", "tree_ls", "hat_ls", "projection", "adaptive", "selected"])
def test_methods_of_curators_are_refused_with_what_would_work(method):
    with pytest.raises(UnsupportedError, match=r"needs somebody who sees records.*method='reports'"):
        ogive.release(dataclasses.replace(ASKED, method=method), trust=Local(TABLE), privacy=PureDP(1))


@pytest.mark.parametrize(
    "trust", [ogive.Central(TABLE), Clear(TABLE), SecAgg([TABLE, {"x": [1.0, 2.0]}])], ids=lambda t: t.name
)
def test_those_who_hold_records_refuse_reports(trust):
    with pytest.raises(UnsupportedError, match="use trust local, or a method without reports"):
        ogive.release(dataclasses.replace(ASKED, method="reports"), trust=trust, privacy=PureDP(1))


def test_half_an_epsilon_has_more_than_twice_the_error():
    one, half = (
        collected(ASKED, 1, epsilon=epsilon).strategy.variance(total_known=True).mean()
        for epsilon in (1, Fraction(1, 2))
    )
    assert half > 3 * one
