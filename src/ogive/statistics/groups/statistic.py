"""Any statistic of the records that satisfy a condition, or of each of several groups in one release."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, ClassVar, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from ogive.columns import LabelValue, OpenCategories
from ogive.columns.categories import trimmed
from ogive.columns.predicates import Among, Predicate, columns_of, predicate
from ogive.core.checks import KeptByType, truth
from ogive.errors import DataError, ParameterError, UnsupportedError, quoted
from ogive.local.oracles import MAX_CLASSES
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, is_one_line
from ogive.provenance import LONGEST_WHERE
from ogive.queries import Answer, Query
from ogive.queries.aggregates import check_groups
from ogive.statistics.base import Estimate, EstimateT, Statistic, Terms, check_statistic, describe, settled
from ogive.statistics.discovery import discover
from ogive.statistics.groups.estimate import GroupEstimates, condition
from ogive.statistics.histogram.statistic import Histogram
from ogive.statistics.methods.base import owners_answer
from ogive.statistics.methods.together import OWNERS_ALL, Groups, Parts, Satisfying, ask_parts, shared_terms

_ALONE = {
    "boxplot": "a boxplot has groups of its own, `Boxplot(..., by=...)`",
    "describe": "a description has groups of its own, `Describe(..., by=...)`",
    "ustatistic": "statistics of pairs are released of all records or of a subset, not of several groups at once",
    "bounds": "bounds are found of all records or of a subset, not of several groups at once",
    "labels": "labels by votes have no groups",
}


@dataclass(frozen=True)
class Grouped(Generic[EstimateT]):
    """A statistic of each of several disjoint groups, all within one guarantee.

    The groups are measured in parallel. Under ADD_OR_REMOVE each group is measured at the whole guarantee. Under
    REPLACE a record may change its group, so two groups share the guarantee, unless the column of groups is public.

    Groups that are not named are found first, at a quarter of epsilon and all of delta; see `docs/proofs/discovery.md`.

    Fields:
        statistic: The statistic of each group.
        by: Column that says which group a record belongs to: numbers, truth values or text.
        groups: The public values of that column: all possible ones, including values that no record has. None: those
            that enough records have are found first, which needs an `ApproxDP` guarantee and a trusted curator; other
            records are left out.
        public: Whether each record's group is public. Only the other values are then protected, with less noise, and
            the privacy unit must declare the column public. By default, as the privacy unit declares.
    """

    name: ClassVar[str] = "groups"

    statistic: Statistic[EstimateT]
    by: str
    groups: tuple[LabelValue, ...] | None = None
    _: KW_ONLY
    public: bool | None = None

    def __post_init__(self) -> None:
        check_statistic(self.statistic)
        if isinstance(self.statistic, Subset | Grouped):
            raise ParameterError("groups are asked of one column; put a condition around the groups, not inside them")
        if (reason := _ALONE.get(self.statistic.name)) is not None:
            raise ParameterError(reason)
        if self.public is not None:
            truth(self.public, "public")
        if self.groups is None:
            check_open(self.by, self.public)
            self.check_where(None)
            return
        if isinstance(self.groups, str) or not isinstance(self.groups, tuple | list | np.ndarray):
            raise ParameterError(
                f"say which groups column {quoted(self.by)} has, for example `{EXAMPLE}`; "
                "they are public, never read from records"
            )
        plain = tuple(value.item() if isinstance(value, np.generic) else value for value in self.groups)
        check_groups(self.by, plain)
        object.__setattr__(self, "groups", plain)
        self.check_where(None)

    def check_where(self, where: str | None) -> None:
        """Refuse a condition beside which that of a group could not be stated."""
        check_conditions(self.by, self.groups or (), where)

    @property
    def parts(self) -> Parts:
        """The groups that queries are about.

        Raises:
            ParameterError: nobody has named them.
        """
        if self.groups is None:
            raise unplanned()
        return Groups(self.by, self.groups, bool(self.public))

    def shared(self, terms: Terms) -> Terms:
        """The terms under which the statistic is queried, for a plan.

        Raises:
            BudgetError: no query would stay within the terms.
        """
        return shared_terms(self.parts, self.statistic.questions, terms)

    def canonical(self) -> Grouped[EstimateT]:
        """The canonical form of the statistic."""
        return dataclasses.replace(self, public=bool(self.public))

    def settled_by(self, unit: PrivacyUnit) -> Grouped[EstimateT]:
        """The same groups, public or private, with the statistic settled in the same way."""
        public = self.public
        if public is None and self.groups is not None:
            public = unit.adjacency is Adjacency.REPLACE and self.by in unit.public
        return dataclasses.replace(self, statistic=settled(self.statistic, unit), public=public)

    def alternatives(self) -> dict[str, Grouped[EstimateT]]:
        """The same groups by each method of the statistic."""
        methods = self.statistic.alternatives()
        return {name: dataclasses.replace(self, statistic=method) for name, method in methods.items()}

    def questions(self, terms: Terms) -> Generator[Query, Answer, GroupEstimates[EstimateT]]:
        """Pose the queries of the statistic for all groups together.

        Privacy: all queries together at most `terms.privacy`, as `docs/proofs/subsets.md` shows.
        """
        if terms.private and isinstance(self.statistic, Histogram) and self.statistic.values is None:
            raise ParameterError(
                "which values occur is not found out within groups; name the values, which are public, for example "
                "`values=('a', 'b')`"
            )
        if self.groups is None:
            result, threshold = yield from ask_found(
                self.by,
                self.statistic,
                lambda groups: dataclasses.replace(self, groups=groups, public=False),
                terms,
            )
            return dataclasses.replace(result, threshold=threshold)
        if owners_answer(terms) and not self.public and terms.adjacency is Adjacency.REPLACE:
            raise UnsupportedError(
                "every owner says which group a report is for, so groups are public under trust local; declare the "
                f"column, `public=[{quoted(self.by)}]`, or use trust central"
            )
        each = yield from ask_parts(self.parts, self.statistic.questions, terms)
        return GroupEstimates(
            by=self.by,
            groups=self.groups,
            estimates=tuple(stated(estimate, terms.adjacency) for estimate in each),
            # where records come and go, their group does, too, and noise hides both
            public_groups=bool(self.public) and terms.adjacency is Adjacency.REPLACE,
        )


# --- Any statistic of the records that satisfy a public condition


@dataclass(frozen=True)
class Subset(Generic[EstimateT]):
    """A statistic of the records that satisfy a public condition; its estimate is that of the statistic.

    The guarantee also protects whether a record satisfies the condition. If the number of all records is public, the
    size of the subset is private, unless all columns of the condition are declared public; then it is public too. If a
    person may have several records, the condition is applied first, and the number of records per person is limited
    afterwards.

    Fields:
        statistic: The statistic of these records.
        where: The condition: a text such as "ward == 'A' and age >= 65", or values by column, {"ward": "A"}.
        public: Whether it is public who satisfies the condition. Only the other values are then protected, and the
            privacy unit must declare the columns of the condition public. By default, as the privacy unit declares.

    Example:
        >>> import ogive
        >>> print(ogive.Subset(ogive.Ecdf("age", bounds=(0, 120)), {"ward": ["A", "B"]}).where)
        ward in ('A', 'B')
    """

    name: ClassVar[str] = "subset"

    statistic: Statistic[EstimateT]
    where: Any
    public: bool | None = None

    def __post_init__(self) -> None:
        check_statistic(self.statistic)
        if isinstance(self.statistic, Subset):
            raise ParameterError("a subset of a subset is one subset; join both conditions by the word and")
        by = getattr(self.statistic, "by", None)
        if by is not None and getattr(self.statistic, "groups", ()) is None:
            raise ParameterError(
                "groups are found among all records; name them, for example `groups=('a', 'b')`, or leave `where` out"
            )
        object.__setattr__(self, "where", predicate(self.where))
        where = str(self.where)
        if len(where) > LONGEST_WHERE or not is_one_line(where):
            raise ParameterError(
                f"`where` must be one line of at most {LONGEST_WHERE} characters when it is written out, got "
                f"{quoted(where)}; list fewer or shorter values"
            )
        if isinstance(self.statistic, OfGroups):
            self.statistic.check_where(where)
        if self.public is not None:
            truth(self.public, "public")

    @property
    def condition(self) -> Predicate:
        """The condition, parsed."""
        result: Predicate = self.where
        return result

    @property
    def parts(self) -> Parts:
        """The one part of the records that queries are about."""
        return Satisfying(self.condition, bool(self.public))

    def to_dict(self) -> dict[str, Any]:
        """Plain data of the whole question."""
        return {
            "name": self.name,
            "statistic": describe(self.statistic),
            "where": self.condition.to_dict(),
            "public": bool(self.public),
        }

    def shared(self, terms: Terms) -> Terms:
        """The terms under which the statistic is queried, for a plan.

        Raises:
            BudgetError: no query would stay within the terms.
        """
        return shared_terms(self.parts, self.statistic.questions, terms)

    def settled_by(self, unit: PrivacyUnit) -> Subset[EstimateT]:
        """The same subset with a public or private condition, and the statistic settled in the same way."""
        public = self.public
        if public is None:
            replaced = unit.adjacency is Adjacency.REPLACE
            public = replaced and set(columns_of(self.condition)) <= set(unit.public)
        return dataclasses.replace(self, statistic=settled(self.statistic, unit), public=public)

    def alternatives(self) -> dict[str, Subset[EstimateT]]:
        """The same subset by each method of the statistic."""
        methods = self.statistic.alternatives()
        return {name: dataclasses.replace(self, statistic=method) for name, method in methods.items()}

    def questions(self, terms: Terms) -> Generator[Query, Answer, EstimateT]:
        """Pose the queries of the statistic for the records that satisfy the condition.

        Privacy: all queries together at most `terms.privacy`, as `docs/proofs/subsets.md` shows.
        """
        if owners_answer(terms):
            raise UnsupportedError(OWNERS_ALL)
        (estimate,) = yield from ask_parts(self.parts, self.statistic.questions, terms)
        return stated(estimate, terms.adjacency)


# --- What every estimate of a group states: the condition that its records satisfy, and the adjacency of the release


def check_conditions(by: str, groups: Sequence[LabelValue], where: str | None = None) -> None:
    """Refuse groups whose condition no estimate could state, before anything is paid."""
    if not is_one_line(by):
        raise ParameterError(f"the column of groups must have a name of one line, got {quoted(by)}; rename the column")
    for group in groups:
        if isinstance(group, str) and not is_one_line(group):
            raise ParameterError(f"every group must be a text of one line, got {quoted(group)}; rename the group")
    longest = max(groups, key=lambda group: len(condition(by, group, None)), default=None)
    if longest is not None and len(condition(by, longest, where)) > LONGEST_WHERE:
        raise ParameterError(
            f"the condition of a group would have more than {LONGEST_WHERE} characters, `where` included; write a "
            "shorter `where`, or rename the groups"
        )


@runtime_checkable
class OfGroups(Protocol, metaclass=KeptByType):
    """A statistic whose estimate states the condition of each group."""

    def check_where(self, where: str | None) -> None:
        """Refuse a condition beside which that of a group could not be stated."""
        ...


# --- Estimates of some of the records

StatedT = TypeVar("StatedT", bound=Estimate)


def stated(estimate: StatedT, adjacency: Adjacency) -> StatedT:
    """An estimate whose noise was drawn as if records came and went, as one that hides what the release hides.

    Where replacing a record is hidden and it may join or leave, its part is measured under ADD_OR_REMOVE.
    The price is that of the release, under its own adjacency.
    """
    changed: dict[str, Any] = {}
    held: Any = estimate
    for field in dataclasses.fields(held):
        value = getattr(held, field.name)
        if field.name == "adjacency":
            changed[field.name] = adjacency
        elif isinstance(value, Estimate):
            changed[field.name] = stated(value, adjacency)
        elif isinstance(value, tuple) and value and all(isinstance(each, Estimate) for each in value):
            changed[field.name] = tuple(stated(each, adjacency) for each in value)
    replaced: StatedT = dataclasses.replace(held, **changed) if changed else estimate
    return replaced


# --- Groups that nobody has named: found first, then released as if they had been named
#
# Source:
#     `docs/proofs/discovery.md`, `docs/proofs/together.md`.

FoundT = TypeVar("FoundT", bound=Estimate)

EXAMPLE = "groups=('a', 'b')"
FINDING = Fraction(1, 4)
"""Part of epsilon that is spent on finding groups or categories."""


def ask_found(
    by: str,
    alone: Statistic[Any],
    named: Callable[[tuple[LabelValue, ...]], Statistic[FoundT]],
    terms: Terms,
) -> Generator[Query, Answer, tuple[FoundT, int | None]]:
    """Find the groups of a column, then ask of their records, at most at the price of the terms."""
    first, rest = divided(terms)
    terms.preflight(next(alone.questions(rest)))  # what is wrong with its columns is found before the spend
    discovered = yield from discover(OpenCategories(by, "count"), first, parameter="groups")
    # a text of several lines names no group in a table, and is left out as those that were not found are
    named_once = {trimmed(name): name for name in reversed(discovered.most(MAX_CLASSES))}
    groups = tuple(name for name in reversed(named_once.values()) if not isinstance(name, str) or is_one_line(name))
    if not groups:
        raise DataError(
            f"no value of column {quoted(by)} reaches the threshold of about "
            f"{discovered.threshold} records; use a larger guarantee, or name the groups, for example `{EXAMPLE}`"
        )
    result = yield from Subset(named(groups), Among(by, groups), public=False).questions(rest)
    return result, discovered.threshold


def check_open(by: str, public: bool | None) -> None:
    """Refuse groups that nobody has named where they would have to be known."""
    OpenCategories(by)
    if public:
        raise ParameterError(f"groups that everybody may know are named, for example `{EXAMPLE}`")


def divided(terms: Terms) -> tuple[Terms, Terms]:
    """The terms under which values are found, and those of everything else."""
    privacy = terms.privacy
    if not isinstance(privacy, ApproxDP):  # refused where there is privacy, and else of no account
        return terms, terms
    return (
        dataclasses.replace(terms, privacy=ApproxDP(privacy.epsilon * FINDING, privacy.delta)),
        dataclasses.replace(terms, privacy=PureDP(privacy.epsilon * (1 - FINDING))),
    )


def unplanned() -> ParameterError:
    """Why nothing can be planned: how many groups there will be is not known."""
    return ParameterError(
        "a plan needs groups: name them, or stand-ins for as many as there may be, for example "
        f"`{EXAMPLE}`; finding them takes a quarter of epsilon and all of delta"
    )
