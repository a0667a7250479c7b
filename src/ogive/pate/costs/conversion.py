"""From a Renyi cost to (epsilon, delta), by two rules.

- "paper" (Mironov 2017, Proposition 3): epsilon = r + ln(1/delta) / (order - 1). It also holds for costs that are
  only known after the run, as a bound on the realised loss, at one order that was fixed before it.
- "tight" (Canonne, Kamath and Steinke 2020, Proposition 12; Balle et al. 2020, Theorem 21): never more, but for costs
  that are fixed for a pair of data sets. The least over orders may be taken for those only.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ogive.core.arrays import Float64
from ogive.core.checks import among
from ogive.errors import ParameterError
from ogive.privacy import Rational, exact, number_text

# --- The Renyi orders that costs are kept at, and which orders a caller may ask for

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
    """Orders as an array, one order as an array of one."""
    try:
        result = np.atleast_1d(np.asarray(orders, dtype=np.float64))
    except (TypeError, ValueError):
        raise ParameterError("`orders` must be numbers above 1") from None
    if result.ndim != 1 or result.size == 0 or not np.all((result > 1) & (result <= LARGEST_ORDER)):
        raise ParameterError(f"`orders` must be numbers above 1 and at most {LARGEST_ORDER:g}, at least one of them")
    if np.any(np.diff(result) <= 0):
        raise ParameterError("`orders` must increase")
    return result


# --- The conversion

Rule = Literal["paper", "tight"]


class Converted(NamedTuple):
    """An epsilon, or delta, and the order that it was found at."""

    value: float
    order: float


def epsilon_of_rdp(costs: ArrayLike, orders: ArrayLike, *, target_delta: Rational, rule: Rule = "tight") -> Converted:
    """The least epsilon over orders that costs imply with a delta.

    Args:
        costs: Renyi costs, shape (orders,).
        orders: Increasing orders above 1.
        target_delta: Strictly between 0 and 1.
        rule: "tight" or "paper".
    """
    log_delta = math.log(check_delta(target_delta))
    grid, paid = _checked(costs, orders)
    if among(rule, "rule", ("tight", "paper")) == "paper":
        result = paid - log_delta / (grid - 1)
    else:
        result = paid + np.log1p(-1 / grid) - (log_delta + np.log(grid)) / (grid - 1)
    place = int(result.argmin())
    return Converted(max(0.0, float(result[place])), float(grid[place]))


def check_delta(value: Rational) -> float:
    """A delta, if it is a number or the text of one strictly between 0 and 1."""
    number = exact(value, "target_delta")
    if not 0 < number < 1:
        raise ParameterError(f"`target_delta` must be strictly between 0 and 1, got {number_text(number)}")
    return float(number)


def _checked(costs: ArrayLike, orders: ArrayLike) -> tuple[Float64, Float64]:
    grid = check_orders(orders)
    paid = np.atleast_1d(np.asarray(costs, dtype=np.float64))
    if paid.shape != grid.shape or not np.all(paid >= 0):
        raise ParameterError("`costs` must be numbers of at least 0, one for each order")
    return grid, paid
