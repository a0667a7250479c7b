"""What a run of an aggregator cost: one number, how it was found, and what it means.

Data-independent costs are differential privacy. All others are bounds at the data set held: true statements about one
data set, which are private themselves and belong in no ledger; `ogive.pate.sanitize` makes one that may be published.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ogive.core.arrays import Bool, Float64, Int64
from ogive.core.checks import among, whole
from ogive.errors import ParameterError, UnsupportedError
from ogive.pate.aggregators import (
    Aggregator,
    ConfidentGNMax,
    GNMax,
    InteractiveGNMax,
    LargestMargins,
    LNMax,
    answer_sigma,
    check_aggregator,
)
from ogive.pate.aggregators import check as asked_check
from ogive.pate.aggregators import scaled as asked_scale
from ogive.pate.costs import threshold as confident
from ogive.pate.costs.answers import rdp_gnmax, rdp_lnmax
from ogive.pate.costs.conversion import ORDERS, Converted, Rule, check_delta, check_orders, epsilon_of_rdp
from ogive.pate.costs.exact import Check, is_feasible, rdp_exact
from ogive.pate.costs.independent import gaussian_epsilon, gaussian_loss, independent_rdp, laplace_rdp
from ogive.pate.costs.losing import (
    SCALE_BITS,
    Noise,
    check_probabilities,
    largest_excess,
    log_neighbour_bounds,
    logq_gnmax,
    logq_lnmax,
    unit_of,
)
from ogive.pate.costs.stated import MODES, Mode, PrivacyCost, statement_of
from ogive.pate.costs.threshold import check_tails, rdp_threshold
from ogive.pate.votes import check_answered, check_votes
from ogive.privacy import GaussianDP, Rational

_VOTE = 2**SCALE_BITS
_ROWS = 1 << 12
"""Queries whose costs are in memory at a time."""
MOST_EXACT_CLASSES = 20
"""Most classes for which "auto" is exact: the work per query grows with their cube."""

MOST_EXACT_WORK = 10**8
"""Largest queries * classes^3 for which "auto" is exact, some ten seconds on one core."""

_ASKED: tuple[Mode | Literal["auto"], ...] = ("auto", *MODES)


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
    aggregator: Aggregator,
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
    check_aggregator(aggregator)
    delta = check_delta(target_delta)
    unit_of(noise)
    if noise == "scaled" and isinstance(aggregator, LNMax):
        noise = "discrete"
    grid = ORDERS if orders is None else check_orders(orders)
    if order is not None:
        grid = check_orders(order)
    whole(group, "group", 1)
    chosen = _mode(counts, aggregator, mode, noise, group)
    _check_options(chosen, aggregator, order, rule, max_answers, answered, probabilities)
    taken = None if answered is None else check_answered(answered, counts.shape)
    highest = counts.max(axis=1).astype(np.float64)
    if isinstance(aggregator, InteractiveGNMax) and probabilities is not None:
        highest = largest_excess(counts, check_probabilities(probabilities, counts.shape))
    run = _Run(counts, highest, grid, noise, group, taken)
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


def _mode(votes: Int64, aggregator: Aggregator, mode: str, noise: Noise, group: int) -> Mode:
    asked = among(mode, "mode", _ASKED)
    if asked == "auto":
        if isinstance(aggregator, InteractiveGNMax | LargestMargins):
            return "independent"
        return "exact" if _is_quick(votes, aggregator, noise, group) else "joint"
    name = type(aggregator).__name__
    if isinstance(aggregator, LargestMargins) and mode != "independent":
        raise UnsupportedError(f"{name} opens noisy histograms, whose cost is independent of votes; use independent")
    if mode in ("exact", "exact_two_sided"):
        if not isinstance(aggregator, GNMax | ConfidentGNMax):
            raise UnsupportedError(f"there is no exact cost of {name}; use joint")
        if noise == "discrete" or group != 1:
            raise UnsupportedError("exact costs are for continuous or scaled noise, one teacher per party; use joint")
    if mode == "joint_two_sided" and isinstance(aggregator, LNMax):
        raise UnsupportedError("there is no two-sided cost of LNMax but the independent one")
    if mode in ("realised", "expected") and not isinstance(aggregator, ConfidentGNMax | InteractiveGNMax):
        raise UnsupportedError(f"{name} answers every query, so no query is {mode}; use joint")
    return asked


def _is_quick(votes: Int64, aggregator: Aggregator, noise: Noise, group: int) -> bool:
    queries, classes = votes.shape
    if noise == "discrete" or group != 1 or not isinstance(aggregator, GNMax | ConfidentGNMax):
        return False
    quick = classes <= MOST_EXACT_CLASSES and queries * classes**3 <= MOST_EXACT_WORK
    return quick and is_feasible(int(votes[0].sum()), classes, float(answer_sigma(aggregator)))


def _check_options(
    mode: Mode,
    aggregator: Aggregator,
    order: float | None,
    rule: str | None,
    max_answers: int | None,
    answered: object,
    probabilities: object,
) -> None:
    """Refuse options that do not go with each other."""
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
        if isinstance(aggregator, LargestMargins):
            raise ParameterError("LargestMargins releases every histogram, so `max_answers` has no effect")
    interactive = isinstance(aggregator, InteractiveGNMax)
    if probabilities is not None and not interactive:
        raise ParameterError("probabilities go with InteractiveGNMax")
    if interactive and probabilities is None and mode != "independent":
        raise ParameterError(
            "costs of InteractiveGNMax require the student's probabilities, unless mode is independent"
        )


def _independent(
    run: _Run, aggregator: Aggregator, delta: float, cap: int, rule: Rule | None, order: float | None
) -> tuple[Converted, str, Float64, float]:
    """Epsilon, how it was converted, costs by order, and the cap on answers."""
    queries, classes = run.votes.shape
    answers = min(cap, queries)
    if isinstance(aggregator, LNMax):
        rdp = laplace_rdp(run.grid, answers=answers, scale=float(aggregator.scale), group=run.group)
        pure = Converted(float(2 * answers * run.group / aggregator.scale), math.nan)
        result = epsilon_of_rdp(rdp, run.grid, target_delta=delta, rule=rule or "tight")
        if rule is None and order is None and pure.value < result.value:
            return pure, "pure", rdp, answers
        return result, rule or "tight", rdp, answers
    sigma_2 = aggregator.sigma if isinstance(aggregator, LargestMargins) else answer_sigma(aggregator)
    if sigma_2 is None:
        raise ParameterError("the cost of LargestMargins needs its sigma")
    sigma_1, checks = Fraction(1), 0
    if isinstance(aggregator, ConfidentGNMax | InteractiveGNMax):
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


def _dependent(run: _Run, aggregator: Aggregator, mode: Mode) -> tuple[Float64, float]:
    """Costs by order, summed over queries, and how many answers there were or are expected."""
    if isinstance(aggregator, LNMax):
        logs = logq_lnmax(run.votes, float(aggregator.scale), noise=run.noise)
        return _total(run, lambda part: rdp_lnmax(logs[part], float(aggregator.scale) / run.group, run.grid))
    if isinstance(aggregator, GNMax):
        if mode in ("exact", "exact_two_sided"):
            return _total(run, _exact_costs(run, aggregator, two_sided=mode == "exact_two_sided"))
        return _total(run, _answer_costs(run, float(aggregator.sigma), two_sided=mode == "joint_two_sided"))
    assert isinstance(aggregator, ConfidentGNMax | InteractiveGNMax)
    return _checked(run, aggregator, mode)


def _checked(run: _Run, aggregator: ConfidentGNMax | InteractiveGNMax, mode: Mode) -> tuple[Float64, float]:
    threshold, sigma_1, sigma_2 = (
        float(value) for value in (aggregator.threshold, aggregator.sigma_1, aggregator.sigma_2)
    )
    log_pass, _ = check_tails(run.highest, threshold, sigma_1, noise=run.noise)
    chance = float(np.exp(log_pass).sum())
    if isinstance(aggregator, ConfidentGNMax) and mode in ("exact", "exact_two_sided"):
        return _total(run, _exact_costs(run, aggregator, two_sided=mode == "exact_two_sided"))[0], chance
    answer = _answer_costs(run, sigma_2, two_sided=mode == "joint_two_sided")
    if mode in ("joint", "joint_two_sided"):
        law = confident.joint if mode == "joint" else confident.joint_two_sided

        def cost(part: slice) -> Float64:
            return law(run.highest[part], threshold, sigma_1, answer(part), run.grid, group=run.group, noise=run.noise)

        return _total(run, cost)[0], chance
    check_mode: Literal["exact", "theorem3"] = "exact" if mode == "realised" else "theorem3"

    def paid(part: slice) -> Float64:
        check_costs = rdp_threshold(
            run.highest[part], threshold, sigma_1, run.grid, check_mode, group=run.group, noise=run.noise
        )
        if run.answered is None:
            return confident.expected(check_costs, log_pass[part], answer(part))
        return confident.realised(check_costs, run.answered[part], answer(part))

    return _total(run, paid)[0], chance if run.answered is None else float(run.answered.sum())


def _exact_costs(run: _Run, aggregator: GNMax | ConfidentGNMax, *, two_sided: bool) -> Callable[[slice], Float64]:
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


def drawn(aggregator: GNMax | ConfidentGNMax, noise: Noise) -> tuple[float, Check | None]:
    """Sigma of an answer's noise, and the check before it, both in votes.

    Args:
        aggregator: What is run.
        noise: Continuous noise has the stated scale; scaled noise has the next larger one that samplers accept, and
            its threshold is the next larger number of units.
    """
    if isinstance(aggregator, GNMax):
        return _scale(aggregator.sigma, "sigma", noise), None
    threshold = aggregator.threshold
    if noise == "scaled":
        threshold = Fraction(asked_check(threshold, aggregator.sigma_1).threshold, _VOTE)
    check = Check(float(threshold), _scale(aggregator.sigma_1, "sigma_1", noise))
    return _scale(aggregator.sigma_2, "sigma_2", noise), check


def _scale(sigma: Fraction, name: str, noise: Noise) -> float:
    return float(asked_scale(sigma, name).sigma / _VOTE if noise == "scaled" else sigma)
