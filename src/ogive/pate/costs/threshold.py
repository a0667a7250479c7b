"""The Renyi cost of a threshold check: one bit, whether the highest count plus noise reaches T.

Both tails are computed by themselves: ln(1 - p) from ln p would lose every digit where the bit is nearly certain. A
teacher moves the highest count by at most 1, and the divergence is convex in the neighbour's count, so both ends of
that range give the exact cost.

Throughout, `highest` are counts, or the rounded largest excess of an interactive check, shape (queries,), whole numbers
where the noise is of integers; `threshold` is what a count must reach with noise of scale `sigma_1`, both in votes;
`orders` are Renyi orders, increasing and above 1, and costs have the shape (queries, orders); a party has `group`
teachers, all of which may change. Costs depend on private votes unless they are independent.

Source:
    Papernot et al. 2018, Section 4.3 and Appendix A; the exact cost: docs/proofs/pate_costs.md.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.special import log_ndtr

from ogive.core.arrays import Float64
from ogive.core.checks import among
from ogive.errors import ParameterError, quoted
from ogive.pate.costs.answers import Noise, check_orders, check_scale, rdp_gnmax, unit_of

Mode = Literal["independent", "theorem3", "exact"]
MODES: tuple[Mode, ...] = ("independent", "theorem3", "exact")

_LARGE = 40.0
"""From this power on e^power - 1 is e^power to all digits."""


def check_tails(
    highest: ArrayLike, threshold: float, sigma_1: float, *, noise: Noise = "continuous"
) -> tuple[Float64, Float64]:
    """Ln Pr[pass] and ln Pr[refuse] for each highest count, of any shape."""
    check_scale(sigma_1, "sigma_1")
    if not math.isfinite(threshold):
        raise ParameterError(f"`threshold` must be a finite number, got {quoted(threshold)}")
    unit = unit_of(noise)
    distance = np.asarray(highest, dtype=np.float64) - threshold
    if noise == "discrete":
        return _integer_tails(np.floor(distance), sigma_1)
    # at 2^16 integers a vote, a tail of the discrete Gaussian is that of the rounded one up to 1e-10 sigma_1^-2
    distance = np.floor(distance / unit) * unit + unit / 2 if unit else distance
    return log_ndtr(distance / sigma_1), log_ndtr(-distance / sigma_1)


def rdp_threshold(
    highest: ArrayLike,
    threshold: float,
    sigma_1: float,
    orders: ArrayLike,
    mode: Mode = "exact",
    *,
    group: int = 1,
    noise: Noise = "continuous",
) -> Float64:
    """Renyi cost of each check at each order: "independent" of votes, by "theorem3" as in the paper, or "exact"."""
    grid = check_orders(orders)
    counts = np.atleast_1d(np.asarray(highest, dtype=np.float64))
    if among(mode, "mode", MODES) == "independent":
        check_scale(sigma_1, "sigma_1")
        return np.broadcast_to(grid * group**2 / (2 * sigma_1**2), (counts.size, grid.size)).copy()
    if mode == "theorem3":
        log_pass, log_refuse = check_tails(counts, threshold, sigma_1, noise=noise)
        return rdp_gnmax(np.minimum(log_pass, log_refuse), math.sqrt(2) * sigma_1 / group, grid)
    values, places = np.unique(counts, return_inverse=True)
    here = check_tails(values, threshold, sigma_1, noise=noise)
    costs = [
        bit_divergence(here, check_tails(values + move, threshold, sigma_1, noise=noise), grid)
        for move in (-group, group)
    ]
    return np.maximum(*costs)[places]


def sup_threshold(
    threshold: float,
    sigma_1: float,
    orders: ArrayLike,
    *,
    teachers: int | None,
    group: int = 1,
    noise: Noise = "continuous",
) -> Float64:
    """The largest exact cost of a check, whatever the votes; shape (orders,)."""
    grid = check_orders(orders)
    if teachers is not None:
        counts = np.arange(teachers + 1)
        return np.asarray(rdp_threshold(counts, threshold, sigma_1, grid, group=group, noise=noise).max(axis=0))
    if noise != "continuous":
        raise ParameterError("the largest cost over all real counts is that of continuous noise")
    check_scale(sigma_1, "sigma_1")
    return np.array([_largest_at_order(group / sigma_1, order) for order in grid])


def bit_divergence(here: tuple[Float64, Float64], there: tuple[Float64, Float64], orders: Float64) -> Float64:
    """Renyi divergence of two bits, given ln Pr[1] and ln Pr[0] of each, shape (bits,); shape (bits, orders).

    The sum of both terms is 1 where the bits agree, so that it is added up as 1 plus what each term gains.
    """
    gained = np.zeros((here[0].size, orders.size))
    largest = np.full_like(gained, -np.inf)
    for one, other in zip(here, there, strict=True):
        power = (orders - 1) * (one - other)[:, None]
        gained += gain(one[:, None], power)
        largest = np.logaddexp(largest, one[:, None] + power)
    # near 0 by the gains, elsewhere by the logs, which do not overflow
    total = np.where(largest < 0.5, np.log1p(gained), largest)
    return np.asarray(np.maximum(total / (orders - 1), 0.0))


def gain(log_chance: Float64, power: Float64) -> Float64:
    """What a term gains on its chance, e^log_chance (e^power - 1), to all digits where the term is at most e.

    `log_chance`: ln of the chance, broadcast to the shape of `power`; e^log_chance may be too small for a double.
    """
    result = np.exp(log_chance) * np.expm1(np.minimum(power, _LARGE))
    large = power > _LARGE
    if large.any():
        # added before they are raised: a faint chance times a large power can be anything
        result[large] = np.exp(np.minimum(np.broadcast_to(log_chance, power.shape)[large] + power[large], 1.0))
    return np.asarray(result)


def _largest_at_order(shift: float, order: float) -> float:
    """The largest cost of a bit of unit noise whose mean moves by `shift`, over all means."""

    def costs(means: Float64) -> Float64:
        here = (log_ndtr(means), log_ndtr(-means))
        results = [
            bit_divergence(here, (log_ndtr(means + move), log_ndtr(-means - move)), np.array([order]))
            for move in (-shift, shift)
        ]
        return np.asarray(np.maximum(*results)[:, 0])

    def cost(mean: float) -> float:
        return float(costs(np.array([mean]))[0])

    # a nearly certain bit costs most (order - 1) shift from its threshold
    means = np.linspace(0, 12 + order * shift, 2000)
    best, step = float(means[costs(means).argmax()]), means[1]
    results = minimize_scalar(lambda mean: -cost(mean), bounds=(best - step, best + step), options={"xatol": 1e-9})
    return max(cost(best), float(-results.fun))


def _integer_tails(distance: Float64, sigma: float) -> tuple[Float64, Float64]:
    """Ln Pr[Z >= -distance] and ln Pr[Z < -distance] for a discrete Gaussian Z and whole distances."""
    reach = int(np.abs(distance).max(initial=0.0)) + math.ceil(12 * sigma) + 2
    # both tails are sums of their own, from the outside in
    upper = np.logaddexp.accumulate(-(np.arange(reach, -reach - 1, -1.0) ** 2) / (2 * sigma**2))[::-1]
    total = upper[0]
    places = np.asarray(distance, dtype=np.int64)
    log_pass = upper[-places + reach]
    # Pr[Z < -d] = Pr[Z >= d + 1]
    log_refuse = upper[places + 1 + reach]
    return log_pass - total, log_refuse - total


# --- What a check and an answer cost together: four ways to count, of which two are bounds
#
# - `joint`: the step as one mechanism with classes + 1 outcomes. A bound for every neighbour, from the data set held to
#   it.
# - `joint` that is two-sided: the same, and from every neighbour to the data set held.
# - `realised`: the check always, the answer where there was one. A bound on the realised loss at one order fixed
#   before.
# - `expected`: the paper's average over passing. Not a bound, since the log of a mean is not the mean of logs.
#
# The votes enter as the highest count, which a teacher moves by at most 1, and as the cost of an answer.
#
# Source:
#     Papernot et al. 2018, Section 4.3; proofs: docs/proofs/pate_costs.md.


def joint(
    highest: ArrayLike,
    threshold: float,
    sigma_1: float,
    answers: ArrayLike,
    orders: ArrayLike,
    *,
    two_sided: bool = False,
    group: int = 1,
    noise: Noise = "continuous",
) -> Float64:
    """Renyi cost of each query, check and answer as one mechanism, to every neighbour, and back where two-sided.

    `answers` are bounds on what an answer costs, shape (queries, orders) or (orders,).
    """
    there = _largest_joint(highest, threshold, sigma_1, answers, orders, moves=(-group, group), noise=noise)
    if not two_sided:
        return there
    # the neighbour's highest count is any whole number in between
    moves = tuple(range(-group, group + 1))
    back = _largest_joint(highest, threshold, sigma_1, answers, orders, moves=moves, noise=noise, reverse=True)
    return np.maximum(there, back)


def expected(check: Float64, log_pass: Float64, answers: Float64) -> Float64:
    """The paper's expected cost: what a check costs plus the chance of passing times what an answer costs."""
    return check + np.exp(log_pass)[:, None] * answers


def realised(check: Float64, answered: ArrayLike, answers: Float64) -> Float64:
    """What was paid: the check for each query, the answer where there was one."""
    return check + np.asarray(answered, dtype=bool)[:, None] * answers


def _largest_joint(
    highest: ArrayLike,
    threshold: float,
    sigma_1: float,
    answers: ArrayLike,
    orders: ArrayLike,
    *,
    moves: tuple[int, ...],
    noise: Noise,
    reverse: bool = False,
) -> Float64:
    """The largest divergence over neighbours' highest counts, as 1 plus what each outcome gains, where it is small."""
    grid = check_orders(orders)
    counts = np.atleast_1d(np.asarray(highest, dtype=np.float64))
    paid = np.asarray(answers, dtype=np.float64) * (grid - 1)
    if paid.shape not in ((grid.size,), (counts.size, grid.size)):
        raise ParameterError(f"`answers` must have shape (queries, orders), got {np.shape(answers)}")
    values, places = np.unique(counts, return_inverse=True)
    result = np.zeros((counts.size, grid.size))
    for move in moves:
        here = check_tails(values, threshold, sigma_1, noise=noise)
        there = check_tails(values + move, threshold, sigma_1, noise=noise)
        if reverse:
            here, there = there, here
        passes, refuses = ((grid - 1) * (one - other)[:, None] for one, other in zip(here, there, strict=True))
        log_pass, log_refuse = here[0][:, None], here[1][:, None]
        refused = gain(log_refuse, refuses)
        power = passes[places] + paid
        logs = np.logaddexp((log_refuse + refuses)[places], log_pass[places] + power)
        # near 0 by the gains, elsewhere by the logs, which do not overflow
        small = logs < 0.5
        logs[small] = np.log1p(refused[places][small] + gain(log_pass[places], power)[small])
        np.maximum(result, logs / (grid - 1), out=result)
    return result
