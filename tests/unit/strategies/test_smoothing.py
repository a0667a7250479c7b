"""What a smoothed curve promises whatever was measured, and what `smooth` refuses."""

import numpy as np
import pytest
from helpers.scope import is_everything
from helpers.scope import size as examples
from helpers.smoothing import DESIGNS, designed, noisy_answer
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.errors import ParameterError, UnsupportedError
from ogive.noise import DiscreteLaplace
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies import (
    STRATEGIES,
    LeastSquaresTree,
    PathNoise,
    Strategy,
    SummedStrategies,
    design_path,
    design_square_root,
    design_tree,
)
from ogive.strategies.composed import CountedPeople
from ogive.strategies.path import PathTree, uniform_tree
from ogive.strategies.smoothing import LARGEST_SQUARE_ROOT, NEAREST, SMOOTHINGS, smooth, unsmoothable

SIZES = (1, 2, 3, 7, 33, 100) if is_everything() else (1, 2, 7, 33)


def kinds(strategy: Strategy) -> tuple[str, ...]:
    return tuple(kind for kind in SMOOTHINGS if unsmoothable(strategy, kind) is None)


def assert_valid(curve: np.ndarray, total: int | None) -> None:
    assert (np.diff(curve) >= 0).all()
    assert curve[0] >= 0
    assert np.isfinite(curve).all()
    assert total is None or curve[-1] == total


@pytest.mark.each_value
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("name", DESIGNS)
def test_every_kind_gives_a_monotone_curve_within_the_total(name, adjacency):
    rng = np.random.default_rng(1)
    for size in SIZES:
        strategy = designed(name, size, adjacency)
        for rate in (0, 0.2, 3):
            counts = rng.poisson(rate, size)
            total = int(counts.sum()) if adjacency is Adjacency.REPLACE else None
            answer = noisy_answer(strategy, counts, rng)
            for kind in kinds(strategy):
                curve = smooth(strategy, answer, total=total, kind=kind)
                assert curve.shape == (size,)
                assert_valid(curve, total)


@pytest.mark.each_value
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("name", DESIGNS)
def test_measurements_without_noise_are_kept(name, adjacency):
    rng = np.random.default_rng(2)
    for size in SIZES:
        strategy = designed(name, size, adjacency)
        for counts in (rng.poisson(2, size), np.zeros(size, np.int64), np.eye(size, dtype=np.int64)[size // 2] * 10**6):
            total = int(counts.sum()) if adjacency is Adjacency.REPLACE else None
            # these know how much noise to expect, and take the truth for part of it
            for kind in set(kinds(strategy)) - {"shrinkage", "density"}:
                curve = smooth(strategy, strategy.measure(counts), total=total, kind=kind)
                np.testing.assert_allclose(curve, np.cumsum(counts), atol=1e-6 * (1 + counts.sum()))


def test_every_unbiased_strategy_but_a_sum_has_a_nearest_histogram():
    unbiased = {kind for kind in STRATEGIES if not hasattr(kind, "features")}
    # people are smoothed in units, by the strategy that measured them
    assert set(NEAREST) == unbiased - {PathNoise, SummedStrategies, CountedPeople}
    tree = design_tree(4, privacy=PureDP(1), adjacency=Adjacency.REPLACE)
    with pytest.raises(UnsupportedError, match="least_squares smoothing is not offered for sum"):
        smooth(SummedStrategies((tree, tree)), np.zeros(8, np.int64), total=0, kind="least_squares")


@pytest.mark.parametrize("kind", [kind for kind in SMOOTHINGS if kind != "density"])
@given(seed=st.integers(0, 2**32), size=st.integers(1, 200), base=st.integers(2, 9), root=st.booleans())
@settings(max_examples=examples(25, part=12), deadline=None)
def test_any_points_of_path_noise_become_monotone_within_the_box(kind, seed, size, base, root):
    rng = np.random.default_rng(seed)
    strategy = PathNoise(uniform_tree(size, base, root=root), DiscreteLaplace(4), bits=2)
    counts = rng.poisson(1, size)
    points = np.unique(rng.integers(0, size, rng.integers(1, size + 1)))
    answer = noisy_answer(strategy, counts, rng)[points]
    total = int(counts.sum())
    for anchor in (False, True):
        curve = smooth(strategy, answer, total=total, kind=kind, points=points, anchor=anchor)
        assert curve.shape == points.shape
        assert (np.diff(curve) >= 0).all()
        assert curve[0] >= 0
        assert curve[-1] <= total
        if anchor and points[-1] == size - 1:
            assert curve[-1] == total


def test_other_strategies_return_the_wanted_points_of_the_whole_curve():
    rng = np.random.default_rng(3)
    strategy = design_tree(50, privacy=PureDP(1), adjacency=Adjacency.REPLACE)
    counts = rng.poisson(2, 50)
    answer = noisy_answer(strategy, counts, rng)
    whole = smooth(strategy, answer, total=int(counts.sum()), kind="least_squares")
    points = np.array([0, 7, 20, 49])
    some = smooth(strategy, answer, total=int(counts.sum()), kind="least_squares", points=points)
    np.testing.assert_array_equal(some, whole[points])


def test_isotonic_is_no_farther_from_the_truth_than_the_estimate():
    rng = np.random.default_rng(4)
    strategy = design_path(200, privacy=PureDP(1), adjacency=Adjacency.REPLACE)
    for _ in range(20):
        counts = rng.poisson(1, 200)
        total = int(counts.sum())
        answer = noisy_answer(strategy, counts, rng)
        truth = np.cumsum(counts)
        curve = smooth(strategy, answer, total=total, kind="isotonic")
        assert np.linalg.norm(curve - truth) <= np.linalg.norm(strategy.estimate(answer, total) - truth) + 1e-9


@pytest.mark.parametrize("kind", ["least_squares", "least_absolute"])
def test_a_tree_of_many_children_is_the_same_as_its_plain_bins(kind):
    # a path-noise "tree" whose only shared block is the root: bins move independently once the total is known
    rng = np.random.default_rng(5)
    strategy = PathNoise(PathTree(40, (40,), root=False), DiscreteLaplace(3))
    counts = rng.poisson(1, 40)
    answer = noisy_answer(strategy, counts, rng)
    curve = smooth(strategy, answer, total=int(counts.sum()), kind=kind)
    assert_valid(curve, int(counts.sum()))


def test_fine_grids_of_answers_are_rounded_rather_than_overflowing():
    rng = np.random.default_rng(6)
    coarse = PathNoise(uniform_tree(64, 2), DiscreteLaplace(4))
    fine = PathNoise(uniform_tree(64, 2), DiscreteLaplace(4), bits=32)
    counts = rng.poisson(10**6, 64)
    answer = noisy_answer(coarse, counts, rng)
    total = int(counts.sum())
    np.testing.assert_allclose(
        smooth(fine, answer << 32, total=total, kind="least_absolute"),
        smooth(coarse, answer, total=total, kind="least_absolute"),
        atol=1e-3,
    )


def path_and_answer() -> tuple[PathNoise, np.ndarray]:
    strategy = PathNoise(uniform_tree(8, 2), DiscreteLaplace(4))
    return strategy, strategy.measure(np.ones(8, np.int64))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "spline"}, "kind must be one of shrinkage, density, least_squares, .*, isotonic, got 'spline'"),
        ({"total": -1}, "total must be at least 0, got -1"),
        ({"points": np.array([3, 3])}, "points must be increasing whole numbers from 0 to 7"),
        ({"points": np.array([0, 8])}, "points must be increasing whole numbers from 0 to 7"),
        ({"points": np.array([], int)}, "points must be increasing whole numbers from 0 to 7"),
        ({"points": np.array([0, 1])}, r"the answer must have shape \(2,\), got \(8,\)"),
    ],
)
def test_refuses_arguments_that_do_not_fit(change, words):
    strategy, answer = path_and_answer()
    arguments = {"total": 8, "kind": "least_squares", **change}
    with pytest.raises(ParameterError, match=words):
        smooth(strategy, answer, **arguments)


def test_refuses_a_loose_total_where_the_strategy_cannot_use_one():
    strategy = LeastSquaresTree(8, (1,), (DiscreteLaplace(2),))
    with pytest.raises(ParameterError, match="anchor=False is for path noise"):
        smooth(strategy, np.zeros(8, np.int64), total=0, kind="isotonic", anchor=False)


def test_refuses_least_absolute_for_the_square_root():
    strategy = design_square_root(8, privacy=ZeroConcentratedDP(1), adjacency=Adjacency.REPLACE)
    with pytest.raises(UnsupportedError, match="not offered for sqrt"):
        smooth(strategy, np.zeros(8, np.int64), total=0, kind="least_absolute")


def test_refuses_least_absolute_for_blocks_of_thousands_of_children():
    strategy = PathNoise(PathTree(2**13, (2**13,), root=False), DiscreteLaplace(2))
    with pytest.raises(UnsupportedError, match="blocks of few children"):
        smooth(strategy, np.arange(2**13), total=2**13, kind="least_absolute")


def test_refuses_least_squares_for_a_square_root_that_would_take_minutes():
    def sized(size):
        return design_square_root(size, privacy=ZeroConcentratedDP(1), adjacency=Adjacency.REPLACE)

    assert "takes minutes" in str(unsmoothable(sized(LARGEST_SQUARE_ROOT + 1), "least_squares"))
    assert unsmoothable(sized(LARGEST_SQUARE_ROOT), "least_squares") is None
    assert unsmoothable(sized(LARGEST_SQUARE_ROOT + 1), "shrinkage") is None
