"""Reports by a square wave, and the distribution that expectation maximization with smoothing makes of them.

An owner of a value v in [0, 1] reports a number in [-b, 1 + b]: with density p within b of v and q elsewhere, where
p = e^epsilon q. Reports are counted in as many bins as the distribution has. Each step of the estimate is one of
expectation maximization, followed by a mean over neighbors with weights 1/4, 1/2 and 1/4, until the logarithm of the
likelihood gains less than 0.001.

Source:
    Li, Wang, Lopuhaa-Zwakenberg, Li and Skoric 2020, Estimating Numerical Distributions under Local Differential
    Privacy (the square wave with the half-width b of largest mutual information, and EMS).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
_ENOUGH, _MOST = 1e-3, 10_000


def chances(bins: int, epsilon: float) -> Float64:
    """Chance that an owner in the middle of each bin (column) reports a number in each bin of reports (row)."""
    grown = math.exp(epsilon)
    half = (epsilon * grown - grown + 1) / (2 * grown * (grown - 1 - epsilon))
    outside = 1 / (2 * half * grown + 1)
    edges, values = np.linspace(-half, 1 + half, bins + 1), (np.arange(bins) + 0.5) / bins
    low = np.maximum(edges[:-1, None], values - half)
    high = np.minimum(edges[1:, None], values + half)
    found: Float64 = outside * (np.diff(edges)[:, None] + (grown - 1) * np.maximum(high - low, 0.0))
    return found


def reported(counts: Int64, chance: Float64, generator: np.random.Generator) -> Int64:
    """How many reports of some owners fall in each bin of reports."""
    found = np.zeros(len(chance), np.int64)
    for place in np.flatnonzero(counts):
        found += generator.multinomial(counts[place], chance[:, place])
    return found


def estimated(reports: Int64, chance: Float64) -> Float64:
    """Shares of the bins by expectation maximization with smoothing."""
    shares = np.full(chance.shape[1], 1 / chance.shape[1])
    before = -math.inf
    for _ in range(_MOST):
        shares = shares * (chance.T @ (reports / (chance @ shares)))
        filled = np.pad(shares, 1, mode="edge")
        shares = filled[:-2] / 4 + filled[1:-1] / 2 + filled[2:] / 4
        shares = shares / shares.sum()
        likelihood = float(reports @ np.log(chance @ shares))
        if likelihood - before < _ENOUGH:
            return shares
        before = likelihood
    raise ArithmeticError("expectation maximization did not end")
