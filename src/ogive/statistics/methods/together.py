"""Several procedures about the same records, one after the other, each at a public share of one guarantee.

Shares are exact: of epsilon under pure privacy, of rho under zCDP. An (epsilon, delta) guarantee is divided as one of
these two, the one whose noise is less: either as its epsilon, or as the largest rho that implies it, so that its delta
is used once for everything.

Source:
    `docs/proofs/together.md`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar, cast

import numpy as np

from ogive.accounting import gaussian_rho, pure_epsilon, total_loss
from ogive.errors import OgiveError, UnsupportedError
from ogive.privacy import Adjacency, ApproxDP, Privacy, PureDP, ZeroConcentratedDP
from ogive.queries import Answer, CuratorQuery, LinearGroupsQuery, Query, undeclared
from ogive.statistics.base import Terms
from ogive.statistics.methods.unbiased import mean_variance

FoundT = TypeVar("FoundT")
Procedure = Generator[Query, Answer, FoundT]

_RECORDS = 16
"""Of every kind, in the imagined records on which questions are tried out."""


@dataclass(frozen=True)
class Asked(Generic[FoundT]):
    """One of several procedures.

    Fields:
        weight: Its share of the guarantee, in proportion to the other weights.
        ask: Starts it on terms.
    """

    weight: Fraction
    ask: Callable[[Terms], Procedure[FoundT]]


def ask_together(asked: Sequence[Asked[Any]], terms: Terms) -> Procedure[list[Any]]:
    """Run procedures one after the other, each within its share of a guarantee.

    A later procedure may look at what an earlier one found, but the price of what it asks must not depend on it.

    Args:
        asked: The procedures with their weights; at least one.
        terms: What all of them together may cost.

    Returns:
        What each of them found.

    Raises:
        OgiveError: one of them does not fit its share, or the trust model does not serve what it asks; before anything
            is asked.

    Privacy:
        `terms.privacy` for all answers together.
    """
    if isinstance(terms.privacy, ApproxDP):
        terms = _of_one_type(asked, terms)
    found = []
    for each, mine in zip(asked, _shared(asked, terms), strict=True):
        found.append((yield from each.ask(mine)))
    return found


def rehearse(procedure: Procedure[Any], terms: Terms) -> list[Query]:
    """What a procedure asks, found by a run on imagined records, of which there are a few of every kind."""
    queries: list[Query] = []
    query = next(procedure)
    while True:
        queries.append(query)
        curator = cast(CuratorQuery, query)
        counts = np.full(curator.aggregate.shape, _RECORDS, dtype=np.int64)
        answer = Answer(curator.answer(counts, None), curator.totals(counts, terms.adjacency))
        try:
            query = procedure.send(answer)
        except StopIteration:
            return queries


def check_served(procedure: Procedure[Any], terms: Terms) -> None:
    """Refuse before the first question what the trust model would refuse, or could not read, at a later one.

    Whoever pays is told what all questions together will cost.

    Raises:
        UnsupportedError: a question is not served, or would publish exact counts of a column that is not public.
        DataError: the records cannot be read as a question needs them.
    """
    losses = {}
    for query in rehearse(procedure, terms):
        losses[query.measurement] = query.price(terms.unit)
        reason = terms.refusal(query) or (undeclared(query, terms.unit) if terms.private else None)
        if reason is not None:
            raise UnsupportedError(reason)
        terms.preflight(query)
    terms.announce(total_loss(list(losses.values())))


def _shared(asked: Sequence[Asked[Any]], terms: Terms) -> list[Terms]:
    """The terms of each procedure, with its exact share of a pure or concentrated guarantee."""
    whole = sum((each.weight for each in asked), Fraction(0))
    return [
        dataclasses.replace(terms, privacy=share_of(terms.privacy, each.weight / whole), one_loss_type=True)
        for each in asked
    ]


def share_of(privacy: Privacy, share: Fraction) -> Privacy:
    """A share of a pure or a concentrated guarantee; shares that add up to 1 cost the whole guarantee together."""
    match privacy:
        case PureDP():
            return PureDP(privacy.epsilon * share)
        case ZeroConcentratedDP():
            return ZeroConcentratedDP(privacy.rho * share)
    raise AssertionError("an (epsilon, delta) guarantee is divided as one of another type")


def _of_one_type(asked: Sequence[Asked[Any]], terms: Terms) -> Terms:
    """The terms with the pure or the concentrated guarantee that implies theirs, whichever needs less noise.

    Raises:
        OgiveError: no procedure fits either of them.
    """
    assert isinstance(terms.privacy, ApproxDP)
    found: list[tuple[float, Terms]] = []
    problem: OgiveError | None = None
    for grant in (gaussian_rho, pure_epsilon):
        try:
            privacy = grant(terms.privacy)
            mine = dataclasses.replace(terms, privacy=privacy, one_loss_type=True, simulations=0, imagined=True)
            queries = rehearse(ask_together(asked, mine), mine)
        except OgiveError as refused:
            problem = problem or refused
            continue
        noise = sum(math.log(_variance(query, terms.adjacency)) for query in queries)
        found.append((noise, dataclasses.replace(mine, simulations=terms.simulations, imagined=terms.imagined)))
    if not found:
        assert problem is not None, "two guarantees were tried"
        raise problem
    return min(found, key=lambda each: each[0])[1]


def _variance(query: Query, adjacency: Adjacency) -> float:
    """Variance of the noise of one number that a query is for, to compare two designs of the same question."""
    asked: Any = query.joined if isinstance(query, LinearGroupsQuery) else query
    asked = getattr(asked, "asked", (asked,))[0]
    if hasattr(asked, "strategy"):
        return mean_variance(asked.strategy, adjacency)
    laws = [level.law.variance for level in asked.levels]
    weights = getattr(asked, "weights", None)
    scale = 2.0 ** getattr(asked, "bits", 0) * (1 if weights is None else weights.slope or 1)
    return float(max(laws)) / scale**2
