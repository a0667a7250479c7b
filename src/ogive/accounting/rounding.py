"""Exact numbers with few digits, rounded to a stated side."""

from __future__ import annotations

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


def _last_digit(value: Fraction) -> Fraction:
    unit = Fraction(1)
    while value < unit * 10**5:
        unit /= 10
    while value >= unit * 10**6:
        unit *= 10
    return unit
