"""Figures 2 and 3: how much of the noise smoothing takes away (the paper, Section 6.3).

    ratio = |F - F'|^2 / |F - Fhat|^2        squared 2-norms over all N points

for the paper's constants with both of its smoothings, and for the strategy of least error at
the same guarantee with the default smoothing. The last quantities compare the two directly.
"""

from __future__ import annotations

import numpy as np

from ogive.strategies.smoothing import DEFAULT_SMOOTHING, smooth
from ogive_papers.ecdf.releases import (
    SIZE,
    best_strategy,
    measure,
    paper_strategy,
    poisson_counts,
    squared_error,
)
from ogive_papers.items import Numbers, Places, Setting
from ogive_papers.randomness import streams

EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
RATES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


def smoothing_errors(setting: Setting, seed: int, data: Places) -> Numbers:
    """One release of X_Pois with every noise and smoothing."""
    epsilon, rate = float(setting["epsilon"]), float(setting["rate"])
    generator, source = streams(seed)
    counts = poisson_counts(SIZE, rate, generator)
    truth = np.cumsum(counts).astype(np.float64)
    total = int(truth[-1])

    paper = paper_strategy(SIZE, epsilon)
    answer = measure(paper, counts, source)
    raw = squared_error(paper.estimate(answer, None), truth)
    absolute, squares = (
        squared_error(smooth(paper, answer, total=total, kind=kind, anchor=False), truth)
        for kind in ("least_absolute", "least_squares")
    )
    ours = best_strategy(SIZE, epsilon)
    answer = measure(ours, counts, source)
    our_raw = squared_error(ours.estimate(answer, total), truth)
    our_smoothed = squared_error(smooth(ours, answer, total=total, kind=DEFAULT_SMOOTHING), truth)
    return {
        "paper p=1": absolute / raw,
        "paper p=2": squares / raw,
        "ours": our_smoothed / our_raw,
        "p=2 - p=1": (squares - absolute) / raw,
        "ours / paper, raw": our_raw / raw,
        "ours / paper p=2, smoothed": our_smoothed / squares,
    }


def figure_2_settings(quick: bool) -> tuple[Setting, ...]:
    """X_Pois(3) at the epsilons of the specification."""
    chosen = (0.05, 0.2, 1.0, 10.0) if quick else EPSILONS
    return tuple({"epsilon": epsilon, "rate": 3.0} for epsilon in chosen)


def figure_3_settings(quick: bool) -> tuple[Setting, ...]:
    """All rates at epsilon 1."""
    chosen = (0.1, 1.0, 3.0, 10.0, 100.0) if quick else RATES
    return tuple({"epsilon": 1.0, "rate": rate} for rate in chosen)
