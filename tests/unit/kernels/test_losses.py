"""Pairwise losses are their formulas; gradients are derivatives, clipped; extremes hold."""

import math

import numpy as np
import pytest
from helpers.pairs import integrated, tried_extremes
from helpers.scope import size

from ogive import Grid, ParameterError, kernels
from ogive.columns import Binning, Categories, Domain, Label

X = Binning("x", Grid.linear(-1, 1, bins=2))
Z = Binning("z", Grid.linear(0, 3, bins=2))
LABEL = Label("y")
FEATURES = Domain((X, Z))
LABELED = Domain((X, Z, LABEL))
GROUPED = Domain((X, Z, Categories("c", ("a", "b", "c"))))
RANKING = [kernels.RankingLoss((0.7, -0.4), 1.2, surrogate) for surrogate in ("logistic", "hinge")]
METRIC = kernels.MetricLoss(((1.0, 0.3), (0.3, 0.5)), 1.5, 2.5)
CLUSTERING = kernels.ClusteringLoss(((-0.5, 0.5), (0.5, 2.0)), 1.5)
CASES = [(RANKING[0], LABELED), (RANKING[1], LABELED), (METRIC, GROUPED), (CLUSTERING, FEATURES)]


def rows(domain, count, seed=3):
    generator = np.random.default_rng(seed)
    found = [
        generator.uniform(column.grid.low, column.grid.high, count)
        if isinstance(column, Binning)
        else generator.integers(column.size, size=count).astype(np.float64)
        for column in domain.columns
    ]
    return np.stack(found, axis=-1)


def test_the_ranking_loss_is_its_formula():
    for kernel in RANKING:
        for left, right in zip(rows(LABELED, 40), rows(LABELED, 40, 4), strict=True):
            y, other = 2 * left[2] - 1, 2 * right[2] - 1
            margin = (y - other) / 2 * np.dot(kernel.weights, left[:2] - right[:2])
            raw = math.log1p(math.exp(-margin)) if kernel.surrogate == "logistic" else max(0, 1 - margin)
            expected = 0 if y == other else min(raw, 1.2)
            assert kernel(left, right) == pytest.approx(expected, abs=1e-14)
            assert kernel(right, left) == kernel(left, right)


def test_the_metric_loss_is_its_formula():
    for left, right in zip(rows(GROUPED, 60), rows(GROUPED, 60, 4), strict=True):
        gap = left[:2] - right[:2]
        sign = 1 if left[2] == right[2] else -1
        expected = max(0, 1 + sign * (gap @ np.array(METRIC.matrix_rows) @ gap - 1.5))
        assert METRIC(left, right) == pytest.approx(min(expected, 2.5), abs=1e-14)


def test_the_clustering_loss_is_the_distance_within_clusters():
    for left, right in zip(rows(FEATURES, 60), rows(FEATURES, 60, 4), strict=True):
        nearest = [min(range(2), key=lambda c: math.dist(row, CLUSTERING.centers[c])) for row in (left, right)]
        expected = min(math.dist(left, right), 1.5) if nearest[0] == nearest[1] else 0
        assert CLUSTERING(left, right) == pytest.approx(expected, abs=1e-14)
    assert set(CLUSTERING.clusters(rows(FEATURES, 60)).tolist()) == {0, 1}


@pytest.mark.parametrize(("kernel", "domain"), CASES, ids=lambda case: getattr(case, "name", ""))
def test_averages_are_integrals_up_to_the_stated_error(kernel, domain):
    found = kernel.matrix(domain)
    np.testing.assert_array_equal(found, found.T)
    # 1024 points of a range of at most 2.5, averaged over both orders: 5 standard errors are below 0.2
    np.testing.assert_allclose(found, integrated(kernel, domain, count=4), atol=0.06)
    assert np.abs(found - kernel.matrix(domain, "midpoint")).max() > 0.1


@pytest.mark.parametrize(("kernel", "domain"), CASES, ids=lambda case: getattr(case, "name", ""))
def test_extremes_hold_what_is_tried(kernel, domain):
    least, most = kernel.cell_extremes(domain)
    low, high = tried_extremes(kernel, domain, count=size(4, part=3))
    assert np.all(least <= low + 1e-9)
    assert np.all(most >= high - 1e-9)
    assert kernel.range(domain) == (0, kernel.largest)
    assert least.min() >= 0
    assert most.max() <= kernel.largest
    np.testing.assert_allclose(kernel.spread(domain), ((most - least) / 2) ** 2)
    np.testing.assert_array_equal(kernel.spread(domain), kernel.spread(domain).T)


def test_the_extremes_of_the_ranking_loss_are_exact():
    for kernel in RANKING:
        least, most = kernel.cell_extremes(LABELED)
        low, high = tried_extremes(kernel, LABELED, count=size(4, part=2))
        np.testing.assert_allclose(least, low, atol=1e-8)
        np.testing.assert_allclose(most, high, atol=1e-8)


FINE = (Binning("x", Grid.linear(-1, 1, bins=6)), Binning("z", Grid.geometric(1, 3, bins=5)))


def test_the_extremes_of_a_diagonal_metric_are_exact_and_bounds_of_others_are_near():
    domain = Domain((*FINE, Categories("c", ("a", "b"))))
    last = np.arange(domain.size) % 2
    alike = last[:, None] == last
    for matrix, excess in ((((1.0, 0.0), (0.0, 0.5)), 1e-7), (((1.0, 0.3), (0.3, 0.5)), 0.25)):
        kernel = kernels.MetricLoss(matrix, 1.5, 2.5)
        least, most = kernel.cell_extremes(domain)
        low, high = tried_extremes(kernel, domain, count=2)
        assert np.all(least <= low + 1e-7)
        assert np.all(most >= high - 1e-7)
        # both are at the largest difference, which corners have; the least one may be in between
        assert np.mean((most - high)[alike]) < excess
        assert np.mean((low - least)[~alike]) < excess


BOXES = [
    np.array([(x, z) for x in ends for z in others])
    for ends in zip(*FINE[0].cells(), strict=True)
    for others in zip(*FINE[1].cells(), strict=True)
]


def test_clusters_of_boxes_are_bounded_by_halfspaces():
    domain = Domain(FINE)
    kernel = kernels.ClusteringLoss(((-0.5, 1.3), (0.6, 1.2), (0.1, 2.6)), 5.0)
    least, most = kernel.cell_extremes(domain)
    low, high = tried_extremes(kernel, domain, count=size(9, part=6))
    assert np.all(least <= low + 1e-7)
    assert np.all(most >= high - 1e-7)
    # a cell that two clusters share may hold its farthest corner in either; all others lose nothing
    alone = np.flatnonzero(np.diag(low) == 0)[np.array([len(set(kernel.clusters(box))) == 1 for box in BOXES])]
    assert len(alone) > 10
    inner = np.ix_(alone, alone)
    np.testing.assert_allclose(most[inner], high[inner], atol=1e-7)
    np.testing.assert_allclose(least[inner], low[inner], atol=0.02)
    assert np.mean(most == 0) > 0.3
    one = kernels.ClusteringLoss(((0.0, 2.0),), 5.0)
    least, most = one.cell_extremes(domain)
    low, high = tried_extremes(one, domain, count=size(9, part=6))
    np.testing.assert_allclose(most, high, atol=1e-7)
    assert np.all(least <= low + 1e-7)
    assert np.mean(np.abs(least - low) < 1e-6) > 0.8


def test_losses_of_points_have_their_values_as_extremes():
    numbers = (Binning("x", Grid.integers(0, 3)), Binning("z", Grid.integers(-1, 1)))
    for kernel, domain in (
        (kernels.MetricLoss(((1.0, 0.3), (0.3, 0.5)), 1.5, 9.0), Domain((*numbers, LABEL))),
        (kernels.ClusteringLoss(((0.0, 0.0), (2.0, 0.0)), 2.5), Domain(numbers)),  # x = 1 is as near to both
    ):
        least, most = kernel.cell_extremes(domain)
        np.testing.assert_array_equal(least, most)
        np.testing.assert_array_equal(least, kernel.matrix(domain))


def test_gradients_of_the_ranking_loss_are_derivatives():
    left, right = rows(LABELED, 50), rows(LABELED, 50, 4)
    step = 1e-6
    for surrogate in ("logistic", "hinge"):
        weights = np.array([2.1, -1.2])
        found = kernels.RankingLoss(tuple(weights), 99.0, surrogate).gradient(left, right, norm=1e9)
        gaps = (left - right)[:, :2] @ weights * np.sign(left[:, 2] - right[:, 2])
        assert np.sum((gaps > 1) & (gaps < 2)) >= 2  # beyond the kink of the hinge
        for place in range(2):
            change = step * np.eye(2)[place]
            above, below = (
                kernels.RankingLoss(tuple(weights + sign * change), 99.0, surrogate)(left, right) for sign in (1, -1)
            )
            np.testing.assert_allclose(found[:, place], (above - below) / (2 * step), atol=1e-6)


def test_gradients_of_the_metric_loss_are_derivatives():
    left, right = rows(GROUPED, 50), rows(GROUPED, 50, 4)
    matrix, step = np.array(METRIC.matrix_rows), 1e-6
    found = kernels.MetricLoss(METRIC.matrix_rows, 1.5, 99.0).gradient(left, right, norm=1e9)
    for direction in (np.diag([1.0, 0]), np.diag([0, 1.0]), np.array([[0, 1.0], [1, 0]])):
        above, below = (
            kernels.MetricLoss(tuple(map(tuple, matrix + sign * step * direction)), 1.5, 99.0)(left, right)
            for sign in (1, -1)
        )
        np.testing.assert_allclose((found * direction).sum(axis=(1, 2)), (above - below) / (2 * step), atol=1e-6)


def test_gradients_are_clipped_to_a_ball_and_not_moved_within_it():
    left, right = rows(LABELED, 50), rows(LABELED, 50, 4)
    free, clipped = (RANKING[0].gradient(left, right, norm=norm) for norm in (1e9, 0.3))
    lengths = np.linalg.norm(free, axis=1)
    assert (lengths > 0.3).any()
    assert (lengths <= 0.3).any()
    np.testing.assert_allclose(np.linalg.norm(clipped, axis=1), np.minimum(lengths, 0.3), atol=1e-15)
    np.testing.assert_array_equal(clipped[lengths <= 0.3], free[lengths <= 0.3])
    squares = METRIC.gradient(rows(GROUPED, 50), rows(GROUPED, 50, 4), norm=0.5)
    assert np.linalg.norm(squares, axis=(1, 2)).max() == pytest.approx(0.5)


def test_mean_gradients_are_means_over_pairs():
    data = rows(LABELED, 12)
    each = [RANKING[0].gradient(data[i], data[j], norm=0.3) for i in range(12) for j in range(i)]
    np.testing.assert_allclose(RANKING[0].mean_gradient(data, norm=0.3), np.mean(each, axis=0), atol=1e-14)
    data = rows(GROUPED, 12)
    each = [METRIC.gradient(data[i], data[j], norm=0.3) for i in range(12) for j in range(i)]
    np.testing.assert_allclose(METRIC.mean_gradient(data, norm=0.3), np.mean(each, axis=0), atol=1e-14)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: kernels.RankingLoss((), 1.0), "weights must be at least one finite number"),
        (lambda: kernels.RankingLoss((math.inf,), 1.0), "weights must be at least one finite number"),
        (lambda: kernels.RankingLoss(("a",), 1.0), "weights must be numbers, got tuple"),
        (lambda: kernels.RankingLoss((1.0,), 0), "largest must be a finite number above 0, got 0"),
        (lambda: kernels.RankingLoss((1.0,), 1.0, "square"), "surrogate must be logistic or hinge, got 'square'"),
        (lambda: kernels.MetricLoss(((1.0, 0.0),), 2.0, 1.0), "the rows of a square matrix"),
        (lambda: kernels.MetricLoss(3, 2.0, 1.0), "the rows of a square matrix"),
        (
            lambda: kernels.MetricLoss(((1.0, 0.1), (0.0, 1.0)), 2.0, 1.0),
            "symmetric matrix without negative eigenvalues",
        ),
        (lambda: kernels.MetricLoss(((1.0, 2.0), (2.0, 1.0)), 2.0, 1.0), "without negative eigenvalues"),
        (lambda: kernels.MetricLoss(((1.0,),), 1.0, 1.0), "margin must be above 1, got 1.0"),
        (lambda: kernels.ClusteringLoss((), 1.0), "centers must be at least one point"),
        (lambda: kernels.ClusteringLoss(3, 1.0), "centers must be at least one point"),
        (lambda: kernels.ClusteringLoss(((1.0,), (1.0, 2.0)), 1.0), "all with as many numbers"),
        (lambda: kernels.ClusteringLoss(((1.0,),), math.nan), "largest must be a finite number above 0"),
    ],
)
def test_unusable_models_are_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_domains_that_do_not_fit_are_refused():
    for kernel, domain, message in (
        (RANKING[0], FEATURES, "the ranking loss looks at 3 columns, got 2"),
        (RANKING[0], GROUPED, "column 'c' must have two classes, the positive one last"),
        (
            METRIC,
            Domain((X, LABEL, Z)),
            "the metric loss needs distances between values, but column 'y' has categories",
        ),
        (CLUSTERING, Domain((X, LABEL)), "the clustering loss needs distances"),
        (
            METRIC,
            Domain((X, Z, Binning("w", Grid.linear(0, 1, bins=2)))),
            "the metric loss asks whether two values are",
        ),
    ):
        with pytest.raises(ParameterError, match=message):
            kernel.check(domain)
