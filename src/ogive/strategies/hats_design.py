"""Spacings and shares of the loss for hats, tabulated for powers of two and carried over to other sizes.

The tables are made by `benchmarks/hat_designs.py`, which minimizes the exact mean variance under
Laplace noise over the shares and searches over the spacings. They do not depend on the privacy
level. Below the smallest tabulated size, noisy bins alone are best.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from ogive.strategies.hats_solver import HatSolver
from ogive.strategies.tree_design import whole_shares

Design = tuple[tuple[int, ...], tuple[float, ...]]

# log2 N: spacings, shares of the bins and of each level of hats
TOTAL_KNOWN: dict[int, Design] = {
    6: ((7,), (0.4576, 0.5424)),
    15: ((16, 192, 2304), (0.262, 0.229, 0.225, 0.284)),
}
TOTAL_UNKNOWN: dict[int, Design] = {
    5: ((12,), (0.475, 0.525)),
    15: ((24, 384, 7168), (0.2688, 0.2317, 0.2334, 0.266)),
}
SAMPLES = 256


@lru_cache(maxsize=256)
def hats_design(size: int, exponent: int, total_known: bool) -> tuple[tuple[int, ...], tuple[Fraction, ...]]:
    """Take the better of the designs tabulated just below and just above N.

    Args:
        size: Number of bins, N.
        exponent: 2 for Laplace noise, 1 for Gaussian, where the shares are chosen to keep the
            relative precisions that are best for Laplace noise.
        total_known: Whether the number of records is public.

    Returns:
        Spacings, and the shares of the bins and of each spacing, which add up to 1.
    """
    table = TOTAL_KNOWN if total_known else TOTAL_UNKNOWN
    lower = size.bit_length() - 1
    near = {min(power, max(table)) for power in (lower, lower + (size != 1 << lower))}
    plain = (), (Fraction(1),)
    found = []
    for power in sorted(near):
        if power in table and table[power][0][-1] < size:
            spacings, weights = table[power]
            found.append((spacings, whole_shares(np.array(weights) ** (2 / exponent))))
    candidates = found or [plain]
    return min(candidates, key=lambda design: _sampled_mean(size, design, exponent, total_known))


def _sampled_mean(
    size: int, design: tuple[tuple[int, ...], tuple[Fraction, ...]], exponent: int, total_known: bool
) -> float:
    """Mean of the exact variance over at most `SAMPLES` points, up to a factor."""
    points = np.unique(np.linspace(0, size - 1, SAMPLES).astype(np.int64))
    variances = np.array([float(share) for share in design[1]]) ** -exponent
    solver = HatSolver(size, design[0], float(variances[0]), variances[1:])
    return float(solver.variance(points, total_known=total_known).mean())
