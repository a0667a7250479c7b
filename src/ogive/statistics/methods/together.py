"""Several procedures in one release: about the same records one after the other, or about disjoint parts in step.

Of those about the same records each has a public share of one guarantee. Shares are exact: of epsilon under pure
privacy, of rho under zCDP. An (epsilon, delta) guarantee is divided as one of these two, the one whose noise is less:
either as its epsilon, or as the largest rho that implies it, so that its delta is used once for everything.

Source:
    `docs/proofs/together.md`, `docs/proofs/subsets.md`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, Generic, TypeVar, cast

import numpy as np

from ogive.accounting import (
    as_concentrated,
    covers,
    epsilon_of_gaussian,
    gaussian_mu,
    gaussian_rho,
    pure_epsilon,
    total_loss,
)
from ogive.columns import Binning, Categories, Domain, LabelValue
from ogive.columns.predicates import Predicate
from ogive.errors import BudgetError, OgiveError, ParameterError, UnsupportedError
from ogive.local.oracles import MAX_CLASSES, PublicClasses, UnaryOracle
from ogive.local.tree import TreeOracle
from ogive.privacy import Adjacency, ApproxDP, GaussianDP, Loss, Privacy, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import (
    Aggregate,
    Answer,
    ClassCurvesQuery,
    CuratorQuery,
    CurveQuery,
    GroupBinning,
    GroupedQuery,
    GroupSumsQuery,
    LinearGroupsQuery,
    Parted,
    PersonShares,
    Query,
    ReportsQuery,
    RowValues,
    Selected,
    ValueCounts,
    selecting,
    undeclared,
)
from ogive.queries.aggregates import Counted, write
from ogive.queries.selection import ApproximationScore, NoisyMaxQuery
from ogive.statistics.base import Terms
from ogive.statistics.methods.base import mean_variance, owners_answer
from ogive.statistics.methods.curve_methods import class_sums
from ogive.strategies.composed import largest_loss

FoundT = TypeVar("FoundT")
Procedure = Generator[Query, Answer, FoundT]

_RECORDS = 16
"""Of every kind, in the imagined records on which questions are tried out."""


@dataclass(frozen=True)
class Weighted(Generic[FoundT]):
    """One of several procedures.

    Fields:
        weight: Its share of the guarantee, in proportion to the other weights.
        once: Whether it asks one question, so that a rehearsal knows all of it before there is an answer.
    """

    weight: Fraction
    ask: Callable[[Terms], Procedure[FoundT]]
    once: bool = False
    _rehearsed: dict[tuple[Privacy, PrivacyUnit], Query] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def question(self, terms: Terms) -> Query:
        """What it asks once, in a rehearsal, which comes to the same question again under the same guarantee."""
        key = terms.privacy, terms.unit
        if key not in self._rehearsed:
            self._rehearsed[key] = next(self.ask(terms))
        return self._rehearsed[key]


def ask_together(procedures: Sequence[Weighted[Any]], terms: Terms) -> Procedure[list[Any]]:
    """Run procedures one after the other, each within its share of a guarantee.

    A later procedure may look at what an earlier one found, but the price of what it asks must not depend on it.

    Privacy:
        `terms.privacy` for all answers together.
    """
    if isinstance(terms.privacy, ApproxDP):
        terms = _of_one_type(procedures, terms)
    results: list[Any] = []
    for each, mine in zip(procedures, _shared(procedures, terms), strict=True):
        if terms.imagined and each.once:
            yield each.question(mine)
            results.append(None)  # nobody reads what is estimated of imagined records
        else:
            results.append((yield from each.ask(mine)))
    return results


def ask_scores(question: Any, ask: Callable[[str, Terms], Procedure[Any]], terms: Terms) -> Procedure[Any]:
    """Measure the score of a question by one query, or its two scores by one each, with half of the guarantee."""
    if question.other is None:
        result = yield from ask(question.score, terms)
        return result
    asked = [Weighted(Fraction(1), partial(ask, score), once=True) for score in (question.score, question.other)]
    both: list[Any] = yield from ask_together(asked, terms)
    return both[0] if terms.imagined else dataclasses.replace(both[0], other=both[1])


def rehearse(procedure: Procedure[Any], terms: Terms) -> list[CuratorQuery]:
    """What a procedure asks, found by a run on imagined records, of which there are a few of every kind."""

    def answer(query: CuratorQuery) -> Answer:
        counts = np.full(query.aggregate.shape, _RECORDS, dtype=np.int64)
        return Answer(query.answer(counts, None), query.totals(counts, terms.adjacency))

    return list(_answered(procedure, answer))


def _answered(procedure: Procedure[Any], answer: Callable[[CuratorQuery], Answer]) -> Iterator[CuratorQuery]:
    """The queries of a procedure, each answered so."""
    query = next(procedure)
    while True:
        yield cast(CuratorQuery, query)
        try:
            query = procedure.send(answer(cast(CuratorQuery, query)))
        except StopIteration:
            return


def check_served(procedure: Procedure[Any], terms: Terms) -> None:
    """Refuse before the first question what the trust model would refuse, or could not read, at a later one.

    Whoever pays is told what all questions together will cost.
    """
    losses = {}
    for query in rehearse(procedure, terms):
        losses[query.measurement] = query.price(terms.unit)
        reason = terms.refusal(query) or (undeclared(query, terms.unit) if terms.private else None)
        if reason is not None:
            raise UnsupportedError(reason)
        terms.preflight(query)
    terms.announce(total_loss(list(losses.values())))


def _shared(procedures: Sequence[Weighted[Any]], terms: Terms) -> list[Terms]:
    """The terms of each procedure, with its exact share of a pure or concentrated guarantee."""
    whole = sum((each.weight for each in procedures), Fraction(0))
    return [
        dataclasses.replace(terms, privacy=share_of(terms.privacy, each.weight / whole), one_loss_type=True)
        for each in procedures
    ]


def share_of(privacy: Privacy, share: Fraction) -> Privacy:
    """A share of a pure or a concentrated guarantee; shares that add up to 1 cost the whole guarantee together."""
    match privacy:
        case PureDP():
            return PureDP(privacy.epsilon * share)
        case ZeroConcentratedDP():
            return ZeroConcentratedDP(privacy.rho * share)
    raise AssertionError("an (epsilon, delta) guarantee is divided as one of another type")


def _of_one_type(procedures: Sequence[Weighted[Any]], terms: Terms) -> Terms:
    """The terms with the pure or the concentrated guarantee that implies theirs, whichever needs less noise."""
    assert isinstance(terms.privacy, ApproxDP)
    results: list[tuple[float, Terms]] = []
    problem: OgiveError | None = None
    for grant in (gaussian_rho, pure_epsilon):
        try:
            privacy = grant(terms.privacy)
            mine = dataclasses.replace(terms, privacy=privacy, one_loss_type=True, simulations=0, imagined=True)
            queries = rehearse(ask_together(procedures, mine), mine)
        except OgiveError as refused:
            problem = problem or refused
            continue
        noise = sum(math.log(_variance(query, terms.adjacency)) for query in queries)
        results.append((noise, dataclasses.replace(mine, simulations=terms.simulations, imagined=terms.imagined)))
    if not results:
        assert problem is not None, "two guarantees were tried"
        raise problem
    return min(results, key=lambda each: each[0])[1]


def _variance(query: Query, adjacency: Adjacency) -> float:
    """Variance of the noise of one number that a query is for, to compare two designs of the same question."""
    single: Any = query.joined if isinstance(query, LinearGroupsQuery) else query
    single = getattr(single, "asked", (single,))[0]
    if hasattr(single, "strategy"):
        return mean_variance(single.strategy, adjacency)
    laws = [level.law.variance for level in single.levels]
    weights = getattr(single, "weights", None)
    scale = 2.0 ** getattr(single, "bits", 0) * (1 if weights is None else weights.slope or 1)
    return float(max(laws)) / scale**2


# --- One procedure for each of several disjoint parts of the records
#
# Parts are the groups of a column, or the records that satisfy a condition.

Divided = dict[Privacy, tuple[Privacy, Loss | None]]
"""By what all parts together may cost: the guarantee of each, and the price that was announced, if any was."""

_TRIES = 4
_ROOM = Fraction(9999, 10000)  # rounding of noise must not use up what is exactly enough


@dataclass(frozen=True)
class Groups:
    """Disjoint groups of one column, which together are all records.

    Fields:
        public: Whether everybody may know each record's group.
        of: The column with its thresholds, and the groups, where every query is asked of these; else None.
    """

    by: str
    groups: tuple[LabelValue, ...]
    public: bool
    of: GroupBinning | None = None

    @property
    def number(self) -> int:
        """How many groups there are."""
        return len(self.groups)

    def records(self, everyone: int) -> int | None:
        """Those of an average group."""
        return everyone // self.number

    def joined(self, queries: Sequence[Query | None]) -> Query:
        """One query of all groups; it is linear where all groups have one linear query, or add up otherwise."""
        first = queries[0]
        if isinstance(first, ReportsQuery):
            if self.number > MAX_CLASSES:
                raise _too_many(self.number)
            domain = Domain((*first.rows.domain.columns, Categories(self.by, self.groups)))
            return ReportsQuery(RowValues(domain), PublicClasses(first.oracle, self.number))
        same = all(query == first for query in queries)
        if isinstance(first, CurveQuery) and first.points is None and same:
            return ClassCurvesQuery(self._binned(first.binning), first.strategy, self.public)
        parts = tuple(query for query in queries if query is None or isinstance(query, CuratorQuery))
        first = next(query for query in parts if query is not None)
        measured = tuple((first if query is None else query).aggregate for query in parts)
        if any(isinstance(each, RowValues | Selected) for each in measured) or (
            self.of is None and any(isinstance(query, CurveQuery) and query.points is not None for query in parts)
        ):
            raise UnsupportedError(
                f"{first.method} is asked of all records or of a subset (`where`), not of "
                "several groups at once; use another method, or a release for each group"
            )
        if any(isinstance(each, PersonShares) for each in measured):
            raise UnsupportedError(
                "a person may have rows in several groups, and would count once in each; ask for people of all groups "
                "or of a subset (`where`), or count rows"
            )
        grouped = GroupedQuery(self._parted(measured), parts, self.public)
        adds_up = self.of is None and all(query is not None and query.kind == "linear" for query in parts)
        return LinearGroupsQuery(grouped) if adds_up else grouped

    def _parted(self, measured: tuple[Aggregate, ...]) -> GroupBinning | Parted:
        first = measured[0]
        if isinstance(first, Binning) and len(set(measured)) == 1:
            return self._binned(first)
        return Parted(measured, self.by, self.groups)

    def _binned(self, binning: Binning) -> GroupBinning:
        return GroupBinning(binning, self.by, self.groups) if self.of is None else self.of

    def answers(self, query: Query, answer: Answer, *, known: bool) -> Iterator[Answer]:
        """What each group answered, with the number of its records where that is public."""
        if isinstance(query, ReportsQuery):
            assert isinstance(query.oracle, PublicClasses)
            assert isinstance(query.oracle.inner, TreeOracle | UnaryOracle)
            inner = query.oracle.inner
            yield from (class_sums(answer, number, inner) for number in range(query.oracle.classes))
            return
        if isinstance(query, LinearGroupsQuery):
            query = query.joined
        assert isinstance(query, ClassCurvesQuery | GroupedQuery)
        values, start = answer.values, 0
        shapes = None if isinstance(query, ClassCurvesQuery) else query.shapes
        for group in range(self.number):
            if shapes is None:
                part = values[group]
            else:
                size = math.prod(shapes[group])
                part = values[start : start + size].reshape(shapes[group])
                start += size
            total = answer.totals[group] if known and answer.totals is not None else None
            yield dataclasses.replace(answer, values=part, totals=None if total is None else (total,))


@dataclass(frozen=True)
class Satisfying:
    """The one part of the records that satisfy a condition.

    Fields:
        public: Whether everybody may know who satisfies it.
    """

    where: Predicate
    public: bool

    @property
    def number(self) -> int:
        """One: nothing is asked of the other records."""
        return 1

    def records(self, everyone: int) -> int | None:
        """Nothing: how many satisfy a condition does not follow from how many there are."""
        return None

    def joined(self, queries: Sequence[Query | None]) -> Query:
        """The query about these records."""
        (query,) = queries
        if not isinstance(query, CuratorQuery):
            raise UnsupportedError(OWNERS_ALL)
        return selecting(query, self.where, public=self.public)

    def answers(self, query: Query, answer: Answer, *, known: bool) -> Iterator[Answer]:
        """The answer as it is, with the numbers of records that the query tells."""
        yield answer


Parts = Groups | Satisfying
"""The parts of the records, for each of which one procedure is run, all of them in step."""

OWNERS_ALL = (
    "whether a record satisfies `where` is nothing that its owner reports; "
    "use trust central or secagg, or leave `where` out"
)


def ask_groups(
    groups: GroupBinning, ask: Callable[[Terms], Procedure[FoundT]], terms: Terms, *, public_groups: bool
) -> Procedure[list[FoundT]]:
    """Run one procedure for each group of one column, all in step; see `ask_parts`.

    Owners who randomize their own records are each asked for their group's report. They send their group as it is, so
    groups are public then, and each report costs what it would cost alone.
    """
    if owners_answer(terms) and not public_groups and terms.adjacency is Adjacency.REPLACE:
        raise ParameterError(
            "every report names its group, so groups are public under trust local; use `public_groups=True` with a "
            "column that is declared public, or use trust central"
        )
    return (yield from ask_parts(Groups(groups.by, groups.groups, public_groups, groups), ask, terms))


def ask_parts(
    parts: Parts, ask: Callable[[Terms], Procedure[FoundT]], terms: Terms, *, divided: Divided | None = None
) -> Procedure[list[FoundT]]:
    """Run one procedure for each part of the records, all in step.

    Where a record may change its part and replacing it is hidden, it leaves one part and joins another. Then each
    part is asked as if its size were private, for so much less that the two together stay within the grant.
    """
    if parts.number > MAX_CLASSES and owners_answer(terms):
        raise _too_many(parts.number)
    shared = shared_terms(parts, ask, terms, {} if divided is None else divided)
    known = shared.adjacency is Adjacency.REPLACE
    procedures = [ask(shared) for _ in range(1 if terms.imagined else parts.number)]
    times = parts.number // len(procedures)
    queries: list[Query | None] = [next(procedure) for procedure in procedures]
    results: dict[int, FoundT] = {}
    while len(results) < len(procedures):
        query = parts.joined(queries * times)
        answer = yield query
        for number, part in zip(range(len(procedures)), parts.answers(query, answer, known=known), strict=False):
            procedure, waiting = procedures[number], queries[number]
            if waiting is not None:
                try:
                    queries[number] = procedure.send(part)
                except StopIteration as stop:
                    results[number], queries[number] = stop.value, None
    return [results[number] for number in range(len(procedures))] * times


def _too_many(groups: int) -> UnsupportedError:
    return UnsupportedError(
        f"owners answer for at most {MAX_CLASSES} groups at once, and there are {groups}; ask for fewer groups a "
        "release"
    )


def shared_terms(
    parts: Parts, ask: Callable[[Terms], Procedure[FoundT]], terms: Terms, divided: Divided | None = None
) -> Terms:
    """The terms of the procedure of each part, so that all of them together stay within these terms."""
    number = parts.number
    alone = terms.cell_limit
    terms = dataclasses.replace(
        terms, one_loss_type=True, cell_limit=lambda cells: alone(cells * number), groups=terms.groups * number
    )

    def refusal(query: Query) -> str | None:
        try:
            joined = parts.joined([query] * number)
        except UnsupportedError as problem:
            return problem.marked
        return terms.refusal(joined)

    def preflight(query: Query) -> None:
        terms.preflight(parts.joined([query] * number))

    def count() -> int | None:
        everyone = terms.count()
        return None if everyone is None else parts.records(everyone)

    served = dataclasses.replace(terms, refusal=refusal, preflight=preflight, count=count, serving=None)
    if terms.adjacency is Adjacency.ADD_OR_REMOVE or parts.public:
        return served
    losses: list[Loss] = []  # what a procedure says that it costs is another price than that of all parts
    served = dataclasses.replace(served, announce=losses.append)
    unit = PrivacyUnit(Adjacency.ADD_OR_REMOVE, terms.unit.person)
    if divided is not None and terms.privacy in divided:
        mine, announced = divided[terms.privacy]
        if announced is not None:
            terms.announce(announced)
        return dataclasses.replace(served, privacy=mine, unit=unit)
    share, problem = Fraction(1), None
    if number > 1:
        share = Fraction(1, 2)
    for privacy in _tries(terms.privacy):
        shared = dataclasses.replace(served, privacy=privacy(share), unit=unit)
        try:
            price = _rehearsed(parts, ask, shared, terms.unit)
        except OgiveError as refused:
            problem = problem or refused
            continue
        if covers(terms.privacy, price):
            if losses:
                terms.announce(price)
            if divided is not None:
                divided[terms.privacy] = shared.privacy, price if losses else None
            return shared
        share *= min(Fraction(1), _room(terms.privacy, price)) * _ROOM
    if not terms.private:  # nobody pays, so a price that no guarantee covers hinders nobody
        return dataclasses.replace(served, unit=unit)
    raise problem or BudgetError(
        f"no division of {terms.privacy} among groups keeps it; use a larger guarantee, or PureDP"
    )


def _rehearsed(parts: Parts, ask: Callable[[Terms], Procedure[FoundT]], shared: Terms, unit: PrivacyUnit) -> Loss:
    """What all parts' procedures cost together at most, whatever they select; else no price depends on records."""
    shared = dataclasses.replace(shared, simulations=0)  # intervals of imagined records are read by nobody
    selection = _selection(next(ask(shared)))
    choices = selection.score.candidates if selection is not None else 1
    return largest_loss([_rehearsed_choice(parts, ask(shared), unit, choice) for choice in range(choices)])


def _selection(query: Query) -> NoisyMaxQuery | None:
    """The private selection of a method that a query, or the query of each of several groups, asks for."""
    if isinstance(query, GroupedQuery):
        return _selection(query.asked[0])
    return query if isinstance(query, NoisyMaxQuery) and isinstance(query.score, ApproximationScore) else None


def _rehearsed_choice(parts: Parts, procedure: Procedure[FoundT], unit: PrivacyUnit, choice: int) -> Loss:
    """Cost where every part selects that candidate, found by a run on imagined records."""

    def answer(query: CuratorQuery) -> Answer:
        counts = np.full(query.aggregate.shape, _RECORDS, dtype=np.int64)
        if isinstance(query.aggregate, ValueCounts):
            counts = write(Counted({"any": _RECORDS}))
        values = query.answer(counts, None)
        return Answer(values if _selection(query) is None else np.full(values.shape, choice), None)

    losses = {}
    for query in _answered(procedure, answer):
        assert isinstance(query, CuratorQuery), "reports are asked for where groups are public"
        if query.measurement not in losses:
            losses[query.measurement] = parts.joined([_widest(query)] * parts.number).price(unit)
    return total_loss(list(losses.values()))


def _widest(query: CuratorQuery) -> CuratorQuery:
    """A query of the largest price: ends of groups are read off an earlier answer, and the price grows with a width."""
    if isinstance(query, GroupSumsQuery):
        return query.of_one_group
    if not isinstance(query, LinearGroupsQuery) or not isinstance(query.aggregate, Parted):
        return query
    parts = tuple(_widest(part) for part in query.linear)
    groups = dataclasses.replace(query.aggregate, values=tuple(part.aggregate for part in parts))
    return LinearGroupsQuery(dataclasses.replace(query.joined, groups=groups, parts=parts))


def _tries(privacy: Privacy) -> Iterator[Callable[[Fraction], Privacy]]:
    """Ways to divide a guarantee by a share, the last of them never refused: two groups at half of an epsilon each."""
    for _ in range(_TRIES):
        yield lambda share: _part(privacy, share)
    yield lambda _: _halved(privacy)


def _part(privacy: Privacy, share: Fraction) -> Privacy:
    """A guarantee of a share of the epsilon, or of the squared noise ratio."""
    if not isinstance(privacy, ApproxDP):
        return share_of(privacy, share)
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
