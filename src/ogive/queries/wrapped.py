"""Questions around another one: of records that satisfy a condition, of several groups, and of narrower groups."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np

from ogive.accounting import as_concentrated, larger_loss
from ogive.columns import Binning
from ogive.columns.predicates import Predicate, columns_of
from ogive.core.arrays import Int64
from ogive.errors import ParameterError
from ogive.noise.base import Law, NodeNoise
from ogive.privacy import Adjacency, Loss, PrivacyUnit
from ogive.queries import base
from ogive.queries.aggregates import Aggregate, GroupBinning, GroupSums, Parted, Selected
from ogive.queries.base import CuratorQuery, LinearQuery, Publishing
from ogive.queries.histograms import in_several
from ogive.strategies.base import Level

# --- Records that satisfy a public condition
#
# Their number is as private as they are. Adding or removing a record adds or removes one of the subset, or changes
# nothing in it. Replacing a record either keeps it in the subset, and then moves the answer as a replaced record does,
# or takes it out or puts another one in. So with R and A the losses of the question under REPLACE and ADD_OR_REMOVE,
# under REPLACE
#
#     loss = max(R, A),
#
# where the second part falls away where everybody may know all columns of the condition: then nobody joins or leaves,
# and the number of records of the subset is public. Else it is nowhere in the answer.
#
# Source:
#     `docs/proofs/subsets.md`.


def subset_price(query: base.Query, unit: PrivacyUnit, *, public: bool) -> Loss:
    """Privacy loss of a question about the records that satisfy a condition, of which everybody may know who does."""
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
        return self.query.method

    @property
    def aggregate(self) -> Selected:
        return Selected(self.query.aggregate, self.where)

    @property
    def measurement(self) -> Hashable:
        """What is priced once: the query's measurement of these records."""
        return self.where, self.public, self.query.measurement

    @property
    def levels(self) -> tuple[Level, ...]:
        return self.query.levels

    @property
    def public_columns(self) -> tuple[str, ...]:
        """The columns of the condition, where they are public, and those of the query."""
        columns = self.query.public_columns if isinstance(self.query, Publishing) else ()
        return (*columns_of(self.where), *columns) if self.public else columns

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


class _Around:
    """What linear queries share that ask what another query asks, at its price: all but the exact integers."""

    @property
    def inner(self) -> CuratorQuery:
        """The other query."""
        raise NotImplementedError

    @property
    def method(self) -> str:
        return self.inner.method

    @property
    def aggregate(self) -> Any:
        return self.inner.aggregate

    @property
    def measurement(self) -> Hashable:
        return self.inner.measurement

    @property
    def levels(self) -> tuple[Level, ...]:
        return self.inner.levels

    def price(self, unit: PrivacyUnit) -> Loss:
        return self.inner.price(unit)

    def totals(self, sums: Int64, adjacency: Adjacency) -> tuple[int, ...] | None:
        return self.inner.totals(sums, adjacency)

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """That of the other query, whose answer is the same."""
        return self.inner.digest(sums, adjacency)


@dataclass(frozen=True)
class LinearSelectedQuery(_Around, base.LinearQuery):
    """The same of a linear query, so that parties can add theirs up.

    Fields:
        selected: The query and the condition.
    """

    selected: SelectedQuery

    @property
    def inner(self) -> SelectedQuery:
        return self.selected

    @property
    def query(self) -> LinearQuery:
        """What is asked of the records that satisfy the condition."""
        assert isinstance(self.selected.query, LinearQuery), "made by `selecting` of a linear query"
        return self.selected.query

    @property
    def public_columns(self) -> tuple[str, ...]:
        """The columns whose exact counts are told."""
        return self.selected.public_columns

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


# --- Several disjoint groups, asked and priced together
#
# Replacing a record either keeps its group, and then moves that group's answer as a replaced record does, or changes
# it, and then a record leaves one group and one joins another. Adding or removing a record moves one group's answer.
# So with R and A the losses of a group's question under REPLACE and ADD_OR_REMOVE, under REPLACE
#
#     loss = max over groups of R, and over two groups of A + A',
#
# where the second part falls away where everybody may know who is in which group, and else the largest A. Losses of
# different types, of groups that are asked in different ways, are compared in zCDP, which every loss implies.


@dataclass(frozen=True)
class GroupedQuery(base.CuratorQuery):
    """One query for each group, all of one aggregate; the answer is all their answers, one after the other.

    Where all groups are measured with one strategy `ClassCurvesQuery` does so linearly, and where all parts are linear
    `LinearGroupsQuery` does; this serves every other kind of query, and only those who see all records.

    Fields:
        groups: What is asked of each group: a column with its thresholds, or another aggregate; and the groups.
        parts: For each group a query of the aggregate alone; None where nothing more is asked of the group.
        public_groups: Whether everybody may know each record's group; adjacent data sets then have the same
            groups, and under REPLACE the size of each is public.
    """

    groups: GroupBinning | Parted
    parts: tuple[CuratorQuery | None, ...]
    public_groups: bool = False

    def __post_init__(self) -> None:
        each = self.groups.each
        if len(self.parts) != len(each) or any(
            part is not None and part.aggregate != wanted for part, wanted in zip(self.parts, each, strict=True)
        ):
            raise ParameterError(f"each of the {len(self.groups.groups)} groups needs a query of its column")
        if not self.asked:
            raise ParameterError("ask something of at least one group")

    @property
    def asked(self) -> tuple[CuratorQuery, ...]:
        """The queries of the groups of which something is asked."""
        return tuple(part for part in self.parts if part is not None)

    @property
    def method(self) -> str:
        """Names of the parts' methods."""
        return "+".join(dict.fromkeys(part.method for part in self.asked))

    @property
    def aggregate(self) -> GroupBinning | Parted:
        return self.groups

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels of each group's query in turn."""
        return tuple(level for part in self.asked for level in part.levels)

    @property
    def public_columns(self) -> tuple[str, ...]:
        """The column of groups, where these are public."""
        return (self.groups.by,) if self.public_groups else ()

    def price(self, unit: PrivacyUnit) -> Loss:
        """Privacy loss of all groups' answers together.

        Raises:
            ParameterError: a part cannot be asked under this adjacency.
        """
        if isinstance(self.groups, GroupBinning):
            base.check_missing(self.groups.values, unit.adjacency)
        stays = self._prices(unit)
        joins: list[Loss] = []
        if unit.adjacency is Adjacency.REPLACE and not self.public_groups:
            joins = self._prices(PrivacyUnit(Adjacency.ADD_OR_REMOVE, unit.person))
        if len({type(loss) for loss in (*stays, *joins)}) > 1:
            stays, joins = list(map(as_concentrated, stays)), list(map(as_concentrated, joins))
        loss = in_several(_dearest(stays, 1), unit, len(self.asked))
        return larger_loss(loss, _dearest(joins, 2)) if joins else loss

    def _prices(self, unit: PrivacyUnit) -> list[Loss]:
        """The price of each part; one query that all parts are asked is priced once."""
        prices = {key: part.price(unit) for key, part in {id(part): part for part in self.asked}.items()}
        return [prices[id(part)] for part in self.asked]

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of binned data, groups, every part and adjacency; as secret as the data."""
        pairs = zip(self.parts, self.groups.split(sums), strict=True)
        public = {
            "groups": self.groups.to_dict(),
            "public_groups": self.public_groups,
            "parts": [None if part is None else part.digest(counts, adjacency).hex() for part, counts in pairs],
            "adjacency": adjacency.value,
        }
        return base.digest("groups", public, sums)

    def totals(self, sums: Int64, adjacency: Adjacency) -> tuple[int, ...] | None:
        """Under REPLACE the number of records, or of each group where groups are public."""
        if self.public_groups and adjacency is Adjacency.REPLACE:
            pairs = zip(self.groups.each, self.groups.split(sums), strict=True)
            return tuple(each.records(part) for each, part in pairs)
        return super().totals(sums, adjacency)

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shape of each group's answer."""
        nobody = [np.zeros(each.shape, dtype=np.int64) for each in self.groups.each]
        pairs = zip(self.parts, nobody, strict=True)
        return tuple((0,) if part is None else part.answer(sums, None).shape for part, sums in pairs)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many integers each group's answer has."""
        return tuple(math.prod(shape) for shape in self.shapes)

    def answer(self, sums: Int64, nodes: NodeNoise | None) -> Int64:
        """The answers of all parts, one after the other, each with noise of its own; shape (sum of `sizes`,)."""
        counts_of_parts = [
            counts for part, counts in zip(self.parts, self.groups.split(sums), strict=True) if part is not None
        ]
        each = [None] * len(counts_of_parts) if nodes is None else _of_parts(nodes, self.asked)
        triples = zip(self.asked, counts_of_parts, each, strict=True)
        return np.concatenate([part.answer(counts, own).ravel() for part, counts, own in triples])


@dataclass(frozen=True)
class LinearGroupsQuery(_Around, base.LinearQuery):
    """The same as `GroupedQuery` where every group is asked linearly, so that parties can add theirs up.

    Fields:
        joined: The queries of the groups, all of them linear.
    """

    joined: GroupedQuery

    def __post_init__(self) -> None:
        if not all(part is not None and part.kind == "linear" for part in self.joined.parts):
            raise ParameterError("each group needs a query that adds up")

    @property
    def linear(self) -> tuple[LinearQuery, ...]:
        """The queries of the groups."""
        return tuple(part for part in self.joined.parts if isinstance(part, LinearQuery))

    @property
    def inner(self) -> GroupedQuery:
        return self.joined

    @property
    def measurement(self) -> Hashable:
        return self

    @property
    def public_columns(self) -> tuple[str, ...]:
        """The column of groups, where these are public."""
        return self.joined.public_columns

    def measure(self, sums: Int64) -> Int64:
        """Exact measurements of all groups, one after the other, shape (sum of sizes,)."""
        pairs = zip(self.linear, self.aggregate.split(sums), strict=True)
        return np.concatenate([part.measure(counts).ravel() for part, counts in pairs])

    def noise(self, nodes: NodeNoise) -> Int64:
        """Independent noise of all groups, in the shape of `measure`."""
        pairs = zip(self.linear, _of_parts(nodes, self.linear), strict=True)
        return np.concatenate([part.noise(own).ravel() for part, own in pairs])


def _dearest(losses: list[Loss], count: int) -> Loss:
    """What any so many of these losses, all of one type, add up to at most."""
    kind = type(losses[0])
    most = (sum(sorted(column)[-count:]) for column in zip(*(vars(loss).values() for loss in losses), strict=True))
    return kind(*most)


_FURTHER = 1 << 24


@dataclass(frozen=True)
class _PartNodes:
    """Noise of one part of a question, which meets that of no other part.

    A query takes for each law the levels up to its number of declared levels, and further ones where a draw needs more
    bits than one word has. The former are numbered from those of the parts before it on, the latter from `_FURTHER` on.
    """

    nodes: NodeNoise
    first: int
    declared: int

    def values(self, law: Law, level: int, nodes: Int64) -> Int64:
        if self.declared < level < _FURTHER:
            level = (level - self.declared) * _FURTHER + self.declared
        return self.nodes.values(law, self.first + level, nodes)


def _of_parts(nodes: NodeNoise, parts: Sequence[CuratorQuery]) -> list[_PartNodes]:
    """The noise of each part, whose levels come after those of the parts before it."""
    declared = [len(part.levels) for part in parts]
    return [
        _PartNodes(nodes, first, own) for first, own in zip(accumulate(declared, initial=0), declared, strict=False)
    ]


# --- Wide groups, by sums in narrower ones
#
# Who uploads once cannot be told the groups of a later question, which follow from the answer to an earlier one. Where
# all groups that there may be are made of whole groups of a fine grid, sums in these tell everything.


@dataclass(frozen=True)
class RefinedQuery(_Around, base.LinearQuery):
    """A query whose aggregate is computed from that of narrower groups."""

    query: LinearQuery
    narrow: Aggregate

    def __post_init__(self) -> None:
        if not follows(self.query.aggregate, self.narrow):
            raise ParameterError("`narrow` must tell what the query asks for, of the same columns")

    @property
    def inner(self) -> LinearQuery:
        return self.query

    @property
    def aggregate(self) -> Aggregate:
        return self.narrow

    def totals(self, sums: Int64, adjacency: Adjacency) -> tuple[int, ...] | None:
        """Those of the query."""
        return self.query.totals(self._joined(sums), adjacency)

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """That of the query, whose answer is the same."""
        return self.query.digest(self._joined(sums), adjacency)

    def measure(self, sums: Int64) -> Int64:
        """The query's exact integers."""
        return self.query.measure(self._joined(sums))

    def noise(self, nodes: NodeNoise) -> Int64:
        """The query's noise."""
        return self.query.noise(nodes)

    def _joined(self, sums: Int64) -> Int64:
        return _joined(sums, self.narrow, self.query.aggregate)


def follows(aggregate: Aggregate, narrow: Aggregate) -> bool:
    """Whether an aggregate can be computed from one that is the same or of narrower groups of probabilities."""
    if aggregate == narrow:
        return True
    match narrow, aggregate:
        case Selected(), Selected():
            return narrow.where == aggregate.where and follows(aggregate.values, narrow.values)
        case GroupSums(), GroupSums():
            same = (narrow.label, narrow.bits) == (aggregate.label, aggregate.bits)
            return same and _narrows(narrow.probability, aggregate.probability)
        case GroupSums(), Binning():
            return _narrows(narrow.probability, aggregate)
    return False


def finest(aggregates: Sequence[Aggregate]) -> Aggregate | None:
    """The one from which all these aggregates follow; None where there is none."""
    first = aggregates[0]
    result: Aggregate | None = None
    if isinstance(first, Selected):
        values = finest([each.values for each in aggregates if isinstance(each, Selected)])
        result = None if values is None else Selected(values, first.where)
    else:
        sums = [each for each in aggregates if isinstance(each, GroupSums)]
        binnings = [*(each for each in aggregates if isinstance(each, Binning)), *(each.probability for each in sums)]
        if sums:
            widest = max((each.grid for each in binnings), key=lambda grid: grid.bins)
            result = replace(sums[0], probability=replace(sums[0].probability, grid=widest))
    return result if result is not None and all(follows(each, result) for each in aggregates) else None


def asked_of(query: LinearQuery, aggregate: Aggregate) -> LinearQuery | None:
    """The query as one about this aggregate; None where that does not tell the answer."""
    if query.aggregate == aggregate:
        return query
    return RefinedQuery(query, aggregate) if follows(query.aggregate, aggregate) else None


def _narrows(narrow: Binning, wide: Binning) -> bool:
    """Whether the bins of one column are parts of those of the other, which is the same but for its grid."""
    same = replace(wide, grid=narrow.grid) == narrow and wide.grid.low == narrow.grid.low
    return same and bool(np.isin(wide.grid.thresholds, narrow.grid.thresholds).all())


def _joined(sums: Int64, narrow: Aggregate, wide: Aggregate) -> Int64:
    """The sums of an aggregate, from those of the one from which it follows."""
    if wide == narrow:
        return sums
    if isinstance(narrow, Selected) and isinstance(wide, Selected):
        return _joined(sums, narrow.values, wide.values)
    assert isinstance(narrow, GroupSums), "checked before"
    assert isinstance(wide, GroupSums | Binning), "checked before"
    binning = wide if isinstance(wide, Binning) else wide.probability
    last = np.searchsorted(narrow.probability.grid.thresholds, binning.grid.thresholds)
    starts = np.concatenate([[0], last[:-1] + 1])
    return np.asarray(np.add.reduceat(sums[2] + sums[3] if wide is binning else sums, starts, axis=-1))
