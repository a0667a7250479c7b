"""Isotonic regression: the curve that never decreases and is nearest to an estimate in squared distance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

Float64 = NDArray[np.float64]


def isotonic(estimate: Float64, total: int | None) -> Float64:
    """The nearest curve that never decreases; with a total it is at most that, and exactly that at its end."""
    curve: Float64 = isotonic_regression(estimate).x
    if total is not None:
        curve = np.minimum(curve, total)
        curve[-1] = total
    return curve
