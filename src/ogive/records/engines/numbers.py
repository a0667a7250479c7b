"""Values of an engine's column as numbers of a grid: what `records.arrow.float_values` computes, as an expression.

Only operations are used that IEEE 754 defines, on constants that are written with all their digits, so that every
engine gets the floats that numpy gets.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from typing import Any

import ibis
import pyarrow as pa

from ogive.grids import MICROSECONDS_PER_DAY
from ogive.records.arrow import kind_of

_FIRST, _LAST = (1, 1, 1), (9999, 12, 31)
"""Days between which bounds and public values lie, or just after the last."""


def double(value: float) -> Any:
    """A constant of 64 bits, by way of text, since engines read numerals as decimal numbers."""
    written = repr(float(value)) if math.isfinite(value) else "NaN" if math.isnan(value) else _infinity(value)
    return ibis.literal(written).cast("float64")


def _infinity(value: float) -> str:
    return "Infinity" if value > 0 else "-Infinity"


def whole(value: int) -> Any:
    """A constant whole number of 64 bits."""
    return ibis.literal(value, "int64")


def number(column: Any, arrow_type: Any, unit: str, named: Sequence[float] = (), *, keep_nan: bool = False) -> Any:
    """The numbers of a column, float64; null where a value is missing, NaN or one of those that mean that it is.

    Args:
        column: The engine's column.
        arrow_type: What it holds, of which `kind_of` is the unit, or the other of "date" and "datetime".
        unit: The grid's unit.
        named: Numbers that mean that a value is missing.
        keep_nan: Whether NaN stays NaN, for who asks for both.
    """
    found = _number(column, arrow_type, unit)
    if kind_of(arrow_type) == "number" and not keep_nan:
        found = found.isnan().ifelse(ibis.null("float64"), found)
    return found.isin([double(value) for value in named]).ifelse(ibis.null("float64"), found) if named else found


def _number(column: Any, arrow_type: Any, unit: str) -> Any:
    if pa.types.is_date(arrow_type):
        days = column.delta(ibis.date(1970, 1, 1), unit="day").cast("float64")
        found = days * double(MICROSECONDS_PER_DAY) if unit == "datetime" else days
        return _endless(column, ibis.date(*_FIRST), ibis.date(*_LAST), found)
    if pa.types.is_timestamp(arrow_type):
        zone = "UTC" if arrow_type.tz is not None else None

        def moment(year: int, month: int, day: int) -> Any:
            return ibis.timestamp(datetime.datetime(year, month, day).isoformat(), timezone=zone)

        ticks = column.delta(moment(1970, 1, 1), unit="microsecond")
        found = ticks.cast("float64") if unit == "datetime" else _days(ticks)
        return _endless(column, moment(*_FIRST), moment(*_LAST), found)
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


def _endless(column: Any, first: Any, last: Any, found: Any) -> Any:
    """A date's number; an infinity for dates before and after all bounds, of which some have no number.

    Engines have infinite dates, of which DuckDB counts a null number of days, and PostgreSQL none at all.
    """
    return ibis.cases((column < first, double(-math.inf)), (column > last, double(math.inf)), else_=found)
