"""Probabilities of biased bits as whole thresholds T of 2^precision, from exact logarithms of odds.

A float has 53 bits, and a threshold has 64: they are made by decimal arithmetic of many more digits.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

from ogive.checks import whole

MAX_PRECISION = 64
DIGITS = 60
_LARGEST = Fraction(200)
"""Larger exponents are taken for this one, whose probability is far below any threshold's and still a short number."""


def check_precision(precision: int) -> None:
    """Refuse a number of uniform bits that thresholds cannot be made for.

    Raises:
        ParameterError: it is not from 1 to 64.
    """
    whole(precision, "precision", 1, MAX_PRECISION)


def as_decimal(value: Fraction) -> Decimal:
    """A fraction to as many digits as the context has."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def probability(exponent: Fraction, times: Fraction = Fraction(1)) -> Fraction:
    """1 / (1 + times e^exponent), to far more digits than a threshold has; never much less than e^-200."""
    with localcontext() as context:
        context.prec = DIGITS
        return Fraction(1 / (1 + as_decimal(times) * as_decimal(min(exponent, _LARGEST)).exp()))


def log_odds(value: Fraction) -> Fraction:
    """ln(p / (1 - p)) to many digits, for p strictly between 0 and 1."""
    with localcontext() as context:
        context.prec = DIGITS
        return Fraction(as_decimal(value / (1 - value)).ln())
