"""A curve for people: a few lines of text, and a small table."""

from __future__ import annotations

from typing import Any

import numpy as np

from ogive.provenance import trust_rows
from ogive.showing.axis import shown
from ogive.showing.view import Card
from ogive.statistics.contrast import Number
from ogive.statistics.curve import readings as curve_bins
from ogive.statistics.curve.batches import SHOWN, list_batches
from ogive.statistics.curve.estimate import Curve
from ogive.strategies.base import LOUD
from ogive.strategies.people import CountedPeople
from ogive.strategies.summed import SummedStrategies

_SHOWN = (0.05, 0.25, 0.5, 0.75, 0.95)


def facts(curve: Curve) -> list[tuple[str, str]]:
    """What a reader should know before using the curve, as pairs of a name and a value."""
    size = curve.records if curve.told else 0
    records = f"{curve.total:,} (public)" if curve.total is not None else f"about {size:,.0f} (private)"
    if not curve.private:
        records = f"{curve.records:,.0f}"
    counted = "people" if curve.people else "records"
    rows = [
        ("privacy", curve.caption),
        (counted, records),
        ("grid", f"{curve.grid.bins} thresholds, {curve.grid.spacing}, {curve.grid.span}"),
    ]
    named = curve.provenance is not None and curve.provenance.batch is not None
    if curve.merged or named:
        rows.insert(2, ("batches" if curve.merged else "batch", list_batches(curve.batches)))
    shares = list_shares(curve)
    if shares is not None:
        rows.insert(3, ("mixture", shares))
    if curve.provenance is not None:
        rows += trust_rows(curve.provenance.assumption)
    if not curve.told:
        rows.append(("warning", f"noise leaves no {counted}: this curve is not defined and carries no information"))
        return rows
    if curve.private:
        assert curve.strategy is not None
        measured = curve.strategy.strategy if isinstance(curve.strategy, CountedPeople) else curve.strategy
        rows.append(("method", f"{measured.name}, smoothing {curve.smoothing}"))
        rows.append(("noise", f"+/- {curve.rmse():.2g} of the {counted} (root mean square, before smoothing)"))
        share = curve.noise_share()
        if share >= LOUD:
            rows.append(("warning", f"the noise is {share:.2g} of the {counted}: this curve says little or nothing"))
    if curve.people:
        rows.append(("counted", "each person once; all rows of a person share that weight"))
    if curve.approximates:
        rows.append(("bias", "this method approximates, besides its noise; band() bounds both errors"))
    return rows


def summary(curve: Curve) -> str:
    """Some lines of plain text."""
    lines = [f"Distribution function of {curve.column}"]
    lines += [f"  {name + ':' if name else '':<12}{value}" for name, value in facts(curve)]
    if curve.told:
        marks = ", ".join(f"{p:.0%} at {value}" for p, value in zip(_SHOWN, _quantiles(curve), strict=True))
        lines.append(f"  {'quantiles:':<12}{marks}")
    return "\n".join(lines)


def short(curve: Curve) -> str:
    """A few words."""
    return f"of {curve.column}: {curve.grid.bins} thresholds"


def card(curve: Curve) -> Card:
    """What notebooks show."""
    title, known = f"Distribution function of {curve.column}", facts(curve)
    if not curve.told:
        return Card(title, known)
    rows = [(f"{p:.0%}", value) for p, value in zip(_SHOWN, _quantiles(curve), strict=True)]
    return Card(title, known, ("quantile", "value"), rows)


def _quantiles(curve: Curve) -> list[str]:
    return [shown(curve.grid, curve.grid.number(value)) for value in curve.quantile(_SHOWN).tolist()]


def list_shares(curve: Curve) -> str | None:
    """What each curve counts for in a mixture, for people; None where all records count alike."""
    strategy = curve.strategy
    if not isinstance(strategy, SummedStrategies) or strategy.weights is None:
        return None
    shares = [f"{float(weight):.4g}" for weight in strategy.weights[:SHOWN]]
    if len(curve.batches) == len(strategy.weights):
        shares = [f"{batch.words} {share}" for batch, share in zip(curve.batches, shares, strict=False)]
    more = [f"and {len(strategy.weights) - SHOWN} more"] if len(strategy.weights) > SHOWN else []
    return ", ".join(shares + more) + "; records have different weights"


# --- A line in a table of groups

_QUARTERS = (0.25, 0.5, 0.75)


def line_about(curve: Curve) -> str:
    """What was released."""
    return f"distribution of {curve.column}"


def line_titles(curve: Curve) -> tuple[str, ...]:
    """Headings of the cells."""
    return "records", "Q1", "median", "Q3"


def line_cells(curve: Curve) -> tuple[str, ...]:
    """Number of records and quartiles."""
    if not curve.told:
        return "0", "-", "-", "-"
    size = f"{curve.records:.0f}" if curve.total is not None or not curve.private else f"about {curve.records:.0f}"
    return size, *(shown(curve.grid, curve.grid.number(curve.quantile(share))) for share in _QUARTERS)


def line_number(curve: Curve, confidence_level: float, probability: float) -> Number:
    """A quantile, with an interval that holds it."""
    name = f"{'median' if probability == 0.5 else f'{100 * probability:g} % quantile'} of {curve.column}"
    if not curve.told:
        return Number(name, np.nan, curve.grid.low, curve.grid.high, probability=probability)
    low, high = curve_bins.quantile_interval(np.array([probability]), curve.band(confidence_level))
    return Number(name, float(curve.quantile(probability)), float(low[0]), float(high[0]), probability=probability)


# --- Columns of a data frame


def columns(curve: Curve) -> dict[str, Any]:
    """Threshold, and the count and share of the records at or below it."""
    labels = curve.labels
    return {
        "threshold": labels if curve.grid.unit == "number" else labels.tolist(),
        "count": curve.cumulative,
        "share": curve.probabilities,
    }
