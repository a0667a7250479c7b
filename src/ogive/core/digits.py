"""With how many digits a number is shown: no more than a tenth of the width of its interval tells."""

from __future__ import annotations

import math

_MOST = 12
"""Places after the point."""

_LEAST_P = 0.001


def p_value(value: float, digits: int = 2, *, bound: bool = False, least: float = _LEAST_P) -> str:
    """A p-value as papers print it, beside a sign: "= 0.034", "< 0.001" below that, or "<= 0.002" of a bound."""
    if bound and value >= least:
        return f"<= {value:.{digits}g}"
    return f"< {least:g}" if value < least else f"= {value:.{digits}g}"


def percent(share: float) -> str:
    """A share in percent, with one place after the point."""
    return f"{100 * share:.1f} %"


def places(width: float) -> int:
    """Places after the point of the largest power of ten that is at most a tenth of the width; below 0 for tens."""
    return min(_MOST, 1 - math.floor(math.log10(width)))


def number(value: float, width: float) -> str:
    """A number rounded to what the width of its interval tells; six digits where there is no width."""
    if not math.isfinite(value) or not math.isfinite(width) or width <= 0:
        return f"{value:,.6g}"
    after = places(width)
    return f"{round(value, after) + 0.0:,.{max(0, after)}f}"  # + 0.0 takes the sign from a zero
