"""Keys of 16 bits by which DuckDB groups numbers, as fast as by plain arithmetic, and the bin that each stands for.

A key is null for a missing number, and else 1 more than the bin; a key above the last means the last bin. Most numbers
have the key ceil(y), where y = (x - start) * scale + offset, or that of the logarithm of x on a geometric grid. A cast
that fails gives null where a number is NaN or outside, and for nulls alone the engine goes on to comparisons. Keys are
stored times the largest whole number for which 16 bits have room, so that the cast fails soon above the last bin.

Rounding makes ceil(y) wrong near some thresholds. So two of them are computed, for an offset a little smaller and a
little larger. Let a(x) <= b(x) be these. Both never fall where x grows, since each operation is monotone, rounding
included. If a <= k for the largest number of key k, and b >= k + 1 for the next number, for every k, then a number
with a = b has that key; numpy checks all k before the query is sent. A number with a < b is near threshold a, and is
compared with it. Where offsets that are equal pass the check, one ceil is enough. An engine's logarithms need not be
monotone: the check allows for an error of each that is larger than they have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import ibis
import numpy as np

from ogive.arrays import Float64
from ogive.columns import Binning
from ogive.grids import MAX_WHOLE, Grid
from ogive.records.cell_choice import MISSING
from ogive.records.engines.functions import function
from ogive.records.engines.numbers import double, whole

KEY_BITS = 17
"""Bits of a key or null."""

_KEY = "uint16"
_LARGEST = (1 << 16) - 1
_APART = 2.0**200
"""How often their difference is added where the two keys differ, so that the cast fails for numbers of any size."""

_CLOSEST, _FARTHEST = -40, -8
"""Powers of two between which the offsets may differ from their middle."""

_LOGARITHM = 2.0**-45
"""Relative error of an engine's logarithms at most; those of C libraries have about 2^-52."""


class Line(NamedTuple):
    """Keys ceil((x - start) * scale + offset), or the same of the logarithm of x.

    Fields:
        start: What is subtracted first.
        scale: Keys per unit.
        low, high: The two offsets.
    """

    start: float
    scale: float
    low: float
    high: float


def small_key(value: Any, grid: Grid, line: Line) -> Any:
    """The key of each number of an engine's column, times the step."""
    step = _step(grid)
    below = _key(value, grid, line, line.low)
    cases = [
        (value.isnull() | value.isnan(), ibis.null(_KEY)),
        (value <= _first(grid), ibis.literal(step, _KEY)),
    ]
    last = ibis.literal(grid.bins * step, _KEY)
    if line.low == line.high:
        return ibis.coalesce(_times(below, step).try_cast(_KEY), ibis.cases(*cases, else_=last))
    above = _key(value, grid, line, line.high)
    quick = (_times(below, step) + (above - below) * double(_APART)).try_cast(_KEY)
    up = (_threshold(below, grid) < value).ifelse(double(1), double(0))
    cases.append((value > double(float(grid.thresholds[-2])), last))
    return ibis.coalesce(quick, ibis.cases(*cases, else_=_times(below + up, step).cast(_KEY)))


def code_of_key(key: Any, grid: Grid) -> Any:
    """The code of `bins.with_codes` for a key."""
    number = key.cast("int64") // whole(_step(grid))
    return ibis.cases(
        (key.isnull(), whole(MISSING)),
        (number < whole(1), whole(0)),
        (number > whole(grid.bins), whole(grid.bins - 1)),
        else_=number - whole(1),
    )


def line_of(binning: Binning) -> Line | None:
    """A line that passes the check; None if there is none, or if a policy asks for more than bins."""
    grid = binning.grid
    if binning.outside == "refuse" or binning.fractions == "refuse" or not 2 < grid.bins < _LARGEST:
        return None
    match grid.kind:
        case "integers":
            return Line(0.0, 1.0, 1 - grid.low, 1 - grid.low) if 1 - grid.low < MAX_WHOLE else None
        case "linear":
            scale = grid.bins / (grid.high - grid.low)
            exact = Line(grid.low, scale, 0.0, 0.0)
            if _is_right(exact, grid, _exact):
                return exact
            return _widened(grid, scale, -grid.low * scale, _exact)
        case "geometric":
            scale = grid.bins / float(np.log(grid.high / grid.low))
            return _widened(grid, scale, -float(np.log(grid.low)) * scale, _logarithms)
        case _:
            return None


Read = Callable[[Float64], tuple[Float64, Float64]]
"""The least and the largest that an engine may find for some numbers, before arithmetic."""


def _exact(value: Float64) -> tuple[Float64, Float64]:
    return value, value


def _logarithms(value: Float64) -> tuple[Float64, Float64]:
    found = np.log(value)
    error = np.abs(found) * _LOGARITHM
    return found - error, found + error


def _widened(grid: Grid, scale: float, offset: float, read: Read) -> Line | None:
    """A line whose offsets are as near as the check allows."""
    for power in range(_CLOSEST, _FARTHEST):
        line = Line(0.0, scale, offset - 2.0**power, offset + 2.0**power)
        if _is_right(line, grid, read):
            return line
    return None


def _is_right(line: Line, grid: Grid, read: Read) -> bool:
    ends, keys = grid.thresholds[:-1], np.arange(1, grid.bins)
    largest, next_least = read(ends)[1], read(np.nextafter(ends, np.inf))[0]
    below = np.ceil((largest - line.start) * line.scale + line.low)
    above = np.ceil((next_least - line.start) * line.scale + line.high)
    return bool(np.all(below <= keys) and np.all(above > keys))


def _step(grid: Grid) -> int:
    return _LARGEST // grid.bins


def _first(grid: Grid) -> Any:
    return double(float(grid.thresholds[0]))


def _ceil(number: Any) -> Any:
    return function("ceil", "float64", returns="float64")(number)


def _key(value: Any, grid: Grid, line: Line, offset: float) -> Any:
    if grid.kind == "integers":
        return _plus(_ceil(value), offset)
    if grid.kind == "geometric":  # DuckDB fails for logarithms of zero and less
        value = ibis.cases((value > _first(grid), value), else_=ibis.null("float64")).ln()
    return _ceil(_plus(_plus(value, -line.start) * double(line.scale), offset))


def _times(number: Any, step: int) -> Any:
    return number if step == 1 else number * double(step)


def _plus(value: Any, offset: float) -> Any:
    return value if offset == 0 else value + double(offset)


def _threshold(key: Any, grid: Grid) -> Any:
    """The largest number of a key of any bin but the last."""
    if grid.kind == "linear":
        return double(grid.low) + double(grid.high - grid.low) * (key / double(grid.bins))
    # a text, since DuckDB copies a list once for every few rows
    written = [f"{end:.16e}" for end in grid.thresholds.tolist()]
    width = max(map(len, written))
    text = ibis.literal("".join(each.ljust(width) for each in written))
    return text.substr((key.cast("int64") - whole(1)) * whole(width), width).strip().cast("float64")
