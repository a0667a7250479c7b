"""Grouped histograms: exact losses, estimates and variances against dense algebra and enumeration."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.accounting import covers
from ogive.errors import DataError, ParameterError, ScaleError
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.privacy import Adjacency, ApproxDP, PureDP, ZeroConcentratedDP
from ogive.strategies import GroupedHistogram, design_histogram, strategy_from_dict
from ogive.strategies.base import Approximating, approximates

REPLACE, ADD = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE
GRANTS = (PureDP("0.3"), ZeroConcentratedDP("0.05"), ApproxDP("0.1", "1e-6"), ApproxDP(5, "1e-9"))


def group(loss, rows):
    from ogive.accounting import group_loss

    return group_loss(loss, rows)


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("privacy", GRANTS, ids=str)
def test_a_design_spends_what_is_granted_and_hardly_less(privacy, adjacency, rows):
    strategy = design_histogram(64, privacy=privacy, adjacency=adjacency, rows=rows)
    assert covers(privacy, group(strategy.loss(adjacency), rows))
    smaller = (
        GroupedHistogram(64, 30, type(strategy.law)(strategy.law.scale * Fraction(99, 100)), 0)
        if isinstance(strategy.law, DiscreteLaplace)
        else GroupedHistogram(64, 30, DiscreteGaussian(Fraction(round(strategy.law.sigma * Fraction(99, 100)))), 20)
    )
    assert not covers(privacy, group(smaller.loss(adjacency), rows))


def test_noise_is_that_of_the_methods_file():
    joint = design_histogram(1000, privacy=ApproxDP("0.1", "1e-6"), adjacency=REPLACE)
    assert float(joint.law.sigma) / 2**20 == pytest.approx(51.3425855785, rel=1e-6)
    naive = design_histogram(1000, privacy=ApproxDP("0.1", "1e-6"), adjacency=REPLACE, accounting="naive")
    assert float(naive.law.sigma) / 2**20 == pytest.approx(1085.82585895, rel=1e-6)
    pure = design_histogram(1000, privacy=PureDP("0.1"), adjacency=REPLACE)
    assert pure.law == DiscreteLaplace(20)
    assert pure.bits == 0


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize(("size", "groups"), [(7, 3), (10, 4), (5, 5), (9, 1)])
def test_the_loss_is_that_of_the_worst_neighbors(size, groups, adjacency):
    law = DiscreteGaussian(3000)
    strategy = GroupedHistogram(size, groups, law, 4)
    columns = strategy.features.T
    changes = [a - b for a in columns for b in columns] if adjacency is REPLACE else list(columns)
    worst = max(int((change**2).sum()) for change in changes)
    stated = strategy.loss(adjacency).mu_squared * law.sigma**2
    assert stated == worst if groups > 1 or adjacency is ADD else stated >= worst
    laplace = GroupedHistogram(size, groups, DiscreteLaplace(7), 0)
    l1 = max(int(np.abs(change).sum()) >> 4 for change in changes)
    assert laplace.loss(adjacency).epsilon >= Fraction(l1, 7)


@given(st.integers(1, 60), st.integers(1, 40), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_groups_partition_the_bins_and_measure_is_the_features(size, groups, seed):
    strategy = GroupedHistogram(size, min(groups, size), DiscreteLaplace(2), 0)
    counts = np.random.default_rng(seed).integers(0, 50, size)
    assert np.array_equal(strategy.features.sum(axis=0), np.ones(size))
    assert np.all(np.diff(strategy.edges) >= 1)
    assert np.array_equal(strategy.measure(counts), strategy.features @ counts)
    for total in (None, int(counts.sum())):
        curve = strategy.estimate(strategy.measure(counts), total)
        assert curve[strategy.edges[1:] - 1] == pytest.approx(np.cumsum(counts)[strategy.edges[1:] - 1])
        assert np.all(np.diff(curve) >= -1e-9)


def test_a_curve_that_is_even_within_groups_is_reproduced():
    strategy = GroupedHistogram(12, 3, DiscreteLaplace(2), 0)
    counts = np.repeat([5, 0, 9], 4)
    assert strategy.estimate(strategy.measure(counts), None) == pytest.approx(np.cumsum(counts))


@pytest.mark.parametrize("total_known", [True, False])
def test_variance_is_that_of_the_linear_map(total_known):
    strategy = GroupedHistogram(11, 4, DiscreteGaussian(5000), 6)
    weights = strategy.estimate(np.eye(4, dtype=np.int64) << 6, 0 if total_known else None) * 2.0**-6 * 2**6
    expected = (weights**2).sum(axis=0) * strategy.law.variance / 4**6
    assert strategy.variance(total_known=total_known) == pytest.approx(expected, abs=1e-6)


def test_is_plain_data_and_approximating():
    for privacy in GRANTS:
        strategy = design_histogram(40, privacy=privacy, adjacency=ADD, groups=7)
        assert strategy_from_dict(strategy.to_dict()) == strategy
        assert isinstance(strategy, Approximating)
        assert approximates(strategy)


def test_refusals_name_what_is_allowed():
    with pytest.raises(ParameterError, match="groups must be a whole number"):
        design_histogram(10, privacy=PureDP(1), adjacency=REPLACE, groups=0)
    with pytest.raises(ParameterError, match="accounting must be"):
        design_histogram(10, privacy=PureDP(1), adjacency=REPLACE, accounting="hopeful")
    with pytest.raises(ParameterError, match="rows must be"):
        design_histogram(10, privacy=PureDP(1), adjacency=REPLACE, rows=0)
    with pytest.raises(ParameterError, match="sigma of at least 1000"):
        GroupedHistogram(10, 5, DiscreteGaussian(10), 20)
    with pytest.raises(ParameterError, match="at most as many groups"):
        GroupedHistogram(4, 5, DiscreteLaplace(1))
    with pytest.raises(ScaleError):
        design_histogram(10, privacy=PureDP("1e-20"), adjacency=REPLACE)
    with pytest.raises(DataError, match="this many records"):
        GroupedHistogram(2, 2, DiscreteGaussian(5000), 20).measure(np.array([1 << 42, 0]))


def test_fewer_bins_than_groups_make_a_group_each():
    assert design_histogram(5, privacy=PureDP(1), adjacency=REPLACE).groups == 5
