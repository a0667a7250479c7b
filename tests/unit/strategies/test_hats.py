"""Least-squares hats against dense algebra, the specification's table, simulation, and exact privacy."""

from fractions import Fraction

import numpy as np
import pytest
from helpers import dense
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.errors import ParameterError
from ogive.noise import DiscreteGaussian, DiscreteLaplace, KeyedSource
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies import LeastSquaresHats, design_hats, design_tree, strategy_from_dict
from ogive.strategies.hats import TOTAL_KNOWN, TOTAL_UNKNOWN, HatSolver

REPLACE, ADD = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE
TINY = Fraction(1, 1000)  # so that a discrete law's variance is 2 scale^2 to seven digits


def hats_with(size, spacings, numerators, law=DiscreteLaplace):
    """Hats whose level laws have scale 2 spacing times numerator / 7."""
    scales = [Fraction(numerators[0], 7)] + [
        2 * spacing * Fraction(numerator, 7) for spacing, numerator in zip(spacings, numerators[1:], strict=True)
    ]
    return LeastSquaresHats(size, tuple(spacings), tuple(law(scale) for scale in scales))


@st.composite
def hats(draw):
    """Random spacings, dividing nothing in particular, and random scales."""
    size = draw(st.integers(1, 60))
    spacings = draw(st.lists(st.integers(1, size - 1), max_size=4, unique=True)) if size > 1 else []
    numerators = [draw(st.integers(4, 60)) for _ in range(len(spacings) + 1)]
    return hats_with(size, sorted(spacings), numerators)


@settings(max_examples=60, deadline=None)
@given(strategy=hats(), seed=st.integers(0, 2**32), total=st.one_of(st.none(), st.integers(-50, 500)))
def test_sweeps_are_dense_least_squares(strategy, seed, total):
    A = dense.matrix(strategy)
    draw = np.random.default_rng(seed)
    # noisy answers near a histogram, since hat sums are on a scale of their own
    answers = A @ draw.integers(0, 50, size=strategy.size) + draw.integers(-30, 30, size=(2, 2, len(A)))
    estimates = strategy.estimate(answers, total)
    assert estimates.shape == (2, 2, strategy.size)
    for index in np.ndindex(2, 2):
        wanted = dense.prefix_estimate(strategy, answers[index], total)
        np.testing.assert_allclose(estimates[index], wanted, rtol=1e-7, atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(strategy=hats(), total_known=st.booleans(), seed=st.integers(0, 2**32))
def test_variance_is_that_of_dense_least_squares_at_all_points_and_at_some(strategy, total_known, seed):
    wanted = np.diag(dense.prefix_covariance(strategy, total_known=total_known))
    np.testing.assert_allclose(strategy.variance(total_known=total_known), wanted, rtol=1e-9, atol=1e-9)
    points = np.flatnonzero(np.random.default_rng(seed).random(strategy.size) < 0.3)
    scaled = [law.variance / (2 * b) ** 2 for law, b in zip(strategy.laws[1:], strategy.spacings, strict=True)]
    solver = HatSolver(strategy.size, strategy.spacings, strategy.laws[0].variance, np.array(scaled))
    np.testing.assert_allclose(
        solver.variance_at(points, total_known=total_known), wanted[points], rtol=1e-9, atol=1e-9
    )


def test_variance_over_many_chunks_of_points_is_seamless():
    strategy = hats_with(3000, (10, 112, 700), (3, 2, 2, 2))
    whole = strategy.variance(total_known=False)
    scaled = [law.variance / (2 * b) ** 2 for law, b in zip(strategy.laws[1:], strategy.spacings, strict=True)]
    solver = HatSolver(3000, strategy.spacings, strategy.laws[0].variance, np.array(scaled))
    for points in (np.arange(1000, 1050), np.array([1023, 1024, 2047, 2048, 2999])):
        np.testing.assert_allclose(solver.variance_at(points, total_known=False), whole[points], rtol=1e-10)


@settings(max_examples=60, deadline=None)
@given(strategy=hats(), seed=st.integers(0, 2**32))
def test_noiseless_measurements_return_the_exact_counts(strategy, seed):
    counts = np.random.default_rng(seed).integers(0, 10**6, size=strategy.size)
    for total in (None, int(counts.sum())):
        assert (strategy.estimate(strategy.measure(counts), total) == np.cumsum(counts)).all()


@settings(max_examples=60, deadline=None)
@given(strategy=hats())
def test_measurements_are_hats_and_every_record_adds_the_same_to_each_level(strategy):
    rows = [np.eye(strategy.size, dtype=np.int64)]
    for spacing in strategy.spacings:
        knots = 2 * spacing * np.arange(-(-strategy.size // spacing) + 1)
        centers = 2 * np.arange(strategy.size) + 1
        rows.append(np.maximum(0, 2 * spacing - np.abs(knots[:, None] - centers[None, :])))
        assert (rows[-1].sum(axis=0) == 2 * spacing).all()
    assert (dense.matrix(strategy) == np.concatenate(rows)).all()
    assert [level.nodes for level in strategy.levels] == [len(row) for row in rows]


# N, adjacency, mean variance times epsilon^2 of the specification
TABLE = [
    (2**8, REPLACE, 142.9),
    (2**8, ADD, 61.2),
    (2**10, REPLACE, 279.4),
    (2**10, ADD, 100.3),
    (2**15, REPLACE, 838),
    (2**15, ADD, 280),
]


@pytest.mark.parametrize(("size", "adjacency", "mean"), TABLE)
def test_designs_reach_the_specified_errors(size, adjacency, mean):
    strategy = design_hats(size, privacy=PureDP(TINY), adjacency=adjacency)
    variance = strategy.variance(total_known=adjacency is REPLACE) * float(TINY) ** 2
    assert 0.95 * mean < variance.mean() <= 1.005 * mean


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("size", [8, 40, 64, 100, 300, 1000, 1500, 5000, 20000])
def test_hats_are_never_worse_than_blocks(size, adjacency):
    known = adjacency is REPLACE
    hat = design_hats(size, privacy=PureDP(TINY), adjacency=adjacency).variance(total_known=known)
    tree = design_tree(size, privacy=PureDP(TINY), adjacency=adjacency).variance(total_known=known)
    assert hat.mean() <= tree.mean() * (1.0001 if size < 64 else 0.98)


@pytest.mark.parametrize("table", [TOTAL_KNOWN, TOTAL_UNKNOWN])
def test_tabulated_designs_cover_powers_of_two_without_gaps(table):
    assert sorted(table) == list(range(min(table), 21))
    for power, (spacings, shares) in table.items():
        assert list(spacings) == sorted(set(spacings))
        assert spacings[-1] < 2**power
        assert len(shares) == len(spacings) + 1
        assert sum(shares) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100, 1000])
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("privacy", [PureDP("0.3"), PureDP(2), ZeroConcentratedDP("1/7")])
def test_designs_spend_what_is_granted_and_no_more(size, adjacency, privacy):
    loss = design_hats(size, privacy=privacy, adjacency=adjacency).loss(adjacency)
    if isinstance(privacy, PureDP):
        assert privacy.epsilon * (1 - Fraction(1, 2**20)) <= loss.epsilon <= privacy.epsilon
    else:
        assert privacy.rho * (1 - Fraction(1, 2**20)) <= loss.rho <= privacy.rho


SMALL = [(2, (1,)), (5, ()), (4, (3,)), (5, (3,)), (6, (3,)), (8, (2,)), (8, (2, 4)), (8, (3, 5, 7)), (7, (1, 2))]


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize(("size", "spacings"), SMALL)
def test_loss_is_exactly_that_of_the_worst_neighbors(size, spacings, adjacency):
    strategy = hats_with(size, spacings, range(3, 4 + len(spacings)))
    costs = [
        sum(Fraction(int(np.abs(part).sum())) / law.scale for law, part in dense.levels_of(strategy, change))
        for change in dense.record_changes(strategy, replace=adjacency is REPLACE)
    ]
    assert max(costs) == strategy.loss(adjacency).epsilon


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize(("size", "spacings"), SMALL)
def test_gaussian_loss_bounds_the_worst_neighbors_closely(size, spacings, adjacency):
    strategy = hats_with(size, spacings, range(3, 4 + len(spacings)), DiscreteGaussian)
    worst = max(
        sum(Fraction(int((part**2).sum())) / (2 * law.sigma**2) for law, part in dense.levels_of(strategy, change))
        for change in dense.record_changes(strategy, replace=adjacency is REPLACE)
    )
    price = strategy.loss(adjacency).rho
    assert worst <= price
    assert worst >= price * Fraction(6, 10)
    if adjacency is ADD:
        assert worst == price


@pytest.mark.parametrize("adjacency", Adjacency)
def test_output_probabilities_differ_by_exactly_the_loss(adjacency):
    strategy = LeastSquaresHats(4, (1,), (DiscreteLaplace(Fraction(3, 2)), DiscreteLaplace(5)))
    window = np.arange(-25, 26)
    worst = max(
        sum(
            float(np.max(law.log_probability(window) - law.log_probability(window - moved)))
            for law, part in dense.levels_of(strategy, change)
            for moved in part
        )
        for change in dense.record_changes(strategy, replace=adjacency is REPLACE)
    )
    assert worst == pytest.approx(float(strategy.loss(adjacency).epsilon), rel=1e-12)


def relative_gaps(strategy, predicted, *, total):
    """How far simulated variances are from predicted ones, in standard deviations of the simulation."""
    runs, source = 20000, KeyedSource(b"h" * 32)
    noise = tuple(
        level.law.sample(runs * level.nodes, source=source).reshape(runs, level.nodes) for level in strategy.levels
    )
    counts = np.arange(strategy.size) + 3
    answers = strategy.measure(counts) + strategy.spread(noise)
    errors = strategy.estimate(answers, int(counts.sum()) if total else None) - np.cumsum(counts)
    inside = predicted > 0
    ratio = (errors[:, inside] ** 2).mean(axis=0) / predicted[inside]
    return np.abs(ratio - 1).max() / np.sqrt(2 / runs)


@pytest.mark.parametrize("total_known", [True, False])
def test_simulated_errors_have_the_predicted_variance(total_known):
    # 20000 runs: one standard deviation is 1 %; 6 allow for 40 points and heavier tails than normal
    strategy = hats_with(40, (5, 12), (21, 28, 35))
    variance = strategy.variance(total_known=total_known)
    assert relative_gaps(strategy, variance, total=total_known) < 6
    assert relative_gaps(strategy, 0.9 * variance, total=total_known) > 8
    assert relative_gaps(strategy, 1.1 * variance, total=total_known) > 8


def test_plain_data_rebuilds_the_same_hats():
    strategy = design_hats(200, privacy=PureDP("0.7"), adjacency=ADD)
    assert strategy_from_dict(strategy.to_dict()) == strategy


LAPLACE = DiscreteLaplace(2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0, (), (LAPLACE,)), "size must be a whole number of at least 1"),
        ((8, (4, 4), (LAPLACE,) * 3), "spacings must increase"),
        ((8, (8,), (LAPLACE,) * 2), "below 8"),
        ((8, (4,), (LAPLACE,)), "a law for the bins and one per spacing"),
        ((8, (0,), (LAPLACE,) * 2), "spacings must be whole numbers"),
        ((8, (4,), (LAPLACE, DiscreteGaussian(2))), "must all be DiscreteLaplace or all"),
    ],
)
def test_refuses_impossible_hats_in_one_line(arguments, words):
    with pytest.raises(ParameterError, match=words) as caught:
        LeastSquaresHats(*arguments)
    assert "\n" not in str(caught.value)


def test_refuses_answers_of_another_length():
    strategy = hats_with(8, (4,), (1, 1))
    with pytest.raises(ParameterError, match="11 measurements"):
        strategy.estimate(np.zeros(9, dtype=np.int64), None)
