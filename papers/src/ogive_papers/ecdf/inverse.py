"""Figure 4: errors of a noisy distribution function and of its inverse (the paper, Section 6.4).

On the domain [0, 1] with tau_i = i / N. F is read at points uniform on the domain, the inverses
at probabilities uniform on [0, 1], by Algorithm 1 as printed, with the grid's step as its
precision. The reference for an inverse is Algorithm 1 on the exact F, and errors are squared
(the paper prints the inverse errors without the square).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ogive.core.arrays import Float64
from ogive.statistics.curve.readings import bisect_domain
from ogive.strategies.smoothing import DEFAULT_SMOOTHING, smooth
from ogive_papers.ecdf.releases import SIZE, best_strategy, measure, paper_strategy, poisson_counts
from ogive_papers.items import Numbers, Places, Setting
from ogive_papers.randomness import streams

EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
RATE = 3.0
POINTS = 500
"""Points and probabilities per run."""

FORWARD, INVERSE_RAW, INVERSE_SMOOTHED = "F, raw", "inverse of F, raw", "inverse of F', p=2"
OUR_FORWARD, OUR_INVERSE = "ours: F", "ours: inverse of F"
HARM = 2.0
"""The raw inverse is about as good as the smoothed one if its error is below this many times the other's."""


def inverse_errors(setting: Setting, seed: int, data: Places) -> Numbers:
    """One release of X_Pois, read forward and backward."""
    epsilon = float(setting["epsilon"])
    generator, source = streams(seed)
    counts = poisson_counts(SIZE, RATE, generator)
    total = int(counts.sum())
    truth = np.cumsum(counts) / total
    places = generator.integers(0, SIZE, POINTS)
    probabilities = generator.random(POINTS)

    paper = paper_strategy(SIZE, epsilon)
    answer = measure(paper, counts, source)
    raw = paper.estimate(answer, None) / total
    smoothed = smooth(paper, answer, total=total, kind="least_squares", anchor=False) / total
    ours = best_strategy(SIZE, epsilon)
    ours_smoothed = smooth(ours, measure(ours, counts, source), total=total, kind=DEFAULT_SMOOTHING) / total

    exact = invert(truth, probabilities)
    numbers = {
        FORWARD: mean_square(raw[places] - truth[places]),
        INVERSE_RAW: mean_square(invert(raw, probabilities) - exact),
        INVERSE_SMOOTHED: mean_square(invert(smoothed, probabilities) - exact),
        OUR_FORWARD: mean_square(ours_smoothed[places] - truth[places]),
        OUR_INVERSE: mean_square(invert(ours_smoothed, probabilities) - exact),
    }
    paper_numbers = (numbers[FORWARD], numbers[INVERSE_RAW], numbers[INVERSE_SMOOTHED])
    return {**numbers, "raw - harm x smoothed": paper_numbers[1] - HARM * paper_numbers[2]}


def invert(curve: Float64, probabilities: Float64) -> Float64:
    """Algorithm 1 on the step function with the given values at i / N, for each probability."""
    size = curve.size
    evaluate = step_function(curve)
    result = (bisect_domain(evaluate, p, low=0.0, high=1.0, precision=1 / size) for p in probabilities.tolist())
    return np.fromiter(result, np.float64, probabilities.size)


def step_function(curve: Float64) -> Callable[[float], float]:
    """The right-continuous function on [0, 1] that jumps to `curve[i - 1]` at i / N, and is 0 before."""
    values = [0.0, *curve.tolist()]
    size = curve.size
    return lambda place: values[math.floor(place * size)]


def mean_square(errors: Float64) -> float:
    """Mean of the squares."""
    return float(np.square(errors).mean())


def settings(quick: bool) -> tuple[Setting, ...]:
    """The epsilons of the specification."""
    return tuple({"epsilon": epsilon} for epsilon in ((0.01, 0.1, 1.0, 10.0) if quick else EPSILONS))
