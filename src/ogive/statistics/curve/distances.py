"""How far two distribution functions lie apart: Kolmogorov-Smirnov, Earth Mover's and energy distance.

For distribution functions F and G on [low, high], both 0 below low and 1 from high on:

    ks     = sup |F - G|                      a share
    emd    = integral of |F - G|              in units of the axis: how far mass must be moved, on average
    energy = sqrt(2 integral of (F - G)^2)    in square roots of them: sqrt(2 E|X-Y| - E|X-X'| - E|Y-Y'|)

All three are metrics. `emd` scales with the axis and `energy` with its square root, so values on different axes do not
compare. Curves and samples are straight between finitely many points, and so is their difference between all
points of both: the sums below are exact there, where the difference jumps and where it changes its sign.

Source: Rizzo and Szekely 2016 for the energy distance; `scipy.stats` follows the same definitions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ogive.checks import among
from ogive.statistics.curve.distance_forms import Piecewise, axis_of, form


@dataclass(frozen=True)
class Distances:
    """Three distances between two distribution functions; each is 0 only if they are equal.

    Fields:
        ks: Kolmogorov-Smirnov distance: largest difference, a share in [0, 1].
        emd: Earth mover's distance: area between the two, in units of the axis.
        energy: Energy distance, in square roots of these units.
        unit: "days" on an axis of dates or times, "" on one of numbers.
    """

    ks: float
    emd: float
    energy: float
    unit: str = ""

    def __str__(self) -> str:
        """One line with all three."""
        after = f" {self.unit}" if self.unit else ""
        root = f" sqrt({self.unit})" if self.unit else ""
        return f"KS {self.ks:.4g}, Earth Mover's {self.emd:.4g}{after}, energy {self.energy:.4g}{root}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"ks": self.ks, "emd": self.emd, "energy": self.energy, "unit": self.unit}


def distances(a: Any, b: Any, *, bounds: tuple[Any, Any] | None = None, between: str | None = None) -> Distances:
    """Compare two distribution functions.

    Each may be a released or exact `Curve`, a sample (an array of numbers or dates: its empirical distribution
    function), or a known distribution: anything with a `cdf` method, as those of scipy.stats, or a function. A known
    distribution is approximated by straight lines to within 1e-9 of a share. On an axis of dates its argument is in
    days, on an axis of times in microseconds, since 1970-01-01.

    Values outside the bounds count as clipped to them, as in a release.

    Args:
        a: The first distribution.
        b: The second distribution.
        bounds: Ends of the axis; those of a curve by default. Required for two known distributions, or a known one and
            a sample. Without bounds, samples are not clipped.
        between: Interpolation of a curve between thresholds: "steps" (constant: all mass lies on thresholds) or
            "lines" (linear: mass is uniform within a bin). By default "steps" on grids of integers and of dates, else
            "lines".

    Raises:
        ParameterError: the two are on different axes, bounds are missing or differ, a value is missing, a function is
            not a distribution function, or a curve is not defined.

    Privacy:
        Post-processing if both are released or public. With a sample of private records the result is not private.

    Example:
        >>> print(distances([0.0], [1.0]))
        KS 1, Earth Mover's 1, energy 1.414
    """
    if between is not None:
        among(between, "between", ("steps", "lines"))
    axis = axis_of(a, b, bounds)
    first, second = (form(item, axis, between) for item in (a, b))
    return compare(first, second, unit=axis.unit)


def compare(first: Piecewise, second: Piecewise, *, unit: str = "number") -> Distances:
    """The distances of two functions that are straight between their knots."""
    knots = np.union1d(first.knots, second.knots)
    one, two = first.at(knots), second.at(knots)
    left, right = one[0] - two[0], one[1] - two[1]
    start, end, widths = right[:-1], left[1:], np.diff(knots)
    size = np.abs(start) + np.abs(end)
    crossing = (start * end < 0) & (size > 0)
    area = np.where(crossing, (start**2 + end**2) / (2 * np.where(size > 0, size, 1)), size / 2)
    squares = (start**2 + start * end + end**2) / 3
    scale = {"number": 1.0, "date": 1.0}.get(unit, 86_400e6)
    return Distances(
        ks=float(max(np.abs(left).max(), np.abs(right).max())),
        emd=float(widths @ area) / scale,
        energy=math.sqrt(max(0.0, 2 * float(widths @ squares) / scale)),
        unit="" if unit == "number" else "days",
    )
