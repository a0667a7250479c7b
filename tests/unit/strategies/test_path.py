"""The path noise strategy: linear maps against the incidence matrix, error, design, and refusals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.errors import DataError, ParameterError
from ogive.noise import DerivedNodes, DiscreteGaussian, DiscreteLaplace, KeyedSource
from ogive.privacy import Adjacency, ApproxDP, PureDP, ZeroConcentratedDP
from ogive.strategies.path import (
    PathNoise,
    PathTree,
    design_path,
    half_open_cost,
    interval_cost,
    merged_top_tree,
    squared_shift,
    uniform_tree,
)

LAPLACE = DiscreteLaplace(4)
REPLACE, ADD = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE


@st.composite
def trees(draw):
    radices = tuple(draw(st.lists(st.integers(2, 5), min_size=0, max_size=4)))
    size = draw(st.integers(1, math.prod(radices)))
    return PathTree(size, radices, draw(st.booleans()) or not radices)


def incidence(tree):
    rows = []
    for level in range(tree.terms):
        block = math.prod(tree.radices[:level])
        rows += [[int(i // block == j) for i in range(tree.size)] for j in range(-(-tree.size // block))]
    return np.array(rows)


def noise_of(strategy, draw, batch=()):
    return tuple(draw.integers(-99, 99, size=(*batch, level.nodes)) for level in strategy.levels)


@settings(max_examples=60, deadline=None)
@given(tree=trees(), seed=st.integers(0, 2**32))
def test_spread_is_the_transposed_incidence_matrix(tree, seed):
    strategy = PathNoise(tree, LAPLACE)
    noise = noise_of(strategy, np.random.default_rng(seed), (3, 2))
    assert (strategy.spread(noise) == np.concatenate(noise, axis=-1) @ incidence(tree)).all()


@settings(max_examples=60, deadline=None)
@given(tree=trees(), seed=st.integers(0, 2**32), bits=st.integers(0, 20))
def test_single_points_are_the_whole_answer_at_these_points(tree, seed, bits):
    draw = np.random.default_rng(seed)
    strategy = PathNoise(tree, LAPLACE, bits)
    counts, noise = draw.integers(0, 50, size=tree.size), noise_of(strategy, draw)
    answer = strategy.measure(counts) + strategy.spread(noise)
    points = draw.integers(0, tree.size, size=7)
    drawn = [values[nodes] for values, nodes in zip(noise, strategy.nodes_at(points), strict=True)]
    single = strategy.measure_at(counts, points) + strategy.spread_at(drawn)
    assert (single == answer[points]).all()
    assert (strategy.measure(counts) == np.cumsum(counts) << bits).all()
    points[-1] = tree.size - 1
    total = int(counts.sum())
    for known in (None, total):
        whole = strategy.estimate(answer, known)[points]
        assert strategy.estimate_at(answer[points], points, known) == pytest.approx(whole, abs=1e-12)


def test_overlapping_queries_reuse_the_noise_of_their_blocks():
    strategy = design_path(100, privacy=PureDP(1), adjacency=REPLACE)
    counts = np.arange(100)

    def ask(points):
        nodes = DerivedNodes(bytes(32), b"release")
        drawn = [
            nodes.values(level.law, number, where)
            for number, (level, where) in enumerate(zip(strategy.levels, strategy.nodes_at(points), strict=True))
        ]
        return strategy.measure_at(counts, points) + strategy.spread_at(drawn)

    whole = ask(np.arange(100))
    for points in ([5], [5, 5, 99], [70, 3, 5]):
        assert (ask(np.array(points)) == whole[points]).all()
    # neighbors share all blocks but their own; the ends of the grid share none below the top
    shared = [
        sum(a == b for a, b in zip(strategy.nodes_at(np.array(4)), strategy.nodes_at(np.array(j)), strict=True))
        for j in (5, 99)
    ]
    assert shared == [strategy.tree.terms - 1, 0]


@settings(max_examples=40, deadline=None)
@given(tree=trees())
def test_variance_is_the_diagonal_of_the_conditional_covariance(tree):
    strategy = PathNoise(tree, LAPLACE, 3)
    Z = incidence(tree)
    K = Z.T @ Z * (LAPLACE.variance / 64)
    known = K - np.outer(K[:, -1], K[-1]) / K[-1, -1]
    assert strategy.variance(total_known=False) == pytest.approx(np.diag(K))
    assert strategy.variance(total_known=True) == pytest.approx(np.diag(known), abs=1e-9)


def test_anchored_variance_of_eight_points_is_as_tabulated():
    strategy = PathNoise(uniform_tree(8, 2), LAPLACE)
    factor = strategy.variance(total_known=True) / LAPLACE.variance
    assert factor == pytest.approx([3.75] * 4 + [3, 3, 1.75, 0])


def test_estimate_with_a_known_total_ends_at_the_total():
    strategy = PathNoise(uniform_tree(5, 2), LAPLACE, 4)
    answer = np.array([[3, 20, 33, 50, 61], [16, 16, 16, 16, 16]]) * 7
    assert strategy.estimate(answer, 6)[:, -1].tolist() == [6, 6]
    assert strategy.estimate(answer, None) == pytest.approx(answer / 16)
    exact = strategy.measure(np.array([1, 0, 2, 3, 1]))
    assert strategy.estimate(exact, 7).tolist() == [1, 1, 3, 6, 7]


@settings(max_examples=200, deadline=None)
@given(
    total=st.integers(0, 2**40),
    noise=st.integers(-(2**50), 2**50),
    bits=st.integers(0, 20),
)
def test_anchored_last_point_is_exactly_the_total(total, noise, bits):
    strategy = PathNoise(uniform_tree(3, 2), LAPLACE, bits)
    answer = np.array([5, 7, (total << bits) + noise])
    assert strategy.estimate(answer, total)[-1] == total
    assert strategy.estimate_at(answer[[2, 0]], np.array([2, 0]), total)[0] == total


@pytest.mark.parametrize(("size", "scale", "variance"), [(8, 4, 127.335), (1024, 11, 2660.167)])
def test_discrete_laplace_variance_is_as_tabulated(size, scale, variance):
    strategy = PathNoise(uniform_tree(size, 2), DiscreteLaplace(scale))
    assert strategy.variance(total_known=False) == pytest.approx([variance] * size, abs=6e-4)


@pytest.mark.parametrize("bits", [0, 12])
@pytest.mark.parametrize(("inflation", "passes"), [(1, True), (1.1, False)])
def test_simulated_error_matches_the_variance_and_ten_percent_more_noise_does_not(bits, inflation, passes):
    """20 000 releases: the variance of each point is within 5 %, five standard deviations of its estimate."""
    tree = PathTree(12, (3, 4))
    claimed = PathNoise(tree, DiscreteGaussian(8), bits)
    actual = PathNoise(tree, DiscreteGaussian(8 * inflation), bits)
    source = KeyedSource.from_seed(11)
    runs, counts = 20_000, np.arange(12)
    noise = tuple(
        level.law.sample(runs * level.nodes, source=source).reshape(runs, level.nodes) for level in actual.levels
    )
    answer = claimed.measure(counts) + claimed.spread(noise)
    agree = []
    for total in (None, int(counts.sum())):
        errors = claimed.estimate(answer, total) - np.cumsum(counts)
        predicted = claimed.variance(total_known=total is not None)
        last = 12 if total is None else 11
        assert np.abs(errors.mean(axis=0)[:last] / np.sqrt(predicted[:last] / runs)).max() < 5.5
        agree.append(bool(np.all(np.abs(errors.var(axis=0)[:last] / predicted[:last] - 1) < 0.05)))
    assert agree == [passes, passes]


@pytest.mark.parametrize("size", [1, 2, 3, 8, 100, 1000, 1024, 5000])
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize(
    "options", [{}, {"gaussian": "integer"}, {"base": 3}, {"root": True}, {"constants": "paper"}], ids=str
)
def test_design_spends_what_was_granted(size, adjacency, options):
    if options.get("root") is False and size == 1:
        return
    for privacy, value in ((PureDP("0.3"), "epsilon"), (ZeroConcentratedDP("0.07"), "rho")):
        strategy = design_path(size, privacy=privacy, adjacency=adjacency, **options)
        granted, spent = getattr(privacy, value), getattr(strategy.loss(adjacency), value)
        assert spent <= granted
        assert "constants" in options or spent > granted * (1 - 1e-6)
        assert strategy.size == size == strategy.variance(total_known=False).size
        assert PathNoise.from_dict(strategy.to_dict()) == strategy


@pytest.mark.parametrize(("size", "height"), [(1, 0), (8, 3), (9, 4), (1000, 10)])
def test_paper_constants_give_the_scales_of_the_paper(size, height):
    strategy = design_path(size, privacy=PureDP(2), adjacency=REPLACE, constants="paper")
    assert strategy == PathNoise(PathTree(size, (2,) * height), DiscreteLaplace(f"{height + 1}/2"))
    half = design_path(size, privacy=PureDP(2), adjacency=ADD, constants="paper")
    assert half.law == DiscreteLaplace(f"{math.ceil((height + 1) / 2)}/2")
    gaussian = design_path(size, privacy=ZeroConcentratedDP("0.5"), adjacency=ADD, constants="paper")
    assert float(gaussian.law.sigma) ** 2 == pytest.approx(math.ceil((height + 1) / 2))
    assert half.loss(ADD) == PureDP(2)
    # replacing costs no more than the truncated tree's constant, which is below the paper's
    assert strategy.loss(REPLACE) == PureDP(
        2 * strategy.loss(REPLACE).epsilon.__class__(interval_cost(strategy.tree), height + 1)
    )


@pytest.mark.parametrize(("size", "adjacency", "variance"), [(1000, REPLACE, 2000), (1000, ADD, 720), (8, REPLACE, 54)])
def test_default_design_has_the_tabulated_variance(size, adjacency, variance):
    strategy = design_path(size, privacy=PureDP("0.01"), adjacency=adjacency)
    assert strategy.variance(total_known=False)[0] * 1e-4 == pytest.approx(variance, rel=1e-4)


@pytest.mark.parametrize("size", [8, 1000, 2**15])
@pytest.mark.parametrize("adjacency", Adjacency)
def test_fine_gaussian_noise_is_as_small_as_continuous_noise(size, adjacency):
    strategy = design_path(size, privacy=ZeroConcentratedDP("0.5"), adjacency=adjacency)
    continuous = strategy.tree.terms * squared_shift(strategy.tree, adjacency)
    assert strategy.variance(total_known=False)[0] == pytest.approx(continuous, rel=3e-5)
    whole = design_path(size, privacy=ZeroConcentratedDP("0.5"), adjacency=adjacency, gaussian="integer")
    assert whole.bits == 0
    assert whole.variance(total_known=False)[0] > 1.2 * continuous


@pytest.mark.parametrize(("size", "replace", "add"), [(1024, 33.6, 19.70), (2**15, 66.6, 37.54)])
def test_fine_gaussian_noise_is_no_worse_than_tabulated(size, replace, add):
    for adjacency, variance in ((REPLACE, replace), (ADD, add)):
        strategy = design_path(size, privacy=ZeroConcentratedDP("0.5"), adjacency=adjacency)
        assert strategy.variance(total_known=False)[0] <= variance


def test_loss_is_the_exact_constant_over_the_scale():
    for tree in (uniform_tree(1000, 2), merged_top_tree(1500, 3), PathTree(11, (3, 4), False)):
        strategy = PathNoise(tree, DiscreteLaplace("7/3"))
        assert strategy.loss(REPLACE).epsilon * 7 == interval_cost(tree) * 3
        assert strategy.loss(ADD).epsilon * 7 == half_open_cost(tree) * 3
        assert PathNoise(tree, DiscreteLaplace("7/3"), 5).loss(ADD).epsilon == 32 * strategy.loss(ADD).epsilon


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"constants": "best"}, "exact or paper"),
        ({"gaussian": "real"}, "fine or integer"),
        ({"constants": "paper", "base": 3}, "leave base and root out"),
        ({"constants": "paper", "root": False}, "leave base and root out"),
        ({"base": 1}, "base must be a whole number of at least 2"),
        ({"size": 0}, "size must be a whole number of at least 1, got 0"),
        ({"privacy": ApproxDP(1, 1e-6)}, "convert ApproxDP first"),
        ({"adjacency": "replace"}, "Adjacency.REPLACE"),
        ({"size": 1, "root": False, "base": 2}, None),
    ],
)
def test_design_refuses_impossible_choices(change, message):
    arguments = {"size": 10, "privacy": PureDP(1), "adjacency": REPLACE} | change
    size = arguments.pop("size")
    if message is None:
        assert design_path(size, **arguments).tree.terms == 1
        return
    with pytest.raises(ParameterError, match=message):
        design_path(size, **arguments)


def test_points_outside_the_grid_are_refused():
    strategy = PathNoise(uniform_tree(8, 2), LAPLACE)
    for point in (-1, 8):
        with pytest.raises(ParameterError, match="from 0 to 7"):
            strategy.nodes_at(np.array([0, point]))


def test_answers_that_would_overflow_are_refused():
    strategy = PathNoise(uniform_tree(2, 2), LAPLACE, 20)
    assert strategy.measure(np.array([2**40, 2**40 - 1]))[1] == (2**41 - 1) << 20
    with pytest.raises(DataError, match="2\\^41 records"):
        strategy.measure(np.array([2**40, 2**40]))


def test_histograms_of_another_size_are_refused():
    strategy = PathNoise(uniform_tree(8, 2), LAPLACE)
    for counts in (np.zeros(7, np.int64), np.zeros((8, 1), np.int64), np.array(3)):
        with pytest.raises(ParameterError, match="must have shape"):
            strategy.measure(counts)


@pytest.mark.parametrize(
    "broken", [{"law": None}, {"size": 0}, {"bits": -1}, {"radices": [2]}, {"root": None, "law": {}}]
)
def test_damaged_descriptions_are_refused(broken):
    data = PathNoise(uniform_tree(8, 2), LAPLACE).to_dict()
    with pytest.raises(ParameterError):
        PathNoise.from_dict(data | broken)
    del data["radices"]
    with pytest.raises(ParameterError, match="radices"):
        PathNoise.from_dict(data)
