"""A curve in one line of a table, beside those of other groups."""

from __future__ import annotations

import numpy as np

from ogive.contrast import Number
from ogive.statistics.curve import bins as curve_bins
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.curve.shown import shown

_QUARTERS = (0.25, 0.5, 0.75)


def about(curve: Curve) -> str:
    """What was released."""
    return f"distribution of {curve.column}"


def titles(curve: Curve) -> tuple[str, ...]:
    """Headings of the cells."""
    return "records", "Q1", "median", "Q3"


def cells(curve: Curve) -> tuple[str, ...]:
    """Number of records and quartiles."""
    if not curve.told:
        return "0", "-", "-", "-"
    size = f"{curve.records:.0f}" if curve.total is not None or not curve.private else f"about {curve.records:.0f}"
    return size, *(shown(curve.grid, curve.grid.number(curve.quantile(share))) for share in _QUARTERS)


def number(curve: Curve, confidence_level: float, probability: float) -> Number:
    """A quantile, with an interval that holds it."""
    name = f"{'median' if probability == 0.5 else f'{100 * probability:g} % quantile'} of {curve.column}"
    if not curve.told:
        return Number(name, np.nan, curve.grid.low, curve.grid.high, probability=probability)
    low, high = curve_bins.quantile_interval(np.array([probability]), curve.band(confidence_level))
    return Number(name, float(curve.quantile(probability)), float(low[0]), float(high[0]), probability=probability)
