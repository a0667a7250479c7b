"""Moments, histograms and quantile-quantile pictures of one curve."""

import dataclasses
import math

import numpy as np
import pytest
import scipy.stats
from helpers.scope import size

import ogive
from ogive.columns.grids import Grid
from ogive.errors import ParameterError
from ogive.privacy import Adjacency, ApproxDP
from ogive.statistics.curve.distances import distances, quantile_pairs
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.curve.readings import groups
from ogive.strategies import design_projection
from tests.helpers.curves import exact_curve, noisy_curve

GRID = Grid.linear(10, 20, bins=64)
VALUES = np.random.default_rng(0).normal(14, 1.5, 4000)


def projected(seed, *, grid=GRID, adjacency=Adjacency.REPLACE, degree=6, values=VALUES):
    """A released projection, its noise from a seeded generator."""
    strategy = design_projection(
        grid.bins, privacy=ApproxDP(1, 1e-6), adjacency=adjacency, degree=degree, records=4000, noise="isotropic"
    )
    rng = np.random.default_rng(seed)
    level = strategy.levels[0]
    noise = np.rint(rng.normal(scale=level.law.variance**0.5, size=level.nodes)).astype(np.int64)
    answer = strategy.measure(np.bincount(grid.bin_of(values), minlength=grid.bins)) + noise
    total = len(values) if adjacency is Adjacency.REPLACE else None
    raw = strategy.estimate(answer, total)
    smooth = np.clip(np.maximum.accumulate(raw), 0, None)
    return Curve(grid, smooth, raw, strategy, adjacency, total, "isotonic", "x", measured=answer)


def test_moments_of_an_exact_curve_are_those_of_the_middles_of_bins():
    found = exact_curve(VALUES, GRID).moments(3)
    middles = GRID.thresholds[GRID.bin_of(VALUES)] - 5 / 64
    assert found.mean == pytest.approx(middles.mean())
    assert found.variance == pytest.approx(middles.var())
    for order in (1, 2, 3):
        assert found.raw(order) == pytest.approx((middles**order).mean())
    assert (found.noise_sd, found.mean_sd) == (None, None)
    whole = exact_curve([3, 3, 9], Grid.integers(0, 10)).moments()
    assert whole.mean == pytest.approx(5)
    assert whole.variance == pytest.approx(8)


@pytest.mark.parametrize("adjacency", Adjacency, ids=lambda member: member.value)
@pytest.mark.parametrize("grid", [GRID, Grid.integers(8, 20)], ids=["even bins", "integers"])
def test_moments_of_a_projection_are_unbiased_with_the_stated_noise(grid, adjacency):
    exact, runs = exact_curve(VALUES, grid).moments(4), size(300, part=100)
    found = [projected(seed, grid=grid, adjacency=adjacency).moments(4) for seed in range(runs)]
    gaps = np.array([item.scaled for item in found]) - exact.scaled
    sd = found[0].noise_sd
    assert np.abs(gaps.mean(axis=0) / sd).max() < 4 / math.sqrt(runs) + 0.02
    assert gaps.std(axis=0) == pytest.approx(sd, rel=0.2)
    means = [item.mean for item in found]
    assert np.std(means) == pytest.approx(found[0].mean_sd, rel=0.2)
    variances = [item.variance for item in found]
    assert np.mean(variances) == pytest.approx(exact.variance, abs=4 * np.std(variances) / math.sqrt(runs))
    assert "noise" in str(found[0])


def test_the_noise_of_the_squared_mean_is_taken_off():
    found = projected(3).moments(2)
    bare = found.scaled[1] - found.scaled[0] ** 2
    assert found.variance == pytest.approx(found.half**2 * (bare + found.noise_sd[0] ** 2), rel=1e-12)
    assert found.variance != pytest.approx(found.half**2 * bare, rel=1e-9)


def test_moments_beyond_what_was_measured_come_from_the_curve():
    curve = projected(1)
    assert curve.moments(7).noise_sd is not None
    assert curve.moments(8).noise_sd is None
    assert dataclasses.replace(curve, measured=None).moments().noise_sd is None
    assert noisy_curve(VALUES, GRID).moments().noise_sd is None
    stretched = projected(1, grid=Grid.geometric(10, 20, bins=64))
    assert stretched.moments().noise_sd is None


@pytest.mark.parametrize("order", [0, 16, 1.5, True], ids=str)
def test_refuses_orders_that_are_none(order):
    with pytest.raises(ParameterError, match="whole number from 1 to 15"):
        exact_curve(VALUES, GRID).moments(order)


def test_groups_hold_all_shares_between_thresholds():
    curve = exact_curve(VALUES, GRID)
    edges, shares = groups(GRID, curve.probabilities, 10)
    assert len(edges) == 11
    assert np.isin(edges[1:], GRID.thresholds).all()
    assert shares == pytest.approx(np.histogram(np.clip(VALUES, 10, 20), edges)[0] / len(VALUES), abs=1e-12)
    assert shares.sum() == pytest.approx(1)
    whole = exact_curve([0, 1, 1], Grid.integers(0, 3))
    assert groups(whole.grid, whole.probabilities, None)[0].tolist() == [-0.5, 0.5, 1.5, 2.5, 3.5]
    point = Grid.explicit([0, 1, 2])
    assert np.all(np.diff(groups(point, exact_curve([0, 2], point).probabilities, None)[0]) > 0)
    for bins in (0, 65, 2.5):
        with pytest.raises(ParameterError, match="from 1 to 64"):
            curve.plot_histogram(bins)


def test_quantile_pairs_lie_on_the_diagonal_for_equal_distributions():
    curve = exact_curve(VALUES, GRID)
    ours, others = quantile_pairs(curve, curve, 50)
    assert np.array_equal(ours, others)
    ours, others = quantile_pairs(curve, VALUES, 50)
    assert np.abs(ours - others).max() < 10 / 64 + 1e-9
    law = scipy.stats.norm(14, 1.5)
    shares = (np.arange(99) + 0.5) / 99
    assert quantile_pairs(curve, law, 99)[1] == pytest.approx(np.clip(law.ppf(shares), 10, 20), abs=1e-6)
    shifted = quantile_pairs(curve, scipy.stats.norm(15, 1.5), 9)
    assert np.all(shifted[1] > shifted[0] + 0.5)
    steps = exact_curve([1, 1, 5], Grid.integers(0, 10))
    assert quantile_pairs(steps, [1, 1, 5], 6)[0].tolist() == [1, 1, 1, 1, 5, 5]
    with pytest.raises(ParameterError, match="points"):
        quantile_pairs(curve, curve, 0)


def test_pictures_say_what_they_show():
    curve = projected(2)
    bars = curve.plot_histogram(8)
    assert "Histogram of x" in bars.get_title()
    assert len(bars.patches[0].get_data().values) == 8
    pairs = curve.plot_qq(scipy.stats.norm(14, 1.5), points=20, name="normal")
    assert pairs.get_xlabel() == "x, normal"
    assert len(pairs.lines[1].get_xdata()) == 20
    dates = exact_curve([18262, 18270], Grid.integers("2020-01-01", "2020-01-31"))
    assert dates.plot_histogram().get_ylim()[0] == 0
    assert dates.plot_qq(dates).get_ylabel() == "value, exact (not private)"
    stretched = exact_curve([11.0, 12.0], Grid.geometric(10, 20, bins=8))
    assert stretched.plot_qq(stretched).get_yscale() == "log"
    assert stretched.plot_histogram().get_xscale() == "log"


def test_a_curve_without_records_has_no_shape():
    curve = exact_curve(VALUES, GRID)
    empty = dataclasses.replace(curve, cumulative=np.zeros(64), raw=np.zeros(64), total=0)
    for read in (
        empty.moments,
        empty.plot_histogram,
        lambda: empty.plot_qq(curve),
        lambda: curve.plot_qq(empty),
        lambda: distances(curve, empty),
    ):
        with pytest.raises(ParameterError, match="not defined, since noise leaves no records"):
            read()


@pytest.mark.parametrize("ax", [3, "axes", object()], ids=["number", "text", "object"])
def test_pictures_are_drawn_into_axes_only(ax):
    curve = exact_curve(VALUES, GRID)
    for draw in (curve.plot, curve.plot_histogram, lambda ax: curve.plot_qq(curve, ax)):
        with pytest.raises(ParameterError, match="ax must be matplotlib axes to draw into, got"):
            draw(ax=ax)


def test_moments_of_dates_are_told_as_dates_and_days():
    days = exact_curve([18262, 18264], Grid.integers("2020-01-01", "2020-01-31"))
    assert str(days.moments()) == "mean 2020-01-02, standard deviation 1 days"
    grid = Grid.linear("2020-01-01T00:00:00", "2020-01-05T00:00:00", bins=4)
    times = exact_curve(grid.thresholds[[0, 2]], grid)
    assert str(times.moments()) == "mean 2020-01-02 12:00:00, standard deviation 1 days"
    assert "noise" in str(projected(1).moments())
    assert "days" not in str(projected(1).moments())


@pytest.mark.parametrize("kind", ["projection", "hat_ls"])
def test_moments_too_large_for_numbers_are_refused_in_one_line(kind):
    def moments(high):
        return ogive.ecdf(VALUES, bounds=(0, high), bins=64, privacy=ApproxDP(1, "1e-6"), method=kind).moments()

    for high in (1e308, 1e170):
        with pytest.raises(ParameterError, match="a variance is not a number any more; use larger units"):
            moments(high)
    found = moments(1e140)
    assert math.isfinite(found.variance)
    assert math.isfinite(found.raw(2))
    with pytest.raises(ParameterError, match=r"moment 3 of values up to 1e.140 is not a number any more"):
        dataclasses.replace(found, scaled=np.full(3, 0.5)).raw(3)
