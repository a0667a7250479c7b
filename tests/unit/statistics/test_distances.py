"""Distances between distribution functions: exact values, scipy as oracle, and the laws of a metric."""

import dataclasses
import datetime
import math
import warnings

import numpy as np
import pytest
import scipy.stats
from helpers.scope import size
from hypothesis import given, settings
from hypothesis import strategies as st

import ogive
from ogive import Distances, Grid, distances
from ogive.errors import ParameterError
from ogive.statistics.curve.distances import Piecewise, compare, of_curve
from tests.helpers.curves import exact_curve

UNIT = Grid.linear(0, 1, bins=16)
samples = st.lists(st.floats(-50, 50).map(lambda x: round(x, 2)), min_size=1, max_size=12)


def triple(found: Distances) -> tuple[float, float, float]:
    return found.ks, found.emd, found.energy


def test_point_masses_and_the_uniform_have_the_stated_values():
    assert triple(distances([0.0], [1.0])) == pytest.approx((1, 1, math.sqrt(2)))
    known = distances(scipy.stats.uniform(), [0.0], bounds=(0, 1))
    assert triple(known) == pytest.approx((1, 0.5, math.sqrt(2 / 3)))
    curve = exact_curve((np.arange(16) + 0.5) / 16, UNIT)  # even in each bin: the uniform itself
    assert triple(distances(curve, [0.0])) == pytest.approx((1, 0.5, math.sqrt(2 / 3)))
    assert triple(distances(curve, lambda x: x)) == pytest.approx((0, 0, 0), abs=1e-9)


@given(samples, samples)
def test_samples_agree_with_scipy(a, b):
    found = distances(a, b)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its p-value, not asked for here, divides by zero
        known = scipy.stats.ks_2samp(a, b, method="asymp").statistic
    assert found.ks == pytest.approx(known, abs=1e-12)
    assert found.emd == pytest.approx(scipy.stats.wasserstein_distance(a, b), abs=1e-9)
    assert found.energy == pytest.approx(scipy.stats.energy_distance(a, b), abs=1e-6)


@given(samples, samples, samples)
def test_they_are_metrics(a, b, c):
    ab, ba, bc, ac = (triple(distances(*pair)) for pair in ((a, b), (b, a), (b, c), (a, c)))
    assert ab == pytest.approx(ba)
    assert triple(distances(a, a[::-1])) == (0, 0, 0)
    for whole, one, other in zip(ac, ab, bc, strict=True):
        assert whole <= one + other + 1e-9


@st.composite
def piecewise(draw):
    """Random functions with jumps and slopes."""
    knots = np.unique(draw(st.lists(st.integers(-20, 20), min_size=1, max_size=6))).astype(float)
    inner = sorted(draw(st.lists(st.floats(0, 1), min_size=2 * len(knots) - 2, max_size=2 * len(knots) - 2)))
    values = np.concatenate(([0.0], inner, [1.0]))
    return Piecewise(knots, values[0::2], values[1::2])


def by_midpoints(first, second):
    """The integrals as plain sums over many small cells, and the largest difference seen there."""
    edges = np.linspace(-21, 21, 42 * 2000 + 1)
    middle = (edges[1:] + edges[:-1]) / 2
    gap = np.abs(first.at(middle)[1] - second.at(middle)[1])
    return gap.max(), gap.mean() * 42, math.sqrt(2 * (gap**2).mean() * 42)


@settings(max_examples=size(100, part=30), deadline=None)
@given(piecewise(), piecewise())
def test_jumps_slopes_and_changes_of_sign_are_integrated_exactly(first, second):
    found, sums = triple(compare(first, second)), by_midpoints(first, second)
    assert found[0] == pytest.approx(sums[0], abs=2e-3)
    assert found[1] == pytest.approx(sums[1], abs=1e-4)
    assert found[2] ** 2 == pytest.approx(sums[2] ** 2, abs=1e-4)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("law", "bounds"),
    [
        (scipy.stats.norm(), (-4, 4)),
        (scipy.stats.beta(2, 5), (0, 1)),
        (scipy.stats.expon(), (0, 8)),
        (scipy.stats.poisson(7.5), (0, 60)),
        (scipy.stats.norm(1, 1e-7), (0, 3)),
    ],
    ids=["normal", "beta", "exponential", "poisson", "nearly a point"],
)
def test_known_distributions_against_samples(law, bounds):
    sample = np.clip(law.rvs(400, random_state=3), *bounds)
    found = distances(law, sample, bounds=bounds)
    places = np.unique(sample)
    empirical = np.searchsorted(np.sort(sample), places, side="right") / len(sample)
    before = np.concatenate(([0.0], empirical[:-1]))
    below = np.where(places <= bounds[0], 0.0, law.cdf(np.nextafter(places, -1)))
    at = np.where(places >= bounds[1], 1.0, law.cdf(places))
    at_places = max(np.abs(empirical - at).max(), np.abs(before - below).max())
    cells = np.linspace(*bounds, 2_000_001)
    middle = (cells[1:] + cells[:-1]) / 2
    gap = np.abs(law.cdf(middle) - np.searchsorted(np.sort(sample), middle, side="right") / len(sample))
    width = bounds[1] - bounds[0]
    assert found.ks == pytest.approx(max(gap.max(), at_places), abs=1e-8)
    assert found.emd == pytest.approx(gap.mean() * width, abs=3e-6 * width)
    assert found.energy**2 == pytest.approx(2 * (gap**2).mean() * width, abs=6e-6 * width)


def test_two_known_distributions():
    found = distances(scipy.stats.norm(0, 1), scipy.stats.norm(0.5, 1), bounds=(-9, 9))
    assert found.ks == pytest.approx(2 * scipy.stats.norm.cdf(0.25) - 1, abs=2e-9)
    assert found.emd == pytest.approx(0.5, abs=1e-7)
    steps = distances(scipy.stats.poisson(4), scipy.stats.poisson(5), bounds=(0, 200))
    assert steps.emd == pytest.approx(1, abs=1e-6)
    assert steps.ks == pytest.approx(
        np.abs(scipy.stats.poisson(4).cdf(range(40)) - scipy.stats.poisson(5).cdf(range(40))).max()
    )


def test_values_outside_the_bounds_count_as_clipped():
    assert distances([-5.0, 0.5], [0.0, 0.5], bounds=(0, 1)).emd == 0
    assert distances([0.5, np.inf], [0.5, 1.0], bounds=(0, 1)).emd == 0
    half = distances(scipy.stats.norm(), [0.0], bounds=(0, 1))
    assert half.ks == pytest.approx(0.5, abs=1e-9)  # half of the normal sits at the lower bound


def test_curves_lie_on_their_thresholds_or_rise_evenly():
    curve = exact_curve([0.03, 0.4, 0.4, 0.9], UNIT)
    on_thresholds = [1 / 16, 7 / 16, 7 / 16, 15 / 16]
    assert triple(distances(curve, on_thresholds, between="steps")) == pytest.approx((0, 0, 0), abs=1e-12)
    assert distances(curve, on_thresholds).emd == pytest.approx(1 / 32)
    whole = exact_curve([3, 3, 9], Grid.integers(0, 10))
    assert triple(distances(whole, [3, 3, 9])) == pytest.approx((0, 0, 0), abs=1e-12)
    assert distances(whole, [3, 3, 9], between="lines").ks > 0.5


def test_mass_at_the_lower_bound_is_a_jump_where_the_first_bin_is_a_point():
    grid = Grid.explicit([0, 1, 2])
    lines = of_curve(exact_curve([0, 0, 2], grid), "lines")
    assert lines.at(np.array([-1e-9, 0.0, 1.5, 2.0]))[1] == pytest.approx([0, 2 / 3, 5 / 6, 1])


def test_dates_count_in_days():
    days = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 3)]
    later = [day + datetime.timedelta(days=2) for day in days]
    found = distances(days, later)
    assert (found.emd, found.unit) == (2, "days")
    assert "2 days" in str(found)
    times = np.array(days, dtype="datetime64[s]")
    assert distances(times, times + np.timedelta64(6, "h")).emd == pytest.approx(0.25)
    curve = exact_curve([18262, 18264], Grid.integers("2020-01-01", "2020-01-31"))
    assert distances(curve, days).emd == 0
    fine = exact_curve([18262, 18264], Grid.linear("2020-01-01", "2020-01-31", bins=64))
    assert distances(fine, days).emd < 0.5


def test_plain_data_and_words():
    found = Distances(0.25, 1.5, 0.5)
    assert found.to_dict() == {"ks": 0.25, "emd": 1.5, "energy": 0.5, "unit": ""}
    assert str(found) == "KS 0.25, Earth Mover's 1.5, energy 0.5"


CURVE = exact_curve([0.5], UNIT)


@pytest.mark.parametrize(
    ("a", "b", "options", "words"),
    [
        (CURVE, exact_curve([0.5], Grid.linear(0, 2, bins=16)), {}, "different bounds"),
        (CURVE, exact_curve([18262], Grid.integers("2020-01-01", "2020-01-31")), {}, "different bounds"),
        (CURVE, [0.5], {"bounds": (0, 2)}, "different bounds"),
        (scipy.stats.norm(), [0.5], {}, "needs bounds"),
        ([0.5], np.array(["2020-01-01"], dtype="datetime64[D]"), {}, "numbers and dates"),
        ([0.5, np.nan], [0.5], {}, "missing"),
        ([np.inf], [0.5], {}, "infinite"),
        ([], [0.5], {}, "at least one value"),
        ([[0.5]], [0.5], {}, "at least one value"),
        (CURVE, [0.5], {"between": "curves"}, "steps or lines"),
        (CURVE, lambda x: 1 - x, {}, "decrease"),
        (CURVE, lambda x: 2 * x, {}, "between 0 and 1"),
        (CURVE, lambda x: x * float("nan"), {}, "between 0 and 1"),
        (CURVE, lambda x: None, {}, "must take one number and return one"),
        (CURVE, lambda x: "x", {}, "must take one number and return one"),
        (CURVE, lambda x, y: 0.5, {}, "must take one number and return one"),
        ([0.5], [0.5], {"bounds": 3}, "two ends"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refuses_what_does_not_compare(a, b, options, words):
    with pytest.raises(ParameterError, match=words):
        distances(a, b, **options)


def test_a_function_of_one_number_will_do():
    assert distances(lambda x: 0.0 if x < 0.25 else 1.0, [0.25], bounds=(0, 1)).emd == pytest.approx(0, abs=1e-9)


# --- Populations: intervals and the test of whether there is a difference


def released(values, **options):
    return ogive.ecdf(values, bounds=(0, 100), bins=64, privacy=ogive.PureDP(1), **options)


def test_intervals_hold_the_distances_of_populations_and_the_test_keeps_its_size():
    """The control, intervals a tenth as wide around the estimate, misses."""
    random = np.random.default_rng(11)
    first, second = scipy.stats.norm(50, 10), scipy.stats.norm(56, 10)
    ks, emd = 2 * scipy.stats.norm.cdf(0.3) - 1, 6.0
    runs = size(100, part=25)
    held, control, rejected, told = 0, 0, 0, 0
    for _ in range(runs):
        one, two = released(first.rvs(800, random_state=random)), released(second.rvs(500, random_state=random))
        gap = distances(one, two, confidence_level=0.95)
        found = gap.populations
        held += found.ks[0] <= ks <= found.ks[1] and found.emd[0] <= emd <= found.emd[1]
        control += abs(gap.ks - ks) <= (found.ks[1] - found.ks[0]) / 20
        told += found.p_value < 0.05
        same = distances(one, released(first.rvs(500, random_state=random)), confidence_level=0.95)
        rejected += same.populations.p_value < 0.2
    assert held >= 0.95 * runs - 3
    assert control < 0.8 * runs
    assert rejected <= 0.2 * runs + 3
    assert told > 0.5 * runs


@pytest.mark.parametrize("grid", ["linear", "integers"])
def test_the_ends_are_those_of_all_curves_in_both_bands_and_the_p_value_where_they_part(grid):
    random = np.random.default_rng(3)
    options = {
        "bounds": (0, 20),
        "privacy": ogive.PureDP(1),
        "grid": grid,
        **({"bins": 20} if grid == "linear" else {}),
    }
    one, two = (ogive.ecdf(random.integers(low, 21, 900).tolist(), **options) for low in (0, 6))
    found = distances(one, two, confidence_level=0.9).populations
    bands = [curve.band(0.95) for curve in (one, two)]
    assert found.ks[0] == max(0, *(bands[0].low - bands[1].high), *(bands[1].low - bands[0].high))
    places = np.linspace(0, 20, 4001)[:-1] + 1 / 500  # no threshold among them
    if grid == "integers":
        places = np.floor(places)
    ends = [band(places) for band in bands]
    most = np.maximum(ends[0][1] - ends[1][0], ends[1][1] - ends[0][0])
    assert found.ks[1] == pytest.approx(most.max())
    assert found.emd[1] == pytest.approx(20 * most.mean(), rel=2e-3)
    near = released_like(two, one, 0.4)
    weak = distances(one, near, confidence_level=0.9).populations
    assert 1e-3 < weak.p_value < 0.5
    for factor, apart in ((0.97, False), (1.03, True)):
        wide = [curve.band(1 - factor * weak.p_value / 2) for curve in (one, near)]
        assert (max(*(wide[0].low - wide[1].high), *(wide[1].low - wide[0].high)) > 0) == apart


def released_like(curve, other, share):
    """A curve between two others."""
    raw = share * curve.raw + (1 - share) * other.raw
    return dataclasses.replace(other, raw=raw, cumulative=np.clip(raw, 0, other.total), measured=None)


def test_strong_differences_are_bounded_and_known_distributions_need_one_band():
    random = np.random.default_rng(4)
    curve, far = released(random.normal(30, 5, 3000)), released(random.normal(70, 5, 3000))
    found = distances(curve, far, confidence_level=0.95).populations
    assert (found.p_value, found.at_most) == (2e-4, True)
    assert "no difference: p <= 0.0002; Earth Mover's" in str(found)
    assert distances(curve, scipy.stats.norm(70, 5), confidence_level=0.95).populations.p_value == 1e-4
    near = distances(curve, scipy.stats.norm(30, 5), confidence_level=0.95).populations
    assert near.p_value > 0.05
    assert near.ks[0] == 0 < near.ks[1] < found.ks[0]
    assert distances(curve, far).populations is None
    assert set(distances(curve, far, confidence_level=0.95).to_dict()["populations"]) >= {"ks", "emd", "p_value"}
    with pytest.raises(ParameterError, match="intervals of distances need a released curve"):
        distances([0.5], [1.5], confidence_level=0.95)
