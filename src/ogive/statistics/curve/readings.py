"""What is read off a curve: shares of bins, quantiles and the points that a bisection visits, moments and shape."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ogive.columns.axis import jumps, to_labels, to_numbers
from ogive.columns.grids import Grid
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import any_whole
from ogive.errors import ParameterError
from ogive.statistics.curve.bands import Band
from ogive.statistics.curve.base import CurveBase
from ogive.strategies import OrthogonalProjection

# --- Bins: shares, quantiles, the mean, draws
#
# Between two thresholds nothing is known. Here mass is taken to lie uniformly in a bin of numbers
# or times, on the whole days of a bin of dates, and on the threshold itself where the grid is
# one of integers or the bin is a point.


@dataclass(frozen=True, eq=False)
class Histogram:
    """Differences of a curve between some of its thresholds.

    Fields:
        edges: Cuts as the user would write them, shape (bins + 1,). A bin holds what is above its
            lower and at most its upper edge; the first also what equals the grid's lower bound.
        shares: Share of the records in each bin, shape (bins,).
        counts: The same in records; an estimate, not a whole number.
    """

    edges: Any
    shares: Float64
    counts: Float64


class QuantileInterval(NamedTuple):
    """Ends between which true quantiles lie, all at once, with a stated confidence."""

    low: Any
    high: Any


def histogram(grid: Grid, probabilities: Float64, records: float, edges: Any) -> Histogram:
    """Sum the mass between edges: all thresholds (None), equal groups (a number of bins), or given ones."""
    cuts = np.concatenate(([-1], np.arange(grid.bins)))
    if edges is None:
        pass
    elif isinstance(edges, int | np.integer) and not isinstance(edges, bool):
        if not (1 <= edges <= grid.bins and grid.bins % edges == 0):
            raise ParameterError(f"the number of bins must divide {grid.bins}, the number of thresholds, got {edges}")
        cuts = np.arange(-1, grid.bins, grid.bins // int(edges))
    else:
        cuts = _cuts(grid, to_numbers(grid, edges))
    values = np.concatenate(([0.0], probabilities))
    shares = np.diff(values[cuts + 1])
    labels = to_labels(grid, np.concatenate(([grid.low], grid.thresholds))[cuts + 1])
    return Histogram(labels, shares, shares * records)


def _cuts(grid: Grid, numbers: Float64) -> Int64:
    """0-based thresholds of the edges; -1 for the grid's lower bound."""
    if numbers.ndim != 1 or len(numbers) < 2 or np.any(np.diff(numbers) <= 0):
        raise ParameterError("`edges` must be at least two increasing values")
    places = jumps(grid)
    nearest = np.clip(np.searchsorted(places, numbers), 0, grid.bins - 1)
    nearest -= (nearest > 0) & (np.abs(places[nearest - 1] - numbers) < np.abs(places[nearest] - numbers))
    # edges computed as `low + i * step` may miss a threshold by rounding
    known = np.isclose(places[nearest], numbers, rtol=1e-12, atol=1e-9 * (grid.high - grid.low) / grid.bins)
    if numbers[0] == grid.low:
        nearest[0], known[0] = -1, True
    if not known.all():
        wrong = numbers[~known][0]
        raise ParameterError(
            f"an edge must be a threshold of the grid, got {grid.label(wrong)}; "
            f"the nearest is {grid.label(places[nearest[~known][0]])}"
        )
    return np.asarray(nearest, dtype=np.int64)


def lower_ends(grid: Grid) -> Float64:
    """Where the mass of each bin begins, shape (N,): the threshold before, or the bin's own."""
    if grid.kind == "integers":
        return grid.thresholds
    return np.concatenate(([grid.low], grid.thresholds[:-1]))


def interval_bins(shares: Float64, band: Band) -> tuple[Int64, Int64]:
    """The bins between which a function inside a band reaches each share in [0, 1], same shape as `shares`."""
    # F is monotone, so each end may use the others; a band that crosses itself gives a point
    reachable = np.minimum.accumulate(band.high[::-1])[::-1]
    last = np.searchsorted(np.maximum.accumulate(band.low), shares, side="left")
    first = np.minimum(np.searchsorted(reachable, shares, side="left"), last)
    return first, last


def mean(grid: Grid, probabilities: Float64) -> float:
    """Expected value with the mass of a bin in its middle, as a number of the grid."""
    middles = (lower_ends(grid) + grid.thresholds) / 2
    return float(np.diff(probabilities, prepend=0.0) @ middles)


def draw(grid: Grid, probabilities: Float64, size: int, rng: np.random.Generator) -> Any:
    """Independent draws from the curve as the user would write them, shape (size,)."""
    any_whole(size, "size", 0)
    uniform = 1 - rng.random(size)
    bins = np.searchsorted(probabilities, uniform, side="left")
    low, high = lower_ends(grid)[bins], grid.thresholds[bins]
    numbers = high - rng.random(size) * (high - low)
    if grid.unit != "number":
        numbers = np.minimum(np.ceil(numbers), np.floor(high))
    return to_labels(grid, numbers)


# --- The inverse by bisection, which opens only the points it visits


def bisect_points(targets: Float64, *, size: int) -> Generator[Int64, Float64, Int64]:
    """Find for each target the first grid point whose value reaches it.

    All targets are searched together, so there are at most ceil(log2 size) rounds. The value
    at the last point is taken to be 1 and never asked for. On values that are not monotone the
    result is one crossing of the target.

    `targets`: Wanted probabilities, shape (k,).

    Yields:
        0-based points to evaluate, shape (j,), sorted and distinct; send back their values, shape (j,).

    Returns:
        0-based points, shape (k,).

    Source:
        The paper's Algorithm 1, on grid indices instead of the domain.
    """
    low = np.zeros(len(targets), dtype=np.int64)
    high = np.full(len(targets), size - 1, dtype=np.int64)
    while True:
        active = low < high
        if not active.any():
            return low
        middle = (low + high) // 2
        points = np.unique(middle[active])
        values = yield points
        below = np.zeros(len(targets), dtype=bool)
        below[active] = values[np.searchsorted(points, middle[active])] < targets[active]
        low = np.where(active & below, middle + 1, low)
        high = np.where(active & ~below, middle, high)


def bisect_domain(
    evaluate: Callable[[float], float], probability: float, *, low: float, high: float, precision: float
) -> float:
    """Invert by halving an interval of the domain until it is shorter than the precision.

    Source:
        The paper's Algorithm 1 as printed, for its figures; `bisect_points` is what releases use.
    """
    if not (precision > 0 and low < high):
        raise ParameterError(f"bisection needs low < high and a precision above 0, got {low}, {high} and {precision}")
    while high - low > precision:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if evaluate(middle) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


# --- Shape: groups of bins, quantiles, moments

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
        """Mean of the values to a power, from 1 to the highest order there is."""
        check_order(order, len(self.scaled))
        powers = np.concatenate(([1.0], self.scaled[:order]))
        reach = abs(self.middle) + self.half
        if reach and order * math.log10(reach) > _LARGEST:
            raise ParameterError(
                f"moment {order} of values up to {reach:.3g} is not a number any more; use larger units"
            )
        terms = (math.comb(order, i) * self.middle ** (order - i) * self.half**i * powers[i] for i in range(order + 1))
        return float(sum(terms))

    def __str__(self) -> str:
        """One line: mean and standard deviation; of dates and times a date, and days."""
        scale, days = {"number": (1.0, ""), "date": (1.0, " days")}.get(self.unit, (_DAY, " days"))
        mean = f"{self.mean:.6g}" if self.unit == "number" else Grid("linear", 0.0, 1.0, 1, self.unit).label(self.mean)
        noise = "" if self.mean_sd is None else f" (noise {self.mean_sd / scale:.2g}{days})"
        return f"mean {mean}{noise}, standard deviation {math.sqrt(self.variance) / scale:.6g}{days}"


def check_order(order: Any, most: int = MOST_ORDER) -> int:
    """Return an order of moments as it is."""
    return any_whole(order, "order", 1, most)


def moments(curve: CurveBase, order: int) -> CurveMoments:
    """Moments up to an order, from noisy coefficients where there are some, else from the curve."""
    curve.check_defined()
    order = max(check_order(order), 2)
    grid = curve.grid
    step = 0.5 if grid.kind == "integers" else 0.0
    middle, half = grid.low / 2 + grid.high / 2, grid.high / 2 - grid.low / 2 + step
    if half and 2 * math.log10(half) > _LARGEST:
        raise ParameterError(
            f"between bounds {2 * half:.3g} apart a variance is not a number any more; use larger units"
        )
    result = _from_coefficients(curve, order)
    if result is None:
        places = (((lower_ends(grid) + grid.thresholds) / 2) - middle) / (half or 1.0)
        weights = np.diff(curve.probabilities, prepend=0.0)
        scaled = np.array([float(weights @ places**power) for power in range(1, order + 1)])
        noise, excess = None, 0.0
    else:
        scaled, noise = result
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
        result = strategy.moments(curve.measured, curve.total)
    except ParameterError:
        return None  # noise left no records
    return np.asarray(result.values[:order]), np.asarray(result.noise_sd[:order])


def groups(grid: Grid, probabilities: Float64, bins: Any) -> tuple[Float64, Float64]:
    """Edges and shares of about equal groups of bins, as numbers of the grid."""
    wanted = min(DEFAULT_GROUPS, grid.bins) if bins is None else any_whole(bins, "bins", 1, grid.bins)
    cuts = np.rint(np.linspace(0, grid.bins, wanted + 1)).astype(np.int64)
    shares = np.diff(np.concatenate(([0.0], probabilities))[cuts])
    if grid.kind == "integers":
        return np.concatenate(([grid.low - 0.5], grid.thresholds + 0.5))[cuts], shares
    edges = np.concatenate(([grid.low], grid.thresholds))[cuts]
    if edges[0] == edges[1]:  # the first bin is a point
        edges[0] -= float(edges[-1] - edges[0]) / (10 * len(edges)) or 1.0
    return edges, shares
