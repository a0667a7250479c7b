"""Which guarantee would do where the wanted one needs more noise than can be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from ogive.errors import ScaleError
from ogive.privacy import ApproxDP, Privacy, PureDP, ZeroConcentratedDP

# a conversion between guarantees rounds down by less than this
_ROOM = Fraction(1001, 1000)


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
