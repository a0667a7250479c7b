"""Theorem 3: what a mechanism costs at a data set where one outcome is nearly certain, with all side conditions.

A mechanism that is (mu_1, e_1)- and (mu_2, e_2)-Renyi private and returns anything but one outcome with chance at
most q costs, towards every neighbour, at most

    ln((1 - q) A^(order - 1) + q B^(order - 1)) / (order - 1),
    A = (1 - q) / (1 - (q e^e_2)^((mu_2 - 1) / mu_2)),    B = e^e_1 / q^(1 / (mu_1 - 1)).

Conditions: 1 < order <= mu_1, mu_2 > 1, 0 < q < 1, q e^e_2 < 1, and

    q <= e^((mu_2 - 1) e_2) / (mu_1 / (mu_1 - 1) * mu_2 / (mu_2 - 1))^mu_2,

so that the bound grows with q. Without q e^e_2 < 1, which the paper does not print, A may be negative. Both orders
may be infinite (pure differential privacy, e_1 = e_2 = epsilon); the last condition is then q <= 1 / (e^epsilon + 1).

Source:
    Papernot et al. 2018, Theorem 3; proof with the conditions: docs/proofs/pate_costs.md.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ogive.arrays import Float64
from ogive.errors import ParameterError
from ogive.pate.costs.gnmax import log1mexp


def theorem3(
    log_q: ArrayLike,
    order: ArrayLike,
    *,
    mu_1: float,
    epsilon_1: float,
    mu_2: float,
    epsilon_2: float,
) -> Float64:
    """The bound, or infinity where a condition fails.

    Args:
        log_q: ln of the bound q; broadcast with `order`.
        order: Renyi orders, above 1.
        mu_1: Order of the first guarantee.
        epsilon_1: Its cost, at least 0.
        mu_2: Order of the second guarantee, above 1; infinite exactly if the first is.
        epsilon_2: Its cost, at least 0.

    Returns:
        Costs, at least 0.

    Raises:
        ParameterError: an order of a guarantee is not above 1, a cost is negative, or one order alone is infinite.
    """
    if not (mu_1 > 1 and mu_2 > 1 and epsilon_1 >= 0 and epsilon_2 >= 0):
        raise ParameterError("a Renyi guarantee has an order above 1 and a cost of at least 0")
    pure = math.isinf(mu_1)
    if pure != math.isinf(mu_2) or (pure and epsilon_1 != epsilon_2):
        raise ParameterError("both orders must be finite, or both infinite with one epsilon")
    logs, orders = np.broadcast_arrays(np.asarray(log_q, np.float64), np.asarray(order, np.float64))
    if pure:
        share, slope, limit = 1.0, 0.0, -float(np.logaddexp(0.0, epsilon_1))
    else:
        share, slope = (mu_2 - 1) / mu_2, 1 / (mu_1 - 1)
        limit = (mu_2 - 1) * epsilon_2 + mu_2 * (math.log1p(-1 / mu_1) + math.log1p(-1 / mu_2))
    valid = (orders > 1) & (orders <= mu_1) & (logs < 0) & (logs + epsilon_2 < 0) & (logs <= limit)
    safe = np.where(valid, logs, -1.0 - epsilon_2)
    stays = orders * log1mexp(safe) - (orders - 1) * log1mexp(share * (safe + epsilon_2))
    with np.errstate(invalid="ignore"):
        leaves = safe + (orders - 1) * (epsilon_1 - slope * safe)
    found = np.maximum(np.logaddexp(stays, leaves) / (orders - 1), 0.0)
    return np.where(valid, found, np.inf)
