"""Quantiles in one line of a table, beside those of other groups."""

from __future__ import annotations

import math

from ogive.contrast import Number, check_probability
from ogive.errors import ParameterError
from ogive.statistics.quantiles.estimate import QuantileEstimates
from ogive.statistics.quantiles.text import rows


def about(found: QuantileEstimates) -> str:
    """What was released."""
    return f"quantiles of {found.column} with {100 * found.confidence_level:g} % intervals"


def titles(found: QuantileEstimates) -> tuple[str, ...]:
    """Headings of the cells."""
    return tuple("median" if share == 0.5 else f"{100 * share:g} %" for share in found.probabilities)


def cells(found: QuantileEstimates) -> tuple[str, ...]:
    """Each quantile with its interval."""
    if not found.told:
        return ("-",) * len(found.numbers)
    return tuple(f"{number} ({interval})" for number, interval in rows(found))


def number(found: QuantileEstimates, confidence_level: float, probability: float) -> Number:
    """A released quantile with its interval.

    Raises:
        ParameterError: that quantile was not released, or not with an interval of that level.
    """
    check_probability(probability, found.probabilities)
    if confidence_level != found.confidence_level:
        raise ParameterError(
            f"quantiles have intervals of one level alone, `confidence_level={found.confidence_level:g}`"
        )
    at = found.probabilities.index(probability)
    name = "median" if probability == 0.5 else f"{100 * probability:g} % quantile"
    value, low, high = found.numbers[at], found.low[at], found.high[at]
    if not found.told:
        value, low, high = math.nan, found.grid.low, found.grid.high
    return Number(f"{name} of {found.column}", value, low, high, probability=probability)
