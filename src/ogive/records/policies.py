"""What the policies say of values outside the bounds and of missing ones."""

from __future__ import annotations

import numpy as np

from ogive.arrays import Float64
from ogive.columns import Binning
from ogive.errors import DataError, quoted

LOW_OR_HIGH = "`missing='low'` or `'high'`"
"""What missing values may always mean, as a message marks it."""


def refuse_outside(values: Float64, binning: Binning, advice: str = "") -> None:
    """Refuse values outside the bounds where the policy says so.

    Args:
        values: Numbers of the grid, NaN where missing.
        binning: The bounds and the policy. Numbers that may not leave 0 to 1, and for which no advice is
            given, are probabilities.
        advice: What would be right, where values outside could be allowed.

    Raises:
        DataError: there is one.
    """
    grid = binning.grid
    if binning.outside == "refuse" and bool(np.any((values < grid.low) | (values > grid.high))):
        low, high = (
            f"{bound:g}" if isinstance(bound, float) else str(bound)
            for bound in (grid.label(grid.low), grid.label(grid.high))
        )
        if not advice and (low, high) == ("0", "1"):
            raise DataError(
                f"column {quoted(binning.column)} has values that are no probabilities: they must lie from 0 to 1; "
                "percentages must be divided by 100"
            )
        raise DataError(
            f"column {quoted(binning.column)} has values outside {low} to {high}; {advice or 'widen the bounds'}",
            parameter="bounds",
        )


def refuse_fractions(values: Float64, binning: Binning) -> None:
    """Refuse numbers that are not whole where a grid of integers holds nothing else.

    Args:
        values: Numbers of the grid, NaN where missing.
        binning: The grid and the policy.

    Raises:
        DataError: there is one.
    """
    if binning.holds_fractions(values):
        raise DataError(
            f"column {quoted(binning.column)} has values that are not whole, which a grid of integers does not hold; "
            "use `grid='linear'`"
        )


def missing_message(binning: Binning, choices: str) -> str:
    """What is said of missing values that a policy refuses."""
    return f"column {quoted(binning.column)} has missing values; say what they mean with {choices}"
