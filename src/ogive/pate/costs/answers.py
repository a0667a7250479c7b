"""How likely an aggregator is to lose the plurality, what one answer of GNMax or LNMax costs, and what costs imply."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtri_exp

from ogive.core.arrays import Float64, Int64
from ogive.core.checks import WIDE, Range, among, array_of, refuse_masked
from ogive.errors import DataError, ParameterError, quoted
from ogive.privacy import Rational, exact, number_text

# --- How likely an aggregator is to return another class than the plurality: bounds on ln q, never exponentiated
#
# The union bound over rivals, with the chance that one rival overtakes a gap:
#
# - Gaussian noise on every count: erfc(gap / (2 sigma)) / 2;
# - integer (discrete Gaussian) noise: the same with gap - 1, since a rival also wins some ties; on votes multiplied by
#   2^16 a unit is 2^-16 votes;
# - Laplace noise of scale b: (2 + gap/b) e^(-gap/b) / 4; integer Laplace noise: the exact sum, ties counted as lost.
#
# Source:
#     Papernot et al. 2018, Proposition 7; Papernot et al. 2017, Lemma 4. Integer noise: docs/proofs/pate_costs.md.

Noise = Literal["continuous", "discrete", "scaled"]
"""Continuous noise, integer noise on the votes, or integer noise on the votes multiplied by 2^`SCALE_BITS`.

"scaled" is what GNMax and its kin draw; LNMax draws "discrete" noise.
"""

NOISES: tuple[Noise, ...] = ("continuous", "discrete", "scaled")

SCALE_BITS = 16
"""Votes are multiplied by 2 to this power before they get integer noise, where the noise is "scaled"."""

_CHUNK = 1 << 22


def unit_of(noise: Noise) -> float:
    """The grid of the noise, in votes; 0 for continuous noise."""
    among(noise, "noise", NOISES)
    return {"continuous": 0.0, "discrete": 1.0, "scaled": 2.0**-SCALE_BITS}[noise]


def logq_gnmax(votes: ArrayLike, sigma: float, *, noise: Noise = "continuous") -> Float64:
    """Bounds on ln Pr[the answer is not the plurality], shape (queries,), for Gaussian noise of `sigma` votes."""
    unit = unit_of(noise)
    check_scale(sigma, "sigma")
    return _union(votes, lambda gaps: log_ndtr((unit - gaps) / (math.sqrt(2) * sigma)))


def logq_lnmax(votes: ArrayLike, scale: float, *, noise: Noise = "continuous") -> Float64:
    """As `logq_gnmax` for Laplace noise of a scale in votes; the papers' gamma is its inverse."""
    unit = unit_of(noise)
    check_scale(scale, "scale")
    if not unit:
        return _union(votes, lambda gaps: np.log(2 + gaps / scale) - math.log(4) - gaps / scale)
    ratio = unit / scale
    a = math.exp(-ratio)
    # 1 - a and 1 - a^2 keep their digits where the scale is large
    fixed = math.log(-math.expm1(-ratio)) - 2 * math.log1p(a)
    shift = a / -math.expm1(-ratio) + (1 + a * a) / -math.expm1(-2 * ratio)

    def overtakes(gaps: Float64) -> Float64:
        steps = gaps / unit
        result = fixed - ratio * steps + np.log(steps + shift)
        # a tie of the counts: the rival has the higher index, so it must be strictly above
        return np.where(steps < 1, math.log(0.5), result)

    return _union(votes, overtakes)


def check_scale(value: float, name: str) -> None:
    """Refuse a size of noise that is not a finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise ParameterError(f"`{name}` must be a number above 0, got {quoted(value)}")
    if not (math.isfinite(value) and value > 0):
        raise ParameterError(f"`{name}` must be a finite number above 0, got {quoted(value)}")


def _union(votes: ArrayLike, overtakes: Callable[[Float64], Float64]) -> Float64:
    """Add up the chances of all rivals of the first largest count, in log space, a bounded number of rows at a time."""
    counts = array_of(votes)
    queries, classes = counts.shape
    result = np.empty(queries)
    step = max(1, _CHUNK // classes)
    for start in range(0, queries, step):
        part = np.asarray(counts[start : start + step], dtype=np.float64)
        rows = np.arange(part.shape[0])
        first = part.argmax(axis=1)
        terms = overtakes(part[rows, first][:, None] - part)
        terms[rows, first] = -np.inf
        largest = terms.max(axis=1)
        terms -= largest[:, None]
        result[start : start + step] = largest + np.log(np.exp(terms, out=terms).sum(axis=1))
    return np.minimum(result, math.log1p(-1 / classes))


# --- What a student expects of the votes: public scores, checked where they enter, and how far votes exceed them

_ROUNDING = 1e-3
"""How far probabilities of low precision may be from adding up to 1."""

_SCALE = 1 << SCALE_BITS


def check_probabilities(probabilities: ArrayLike | None, shape: tuple[int, ...]) -> Float64:
    """A student's probabilities, shape (queries, classes); rows add up to 1 as scores of low precision do."""
    if probabilities is None:
        raise ParameterError("aggregator interactive needs the student's probabilities, a row for every query")
    refuse_masked(probabilities)
    try:
        result = np.asarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("probabilities must be an array of numbers, a row for every query") from None
    if result.ndim != 2 or result.shape != shape:
        raise DataError(
            f"probabilities must have the shape (queries, classes) = {shape} of the votes, got {result.shape}"
        )
    for wrong, what in (
        (np.isnan(result).any(axis=1), "NaN"),
        (((result < 0) | (result > 1)).any(axis=1), "numbers outside 0 to 1"),
        (np.abs(result.sum(axis=1) - 1) > _ROUNDING, "numbers that do not add up to 1"),
    ):
        if wrong.any():
            raise DataError(f"the student's probabilities of query {int(np.argmax(wrong))} hold {what}")
    return result


def largest_excess(votes: Int64, probabilities: Float64) -> Float64:
    """The largest excess of votes over those that the student expects, rounded half up, shape (queries,).

    Expected votes are first rounded to 2^-16, as the check that is deployed rounds them, whatever its noise. From there
    on everything is exact, so one vote moves the excess by at most 1. Floating-point differences would not do: 2 less a
    bit more than 1/2 is 1.5, and 1 less as much is below 1/2, so that one vote would move it from 0 to 2. Nor would
    rounding half to even: from 0.5 to 0, from 1.5 to 2.
    """
    refusal = f"votes are expected of at most {WIDE >> SCALE_BITS} teachers"
    Range(0, int(votes.sum(axis=1, dtype=np.int64).max(initial=0)) << SCALE_BITS).check(WIDE, refusal)
    # in integers, since a float has no room for 2^-16 of more than 2^37 votes
    expected = np.floor(votes.sum(axis=1, keepdims=True) * probabilities * _SCALE + 0.5).astype(np.int64)
    excess = ((votes.astype(np.int64) << SCALE_BITS) - expected).max(axis=1)
    return np.asarray((excess + (_SCALE >> 1)) >> SCALE_BITS, dtype=np.float64)


# --- How far the chance of losing the plurality can move when one teacher changes its vote
#
#     B_U(q) = min((m-1)/2 erfc(erfcinv(2 q/(m-1)) - 1/sigma), 1)
#     B_L(q) =     (m-1)/2 erfc(erfcinv(2 q/(m-1)) + 1/sigma)
#
# Every gap between the first class and another changes by at most 2, which is 1/sigma in the argument of erfc;
# `docs/proofs/pate_sensitivity.md` has the proof. Logs throughout: 5000 unanimous teachers have q far below the
# smallest double.
#
# Source: Papernot et al. 2018, proposition 27.


def log_neighbour_bounds(log_q: Float64 | float, sigma: float, classes: int) -> tuple[Float64, Float64]:
    """Natural logs of B_L(q) and B_U(q), which bound q at every neighbour, from ln q at a histogram, of any shape."""
    rivals = math.log(classes - 1)
    place = ndtri_exp(np.asarray(log_q, np.float64) - rivals)
    shift = math.sqrt(2) / sigma
    low = rivals + log_ndtr(place - shift)
    high = np.minimum(rivals + log_ndtr(place + shift), 0.0)
    return np.asarray(low), np.asarray(high)


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

    `log_q`: ln of a bound on losing the plurality, shape (queries,). `sigma`: Of the noise of every count; a party with
    k teachers: sigma / k, with log_q from sigma itself. `orders`: Increasing orders above 1, shape (orders,), or one
    order.

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
        order: Renyi order, above 1.
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
        return -(_root(excess, low, high) ** 2)

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
    return _root(excess, low, sigma + 1)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq  # slow to import, and only costs need it

    return float(brentq(function, low, high, xtol=1e-14, rtol=1e-15))


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


# --- From a Renyi cost to (epsilon, delta), by two rules
#
# - "paper" (Mironov 2017, Proposition 3): epsilon = r + ln(1/delta) / (order - 1). It also holds for costs that are
#   only known after the run, as a bound on the realised loss, at one order that was fixed before it.
# - "tight" (Canonne, Kamath and Steinke 2020, Proposition 12; Balle et al. 2020, Theorem 21): never more, but for costs
#   that are fixed for a pair of data sets. The least over orders may be taken for those only.

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
