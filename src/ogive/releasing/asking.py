"""The loop of every release and of every plan: a statistic asks, a holder of records pays and answers."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Generic, Protocol

from ogive.accounting import as_concentrated, at_least, covers, filled, gaussian_rho, in_terms_of, total_loss
from ogive.errors import BudgetError, UnsupportedError
from ogive.privacy import ApproxDP, Charge, GaussianDP, Loss, Privacy, PureDP
from ogive.queries import Answer, LinearQuery, Query, undeclared
from ogive.statistics.base import EstimateT, Statistic, Terms, innermost


class Holder(Protocol):
    """Who answers for records, real or imagined."""

    def pay(self, loss: Loss, query: Query) -> None:
        """Pay for a measurement before it is answered."""
        ...

    def answer(self, query: Query) -> Answer:
        """Answer a query whose measurement was paid for."""
        ...


@dataclass(frozen=True)
class Outcome(Generic[EstimateT]):
    """One procedure from the first query to the estimate.

    Fields:
        estimate: What came out.
        queries: All queries, as they were asked.
        measured: The first query of each measurement, in the order asked.
        price: Loss of all measurements together.
        answer: The last answer.
    """

    estimate: EstimateT
    queries: tuple[Query, ...]
    measured: tuple[Query, ...]
    price: Loss
    answer: Answer


def drive(statistic: Statistic[EstimateT], terms: Terms, holder: Holder, *, bounded: bool = True) -> Outcome[EstimateT]:
    """Ask everything that a statistic asks, and price each measurement before it is answered."""
    queries: list[Query] = []
    measured: dict[Hashable, Query] = {}
    losses: list[Loss] = []
    refusal = terms.refusal
    terms = dataclasses.replace(terms, refusal=lambda query: as_asked(refusal(query), query, statistic))
    procedure = statistic.questions(terms)
    query: Query = next(procedure)
    while True:
        reason = terms.refusal(query) or (undeclared(query, terms.unit) if terms.private else None)
        if reason is not None:
            raise UnsupportedError(reason)
        if query.measurement not in measured:
            losses.append(query.price(terms.unit))
            price = total_loss(losses)
            if bounded and not covers(terms.privacy, price):
                cost = in_terms_of(terms.privacy, price)
                name = innermost(statistic).name
                raise BudgetError(f"{name} would cost {cost}, more than the privacy guarantee {terms.privacy}")
            holder.pay(price, query)
            measured[query.measurement] = query
        queries.append(query)
        answer = holder.answer(query)
        try:
            query = procedure.send(answer)
        except StopIteration as stop:
            return Outcome(stop.value, tuple(queries), tuple(measured.values()), price, answer)


def as_asked(reason: str | None, query: Query, statistic: Statistic[Any]) -> str | None:
    """A reason that begins with the method of a query, with what the user asked for in its place.

    That is the method where another than the usual one was named, else the statistic.
    """
    if reason is None or not reason.startswith(f"{query.method} "):
        return reason
    statistic = innermost(statistic)
    method, usual = getattr(statistic, "method", None), getattr(type(statistic), "method", None)
    name = statistic.name if method == usual else getattr(method, "name", method)
    return f"{name}{reason.removeprefix(query.method)}"


# --- The charge of a measurement


def charge_for(
    privacy: Privacy, loss: Loss, query: Query, *, announced: Loss | None = None, before: Charge | None = None
) -> Charge:
    """The charge of a release so far."""
    # what was granted is charged, so that budgets stay round numbers; where the mechanism's loss is of
    # another type it is the stronger statement and composes better
    if isinstance(loss, ApproxDP) or type(loss) is type(privacy):
        return privacy
    if not isinstance(privacy, ApproxDP):
        return privacy if isinstance(loss, GaussianDP) else loss
    if announced is not None:  # all of them are pure, or they add up in zCDP
        if isinstance(announced, PureDP):
            return PureDP(privacy.epsilon)
        whole = gaussian_rho(privacy)
        if not isinstance(announced, GaussianDP) or as_concentrated(announced).rho <= whole.rho:
            return whole
        return filled(privacy, announced)  # of a subset more rho, within the exact delta of Gaussian noise
    # a first measurement is charged as all that may follow it, so that whoever asks in rounds has enough
    # for the last one, whatever others spend meanwhile
    if before is not None and at_least(before, loss):
        return before
    match loss:
        case PureDP():
            return PureDP(privacy.epsilon)
        case GaussianDP():
            return filled(privacy, loss)
    if before is None:
        return loss if isinstance(query, LinearQuery) else gaussian_rho(privacy)
    earlier = as_concentrated(before) if isinstance(before, PureDP) else loss
    return max(earlier, loss, key=lambda each: each.rho)
