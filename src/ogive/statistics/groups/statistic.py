"""Any statistic of each of several groups, in one release."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Generic

import numpy as np

from ogive.columns import LabelValue
from ogive.core.checks import truth
from ogive.errors import ParameterError, UnsupportedError, quoted
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import Answer, Query
from ogive.queries.aggregates import check_groups
from ogive.statistics.base import EstimateT, Statistic, Terms, check_statistic, settled
from ogive.statistics.groups.conditions import check_conditions, stated
from ogive.statistics.groups.estimate import GroupEstimates
from ogive.statistics.groups.found import EXAMPLE, ask_found, check_open, unplanned
from ogive.statistics.groups.subset import Subset
from ogive.statistics.histogram.statistic import Histogram
from ogive.statistics.methods.base import owners_answer
from ogive.statistics.methods.together import Groups, Parts, ask_parts, shared_terms

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
        """Refuse what no release could use, before any data is touched."""
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
        """The groups that are asked.

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
