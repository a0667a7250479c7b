"""What a curve says about bins: shares between thresholds, in which bin a quantile lies, the mean, draws from it.

Between two thresholds nothing is known. Here mass is taken to lie uniformly in a bin of numbers
or times, on the whole days of a bin of dates, and on the threshold itself where the grid is
one of integers or the bin is a point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.axis import jumps, to_labels, to_numbers
from ogive.checks import any_whole
from ogive.errors import ParameterError
from ogive.grids import Grid
from ogive.statistics.curve.bands.simultaneous import Band


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
    """Sum the mass between edges: all thresholds (None), every so many (a number of bins), or given ones.

    Raises:
        ParameterError: edges do not increase or are not thresholds, or their number does not divide N.
    """
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


def quantile_interval(shares: Float64, band: Band) -> QuantileInterval:
    """Ends between which a distribution function inside a band reaches each share, by inverting the band.

    Args:
        shares: In [0, 1], any shape.
        band: Holds the whole function.
    """
    grid = band.grid
    first, last = interval_bins(shares, band)
    return QuantileInterval(to_labels(grid, lower_ends(grid)[first]), to_labels(grid, grid.thresholds[last]))


def interval_bins(shares: Float64, band: Band) -> tuple[Int64, Int64]:
    """The bins in which `quantile_interval` begins and ends, same shape as `shares`."""
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
    """Independent draws from the curve as the user would write them, shape (size,).

    Raises:
        ParameterError: size is not a whole number of at least 0.
    """
    any_whole(size, "size", 0)
    uniform = 1 - rng.random(size)
    bins = np.searchsorted(probabilities, uniform, side="left")
    low, high = lower_ends(grid)[bins], grid.thresholds[bins]
    numbers = high - rng.random(size) * (high - low)
    if grid.unit != "number":
        numbers = np.minimum(np.ceil(numbers), np.floor(high))
    return to_labels(grid, numbers)
