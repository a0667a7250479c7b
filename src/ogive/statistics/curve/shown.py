"""A number of a grid as it is shown: a number with the digits that mean something, a date or a time."""

from __future__ import annotations

import math

import numpy as np

from ogive import digits
from ogive.grids import Grid
from ogive.html.axis import show


def shown(grid: Grid, number: float, width: float = 0.0) -> str:
    """A threshold or a number between two of them, as text.

    A number is rounded as `digits.number` says, but never so that it could be read as another threshold; after the
    point it has no digit below half of the distance of the thresholds. Listed thresholds are shown as they were listed.

    Args:
        grid: Of the number.
        number: As the grid counts it.
        width: Of its interval, in the same unit; 0 where it has none.
    """
    if not math.isfinite(number):
        return f"{number:g}"
    if grid.unit != "number":
        return show(grid, number)
    if grid.kind == "integers":
        least = 10.0
    elif grid.kind in ("linear", "geometric"):
        least = min(10.0, 5 * _distance(grid, number))
    else:
        least = 0.0
    return digits.number(number, max(least, width) if math.isfinite(width) else 0.0)


def _distance(grid: Grid, number: float) -> float:
    """Between the thresholds around a number."""
    ends = grid.thresholds
    at = int(np.searchsorted(ends, number))
    if grid.bins == 1 or at == 0:
        return float(ends[0] - grid.low)
    return float(ends[min(at, grid.bins - 1)] - ends[min(at, grid.bins - 1) - 1])
