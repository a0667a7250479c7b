"""One procedure for each of several disjoint groups, asked in step, so that all groups are priced together."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from fractions import Fraction
from typing import TypeVar

from ogive.accounting import covers, epsilon_of_gaussian, gaussian_mu
from ogive.errors import BudgetError, OgiveError
from ogive.privacy import Adjacency, ApproxDP, GaussianDP, Privacy, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import Answer, ClassCurvesQuery, CurveQuery, GroupBinning, GroupedQuery, Query
from ogive.statistics.base import Terms

FoundT = TypeVar("FoundT")
Procedure = Generator[Query, Answer, FoundT]

_HALVES = tuple(Fraction(share) for share in ("1/2", "499/1000", "49/100", "9/20", "2/5", "1/3", "1/4", "1/8"))


def ask_groups(
    groups: GroupBinning, ask: Callable[[Terms], Procedure[FoundT]], terms: Terms, *, public_groups: bool
) -> Procedure[list[FoundT]]:
    """Run one procedure for each group, all in step.

    Where a record may change its group and replacing it is hidden, it leaves one group and joins another. Then each
    group is asked as if its size were private, for so much less that the two together stay within the grant.

    Args:
        groups: Column, thresholds and groups.
        ask: Starts the procedure of one group on terms; it asks of the column alone.
        terms: What all groups together may cost.
        public_groups: Whether everybody may know each record's group.

    Returns:
        What came out for each group.

    Raises:
        BudgetError: nothing that the procedure could ask would stay within the terms.
    """
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


def _together(groups: GroupBinning, asked: list[Query | None], public_groups: bool) -> ClassCurvesQuery | GroupedQuery:
    """All groups' queries as one: a linear one where they all measure a whole curve by one strategy."""
    first = asked[0]
    if isinstance(first, CurveQuery) and first.points is None and all(query == first for query in asked):
        return ClassCurvesQuery(groups, first.strategy, public_groups)
    return GroupedQuery(groups, tuple(asked), public_groups)


def _split(query: ClassCurvesQuery | GroupedQuery, answer: Answer, known: bool) -> Iterator[Answer]:
    """Each group's own answer."""
    number, start = query.aggregate.shape[0], 0
    sizes = (1,) * number if isinstance(query, ClassCurvesQuery) else query.sizes
    values = list(answer.values) if isinstance(query, ClassCurvesQuery) else answer.values
    for group, size in enumerate(sizes):
        part = values[group] if isinstance(values, list) else values[start : start + size]
        start += size
        total = answer.totals[group] if known and answer.totals is not None else None
        yield Answer(part, None if total is None else (total,), answer.noisy)


def _shared_terms(
    groups: GroupBinning, ask: Callable[[Terms], Procedure[FoundT]], terms: Terms, public_groups: bool
) -> Terms:
    """The terms for each group on its own."""
    number = len(groups.groups)

    def refusal(query: Query) -> str | None:
        return terms.refusal(_together(groups, [query] * number, public_groups))

    def count() -> int | None:
        everyone = terms.count()
        return None if everyone is None else everyone // number

    if terms.adjacency is Adjacency.ADD_OR_REMOVE or public_groups:
        return Terms(terms.privacy, terms.unit, refusal, simulations=terms.simulations, count=count)
    unit = PrivacyUnit(Adjacency.ADD_OR_REMOVE, terms.unit.person)
    problem: OgiveError | None = None
    for privacy in _halves(terms.privacy):
        shared = Terms(privacy, unit, refusal, simulations=terms.simulations)
        try:
            query = _together(groups, [next(ask(shared))] * number, public_groups)
        except OgiveError as refused:
            problem = problem or refused
            continue
        if covers(terms.privacy, query.price(terms.unit)):
            return shared
    raise problem or BudgetError(f"no division of {terms.privacy} among groups keeps it; use public_groups, or more")


def _halves(privacy: Privacy) -> Iterator[Privacy]:
    """Guarantees of which two together should keep the wanted one, the largest first."""
    for share in _HALVES:
        match privacy:
            case PureDP():
                yield PureDP(privacy.epsilon * share)
            case ZeroConcentratedDP():
                yield ZeroConcentratedDP(privacy.rho * share)
            case ApproxDP():
                mu = Fraction(gaussian_mu(privacy.epsilon, privacy.delta))
                yield ApproxDP(epsilon_of_gaussian(GaussianDP(mu * mu * share), privacy.delta), privacy.delta)
    if isinstance(privacy, ApproxDP):
        yield ApproxDP(privacy.epsilon / 2, privacy.delta / 2)
