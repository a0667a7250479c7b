"""Quantiles for people: a small table of text."""

from __future__ import annotations

from ogive.statistics.curve.bins import lower_ends
from ogive.statistics.curve.shown import shown
from ogive.statistics.quantiles.estimate import QuantileEstimates
from ogive.statistics.showing import Card

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
