"""From Arrow arrays to sums per bin, in exact agreement with `Grid.bin_of`.

Inside, a column is float64 with NaN for every missing value. Numbers of more than
53 bits are read as their nearest float64, times as microseconds (exact for the years 1685 to 2255).
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ogive.grids import Grid

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

MICROSECONDS_PER_DAY = 86_400_000_000


def kind_of(arrow_type: Any) -> str | None:
    """The grid unit that fits an Arrow type: "number", "date" or "datetime"; None where nothing fits."""
    if pa.types.is_dictionary(arrow_type):
        return kind_of(arrow_type.value_type)
    if (
        pa.types.is_integer(arrow_type)
        or pa.types.is_floating(arrow_type)
        or pa.types.is_boolean(arrow_type)
        or pa.types.is_decimal(arrow_type)
    ):
        return "number"
    if pa.types.is_date(arrow_type):
        return "date"
    if pa.types.is_timestamp(arrow_type):
        return "datetime"
    return None


def type_words(arrow_type: Any) -> str:
    """What a column of this Arrow type holds, in words for an error message."""
    types = pa.types
    if types.is_dictionary(arrow_type):
        return type_words(arrow_type.value_type)
    match kind_of(arrow_type):
        case "number":
            return "numbers"
        case "date":
            return "dates"
        case "datetime":
            return "times"
    if types.is_null(arrow_type):
        return "no values at all"
    if types.is_string(arrow_type) or types.is_large_string(arrow_type) or types.is_string_view(arrow_type):
        return "text"
    return f"values of type {arrow_type}"


def float_values(array: Any, unit: str) -> Float64:
    """A column's values as numbers of a grid.

    Args:
        array: Arrow array of a type whose `kind_of` is `unit`, or dates where unit is "datetime".
        unit: The grid's unit.

    Returns:
        Float64, NaN where the value is missing; a view of the column where no conversion is needed.
    """
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if pa.types.is_date(kind):
        days = _whole(array) if pa.types.is_date32(kind) else _whole(array) // 86_400_000
        return _with_missing(array, days.astype(np.float64) * (MICROSECONDS_PER_DAY if unit == "datetime" else 1))
    if pa.types.is_timestamp(kind):
        ticks = _whole(array)
        if kind.unit == "ns":
            return _with_missing(array, (ticks // 1000).astype(np.float64))
        return _with_missing(array, ticks.astype(np.float64) * {"s": 1e6, "ms": 1e3, "us": 1.0}[kind.unit])
    if pa.types.is_decimal(kind):
        # by way of text, the only conversion that rounds to the nearest float
        array = pc.cast(array, pa.string())
    elif pa.types.is_boolean(kind):
        array = pc.cast(array, pa.uint8())
    floats: Float64 = pc.cast(array, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return floats


def _whole(array: Any) -> Int64:
    """Dates and times as the integers that Arrow stores; what is missing is 0."""
    width = pa.int32() if pa.types.is_date32(array.type) else pa.int64()
    whole: Int64 = array.view(width).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return whole


def _with_missing(array: Any, floats: Float64) -> Float64:
    if array.null_count:
        floats[array.is_null().to_numpy(zero_copy_only=False)] = np.nan
    return floats


def add_counts(counts: Int64, values: Float64, grid: Grid) -> int:
    """Add the bins of some values to `counts`, in place.

    Args:
        counts: Bin counts so far, shape (bins,).
        values: Any floats; infinities are clipped to the grid's bounds like every other value outside.
        grid: Thresholds; the bin of a value is exactly `grid.bin_of(value)`.

    Returns:
        How many values were NaN, which are not counted.
    """
    return int(_count(values, grid.thresholds, _per_unit(grid), counts))


def add_class_counts(
    counts: Int64, values: Float64, classes: NDArray[np.uint8] | NDArray[np.uint16], grid: Grid
) -> Int64:
    """Add the bins of some values to the counts of their classes, in place.

    Args:
        counts: Counts so far, shape (classes, bins); of two classes the negative one first.
        values: As for `add_counts`.
        classes: Number of each value's class: of two classes 1 for the positive one, else 0.
        grid: Thresholds.

    Returns:
        How many values of each class were NaN, which are not counted; shape (classes,).
    """
    missing: Int64 = _count_classes(values, classes, grid.thresholds, _per_unit(grid), counts)
    return missing


def add_group_sums(
    sums: Int64, values: Float64, positive: NDArray[np.uint8], grid: Grid, substitute: float, bits: int
) -> int:
    """Add some probabilities and labels to the sums of their groups, in place and exactly.

    Args:
        sums: Sums so far, shape (4, groups); see `GroupSums`.
        values: Probabilities; those outside [0, 1] are clipped.
        positive: 1 for each record of the positive class, else 0.
        grid: Upper ends of the groups.
        substitute: What a missing probability stands for; NaN leaves it out.
        bits: Fractional bits of the expected sums.

    Returns:
        How many probabilities were missing and left out.
    """
    return int(_sum_groups(values, positive, grid.thresholds, _per_unit(grid), substitute, float(1 << bits), sums))


def _per_unit(grid: Grid) -> float:
    """Bins per unit of an even grid; 0 where bins must be searched for."""
    first, last = float(grid.thresholds[0]), float(grid.thresholds[-1])
    if grid.kind in ("linear", "integers") and first < last:
        per_unit = (grid.bins - 1) / (last - first)
        if per_unit < math.inf:  # else the grid is so narrow that the arithmetic overflows
            return per_unit
    return 0.0


@numba.njit(cache=True, nogil=True)
def _bin(value: float, thresholds: Float64, per_unit: float) -> int:
    """The first threshold at or above a value, or the last: guessed by arithmetic on an even grid, else by bisection.

    A guess is moved to where the comparisons with the thresholds hold.
    """
    last = len(thresholds) - 1
    if value <= thresholds[0]:
        return 0
    if value >= thresholds[last]:
        return last
    if per_unit > 0:
        guess = min(int((value - thresholds[0]) * per_unit) + 1, last)
        while thresholds[guess] < value:
            guess += 1
        while guess > 0 and thresholds[guess - 1] >= value:
            guess -= 1
        return guess
    first, end = 0, last
    while first < end:
        middle = (first + end) >> 1
        if thresholds[middle] < value:
            first = middle + 1
        else:
            end = middle
    return first


@numba.njit(cache=True, nogil=True)
def _count(values: Float64, thresholds: Float64, per_unit: float, counts: Int64) -> int:
    missing = 0
    for i in range(len(values)):
        if np.isnan(values[i]):
            missing += 1
        else:
            counts[_bin(values[i], thresholds, per_unit)] += 1
    return missing


@numba.njit(cache=True, nogil=True)
def _count_classes(
    values: Float64,
    classes: NDArray[np.uint8] | NDArray[np.uint16],
    thresholds: Float64,
    per_unit: float,
    counts: Int64,
) -> Int64:
    missing = np.zeros(len(counts), dtype=np.int64)
    for i in range(len(values)):
        if np.isnan(values[i]):
            missing[classes[i]] += 1
        else:
            counts[classes[i], _bin(values[i], thresholds, per_unit)] += 1
    return missing


@numba.njit(cache=True, nogil=True)
def _sum_groups(
    values: Float64,
    positive: NDArray[np.uint8],
    thresholds: Float64,
    per_unit: float,
    substitute: float,
    one: float,
    sums: Int64,
) -> int:
    missing = 0
    for i in range(len(values)):
        value = values[i]
        if np.isnan(value):
            value = substitute
        if np.isnan(value):
            missing += 1
            continue
        value = min(max(value, 0.0), 1.0)
        group = _bin(value, thresholds, per_unit)
        expected = np.int64(np.rint(value * one))
        sums[0, group] += np.int64(one) - expected
        sums[1, group] += expected
        sums[2 + positive[i], group] += 1
    return missing
