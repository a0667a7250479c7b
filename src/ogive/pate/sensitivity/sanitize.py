"""Publish what answers cost: the data-dependent cost with noise scaled to its smooth sensitivity.

The order, smoothness and scale are chosen from public numbers. What is published is a noisy estimate; the noise's
width depends on the votes and is private, so an upper limit takes a second noisy number, the log of the sensitivity.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ogive.accounting.losses import rounded_up
from ogive.core.arrays import Int64
from ogive.errors import DataError, LedgerError, ParameterError
from ogive.ledger import Account
from ogive.noise import KeyedSource, RandomSource, SystemSource
from ogive.pate.aggregators import Aggregator, check_aggregator
from ogive.pate.costs.conversion import check_delta, check_orders, epsilon_of_rdp
from ogive.pate.costs.cost import privacy_cost
from ogive.pate.costs.losing import Noise
from ogive.pate.costs.losing import unit_of as grid_of
from ogive.pate.labelling import Tallied
from ogive.pate.sensitivity.sanitized import (
    TAU,
    SanitizedCost,
    check_scale,
    check_smoothness,
    gnss_rdp,
    limit_rdp,
    publish,
    rule_of_order,
    rule_of_scale,
    rule_of_smoothness,
)
from ogive.pate.sensitivity.smooth import Form, smooth_cost
from ogive.pate.votes import check_answered, check_votes
from ogive.privacy import Adjacency, ApproxDP, GaussianDP, Rational, exact
from ogive.releasing.release import Payment, unit_of
from ogive.statistics.base import describe

# --- What publishing a cost is charged to an account, and the noise that a repeated question gets again

NAME = "sanitized_cost"
"""Of this release in a ledger."""

CHARGE_DELTA, CHARGE_DELTA_BESIDE_GAUSSIAN = Fraction(1, 1000), Fraction(1, 10**6)
"""Of the target delta, what the charge takes by default; an account that began with Gaussian noise has little left."""

_ORDERS = 400
# what the drawn noise is away from normal noise; times 1 + e^epsilon it is part of delta
_NOT_NORMAL = Fraction(1, 1 << 79)


def default_charge_delta(account: Account, delta: float) -> Fraction:
    """The delta of a charge, from what the account charged first, which no later answer changes."""
    history = account.history
    gaussian = bool(history) and isinstance(history[0].charge, GaussianDP)
    return (CHARGE_DELTA_BESIDE_GAUSSIAN if gaussian else CHARGE_DELTA) * Fraction(delta)


def charge_of(smoothness: float, scale: float, delta: Fraction, *, upper_limit: bool) -> ApproxDP:
    """What publishing costs whoever is protected, whatever the votes are.

    The Renyi cost is finite below an order that the smoothness sets, so it implies no zCDP guarantee. Of the orders
    below it the one that implies the least epsilon at this delta is taken.

    Args:
        smoothness: b of the smooth sensitivity.
        scale: Standard deviation of the noise in units of the smooth sensitivity.
        delta: Of the charge.
        upper_limit: Whether the log of the sensitivity is published too.
    """
    most = -1 / math.expm1(-2 * smoothness)
    orders = [1 + (most - 1) * step / _ORDERS for step in range(1, _ORDERS)]
    paid = [gnss_rdp(order, smoothness, scale) + (limit_rdp(order, TAU) if upper_limit else 0.0) for order in orders]
    implied = epsilon_of_rdp(paid, orders, target_delta=delta, rule="tight").value
    epsilon = rounded_up(Fraction(implied) * (1 + Fraction(1, 10**9)))
    return ApproxDP(epsilon, delta + _NOT_NORMAL * (1 + math.ceil(math.exp(epsilon))))


def paid_cost(
    account: Account,
    votes: Int64,
    asked: dict[str, Any],
    charge: ApproxDP,
    key: bytes,
    made: Callable[[RandomSource], SanitizedCost],
    *,
    batch: str | None,
    about: tuple[np.ndarray | None, ...] = (),
) -> SanitizedCost:
    """The cost that an account pays for: the recorded one where this was asked before, else one with durable noise."""
    if account.unit.max_rows_per_person > 1:
        raise LedgerError(
            "the cost of publishing is known for one teacher, and this account protects people with up to "
            f"{account.unit.max_rows_per_person} of them"
        )
    trust = Tallied(votes, person=account.unit.person)
    digests = [None if array is None else account.fingerprint(_digest(array)) for array in about]
    payment = Payment(
        account,
        {"name": NAME, **asked, "about": digests},
        NAME,
        charge,
        unit_of(trust, Adjacency.REPLACE, account),
        trust,
        batch=account.part_name if batch is None else batch,
    )
    stored = payment.stored()
    if stored is not None:
        return SanitizedCost.from_dict(stored)
    reservation = account.reserve(payment.question, statistic=NAME, charge=charge, secret=key)
    reservation.bind(0, trust.data_digest())
    return SanitizedCost.from_dict(reservation.record(made(KeyedSource(reservation.secret)).to_dict()))


def _digest(array: np.ndarray) -> bytes:
    shape = f"ogive array 1\n{array.dtype.str} {array.shape}\n".encode()
    return hashlib.sha256(shape + np.ascontiguousarray(array).tobytes()).digest()


# --- Publishing

LEAST_SENSITIVITY = 1e-6
"""Smaller smooth sensitivities are taken for this, which is smooth too."""

LEAST_TEACHERS = 3
"""From here on the proofs hold."""

# what floating point may add to a difference of costs, far above its error of about 1e-13
_ROOM = 1 + 2**-20


def sanitize(
    votes: ArrayLike,
    aggregator: Aggregator,
    *,
    target_delta: Rational,
    order: float | None = None,
    smoothness: float | None = None,
    scale: float | None = None,
    planned_epsilon: float | None = None,
    form: Form = "joint",
    answered: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    max_answers: int | None = None,
    noise: Noise = "scaled",
    upper_limit: bool = True,
    ledger: Account | None = None,
    charge_delta: Rational | None = None,
    batch: str | None = None,
    source: RandomSource | None = None,
) -> SanitizedCost:
    """Publish a noisy estimate of the privacy cost of a run.

    Choose all arguments except `votes` and `answered` independently of the votes. Publish once: another call draws new
    noise and costs as much again. With a ledger a repeated question gets the recorded answer at no cost.

    Args:
        votes: Counts, shape (queries, classes), each row with the same number of teachers.
        aggregator: The aggregator: GNMax, ConfidentGNMax or InteractiveGNMax.
        target_delta: Strictly between 0 and 1; below one over the number of records.
        order: Renyi order; by default the order whose conversion to delta takes half of the planned epsilon.
        smoothness: b of the smooth sensitivity; 0.35 / order by default.
        scale: Standard deviation of the noise in units of the smooth sensitivity; by default 2 sqrt((order + 1) /
            planned_epsilon) times a factor for the exact cost of publishing.
        planned_epsilon: Expected cost of the run; by default half of its data-independent cost, or, with an order, the
            value that the rule for the order implies.
        form: "joint" for the run, whatever is answered, with queries that did not depend on votes or answers;
            "additive" for the given answers, also to queries that depend on earlier answers.
        answered: Additive form with a check only: whether the teachers answered each query, as truth values or as
            labels with -1 for refusals, shape (queries,).
        probabilities: Joint form of InteractiveGNMax only: predictions of the student, fixed before the run.
        max_answers: Limit on answers that was fixed before the run, for the data-independent cost; none by default.
        noise: Noise of the aggregator: "scaled", as `label` draws it, "continuous" or "discrete".
        upper_limit: Whether to publish an upper limit too, at a Renyi cost of order / 200.
        ledger: The account to charge for publishing, from `Ledger.account`; None records no charge. The cost of the
            answers is not charged again, since `label` charged it.
        charge_delta: With a ledger: delta of the charge; by default a thousandth of the target delta, or a millionth
            if the first charge of the account was for Gaussian noise, which leaves little of its delta.
        batch: With a ledger: public name of these votes, to distinguish rounds.
        source: Source of the noise; by default the operating system.

    Returns:
        The estimate, with its cost and its meaning.

    Raises:
        ParameterError: an argument is out of range or incompatible with the others.
        DataError: votes or probabilities are invalid, or there are fewer than three teachers.
        UnsupportedError: the aggregator's cost has no smooth sensitivity.
        BudgetError: the account has too little left, or its limit does not admit a loss with a delta.
        LedgerError: the ledger cannot be used, or its privacy unit has several votes.
        ReleaseMismatchError: the same question was asked of other votes before.

    Privacy:
        The cost is for replacing one teacher. The noise is within 2^-80 of a normal distribution in total variation,
        for widths up to 10^3; this distance times 1 + e^epsilon is added to delta.

    Source: Papernot et al. 2018, section 4.4 and appendix B, with the release cost corrected.
    """
    counts = check_votes(votes)
    check_aggregator(aggregator)
    delta = check_delta(target_delta)
    grid_of(noise)
    if counts[0].sum() < LEAST_TEACHERS:
        raise DataError(f"a cost is published for {LEAST_TEACHERS} or more teachers, got {counts[0].sum()}")
    given = None if answered is None else check_answered(answered, counts.shape)
    independent = privacy_cost(
        counts, aggregator, target_delta=delta, mode="independent", noise=noise, max_answers=max_answers
    )
    planned = _planned(planned_epsilon, order, delta, independent.epsilon)
    at = rule_of_order(planned, delta) if order is None else float(check_orders([order])[0])
    smooth = rule_of_smoothness(at) if smoothness is None else float(smoothness)
    check_smoothness(at, smooth)
    width = rule_of_scale(at, smooth, planned) if scale is None else float(scale)
    check_scale(width)
    result = smooth_cost(
        counts,
        aggregator,
        order=at,
        smoothness=smooth,
        form=form,
        answered=given,
        probabilities=None if probabilities is None else np.asarray(probabilities),
        noise=noise,
    )
    generator = SystemSource() if source is None else source
    sensitivity = max(result.sensitivity, LEAST_SENSITIVITY) * _ROOM

    def made(noise_source: RandomSource) -> SanitizedCost:
        return SanitizedCost(
            rdp=publish(result.cost, sensitivity * width, source=noise_source),
            log_sensitivity=publish(math.log(sensitivity), smooth * TAU, source=noise_source) if upper_limit else None,
            delta=delta,
            order=at,
            smoothness=smooth,
            scale=width,
            form=form,
            method=result.method,
            reason=result.reason,
            aggregator=aggregator.name,
            queries=counts.shape[0],
            teachers=int(counts[0].sum()),
            classes=counts.shape[1],
            answered=None if given is None else int(given.sum()),
            max_answers=int(independent.answers),
            independent_epsilon=independent.epsilon,
        )

    if ledger is None:
        if charge_delta is not None or batch is not None:
            raise ParameterError("`charge_delta` and batch require an account; give `ledger=` too, or leave them out")
        return made(generator)
    beside = default_charge_delta(ledger, delta) if charge_delta is None else exact(charge_delta, "charge_delta")
    if not 0 < beside < 1:
        raise ParameterError(f"`charge_delta` must be strictly between 0 and 1, got {float(beside):g}")
    asked = {
        "aggregator": describe(aggregator),
        "delta": delta,
        "order": at,
        "smoothness": smooth,
        "scale": width,
        "form": form,
        "noise": noise,
        "max_answers": max_answers,
        "upper_limit": upper_limit,
    }
    charge = charge_of(smooth, width, beside, upper_limit=upper_limit)
    about = (given, None if probabilities is None else np.asarray(probabilities))
    return paid_cost(ledger, counts, asked, charge, generator.key(), made, batch=batch, about=about)


def _planned(planned: float | None, order: float | None, delta: float, independent: float) -> float:
    """An epsilon to plan with, from public numbers."""
    if planned is not None:
        if not 0 < planned < math.inf:
            raise ParameterError(f"`planned_epsilon` must be above 0, got {planned:g}")
        return planned
    if order is not None and order > 1:
        return -2 * math.log(delta) / (order - 1)
    return independent / 2
