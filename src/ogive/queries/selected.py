"""A question about the records that satisfy a public condition, whose number is as private as they are.

Adding or removing a record adds or removes one of the subset, or changes nothing in it. Replacing a record either keeps
it in the subset, and then moves the answer as a replaced record does, or takes it out or puts another one in. So with R
and A the losses of the question under REPLACE and ADD_OR_REMOVE, under REPLACE

    loss = max(R, A),

where the second part falls away where everybody may know all columns of the condition: then nobody joins or leaves,
and the number of records of the subset is public. Else it is nowhere in the answer.

Source:
    `docs/proofs/subsets.md`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from ogive.accounting import as_concentrated, larger_loss
from ogive.arrays import Int64
from ogive.noise.base import NodeNoise
from ogive.predicates import Predicate, columns_of
from ogive.privacy import Adjacency, Loss, PrivacyUnit
from ogive.queries import base
from ogive.queries.aggregates import Selected
from ogive.queries.base import CuratorQuery, LinearQuery, Publishing
from ogive.strategies.base import Level


def subset_price(query: base.Query, unit: PrivacyUnit, *, public: bool) -> Loss:
    """Privacy loss of a question about the records that satisfy a condition.

    Args:
        query: What is asked of them.
        unit: Privacy unit of the guarantee.
        public: Whether everybody may know who satisfies it.

    Raises:
        ParameterError: the question cannot be asked under this adjacency.
    """
    stays = query.price(unit)
    if unit.adjacency is Adjacency.ADD_OR_REMOVE or public:
        return stays
    joins = query.price(PrivacyUnit(Adjacency.ADD_OR_REMOVE, unit.person))
    if type(stays) is not type(joins):
        stays, joins = as_concentrated(stays), as_concentrated(joins)
    return larger_loss(stays, joins)


@dataclass(frozen=True)
class SelectedQuery(base.CuratorQuery):
    """A query of the records that satisfy a condition, for those who see all records.

    Fields:
        query: What is asked of these records.
        where: The condition.
        public: Whether everybody may know who satisfies it; adjacent data sets then agree in the columns of the
            condition, and under REPLACE the number of records that satisfy it is public.
    """

    query: CuratorQuery
    where: Predicate
    public: bool = False

    @property
    def method(self) -> str:
        """Name of what is measured."""
        return self.query.method

    @property
    def aggregate(self) -> Selected:
        """What the query needs, of the records that satisfy the condition."""
        return Selected(self.query.aggregate, self.where)

    @property
    def measurement(self) -> Hashable:
        """What is priced once: the query's measurement of these records."""
        return self.where, self.public, self.query.measurement

    @property
    def levels(self) -> tuple[Level, ...]:
        """The query's own."""
        return self.query.levels

    @property
    def public_columns(self) -> tuple[str, ...]:
        """The columns of the condition, where they are public, and those of the query."""
        asked = self.query.public_columns if isinstance(self.query, Publishing) else ()
        return (*columns_of(self.where), *asked) if self.public else asked

    def price(self, unit: PrivacyUnit) -> Loss:
        """Privacy loss of the answer.

        Raises:
            ParameterError: the query cannot be asked under this adjacency.
        """
        return subset_price(self.query, unit, public=self.public)

    def totals(self, sums: Int64, adjacency: Adjacency) -> tuple[int, ...] | None:
        """Under REPLACE numbers of records that satisfy the condition, where it is public who does."""
        return self.query.totals(sums, adjacency) if self.public else None

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of the query's digest and the condition; as secret as the data."""
        public = {
            "where": self.where.to_dict(),
            "public": self.public,
            "query": self.query.digest(sums, adjacency).hex(),
        }
        return base.digest("selected", public, sums)

    def answer(self, sums: Int64, nodes: NodeNoise | None) -> Int64:
        """The query's answer."""
        return self.query.answer(sums, nodes)


@dataclass(frozen=True)
class LinearSelectedQuery(base.LinearQuery):
    """The same of a linear query, so that parties can add theirs up.

    Fields:
        selected: The query and the condition.
    """

    selected: SelectedQuery

    @property
    def query(self) -> LinearQuery:
        """What is asked of the records that satisfy the condition."""
        assert isinstance(self.selected.query, LinearQuery), "made by `selecting` of a linear query"
        return self.selected.query

    @property
    def method(self) -> str:
        """Name of what is measured."""
        return self.selected.method

    @property
    def aggregate(self) -> Selected:
        """What the query needs, of the records that satisfy the condition."""
        return self.selected.aggregate

    @property
    def measurement(self) -> Hashable:
        """What is priced once."""
        return self.selected.measurement

    @property
    def levels(self) -> tuple[Level, ...]:
        """The query's own."""
        return self.selected.levels

    @property
    def public_columns(self) -> tuple[str, ...]:
        """The columns whose exact counts are told."""
        return self.selected.public_columns

    def price(self, unit: PrivacyUnit) -> Loss:
        """Privacy loss of the answer.

        Raises:
            ParameterError: the query cannot be asked under this adjacency.
        """
        return self.selected.price(unit)

    def totals(self, sums: Int64, adjacency: Adjacency) -> tuple[int, ...] | None:
        """Under REPLACE numbers of records that satisfy the condition, where it is public who does."""
        return self.selected.totals(sums, adjacency)

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """That of the same question to one who sees all records, who gets the same answer."""
        return self.selected.digest(sums, adjacency)

    def measure(self, sums: Int64) -> Int64:
        """The query's exact integers."""
        return self.query.measure(sums)

    def noise(self, nodes: NodeNoise) -> Int64:
        """The query's noise."""
        return self.query.noise(nodes)


def selecting(query: CuratorQuery, where: Predicate, *, public: bool) -> SelectedQuery | LinearSelectedQuery:
    """A query about the records that satisfy a condition; linear where the query is, unless it opens single points."""
    selected = SelectedQuery(query, where, public)
    whole = query.kind == "linear" and getattr(query, "points", None) is None
    return LinearSelectedQuery(selected) if whole else selected
