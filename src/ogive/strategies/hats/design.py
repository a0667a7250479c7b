"""Spacings and shares of the loss for hats, tabulated for powers of two and carried over to other sizes.

The tables hold the best that searches like `benchmarks/hat_designs.py` found: it minimizes the exact
mean variance under Laplace noise over the shares and descends over the spacings. They do not
depend on the privacy level. Below the smallest tabulated size, noisy bins alone are best.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from ogive.strategies.hats.solver import HatSolver
from ogive.strategies.tree.design import whole_shares

Design = tuple[tuple[int, ...], tuple[float, ...]]

# log2 N: spacings, shares of the bins and of each level of hats
TOTAL_KNOWN: dict[int, Design] = {
    6: ((9,), (0.4974, 0.5026)),
    7: ((14,), (0.504, 0.496)),
    8: ((18,), (0.4863, 0.5137)),
    9: ((30,), (0.5091, 0.4909)),
    10: ((11, 112), (0.3392, 0.3075, 0.3533)),
    11: ((14, 224), (0.3351, 0.3348, 0.3301)),
    12: ((14, 256), (0.3094, 0.3225, 0.3681)),
    13: ((24, 512), (0.3402, 0.3178, 0.342)),
    14: ((28, 768), (0.3304, 0.3224, 0.3472)),
    15: ((16, 224, 3584), (0.2616, 0.2409, 0.2505, 0.247)),
    16: ((16, 256, 4096), (0.2463, 0.2379, 0.2355, 0.2803)),
    17: ((20, 384, 8192), (0.2491, 0.2393, 0.2459, 0.2657)),
    18: ((24, 640, 16384), (0.2488, 0.2523, 0.2477, 0.2512)),
    19: ((16, 224, 3584, 57344), (0.2088, 0.1926, 0.2013, 0.2005, 0.1968)),
    20: ((20, 320, 5120, 73728), (0.2137, 0.1929, 0.1924, 0.1846, 0.2164)),
}
TOTAL_UNKNOWN: dict[int, Design] = {
    4: ((9,), (0.4771, 0.5229)),
    5: ((11,), (0.4657, 0.5343)),
    6: ((17,), (0.4795, 0.5205)),
    7: ((27,), (0.5, 0.5)),
    8: ((33,), (0.4827, 0.5173)),
    9: ((12, 192), (0.3291, 0.3261, 0.3448)),
    10: ((14, 224), (0.3197, 0.3091, 0.3712)),
    11: ((20, 448), (0.3307, 0.3233, 0.346)),
    12: ((24, 640), (0.3243, 0.3217, 0.354)),
    13: ((28, 1024), (0.3151, 0.3336, 0.3513)),
    14: ((40, 1536), (0.3278, 0.3152, 0.357)),
    15: ((24, 384, 7168), (0.2688, 0.2317, 0.2334, 0.2661)),
    16: ((20, 448, 10240), (0.2402, 0.243, 0.2395, 0.2773)),
    17: ((14, 192, 2560, 32768), (0.2041, 0.1944, 0.1929, 0.1832, 0.2254)),
    18: ((16, 256, 3584, 57344), (0.2027, 0.1961, 0.1871, 0.1881, 0.226)),
    19: ((20, 384, 6144, 114688), (0.2074, 0.1997, 0.1872, 0.1897, 0.216)),
    20: ((24, 512, 10240, 229376), (0.2098, 0.1974, 0.1928, 0.1931, 0.2069)),
}
SAMPLES = 256


@lru_cache(maxsize=256)
def hats_design(size: int, exponent: int, total_known: bool) -> tuple[tuple[int, ...], tuple[Fraction, ...]]:
    """Take the best of the designs tabulated just below and just above N, and of the bins alone.

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
    candidates: list[tuple[tuple[int, ...], tuple[Fraction, ...]]] = [((), (Fraction(1),))]
    for power in sorted(near):
        if power in table and table[power][0][-1] < size:
            spacings, weights = table[power]
            candidates.append((spacings, whole_shares(np.array(weights) ** (2 / exponent))))
    return min(candidates, key=lambda design: _sampled_mean(size, design, exponent, total_known))


def _sampled_mean(
    size: int, design: tuple[tuple[int, ...], tuple[Fraction, ...]], exponent: int, total_known: bool
) -> float:
    """Mean of the exact variance over at most `SAMPLES` points, up to a factor."""
    points = np.unique(np.linspace(0, size - 1, SAMPLES).astype(np.int64))
    variances = np.array([float(share) for share in design[1]]) ** -exponent
    solver = HatSolver(size, design[0], float(variances[0]), variances[1:])
    return float(solver.variance_at(points, total_known=total_known).mean())
