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

The released A is read off smoothed curves; where it is outside, the interval is extended to hold it.

Source: Fieller 1954 for the inversion; DeLong, DeLong and Clarke-Pearson 1988; Hanley and McNeil 1982.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ogive.statistics.bands import upper_quantile
from ogive.statistics.roc_noise import SimulatedNoise, pairs_in_order

Float64 = NDArray[np.float64]

_CANDIDATES = 201
_HALVINGS = 24
_SEED = 0x617563  # public and fixed


def delong_variance(curves: Float64, positive_when: str) -> float:
    """Sampling variance of the area from the curves of both classes, shape (2, N).

    Source:
        DeLong, DeLong and Clarke-Pearson 1988.
    """
    sizes = np.maximum(curves[:, -1], 1.0)
    steps = np.diff(curves, axis=1, prepend=0.0)
    middles = (curves - steps / 2) / sizes[:, None]  # share of a class below a bin, and half of it in the bin
    area = float(pairs_in_order(curves[0], curves[1], positive_when) / (sizes[0] * sizes[1]))
    variance = 0.0
    for k in range(2):
        wins = middles[1 - k] if (k == 0) == (positive_when == "low") else 1 - middles[1 - k]
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
    noise: SimulatedNoise | None,
    *,
    positive_when: str,
    tail: Fraction,
    target: str,
    simulations: int,
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
    """
    if noise is None and target == "sample":
        return released, released
    if noise is not None and float(raw[:, -1].min()) <= upper_quantile(np.abs(noise.last), tail):
        return 0.0, 1.0  # a class may well be empty
    pairs = np.zeros(simulations) if noise is None else noise.pairs
    products = np.zeros(simulations) if noise is None else noise.products
    found_pairs = float(pairs_in_order(raw[0], raw[1], positive_when))
    found_product = float(raw[0, -1] * raw[1, -1])
    sampling = np.zeros(len(pairs))
    floor = 0.0
    if target == "population":
        sampling = np.random.Generator(np.random.PCG64(_SEED)).standard_normal(len(pairs))
        sampling *= curves[0, -1] * curves[1, -1]
        floor = delong_variance(curves, positive_when)

    def accepts(area: float) -> bool:
        variance = max(floor, float(hanley_mcneil_variance(np.array(area), curves[0, -1], curves[1, -1])))
        law = pairs - area * products + math.sqrt(variance) * sampling
        value = found_pairs - area * found_product
        return -upper_quantile(-law, tail / 2) <= value <= upper_quantile(law, tail / 2)

    center = found_pairs / found_product if found_product > 0 else released
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
