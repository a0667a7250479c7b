"""Any statistic of the records that satisfy a public condition."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic

from ogive.columns.predicates import Predicate, columns_of, predicate
from ogive.core.checks import truth
from ogive.errors import ParameterError, UnsupportedError, quoted
from ogive.privacy import Adjacency, PrivacyUnit, is_one_line
from ogive.provenance import LONGEST_WHERE
from ogive.queries import Answer, Query
from ogive.statistics.base import EstimateT, Statistic, Terms, check_statistic, describe, settled
from ogive.statistics.groups.conditions import OfGroups, stated
from ogive.statistics.methods.base import owners_answer
from ogive.statistics.methods.together import OWNERS_ALL, Parts, Satisfying, ask_parts, shared_terms


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
        """Refuse what no release could use, before any data is touched."""
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
        """The one part of the records that is asked."""
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
