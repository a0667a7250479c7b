"""Rates, areas and distances of ROC curves, against scikit-learn and a slow integral."""

import numpy as np
import pytest
from helpers.scope import size
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from ogive.releasing.release import release
from ogive.statistics.roc.points import distance, value_after, value_before
from ogive.statistics.roc.statistic import Roc
from ogive.trust import Clear


def exact_roc(scores, labels, **fields):
    return release(Roc("s", "y", grid="integers", bounds=(0, 20), **fields), trust=Clear({"s": scores, "y": labels}))


tables = st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=2, max_size=60).filter(
    lambda rows: len({label for _, label in rows}) == 2
)


@settings(max_examples=size(100, part=30), deadline=None)
@given(tables, st.sampled_from(["high", "low"]))
def test_exact_area_precision_and_recall_are_those_of_scikit_learn(rows, positive_when):
    scores, labels = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    estimate = exact_roc(scores, labels, positive_when=positive_when)
    turned = scores if positive_when == "high" else -scores
    assert estimate.auc == pytest.approx(roc_auc_score(labels, turned), abs=1e-12)
    curve = estimate.precision_recall()
    assert curve.average_precision == pytest.approx(average_precision_score(labels, turned), abs=1e-12)
    # every point of theirs is one of ours
    fpr, tpr, _ = roc_curve(labels, turned, drop_intermediate=False)
    ours = set(zip(estimate.fpr.round(9), estimate.tpr.round(9), strict=True))
    assert set(zip(fpr.round(9), tpr.round(9), strict=True)) <= ours
    precision, recall, _ = precision_recall_curve(labels, turned)
    ours = set(zip(curve.precision.round(9), curve.recall.round(9), strict=True))
    # where none is called positive precision is 1 for both; theirs has that point, ours too
    assert set(zip(precision.round(9), recall.round(9), strict=True)) <= ours


@settings(max_examples=size(100, part=30), deadline=None)
@given(tables, st.sampled_from(["high", "low"]))
def test_a_threshold_means_what_it_says(rows, positive_when):
    scores, labels = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    estimate = exact_roc(scores, labels, positive_when=positive_when)
    lift = estimate.lift()
    for k, threshold in enumerate(estimate.thresholds):
        called = scores > threshold if positive_when == "high" else scores <= threshold
        assert estimate.tpr[k] == pytest.approx(called[labels].mean())
        assert estimate.fpr[k] == pytest.approx(called[~labels].mean())
        assert lift.flagged[k] == pytest.approx(called.mean())
        if called.any():
            assert lift.lift[k] == pytest.approx(labels[called].mean() / labels.mean())
            assert estimate.precision_recall().precision[k] == pytest.approx(labels[called].mean())
    assert np.array_equal(lift.captured, estimate.tpr)


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(1, 12))
def test_a_coarser_grid_moves_the_area_by_at_most_the_tie_bound(seed, bins):
    rng = np.random.default_rng(seed)
    labels = np.append(rng.random(80) < 0.4, [True, False])
    scores = np.clip(rng.normal(0.4 + 0.2 * labels, 0.2), 0, 1)
    coarse = release(Roc("s", "y", (0, 1), bins=bins), trust=Clear({"s": scores, "y": labels}))
    assert abs(coarse.auc - roc_auc_score(labels, scores)) <= coarse.tie_bound + 1e-12
    assert coarse.tie_bound <= 0.5


def curve_points(draw_x, draw_y):
    x = np.concatenate(([0.0], np.sort(draw_x), [1.0]))
    y = np.concatenate(([0.0], np.sort(draw_y), [1.0]))
    return x, y


points = st.integers(0, 8).flatmap(
    lambda size: st.tuples(
        *(st.lists(st.sampled_from(np.arange(9) / 8), min_size=size, max_size=size) for _ in range(2))
    )
)


def slow_integral(one, other, pieces=200_000):
    """Midpoint rule; no midpoint is a breakpoint, so vertical parts do not matter."""
    u = (np.arange(pieces) + 0.5) / pieces
    return float(np.mean(np.abs(np.interp(u, *one) - np.interp(u, *other))))


@settings(max_examples=size(60, part=25), deadline=None)
@given(points, points, points)
def test_the_distance_is_the_integral_and_a_distance(first, second, third):
    one, other, more = (curve_points(*drawn) for drawn in (first, second, third))
    between = distance(*one, *other)
    assert between == pytest.approx(slow_integral(one, other), abs=1e-5)
    assert between == distance(*other, *one)
    assert distance(*one, *one) == 0
    assert between <= distance(*one, *more) + distance(*more, *other) + 1e-12


def test_curves_that_cross_do_not_cancel():
    rising = np.array([0.0, 1.0])
    step = (np.array([0.0, 0.5, 0.5, 1.0]), np.array([0.0, 0.0, 1.0, 1.0]))
    assert distance(rising, rising, *step) == pytest.approx(0.25)
    # a difference that goes from 1/4 to -1/4 in a straight line: two triangles
    bent = (np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 0.25, 0.75, 1.0]))
    assert distance(rising, rising, *bent) == pytest.approx(2 * 0.5 * 0.5 * 0.25)


def test_a_vertical_part_has_an_upper_and_a_lower_end():
    x, y = np.array([0.0, 0.0, 0.5, 0.5, 1.0, 1.0]), np.array([0.0, 0.2, 0.3, 0.6, 0.8, 1.0])
    at = np.array([0.0, 0.25, 0.5, 1.0])
    assert value_after(x, y, at) == pytest.approx([0.2, 0.25, 0.6, 1.0])
    assert value_before(x, y, at) == pytest.approx([0.0, 0.25, 0.3, 0.8])


@pytest.mark.parametrize(
    ("bounds", "bins", "digits"),
    [
        ((0, 1), 1024, 3),
        ((0, 1), 8, 3),
        ((0, 120), 1024, 3),
        ((-5, 5), 300, 3),
        ((0, 1), 1 << 14, 5),
        ((10**6, 10**6 + 9), 64, 8),
    ],
)
def test_thresholds_are_shown_with_few_digits_and_are_still_told_from_each_other(bounds, bins, digits):
    rng = np.random.default_rng(12)
    scores = rng.uniform(*bounds, 4000)
    labels = (rng.uniform(*bounds, 4000) < scores).astype(int)
    roc = release(Roc("s", "y", bounds, bins=bins), trust=Clear({"s": scores, "y": labels}))
    for (shown, *_), share in zip(roc.view().rows, (0.05, 0.1, 0.2, 0.5), strict=True):
        number = shown.removeprefix("> ").replace(",", "")
        place = roc.thresholds[np.searchsorted(roc.fpr, share, side="right") - 1]
        assert roc.thresholds[np.argmin(np.abs(roc.thresholds - float(number)))] == place
        assert len(number.replace(".", "").lstrip("-0")) <= digits
