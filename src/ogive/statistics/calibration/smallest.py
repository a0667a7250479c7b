"""The smallest guarantee under which a release of several measurements can draw its noise.

Each measurement has only a share of the guarantee, and its own refusal knows only that share, so what would do for the
whole release is found by trying: designs depend on public numbers alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from ogive.errors import ScaleError
from ogive.privacy import ApproxDP, Privacy, PureDP, ZeroConcentratedDP

_LARGEST = 6  # as a power of ten; every design can be drawn far below


def check_scales(privacy: Privacy, what: str, design: Callable[[Privacy], None]) -> None:
    """Refuse a guarantee whose noise cannot be drawn, naming the smallest one of the same type that can.

    Args:
        privacy: What the user asked for.
        what: What it was asked for, for example "10 groups".
        design: Designs all measurements; raises ScaleError if one cannot be drawn.

    Raises:
        ScaleError: one cannot be drawn.
    """
    if _fits(privacy, _amount(privacy), design):
        return
    name = "rho" if isinstance(privacy, ZeroConcentratedDP) else "epsilon"
    enough = smallest_that_fits(privacy, design)
    advice = f"use at least {name} = {enough}" if enough else f"use a larger {name}"
    if isinstance(privacy, ApproxDP) and enough:
        advice += " at this delta"
    raise ScaleError(f"{privacy} for {what} needs noise above 2^47, the largest scale that can be drawn; {advice}")


def smallest_that_fits(privacy: Privacy, design: Callable[[Privacy], None]) -> str | None:
    """Two digits of epsilon or rho, with which the design succeeds; None if none does."""
    # from the power of ten above it; nothing below 10^-20 can be drawn
    exponent = math.ceil(math.log10(max(1e-20, float(_amount(privacy)))))
    while not _fits(privacy, Fraction(10) ** exponent, design):
        exponent += 1
        if exponent > _LARGEST:
            return None
    # between one power of ten and the next: the first of 10, 11, ..., 100 tenths that fits
    low, high = 10, 100
    while low < high:
        middle = (low + high) // 2
        if _fits(privacy, middle * Fraction(10) ** (exponent - 2), design):
            high = middle
        else:
            low = middle + 1
    return f"{float(Decimal(high).scaleb(exponent - 2)):g}"


def _fits(privacy: Privacy, amount: Fraction, design: Callable[[Privacy], None]) -> bool:
    try:
        design(_with_amount(privacy, amount))
    except ScaleError:
        return False
    return True


def _amount(privacy: Privacy) -> Fraction:
    return privacy.rho if isinstance(privacy, ZeroConcentratedDP) else privacy.epsilon


def _with_amount(privacy: Privacy, amount: Fraction) -> Privacy:
    if isinstance(privacy, PureDP):
        return PureDP(amount)
    if isinstance(privacy, ZeroConcentratedDP):
        return ZeroConcentratedDP(amount)
    return ApproxDP(amount, privacy.delta)
