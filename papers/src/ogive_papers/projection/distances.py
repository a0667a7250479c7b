"""Distances of two distribution functions given at evenly spaced points, as sums of trapezoids."""

from __future__ import annotations

import numpy as np

from ogive.core.arrays import Float64

KS, EMD, ENERGY = "KS", "EMD", "energy"
DISTANCES = (KS, EMD, ENERGY)
TITLES = {KS: "Kolmogorov-Smirnov", EMD: "Earth Mover's", ENERGY: "energy"}


def distances(first: Float64, second: Float64, width: float) -> dict[str, float]:
    """Kolmogorov-Smirnov, Earth Mover's and energy distance.

    `ogive.distances` is exact; this is for thousands of curves on one set of points.

    Args:
        first: Values at evenly spaced points, the ends included, shape (points,).
        second: At the same points.
        width: Of the whole axis, in the unit the distances are wanted in.
    """
    gap = np.abs(first - second)
    step = width / (gap.size - 1)
    return {
        KS: float(gap.max()),
        EMD: float(np.trapezoid(gap, dx=step)),
        ENERGY: float(np.sqrt(2 * np.trapezoid(gap * gap, dx=step))),
    }
