"""Any statistic of each of several groups, in one release."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Generic

import numpy as np

from ogive.checks import truth
from ogive.columns import LabelValue
from ogive.errors import ParameterError, UnsupportedError, quoted
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import Answer, Query
from ogive.queries.aggregates import check_groups
from ogive.statistics.base import EstimateT, Statistic, Terms, check_statistic, settled
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


@dataclass(frozen=True)
class Grouped(Generic[EstimateT]):
    """A statistic of each of several disjoint groups, all within one guarantee.

    Groups are asked in parallel: where a record is added or removed, each group is asked at the whole guarantee.
    Where replacing a record is hidden it may change its group, and then two groups share the guarantee, unless the
    column of groups is public.

    Fields:
        statistic: What is wanted of each group.
        by: Column that says which group a record belongs to: numbers, truth values or text.
        groups: Its values, public: all of them, also those that no record has.
        public: Whether everybody may know each record's group; only the other values are then hidden, with less noise,
            and the privacy unit must declare the column public. None: whether it does.
    """

    name: ClassVar[str] = "groups"

    statistic: Statistic[EstimateT]
    by: str
    groups: tuple[LabelValue, ...]
    _: KW_ONLY
    public: bool | None = None

    def __post_init__(self) -> None:
        """Refuse what no release could use, before any data is touched."""
        check_statistic(self.statistic)
        if isinstance(self.statistic, Subset | Grouped):
            raise ParameterError("groups are asked of one column; put a condition around the groups, not inside them")
        if (reason := _ALONE.get(self.statistic.name)) is not None:
            raise ParameterError(reason)
        if isinstance(self.groups, str) or not isinstance(self.groups, tuple | list | np.ndarray):
            raise ParameterError(
                f"say which groups column {quoted(self.by)} has, for example `groups=('a', 'b')`; "
                "they are public, never read from records"
            )
        plain = tuple(value.item() if isinstance(value, np.generic) else value for value in self.groups)
        check_groups(self.by, plain)
        object.__setattr__(self, "groups", plain)
        if self.public is not None:
            truth(self.public, "public")

    @property
    def parts(self) -> Parts:
        """The groups that are asked."""
        return Groups(self.by, self.groups, bool(self.public))

    def shared(self, terms: Terms) -> Terms:
        """What the statistic is asked under, for a plan.

        Raises:
            BudgetError: nothing that it could ask would stay within the terms.
        """
        return shared_terms(self.parts, self.statistic.questions, terms)

    def canonical(self) -> Grouped[EstimateT]:
        """The one spelling that stands for all of the same question."""
        return dataclasses.replace(self, public=bool(self.public))

    def settled_by(self, unit: PrivacyUnit) -> Grouped[EstimateT]:
        """The same with groups public or not, and the statistic settled likewise."""
        public = self.public
        if public is None:
            public = unit.adjacency is Adjacency.REPLACE and self.by in unit.public
        return dataclasses.replace(self, statistic=settled(self.statistic, unit), public=public)

    def alternatives(self) -> dict[str, Grouped[EstimateT]]:
        """The same groups by each method of the statistic."""
        methods = self.statistic.alternatives()
        return {name: dataclasses.replace(self, statistic=method) for name, method in methods.items()}

    def questions(self, terms: Terms) -> Generator[Query, Answer, GroupEstimates[EstimateT]]:
        """Ask what the statistic asks, of every group in step.

        Privacy: all queries together at most `terms.privacy`, as `docs/proofs/subsets.md` shows.
        """
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
