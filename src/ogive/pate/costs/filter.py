"""A filter that stops a run before its budget is passed, whatever was asked and answered so far.

It pays for every check and every answer at its data-independent price, which no vote enters, so that where a run
ends tells nothing but the answers do. Gaussian mechanisms chosen by earlier outputs add up as fixed ones do, as long as
their sum stays within a number that was fixed before the first: docs/proofs/pate_costs.md. Costs that depend on votes
have no place here: the moment at which they pass a budget depends on votes too, and no bound counts that.

Source:
    Rogers, Roth, Ullman and Vadhan 2016 (filters); Smith and Thakurta 2022, Theorem 1 (Gaussian mechanisms).
"""

from __future__ import annotations

import threading
from fractions import Fraction

from ogive.accounting import gaussian_rho
from ogive.accounting.gaussian import largest_mu
from ogive.checks import all_whole
from ogive.errors import BudgetError, ParameterError, UnsupportedError, quoted
from ogive.pate.aggregators import Aggregator, ConfidentGNMax, GNMax, InteractiveGNMax, check_aggregator
from ogive.pate.costs.independent import gaussian_loss
from ogive.pate.costs.losing import Noise
from ogive.privacy import ApproxDP, Rational

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
        sigma_2 = aggregator.sigma_2 if isinstance(aggregator, ConfidentGNMax | InteractiveGNMax) else aggregator.sigma
        self._answer = gaussian_loss(answers=1, sigma_2=sigma_2, classes=classes, group=group, noise=noise)
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
