"""The Renyi cost of a threshold check: one bit, whether the highest count plus noise reaches T.

Both tails are computed by themselves: ln(1 - p) from ln p would lose every digit where the bit is nearly certain. A
teacher moves the highest count by at most 1, and the divergence is convex in the neighbour's count, so both ends of
that range give the exact cost.

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

from ogive.arrays import Float64
from ogive.checks import among
from ogive.errors import ParameterError, quoted
from ogive.pate.costs.gnmax import rdp_gnmax
from ogive.pate.costs.losing import Noise, check_scale, unit_of
from ogive.pate.costs.orders import check_orders

Mode = Literal["independent", "theorem3", "exact"]
MODES: tuple[Mode, ...] = ("independent", "theorem3", "exact")

_LARGE = 40.0
"""From this power on e^power - 1 is e^power to all digits."""


def check_tails(
    highest: ArrayLike, threshold: float, sigma_1: float, *, noise: Noise = "continuous"
) -> tuple[Float64, Float64]:
    """Ln Pr[pass] and ln Pr[refuse] for each highest count.

    Args:
        highest: Counts, or the rounded largest excess of an interactive check; any shape. Whole numbers, where the
            noise is of integers.
        threshold: Votes that the count must reach with noise.
        sigma_1: Of the check's noise.
        noise: Which noise is meant.

    Raises:
        ParameterError: sigma_1, threshold or noise is out of range.
    """
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
    """Renyi cost of each check at each order.

    Args:
        highest: Counts, shape (queries,).
        threshold: Votes that the count must reach with noise.
        sigma_1: Of the check's noise.
        orders: Increasing orders above 1.
        mode: "independent" of votes, by "theorem3" as in the paper, or "exact".
        group: Teachers of one party, all of which may change.
        noise: Which noise is meant.

    Returns:
        Shape (queries, orders).

    Raises:
        ParameterError: an argument is out of range.

    Privacy:
        Costs depend on private votes unless the mode is "independent".
    """
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
    """The largest exact cost of a check, whatever the votes; shape (orders,).

    Args:
        threshold: Votes that the count must reach with noise.
        sigma_1: Of the check's noise.
        orders: Increasing orders above 1.
        teachers: How many vote, so that counts go from 0 to that; None for any real count, which also covers
            continuous noise of more variance than stated.
        group: Number of teachers of one party.
        noise: Which noise is meant.

    Raises:
        ParameterError: an argument is out of range, or any real count is asked of integer noise.
    """
    grid = check_orders(orders)
    if teachers is not None:
        counts = np.arange(teachers + 1)
        return np.asarray(rdp_threshold(counts, threshold, sigma_1, grid, group=group, noise=noise).max(axis=0))
    if noise != "continuous":
        raise ParameterError("the largest cost over all real counts is that of continuous noise")
    check_scale(sigma_1, "sigma_1")
    return np.array([_largest(group / sigma_1, order) for order in grid])


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

    Args:
        log_chance: ln of the chance, broadcast to the shape of `power`; e^log_chance may be too small for a double.
        power: What the term's exponent adds to it.
    """
    found = np.exp(log_chance) * np.expm1(np.minimum(power, _LARGE))
    large = power > _LARGE
    if large.any():
        # added before they are raised: a faint chance times a large power can be anything
        found[large] = np.exp(np.minimum(np.broadcast_to(log_chance, power.shape)[large] + power[large], 1.0))
    return np.asarray(found)


def _largest(shift: float, order: float) -> float:
    """The largest cost of a bit of unit noise whose mean moves by `shift`, over all means."""

    def cost(mean: float) -> float:
        here = (log_ndtr(np.array([mean])), log_ndtr(np.array([-mean])))
        found = [
            bit_divergence(
                here, (log_ndtr(np.array([mean + move])), log_ndtr(np.array([-mean - move]))), np.array([order])
            )
            for move in (-shift, shift)
        ]
        return float(np.maximum(*found)[0, 0])

    # a nearly certain bit costs most (order - 1) shift from its threshold
    reach = 12 + order * shift
    means = np.linspace(0, reach, 2000)
    here = (log_ndtr(means), log_ndtr(-means))
    rows = [
        bit_divergence(here, (log_ndtr(means + move), log_ndtr(-means - move)), np.array([order]))
        for move in (-shift, shift)
    ]
    best = float(means[np.maximum(*rows)[:, 0].argmax()])
    step = means[1]
    found = minimize_scalar(lambda mean: -cost(mean), bounds=(best - step, best + step), options={"xatol": 1e-9})
    return max(cost(best), float(-found.fun))


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
