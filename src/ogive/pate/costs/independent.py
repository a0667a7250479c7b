"""Costs that no vote enters: what goes into ledgers, and may be published.

Checks and answers are Gaussian mechanisms whose output is processed further, so any number of them is one Gaussian
mechanism with

    mu^2 = K1 / sigma_1^2 + 2 K2 / sigma_2^2,

K1 checks and K2 answers being caps fixed before the first query: the run ends when either is reached. Its epsilon is
exact, and holds for queries that are chosen by the answers so far. Integer noise on votes scaled by 2^16 lies within
a small distance of it, which delta pays for.

Source:
    Dong, Roth and Su 2022, Corollary 3.3; Balle and Wang 2018, Theorem 8; docs/proofs/pate_costs.md.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from ogive.accounting.gaussian import DISTANCE, LEAST_SIGMA, epsilon_of_gaussian
from ogive.arrays import Float64
from ogive.errors import ParameterError
from ogive.pate.costs.laplace import independent_lnmax
from ogive.pate.costs.losing import SCALE_BITS, Noise, unit_of
from ogive.pate.costs.orders import check_orders
from ogive.privacy import GaussianDP, Rational, exact


def gaussian_loss(
    *,
    checks: int = 0,
    sigma_1: Rational | None = None,
    answers: int = 0,
    sigma_2: Rational | None = None,
    classes: int,
    group: int = 1,
    noise: Noise = "continuous",
) -> GaussianDP:
    """The exact loss of checks and answers, both caps fixed beforehand.

    Args:
        checks: Most checks.
        sigma_1: Of a check's noise, in votes.
        answers: Most answers, or opened histograms.
        sigma_2: Of the noise of every count of an answer, in votes.
        classes: At least 2.
        group: Number of teachers of one party.
        noise: "continuous" or "scaled"; integer noise on plain votes has no such loss.

    Raises:
        ParameterError: an argument is out of range, or the noise is of plain integers.
    """
    unit_of(noise)
    if noise == "discrete":
        raise ParameterError("integer noise on plain votes is not Gaussian; scale the votes, or use its Renyi costs")
    squared, distance = Fraction(0), Fraction(0)
    # a vote moves two counts, and the highest count by at most 1
    for times, sigma, moved, integers in ((checks, sigma_1, 1, 1), (answers, sigma_2, 2, classes)):
        if times == 0:
            continue
        size = None if sigma is None else exact(sigma, "sigma")
        if size is None or size <= 0 or times < 0:
            raise ParameterError("checks and answers are numbers of at least 0, each with a noise above 0")
        squared += Fraction(times * moved * group**2) / size**2
        if noise == "scaled":
            if size * 2**SCALE_BITS < LEAST_SIGMA:
                raise ParameterError(f"`sigma` must be at least {LEAST_SIGMA / 2**SCALE_BITS:.3g}, got {float(size):g}")
            distance += times * integers * DISTANCE / (size * 2**SCALE_BITS) ** 2
    return GaussianDP(squared, distance)


def gaussian_epsilon(loss: GaussianDP, target_delta: Rational) -> float:
    """The exact epsilon of a loss with a delta; rounded up.

    Raises:
        ParameterError: delta is out of range, or the distance from Gaussian noise uses it up.
    """
    found = epsilon_of_gaussian(loss, exact(target_delta, "target_delta"))
    near = float(found)
    return near if near >= found else float(np.nextafter(near, np.inf))


def independent_rdp(
    orders: ArrayLike,
    *,
    checks: int = 0,
    sigma_1: float = 1.0,
    answers: int = 0,
    sigma_2: float = 1.0,
    group: int = 1,
) -> Float64:
    """Renyi cost of checks and answers with Gaussian noise, continuous or of integers; shape (orders,).

    Raises:
        ParameterError: orders are out of range.
    """
    grid = check_orders(orders)
    return grid * group**2 * (checks / (2 * sigma_1**2) + answers / sigma_2**2)


def laplace_rdp(orders: ArrayLike, *, answers: int, scale: float, group: int = 1) -> Float64:
    """Renyi cost of answers with Laplace noise; shape (orders,).

    Raises:
        ParameterError: an argument is out of range.
    """
    return answers * independent_lnmax(scale / group, orders)
