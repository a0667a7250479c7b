"""The Renyi orders that costs are kept at, and which orders a caller may ask for."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ogive.arrays import Float64
from ogive.errors import ParameterError

LARGEST_ORDER = 1e6
"""Costs at larger orders say nothing that an epsilon of ordinary size needs."""


def _grid() -> Float64:
    parts = [
        np.arange(11, 20) / 10,
        np.arange(4, 201) / 2,
        np.geomspace(100, 500, 100)[1:],
        np.geomspace(500, 1000, 20)[1:],
    ]
    grid = np.concatenate(parts)
    grid.flags.writeable = False
    return grid


ORDERS: Float64 = _grid()
"""1.1 to 1.9 by tenths, 2 to 100 by halves, then log-spaced to 500 (100 points) and to 1000 (20 points)."""


def check_orders(orders: ArrayLike) -> Float64:
    """Orders as an array, one order as an array of one.

    Args:
        orders: Increasing Renyi orders, each above 1 and at most `LARGEST_ORDER`.

    Raises:
        ParameterError: there is none, one is out of range, or they do not increase.
    """
    try:
        found = np.atleast_1d(np.asarray(orders, dtype=np.float64))
    except (TypeError, ValueError):
        raise ParameterError("`orders` must be numbers above 1") from None
    if found.ndim != 1 or found.size == 0 or not np.all((found > 1) & (found <= LARGEST_ORDER)):
        raise ParameterError(f"`orders` must be numbers above 1 and at most {LARGEST_ORDER:g}, at least one of them")
    if np.any(np.diff(found) <= 0):
        raise ParameterError("`orders` must increase")
    return found
