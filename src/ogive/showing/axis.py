"""Where an axis has its ticks, and how numbers and dates are written for people."""

from __future__ import annotations

import datetime
import math

import numpy as np

from ogive.columns.grids import Grid
from ogive.core import digits

DAY_MICROSECONDS = 86_400_000_000
_DAY_STEPS = (1, 2, 7, 14)
_MONTH_STEPS = (1, 2, 3, 6)
_SECOND_STEPS = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200)

_LAST = 999_999
"""Microseconds of a second's last one."""


def nice_step(span: float, most: int) -> float:
    """The smallest of 1, 2, 2.5 or 5 times a power of ten that cuts `span` into at most `most` pieces."""
    power = 10.0 ** math.floor(math.log10(span / most))
    for factor in (1.0, 2.0, 2.5, 5.0, 10.0):
        if span / (factor * power) <= most * (1 + 1e-9):
            return factor * power
    return 20.0 * power


def number_ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers from low to high, at most `most + 1` of them."""
    step = nice_step(high - low, most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def log_ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers with even ratios, for an axis of magnitudes; both ends above 0."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
        ticks = [f * 10.0**k for k in decades for f in factors if low * (1 - 1e-9) <= f * 10.0**k <= high * (1 + 1e-9)]
        if 2 <= len(ticks) <= most + 1:
            return ticks
    if len(ticks) < 2:
        return number_ticks(low, high, most)
    return ticks[:: math.ceil(len(ticks) / (most + 1))]


def date_ticks(low: float, high: float, most: int) -> list[float]:
    """Days since 1970-01-01 on which weeks, months or years begin, from low to high."""
    span = high - low
    for days in _DAY_STEPS:
        if span / days <= most:
            start = 4 if days in (7, 14) else 0  # 1970-01-05 was a Monday
            first = math.ceil((low - start) / days)
            return [float(start + k * days) for k in range(first, math.floor((high - start) / days) + 1)]
    years = span / 365.25
    if years * 12 / _MONTH_STEPS[-1] <= most:
        months = next(step for step in _MONTH_STEPS if years * 12 / step <= most)
    else:
        months = 12 * max(1, round(nice_step(years, most)))
    epoch = datetime.date(1970, 1, 1)
    start_date = epoch + datetime.timedelta(days=math.floor(low))
    index = (start_date.year * 12 + start_date.month - 1) // months * months
    ticks: list[float] = []
    while index // 12 <= datetime.MAXYEAR:
        day = float((datetime.date(index // 12, index % 12 + 1, 1) - epoch).days) if index >= 12 else -math.inf
        if day > high:
            break
        if day >= low:
            ticks.append(day)
        index += months
    return ticks


def time_ticks(low: float, high: float, most: int) -> list[float]:
    """Microseconds since 1970-01-01 at whole seconds, minutes, hours or days, from low to high."""
    span = (high - low) / 1e6
    for step in _SECOND_STEPS:
        if span / step <= most:
            size = step * 1e6
            return [k * size for k in range(math.ceil(low / size), math.floor(high / size) + 1)]
    if span < 1:
        return number_ticks(low, high, most)
    return [day * DAY_MICROSECONDS for day in date_ticks(low / DAY_MICROSECONDS, high / DAY_MICROSECONDS, most)]


def ticks(grid: Grid, low: float, high: float, most: int) -> list[float]:
    """Ticks for the numbers of a grid, between low and high."""
    if grid.unit == "date":
        return date_ticks(low, high, most)
    if grid.unit == "datetime":
        return time_ticks(low, high, most)
    return log_ticks(low, high, most) if grid.kind == "geometric" else number_ticks(low, high, most)


def plain_number(value: float, digits: int = 4) -> str:
    """A number as people read it: thousands apart, a real minus, no needless digits."""
    if not math.isfinite(value):
        return "−∞" if value < 0 else "∞"
    size = abs(value)
    if size and not 1e-4 <= size < 1e15:
        mantissa, exponent = f"{size:.{digits - 1}e}".split("e")
        shown = f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    elif size == math.floor(size):
        shown = f"{size:,.0f}"
    else:
        places = max(0, digits - 1 - math.floor(math.log10(size)))
        shown = f"{size:,.{places}f}"
        shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
    return ("−" if value < 0 and shown != "0" else "") + shown


def show(grid: Grid, number: float, digits: int = 6) -> str:
    """A number of a grid as people read it: a number, a date or a time."""
    if grid.unit == "number" or not math.isfinite(number):
        return plain_number(number, digits)
    label = grid.label(number)
    if isinstance(label, datetime.datetime):
        if label.time() == datetime.time():
            return str(label.date().isoformat())
        if label.microsecond:  # the last microsecond of an hour or day is how a grid of hours ends one
            detail = "seconds" if label.microsecond == _LAST else "auto"
        else:
            detail = "seconds" if label.second else "minutes"
        return label.isoformat(" ", detail)
    return str(label.isoformat())


def span(grid: Grid) -> str:
    """Both ends of a grid as people read them."""
    return f"{show(grid, grid.low)} to {show(grid, grid.high)}"


def tick_label(grid: Grid, number: float, step: float) -> str:
    """A tick's short name: only as much of a date as the distance to the next tick needs."""
    if grid.unit == "number":
        digits = max(4, math.ceil(math.log10(max(abs(number), step) / step)) + 2)  # tells neighbors apart
        for size, name in ((1e12, "T"), (1e9, "B"), (1e6, "M")):
            if size <= abs(number) < 1e15:
                return f"{plain_number(number / size, digits)}{name}"
        return plain_number(number, digits)
    moment = grid.label(number)
    days = step / DAY_MICROSECONDS if grid.unit == "datetime" else step
    if days >= 360:
        return f"{moment.year}"
    if days >= 27:
        return f"{moment:%b %Y}"
    if days >= 1:
        return f"{moment.day} {moment:%b}"
    return f"{moment:%H:%M}" if days * 86400 >= 60 else f"{moment:%H:%M:%S}"


# --- A number of a grid as text


def shown(grid: Grid, number: float, width: float = 0.0) -> str:
    """A threshold or a number between two of them, as text.

    A number is rounded as `digits.number` says, but never so that it could be read as another threshold; after the
    point it has no digit below half of the distance of the thresholds. Listed thresholds are shown as they were listed.
    """
    if not math.isfinite(number):
        return f"{number:g}"
    if grid.unit != "number":
        return show(grid, number)
    if grid.kind == "integers":
        least = 10.0
    elif grid.kind in ("linear", "geometric"):
        least = min(10.0, 5 * _distance(grid, number))
    else:
        least = 0.0
    return digits.number(number, max(least, width) if math.isfinite(width) else 0.0)


def _distance(grid: Grid, number: float) -> float:
    """Between the thresholds around a number."""
    ends = grid.thresholds
    at = int(np.searchsorted(ends, number))
    if grid.bins == 1 or at == 0:
        return float(ends[0] - grid.low)
    return float(ends[min(at, grid.bins - 1)] - ends[min(at, grid.bins - 1) - 1])
