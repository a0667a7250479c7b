"""From Arrow arrays to bin counts, in chunks of bounded size and in exact agreement with `Grid.bin_of`.

Inside, a column is float64 with NaN for every missing value. Numbers of more than
53 bits are read as their nearest float64, times as microseconds (exact for the years 1685 to 2255).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ogive.grids import Grid

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

CHUNK_ROWS = 1 << 20
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


def float_chunks(array: Any, unit: str) -> Iterator[Float64]:
    """A column's values as numbers of a grid, a bounded number of rows at a time.

    Args:
        array: Arrow array of a type whose `kind_of` is `unit`, or dates where unit is "datetime".
        unit: The grid's unit.

    Returns:
        Float64 arrays, NaN where the value is missing; views of the column where no conversion is needed.
    """
    for start in range(0, len(array), CHUNK_ROWS):
        yield _floats(array.slice(start, CHUNK_ROWS), unit)


def _floats(array: Any, unit: str) -> Float64:
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
    first, last = float(grid.thresholds[0]), float(grid.thresholds[-1])
    if grid.kind in ("linear", "integers") and first < last:
        per_unit = (grid.bins - 1) / (last - first)
        if 0 < per_unit < math.inf:  # else the grid is so wide or so narrow that the arithmetic overflows
            return int(_count_even(values, grid.thresholds, per_unit, counts))
    return int(_count_searching(values, grid.thresholds, counts))


@numba.njit(cache=True, nogil=True)
def _count_even(values: Float64, thresholds: Float64, per_unit: float, counts: Int64) -> int:
    """Guess the bin by arithmetic, then move to where the comparisons with the thresholds hold."""
    last = len(thresholds) - 1
    low = thresholds[0]
    high = thresholds[last]
    missing = 0
    for i in range(len(values)):
        value = values[i]
        if np.isnan(value):
            missing += 1
            continue
        if value <= low:
            counts[0] += 1
            continue
        if value >= high:
            counts[last] += 1
            continue
        guess = min(int((value - low) * per_unit) + 1, last)
        while thresholds[guess] < value:
            guess += 1
        while guess > 0 and thresholds[guess - 1] >= value:
            guess -= 1
        counts[guess] += 1
    return missing


@numba.njit(cache=True, nogil=True)
def _count_searching(values: Float64, thresholds: Float64, counts: Int64) -> int:
    """Find the first threshold at or above each value by bisection."""
    last = len(thresholds) - 1
    missing = 0
    for i in range(len(values)):
        value = values[i]
        if np.isnan(value):
            missing += 1
            continue
        first, end = 0, last
        while first < end:
            middle = (first + end) >> 1
            if thresholds[middle] < value:
                first = middle + 1
            else:
                end = middle
        counts[first] += 1
    return missing
