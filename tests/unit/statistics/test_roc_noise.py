"""The linear use of a known number of records, and simulated noise, against dense algebra and brute force."""

from fractions import Fraction

import numpy as np
import pytest
from helpers.curves import pairs_in_order
from helpers.dense import prefix_covariance

from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.noise.laws import draw_public
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.statistics.roc.area import KNOWN_SIZES, KNOWN_SUM, NOTHING_KNOWN, pull_of_total, share_excess, simulate_noise
from ogive.strategies import design_hats, design_path, design_square_root, design_tree

DESIGNS = [design_hats, design_path, design_square_root, design_tree]


def designed(design, size=12):
    return design(size, privacy=ZeroConcentratedDP("0.2"), adjacency=Adjacency.ADD_OR_REMOVE)


def covariance(strategy):
    """Covariance of the estimated cumulative counts, from unit noise at every node."""
    columns = []
    for number, level in enumerate(strategy.levels):
        for node in range(level.nodes):
            noise = tuple(np.zeros(other.nodes, dtype=np.int64) for other in strategy.levels)
            noise[number][node] = 1 << 20
            column = strategy.estimate(strategy.spread(noise), None) / 2.0**20
            columns.append(column * np.sqrt(level.law.variance))
    rows = np.array(columns)
    return rows.T @ rows


@pytest.mark.parametrize("design", DESIGNS)
def test_sharing_the_excess_is_the_best_linear_use_of_the_number_of_records(design):
    strategy = designed(design)
    cov = covariance(strategy)
    if design in (design_hats, design_tree):
        assert cov == pytest.approx(prefix_covariance(strategy, total_known=False), rel=1e-6)
    size = strategy.size
    assert pull_of_total(strategy) == pytest.approx(cov[-1] / cov[-1, -1], abs=1e-9)
    # dense: both curves' noise is conditioned on the sum of their last points
    both = np.zeros((2 * size, 2 * size))
    both[:size, :size] = both[size:, size:] = cov
    seen = np.zeros(2 * size)
    seen[[size - 1, 2 * size - 1]] = 1
    gain = both @ seen / (seen @ both @ seen)
    raw = np.random.default_rng(1).normal(100, 30, size=(2, size))
    excess = raw[0, -1] + raw[1, -1] - 150
    expected = raw.ravel() - gain * excess
    assert share_excess(raw, pull_of_total(strategy), 150) == pytest.approx(expected.reshape(2, size))


@pytest.mark.parametrize("design", DESIGNS)
def test_conditioning_each_class_on_its_corrected_size_is_the_same(design):
    strategy = designed(design)
    rng = np.random.default_rng(2)
    width = len(strategy.measure(np.zeros(strategy.size, dtype=np.int64)))
    answers = rng.integers(-500, 500, size=(2, width))
    raw = np.stack([strategy.estimate(answer, None) for answer in answers])
    corrected = share_excess(raw, pull_of_total(strategy), 700)
    assert corrected[:, -1].sum() == pytest.approx(700)
    for answer, curve in zip(answers, corrected, strict=True):
        # the size is a fraction; conditioning is linear in it
        low, high = (strategy.estimate(answer, total) for total in (0, 1000))
        assert curve == pytest.approx(low + (high - low) * curve[-1] / 1000)


def slow_pairs(negatives, positives, positive_when):
    zeros, ones = np.diff(negatives, prepend=0), np.diff(positives, prepend=0)
    found = 0.0
    for i, zero in enumerate(zeros):
        for j, one in enumerate(ones):
            right = j > i if positive_when == "high" else j < i
            found += zero * one * (1.0 if right else 0.5 if i == j else 0.0)
    return found


@pytest.mark.parametrize("positive_when", ["high", "low"])
def test_pairs_in_order_are_counted(positive_when):
    curves = np.random.default_rng(3).normal(size=(2, 4, 9)).cumsum(axis=-1)
    found = pairs_in_order(curves[0], curves[1], positive_when)
    assert found == pytest.approx([slow_pairs(a, b, positive_when) for a, b in zip(*curves, strict=True)])


@pytest.mark.parametrize("known", [KNOWN_SIZES, KNOWN_SUM, NOTHING_KNOWN])
def test_simulated_noise_has_the_variance_that_is_predicted(known):
    strategy = design_tree(16, privacy=PureDP(1), adjacency=Adjacency.ADD_OR_REMOVE)
    curves = np.stack([np.linspace(50, 800, 16), np.linspace(10, 160, 16)])
    simulated = simulate_noise(strategy, curves, known=known, positive_when="low", simulations=4000)
    cov = prefix_covariance(strategy, total_known=known == KNOWN_SIZES)
    joint = np.zeros((32, 32))
    joint[:16, :16] = joint[16:, 16:] = cov
    if known == KNOWN_SUM:
        seen = np.zeros(32)
        seen[[15, 31]] = 1
        joint -= np.outer(joint @ seen, joint @ seen) / (seen @ joint @ seen)
    # the pairs are bilinear: their gradient in each curve, by unit vectors
    unit = np.eye(16)
    gradient = np.concatenate(
        [
            [float(pairs_in_order(row, curves[1], "low")) for row in unit],
            [float(pairs_in_order(curves[0], row, "low")) for row in unit],
        ]
    )
    predicted = np.sqrt(gradient @ joint @ gradient)
    assert np.std(simulated.pairs.mean(axis=0)) == pytest.approx(predicted, rel=0.08)
    assert np.std(simulated.last) == pytest.approx(np.sqrt(max(joint[15, 15], 0)), rel=0.08, abs=1e-6)
    sizes = np.sqrt(max(joint[15, 15] * 160**2 + joint[31, 31] * 800**2 + 2 * joint[15, 31] * 160 * 800, 0))
    assert np.std(simulated.products) == pytest.approx(sizes, rel=0.08, abs=1e-3)
    assert np.all(simulated.maxima.ratio >= simulated.maxima.ratio_above - 1e-9)


def test_the_simulation_is_public_and_the_same_each_time():
    strategy = design_path(8, privacy=PureDP(1), adjacency=Adjacency.ADD_OR_REMOVE)
    curves = np.full((2, 8), 10.0)
    one, two = (
        simulate_noise(strategy, curves, known=NOTHING_KNOWN, positive_when="high", simulations=50) for _ in range(2)
    )
    assert np.array_equal(one.pairs, two.pairs)
    assert len(np.unique(one.pairs)) > 80


@pytest.mark.parametrize("law", [DiscreteLaplace("0.7"), DiscreteLaplace(5), DiscreteGaussian(3)], ids=str)
def test_simulations_draw_from_the_law_of_the_release(law):
    drawn = draw_public(law, (100, 2000), np.random.default_rng(4)).ravel()
    values = np.arange(-6, 7)
    expected = np.exp(law.log_probability(values))
    shares = np.array([np.mean(drawn == value) for value in values])
    # five standard deviations of a share of 200 000; a scale a tenth too large is seen
    assert np.all(np.abs(shares - expected) <= 5 * np.sqrt(expected / drawn.size))
    wider = type(law)((law.scale if isinstance(law, DiscreteLaplace) else law.sigma) * Fraction(11, 10))
    wrong = np.exp(wider.log_probability(values))
    assert np.any(np.abs(shares - wrong) > 5 * np.sqrt(wrong / drawn.size))
