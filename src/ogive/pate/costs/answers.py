"""The Renyi cost of one answer of GNMax or LNMax, by Theorem 3 of the paper."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from ogive.core.arrays import Float64
from ogive.core.checks import among
from ogive.errors import ParameterError
from ogive.pate.costs.conversion import check_orders
from ogive.pate.costs.losing import check_scale

# --- One GNMax answer: Theorem 3 at its best orders, in closed form
#
# With s = sqrt(-ln q) the orders mu_2 = sigma s and mu_1 = mu_2 + 1 are best, and Theorem 3 becomes
#
#     X = order ln(1 - e^(-s^2)) - (order - 1) ln(1 - e^(-(s - 1/sigma)^2))
#     Y = order (order - 1) / sigma^2 - (s - (order - 1)/sigma)^2
#     cost = ln(e^X + e^Y) / (order - 1),
#
# valid where mu_2 >= order - 1 and 2 mu_2 - 1 >= sigma^2 ln((mu_2 + 1) / (mu_2 - 1)). The cost grows with q. Where
# it would pass order / sigma^2, which always holds, or is not valid, that is taken: one function beta(q), the same for
# what a release costs and for how sensitive that cost is.
#
# Source:
#     Papernot et al. 2018, Theorem 3 and Proposition 8 (the orders); the closed form: docs/proofs/pate_costs.md.

Variant = Literal["exact", "conservative"]
"""From where the closed form is used: all that is valid, or the range of the paper's own smooth sensitivity."""


def log1mexp(value: Float64) -> Float64:
    """ln(1 - e^value) for value <= 0, precise at both ends; -inf at 0."""
    with np.errstate(divide="ignore"):
        small = value < -math.log(2)
        return np.where(
            small, np.log1p(-np.exp(np.where(small, value, -1.0))), np.log(-np.expm1(np.where(small, -1.0, value)))
        )


def rdp_gnmax(log_q: ArrayLike, sigma: float, orders: ArrayLike, *, variant: Variant = "exact") -> Float64:
    """Renyi cost of each answer at each order.

    Args:
        log_q: ln of a bound on losing the plurality, shape (queries,).
        sigma: Of the noise of every count; a party with k teachers: sigma / k, with log_q from sigma itself.
        orders: Increasing orders above 1, shape (orders,), or one order.
        variant: From where the closed form is used.

    Returns:
        Costs, at most order / sigma^2, shape (queries, orders).

    Privacy:
        The costs depend on private votes: they must not be published.
    """
    check_scale(sigma, "sigma")
    grid = check_orders(orders)
    logs = np.asarray(log_q, dtype=np.float64)
    independent = grid / sigma**2
    result = np.broadcast_to(independent, (logs.size, grid.size)).copy()
    if logs.size == 0:
        return result
    start = _start(sigma, grid, variant)
    # with no consensus nothing is better than the fixed cost
    rows = np.flatnonzero(logs < start.max())
    if rows.size:
        with np.errstate(over="ignore", invalid="ignore"):
            closed = _closed(logs[rows][:, None], sigma, grid)
        result[rows] = np.where(logs[rows][:, None] < start, np.fmin(closed, independent), independent)
    return result


@dataclass(frozen=True)
class GnmaxBound:
    """The cost beta(q) of one answer at one order, and the point from which it is constant.

    Fields:
        sigma: Of the noise of every count.
        order: Renyi order, above 1.
        variant: From where the closed form is used.
    """

    sigma: float
    order: float
    variant: Variant = "exact"

    def __post_init__(self) -> None:
        check_scale(self.sigma, "sigma")
        check_orders(self.order)
        _check_variant(self.variant)

    @property
    def independent(self) -> float:
        """What an answer costs at most, whatever the votes."""
        return self.order / self.sigma**2

    @cached_property
    def log_q0(self) -> float:
        """Cost depends on votes for ln q below this, and is `independent` from it on."""
        start = float(_start(self.sigma, np.array([self.order]), self.variant)[0])

        def excess(s: float) -> float:
            closed = _closed(np.array([-(s**2)]), self.sigma, np.array([self.order]))
            return float(closed[0]) - self.independent

        low = math.sqrt(-start)
        if excess(low) < 0:
            return start
        high = 2 * low
        while excess(high) >= 0:
            low, high = high, 1.5 * high
        return -(float(brentq(excess, low, high, xtol=1e-14, rtol=1e-15)) ** 2)

    def beta(self, log_q: ArrayLike) -> Float64:
        """Cost for each ln q, never below 0; the same shape."""
        logs = np.asarray(log_q, dtype=np.float64)
        return rdp_gnmax(logs.ravel(), self.sigma, self.order, variant=self.variant)[:, 0].reshape(logs.shape)


def _closed(log_q: Float64, sigma: float, orders: Float64) -> Float64:
    """The closed form, whether valid or not; `log_q` and `orders` are broadcast."""
    s = np.sqrt(-log_q)
    moved = s - 1 / sigma
    stays = orders * log1mexp(log_q) - (orders - 1) * log1mexp(-(moved**2))
    leaves = orders * (orders - 1) / sigma**2 - (s - (orders - 1) / sigma) ** 2
    return np.maximum(np.logaddexp(stays, leaves) / (orders - 1), 0.0)


def _start(sigma: float, orders: Float64, variant: Variant) -> Float64:
    """Ln q below which the closed form is used, per order."""
    _check_variant(variant)
    if variant == "exact":
        s = np.maximum(_least_mu(sigma), orders - 1) / sigma
    else:
        s = np.maximum(1 + 1 / sigma, (orders - 0.99) / sigma)
    return -(s**2)


@lru_cache(maxsize=256)
def _least_mu(sigma: float) -> float:
    """The root in (1, sigma + 1] of 2 mu - 1 = sigma^2 ln((mu + 1) / (mu - 1)), from which Theorem 3 is valid."""

    def excess(mu: float) -> float:
        return 2 * mu - 1 - sigma**2 * 2 * math.atanh(1 / mu)

    low = math.nextafter(1.0, 2.0)
    if excess(low) >= 0:
        return low  # sigma so small that the root is 1 up to rounding
    return float(brentq(excess, low, sigma + 1, xtol=1e-14, rtol=1e-15))


def _check_variant(variant: Variant) -> None:
    among(variant, "variant", ("exact", "conservative"))


# --- Theorem 3: what a mechanism costs at a data set where one outcome is nearly certain, with all side conditions
#
# A mechanism that is (mu_1, e_1)- and (mu_2, e_2)-Renyi private and returns anything but one outcome with chance at
# most q costs, towards every neighbour, at most
#
#     ln((1 - q) A^(order - 1) + q B^(order - 1)) / (order - 1),
#     A = (1 - q) / (1 - (q e^e_2)^((mu_2 - 1) / mu_2)),    B = e^e_1 / q^(1 / (mu_1 - 1)).
#
# Conditions: 1 < order <= mu_1, mu_2 > 1, 0 < q < 1, q e^e_2 < 1, and
#
#     q <= e^((mu_2 - 1) e_2) / (mu_1 / (mu_1 - 1) * mu_2 / (mu_2 - 1))^mu_2,
#
# so that the bound grows with q. Without q e^e_2 < 1, which the paper does not print, A may be negative. Both orders
# may be infinite (pure differential privacy, e_1 = e_2 = epsilon); the last condition is then q <= 1 / (e^epsilon + 1).
#
# Source:
#     Papernot et al. 2018, Theorem 3; proof with the conditions: docs/proofs/pate_costs.md.


def theorem3(
    log_q: ArrayLike, order: ArrayLike, *, mu_1: float, epsilon_1: float, mu_2: float, epsilon_2: float
) -> Float64:
    """The bound, or infinity where a condition fails."""
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
    result = np.maximum(np.logaddexp(stays, leaves) / (orders - 1), 0.0)
    return np.where(valid, result, np.inf)


# --- One LNMax answer: 2 / scale pure differential privacy, and less where the teachers agree
#
# Source:
#     Papernot et al. 2017, Theorems 2 and 3; the pure curve is that of randomized response, its worst case.


def rdp_lnmax(log_q: ArrayLike, scale: float, orders: ArrayLike, *, curve: str = "tight") -> Float64:
    """As `rdp_gnmax` for Laplace noise of a scale in votes: Renyi cost of each answer at each order.

    `curve` is "tight" for the exact curve of pure differential privacy where the teachers disagree, "paper" for the
    least of epsilon and epsilon^2 order / 2.
    """
    grid = check_orders(orders)
    logs = np.asarray(log_q, dtype=np.float64)[:, None]
    fixed = independent_lnmax(scale, grid, curve=curve)
    epsilon = 2 / scale
    with np.errstate(divide="ignore"):
        closed = theorem3(logs, grid, mu_1=np.inf, epsilon_1=epsilon, mu_2=np.inf, epsilon_2=epsilon)
    return np.minimum(closed, fixed)


def independent_lnmax(scale: float, orders: ArrayLike, *, curve: str = "tight") -> Float64:
    """What an answer costs at most at each order, whatever the votes; shape (orders,)."""
    check_scale(scale, "scale")
    grid, epsilon = check_orders(orders), 2 / scale
    if among(curve, "curve", ("tight", "paper")) == "paper":
        return np.minimum(epsilon, epsilon**2 * grid / 2)
    # e^(order epsilon) + e^(-(order - 1) epsilon) over 1 + e^epsilon, logs throughout
    total = np.logaddexp(grid * epsilon, -(grid - 1) * epsilon) - np.logaddexp(0.0, epsilon)
    return np.asarray(np.maximum(total / (grid - 1), 0.0))
