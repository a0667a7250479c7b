"""The smallest and the largest value that a measure can have."""

from __future__ import annotations

import math

from ogive.columns import Domain
from ogive.kernels.base import Measure

_KNOWN = {
    "gini_coefficient": (0.0, 1.0),
    "kendall": (-1.0, 1.0),
    "kendall_b": (-1.0, 1.0),
    "gamma": (-1.0, 1.0),
    "auc": (0.0, 1.0),
    "auc_private": (0.0, 1.0),
    "vus": (0.0, 1.0),
}


def limits(measure: Measure, domain: Domain) -> tuple[float, float]:
    """Smallest and largest value of a measure on a domain.

    A measure of one kernel whose value is its mean has the kernel's range; ratios have limits of their own.
    """
    if measure.name in _KNOWN:
        return _KNOWN[measure.name]
    if measure.name == "collision":
        return 0.0, math.log(domain.size)
    if len(measure.kernels) == 1:
        low, high = measure.kernels[0].range(domain)
        return float(low), float(high)
    return -math.inf, math.inf
