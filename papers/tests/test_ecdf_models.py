"""The measurements behind the ROC and calibration figures, on the stand-in of the heart data."""

import math

import numpy as np
import pytest

from ogive.privacy import PureDP
from ogive.releasing.release import release
from ogive.statistics import HosmerLemeshow
from ogive.trust import Central
from ogive_papers.ecdf import calibration, roc
from ogive_papers.ecdf.data_sets import HEART
from ogive_papers.ecdf.roc import Points
from ogive_papers.randomness import streams
from ogive_papers.summaries import Cell

WHERE = {"data set": HEART.name, "records": 0}


def by_hand(scores, positive, threshold):
    """Shares of both classes at or below a threshold, record by record."""
    called = [score <= threshold for score in scores]
    shares = []
    for wanted in (False, True):
        members = [hit for hit, label in zip(called, positive, strict=True) if label == wanted]
        shares.append(sum(members) / len(members))
    return shares


def test_exact_curves_count_ties_as_one_point():
    scores = np.array([0.3, 0.1, 0.3, 0.2, 0.9, 0.3])
    positive = np.array([True, True, False, False, False, True])
    curve = roc.exact_curve(scores, positive)
    assert curve.defined
    found = np.column_stack([curve.x, curve.y]).tolist()
    assert found == [[0.0, 0.0], *(by_hand(scores, positive, t) for t in (0.1, 0.2, 0.3, 0.9))]


def test_a_class_lost_in_noise_leaves_the_diagonal():
    lost = Points.of(np.array([[1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 0.0, -1.0]]))
    assert not lost.defined
    assert (lost.x == lost.y).all()
    assert Points.of(np.array([[1.0, 2.0], [1.0, 3.0]])).y.tolist() == [0.0, 1 / 3, 1.0]


def test_a_step_between_halves_is_told_from_noise_of_every_threshold():
    step = np.repeat([[-1.0, 2.0]], 2, axis=0).repeat(512, axis=1)
    assert roc.halves_share(step) == pytest.approx(1.0)
    alone = np.random.default_rng(1).normal(size=(2, 1024))
    assert roc.halves_share(alone) < 0.01
    mixed = step[:1] + 1.5 * alone[:1]
    assert 0.3 < roc.halves_share(mixed) < 0.7


def test_roc_errors_are_replayed_by_a_seed_and_vanish_without_noise():
    setting = {**WHERE, "show": roc.ERRORS, "epsilon": 0.5}
    numbers = roc.curve_errors(setting, 3, ())
    assert roc.curve_errors(setting, 3, ()) == numbers
    assert roc.curve_errors(setting, 4, ())[roc.SQUARES] != numbers[roc.SQUARES]
    exact = roc.curve_errors({**setting, "epsilon": 1e5}, 3, ())
    for name in roc.PRIVATE[1:]:
        # what is left is the grid: ties of 2119 scores on 1024 thresholds
        assert exact[name] < 0.005 < numbers[name]
        assert exact[f"point error, {name}"] < 1e-3
        assert exact[f"undefined, {name}"] == 0
    assert numbers[roc.DIAGONAL] == pytest.approx(exact[roc.DIAGONAL])


def test_the_papers_noise_is_that_of_half_of_epsilon():
    evaluation, counts, _ = roc.scored(HEART.name, (), 0)
    noises = np.stack([roc.release_curves(evaluation, counts, 2.0, seed)[1] for seed in range(40)])
    # per class 11 Laplace terms of scale 11 / (epsilon / 2): variance 2 * 11 * 11^2; thresholds of a tree are dependent
    assert np.square(noises).mean() == pytest.approx(2662, rel=0.15)


def test_fewer_records_are_a_part_of_all():
    few, counts, _ = roc.scored(HEART.name, (), 300)
    everybody, _, _ = roc.scored(HEART.name, (), 0)
    assert (few.probabilities == everybody.probabilities[:300]).all()
    assert (few.positive == everybody.positive[:300]).all()
    assert counts.sum() == 300
    assert counts[1].sum() == few.positive.sum()


def test_pictures_hold_the_curves_points():
    setting = {**WHERE, "show": roc.CURVES, "epsilon": 0.5, "runs": 1}
    cells = {name: Cell(value, math.inf, value, 1) for name, value in roc.curve_errors(setting, 3, ()).items()}
    _, counts, _ = roc.scored(HEART.name, (), 0)
    shares = np.cumsum(counts, axis=1) / counts.sum(axis=1, keepdims=True)
    for name in (roc.TRUE, *roc.PRIVATE):
        x, y = roc.picture_points(cells, name)
        assert x.size == y.size
        assert 100 < x.size <= roc.SHOWN
        assert (x[0], y[0]) == (0.0, 0.0)
        if name != roc.RAW:
            assert (np.diff(x) >= 0).all()
    x, y = roc.picture_points(cells, roc.TRUE)
    assert set(y) <= {0.0, *shares[1]}
    assert (x[-1], y[-1]) == (1.0, 1.0)


def test_calibration_errors_are_replayed_and_fall():
    setting = {"data set": HEART.name, "epsilon": 1.0}
    numbers = calibration.calibration_errors(setting, 3, ())
    assert calibration.calibration_errors(setting, 3, ()) == numbers
    assert all(map(math.isfinite, numbers.values()))
    assert numbers[f"log10 error, {calibration.PAPER}"] == pytest.approx(math.log10(numbers[calibration.PAPER]) / 2)
    exact = calibration.calibration_errors({**setting, "epsilon": 1e5}, 3, ())
    assert max(exact[calibration.PAPER], exact[calibration.OURS]) < 0.01
    assert exact[calibration.EXPECTED] == numbers[calibration.EXPECTED]


def test_the_papers_calibration_is_released_with_the_papers_constants():
    numbers = calibration.calibration_errors({"data set": HEART.name, "epsilon": 2.0}, 5, ())
    table, truth = calibration.records(HEART.name, ())
    wanted = HosmerLemeshow("probability", "label", constants="paper")
    found = release(wanted, trust=Central(table), privacy=PureDP(2), source=streams(5)[1])
    assert found.measured.constants == "paper"
    assert numbers[calibration.PAPER] == pytest.approx((found.statistic / truth.statistic - 1) ** 2)


def test_the_expected_positives_are_those_of_the_tenth_with_the_lowest_predictions():
    table, truth = calibration.records(HEART.name, ())
    evaluation, _, _ = roc.scored(HEART.name, (), 0)
    lowest = evaluation.probabilities[evaluation.probabilities <= truth.groups[0].high]
    assert lowest.size / table.size == pytest.approx(0.1, abs=0.01)
    assert truth.groups[0].expected[1] == pytest.approx(lowest.sum(), rel=1e-4)


def test_the_papers_noise_on_sums_has_the_papers_scale():
    assert calibration.noise_deviation(1.0) == pytest.approx(math.sqrt(2) * 19)
