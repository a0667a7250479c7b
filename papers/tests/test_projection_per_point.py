"""Noise at each point and smooth sensitivity: against every data set there is, and against the laws' densities."""

import itertools
import math

import numpy as np
import pytest

from ogive_papers.projection import per_point
from ogive_papers.projection.per_point import (
    DECILES,
    DECILES_CAUCHY,
    DECILES_GLOBAL,
    PER_POINT,
    counts_at,
    per_point_curves,
    quantile_ranks,
    quantiles_curve,
)
from ogive_papers.projection.shapes import SHAPES
from ogive_papers.projection.smooth_sensitivity import (
    cauchy_terms,
    laplace_terms,
    scale_delta,
    smooth_sensitivity,
)

VALUES = (0.0, 1.0, 3.0, 4.0)
"""All values a record of the small data sets may have; the first and the last are the bounds."""

BETAS = (0.05, 0.4, 1.5)


def data_sets(size):
    return list(itertools.combinations_with_replacement(VALUES, size))


def replaced(first, second):
    """How many records of one data set must be replaced to make the other."""
    remaining = list(second)
    for value in first:
        if value in remaining:
            remaining.remove(value)
    return len(remaining)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_smooth_sensitivity_is_that_over_all_data_sets(size):
    every = data_sets(size)
    distance = {pair: replaced(*pair) for pair in itertools.product(every, every)}
    for rank in range(1, size + 1):
        local = {
            data: max(abs(data[rank - 1] - other[rank - 1]) for other in every if distance[data, other] <= 1)
            for data in every
        }
        for data, beta in itertools.product(every, BETAS):
            slow = max(math.exp(-beta * distance[data, other]) * local[other] for other in every)
            fast = smooth_sensitivity(np.array(data), rank, VALUES[0], VALUES[-1], beta)
            assert fast == pytest.approx(slow, rel=1e-12), (data, rank, beta)


def quadratic(ordered, rank, low, high, beta):
    """The definition by two loops."""
    padded = [low, *ordered, high]
    return max(
        (padded[j] - padded[i]) * math.exp(-beta * (j - i - 1))
        for i in range(rank + 1)
        for j in range(max(rank, i + 1), len(padded))
    )


@pytest.mark.parametrize("beta", [1e-4, 0.01, 0.1, 1.0])
def test_halving_finds_what_two_loops_find(beta):
    generator = np.random.default_rng(7)
    for size in (1, 2, 17, 60):
        for ordered in (
            np.sort(generator.standard_cauchy(size).clip(-4, 4)),
            np.sort(generator.integers(0, 3, size)).astype(float),
        ):
            for rank in {1, size // 2 + 1, size}:
                found = smooth_sensitivity(ordered, rank, -4.0, 4.0, beta)
                assert found == pytest.approx(quadratic(ordered, rank, -4.0, 4.0, beta), rel=1e-12)


def neighbours(size):
    return [pair for pair in itertools.product(data_sets(size), data_sets(size)) if replaced(*pair) == 1]


def shifted(pair, beta, factor):
    """Median and scale of the noise of two data sets of three records."""
    return [(data[1], factor * smooth_sensitivity(np.array(data), 2, VALUES[0], VALUES[-1], beta)) for data in pair]


OUTPUTS = np.concatenate([-np.geomspace(1e6, 1e-3, 3000), np.geomspace(1e-3, 1e6, 3000)])


def cauchy_loss(epsilon, smaller=1.0):
    """Largest logarithm of a ratio of densities between neighbours, the scale multiplied by `smaller`."""
    beta, factor = cauchy_terms(epsilon)

    def log_density(center, scale):
        return -np.log(scale) - np.log1p(((OUTPUTS - center) / scale) ** 2)

    return max(
        float(np.max(log_density(*one) - log_density(*two)))
        for pair in neighbours(3)
        for one, two in [shifted(pair, beta, factor * smaller)]
    )


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_cauchy_noise_keeps_its_epsilon_and_a_third_of_it_does_not(epsilon):
    assert 0.4 * epsilon < cauchy_loss(epsilon) <= epsilon * (1 + 1e-9)
    assert cauchy_loss(epsilon, smaller=1 / 3) > epsilon


def laplace_excess(epsilon, delta, smaller=1.0):
    """Largest hockey-stick divergence between neighbours, exact: the ratio of densities is monotone between kinks."""
    beta, factor = laplace_terms(epsilon, delta)
    worst = 0.0
    for pair in neighbours(3):
        (m, s), (n, t) = shifted(pair, beta, factor * smaller)
        worst = max(worst, hockey_stick(m, s, n, t, epsilon))
    return worst


def hockey_stick(m, s, n, t, epsilon):
    """Integral of the positive part of Laplace(m, s) - e^epsilon Laplace(n, t)."""

    def log_ratio(y):
        return math.log(t / s) - abs(y - m) / s + abs(y - n) / t - epsilon

    # log_ratio is linear between these places, so every sign change is found from its values at their ends
    kinks = sorted({m, n})
    ends = [kinks[0] - 1e4 * max(s, t), *kinks, kinks[-1] + 1e4 * max(s, t)]
    cuts = list(ends)
    for left, right in itertools.pairwise(ends):
        a, b = log_ratio(left), log_ratio(right)
        if a * b < 0:
            cuts.append(left + (right - left) * a / (a - b))
    cuts.sort()

    def mass(center, scale, left, right):
        left, right = (left - center) / scale, (right - center) / scale
        if left >= 0:
            return (math.exp(-left) - math.exp(-right)) / 2
        if right <= 0:
            return (math.exp(right) - math.exp(left)) / 2
        return 1 - (math.exp(left) + math.exp(-right)) / 2

    return sum(
        mass(m, s, left, right) - math.exp(epsilon) * mass(n, t, left, right)
        for left, right in itertools.pairwise(cuts)
        if right > left and log_ratio((left + right) / 2) > 0
    )


def test_the_hockey_stick_of_the_test_is_that_of_an_integral():
    y = np.linspace(-300, 300, 2_000_001)
    one = np.exp(-np.abs(y - 1.0) / 2) / 4
    two = np.exp(-np.abs(y - 0.4) / 1.7) / 3.4
    slow = np.trapezoid(np.maximum(one - math.exp(0.05) * two, 0), y)
    assert hockey_stick(1.0, 2.0, 0.4, 1.7, 0.05) == pytest.approx(slow, rel=1e-5)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-3), (1.0, 1e-6), (3.0, 1e-2)])
def test_laplace_noise_keeps_its_delta_and_a_third_of_it_does_not(epsilon, delta):
    assert laplace_excess(epsilon, delta) <= delta * (1 + 1e-9)
    assert laplace_excess(epsilon, delta, smaller=1 / 3) > delta


@pytest.mark.parametrize(("epsilon", "smoothness"), [(0.3, 0.02), (1.0, 0.2), (0.5, 0.5)])
def test_a_change_of_scale_costs_its_delta_exactly(epsilon, smoothness):
    assert hockey_stick(0.0, 1.0, 0.0, math.exp(-smoothness), epsilon) == pytest.approx(
        scale_delta(epsilon, smoothness), rel=1e-9
    )
    assert hockey_stick(0.0, 1.0, 0.0, math.exp(smoothness), epsilon) == 0  # the other way no ratio is above e^epsilon


def test_the_smoothness_of_laplace_noise_is_the_largest_that_its_delta_allows():
    smoothness, factor = laplace_terms(1.0, 1e-6)
    assert factor == 2
    assert scale_delta(0.5, smoothness) == pytest.approx(1e-6, rel=1e-6)
    # the published choice is epsilon / (2 ln(2 / delta))
    assert smoothness > 1.4 / (2 * math.log(2e6))
    assert laplace_terms(1.0, 0.4) == (0.5, 2)


def test_counts_at_points_move_as_the_noise_assumes():
    points = np.array(VALUES)
    moved = [counts_at(np.array(one), points) - counts_at(np.array(two), points) for one, two in neighbours(3)]
    assert max(np.abs(gap).max() for gap in moved) == 1
    assert max((gap**2).sum() for gap in moved) == max(np.abs(gap).sum() for gap in moved) == len(points) - 2


def test_ranks_are_the_smallest_with_their_share_of_the_records():
    for records in (10, 13, 10_000):
        expected = [math.ceil(records * k / 10) for k in range(1, 10)]
        assert quantile_ranks(records).tolist() == expected


def test_a_curve_through_exact_quantiles_has_their_shares():
    shape = SHAPES["uniform"]
    curve = quantiles_curve(np.arange(1, 10) / 10, shape)
    assert curve == pytest.approx(shape.truth)
    wild = quantiles_curve(np.array([5.0, -5, 0.2, 0.3, 0.1, 0.4, 0.5, 0.6, 0.7]), shape)
    assert np.diff(wild).min() >= 0
    assert (wild[0], wild[-1]) == (0.1, 1.0)  # one value was moved to the lower bound


def test_noise_grows_from_joint_to_naive_and_from_smooth_to_global():
    shape = SHAPES["normal"]
    generator = np.random.default_rng(11)
    records = shape.records(generator, 2_000)
    found = [per_point_curves(shape, records, 5.0, 1e-5, generator) for _ in range(12)]
    assert set(found[0]) == {*PER_POINT, *DECILES}

    def error(name):
        return np.mean([np.abs(curves[name] - shape.truth).mean() for curves in found])

    joint, naive, laplace, every = (
        error(name)
        for name in (per_point.POINTS_JOINT, per_point.POINTS_NAIVE, per_point.POINTS_LAPLACE, per_point.ALL_POINTS)
    )
    assert joint < naive
    assert joint < laplace
    assert joint < every
    assert error(DECILES_CAUCHY) < 0.5 * error(DECILES_GLOBAL)
    for curves in found:
        for curve in curves.values():
            assert np.diff(curve).min() >= 0
            assert 0 <= curve[0] <= curve[-1] == 1
