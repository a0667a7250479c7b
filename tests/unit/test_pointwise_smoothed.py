"""Curves that are smoothed on chosen points: the nearest valid values there, and quantiles that read them."""

import itertools

import numpy as np
import pytest

import ogive
from ogive import Adjacency, Central, Ecdf, PointwiseCurve, PureDP
from ogive.errors import ParameterError, UnsupportedError
from ogive.noise import KeyedSource
from ogive.strategies.smoothing import SMOOTHINGS

VALUES = np.random.default_rng(3).poisson(20, 200).astype(float).clip(0, 63)
TABLE = {"x": VALUES}


def opened(seed=1, epsilon=1, adjacency=Adjacency.REPLACE, bins=64):
    return PointwiseCurve.open(
        Ecdf("x", (0, 64), bins=bins), trust=Central(TABLE), privacy=PureDP(epsilon), adjacency=adjacency,
        source=KeyedSource.from_seed(seed),
    )  # fmt: skip


def covariance(strategy, points):
    """Of the noise at some points, by the spread of every node's noise alone."""
    columns = []
    for number, node in ((k, j) for k, level in enumerate(strategy.levels) for j in range(level.nodes)):
        noise = tuple(np.zeros(level.nodes, dtype=np.int64) for level in strategy.levels)
        noise[number][node] = 1
        columns.append(strategy.spread(noise)[points] * float(strategy.levels[number].law.variance) ** 0.5)
    found = np.array(columns).T
    return found @ found.T


def nearest(raw, inverse, *, end=None):
    """Eq. 3 of the paper with squares, of shares: the best of the valid solutions with some tight conditions."""
    size = len(raw)
    ascending = np.vstack([np.eye(size), np.zeros(size)]) - np.vstack([np.zeros(size), np.eye(size)])
    limits = np.append(np.zeros(size), -1.0)  # each row of ascending @ f is at least its limit
    best, least = None, np.inf
    for tight in itertools.product((False, True), repeat=size + 1):
        if end is not None and not tight[-1]:
            continue
        rows, values = ascending[list(tight)], limits[list(tight)]
        system = np.block([[2 * inverse, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
        f = np.linalg.lstsq(system, np.concatenate([2 * inverse @ raw, values]), rcond=None)[0][:size]
        loss = (f - raw) @ inverse @ (f - raw)
        if np.all(ascending @ f >= limits - 1e-9) and np.allclose(rows @ f, values) and loss < least:
            best, least = f, loss
    return best


@pytest.mark.parametrize("anchor", [True, False])
@pytest.mark.parametrize("points", [[3, 11, 12, 13, 30, 62], [0, 10, 20, 21, 63]])
def test_values_are_the_nearest_valid_ones_in_the_norm_of_the_noise(points, anchor):
    different = 0
    for seed in range(5):
        curve = opened(seed, epsilon=0.3)
        raw = curve.counts(points)
        inverse = np.linalg.inv(covariance(curve.strategy, points))
        inverse = inverse / np.abs(inverse).max()
        end = 1 if anchor and points[-1] == 63 else None
        expected = nearest(raw / len(VALUES), inverse, end=end)
        found = curve.smoothed(points, anchor=anchor)
        assert found == pytest.approx(expected, abs=1e-6)
        assert end is None or found[-1] == 1
        different += not np.allclose(found, curve.smoothed(points, smooth="isotonic", anchor=anchor), atol=1e-3)
    assert different  # so the norm is seen


def test_a_smoothing_that_path_noise_does_not_have_is_refused_before_a_point_is_opened():
    curve = opened(2)
    curve._opening.answer = lambda query: pytest.fail("a point was opened")
    for ask in (curve.smoothed, lambda points, smooth: curve.quantile(0.5, points=points, smooth=smooth)):
        with pytest.raises(UnsupportedError, match=r"density smoothing is offered for .*, not for path"):
            ask([1, 2], smooth="density")


@pytest.mark.parametrize("smooth", [kind for kind in SMOOTHINGS if kind != "density"])
@pytest.mark.parametrize("adjacency", Adjacency)
def test_values_are_valid_in_the_order_asked(adjacency, smooth):
    curve = opened(2, epsilon=0.2, adjacency=adjacency)
    points = [40, 5, 20, 20, 18, 19]
    found = curve.smoothed(points, smooth=smooth)
    assert found.shape == (6,)
    assert found[2] == found[3]
    rising = found[np.argsort(points, kind="stable")]
    assert np.all(np.diff(rising) >= 0)
    assert rising[0] >= 0
    assert rising[-1] <= 1 or adjacency is Adjacency.ADD_OR_REMOVE
    assert np.array_equal(found, curve.smoothed(points, smooth=smooth))


def test_smoothing_comes_nearer_to_the_truth_on_average():
    points = list(range(0, 64, 4))
    truth = np.array([np.mean(point + 1 >= VALUES) for point in points])
    errors = np.zeros(2)
    for seed in range(20):
        curve = opened(seed, epsilon=0.3)
        errors += [np.sum((each - truth) ** 2) for each in (curve.shares(points), curve.smoothed(points))]
    assert errors[1] < 0.8 * errors[0]


def test_a_bisection_on_chosen_points_finds_the_first_that_reaches_the_probability():
    wanted, points = [0.9, 0.1, 0.5, 0.5, 0.0, 1.0], [12, 14, 16, 17, 18, 20, 22, 25, 30]
    for seed, smooth in itertools.product(range(5), ("least_squares", "isotonic")):
        curve = opened(seed, epsilon=0.3)
        asked, opening = [], curve._opening.answer
        curve._opening.answer = lambda query, a=asked, o=opening: (a.extend(query.points), o(query))[1]
        found = curve.quantile(wanted, points=points, smooth=smooth)
        assert set(asked) == set(points)
        shares = curve.smoothed(points, smooth=smooth)
        reached = [[*np.array(points)[shares >= p], 63][0] for p in wanted]
        assert found == [float(curve.grid.thresholds[point]) for point in reached]


def test_a_bisection_without_points_smooths_what_it_visits():
    curve = opened(4, epsilon=0.2)
    visited, opening = [], curve._opening.answer
    curve._opening.answer = lambda query: (visited.extend(query.points), opening(query))[1]
    plain = curve.quantile([0.25, 0.5, 0.75])
    points = sorted({*visited} - {63})
    smoothed = curve.quantile([0.25, 0.5, 0.75], smooth="least_squares")
    assert smoothed == curve.quantile([0.25, 0.5, 0.75], points=points)
    assert np.all(np.diff(smoothed) >= 0)
    assert np.abs(np.array(smoothed) - plain).max() <= 32
    assert opened(bins=1).quantile([0.5], smooth="isotonic") == [64.0]


def test_it_is_the_same_after_a_stop(tmp_path):
    trust = Central(TABLE)
    curve = PointwiseCurve.open(Ecdf("x", (0, 64), bins=64), trust=trust, privacy=PureDP(1), state=tmp_path / "s")
    before = curve.smoothed([3, 20, 40])
    again = PointwiseCurve.resume(tmp_path / "s", trust=ogive.Central(TABLE))
    assert np.array_equal(again.smoothed([3, 20, 40]), before)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda curve: curve.smoothed([]), "`points` must name at least one threshold"),
        (lambda curve: curve.smoothed([64]), "`points` must be from 0 to 63"),
        (lambda curve: curve.smoothed([1], smooth="spline"), "`smooth` must be"),
        (lambda curve: curve.quantile([0.5], points=[]), "`points` must name at least one threshold"),
        (lambda curve: curve.quantile([0.5], points=[0.5]), "points are numbers of thresholds"),
        (lambda curve: curve.quantile([0.5], smooth="auto"), "`smooth` must be"),
    ],
)
def test_bad_points_are_refused_in_one_line(call, words):
    with pytest.raises(ParameterError) as problem:
        call(opened())
    assert words in problem.value.marked
