"""The loop of every release and of every plan: a statistic asks, a holder of records pays and answers."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Generic, Protocol

from ogive.accounting import covers, in_terms_of, total_loss
from ogive.errors import BudgetError, UnsupportedError
from ogive.privacy import Loss
from ogive.queries import Answer, Query, undeclared
from ogive.statistics.base import EstimateT, Statistic, Terms, innermost


class Holder(Protocol):
    """Who answers for records, real or imagined."""

    def pay(self, loss: Loss, query: Query) -> None:
        """Pay for a measurement before it is answered.

        Args:
            loss: Of all measurements so far, this one included.
            query: Asks for the measurement.
        """
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
    """Ask everything that a statistic asks, and price each measurement before it is answered.

    Args:
        statistic: What is wanted.
        terms: What may be spent, whose data the guarantee hides, and what is served.
        holder: Pays and answers.
        bounded: Whether what is asked must cost no more than the terms grant.

    Raises:
        UnsupportedError: a query is not served, or would publish exact counts of a column that is not public.
        BudgetError: the measurements cost more than the privacy guarantee.
    """
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
