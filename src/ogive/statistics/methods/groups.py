"""One procedure for each of several disjoint groups, asked in step, so that all groups are priced together."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Iterator
from fractions import Fraction
from typing import TypeGuard, TypeVar

import numpy as np

from ogive.accounting import (
    as_concentrated,
    covers,
    epsilon_of_gaussian,
    gaussian_mu,
    gaussian_rho,
    total_loss,
)
from ogive.columns import Categories, Domain
from ogive.errors import BudgetError, OgiveError, ParameterError
from ogive.local.classes import PublicClasses
from ogive.local.tree import TreeOracle
from ogive.local.unary import UnaryOracle
from ogive.privacy import Adjacency, ApproxDP, GaussianDP, Loss, Privacy, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import (
    Answer,
    ClassCurvesQuery,
    CuratorQuery,
    CurveQuery,
    GroupBinning,
    GroupedQuery,
    Query,
    ReportsQuery,
    RowValues,
)
from ogive.queries.candidates import ApproximationScore
from ogive.queries.selection import NoisyMaxQuery
from ogive.statistics.base import Terms
from ogive.statistics.methods.base import owners_answer
from ogive.statistics.methods.reports import class_sums
from ogive.strategies.summed import largest_loss

FoundT = TypeVar("FoundT")
Procedure = Generator[Query, Answer, FoundT]

_TRIES = 4
_ROOM = Fraction(9999, 10000)  # rounding of noise must not use up what is exactly enough


def ask_groups(
    groups: GroupBinning, ask: Callable[[Terms], Procedure[FoundT]], terms: Terms, *, public_groups: bool
) -> Procedure[list[FoundT]]:
    """Run one procedure for each group, all in step.

    Where a record may change its group and replacing it is hidden, it leaves one group and joins another. Then each
    group is asked as if its size were private, for so much less that the two together stay within the grant.

    Owners who randomize their own records are each asked for their group's report. They send their group as it is, so
    groups are public then, and each report costs what it would cost alone.

    Args:
        groups: Column, thresholds and groups.
        ask: Starts the procedure of one group on terms; it asks of the column alone.
        terms: What all groups together may cost.
        public_groups: Whether everybody may know each record's group.

    Returns:
        What came out for each group.

    Raises:
        BudgetError: nothing that the procedure could ask would stay within the terms.
        ParameterError: owners are asked, and groups are not to be public.
    """
    if owners_answer(terms) and not public_groups and terms.adjacency is Adjacency.REPLACE:
        raise ParameterError(
            "every owner says which group a report is for, so groups are public under trust local; "
            "say `public_groups=True` of a column that is declared public, or use trust central"
        )
    shared = _shared_terms(groups, ask, terms, public_groups)
    known = shared.adjacency is Adjacency.REPLACE
    procedures = [ask(shared) for _ in groups.groups]
    asked: list[Query | None] = [next(procedure) for procedure in procedures]
    found: dict[int, FoundT] = {}
    while len(found) < len(procedures):
        query = _together(groups, asked, public_groups)
        answer = yield query
        for number, part in enumerate(_split(query, answer, known)):
            if asked[number] is not None:
                try:
                    asked[number] = procedures[number].send(part)
                except StopIteration as stop:
                    found[number], asked[number] = stop.value, None
    return [found[number] for number in range(len(procedures))]


Together = ClassCurvesQuery | GroupedQuery | ReportsQuery


def _together(groups: GroupBinning, asked: list[Query | None], public_groups: bool) -> Together:
    """Join the queries of all groups into one; it is linear where all measure whole curves by one strategy."""
    first = asked[0]
    if isinstance(first, ReportsQuery):
        domain = Domain((*first.rows.domain.columns, Categories(groups.by, groups.groups)))
        return ReportsQuery(RowValues(domain), PublicClasses(first.oracle, len(groups.groups)))
    if isinstance(first, CurveQuery) and first.points is None and all(query == first for query in asked):
        return ClassCurvesQuery(groups, first.strategy, public_groups)
    parts = tuple(query for query in asked if query is None or isinstance(query, CuratorQuery))
    return GroupedQuery(groups, parts, public_groups)


def _split(query: Together, answer: Answer, known: bool) -> Iterator[Answer]:
    if isinstance(query, ReportsQuery):
        assert isinstance(query.oracle, PublicClasses)
        assert isinstance(query.oracle.inner, TreeOracle | UnaryOracle)
        inner = query.oracle.inner
        yield from (class_sums(answer, number, inner) for number in range(query.oracle.classes))
        return
    number, start = query.aggregate.shape[0], 0
    sizes = (1,) * number if isinstance(query, ClassCurvesQuery) else query.sizes
    values = list(answer.values) if isinstance(query, ClassCurvesQuery) else answer.values
    for group, size in enumerate(sizes):
        part = values[group] if isinstance(values, list) else values[start : start + size]
        start += size
        total = answer.totals[group] if known and answer.totals is not None else None
        yield dataclasses.replace(answer, values=part, totals=None if total is None else (total,))


def _shared_terms(
    groups: GroupBinning, ask: Callable[[Terms], Procedure[FoundT]], terms: Terms, public_groups: bool
) -> Terms:
    number = len(groups.groups)
    alone = terms.cell_limit
    terms = dataclasses.replace(
        terms, one_loss_type=True, cell_limit=lambda cells: alone(cells * number), groups=number
    )

    def refusal(query: Query) -> str | None:
        return terms.refusal(_together(groups, [query] * number, public_groups))

    def count() -> int | None:
        everyone = terms.count()
        return None if everyone is None else everyone // number

    if terms.adjacency is Adjacency.ADD_OR_REMOVE or public_groups:
        return dataclasses.replace(terms, refusal=refusal, count=count)
    unit = PrivacyUnit(Adjacency.ADD_OR_REMOVE, terms.unit.person)
    share, problem = Fraction(1, 2), None
    for privacy in _tries(terms.privacy):
        shared = dataclasses.replace(terms, privacy=privacy(share), unit=unit, refusal=refusal, count=count)
        try:
            price = _rehearsed(groups, ask, shared, terms.unit)
        except OgiveError as refused:
            problem = problem or refused
            continue
        if covers(terms.privacy, price):
            return shared
        share *= min(Fraction(1), _room(terms.privacy, price)) * _ROOM
    raise problem or BudgetError(f"no division of {terms.privacy} among groups keeps it; grant more, or PureDP")


def _rehearsed(
    groups: GroupBinning, ask: Callable[[Terms], Procedure[FoundT]], shared: Terms, unit: PrivacyUnit
) -> Loss:
    """What all groups' procedures cost together at most, whatever they select; else no price depends on records."""
    first = next(ask(shared))
    choices = first.score.candidates if _selects(first) else 1
    return largest_loss([_rehearsed_choice(groups, ask(shared), unit, choice) for choice in range(choices)])


def _selects(query: Query) -> TypeGuard[NoisyMaxQuery]:
    return isinstance(query, NoisyMaxQuery) and isinstance(query.score, ApproximationScore)


def _rehearsed_choice(groups: GroupBinning, procedure: Procedure[FoundT], unit: PrivacyUnit, choice: int) -> Loss:
    """Cost where every group selects that candidate, found by a run on imagined records."""
    counts = np.full(groups.values.shape, 16, dtype=np.int64)
    losses = []
    query = next(procedure)
    while True:
        losses.append(_together(groups, [query] * len(groups.groups), False).price(unit))
        assert isinstance(query, CuratorQuery), "reports are asked for where groups are public"
        values = np.array([choice]) if _selects(query) else query.answer(counts, None)
        try:
            query = procedure.send(Answer(values, None))
        except StopIteration:
            return total_loss(losses)


def _tries(privacy: Privacy) -> Iterator[Callable[[Fraction], Privacy]]:
    """Ways to divide a guarantee by a share, the last of them never refused: two groups at half of an epsilon each."""
    for _ in range(_TRIES):
        yield lambda share: _part(privacy, share)
    yield lambda _: _halved(privacy)


def _part(privacy: Privacy, share: Fraction) -> Privacy:
    """A guarantee of a share of the epsilon, or of the squared noise ratio."""
    match privacy:
        case PureDP():
            return PureDP(privacy.epsilon * share)
        case ZeroConcentratedDP():
            return ZeroConcentratedDP(privacy.rho * share)
        case ApproxDP():
            mu = Fraction(gaussian_mu(privacy.epsilon, privacy.delta))
            return ApproxDP(epsilon_of_gaussian(GaussianDP(mu * mu * share), privacy.delta), privacy.delta)


def _halved(privacy: Privacy) -> Privacy:
    """A guarantee that two keep together, and that a replaced record of one keeps as one removed and one added."""
    match privacy:
        case PureDP():
            return PureDP(privacy.epsilon / 2)
        case ZeroConcentratedDP():
            return ZeroConcentratedDP(privacy.rho / 4)
        case ApproxDP():
            return ApproxDP(privacy.epsilon / 2, privacy.delta / 2)


def _room(privacy: Privacy, price: Loss) -> Fraction:
    """By which factor the price may grow, or must shrink, to be what was granted; where they compare."""
    match privacy, price:
        case PureDP() | ApproxDP(), PureDP():
            return privacy.epsilon / price.epsilon
        case ApproxDP(), GaussianDP():
            return Fraction(gaussian_mu(privacy.epsilon, privacy.delta)) ** 2 / price.mu_squared
        case ApproxDP(), ZeroConcentratedDP():
            return gaussian_rho(privacy).rho / price.rho
        case ZeroConcentratedDP(), _:
            return privacy.rho / as_concentrated(price).rho
    return Fraction(1)
