"""Quantiles for people: a small table of text."""

from __future__ import annotations

import math
from typing import Any

from ogive.errors import ParameterError
from ogive.showing.axis import shown
from ogive.showing.view import Card
from ogive.statistics.contrast import Number, check_probability
from ogive.statistics.curve.readings import lower_ends
from ogive.statistics.quantiles.estimate import QuantileEstimates

_SHOWN = 3


def summary(estimate: QuantileEstimates) -> str:
    """A table in plain text."""
    percent = f"{100 * estimate.confidence_level:g} % CI"
    lines = [
        f"quantiles of {estimate.column} ({estimate.provenance})",
        f"{'probability':>11}  {'value':>20}  {percent}",
    ]
    for p, (value, interval) in zip(estimate.probabilities, rows(estimate), strict=True):
        lines.append(f"{p:>11g}  {value:>20}  {interval}")
    return "\n".join([*lines, *notes(estimate)])


def notes(estimate: QuantileEstimates) -> list[str]:
    """What is said where noise leaves no records, or where nothing tells that there are any beside a selection."""
    if not estimate.told:
        return ["noise leaves no records: there are no quantiles"]
    source = estimate.provenance
    if estimate.curve is not None or source is None or not source.private or source.total is not None:
        return []
    bounds = float(lower_ends(estimate.grid)[0]), float(estimate.grid.thresholds[-1])
    if bounds not in zip(estimate.low, estimate.high, strict=True):
        return []
    return [
        "an interval that is all of the bounds says nothing: perhaps there are no records; check the condition, if any"
    ]


def rows(estimate: QuantileEstimates) -> list[tuple[str, str]]:
    """Each quantile and its interval, with the digits that the width of the interval leaves; dashes without records."""
    if not estimate.told:
        return [("-", "-")] * len(estimate.numbers)
    ends = zip(estimate.numbers, estimate.low, estimate.high, strict=True)
    texts = [[shown(estimate.grid, each, row[2] - row[1]) for each in row] for row in ends]
    return [(value, f"{low} to {high}") for value, low, high in texts]


def short(estimate: QuantileEstimates) -> str:
    """A few words: the quantiles that are shown first."""
    pairs = list(zip(estimate.probabilities, rows(estimate), strict=True))
    listed = ", ".join(f"{p:g} at {value}" for p, (value, _) in pairs[:_SHOWN])
    return f"of {estimate.column}: {listed}{', ...' if len(pairs) > _SHOWN else ''}"


def card(estimate: QuantileEstimates) -> Card:
    """What notebooks show."""
    lines = [(f"{p:g}", *row) for p, row in zip(estimate.probabilities, rows(estimate), strict=True)]
    headings = ("probability", "value", f"{100 * estimate.confidence_level:g} % interval")
    return Card(f"Quantiles of {estimate.column}", [("privacy", estimate.caption)], headings, lines, notes(estimate))


# --- A line in a table of groups


def line_about(found: QuantileEstimates) -> str:
    """What was released."""
    return f"quantiles of {found.column} with {100 * found.confidence_level:g} % intervals"


def line_titles(found: QuantileEstimates) -> tuple[str, ...]:
    """Headings of the cells."""
    return tuple("median" if share == 0.5 else f"{100 * share:g} %" for share in found.probabilities)


def line_cells(found: QuantileEstimates) -> tuple[str, ...]:
    """Each quantile with its interval."""
    if not found.told:
        return ("-",) * len(found.numbers)
    return tuple(f"{number} ({interval})" for number, interval in rows(found))


def line_number(found: QuantileEstimates, confidence_level: float, probability: float) -> Number:
    """A released quantile with its interval."""
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


# --- Columns of a data frame


def columns(estimate: QuantileEstimates) -> dict[str, Any]:
    """Probability, quantile, and the ends of its interval; None where noise leaves no records."""
    low, high = zip(*estimate.intervals, strict=True)
    told = {"value": estimate.values, "low": list(low), "high": list(high)}
    if not estimate.told:
        told = {name: [None] * len(low) for name in told}
    return {"probability": list(estimate.probabilities), **told}
