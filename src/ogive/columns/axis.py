"""Between what a user writes on the axis of a curve (numbers, dates) and the numbers of its grid."""

from __future__ import annotations

from typing import Any

import numpy as np

from ogive.columns.grids import Grid
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import array_of, refuse_masked
from ogive.errors import ParameterError, quoted

_TICKS = {"date": "datetime64[D]", "datetime": "datetime64[us]"}


def to_numbers(grid: Grid, values: Any) -> Float64:
    """Numbers of the grid for whatever the user wrote, same shape.

    Infinite numbers are allowed. On a grid of dates a time of day is dropped: F at any time of a
    day is F at that day.
    """
    array = array_of(values)
    if array.dtype.kind == "M" and grid.unit != "number":
        if np.isnat(array).any():
            raise ParameterError("a curve has no value at a missing date")
        return array.astype(_TICKS[grid.unit]).astype(np.int64).astype(np.float64)
    if array.dtype.kind in "iuf":
        numbers: Float64 = array.astype(np.float64)
    else:
        numbers = np.array([_number(grid, value) for value in array.ravel()], dtype=np.float64).reshape(array.shape)
    if np.isnan(numbers).any():
        raise ParameterError("a curve has no value at NaN")
    return numbers


def band_steps(grid: Grid, low: Float64, high: Float64) -> tuple[Float64, Float64]:
    """A band around a distribution function as two step functions, which hold it between the thresholds too.

    From one threshold to the next the function is at least its value at the first, and at most its value at the next.
    On a grid of every day nothing lies between two thresholds.

    `low`: Lower end of the band at each threshold, shape (N,). `high`: Upper end at each threshold, shape (N,).

    Returns:
        Lower and upper end before the first threshold and from each threshold on, shape (N + 1,).
    """
    lower = np.concatenate(([0.0], low))
    if grid.kind == "integers" and grid.unit == "date":
        return lower, np.concatenate(([0.0], high))
    return lower, np.concatenate((high, [1.0]))


def _number(grid: Grid, value: Any) -> float:
    if isinstance(value, float) and not np.isfinite(value):
        return value
    return grid.number(value)


def to_labels(grid: Grid, numbers: Any) -> Any:
    """Numbers of the grid as the user would write them, dates and times rounded down.

    Returns:
        For one number a float, a date or a datetime; for an array one of float64, or of dates as
        objects, same shape.
    """
    array = np.asarray(numbers, dtype=np.float64)
    if grid.unit != "number":
        array = np.floor(array)
    if array.ndim == 0:
        return grid.label(float(array))
    if grid.unit == "number":
        return array
    labels = np.empty(array.shape, dtype=object)
    labels.ravel()[:] = [grid.label(number) for number in array.ravel().tolist()]
    return labels


def to_shares(p: Any, name: str = "p") -> Float64:
    """Shares as floats, same shape."""
    refuse_masked(p)
    try:
        shares = np.asarray(p, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"`{name}` must be numbers between 0 and 1, got {quoted(p)}") from None
    if not np.all((shares >= 0) & (shares <= 1)):
        raise ParameterError(f"`{name}` must be between 0 and 1, got {quoted(p)}")
    return shares


def jumps(grid: Grid) -> Float64:
    """Where the curve can rise, shape (N,): the thresholds; for dates and times, the last whole one up to each.

    Days and microseconds are whole, so F at a threshold between two days is F at the earlier day.
    """
    return grid.thresholds if grid.unit == "number" else np.floor(grid.thresholds)


def last_at_or_below(grid: Grid, numbers: Float64) -> Int64:
    """0-based index of the last threshold at or below each number, -1 where there is none."""
    return np.asarray(np.searchsorted(jumps(grid), numbers, side="right") - 1, dtype=np.int64)


def first_at_or_above(grid: Grid, numbers: Float64) -> Int64:
    """0-based index of the first threshold at or above each number, N where there is none."""
    return np.asarray(np.searchsorted(jumps(grid), numbers, side="left"), dtype=np.int64)


def plain(values: Any) -> Any:
    """A Python scalar for an array without dimensions, else the array."""
    return values.item() if np.ndim(values) == 0 and isinstance(values, np.ndarray | np.generic) else values
