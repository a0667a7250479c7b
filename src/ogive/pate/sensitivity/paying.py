"""What publishing a cost is charged to an account, and the noise that a repeated question gets again."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ogive.accounting.rounding import rounded_up
from ogive.arrays import Int64
from ogive.errors import LedgerError
from ogive.ledger import Account
from ogive.noise import KeyedSource, RandomSource
from ogive.pate.costs.conversion import epsilon_of_rdp
from ogive.pate.sensitivity.gnss import gnss_rdp, limit_rdp
from ogive.pate.sensitivity.sanitized import TAU, SanitizedCost
from ogive.pate.tallies import Tallied
from ogive.privacy import Adjacency, ApproxDP, GaussianDP
from ogive.releasing import Payment, unit_of

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
    """The cost that an account pays for: the recorded one where this was asked before, else one with durable noise.

    Args:
        account: That pays.
        votes: Counts of all queries.
        asked: All that fixes what is published but the arrays, plain data.
        charge: What it costs.
        key: For the noise, unless an earlier attempt had another.
        made: Publishes with noise from a source.
        batch: Public name of the votes.
        about: Arrays that the cost depends on besides.

    Raises:
        BudgetError: the account has too little left, or its limit does not admit a loss with a delta.
        LedgerError: the ledger cannot be used, or its privacy unit has several votes.
        ReleaseMismatchError: this was asked of other votes before.
    """
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
