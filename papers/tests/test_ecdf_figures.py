"""The measurements behind the figures of the ECDF paper, against slower ways to get them."""

import numpy as np
import pytest

from ogive.strategies.smoothing import smooth
from ogive_papers.ecdf import inverse, releases, runtime, smoothing
from ogive_papers.ecdf.solvers import incidence, solve_paper
from ogive_papers.randomness import streams


def test_poisson_counts_have_their_rate():
    counts = releases.poisson_counts(2**14, 3.0, np.random.default_rng(1))
    # 2^14 counts: the mean is known to 0.0135, the variance to 0.036; 5 standard errors
    assert counts.mean() == pytest.approx(3.0, abs=0.07)
    assert counts.var() == pytest.approx(3.0, abs=0.18)


def test_the_papers_noise_has_the_papers_variance():
    strategy = releases.paper_strategy(1024, 1.0)
    # the specification's value for integer noise of scale 11 on 11 levels
    assert strategy.variance(total_known=False) == pytest.approx(np.full(1024, 2660.167), rel=1e-6)


def test_ours_is_better_than_the_papers_at_the_same_guarantee():
    ours = releases.best_strategy(1024, 1.0)
    assert ours.variance(total_known=True).mean() < 2660 / 5


def test_measurements_are_replayed_by_a_seed():
    counts = np.arange(64)
    strategy = releases.paper_strategy(64, 1.0)
    answers = [releases.measure(strategy, counts, streams(seed)[1]) for seed in (3, 3, 4)]
    assert (answers[0] == answers[1]).all()
    assert (answers[0] != answers[2]).any()


def test_incidence_marks_the_blocks_above_a_point():
    matrix = incidence(8).toarray()
    assert matrix.shape == (8, 15)
    # 1-based nodes (j, l) of point 6, from the specification's table: (6,0) (3,1) (2,2) (1,3)
    assert np.flatnonzero(matrix[5]).tolist() == [5, 8 + 2, 12 + 1, 14]
    gram = matrix @ matrix.T
    assert gram[0].tolist() == [4, 3, 2, 2, 1, 1, 1, 1]


@pytest.mark.parametrize("epsilon", [0.2, 2.0])
@pytest.mark.parametrize("size", [1, 2, 16, 128])
def test_the_papers_programs_and_ours_find_the_same(size, epsilon):
    pytest.importorskip("cvxopt")
    generator, source = streams(size)
    counts = releases.poisson_counts(size, 3.0, generator) + 1
    total = int(counts.sum())
    strategy = releases.paper_strategy(size, epsilon)
    answer = releases.measure(strategy, counts, source)
    noisy = strategy.estimate(answer, None)
    curve, _ = solve_paper(noisy, 2, top=total)
    own = smooth(strategy, answer, total=total, kind="least_squares", anchor=False)
    # within a hundredth of the noise's scale
    assert curve == pytest.approx(own, abs=0.01 * size.bit_length() / epsilon)
    absolute, cost = solve_paper(noisy, 1, top=total)
    assert (np.diff(absolute) > -1e-4).all()
    assert absolute[0] > -1e-4
    assert absolute[-1] < total + 1e-4
    # ours is feasible, so the program's optimum cannot cost more than the corrections ours needs
    own = smooth(strategy, answer, total=total, kind="least_absolute", anchor=False)
    assert least_corrections(own - noisy) == pytest.approx(cost, rel=1e-5, abs=1e-4)


def least_corrections(difference):
    """Least sum of |nu| with the given sums along paths, by linear programming."""
    from scipy.optimize import linprog

    above = incidence(difference.size).toarray()
    nodes = above.shape[1]
    found = linprog(np.ones(2 * nodes), A_eq=np.hstack([above, -above]), b_eq=difference)
    return found.fun


def test_step_functions_jump_at_the_grid_points():
    evaluate = inverse.step_function(np.array([0.2, 0.5, 0.7, 1.0]))
    assert [evaluate(place) for place in (0.0, 0.24, 0.25, 0.49, 0.5, 0.99, 1.0)] == [0, 0, 0.2, 0.2, 0.5, 0.7, 1.0]


def test_inverting_finds_the_grid_point_to_within_the_grids_step():
    counts = np.random.default_rng(2).poisson(3.0, 64) + 1
    curve = np.cumsum(counts) / counts.sum()
    probabilities = np.array([0.001, 0.3, 0.5, 0.999])
    points = (np.searchsorted(curve, probabilities) + 1) / 64
    found = inverse.invert(curve, probabilities)
    assert np.abs(found - points).max() <= 1 / 64


SMALL = 2**7


def test_figure_2_measures_ratios_of_squared_errors(monkeypatch):
    pytest.importorskip("cvxopt")
    monkeypatch.setattr(smoothing, "SIZE", SMALL)
    numbers = smoothing.smoothing_errors({"epsilon": 1.0, "rate": 3.0}, 11, None)
    assert smoothing.smoothing_errors({"epsilon": 1.0, "rate": 3.0}, 11, None) == numbers
    assert numbers["p=2 - p=1"] == pytest.approx(numbers["paper p=2"] - numbers["paper p=1"])
    assert 0 < numbers["paper p=2"] < 1.5
    # the same release, once more and by hand
    generator, source = streams(11)
    counts = releases.poisson_counts(SMALL, 3.0, generator)
    truth, total = np.cumsum(counts), int(counts.sum())
    paper = releases.paper_strategy(SMALL, 1.0)
    answer = releases.measure(paper, counts, source)
    curve, _ = solve_paper(answer.astype(float), 2, top=total)
    ratio = np.sum((curve - truth) ** 2) / np.sum((answer - truth) ** 2)
    assert numbers["paper p=2"] == pytest.approx(ratio, rel=1e-3)


def test_figure_4_measures_errors_of_both_directions(monkeypatch):
    monkeypatch.setattr(inverse, "SIZE", SMALL)
    few, many = (
        np.mean([list(inverse.inverse_errors({"epsilon": e}, s, None).values()) for s in range(5)], axis=0)
        for e in (1.0, 100.0)
    )
    assert (many[:5] < few[:5] / 20).all()


def test_figure_7_measures_every_solver():
    pytest.importorskip("cvxopt")
    numbers = runtime.smoothing_times({"size": 32, "peer": "cvxopt"}, 1, None)
    times = [numbers[n] for n in (runtime.LINEAR, runtime.QUADRATIC, runtime.OUR_LINEAR, runtime.OUR_QUADRATIC)]
    assert all(seconds > 0 for seconds in times)
    assert numbers[runtime.AGREEMENT] < 0.1
    assert runtime.LINEAR not in runtime.smoothing_times({"size": 32, "peer": "none"}, 1, None)


def test_quick_settings_are_fewer_and_among_the_full_ones():
    for settings in (smoothing.figure_2_settings, smoothing.figure_3_settings, inverse.settings, runtime.settings):
        quick, full = settings(True), settings(False)
        assert len(quick) < len(full)
        assert all(setting in full for setting in quick)
