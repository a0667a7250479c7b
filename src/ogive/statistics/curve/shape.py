"""What a curve says about the shape of a distribution: groups of bins, quantiles beside another's, moments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ogive.arrays import Float64
from ogive.checks import any_whole
from ogive.errors import ParameterError
from ogive.grids import Grid
from ogive.statistics.curve.base import CurveBase
from ogive.statistics.curve.bins import lower_ends
from ogive.strategies import OrthogonalProjection

DEFAULT_GROUPS = 30
MOST_ORDER = 15
_DAY = 86_400e6  # in microseconds
_LARGEST = 300  # digits before the point of what is still a number


@dataclass(frozen=True, eq=False)
class CurveMoments:
    """Moments of a distribution, of values clipped to the bounds.

    Fields:
        scaled: Means of u, u^2, ..., u^order, where u runs from -1 to 1 over the bounds, shape (order,).
        noise_sd: Standard deviations of the noise in them; None where they were read off the smoothed curve, whose
            moments have no known law.
        mean: In units of the axis; for dates in days, for times in microseconds, since 1970-01-01.
        variance: In squares of these units, at least 0.
        middle, half: The value at u = 0, and what u = 1 is above it.
        unit: "number", "date" or "datetime".

    With `noise_sd` they come from the noisy coefficients themselves and are unbiased, but for the width of a bin: the
    square of a noisy mean is too large by the variance of its noise, which is taken off in `variance`.
    """

    scaled: Float64
    noise_sd: Float64 | None
    mean: float
    variance: float
    middle: float
    half: float
    unit: str = "number"

    @property
    def mean_sd(self) -> float | None:
        """Standard deviation of the noise in the mean, in units of the axis."""
        return None if self.noise_sd is None else self.half * float(self.noise_sd[0])

    def raw(self, order: int) -> float:
        """Mean of the values to a power, from 1 to the highest order there is.

        Raises:
            ParameterError: the order is another, or the moment is too large for a number.
        """
        check_order(order, len(self.scaled))
        powers = np.concatenate(([1.0], self.scaled[:order]))
        reach = abs(self.middle) + self.half
        if reach and order * math.log10(reach) > _LARGEST:
            raise ParameterError(f"moment {order} of values up to {reach:.3g} is no number any more; use larger units")
        terms = (math.comb(order, i) * self.middle ** (order - i) * self.half**i * powers[i] for i in range(order + 1))
        return float(sum(terms))

    def __str__(self) -> str:
        """One line: mean and standard deviation; of dates and times a date, and days."""
        scale, days = {"number": (1.0, ""), "date": (1.0, " days")}.get(self.unit, (_DAY, " days"))
        mean = f"{self.mean:.6g}" if self.unit == "number" else Grid("linear", 0.0, 1.0, 1, self.unit).label(self.mean)
        noise = "" if self.mean_sd is None else f" (noise {self.mean_sd / scale:.2g}{days})"
        return f"mean {mean}{noise}, standard deviation {math.sqrt(self.variance) / scale:.6g}{days}"


def check_order(order: Any, most: int = MOST_ORDER) -> int:
    """Return an order of moments as it is.

    Raises:
        ParameterError: it is no whole number from 1 to `most`.
    """
    return any_whole(order, "order", 1, most)


def moments(curve: CurveBase, order: int) -> CurveMoments:
    """Moments up to an order, from noisy coefficients where there are some, else from the curve.

    Raises:
        ParameterError: the order is out of range, noise left no records, or the bounds are too wide for a variance.
    """
    curve.check_defined()
    order = max(check_order(order), 2)
    grid = curve.grid
    step = 0.5 if grid.kind == "integers" else 0.0
    middle, half = grid.low / 2 + grid.high / 2, grid.high / 2 - grid.low / 2 + step
    if half and 2 * math.log10(half) > _LARGEST:
        raise ParameterError(f"between bounds {2 * half:.3g} apart a variance is no number any more; use larger units")
    found = _from_coefficients(curve, order)
    if found is None:
        places = (((lower_ends(grid) + grid.thresholds) / 2) - middle) / (half or 1.0)
        weights = np.diff(curve.probabilities, prepend=0.0)
        scaled = np.array([float(weights @ places**power) for power in range(1, order + 1)])
        noise, excess = None, 0.0
    else:
        scaled, noise = found
        excess = float(noise[0]) ** 2
    variance = half**2 * max(0.0, float(scaled[1] - scaled[0] ** 2) + excess)
    return CurveMoments(scaled, noise, middle + half * float(scaled[0]), variance, middle, half, grid.unit)


def _from_coefficients(curve: CurveBase, order: int) -> tuple[Float64, Float64] | None:
    """Unbiased moments and the deviation of their noise, where the curve is a Legendre projection of enough degree."""
    strategy = curve.strategy
    if not isinstance(strategy, OrthogonalProjection) or curve.measured is None:
        return None
    if strategy.basis != "legendre" or order > strategy.degree + 1 or curve.grid.kind not in ("linear", "integers"):
        return None
    try:
        found = strategy.moments(curve.measured, curve.total)
    except ParameterError:
        return None  # noise left no records
    return np.asarray(found.values[:order]), np.asarray(found.noise_sd[:order])


def groups(grid: Grid, probabilities: Float64, bins: Any) -> tuple[Float64, Float64]:
    """Edges and shares of about equal groups of bins, as numbers of the grid.

    Raises:
        ParameterError: the number of groups is no whole number from 1 to that of the thresholds.
    """
    wanted = min(DEFAULT_GROUPS, grid.bins) if bins is None else any_whole(bins, "bins", 1, grid.bins)
    cuts = np.rint(np.linspace(0, grid.bins, wanted + 1)).astype(np.int64)
    shares = np.diff(np.concatenate(([0.0], probabilities))[cuts])
    if grid.kind == "integers":
        return np.concatenate(([grid.low - 0.5], grid.thresholds + 0.5))[cuts], shares
    edges = np.concatenate(([grid.low], grid.thresholds))[cuts]
    if edges[0] == edges[1]:  # the first bin is a point
        edges[0] -= float(edges[-1] - edges[0]) / (10 * len(edges)) or 1.0
    return edges, shares
