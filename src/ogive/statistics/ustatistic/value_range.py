"""The smallest and the largest value that a measure can have, which must be numbers to compute with."""

from __future__ import annotations

import math

import numpy as np

from ogive.columns import Domain
from ogive.errors import ParameterError
from ogive.kernels.base import Kernel, Measure

_NARROWEST, _WIDEST = 1e-100, 1e100  # squares, and products of squares with numbers of pairs, are floating point

_KNOWN = {
    "gini_coefficient": (0.0, 1.0),
    "kendall": (-1.0, 1.0),
    "kendall_b": (-1.0, 1.0),
    "gamma": (-1.0, 1.0),
    "auc": (0.0, 1.0),
    "auc_private": (0.0, 1.0),
    "vus": (0.0, 1.0),
}


def value_range(measure: Measure, domain: Domain) -> tuple[float, float]:
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


def check_reach(kernel: Kernel, domain: Domain) -> None:
    """Refuse a kernel whose values are so large, or so close together, that errors cannot be computed.

    Raises:
        ParameterError: they are.
    """
    try:
        with np.errstate(over="ignore"):
            low, high = (float(end) for end in kernel.range(domain))
    except OverflowError:
        low, high = 0.0, math.inf
    if not (high - low >= _NARROWEST and max(abs(low), abs(high)) <= _WIDEST):
        raise ParameterError(
            f"the kernel reaches from {low:g} to {high:g} here, which cannot be squared in floating point; "
            "take units in which the bounds are nearer to 0 and 1"
        )
