"""What a run of an aggregator cost: one number, how it was found, and what it means.

Data-independent costs are differential privacy. All others are bounds at the data set held: true statements about one
data set, which are private themselves and belong in no ledger; `ogive.pate.sanitize` makes one that may be published.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ogive.accounting import gaussian_rho
from ogive.accounting.losses import DISTANCE, LEAST_SIGMA, epsilon_of_gaussian, largest_mu
from ogive.core.arrays import Bool, Float64, Int64
from ogive.core.checks import all_whole, among, whole
from ogive.errors import BudgetError, ParameterError, UnsupportedError, quoted
from ogive.pate import aggregators
from ogive.pate.costs import threshold as confident
from ogive.pate.costs.answers import (
    ORDERS,
    SCALE_BITS,
    Converted,
    Noise,
    Rule,
    check_delta,
    check_orders,
    check_probabilities,
    epsilon_of_rdp,
    independent_lnmax,
    largest_excess,
    log_neighbour_bounds,
    logq_gnmax,
    logq_lnmax,
    rdp_gnmax,
    rdp_lnmax,
    unit_of,
)
from ogive.pate.costs.exact import Check, is_feasible, rdp_exact
from ogive.pate.costs.stated import MODES, Mode, PrivacyCost, statement_of
from ogive.pate.votes import check_answered, check_votes
from ogive.privacy import ApproxDP, GaussianDP, Rational, exact

_VOTE = 2**SCALE_BITS
_ROWS = 1 << 12
"""Queries whose costs are in memory at a time."""
MOST_EXACT_CLASSES = 20
"""Most classes for which "auto" is exact: the work per query grows with their cube."""

MOST_EXACT_WORK = 10**8
"""Largest queries * classes^3 for which "auto" is exact, some ten seconds on one core."""


class _Run(NamedTuple):
    """Votes and options, checked."""

    votes: Int64
    highest: Float64
    grid: Float64
    noise: Noise
    group: int
    answered: Bool | None


def privacy_cost(
    votes: ArrayLike,
    aggregator: aggregators.Aggregator,
    *,
    target_delta: Rational,
    mode: Mode | Literal["auto"] = "auto",
    noise: Noise = "continuous",
    orders: ArrayLike | None = None,
    order: float | None = None,
    rule: Rule | None = None,
    max_answers: int | None = None,
    answered: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    group: int = 1,
) -> PrivacyCost:
    """Compute the privacy cost of running an aggregator on votes.

    Args:
        votes: Counts, shape (queries, classes), each row with the same number of teachers.
        aggregator: The aggregator.
        target_delta: Strictly between 0 and 1.
        mode: "auto" means "exact" if feasible (continuous or scaled Gaussian noise, at most `MOST_EXACT_CLASSES`
            classes, work up to `MOST_EXACT_WORK`, all public), else "joint"; and "independent" for `InteractiveGNMax`,
            whose queries depend on answers, and `LargestMargins`, which releases histograms.
        noise: "continuous", "discrete" (integers on votes) or "scaled" (integers on votes times 2^16, as deployed;
            exact costs are then upper bounds, larger by a relative 0.0001 at usual noise). For `LNMax` "scaled" equals
            "discrete", and the result says so.
        orders: Renyi orders; default `ORDERS`.
        order: Order of the conversion; required by "realised", where it must be fixed before the run.
        rule: "tight" or "paper"; default "tight", and "paper" for "realised" and "expected".
        max_answers: "independent" only: largest number of answers; default all queries.
        answered: "realised" only: whether each query was answered, shape (queries,), or labels with -1 for refusals.
        probabilities: `InteractiveGNMax` only: predictions of the student, shape (queries, classes).
        group: Number of teachers of one party, all of which may change; "independent" and "joint" modes.

    Raises:
        ParameterError: an argument is out of range or incompatible with the others.
        DataError: votes or probabilities are invalid.
        UnsupportedError: this mode does not apply to the aggregator.

    Privacy:
        The cost is for replacing one teacher. Unless `publishable`, the result is as private as the votes.
    """
    counts = check_votes(votes)
    aggregators.check_aggregator(aggregator)
    delta = check_delta(target_delta)
    unit_of(noise)
    if noise == "scaled" and isinstance(aggregator, aggregators.LNMax):
        noise = "discrete"
    grid = ORDERS if orders is None else check_orders(orders)
    if order is not None:
        grid = check_orders(order)
    whole(group, "group", 1)
    chosen = _mode(counts, aggregator, mode, noise, group)
    _check_options(chosen, aggregator, order, rule, max_answers, answered, probabilities)
    flags = None if answered is None else check_answered(answered, counts.shape)
    highest = counts.max(axis=1).astype(np.float64)
    if isinstance(aggregator, aggregators.InteractiveGNMax) and probabilities is not None:
        highest = largest_excess(counts, check_probabilities(probabilities, counts.shape))
    run = _Run(counts, highest, grid, noise, group, flags)
    if chosen == "independent":
        cap = counts.shape[0] if max_answers is None else max_answers
        converted, used, rdp, answers = _independent(run, aggregator, delta, cap, rule, order)
    else:
        rdp, answers = _dependent(run, aggregator, chosen)
        used = rule or ("paper" if chosen in ("realised", "expected") else "tight")
        converted = epsilon_of_rdp(rdp, grid, target_delta=delta, rule=used)
    return PrivacyCost(
        epsilon=converted.value,
        delta=delta,
        mode=chosen,
        rule=used,
        order=None if math.isnan(converted.order) else converted.order,
        noise=noise,
        queries=counts.shape[0],
        answers=answers,
        publishable=chosen == "independent",
        statement=statement_of(chosen, epsilon=converted.value, delta=delta, noise=noise, group=group, cap=max_answers),
        orders=tuple(grid.tolist()),
        rdp=tuple(rdp.tolist()),
    )


def _mode(votes: Int64, aggregator: aggregators.Aggregator, mode: str, noise: Noise, group: int) -> Mode:
    modes: tuple[Mode | Literal["auto"], ...] = ("auto", *MODES)
    chosen = among(mode, "mode", modes)
    if chosen == "auto":
        if isinstance(aggregator, aggregators.InteractiveGNMax | aggregators.LargestMargins):
            return "independent"
        return "exact" if _is_quick(votes, aggregator, noise, group) else "joint"
    name = type(aggregator).__name__
    if isinstance(aggregator, aggregators.LargestMargins) and mode != "independent":
        raise UnsupportedError(f"{name} opens noisy histograms, whose cost is independent of votes; use independent")
    if mode in ("exact", "exact_two_sided"):
        if not isinstance(aggregator, aggregators.GNMax | aggregators.ConfidentGNMax):
            raise UnsupportedError(f"there is no exact cost of {name}; use joint")
        if noise == "discrete" or group != 1:
            raise UnsupportedError("exact costs are for continuous or scaled noise, one teacher per party; use joint")
    if mode == "joint_two_sided" and isinstance(aggregator, aggregators.LNMax):
        raise UnsupportedError("there is no two-sided cost of LNMax but the independent one")
    if mode in ("realised", "expected") and not isinstance(
        aggregator, aggregators.ConfidentGNMax | aggregators.InteractiveGNMax
    ):
        raise UnsupportedError(f"{name} answers every query, so no query is {mode}; use joint")
    return chosen


def _is_quick(votes: Int64, aggregator: aggregators.Aggregator, noise: Noise, group: int) -> bool:
    queries, classes = votes.shape
    if noise == "discrete" or group != 1 or not isinstance(aggregator, aggregators.GNMax | aggregators.ConfidentGNMax):
        return False
    quick = classes <= MOST_EXACT_CLASSES and queries * classes**3 <= MOST_EXACT_WORK
    return quick and is_feasible(int(votes[0].sum()), classes, float(aggregators.answer_sigma(aggregator)))


def _check_options(
    mode: Mode,
    aggregator: aggregators.Aggregator,
    order: float | None,
    rule: str | None,
    max_answers: int | None,
    answered: object,
    probabilities: object,
) -> None:
    if rule is not None:
        among(rule, "rule", ("tight", "paper"))
    if mode == "realised":
        if order is None or answered is None:
            raise ParameterError("realised costs need answered, and one order that was fixed before the run")
        if rule == "tight":
            raise ParameterError("realised costs are known after the run only, so rule must be paper")
    elif answered is not None:
        raise ParameterError("answered goes with mode realised")
    if max_answers is not None:
        if mode != "independent":
            raise ParameterError("`max_answers` goes with mode independent")
        whole(max_answers, "max_answers", 1)
        if isinstance(aggregator, aggregators.LargestMargins):
            raise ParameterError("LargestMargins releases every histogram, so `max_answers` has no effect")
    interactive = isinstance(aggregator, aggregators.InteractiveGNMax)
    if probabilities is not None and not interactive:
        raise ParameterError("probabilities go with InteractiveGNMax")
    if interactive and probabilities is None and mode != "independent":
        raise ParameterError(
            "costs of InteractiveGNMax require the student's probabilities, unless mode is independent"
        )


def _independent(
    run: _Run, aggregator: aggregators.Aggregator, delta: float, cap: int, rule: Rule | None, order: float | None
) -> tuple[Converted, str, Float64, float]:
    """Epsilon, how it was converted, costs by order, and the cap on answers."""
    queries, classes = run.votes.shape
    answers = min(cap, queries)
    if isinstance(aggregator, aggregators.LNMax):
        rdp = laplace_rdp(run.grid, answers=answers, scale=float(aggregator.scale), group=run.group)
        pure = Converted(float(2 * answers * run.group / aggregator.scale), math.nan)
        result = epsilon_of_rdp(rdp, run.grid, target_delta=delta, rule=rule or "tight")
        if rule is None and order is None and pure.value < result.value:
            return pure, "pure", rdp, answers
        return result, rule or "tight", rdp, answers
    sigma_2 = (
        aggregator.sigma if isinstance(aggregator, aggregators.LargestMargins) else aggregators.answer_sigma(aggregator)
    )
    if sigma_2 is None:
        raise ParameterError("the cost of LargestMargins needs its sigma")
    sigma_1, checks = Fraction(1), 0
    if isinstance(aggregator, aggregators.ConfidentGNMax | aggregators.InteractiveGNMax):
        sigma_1, checks = aggregator.sigma_1, queries
    rdp = independent_rdp(
        run.grid, checks=checks, sigma_1=float(sigma_1), answers=answers, sigma_2=float(sigma_2), group=run.group
    )
    result = epsilon_of_rdp(rdp, run.grid, target_delta=delta, rule=rule or "tight")
    if rule is None and order is None and run.noise != "discrete":
        loss = gaussian_loss(
            checks=checks,
            sigma_1=sigma_1,
            answers=answers,
            sigma_2=sigma_2,
            classes=classes,
            group=run.group,
            noise=run.noise,
        )
        epsilon = _gaussian(loss, delta)
        if epsilon <= result.value:
            return Converted(epsilon, math.nan), "gaussian", rdp, answers
    return result, rule or "tight", rdp, answers


def _gaussian(loss: GaussianDP, delta: float) -> float:
    """The exact epsilon; infinite where the distance of integers from Gaussian noise uses up delta."""
    try:
        return gaussian_epsilon(loss, delta)
    except ParameterError:  # delta itself is checked before
        return math.inf


def _dependent(run: _Run, aggregator: aggregators.Aggregator, mode: Mode) -> tuple[Float64, float]:
    """Costs by order, summed over queries, and how many answers there were or are expected."""
    if isinstance(aggregator, aggregators.LNMax):
        logs = logq_lnmax(run.votes, float(aggregator.scale), noise=run.noise)
        return _total(run, lambda part: rdp_lnmax(logs[part], float(aggregator.scale) / run.group, run.grid))
    if isinstance(aggregator, aggregators.GNMax):
        if mode in ("exact", "exact_two_sided"):
            return _total(run, _exact_costs(run, aggregator, two_sided=mode == "exact_two_sided"))
        return _total(run, _answer_costs(run, float(aggregator.sigma), two_sided=mode == "joint_two_sided"))
    assert isinstance(aggregator, aggregators.ConfidentGNMax | aggregators.InteractiveGNMax)
    return _checked(run, aggregator, mode)


def _checked(
    run: _Run, aggregator: aggregators.ConfidentGNMax | aggregators.InteractiveGNMax, mode: Mode
) -> tuple[Float64, float]:
    threshold, sigma_1, sigma_2 = (
        float(value) for value in (aggregator.threshold, aggregator.sigma_1, aggregator.sigma_2)
    )
    log_pass, _ = confident.check_tails(run.highest, threshold, sigma_1, noise=run.noise)
    chance = float(np.exp(log_pass).sum())
    if isinstance(aggregator, aggregators.ConfidentGNMax) and mode in ("exact", "exact_two_sided"):
        return _total(run, _exact_costs(run, aggregator, two_sided=mode == "exact_two_sided"))[0], chance
    two_sided = mode == "joint_two_sided"
    answer = _answer_costs(run, sigma_2, two_sided=two_sided)
    check: dict[str, Any] = {"group": run.group, "noise": run.noise}
    if mode in ("joint", "joint_two_sided"):

        def cost(part: slice) -> Float64:
            tried = run.highest[part], threshold, sigma_1, answer(part), run.grid
            return confident.joint(*tried, two_sided=two_sided, **check)

        return _total(run, cost)[0], chance
    check_mode: Literal["exact", "theorem3"] = "exact" if mode == "realised" else "theorem3"

    def paid(part: slice) -> Float64:
        check_costs = confident.rdp_threshold(run.highest[part], threshold, sigma_1, run.grid, check_mode, **check)
        if run.answered is None:
            return confident.expected(check_costs, log_pass[part], answer(part))
        return confident.realised(check_costs, run.answered[part], answer(part))

    return _total(run, paid)[0], chance if run.answered is None else float(run.answered.sum())


def _exact_costs(
    run: _Run, aggregator: aggregators.GNMax | aggregators.ConfidentGNMax, *, two_sided: bool
) -> Callable[[slice], Float64]:
    """What steps cost under the noise that is drawn."""
    sigma, check = drawn(aggregator, run.noise)
    unit = unit_of(run.noise)
    return lambda part: rdp_exact(run.votes[part], sigma, run.grid, check=check, two_sided=two_sided, unit=unit)


def _answer_costs(run: _Run, sigma: float, *, two_sided: bool) -> Callable[[slice], Float64]:
    """Bounds on what answers cost by Theorem 3: at the votes, or at every neighbour of them too."""
    curve = sigma / run.group
    logs = logq_gnmax(run.votes, sigma, noise=run.noise)
    if two_sided:
        logs = log_neighbour_bounds(logs, curve, run.votes.shape[1])[1]
    return lambda part: rdp_gnmax(logs[part], curve, run.grid)


def _total(run: _Run, cost: Callable[[slice], Float64]) -> tuple[Float64, float]:
    """Sum of costs over queries, a bounded number of rows at a time; and the number of queries."""
    queries = run.votes.shape[0]
    total = np.zeros(run.grid.size)
    for start in range(0, queries, _ROWS):
        total += cost(slice(start, start + _ROWS)).sum(axis=0)
    return total, float(queries)


def drawn(aggregator: aggregators.GNMax | aggregators.ConfidentGNMax, noise: Noise) -> tuple[float, Check | None]:
    """Sigma of an answer's noise, and the check before it, both in votes.

    `noise`: Continuous noise has the stated scale; scaled noise has the next larger one that samplers accept, and its
    threshold is the next larger number of units.
    """
    if isinstance(aggregator, aggregators.GNMax):
        return _scale(aggregator.sigma, "sigma", noise), None
    threshold = aggregator.threshold
    if noise == "scaled":
        threshold = Fraction(aggregators.threshold_check(threshold, aggregator.sigma_1).threshold, _VOTE)
    check = Check(float(threshold), _scale(aggregator.sigma_1, "sigma_1", noise))
    return _scale(aggregator.sigma_2, "sigma_2", noise), check


def _scale(sigma: Fraction, name: str, noise: Noise) -> float:
    return float(aggregators.scaled_noise(sigma, name).sigma / _VOTE if noise == "scaled" else sigma)


# --- Costs that no vote enters: what goes into ledgers, and may be published
#
# Checks and answers are Gaussian mechanisms whose output is processed further, so any number of them is one Gaussian
# mechanism with
#
#     mu^2 = K1 / sigma_1^2 + 2 K2 / sigma_2^2,
#
# K1 checks and K2 answers being caps fixed before the first query: the run ends when either is reached. Its epsilon is
# exact, and holds for queries that are chosen by the answers so far. Integer noise on votes scaled by 2^16 lies within
# a small distance of it, which delta pays for.
#
# Source:
#     Dong, Roth and Su 2022, Corollary 3.3; Balle and Wang 2018, Theorem 8; docs/proofs/pate_costs.md.


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


# --- A filter that stops a run before its budget is passed, whatever the queries and answers so far
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
        >>> budget = PrivacyFilter(aggregators.GNMax(40), epsilon=1, target_delta=1e-5, classes=10)
        >>> while budget.allows(answers=1):
        ...     budget.pay(answers=1)
        >>> budget.answers
        57
    """

    def __init__(
        self,
        aggregator: aggregators.Aggregator,
        *,
        epsilon: Rational,
        target_delta: Rational,
        classes: int,
        group: int = 1,
        noise: Noise = "scaled",
    ) -> None:
        aggregators.check_aggregator(aggregator)
        if not isinstance(aggregator, aggregators.GNMax | aggregators.ConfidentGNMax | aggregators.InteractiveGNMax):
            raise UnsupportedError(
                f"a privacy filter charges single answers with Gaussian noise, not {quoted(aggregator)}"
            )
        self.granted = ApproxDP(epsilon, target_delta)
        self.checks = 0
        self.answers = 0
        self._check = (
            gaussian_loss(checks=1, sigma_1=aggregator.sigma_1, classes=classes, group=group, noise=noise)
            if isinstance(aggregator, aggregators.ConfidentGNMax | aggregators.InteractiveGNMax)
            else None
        )
        self._answer = gaussian_loss(
            answers=1, sigma_2=aggregators.answer_sigma(aggregator), classes=classes, group=group, noise=noise
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
