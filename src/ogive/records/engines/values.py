"""Values of an engine's column as numbers of a grid and as bins: expressions that give what numpy gives."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import ibis
import numpy as np
import pyarrow as pa

from ogive.columns import Binning
from ogive.columns.categories import BLANKS
from ogive.columns.grids import MAX_WHOLE, MICROSECONDS_PER_DAY, Grid
from ogive.core.arrays import Float64, Int64
from ogive.errors import ParameterError, quoted
from ogive.records.bounding import ABOVE, BELOW, FRACTION, MISSING, WHOLE_FLOATS
from ogive.records.cells import kind_of

# --- Functions of engines that ibis has no name for


def function(name: str, *kinds: Any, returns: Any) -> Any:
    """A function of an engine, of one or two parameters of these kinds."""
    parameters = _of_one if len(kinds) == 1 else _of_two
    return ibis.udf.scalar.builtin(parameters, name=name, signature=(kinds, returns))


def as_text(column: Any, engine: str | None) -> Any:
    """A column of labels as text; on PostgreSQL some types, such as enumerations, are texts that few functions take."""
    text = column.cast("string")
    return text + "" if engine == "postgres" else text


def stripped(text: Any, engine: str | None) -> Any:
    """A text without the blanks around it."""
    if (
        engine == "postgres"
    ):  # bytes as digits, since a database may have no such letters, and some collations no patterns
        blanks = "|".join(each.encode().hex() for each in BLANKS)
        digits = function("encode", "binary", "string", returns="string")(utf8(text, engine), "hex")
        digits = digits.re_replace(f"^(?:{blanks})+|(?:{blanks})+$", "")
        stored = function("decode", "string", "string", returns="binary")(digits, "hex")
        return function("convert_from", "binary", "string", returns="string")(stored, "UTF8")
    blanks = BLANKS
    if engine == "pyspark":  # whose literals hold no controls
        blanks = "".join(f"\\u{ord(each):04x}" for each in BLANKS)
    return text.re_replace(f"^[{blanks}]+|[{blanks}]+$", "")


def utf8(text: Any, engine: str) -> Any:
    """The UTF-8 bytes of a text. Columns may be declared to take capitals for small letters, and bytes are not."""
    match engine:
        case "duckdb":
            return function("encode", "string", returns="binary")(text)
        case "postgres":  # of whose types some are texts that no function takes, but the end of another text
            return function("convert_to", "string", "string", returns="binary")(text + "", "UTF8")
        case _:
            return function("encode", "string", "string", returns="binary")(text, "UTF-8")


def _of_one(first: Any) -> None: ...


def _of_two(first: Any, second: Any) -> None: ...


# --- Values as numbers of a grid
#
# These expressions give what `records.cells.float_values` computes. Only operations are used that IEEE 754 defines, on
# constants that are written with all their digits, so that every engine gets the floats that numpy gets.

_FIRST, _LAST = (1, 1, 1), (9999, 12, 31)
"""Days between which bounds and public values lie, or just after the last."""


def double(value: float) -> Any:
    """A constant of 64 bits, by way of text, since engines read numerals as decimal numbers."""
    endless = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return ibis.literal(repr(float(value)) if math.isfinite(value) else endless).cast("float64")


def whole(value: int) -> Any:
    """A constant whole number of 64 bits."""
    return ibis.literal(value, "int64")


def number(column: Any, arrow_type: Any, unit: str, named: Sequence[float] = (), *, keep_nan: bool = False) -> Any:
    """The numbers of a column, float64; null where a value is missing, NaN or one of those that mean that it is.

    `arrow_type`: What it holds, of which `kind_of` is the unit, or the other of "date" and "datetime". `unit`: The
    grid's unit.
    """
    result = _number(column, arrow_type, unit)
    if kind_of(arrow_type) == "number" and not keep_nan:
        result = result.isnan().ifelse(ibis.null("float64"), result)
    return result.isin([double(value) for value in named]).ifelse(ibis.null("float64"), result) if named else result


def _number(column: Any, arrow_type: Any, unit: str) -> Any:
    if pa.types.is_date(arrow_type):
        days = column.delta(ibis.date(1970, 1, 1), unit="day").cast("float64")
        result = days * double(MICROSECONDS_PER_DAY) if unit == "datetime" else days
        return _endless(column, ibis.date(*_FIRST), ibis.date(*_LAST), result)
    if pa.types.is_timestamp(arrow_type):
        zone = "UTC" if arrow_type.tz is not None else None

        def moment(year: int, month: int, day: int) -> Any:
            return ibis.timestamp(datetime.datetime(year, month, day).isoformat(), timezone=zone)

        ticks = column.delta(moment(1970, 1, 1), unit="microsecond")
        result = ticks.cast("float64") if unit == "datetime" else _days(ticks)
        return _endless(column, moment(*_FIRST), moment(*_LAST), result)
    if pa.types.is_boolean(arrow_type):
        return ibis.cases((column, double(1)), (~column, double(0)), else_=ibis.null("float64"))
    if pa.types.is_decimal(arrow_type):
        column = column.cast("string")  # by way of text, the only conversion that rounds to the nearest float
    return column.cast("float64")


def _days(ticks: Any) -> Any:
    """The day of a number of microseconds: the floor of the quotient, which engines round in other ways."""
    day = whole(MICROSECONDS_PER_DAY)
    past = ticks % day  # of the sign of the ticks
    past = (past < whole(0)).ifelse(past + day, past)
    # a multiple of a day, so that the quotient of the nearest floats is exact
    return (ticks - past).cast("float64") / double(MICROSECONDS_PER_DAY)


def _endless(column: Any, first: Any, last: Any, result: Any) -> Any:
    """A date's number; an infinity for dates before and after all bounds, of which some have no number.

    Engines have infinite dates, of which DuckDB counts a null number of days, and PostgreSQL none at all.
    """
    return ibis.cases((column < first, double(-math.inf)), (column > last, double(math.inf)), else_=result)


# --- Bins on any engine, as `Grid.bin_of` computes them
#
# A number at or below the first threshold, or above the last but one, is in the first or last bin. For the others there
# are three ways. All of them are exact, and none compares a number with more than a few thresholds.
#
# - On a grid of integers the bin is ceil(x) - low: floats without rounding.
# - On an even grid g = ceil((x - low) * scale) - 1 is nearly the bin. It never falls where x grows, since each
#   operation is monotone, rounding included. So when it is at most 1 off at the smallest and at the largest number of
#   every bin, which numpy checks, it is at most 1 off everywhere, and comparisons with the thresholds g and g - 1,
#   computed by the operations that numpy computes them by, put it right.
# - On any other grid a similar expression, of one of a few pieces of the grid, is looked up in a table of thresholds
#   that is part of the question. It is monotone too, so the bins of the numbers with one key are those between the keys
#   of their smallest and largest numbers.

MOST_LISTED = 1 << 16
"""Thresholds that are no arithmetic sequence, at most, since the question itself holds them."""

_AT_ONCE = 3
"""Thresholds that a number is compared with once it was looked up."""
_MOST_PIECES = 64
_PER_BIN = 2


def with_codes(table: Any, x: str, name: str, binning: Binning) -> Any:
    """A table with another column: the bin of each number, or why it has none."""
    grid = binning.grid
    table, inner = _inner(table, x, name, grid)
    value = table[x]
    cases = [(value.isnull() | value.isnan(), whole(MISSING))]
    if binning.outside != "clip":
        cases.append((value < double(grid.low), whole(BELOW)))
    if binning.outside == "refuse":
        cases.append((value > double(grid.high), whole(ABOVE)))
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
    result = grid.thresholds[np.maximum(codes, 0)]
    for code, value in ((MISSING, math.nan), (BELOW, -math.inf), (ABOVE, math.inf), (FRACTION, grid.low + 0.5)):
        result = np.where(codes == code, value, result)
    return result


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
        scale: Keys per unit.
        lowest: The smallest bin of each key, shape (keys,).
    """

    end: float
    start: float
    scale: float
    first: int
    lowest: Int64


def pieces(grid: Grid) -> list[Piece]:
    """Divide the bins 1 to N - 2 so that the numbers of one key are in a few bins."""
    if grid.bins > MOST_LISTED:
        raise ParameterError(
            f"a grid of {grid.bins} thresholds that are not evenly spaced is too long for an engine; use at most "
            f"{MOST_LISTED}, or `grid='linear'`",
            parameter="bins",
        )
    smallest, largest = _ends(grid)
    results: list[Piece] = []
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
                before = results[-1].first + len(results[-1].lowest) if results else 0
                results.append(Piece(last, start, scale, before, lowest + first + 1))
                continue
        middle = (first + end) // 2
        waiting += [(middle, end), (first, middle)]
    if len(results) > _MOST_PIECES:
        raise ParameterError(
            f"the thresholds from {quoted(grid.label(grid.low))} to {quoted(grid.label(grid.high))} are spread too "
            "unevenly for an engine; use fewer, or `grid='linear'`",
            parameter="bins",
        )
    return results


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
    result = table[f"{name}_lowest"]
    for number in range(_AT_ONCE - 1):
        result += (table[f"{name}_{number}"] < table[x]).ifelse(whole(1), whole(0))
    return table, result


def _near(lowest: Int64, name: str, grid: Grid) -> Any:
    """A table of each key, with its smallest bin and the thresholds that end that bin and the next ones.

    It is a text in the question, which every engine takes apart, so that nothing is written to the engine.
    """
    ends = [grid.thresholds[np.minimum(lowest + number, grid.bins - 1)].tolist() for number in range(_AT_ONCE - 1)]
    rows = zip(range(len(lowest)), lowest.tolist(), *ends, strict=True)
    text = ";".join(",".join(map(repr, row)) for row in rows)
    parts = ibis.literal(text).split(";").unnest().name("row").as_table()
    fields = parts.select(fields=parts.row.split(",")).fields
    return fields.as_table().select(
        **{f"{name}_key": fields[0].cast("int64"), f"{name}_lowest": fields[1].cast("int64")},
        **{f"{name}_{number}": fields[2 + number].cast("float64") for number in range(_AT_ONCE - 1)},
    )


# --- Keys of 16 bits by which DuckDB groups numbers, as fast as by plain arithmetic
#
# A key is null for a missing number, and else 1 more than the bin; a key above the last means the last bin. Most
# numbers have the key ceil(y), where y = (x - start) * scale + offset, or that of the logarithm of x on a geometric
# grid. A cast that fails gives null where a number is NaN or outside, and for nulls alone the engine goes on to
# comparisons. Keys are stored times the largest whole number for which 16 bits have room, so that the cast fails soon
# above the last bin.
#
# Rounding makes ceil(y) wrong near some thresholds. So two of them are computed, for an offset a little smaller and a
# little larger. Let a(x) <= b(x) be these. Both never fall where x grows, since each operation is monotone, rounding
# included. If a <= k for the largest number of key k, and b >= k + 1 for the next number, for every k, then a number
# with a = b has that key; numpy checks all k before the query is sent. A number with a < b is near threshold a, and is
# compared with it. Where offsets that are equal pass the check, one ceil is enough. An engine's logarithms need not be
# monotone: the check allows for an error of each that is larger than they have.

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
        scale: Keys per unit.
    """

    start: float
    scale: float
    low: float
    high: float


def small_key(value: Any, grid: Grid, line: Line) -> Any:
    """The key of each number of an engine's column, times the step."""
    step = _step(grid)
    below = _key(value, grid, line, line.low)
    cases = [(value.isnull() | value.isnan(), ibis.null(_KEY)), (value <= _first(grid), ibis.literal(step, _KEY))]
    last = ibis.literal(grid.bins * step, _KEY)
    if line.low == line.high:
        return ibis.coalesce(_times(below, step).try_cast(_KEY), ibis.cases(*cases, else_=last))
    above = _key(value, grid, line, line.high)
    quick = (_times(below, step) + (above - below) * double(_APART)).try_cast(_KEY)
    up = (_threshold(below, grid) < value).ifelse(double(1), double(0))
    cases.append((value > double(float(grid.thresholds[-2])), last))
    return ibis.coalesce(quick, ibis.cases(*cases, else_=_times(below + up, step).cast(_KEY)))


def code_of_key(key: Any, grid: Grid) -> Any:
    """The code of `with_codes` for a key."""
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
    if binning.outside != "clip" or binning.fractions == "refuse" or not 2 < grid.bins < _LARGEST:
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
    result = np.log(value)
    error = np.abs(result) * _LOGARITHM
    return result - error, result + error


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
