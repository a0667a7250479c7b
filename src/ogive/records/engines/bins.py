"""The bin of each number, as `Grid.bin_of` computes it, on any engine.

A number at or below the first threshold, or above the last but one, is in the first or last bin. For the others there
are three ways. All of them are exact, and none compares a number with more than a few thresholds.

- On a grid of integers the bin is ceil(x) - low: floats without rounding.
- On an even grid g = ceil((x - low) * scale) - 1 is nearly the bin. It never falls where x grows, since each operation
  is monotone, rounding included. So when it is at most 1 off at the smallest and at the largest number of every bin,
  which numpy checks, it is at most 1 off everywhere, and comparisons with the thresholds g and g - 1, computed by the
  operations that numpy computes them by, put it right.
- On any other grid a similar expression, of one of a few pieces of the grid, is looked up in a table of thresholds that
  is part of the question. It is monotone too, so the bins of the numbers with one key are those between the keys of
  their smallest and largest numbers.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import ibis
import numpy as np

from ogive.arrays import Float64, Int64
from ogive.columns import Binning
from ogive.errors import ParameterError, quoted
from ogive.grids import Grid
from ogive.records.cell_choice import ABOVE, BELOW, FRACTION, MISSING, WHOLE_FLOATS
from ogive.records.engines.numbers import double, whole

MOST_LISTED = 1 << 16
"""Thresholds that are no arithmetic sequence, at most, since the question itself holds them."""

_AT_ONCE = 3
"""Thresholds that a number is compared with once it was looked up."""
_MOST_PIECES = 64
_PER_BIN = 2


def with_codes(table: Any, x: str, name: str, binning: Binning) -> Any:
    """A table with another column: the bin of each number, or why it has none.

    Args:
        table: Of an engine.
        x: Name of its column of numbers, null or NaN where missing.
        name: Of the new column; names that begin with it are used on the way.
        binning: The grid, and which numbers must be told apart since a policy refuses them.

    Returns:
        The table, with a column of whole numbers: 0 to bins - 1, `MISSING`, or where they are refused `BELOW`, `ABOVE`
        and `FRACTION`.

    Raises:
        ParameterError: the grid has too many thresholds that are no arithmetic sequence.
    """
    grid = binning.grid
    table, inner = _inner(table, x, name, grid)
    value = table[x]
    cases = [(value.isnull() | value.isnan(), whole(MISSING))]
    if binning.outside == "refuse":
        cases += [(value < double(grid.low), whole(BELOW)), (value > double(grid.high), whole(ABOVE))]
    if binning.fractions == "refuse":
        small = value.abs() < double(WHOLE_FLOATS)
        cases.append((small & (value.floor() < value), whole(FRACTION)))
    if grid.bins == 1:
        return table.mutate(**{name: ibis.cases(*cases, else_=whole(0))})
    first, last = double(float(grid.thresholds[0])), double(float(grid.thresholds[-2]))
    inside = ((value > first) & (value <= last), inner)  # of no null, and of no NaN, which is above all numbers
    # most numbers are inside, so that is asked first, unless fractions are told apart there
    cases = [*cases, inside] if binning.fractions == "refuse" else [inside, *cases]
    cases.append((value <= first, whole(0)))
    return table.mutate(**{name: ibis.cases(*cases, else_=whole(grid.bins - 1))})


def representatives(codes: Int64, binning: Binning) -> Float64:
    """A number of each code, which policies treat as they treat every number of that code."""
    grid = binning.grid
    found = grid.thresholds[np.maximum(codes, 0)]
    for code, value in ((MISSING, math.nan), (BELOW, -math.inf), (ABOVE, math.inf), (FRACTION, grid.low + 0.5)):
        found = np.where(codes == code, value, found)
    return found


def _inner(table: Any, x: str, name: str, grid: Grid) -> tuple[Any, Any]:
    """The table, perhaps with more columns, and the bin of a number of the bins 1 to N - 2."""
    value = table[x]
    if grid.bins <= 2:
        return table, whole(0)
    if grid.kind == "integers":
        return table, (value.ceil() - double(grid.low)).cast("int64")
    if grid.kind == "linear" and (even := _even(value, grid)) is not None:
        return table, even
    return _looked_up(table, x, name, grid)


def _ends(grid: Grid) -> tuple[Float64, Float64]:
    """The smallest and the largest number of each of the bins 1 to N - 2."""
    return np.nextafter(grid.thresholds[:-2], np.inf), grid.thresholds[1:-1]


def _even(value: Any, grid: Grid) -> Any | None:
    """The bin by arithmetic; None where that is more than 1 off somewhere."""
    low, span, bins = grid.low, grid.high - grid.low, grid.bins
    scale = bins / span
    if not math.isfinite(scale):
        return None
    expected = np.arange(1, bins - 1)
    wrong = [np.abs(np.ceil((each - low) * scale) - 1.0 - expected).max() for each in _ends(grid)]
    if max(wrong) > 1:
        return None
    above = ((value - double(low)) * double(scale)).ceil()
    if max(wrong) == 0:
        return above.cast("int64") - whole(1)
    guess = above.cast("float64") - double(1)

    def threshold(of: Any) -> Any:
        return double(low) + double(span) * ((of + double(1)) / double(bins))

    up = (threshold(guess) < value).ifelse(double(1), double(0))
    down = (threshold(guess - double(1)) >= value).ifelse(double(1), double(0))
    return (guess + up - down).cast("int64")


class Piece(NamedTuple):
    """Some bins in a row, in which keys are `first + floor((x - start) * scale)`.

    Fields:
        end: The largest number.
        start: The smallest number.
        scale: Keys per unit.
        first: The first key.
        lowest: The smallest bin of each key, shape (keys,).
    """

    end: float
    start: float
    scale: float
    first: int
    lowest: Int64


def pieces(grid: Grid) -> list[Piece]:
    """Divide the bins 1 to N - 2 so that the numbers of one key are in a few bins.

    Raises:
        ParameterError: there are too many thresholds, or they are spread too unevenly.
    """
    if grid.bins > MOST_LISTED:
        raise ParameterError(
            f"a grid of {grid.bins} thresholds that are not evenly spaced is too long for an engine; use at most "
            f"{MOST_LISTED}, or `grid='linear'`",
            parameter="bins",
        )
    smallest, largest = _ends(grid)
    found: list[Piece] = []
    waiting = [(0, grid.bins - 2)]
    while waiting:
        first, end = waiting.pop()
        start, last = float(smallest[first]), float(largest[end - 1])
        scale = _PER_BIN * (end - first) / (last - start) if end - first > _AT_ONCE and last > start else 0.0
        if math.isfinite(scale):
            froms = np.floor((smallest[first:end] - start) * scale).astype(np.int64)
            keys = np.arange(int(np.floor((last - start) * scale)) + 1)
            tos = np.floor((largest[first:end] - start) * scale).astype(np.int64)
            lowest = np.searchsorted(tos, keys)  # the first bin that reaches a key
            if int((np.searchsorted(froms, keys, side="right") - lowest).max()) <= _AT_ONCE:
                before = found[-1].first + len(found[-1].lowest) if found else 0
                found.append(Piece(last, start, scale, before, lowest + first + 1))
                continue
        middle = (first + end) // 2
        waiting += [(middle, end), (first, middle)]
    if len(found) > _MOST_PIECES:
        raise ParameterError(
            f"the thresholds from {quoted(grid.label(grid.low))} to {quoted(grid.label(grid.high))} are spread too "
            "unevenly for an engine; use fewer, or `grid='linear'`",
            parameter="bins",
        )
    return found


def _looked_up(table: Any, x: str, name: str, grid: Grid) -> tuple[Any, Any]:
    """The bin by a table of the thresholds that are near."""
    divided, value = pieces(grid), table[x]
    inside = (value > double(float(grid.thresholds[0]))) & (value <= double(float(grid.thresholds[-2])))
    keys = [
        (value <= double(each.end), whole(each.first) + ((value - double(each.start)) * double(each.scale)).floor())
        for each in divided
    ]
    key = ibis.cases((inside, ibis.cases(*keys, else_=whole(0)).cast("int64")), else_=whole(-1))
    near = _near(np.concatenate([each.lowest for each in divided]), name, grid)
    table = table.mutate(**{f"{name}_key": key}).left_join(near, f"{name}_key")
    found = table[f"{name}_lowest"]
    for number in range(_AT_ONCE - 1):
        found += (table[f"{name}_{number}"] < table[x]).ifelse(whole(1), whole(0))
    return table, found


def _near(lowest: Int64, name: str, grid: Grid) -> Any:
    """A table of each key, with its smallest bin and the thresholds that end that bin and the next ones.

    It is a text in the question, which every engine takes apart, so that nothing is written to the engine.
    """
    ends = [grid.thresholds[np.minimum(lowest + number, grid.bins - 1)].tolist() for number in range(_AT_ONCE - 1)]
    rows = zip(range(len(lowest)), lowest.tolist(), *ends, strict=True)
    text = ";".join(",".join(map(repr, row)) for row in rows)
    taken = ibis.literal(text).split(";").unnest().name("row").as_table()
    fields = taken.select(fields=taken.row.split(",")).fields
    return fields.as_table().select(
        **{f"{name}_key": fields[0].cast("int64"), f"{name}_lowest": fields[1].cast("int64")},
        **{f"{name}_{number}": fields[2 + number].cast("float64") for number in range(_AT_ONCE - 1)},
    )
