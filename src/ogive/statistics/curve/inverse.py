"""Inverse of a distribution function by bisection, opening only the points it visits."""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.errors import ParameterError


def bisect_points(targets: Float64, *, size: int) -> Generator[Int64, Float64, Int64]:
    """Find for each target the first grid point whose value reaches it.

    All targets are searched together, so there are at most ceil(log2 size) rounds. The value
    at the last point is taken to be 1 and never asked for. On values that are not monotone the
    result is one crossing of the target.

    Args:
        targets: Wanted probabilities, shape (k,).
        size: Number of grid points N.

    Yields:
        0-based points to evaluate, shape (j,), sorted and distinct; send back their values, shape (j,).

    Returns:
        0-based points, shape (k,).

    Source:
        The paper's Algorithm 1, on grid indices instead of the domain.
    """
    low = np.zeros(len(targets), dtype=np.int64)
    high = np.full(len(targets), size - 1, dtype=np.int64)
    while True:
        active = low < high
        if not active.any():
            return low
        middle = (low + high) // 2
        points = np.unique(middle[active])
        values = yield points
        below = np.zeros(len(targets), dtype=bool)
        below[active] = values[np.searchsorted(points, middle[active])] < targets[active]
        low = np.where(active & below, middle + 1, low)
        high = np.where(active & ~below, middle, high)


def bisect_domain(
    evaluate: Callable[[float], float], probability: float, *, low: float, high: float, precision: float
) -> float:
    """Invert by halving an interval of the domain until it is shorter than the precision.

    Args:
        evaluate: A distribution function, exact or noisy.
        probability: Wanted value, in [0, 1].
        low: Lower end of the domain.
        high: Upper end of the domain.
        precision: Length at which to stop, above 0; below the grid's step it adds nothing.

    Returns:
        The midpoint of the last interval.

    Raises:
        ParameterError: the precision is not above 0 or the domain is empty.

    Source:
        The paper's Algorithm 1 as printed, for its figures; `bisect_points` is what releases use.
    """
    if not (precision > 0 and low < high):
        raise ParameterError(f"bisection needs low < high and a precision above 0, got {low}, {high} and {precision}")
    while high - low > precision:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if evaluate(middle) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2
