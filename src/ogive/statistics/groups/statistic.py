"""Any statistic of each of several groups, in one release."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import ClassVar, Generic

import numpy as np

from ogive.checks import truth
from ogive.columns import LabelValue, OpenCategories
from ogive.errors import DataError, ParameterError, UnsupportedError, quoted
from ogive.local.classes import MAX_CLASSES
from ogive.predicates import Among
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP
from ogive.queries import Answer, Query
from ogive.queries.aggregates import check_groups
from ogive.statistics.base import EstimateT, Statistic, Terms, check_statistic, settled
from ogive.statistics.discovery import discover
from ogive.statistics.groups.estimate import GroupEstimates
from ogive.statistics.groups.stated import stated
from ogive.statistics.groups.subset import Subset
from ogive.statistics.methods.base import owners_answer
from ogive.statistics.methods.groups import Groups, Parts, ask_parts, shared_terms

_ALONE = {
    "boxplot": "a boxplot has groups of its own, `Boxplot(..., by=...)`",
    "ustatistic": "statistics of pairs are released of all records or of a subset, not of several groups at once",
    "bounds": "bounds are found of all records or of a subset, not of several groups at once",
    "labels": "labels by votes have no groups",
}


_EXAMPLE = "groups=('a', 'b')"
FINDING = Fraction(1, 4)
"""Part of epsilon that is spent on finding groups."""


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
        """Refuse what no release could use, before any data is touched."""
        check_statistic(self.statistic)
        if isinstance(self.statistic, Subset | Grouped):
            raise ParameterError("groups are asked of one column; put a condition around the groups, not inside them")
        if (reason := _ALONE.get(self.statistic.name)) is not None:
            raise ParameterError(reason)
        if self.public is not None:
            truth(self.public, "public")
        if self.groups is None:
            self._check_open()
            return
        if isinstance(self.groups, str) or not isinstance(self.groups, tuple | list | np.ndarray):
            raise ParameterError(
                f"say which groups column {quoted(self.by)} has, for example `{_EXAMPLE}`; "
                "they are public, never read from records"
            )
        plain = tuple(value.item() if isinstance(value, np.generic) else value for value in self.groups)
        check_groups(self.by, plain)
        object.__setattr__(self, "groups", plain)

    def _check_open(self) -> None:
        """Refuse groups that nobody has named where they would have to be known."""
        OpenCategories(self.by)
        if self.public:
            raise ParameterError(f"groups that everybody may know are named, for example `{_EXAMPLE}`")

    @property
    def parts(self) -> Parts:
        """The groups that are asked.

        Raises:
            ParameterError: nobody has named them.
        """
        if self.groups is None:
            raise ParameterError(
                "a plan needs groups: name them, or stand-ins for as many as there may be, for example "
                f"`{_EXAMPLE}`; finding them takes a quarter of epsilon and all of delta"
            )
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
        if self.groups is None:
            return (yield from self._ask_found(terms))
        if owners_answer(terms) and not self.public and terms.adjacency is Adjacency.REPLACE:
            raise UnsupportedError(
                "every owner says which group a report is for, so groups are public under trust local; declare the "
                f"column, `public=[{quoted(self.by)}]`, or use trust central"
            )
        found = yield from ask_parts(self.parts, self.statistic.questions, terms)
        return GroupEstimates(
            by=self.by,
            groups=self.groups,
            estimates=tuple(stated(estimate, terms.adjacency) for estimate in found),
            # where records come and go, their group does, too, and noise hides both
            public_groups=bool(self.public) and terms.adjacency is Adjacency.REPLACE,
        )

    def _ask_found(self, terms: Terms) -> Generator[Query, Answer, GroupEstimates[EstimateT]]:
        """Find the groups, then ask what the statistic asks of the records of those that were found.

        Privacy: a quarter of epsilon with all of delta, and a pure guarantee of the rest.
        """
        first, rest = _divided(terms)
        terms.preflight(
            next(self.statistic.questions(rest))
        )  # what is wrong with its columns is found before the spend
        open_groups = OpenCategories(self.by, "count")
        discovered = yield from discover(open_groups, first, parameter="groups")
        groups = discovered.most(MAX_CLASSES)
        if not groups:
            raise DataError(
                f"no value of column {quoted(self.by)} has so many records that it is found, about "
                f"{discovered.threshold}; use a larger guarantee, or name the groups, for example `{_EXAMPLE}`"
            )
        inner = Subset(dataclasses.replace(self, groups=groups, public=False), Among(self.by, groups), public=False)
        found = yield from inner.questions(rest)
        return dataclasses.replace(found, threshold=discovered.threshold)


def _divided(terms: Terms) -> tuple[Terms, Terms]:
    """The terms under which groups are found, and those under which they are asked."""
    privacy = terms.privacy
    if not isinstance(privacy, ApproxDP):  # refused where there is privacy, and else of no account
        return terms, terms
    return (
        dataclasses.replace(terms, privacy=ApproxDP(privacy.epsilon * FINDING, privacy.delta)),
        dataclasses.replace(terms, privacy=PureDP(privacy.epsilon * (1 - FINDING))),
    )
