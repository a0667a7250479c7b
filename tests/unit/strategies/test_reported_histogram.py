"""Histograms of reports: the stated noise against simulated reports, and curves, boxes and collections made of them."""

from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size
from scipy.stats import binom

import ogive
from ogive import Boxplot, Ecdf, Local, ParameterError, PureDP, UnsupportedError
from ogive.local import Collection, RandomizedResponse, Randomizer, UnaryOracle, simulate
from ogive.noise import DiscreteGaussian, KeyedSource
from ogive.privacy import Adjacency
from ogive.statistics.methods.curve_methods import HistogramQueries
from ogive.strategies import ReportedHistogram, strategy_from_dict
from ogive.strategies.reported import HISTOGRAM_BITS, expected_histogram, read_histogram

SIZE, GROUPS, RECORDS = 20, 6, 5_000
COUNTS = np.random.default_rng(3).multinomial(RECORDS, np.random.default_rng(4).dirichlet(np.full(SIZE, 0.6)))
ENDS = np.array([3, 7, 10, 13, 17, 20])  # round(20 k / 6)
TABLE = {"x": np.repeat(np.arange(SIZE) + 0.5, COUNTS)}
ASKED = Ecdf("x", (0, SIZE), bins=SIZE, method=HistogramQueries(groups=GROUPS))
OF_GROUPS = np.add.reduceat(COUNTS, [0, *ENDS[:-1]])


def collected(epsilon, run, counts=OF_GROUPS):
    oracle = UnaryOracle(GROUPS, Fraction(epsilon))
    return read_histogram(SIZE, oracle, simulate(oracle, counts, generator=np.random.default_rng(run)))


@pytest.mark.parametrize("epsilon", [1, 4])
def test_counts_are_unbiased_and_have_at_most_the_stated_variance(epsilon):
    runs = [collected(epsilon, run) for run in range(size(1500, part=600))]
    errors = np.array([answer for _, answer in runs]) / 2**HISTOGRAM_BITS - OF_GROUPS
    stated = float(runs[0][0].law.variance) / 4**HISTOGRAM_BITS
    # six counts, each off by five deviations once in two million
    assert np.all(np.abs(errors.mean(axis=0)) < 5 * np.sqrt(stated / len(runs)))
    exact = RECORDS * runs[0][0].oracle.noise_variance + OF_GROUPS
    # the relative deviation of a variance of 1500 draws is 0.037
    assert np.all(np.abs(errors.var(axis=0) / exact - 1) < 0.19 * (1500 / len(runs)) ** 0.5)
    assert stated > exact.max() * 0.95
    # the control: without the own bit's part the fullest group of epsilon 4 would have far more than stated
    assert epsilon == 1 or (errors.var(axis=0) / (RECORDS * runs[0][0].oracle.noise_variance)).max() > 1.5


def test_the_noise_of_groups_is_independent():
    runs = size(2000, part=800)
    errors = np.array([collected(2, run)[1] for run in range(runs)]) / 2**HISTOGRAM_BITS
    correlation = np.corrcoef(errors.T)[np.triu_indices(GROUPS, 1)]
    assert np.abs(correlation).max() < 5 / np.sqrt(runs)
    # the control: given their total, counts are not
    given = errors - errors.mean(axis=1, keepdims=True)
    assert np.abs(np.corrcoef(given.T)[np.triu_indices(GROUPS, 1)]).max() > 5 / np.sqrt(runs)


def test_cumulative_counts_have_the_stated_variance_at_the_ends_of_groups():
    runs = [collected(1, run) for run in range(size(1500, part=600))]
    strategy = runs[0][0]
    found = np.array([each.estimate(answer, RECORDS) for each, answer in runs])[:, ENDS[:-1] - 1]
    stated = strategy.variance(total_known=True)[ENDS[:-1] - 1]
    assert np.all(np.abs(found.mean(axis=0) - np.cumsum(COUNTS)[ENDS[:-1] - 1]) < 5 * np.sqrt(stated / len(runs)))
    ratio = found.var(axis=0) / stated
    off = (1500 / len(runs)) ** 0.5
    assert 1 - 0.25 * off < ratio.min() < ratio.max() < 1 + 0.19 * off


def test_exact_counts_are_exact_at_the_ends_of_groups():
    strategy = expected_histogram(SIZE, UnaryOracle(GROUPS, Fraction(1)), RECORDS)
    curve = strategy.estimate(strategy.measure(COUNTS), RECORDS)
    assert np.allclose(curve[ENDS - 1], np.cumsum(COUNTS)[ENDS - 1])
    assert np.array_equal(strategy.features @ COUNTS, strategy.measure(COUNTS))
    assert not np.allclose(curve, np.cumsum(COUNTS)), "between the ends it approximates"


def test_released_bands_hold_the_curve_of_the_records():
    truth = np.cumsum(COUNTS) / RECORDS
    held = narrow = 0
    for run in range(60):
        curve = ogive.release(ASKED, trust=Local(TABLE), privacy=PureDP(2), source=KeyedSource(run.to_bytes(32, "big")))
        band = curve.band(0.9, target="sample", simulations=499)
        held += bool(np.all((band.low <= truth + 1e-12) & (truth <= band.high + 1e-12)))
        at_ends = np.abs(curve.raw / RECORDS - truth)[ENDS - 1]
        narrow += bool(np.all(at_ends < curve.rmse() / 2))
    # fewer than this once in a million, at a level of 90 %
    fewest = binom.ppf(1e-6, 60, 0.9)
    assert held >= fewest > narrow


def test_is_plain_data_with_the_price_of_a_report():
    strategy, _ = collected("1/3", 1)
    again = strategy_from_dict(strategy.to_dict())
    assert again == strategy
    assert hash(again) == hash(strategy)
    assert strategy.loss(Adjacency.REPLACE) == PureDP("1/3")
    with pytest.raises(ParameterError, match="can be counted"):
        strategy.loss(Adjacency.ADD_OR_REMOVE)
    for change in ({"size": 5}, {"oracle": RandomizedResponse(6, 1).to_dict()}, {"law": {"name": "discrete_laplace"}}):
        with pytest.raises((ParameterError, KeyError)):
            strategy_from_dict({**strategy.to_dict(), **change})
    with pytest.raises(ParameterError, match="a unary oracle and a DiscreteGaussian law"):
        ReportedHistogram(SIZE, RandomizedResponse(6, 1), DiscreteGaussian(1000))


def test_a_released_curve_is_read_back_and_asks_of_the_group_alone():
    curve = ogive.release(ASKED, trust=Local(TABLE), privacy=PureDP(2), source=KeyedSource(bytes(32)))
    assert isinstance(curve.strategy, ReportedHistogram)
    assert curve.provenance.price == PureDP(2)
    assert curve.total == RECORDS
    assert ogive.Curve.from_json(curve.to_json()) == curve
    asked = ogive.describe_collection(ASKED, privacy=PureDP(2), participants=RECORDS)
    assert asked.domain.size == GROUPS
    assert asked.oracle == UnaryOracle(GROUPS, Fraction(2))


@pytest.mark.parametrize("grid", ["dates", "whole numbers"])
def test_groups_of_any_grid_are_those_of_a_curator(grid):
    if grid == "dates":
        days = np.datetime64("2024-01-01") + np.repeat(np.arange(SIZE), COUNTS).astype("timedelta64[D]")
        asked = Ecdf("x", ("2024-01-01", "2024-01-20"), grid="integers", method=HistogramQueries(groups=GROUPS))
        table, place = {"x": days}, "2024-01-10"
    else:
        asked = Ecdf("x", (0, SIZE - 1), grid="integers", method=HistogramQueries(groups=GROUPS))
        table, place = {"x": np.repeat(np.arange(SIZE), COUNTS)}, 9
    owners = ogive.release(asked, trust=Local(table), privacy=PureDP(30), source=KeyedSource(bytes(32)))
    curator = ogive.release(asked, trust=ogive.Central(table), privacy=PureDP(30), source=KeyedSource(bytes(32)))
    assert abs(owners(place) - curator(place)) < 0.1
    assert abs(owners(place) - np.cumsum(COUNTS)[9] / RECORDS) < 0.1


def test_boxes_of_public_groups_can_be_read_off_histograms_and_collected():
    region = np.repeat(["a", "b"], [2_000, 3_000])
    table = {"x": np.random.default_rng(1).permutation(TABLE["x"]), "g": region}
    asked = Boxplot(
        "x", (0, SIZE), bins=SIZE, by="g", groups=("a", "b"), public_groups=True, curve=HistogramQueries(groups=10)
    )
    source = KeyedSource(bytes(32))
    released = ogive.release(asked, trust=Local(table), privacy=PureDP(4), public="g", source=source)
    study = ogive.describe_collection(asked, privacy=PureDP(4), participants=RECORDS).to_json()
    found = Collection(study)
    found.add(Randomizer(study, source=KeyedSource(bytes(32))).reports(table))
    for boxes in (released, ogive.estimate_collection(found)):
        assert [box.records for box in boxes.boxes] == [2_000, 3_000]
        assert all(abs(box.median - np.median(TABLE["x"])) < 4 for box in boxes.boxes)
        assert all(isinstance(curve.strategy, ReportedHistogram) for curve in boxes.curves)


def test_planned_noise_is_that_of_collections_and_few_groups_are_nearer_than_a_tree():
    asked = Ecdf("x", (0, 8), bins=8)
    rows = {row.method: row for row in ogive.plan(asked, records=RECORDS, privacy=PureDP(1), trust=Local).rows}
    assert set(rows) == {"histogram", "reports"}
    assert rows["histogram"].errors["rmse"] < rows["reports"].errors["rmse"]
    oracle = UnaryOracle(8, Fraction(1))
    counts = np.full(8, RECORDS // 8)
    errors = []
    for run in range(400):
        strategy, answer = read_histogram(8, oracle, simulate(oracle, counts, generator=np.random.default_rng(run)))
        errors.append(strategy.estimate(answer, RECORDS) - np.cumsum(counts))
    measured = np.sqrt(np.mean(np.square(errors))) / RECORDS
    noise = {name: float(each.noise.split("+/- ")[1].split()[0]) / RECORDS for name, each in rows.items()}
    assert noise["histogram"] == pytest.approx(measured, rel=0.12)
    assert noise["reports"] != pytest.approx(measured, rel=0.04), "the control"


@pytest.mark.parametrize(
    ("method", "fields", "message"),
    [
        (HistogramQueries(groups=1), {}, "needs at least two groups"),
        (HistogramQueries(groups=6, noise="laplace"), {}, "for who sees records; leave them out"),
        (HistogramQueries(groups=6, accounting="naive"), {}, "for who sees records; leave them out"),
        (HistogramQueries(groups=6), {"smooth": "shrinkage"}, "use smooth='isotonic'"),
        (HistogramQueries(groups=6), {"missing": "drop"}, "missing='drop' would publish"),
    ],
)
def test_what_owners_cannot_report_is_refused_in_one_line(method, fields, message):
    asked = Ecdf("x", (0, SIZE), bins=SIZE, method=method, **fields)
    with pytest.raises((ParameterError, UnsupportedError), match=message) as why:
        ogive.release(asked, trust=Local(TABLE), privacy=PureDP(2))
    assert "\n" not in str(why.value)


def test_few_reports_state_large_noise():
    for values in ([1.0], [1.0, 2.0]):
        curve = ogive.release(ASKED, trust=Local({"x": values}), privacy=PureDP(1), source=KeyedSource(bytes(32)))
        assert curve.rmse() > 1
    none, answer = collected(1, 1, np.zeros(GROUPS, dtype=np.int64))
    assert np.array_equal(none.estimate(answer, 0), np.zeros(SIZE))
