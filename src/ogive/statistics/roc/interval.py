"""An interval for the area under the ROC curve that counts noise and sampling.

Let P be the number of pairs of a negative and a positive record that the score ranks rightly (ties one
half), n_0 and n_1 the class sizes, and A = P / (n_0 n_1). Raw curves are unbiased and independent, so P and
n_0 n_1 have unbiased estimates P^ and Q^, and for the true A

    H(A) = P^ - A Q^

has no other error than the noise: its law is that of (P^ - P) - A (Q^ - n_0 n_1), found by simulating the noise
around the released curves. The interval holds every A for which H(A) is between two quantiles of that law; no
quotient of noisy numbers is formed, so small classes widen the interval instead of breaking it. For the
population, H gains the sampling error of A times n_0 n_1, taken as normal with the larger of DeLong's variance on
the released curves and Hanley and McNeil's for the candidate A, which does not vanish where the released curves happen
to separate the classes.

The area that is held is that of the scores themselves, not of the bins that they were sorted into. Scores in one bin
look tied, and how they rank within it is not measured: P is at least P_0, with all such pairs ranked wrongly, and at
most P_1, with all ranked rightly. Both are bilinear in the two curves as well. The lower end is that of an interval for
P_0 / (n_0 n_1), the upper end that of one for P_1 / (n_0 n_1), each with half of the error probability, so that coarse
grids widen the interval by what they hide, noise in the number of ties included, and no union bound is needed.

The released A, with ties one half, is read off smoothed curves; where it is outside, the interval is extended to it.

Source: Fieller 1954 for the inversion; DeLong, DeLong and Clarke-Pearson 1988; Hanley and McNeil 1982.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Protocol

import numpy as np

from ogive.arrays import Float64
from ogive.statistics.curve.bands.simultaneous import upper_quantile
from ogive.statistics.roc.noise import pairs_at_ends

_CANDIDATES = 201
_HALVINGS = 24
_SEED = 0x617563  # public and fixed
_ROUNDING = 1e-12


class PairNoise(Protocol):
    """Errors of simulated releases around given curves."""

    @property
    def last(self) -> Float64:
        """Error of the size of a class, shape (simulations,)."""
        ...

    @property
    def pairs(self) -> Float64:
        """Errors of the numbers of pairs in order with ties ranked wrongly and rightly, shape (2, simulations)."""
        ...

    @property
    def products(self) -> Float64:
        """Error of the product of the class sizes, shape (simulations,)."""
        ...


def delong_variance(curves: Float64, positive_when: str, ties: float = 0.5) -> float:
    """Sampling variance of the area from the curves of both classes, shape (2, N).

    Args:
        curves: Cumulative counts of negatives and positives, shape (2, N).
        positive_when: "high" or "low".
        ties: What a pair in one bin counts.

    Source:
        DeLong, DeLong and Clarke-Pearson 1988.
    """
    sizes = np.maximum(curves[:, -1], 1.0)
    steps = np.diff(curves, axis=1, prepend=0.0)
    before = (curves - steps) / sizes[:, None]  # share of a class below a bin
    within = steps / sizes[:, None]
    worst, best = pairs_at_ends(curves[0], curves[1], positive_when)
    area = float((1 - ties) * worst + ties * best) / float(sizes[0] * sizes[1])
    variance = 0.0
    for k in range(2):
        below, tied = before[1 - k], within[1 - k]
        strictly = below if (k == 0) == (positive_when == "low") else 1 - below - tied
        wins = strictly + ties * tied
        spread = float(np.sum(steps[k] / sizes[k] * (wins - area) ** 2))
        variance += spread / max(sizes[k] - 1, 1.0)
    return variance


def hanley_mcneil_variance(area: Float64, negatives: float, positives: float) -> Float64:
    """Sampling variance of an area from class sizes alone, for candidates of any shape.

    Source:
        Hanley and McNeil 1982.
    """
    n0, n1 = max(negatives, 1.0), max(positives, 1.0)
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance: Float64 = (area * (1 - area) + (n1 - 1) * (q1 - area**2) + (n0 - 1) * (q2 - area**2)) / (n0 * n1)
    return np.maximum(variance, 0.0)


def auc_interval(
    released: float,
    raw: Float64,
    curves: Float64,
    noise: PairNoise | None,
    *,
    positive_when: str,
    tail: Fraction,
    target: str,
    simulations: int,
    rows_of_one: int = 1,
) -> tuple[float, float]:
    """Ends between which the true area lies; 0 and 1 where noise may account for a whole class.

    Args:
        released: Area of the released curve.
        raw: Linear estimates of both class curves, shape (2, N).
        curves: Released curves, shape (2, N), that stand in for the true ones.
        noise: Simulated around `curves`; None where nothing was added.
        positive_when: "high" or "low".
        tail: Error probability, half of it on each side.
        target: "population" or "sample".
        simulations: Number of draws where there is no noise.
        rows_of_one: Most records of one person; where all are alike, the variance by sampling is as many times larger.
    """
    ends = pairs_at_ends(raw[0], raw[1], positive_when)
    found_product = float(raw[0, -1] * raw[1, -1])
    if noise is None and target == "sample":
        low, high = (ends / found_product).tolist()
        return max(0.0, low - _ROUNDING), min(1.0, high + _ROUNDING)
    if noise is not None and float(raw[:, -1].min()) <= upper_quantile(np.abs(noise.last), tail):
        return 0.0, 1.0  # a class may well be empty
    pairs = np.zeros((2, simulations)) if noise is None else noise.pairs
    products = np.zeros(simulations) if noise is None else noise.products
    sampling = np.zeros(len(products))
    floors = (0.0, 0.0)
    if target == "population":
        sampling = np.random.Generator(np.random.PCG64(_SEED)).standard_normal(len(products))
        sampling *= curves[0, -1] * curves[1, -1] * math.sqrt(rows_of_one)
        floors = (delong_variance(curves, positive_when, 0.0), delong_variance(curves, positive_when, 1.0))

    def accepts(area: float) -> bool:
        least = float(hanley_mcneil_variance(np.array(area), curves[0, -1], curves[1, -1]))
        worst, best = (pairs[k] - area * products + math.sqrt(max(floors[k], least)) * sampling for k in range(2))
        value = ends - area * found_product
        fits = value[0] <= upper_quantile(worst, tail / 2) and value[1] >= -upper_quantile(-best, tail / 2)
        return bool(fits)

    center = float(ends.mean()) / found_product if found_product > 0 else released
    tried = np.unique(np.concatenate((np.linspace(0, 1, _CANDIDATES), np.clip([center, released], 0, 1))))
    good = np.flatnonzero([accepts(area) for area in tried.tolist()])
    if not good.size:
        return 0.0, 1.0
    low, high = float(tried[good[0]]), float(tried[good[-1]])
    if good[0] > 0:
        low = _edge(accepts, float(tried[good[0] - 1]), low)
    if good[-1] < len(tried) - 1:
        high = _edge(accepts, float(tried[good[-1] + 1]), high)
    return min(low, released), max(high, released)


def _edge(accepts: Callable[[float], bool], outside: float, inside: float) -> float:
    for _ in range(_HALVINGS):
        middle = (outside + inside) / 2
        if accepts(middle):
            inside = middle
        else:
            outside = middle
    return outside
