"""Exact numbers with few digits, rounded to a stated side."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction


def rounded_down(value: Fraction) -> Fraction:
    """A number to six decimal digits, never above it; tiny ones are 0."""
    if value < Fraction(1, 10**12):
        return Fraction(0)
    unit = _last_digit(value)
    return value // unit * unit


def rounded_up(value: Fraction) -> Fraction:
    """A number to six decimal digits, never below it."""
    if value <= 0:
        return value
    unit = _last_digit(value)
    return -(-value // unit) * unit


def shown_up(value: float, form: str = ".6g") -> str:
    """A number from 0 as text, never below the shortest decimal that is this number.

    Args:
        value: At least 0.
        form: How many digits: ".6g" for so many figures, ".3f" for so many places.
    """
    if value == 0 or not math.isfinite(value):
        return format(value, form)
    near = Decimal(repr(float(value)))
    digits, by_places = int(form[1:-1]), form.endswith("f")
    unit = Fraction(10) ** (-digits if by_places else near.adjusted() + 1 - digits)
    return format(float(-(-Fraction(near) // unit) * unit), form)


def _last_digit(value: Fraction) -> Fraction:
    unit = Fraction(1)
    while value < unit * 10**5:
        unit /= 10
    while value >= unit * 10**6:
        unit *= 10
    return unit
