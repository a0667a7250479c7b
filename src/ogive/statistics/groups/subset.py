"""Any statistic of the records that satisfy a public condition."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic

from ogive.checks import truth
from ogive.errors import ParameterError, UnsupportedError
from ogive.predicates import Predicate, columns_of, predicate
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import Answer, Query
from ogive.statistics.base import EstimateT, Statistic, Terms, check_statistic, describe, settled
from ogive.statistics.groups.stated import stated
from ogive.statistics.methods.base import owners_answer
from ogive.statistics.methods.groups import OWNERS_ALL, Parts, Satisfying, ask_parts, shared_terms


@dataclass(frozen=True)
class Subset(Generic[EstimateT]):
    """A statistic of the records that satisfy a public condition; its estimate is that of the statistic.

    Whether a record satisfies the condition is hidden like all else of it. Where the number of all records is public
    the number of those that satisfy it is private, unless all columns of the condition are declared public: then it is
    public too. Where a person may have several records, those that satisfy the condition are taken first, and of them
    at most so many of each person.

    Fields:
        statistic: What is wanted of these records.
        where: The condition: a text such as "ward == 'A' and age >= 65", or values by column, {"ward": "A"}.
        public: Whether everybody may know who satisfies the condition, so that only the other values are hidden; the
            privacy unit must declare its columns public. None: whether it does.

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
        if getattr(self.statistic, "groups", ()) is None:
            raise ParameterError(
                "groups are found among all records; name them, for example `groups=('a', 'b')`, or leave `where` out"
            )
        object.__setattr__(self, "where", predicate(self.where))
        if self.public is not None:
            truth(self.public, "public")

    @property
    def condition(self) -> Predicate:
        """The condition as it was read."""
        found: Predicate = self.where
        return found

    @property
    def parts(self) -> Parts:
        """The one part of the records that is asked."""
        return Satisfying(self.condition, bool(self.public))

    def to_dict(self) -> dict[str, Any]:
        """Plain data that says all that is asked."""
        return {
            "name": self.name,
            "statistic": describe(self.statistic),
            "where": self.condition.to_dict(),
            "public": bool(self.public),
        }

    def shared(self, terms: Terms) -> Terms:
        """What the statistic is asked under, for a plan.

        Raises:
            BudgetError: nothing that it could ask would stay within the terms.
        """
        return shared_terms(self.parts, self.statistic.questions, terms)

    def settled_by(self, unit: PrivacyUnit) -> Subset[EstimateT]:
        """The same with the condition public or not, and the statistic settled likewise."""
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
        """Ask what the statistic asks, of the records that satisfy the condition.

        Privacy: all queries together at most `terms.privacy`, as `docs/proofs/subsets.md` shows.
        """
        if owners_answer(terms):
            raise UnsupportedError(OWNERS_ALL)
        (estimate,) = yield from ask_parts(self.parts, self.statistic.questions, terms)
        return stated(estimate, terms.adjacency)
