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

import threading
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from ogive.accounting import gaussian_rho
from ogive.accounting.losses import DISTANCE, LEAST_SIGMA, epsilon_of_gaussian, largest_mu
from ogive.core.arrays import Float64
from ogive.core.checks import all_whole
from ogive.errors import BudgetError, ParameterError, UnsupportedError, quoted
from ogive.pate.aggregators import Aggregator, ConfidentGNMax, GNMax, InteractiveGNMax, answer_sigma, check_aggregator
from ogive.pate.costs.answers import independent_lnmax
from ogive.pate.costs.conversion import check_orders
from ogive.pate.costs.losing import SCALE_BITS, Noise, unit_of
from ogive.privacy import ApproxDP, GaussianDP, Rational, exact


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
    """The exact loss of checks and answers, both caps fixed beforehand."""
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
    """The exact epsilon of a loss with a delta; rounded up."""
    result = epsilon_of_gaussian(loss, exact(target_delta, "target_delta"))
    near = float(result)
    return near if near >= result else float(np.nextafter(near, np.inf))


def independent_rdp(
    orders: ArrayLike, *, checks: int = 0, sigma_1: float = 1.0, answers: int = 0, sigma_2: float = 1.0, group: int = 1
) -> Float64:
    """Renyi cost of checks and answers with Gaussian noise, continuous or of integers; shape (orders,)."""
    grid = check_orders(orders)
    return grid * group**2 * (checks / (2 * sigma_1**2) + answers / sigma_2**2)


def laplace_rdp(orders: ArrayLike, *, answers: int, scale: float, group: int = 1) -> Float64:
    """Renyi cost of answers with Laplace noise; shape (orders,)."""
    return answers * independent_lnmax(scale / group, orders)


# --- A filter that stops a run before its budget is passed, whatever was asked and answered so far
#
# It pays for every check and every answer at its data-independent price, which no vote enters, so that where a run
# ends tells nothing but the answers do. Gaussian mechanisms chosen by earlier outputs add up as fixed ones do, as long
# as their sum stays within a number that was fixed before the first: docs/proofs/pate_costs.md. Costs that depend on
# votes have no place here: the moment at which they pass a budget depends on votes too, and no bound counts that.
#
# Source:
#     Rogers, Roth, Ullman and Vadhan 2016 (filters); Smith and Thakurta 2022, Theorem 1 (Gaussian mechanisms).

_PAYING = threading.Lock()  # of all filters, so that one can be copied


class PrivacyFilter:
    """Privacy filter: the remaining budget while queries are asked one after another.

    Args:
        aggregator: The aggregator; it must have Gaussian noise and answer one query at a time.
        epsilon: Epsilon of the budget.
        target_delta: Delta of the budget.
        classes: Number of classes.
        group: Number of teachers of one party.
        noise: "scaled", as `label` draws it, or "continuous".

    Raises:
        ParameterError: an argument is out of range.
        UnsupportedError: the aggregator has Laplace noise, or releases histograms.

    Example:
        >>> budget = PrivacyFilter(GNMax(40), epsilon=1, target_delta=1e-5, classes=10)
        >>> while budget.allows(answers=1):
        ...     budget.pay(answers=1)
        >>> budget.answers
        57
    """

    def __init__(
        self,
        aggregator: Aggregator,
        *,
        epsilon: Rational,
        target_delta: Rational,
        classes: int,
        group: int = 1,
        noise: Noise = "scaled",
    ) -> None:
        check_aggregator(aggregator)
        if not isinstance(aggregator, GNMax | ConfidentGNMax | InteractiveGNMax):
            raise UnsupportedError(
                f"a privacy filter charges single answers with Gaussian noise, not {quoted(aggregator)}"
            )
        self.granted = ApproxDP(epsilon, target_delta)
        self.checks = 0
        self.answers = 0
        self._check = (
            gaussian_loss(checks=1, sigma_1=aggregator.sigma_1, classes=classes, group=group, noise=noise)
            if isinstance(aggregator, ConfidentGNMax | InteractiveGNMax)
            else None
        )
        self._answer = gaussian_loss(
            answers=1, sigma_2=answer_sigma(aggregator), classes=classes, group=group, noise=noise
        )
        # the most of both kinds' distances, so that whatever mixture is run stays within both sums; or in zCDP, which
        # integers keep exactly
        rates = [one.distance / one.mu_squared for one in (self._check, self._answer) if one is not None]
        self._most = max(Fraction(largest_mu(self.granted, max(rates))) ** 2, 2 * gaussian_rho(self.granted).rho)

    def allows(self, *, checks: int = 0, answers: int = 0) -> bool:
        """Whether this number of further checks and answers fits; test both before a query is checked.

        Raises:
            ParameterError: a number is negative, or there are checks without a threshold.
        """
        return self._after(checks, answers) <= self._most

    def pay(self, *, checks: int = 0, answers: int = 0) -> None:
        """Charge checks and answers before they are made.

        Raises:
            BudgetError: they exceed the budget; nothing is charged.
            ParameterError: a number is negative, or there are checks without a threshold.
        """
        with _PAYING:
            if not self.allows(checks=checks, answers=answers):
                raise BudgetError(
                    f"{checks} checks and {answers} answers more do not fit after {self.checks} checks and "
                    f"{self.answers} answers; end the run"
                )
            self.checks += checks
            self.answers += answers

    def _after(self, checks: int, answers: int) -> Fraction:
        """Mu squared after more checks and answers."""
        all_whole((checks, answers), "checks and answers", 0)
        if checks and self._check is None:
            raise ParameterError("this aggregator has no threshold, so it has no checks")
        kinds = ((self.checks + checks, self._check), (self.answers + answers, self._answer))
        return sum((times * one.mu_squared for times, one in kinds if one is not None), Fraction(0))
