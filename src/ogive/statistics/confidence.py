"""What confidence intervals hold, which levels can be served, and how many simulations they take.

A quantile that leaves a tail a needs 1 / a simulations. Up to 0.9999 that is affordable on grids of ordinary size; on
very large ones the highest level is lower. What is not affordable is refused at once: no bound that needs no simulation
is known that would not be many times as wide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, get_args

from ogive.errors import ParameterError
from ogive.privacy import exact

Target = Literal["population", "sample"]
"""Whose value an interval holds: that of the population which the records were drawn from, or that of the records."""
TARGETS: tuple[Target, ...] = get_args(Target)

MOST_CONFIDENCE = Fraction(9999, 10_000)
MOST_VALUES = 400_000_000  # simulated noise values, about ten seconds, unless the usual simulations take more


def check_level(confidence_level: Any) -> Fraction:
    """Return a confidence level as an exact number."""
    level = exact(confidence_level, "confidence_level")
    if not 0 < level <= MOST_CONFIDENCE:
        raise ParameterError(
            f"`confidence_level` must be above 0 and at most {float(MOST_CONFIDENCE):g}, got {confidence_level}"
        )
    return level


def normal_quantile(confidence_level: float) -> float:
    """Quantile of the standard normal distribution for a two-sided interval."""
    return NormalDist().inv_cdf((1 + confidence_level) / 2)


def simulations_needed(level: Fraction, *, share: Fraction, nodes: int, usual: int) -> int:
    """Number of simulations from which a quantile for a share of the error probability can be read."""
    needed = math.ceil(1 / (share * (1 - level)))
    affordable = max(usual, MOST_VALUES // nodes)
    if needed > affordable:
        most = math.floor((1 - 1 / (share * affordable)) * 10_000) / 10_000
        raise ParameterError(
            f"`confidence_level` must be at most {most:g} on this many thresholds, got {float(level):g}; use fewer bins"
        )
    return max(usual, needed)


# --- The mathematics of the difference or ratio of a number of two groups, with an interval
#
# Each group has an estimate v with an interval (l, u) of its own, and the noise of different groups is independent. The
# interval of the difference v - w is recovered from the two intervals (Zou and Donner):
#
#     v - w - sqrt((v - l)^2 + (u' - w)^2),   v - w + sqrt((u - v)^2 + (w - l')^2),
#
# and that of the ratio from those of v - R w, as the values of R whose interval of v - R w holds 0 (Fieller's
# argument): with a = v w the ends are
#
#     (a - sqrt(a^2 - l u' (2 v - l) (2 w - u'))) / (u' (2 w - u')),
#     (a + sqrt(a^2 - u l' (2 v - u) (2 w - l'))) / (l' (2 w - l')).
#
# Intervals need be neither symmetric nor normal. Where they are normal, these are the usual ones.
#
# Source:
#     Zou and Donner 2008, Construction of confidence limits about effect measures; Donner and Zou 2012 for the ratio.

Kind = Literal["difference", "ratio"]


class Number(NamedTuple):
    """A number of one group, as its estimate says it.

    Fields:
        what: What it is, for example "median of age".
        value: The number; NaN where noise leaves none.
        standard_error: Noise and sampling together; None where only the interval is known.
        probability: Of a quantile; None for other numbers.
    """

    what: str
    value: float
    low: float
    high: float
    standard_error: float | None = None
    probability: float | None = None


def check_probability(probability: float, released: Sequence[float] | None = None) -> None:
    """Refuse a quantile by which groups cannot be compared."""
    if not 0 <= probability <= 1:
        raise ParameterError(f"`probability` must be in [0, 1], got {probability:g}")
    if released is not None and probability not in released:
        shown = ", ".join(f"{each:g}" for each in released)
        raise ParameterError(f"`probability` must be one of those released, {shown}; got {probability:g}")


def difference(one: Number, other: Number, confidence_level: float) -> tuple[float, float, float, float]:
    """The difference of two independent numbers: its value, standard error, and ends of its interval.

    Where the noise leaves one of them no value, the interval holds all differences of numbers in their two intervals.
    """
    if math.isnan(one.value) or math.isnan(other.value):
        return math.nan, math.nan, one.low - other.high, one.high - other.low
    value = one.value - other.value
    down = math.hypot(one.value - one.low, other.high - other.value)
    up = math.hypot(one.high - one.value, other.value - other.low)
    error = math.hypot(_error(one, confidence_level), _error(other, confidence_level))
    return value, error, value - down, value + up


def ratio(one: Number, other: Number, confidence_level: float) -> tuple[float, float, float, float]:
    """The ratio of two independent numbers: its value, standard error, and ends of its interval.

    Where the interval of the second number holds 0, or the noise leaves one of them no value, the ratio may be
    anything, and so the interval is all numbers.
    """
    if math.isnan(one.value) or math.isnan(other.value):
        return math.nan, math.nan, -math.inf, math.inf
    if other.value == 0 or other.low <= 0 <= other.high:
        value = one.value / other.value if other.value else math.nan
        return value, math.inf, -math.inf, math.inf
    if other.value < 0:
        value, error, low, high = ratio(one, _negative(other), confidence_level)
        return -value, error, -high, -low
    if one.value < 0:
        value, error, low, high = ratio(_negative(one), other, confidence_level)
        return -value, error, -high, -low
    value = one.value / other.value
    errors = _error(one, confidence_level), value * _error(other, confidence_level)
    low = _end(one.value, one.low, other.value, other.high, -1)
    high = _end(one.value, one.high, other.value, other.low, 1)
    return value, math.hypot(*errors) / other.value, low, high


def _end(v: float, end: float, w: float, other: float, sign: int) -> float:
    """One end of a ratio of numbers of which the second is above 0: infinite where the division says nothing."""
    below = other * (2 * w - other)
    if below <= 0:
        return sign * math.inf
    inner = (v * w) ** 2 - end * other * (2 * v - end) * (2 * w - other)
    return (v * w + sign * math.sqrt(max(inner, 0.0))) / below


def _negative(number: Number) -> Number:
    return number._replace(value=-number.value, low=-number.high, high=-number.low)


def _error(number: Number, confidence_level: float) -> float:
    if number.standard_error is not None:
        return number.standard_error
    return (number.high - number.low) / (2 * normal_quantile(confidence_level))
