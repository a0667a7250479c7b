"""Path noise smoothed in the norm of its own noise, at all points or at those that were opened."""

from __future__ import annotations

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.strategies.path.intervals import nested_intervals
from ogive.strategies.path.least_absolute import smooth_path_absolute
from ogive.strategies.path.least_squares import ANCHORED, BOXED, UNKNOWN, smooth_path
from ogive.strategies.path.strategy import PathNoise


def ending(strategy: PathNoise, points: Int64, total: int | None, *, anchor: bool) -> int:
    """What is demanded of the last point: nothing, at most the total, or, as `ANCHORED`, the total exactly."""
    if total is None:
        return UNKNOWN
    return ANCHORED if anchor and points[-1] == strategy.size - 1 else BOXED


def nearest_points(
    strategy: PathNoise, answer: Int64, points: Int64, total: int | None, kind: str, *, anchor: bool
) -> Float64:
    """The valid values nearest to the answers at some points, by "least_squares" or "least_absolute"."""
    last = ending(strategy, points, total, anchor=anchor)
    intervals = nested_intervals(points, np.array(strategy.tree.sizes[: strategy.tree.terms]))
    if kind == "least_absolute":
        return smooth_path_absolute(answer, intervals, total=total or 0, bits=strategy.bits, ending=last)
    noisy = np.ldexp(answer.astype(np.float64), -strategy.bits)
    curve = smooth_path(noisy, intervals, total=float(total or 0), ending=last)
    if total is not None and last == ANCHORED:
        curve[-1] = total
    return curve
