"""Scales that the integer samplers accept, how to round a number up to one, and what is said of one that is too large.

A scale is numerator / denominator with denominator < 2^60 and a numerator of the form
p1 * 2^shift, p1 <= 2^31, shift <= 16: that is what keeps every product in the samplers
below 2^63. Rounding is always up, since more noise is never less private; a number below the
smallest scale is rounded up to that, where noise is as good as always 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from math import isqrt

from ogive.errors import ParameterError, ScaleError
from ogive.privacy import ApproxDP, Privacy, PureDP, Rational, ZeroConcentratedDP, exact

_MAX_NUMERATOR = 1 << 31
_MAX_SHIFT = 16
_MAX_DENOMINATOR = 1 << 60
MAX_SCALE = _MAX_NUMERATOR << _MAX_SHIFT
MIN_SCALE = Fraction(1, 1 << 20)
# Laws report no variance below this, so that it can be divided by. Noise of a variance this small differs
# from 0 with a probability no larger.
SMALLEST_VARIANCE = 2.0**-64
# results have at least this many significant bits: relative error below 2^-29
_BITS = 30
# a conversion between guarantees rounds down by less than this
_ROOM = Fraction(1001, 1000)


def split_scale(scale: Fraction, name: str) -> tuple[int, int, int]:
    """Write a scale as (p1, shift, denominator) with scale = p1 * 2^shift / denominator.

    Raises:
        ParameterError: the scale is out of range or has too many digits.
    """
    if not MIN_SCALE <= scale <= MAX_SCALE:
        raise ParameterError(f"`{name}` must be between 2^-20 and 2^47, got {float(scale):.6g}")
    numerator, shift = scale.numerator, 0
    while numerator > _MAX_NUMERATOR and numerator % 2 == 0:
        numerator, shift = numerator // 2, shift + 1
    if numerator > _MAX_NUMERATOR or shift > _MAX_SHIFT or scale.denominator >= _MAX_DENOMINATOR:
        raise ParameterError(f"{name} has too many digits for exact sampling: {scale}; round it with round_up_scale")
    return numerator, shift, scale.denominator


def round_up_scale(value: Rational) -> Fraction:
    """Round a positive number up to a scale that the samplers accept.

    A number they accept already comes back unchanged.

    Args:
        value: Above 0 and at most 2^47; a float stands for the decimal it prints as.

    Returns:
        At least `value`, by a relative excess below 2^-29; 2^-20 for what is smaller.

    Raises:
        ScaleError: value is above 2^47.
        ParameterError: value is not above 0.
    """
    wanted = value if isinstance(value, Fraction) else exact(value, "scale")
    if wanted <= 0:
        raise ParameterError(f"`scale` must be above 0, got {value}")
    if wanted > MAX_SCALE:
        raise ScaleError("noise of a scale above 2^47 cannot be drawn; allow a larger privacy loss", wanted / MAX_SCALE)
    wanted = max(wanted, MIN_SCALE)
    try:
        split_scale(wanted, "scale")
    except ParameterError:
        unit = _unit_below(wanted)
        return -(-wanted // unit) * unit
    return wanted


def round_up_root(value: Rational) -> Fraction:
    """Round the square root of a positive number up to a scale that the samplers accept.

    Args:
        value: Above 0 and at most 2^94; for a Gaussian the wanted variance.

    Returns:
        At least the square root, by a relative excess below 2^-28; the root itself if that is rational with few
        digits; 2^-20 for what is smaller.

    Raises:
        ScaleError: value is above 2^94.
        ParameterError: value is not above 0.
    """
    square = value if isinstance(value, Fraction) else exact(value, "variance")
    if square <= 0:
        raise ParameterError(f"`variance` must be above 0, got {value}")
    if square > MAX_SCALE**2:
        raise ScaleError(
            "noise of a variance above 2^94 cannot be drawn; allow a larger privacy loss", square / MAX_SCALE**2
        )
    square = max(square, MIN_SCALE**2)
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    if root * root == square:
        return round_up_scale(root)
    extra = 1 << 128
    return round_up_scale(Fraction(isqrt(square.numerator * extra * extra // square.denominator) + 1, extra))


def _unit_below(value: Fraction) -> Fraction:
    """The largest power of two that goes at least 2^30 times into the value."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length() - _BITS
    unit = Fraction(2) ** exponent
    return unit if value >= unit * 2**_BITS else unit / 2


def too_much_noise(
    privacy: Privacy, what: str, failed: Sequence[tuple[PureDP | ZeroConcentratedDP, ScaleError]]
) -> ScaleError:
    """Build the refusal that names the guarantee as its user wrote it, and one that would do.

    Args:
        privacy: What the user asked for.
        what: What it was asked for, for example "16 thresholds".
        failed: Guarantees that imply it, each with the refusal that it met.
    """
    if isinstance(privacy, ZeroConcentratedDP):
        name = "rho"
        enough_each = [
            (grant.epsilon * error.excess) ** 2 / 2 if isinstance(grant, PureDP) else grant.rho * error.excess
            for grant, error in failed
        ]
    else:
        # from rho back to epsilon and delta there is no formula; a larger epsilon will do
        name = "epsilon"
        enough_each = [grant.epsilon * error.excess for grant, error in failed if isinstance(grant, PureDP)]
    enough = f"use at least {name} = {_rounded_up(min(enough_each) * _ROOM)}" if enough_each else "use a larger epsilon"
    if isinstance(privacy, ApproxDP) and enough_each:
        enough += " at this delta"
    return ScaleError(f"{privacy} for {what} needs noise above 2^47, the largest scale that can be drawn; {enough}")


def _rounded_up(value: Fraction) -> str:
    """Two digits, not below the value."""
    digits = Context(prec=2, rounding=ROUND_CEILING).divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{float(digits):g}"
