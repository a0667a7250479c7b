"""The Renyi cost of one LNMax answer: 2 / scale pure differential privacy, and less where the teachers agree.

Source:
    Papernot et al. 2017, Theorems 2 and 3; the pure curve is that of randomized response, its worst case.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ogive.arrays import Float64
from ogive.checks import among
from ogive.pate.costs.losing import check_scale
from ogive.pate.costs.orders import check_orders
from ogive.pate.costs.theorem3 import theorem3


def rdp_lnmax(log_q: ArrayLike, scale: float, orders: ArrayLike, *, curve: str = "tight") -> Float64:
    """Renyi cost of each answer at each order.

    Args:
        log_q: ln of a bound on losing the plurality, shape (queries,).
        scale: Of the Laplace noise, in votes; a party with k teachers: scale / k, with log_q from scale itself.
        orders: Increasing orders above 1.
        curve: "tight" for the exact curve of pure differential privacy where the teachers disagree, "paper" for
            the least of epsilon and epsilon^2 order / 2.

    Returns:
        Shape (queries, orders).

    Raises:
        ParameterError: an argument is out of range.

    Privacy:
        The costs depend on private votes: they must not be published.
    """
    grid = check_orders(orders)
    logs = np.asarray(log_q, dtype=np.float64)[:, None]
    fixed = independent_lnmax(scale, grid, curve=curve)
    epsilon = 2 / scale
    with np.errstate(divide="ignore"):
        closed = theorem3(logs, grid, mu_1=np.inf, epsilon_1=epsilon, mu_2=np.inf, epsilon_2=epsilon)
    return np.minimum(closed, fixed)


def independent_lnmax(scale: float, orders: ArrayLike, *, curve: str = "tight") -> Float64:
    """What an answer costs at most at each order, whatever the votes; shape (orders,).

    Raises:
        ParameterError: an argument is out of range.
    """
    check_scale(scale, "scale")
    grid, epsilon = check_orders(orders), 2 / scale
    if among(curve, "curve", ("tight", "paper")) == "paper":
        return np.minimum(epsilon, epsilon**2 * grid / 2)
    # e^(order epsilon) + e^(-(order - 1) epsilon) over 1 + e^epsilon, logs throughout
    total = np.logaddexp(grid * epsilon, -(grid - 1) * epsilon) - np.logaddexp(0.0, epsilon)
    return np.asarray(np.maximum(total / (grid - 1), 0.0))
