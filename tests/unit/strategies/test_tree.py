"""Least-squares trees against dense algebra, the specification's table, simulation, and exact privacy."""

from fractions import Fraction

import numpy as np
import pytest
from helpers import dense
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.errors import ParameterError
from ogive.noise import DiscreteGaussian, DiscreteLaplace, KeyedSource
from ogive.privacy import Adjacency, ApproxDP, PureDP, ZeroConcentratedDP
from ogive.strategies import LeastSquaresTree, design_tree, strategy_from_dict

REPLACE, ADD = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE


@st.composite
def trees(draw):
    """Random radices, scales and sizes, whole and truncated."""
    size = draw(st.integers(1, 60))
    blocks = [1]
    for radix in draw(st.lists(st.integers(2, 6), max_size=4)):
        if blocks[-1] * radix < size:
            blocks.append(blocks[-1] * radix)
    laws = tuple(DiscreteLaplace(Fraction(draw(st.integers(2, 60)), 7)) for _ in blocks)
    return LeastSquaresTree(size, tuple(blocks), laws)


@settings(max_examples=60, deadline=None)
@given(tree=trees(), seed=st.integers(0, 2**32), total=st.one_of(st.none(), st.integers(-50, 500)))
def test_two_passes_are_dense_least_squares(tree, seed, total):
    draw = np.random.default_rng(seed)
    answers = draw.integers(-40, 90, size=(2, 2, len(dense.matrix(tree))))
    estimates = tree.estimate(answers, total)
    assert estimates.shape == (2, 2, tree.size)
    for index in np.ndindex(2, 2):
        wanted = dense.prefix_estimate(tree, answers[index], total)
        np.testing.assert_allclose(estimates[index], wanted, rtol=1e-7, atol=1e-7)


@settings(max_examples=60, deadline=None)
@given(tree=trees(), total_known=st.booleans())
def test_variance_is_that_of_dense_least_squares(tree, total_known):
    wanted = np.diag(dense.prefix_covariance(tree, total_known=total_known))
    np.testing.assert_allclose(tree.variance(total_known=total_known), wanted, rtol=1e-9, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(tree=trees(), seed=st.integers(0, 2**32))
def test_noiseless_measurements_return_the_exact_counts(tree, seed):
    counts = np.random.default_rng(seed).integers(0, 10**6, size=tree.size)
    for total in (None, int(counts.sum())):
        assert (tree.estimate(tree.measure(counts), total) == np.cumsum(counts)).all()


@settings(max_examples=30, deadline=None)
@given(tree=trees(), seed=st.integers(0, 2**32))
def test_measurements_are_block_counts_and_noise_goes_to_each_of_them(tree, seed):
    draw = np.random.default_rng(seed)
    counts = draw.integers(0, 99, size=tree.size)
    wanted = [counts[i : i + block].sum() for block in tree.blocks for i in range(0, tree.size, block)]
    assert tree.measure(counts).tolist() == wanted
    noise = tuple(draw.integers(-9, 9, size=(3, level.nodes)) for level in tree.levels)
    assert (tree.spread(noise) == np.concatenate(noise, axis=1)).all()


# N, adjacency, block sizes, mean and max of variance times epsilon^2 (weights optimized)
TABLE = [
    (2**6, REPLACE, (1, 8), 73.6, 110),
    (2**6, ADD, (1, 16), 34.4, 56),
    (2**8, REPLACE, (1, 16), 159.5, 239),
    (2**8, ADD, (1, 8, 64), 70.8, 114),
    (2**10, REPLACE, (1, 16, 128), 315.4, 470),
    (2**10, ADD, (1, 16, 256), 119.0, 190),
    (2**12, REPLACE, (1, 16, 256), 527.4, 790),
    (2**12, ADD, (1, 16, 128, 1024), 193.3, 305),
    (2**15, REPLACE, (1, 16, 128, 2048), 1029, 1537),
    (2**15, ADD, (1, 16, 256, 4096), 347.5, 560),
    (2**20, REPLACE, (1, 16, 256, 4096, 65536), 2402, 3595),
]
TINY = Fraction(1, 1000)  # so that a discrete law's variance is 2 scale^2 to seven digits


@pytest.mark.parametrize(("size", "adjacency", "blocks", "mean", "largest"), TABLE)
def test_designs_reach_the_specified_errors(size, adjacency, blocks, mean, largest):
    tree = design_tree(size, privacy=PureDP(TINY), adjacency=adjacency)
    assert tree.blocks == blocks
    variance = tree.variance(total_known=adjacency is REPLACE) * float(TINY) ** 2
    assert variance.mean() == pytest.approx(mean, rel=1e-3)
    assert variance.max() == pytest.approx(largest, rel=3e-3)


EQUAL = [
    (2**8, REPLACE, (1, 16)),
    (1000, REPLACE, (1, 8, 64)),
    (2**10, REPLACE, (1, 8, 64)),
    (2**12, REPLACE, (1, 16, 256)),
    (10**4, REPLACE, (1, 8, 64, 1024)),
    (2**15, REPLACE, (1, 8, 128, 2048)),
    (2**16, REPLACE, (1, 16, 256, 4096)),
    (2**8, ADD, (1, 8, 64)),
    (1000, ADD, (1, 16, 256)),
    (2**11, ADD, (1, 16, 256)),
    (2**12, ADD, (1, 8, 128, 1024)),
    (10**4, ADD, (1, 8, 128, 2048)),
    (2**15, ADD, (1, 16, 256, 4096)),
]


@pytest.mark.parametrize(("size", "adjacency", "blocks"), EQUAL)
def test_equal_shares_take_the_specified_chains(size, adjacency, blocks):
    tree = design_tree(size, privacy=PureDP(TINY), adjacency=adjacency, optimize=False)
    assert tree.blocks == blocks
    assert len(set(tree.laws)) == 1
    better = design_tree(size, privacy=PureDP(TINY), adjacency=adjacency)
    known = adjacency is REPLACE
    assert better.variance(total_known=known).mean() < tree.variance(total_known=known).mean()


def test_gaussian_shares_beat_equal_scales_on_the_binary_tree():
    # ten levels of two blocks each: sigma^2 = 20 / (2 rho)
    plain = LeastSquaresTree(2**10, tuple(2**level for level in range(10)), (DiscreteGaussian("4.472135955"),) * 10)
    assert plain.loss(REPLACE).rho == pytest.approx(Fraction(1, 2), rel=1e-9)
    assert plain.variance(total_known=True).mean() == pytest.approx(21.4, abs=0.05)
    tree = design_tree(2**10, privacy=ZeroConcentratedDP("0.5"), adjacency=REPLACE)
    assert tree.variance(total_known=True).mean() < 0.9 * 21.4


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100, 1000, 1025])
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("privacy", [PureDP("0.3"), PureDP(2), ZeroConcentratedDP("1/7")])
def test_designs_spend_what_is_granted_and_no_more(size, adjacency, privacy):
    loss = design_tree(size, privacy=privacy, adjacency=adjacency).loss(adjacency)
    if isinstance(privacy, PureDP):
        assert privacy.epsilon * (1 - Fraction(1, 2**20)) <= loss.epsilon <= privacy.epsilon
    else:
        assert privacy.rho * (1 - Fraction(1, 2**20)) <= loss.rho <= privacy.rho


SMALL = [(1, (1,)), (2, (1,)), (3, (1, 2)), (5, (1, 2, 4)), (7, (1, 3)), (8, (1, 2, 4)), (8, (1, 4))]


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize(("size", "blocks"), SMALL[1:])
def test_loss_is_exactly_that_of_the_worst_neighbors(size, blocks, adjacency):
    laws = tuple(DiscreteLaplace(Fraction(5 + 3 * level, 2)) for level in range(len(blocks)))
    tree = LeastSquaresTree(size, blocks, laws)
    changes = dense.record_changes(tree, replace=adjacency is REPLACE)
    costs = [
        sum(Fraction(int(np.abs(part).sum())) / law.scale for law, part in dense.levels_of(tree, change))
        for change in changes
    ]
    assert max(costs) == tree.loss(adjacency).epsilon
    gaussian = LeastSquaresTree(size, blocks, tuple(DiscreteGaussian(law.scale) for law in laws))
    squares = [
        sum(Fraction(int((part**2).sum())) / (2 * law.sigma**2) for law, part in dense.levels_of(gaussian, change))
        for change in changes
    ]
    assert max(squares) == gaussian.loss(adjacency).rho


@pytest.mark.parametrize("adjacency", Adjacency)
def test_output_probabilities_differ_by_exactly_the_loss(adjacency):
    tree = LeastSquaresTree(3, (1, 2), (DiscreteLaplace(Fraction(3, 2)), DiscreteLaplace(2)))
    window = np.arange(-25, 26)
    worst = 0.0
    for change in dense.record_changes(tree, replace=adjacency is REPLACE):
        # outputs are products over the measurements, so the worst output is the worst of each
        ratio = sum(
            float(np.max(law.log_probability(window) - law.log_probability(window - moved)))
            for law, part in dense.levels_of(tree, change)
            for moved in part
        )
        worst = max(worst, ratio)
    assert worst == pytest.approx(float(tree.loss(adjacency).epsilon), rel=1e-12)


def renyi_divergence(law, moved, order):
    """Exact divergence of a law from itself moved by an integer, up to negligible tails."""
    window = np.arange(-200, 201)
    here, there = law.log_probability(window), law.log_probability(window - moved)
    return float(np.log(np.exp(order * here + (1 - order) * there).sum()) / (order - 1))


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("order", [1.1, 2, 5, 12])
def test_renyi_divergence_of_gaussian_levels_is_at_most_the_loss_and_close_to_it(adjacency, order):
    tree = LeastSquaresTree(5, (1, 2, 4), tuple(DiscreteGaussian(sigma) for sigma in (4, 5, 6)))
    worst = max(
        sum(renyi_divergence(law, moved, order) for law, part in dense.levels_of(tree, change) for moved in part)
        for change in dense.record_changes(tree, replace=adjacency is REPLACE)
    )
    price = order * float(tree.loss(adjacency).rho)
    assert worst <= price * (1 + 1e-9)
    assert worst >= 0.999 * price


def relative_gaps(tree, predicted, *, runs, key, total):
    """How far simulated variances are from predicted ones, in standard deviations of the simulation."""
    source = KeyedSource(key)
    noise = tuple(
        level.law.sample(runs * level.nodes, source=source).reshape(runs, level.nodes) for level in tree.levels
    )
    counts = np.arange(tree.size) + 3
    answers = tree.measure(counts) + tree.spread(noise)
    errors = tree.estimate(answers, int(counts.sum()) if total else None) - np.cumsum(counts)
    inside = predicted > 0
    ratio = (errors[:, inside] ** 2).mean(axis=0) / predicted[inside]
    return np.abs(ratio - 1).max() / np.sqrt(2 / runs)


@pytest.mark.parametrize("total_known", [True, False])
def test_simulated_errors_have_the_predicted_variance(total_known):
    # 20000 runs: one standard deviation is 1 %; 6 allow for 37 points and heavier tails than normal
    tree = LeastSquaresTree(37, (1, 4, 12), tuple(DiscreteLaplace(scale) for scale in (3, 5, 4)))
    variance = tree.variance(total_known=total_known)
    assert relative_gaps(tree, variance, runs=20000, key=b"a" * 32, total=total_known) < 6
    assert relative_gaps(tree, 0.9 * variance, runs=20000, key=b"a" * 32, total=total_known) > 8
    assert relative_gaps(tree, 1.1 * variance, runs=20000, key=b"a" * 32, total=total_known) > 8


def test_known_total_is_met_exactly_and_never_adds_error():
    tree = design_tree(100, privacy=PureDP(1), adjacency=REPLACE)
    answers = np.random.default_rng(5).integers(-9, 99, size=(4, len(dense.matrix(tree))))
    assert (tree.estimate(answers, 777)[:, -1] == 777).all()
    known, unknown = tree.variance(total_known=True), tree.variance(total_known=False)
    assert known[-1] == 0
    assert (known <= unknown).all()


def test_plain_data_rebuilds_the_same_tree():
    for privacy in (PureDP("0.7"), ZeroConcentratedDP("0.2")):
        tree = design_tree(200, privacy=privacy, adjacency=ADD)
        assert strategy_from_dict(tree.to_dict()) == tree


LAPLACE, GAUSSIAN = DiscreteLaplace(2), DiscreteGaussian(2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0, (1,), (LAPLACE,)), "size must be a whole number of at least 1"),
        ((8, (1, 3, 5), (LAPLACE,) * 3), "multiple of the one before"),
        ((8, (1, 8), (LAPLACE,) * 2), "below 8"),
        ((8, (2, 4), (LAPLACE,) * 2), "lowest blocks must be single bins"),
        ((8, (), ()), "lowest blocks must be single bins"),
        ((8, (1, 2), (LAPLACE,)), "one law per level"),
        ((8, (1, 2), (LAPLACE, GAUSSIAN)), "must all be DiscreteLaplace or all"),
        ((8, (1, 2.0), (LAPLACE,) * 2), "blocks must be whole numbers"),
    ],
)
def test_refuses_impossible_trees_in_one_line(arguments, words):
    with pytest.raises(ParameterError, match=words) as caught:
        LeastSquaresTree(*arguments)
    assert "\n" not in str(caught.value)


def test_refuses_wrong_shapes_and_wrong_privacy():
    tree = LeastSquaresTree(8, (1, 4), (LAPLACE, LAPLACE))
    with pytest.raises(ParameterError, match="10 measurements"):
        tree.estimate(np.zeros(9, dtype=np.int64), None)
    with pytest.raises(ParameterError, match=r"shape \(8,\)"):
        tree.measure(np.zeros(9, dtype=np.int64))
    with pytest.raises(ParameterError, match="convert ApproxDP"):
        design_tree(8, privacy=ApproxDP(1, "1e-6"), adjacency=REPLACE)
    with pytest.raises(ParameterError, match="adjacency must be"):
        design_tree(8, privacy=PureDP(1), adjacency="replace")
    with pytest.raises(ParameterError, match="name must be one of adaptive, hat_ls, histogram, path"):
        strategy_from_dict({"name": "wavelet"})
    with pytest.raises(ParameterError, match="lacks the field 'blocks'"):
        strategy_from_dict({"name": "tree_ls", "size": 3})
