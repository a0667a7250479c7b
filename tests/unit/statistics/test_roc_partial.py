"""Partial areas and single rates of ROC curves: values as scikit-learn's, intervals that hold as often as they say."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.coverage import fewest
from helpers.scope import is_everything
from helpers.scope import size as runs_of
from scipy.stats import norm
from sklearn.metrics import roc_auc_score, roc_curve

from ogive.columns.grids import Grid
from ogive.errors import ParameterError
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, PureDP
from ogive.releasing.release import release
from ogive.statistics.roc import points
from ogive.statistics.roc.statistic import Roc
from ogive.statistics.roc.uncertainty import Rates, RocBand, pointwise_ends
from ogive.trust import Central, Clear

EVERY_SCORE = Grid.explicit([(k + 0.5) / 50 for k in range(51)])
"""A bin for each score that `drawn` rounds to."""


def drawn(seed, size=800, *, rounded=False):
    rng = np.random.default_rng(seed)
    positive = rng.random(size) < 0.3
    scores = 1 / (1 + np.exp(-rng.normal(1.2 * positive, 1.0)))
    return {"s": np.round(50 * scores) / 50 if rounded else scores, "y": positive.astype(int)}


def exact(records):
    return release(Roc("s", "y", grid=EVERY_SCORE), trust=Clear(records))


@pytest.mark.parametrize("seed", range(4))
def test_standardized_areas_are_those_of_scikit_learn(seed):
    records = drawn(seed, 300, rounded=True)
    roc = exact(records)
    on_a_step = float(roc.fpr[np.argmax(roc.fpr > 0.1)])
    for most in (0.001, 0.1, on_a_step, 1 / 3, 0.8, 1.0):
        expected = roc_auc_score(records["y"], records["s"], max_fpr=most)
        assert roc.partial_auc(most).standardized.value == pytest.approx(expected, abs=1e-12)


def test_areas_of_neighboring_ranges_add_up_and_agree_with_a_fine_sum():
    roc = exact(drawn(5, 300, rounded=True))
    cuts = [0.0, 0.03, 0.2, 0.55, 1.0]
    parts = [roc.partial_auc(end, min_fpr=start) for start, end in itertools.pairwise(cuts)]
    assert sum(part.value for part in parts) == pytest.approx(roc.auc)
    for part in parts:
        places = np.linspace(part.min_fpr, part.max_fpr, 200_001)
        middles = (places[1:] + places[:-1]) / 2
        assert part.value == pytest.approx(float(np.mean(roc(middles))) * (part.max_fpr - part.min_fpr), abs=1e-5)
        assert part.mean_sensitivity.value == pytest.approx(float(np.mean(roc(middles))), abs=1e-4)


def test_chance_is_one_half_and_a_perfect_score_is_one_on_every_range():
    for start, end in ((0.0, 0.1), (0.2, 0.5), (0.9, 1.0)):
        chance = points.partial_area(np.array([0.0, 1.0]), np.array([0.0, 1.0]), start, end)
        perfect = points.partial_area(np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0]), start, end)
        for area, expected in ((chance, 0.5), (perfect, 1.0)):
            found = points.PartialAuc(start, end, area, area, area, 0.95, "sample").standardized
            assert found == pytest.approx((expected,) * 3)


def test_rates_are_those_of_the_points_of_scikit_learn():
    records = drawn(7, 300, rounded=True)
    roc = exact(records)
    fpr, tpr, _ = roc_curve(records["y"], records["s"], drop_intermediate=False)
    for x, y in zip(fpr[:: 1 if is_everything() else 3], tpr[:: 1 if is_everything() else 3], strict=True):
        assert roc.sensitivity_at(1 - x).value == pytest.approx(max(tpr[np.isclose(fpr, x)]))
        assert roc.specificity_at(y).value == pytest.approx(1 - min(fpr[np.isclose(tpr, y)]))
    assert roc.sensitivity_at(0).value == roc.specificity_at(0).value == 1


def test_a_rounding_error_in_a_rate_is_no_other_threshold():
    """1 - 0.9 is a little less than the false positive rate of 1 in 10, at which the curve rises from 0 to 1."""
    x, y = np.array([0.0, 0.1, 0.1, 1.0]), np.array([0.0, 0.0, 1.0, 1.0])
    assert 1 - 0.9 < 0.1
    assert points.highest_within(x, y, 1 - 0.9) == 1
    assert points.first_reaching(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 0.2, 0.2, 1.0]), 1 - 0.8) == 0


def test_ends_are_the_extremes_over_all_curves_within_a_band():
    """Every increasing step curve on a small lattice that lies within a band, against what the band's ends say."""
    band = RocBand(
        np.array([0.0, 0.25, 0.5, 0.75, 1.0]),
        np.array([0, 0, 1, 1, 3]) / 3,
        np.array([1, 2, 2, 3, 3]) / 3,
        0.95,
        "sample",
    )
    within = [
        np.array(heights) / 3
        for heights in itertools.product(range(4), repeat=4)
        if list(heights) == sorted(heights)
        and all(low <= height / 3 <= high for low, height, high in zip(band.low, heights, band.high, strict=False))
    ]
    assert len(within) > 10
    for start, end in ((0.0, 1.0), (0.25, 0.75), (0.0, 0.5)):
        areas = [sum(0.25 * height for k, height in enumerate(each) if start <= k / 4 < end) for each in within]
        assert points.area_ends(band, start, end) == pytest.approx((min(areas), max(areas)))
    for wanted in (0.2, 1 / 3, 0.5, 2 / 3, 1.0):
        firsts = [next((k / 4 for k, height in enumerate(each) if height >= wanted), 1.0) for each in within]
        assert points.rate_ends(band, wanted) == (min(firsts), max(firsts))


@pytest.mark.distribution
@pytest.mark.parametrize("adjacency", Adjacency, ids=lambda each: each.value)
def test_intervals_hold_as_often_as_they_say(adjacency):
    """Level 90 %, 40 releases: fewer than 31 have probability 0.005 at exactly 90 %, of 10 fewer than 6.

    A tenth of the width must fail.
    """
    runs = runs_of(40, part=10)
    wanted = fewest(runs, 0.9, chance=0.006)
    ask = Roc("s", "y", (0, 1), bins=32, confidence_level=0.9)
    fine = Roc("s", "y", (0, 1), bins=1 << 12)
    population = [found.value for found in _numbers(release(fine, trust=Clear(drawn(0, 400_000))), "population")]
    counts = {"population": 0, "sample": 0, "control": 0}
    for run in range(runs):
        records = drawn(1000 + run, 1500)
        source = KeyedSource(run.to_bytes(32, "big"))
        roc = release(ask, trust=Central(records), privacy=PureDP(2), adjacency=adjacency, source=source)
        held, narrow = _holds(roc, population, "population")
        counts["population"] += held
        counts["control"] += narrow
        sample = [found.value for found in _numbers(release(fine, trust=Clear(records)), "sample")]
        counts["sample"] += _holds(roc, sample, "sample")[0]
    assert min(counts["population"], counts["sample"]) >= wanted, counts
    assert counts["control"] < wanted, counts


def _numbers(roc, target):
    """Areas over ranges of false positive rates, and sensitivities and specificities, with their intervals."""
    yield from (
        roc.partial_auc(end, min_fpr=start, target=target)
        for start, end in ((0.0, 0.05), (0.0, 0.1), (0.0, 0.2), (0.3, 0.6))
    )
    for rate in (0.5, 0.8, 0.9, 0.95):
        yield roc.sensitivity_at(rate, target=target, simultaneous=True)
        yield roc.specificity_at(rate, target=target, simultaneous=True)


def _holds(roc, truth, target):
    """Whether all intervals hold the exact numbers, and whether those of a tenth of the width do."""
    pairs = list(zip(_numbers(roc, target), truth, strict=True))
    held = all(found.low - 1e-9 <= true <= found.high + 1e-9 for found, true in pairs)
    narrow = all(abs(true - (found.low + found.high) / 2) <= (found.high - found.low) / 20 for found, true in pairs)
    return held, narrow


def test_one_rate_has_the_interval_of_one_number_where_the_curve_is_a_straight_line():
    shares = np.linspace(0, 1, 201)
    x, y = Rates(shares, np.full(201, 0.03), shares), Rates(shares, np.full(201, 0.04), shares)
    z = norm.isf(0.375 * 0.05)
    assert pointwise_ends(x, y, 0.4, Fraction(1, 20)) == pytest.approx((0.4 - z * 0.05, 0.4 + z * 0.05))


@pytest.mark.distribution
@pytest.mark.parametrize("adjacency", Adjacency, ids=lambda each: each.value)
def test_pointwise_intervals_hold_each_rate_as_often_as_they_say_and_are_narrower(adjacency):
    """Four rates in each of 100 or 25 releases at 90 %; a fifth of the width must fail, and so must the sample's."""
    runs = runs_of(100, part=25)
    ask = Roc("s", "y", (0, 1), bins=256, confidence_level=0.9)
    fine = release(Roc("s", "y", (0, 1), bins=1 << 12), trust=Clear(drawn(0, 400_000)))

    def read(roc, **options):
        return [f(q, **options) for f in (roc.sensitivity_at, roc.specificity_at) for q in (0.6, 0.85)]

    truth, widths = np.array([each.value for each in read(fine)]), []
    held = {"pointwise": np.zeros(4), "narrow": np.zeros(4), "sample": np.zeros(4)}
    for run in range(runs):
        source = KeyedSource(run.to_bytes(32, "big"))
        roc = release(
            ask, trust=Central(drawn(2000 + run, 3000)), privacy=PureDP(4), adjacency=adjacency, source=source
        )
        (low, high), (less, more) = (np.array(read(roc, target=t))[:, 1:].T for t in ("population", "sample"))
        held["pointwise"] += (low <= truth) & (truth <= high)
        held["narrow"] += abs(truth - (low + high) / 2) <= (high - low) / 10
        held["sample"] += (less <= truth) & (truth <= more)
        band = np.array(read(roc, simultaneous=True))
        widths.append(np.mean((high - low) / (band[:, 2] - band[:, 1])))
    assert min(held["pointwise"]) >= fewest(runs, 0.9, chance=0.006), held
    assert max(held["narrow"]) < fewest(runs, 0.9, chance=0.006)
    assert min(held["sample"]) < fewest(runs, 0.9, chance=0.006)
    assert np.mean(widths) < 0.65


def test_the_whole_range_has_the_interval_of_the_area():
    roc = release(
        Roc("s", "y", (0, 1), bins=32), trust=Central(drawn(1)), privacy=PureDP(2), source=KeyedSource(bytes(32))
    )
    whole = roc.partial_auc()
    assert (whole.value, whole.low, whole.high) == (roc.auc, *roc.auc_interval())
    assert whole.standardized == pytest.approx((whole.value, whole.low, whole.high))
    sample = roc.partial_auc(target="sample", confidence_level=0.8)
    assert (sample.low, sample.high) == roc.auc_interval(0.8, target="sample")
    beginning = roc.partial_auc(0.1)
    assert beginning.low < beginning.value < beginning.high <= 0.1
    assert str(beginning).startswith("area over false positive rates from 0 to 0.1: 0.0")


def test_without_a_class_nothing_is_claimed():
    lonely = {"s": np.linspace(0, 1, 50), "y": np.zeros(50, dtype=int)}
    roc = release(Roc("s", "y", (0, 1), bins=8, positive=(1,)), trust=Clear(lonely))
    found = roc.partial_auc(0.2, min_fpr=0.1)
    assert math.isnan(found.value)
    assert (found.low, found.high) == pytest.approx((0, 0.1))
    for rate in (roc.sensitivity_at(0.9), roc.specificity_at(0.9)):
        assert math.isnan(rate.value)
        assert (rate.low, rate.high) == (0, 1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda roc: roc.partial_auc(0), "`max_fpr` must be above 0"),
        (lambda roc: roc.partial_auc(0.1, min_fpr=0.1), "`min_fpr` must be below `max_fpr`, got 0.1 and 0.1"),
        (lambda roc: roc.partial_auc(1.1), "`max_fpr` must be between 0 and 1, got 1.1"),
        (lambda roc: roc.partial_auc([0.1, 0.2]), "`max_fpr` must be one number between 0 and 1"),
        (lambda roc: roc.partial_auc(0.1, target="all"), "`target` must be"),
        (lambda roc: roc.partial_auc(0.1, confidence_level=1), "`confidence_level` must be above 0"),
        (lambda roc: roc.sensitivity_at("high"), "`specificity` must be numbers between 0 and 1"),
        (lambda roc: roc.specificity_at(float("nan")), "`sensitivity` must be between 0 and 1"),
    ],
)
def test_bad_ranges_are_refused_in_one_line(call, words):
    roc = exact(drawn(1, 100, rounded=True))
    with pytest.raises(ParameterError) as problem:
        call(roc)
    assert words in problem.value.marked
