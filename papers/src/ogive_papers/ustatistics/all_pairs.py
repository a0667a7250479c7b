"""What each of all pairs may spend of a person's epsilon, when everybody is in a pair with everybody else."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

DELTA = 1e-8
"""The paper's, of all of a person's pairs together."""

_BISECTIONS = 60


def advanced(epsilon: float, pairs: int, delta: float = DELTA) -> float:
    """As printed: epsilon / (sqrt(pairs) (1 + sqrt(2 ln(1 / delta)))).

    Proved only up to epsilon = (1 + sqrt(2 ln(1 / delta))) ln 2, which is 4.9 at the paper's delta.

    Source: Bell, Bellet, Gascon and Kulkarni 2020, after Dwork, Rothblum and Vadhan 2010; `ustatistics.md`, 6.2.
    """
    return epsilon / (math.sqrt(pairs) * (1 + math.sqrt(2 * math.log(1 / delta))))


@lru_cache(maxsize=64)
def exact(epsilon: float, pairs: int, delta: float = DELTA) -> float:
    """The largest that keeps (epsilon, delta), whatever each pair's mechanism is.

    `ogive.accounting.per_report_epsilon` computes the same with certainty, for up to a thousand reports; here there are
    hundreds of thousands, in floating point.

    Source: Kairouz, Oh and Viswanath 2015; `ustatistics.md`, 6.2.
    """
    lies = np.arange(pairs // 2 + 1)
    log_ways = gammaln(pairs + 1) - gammaln(lies + 1) - gammaln(pairs - lies + 1)

    def lost(own: float) -> float:
        gap = np.maximum((pairs - 2 * lies) * own - epsilon, 0.0)
        log_chance = log_ways + (pairs - lies) * own - pairs * float(np.logaddexp(0.0, own))
        return float(np.exp(log_chance) @ -np.expm1(-gap))

    low = epsilon / pairs
    high = low
    while lost(high) <= delta:
        low, high = high, 2 * high
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if lost(middle) <= delta else (low, middle)
    return low
