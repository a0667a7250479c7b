"""The same kind of question of each of several disjoint groups, asked and priced together.

Replacing a record either keeps its group, and then moves that group's answer as a replaced record does, or changes
it, and then a record leaves one group and one joins another. Adding or removing a record moves one group's answer.
So with R and A the losses of a group's question under REPLACE and ADD_OR_REMOVE, under REPLACE

    loss = max over groups of R, and over two groups of A + A',

where the second part falls away where everybody may know who is in which group, and else the largest A. Losses of
different types, of groups that are asked in different ways, are compared in zCDP, which every loss implies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ogive.accounting import as_concentrated, larger_loss
from ogive.arrays import Int64
from ogive.errors import ParameterError
from ogive.noise.base import Law, NodeNoise
from ogive.privacy import Adjacency, Loss, PrivacyUnit
from ogive.queries import base
from ogive.queries.aggregates import GroupBinning, Parted
from ogive.queries.base import CuratorQuery, LinearQuery
from ogive.queries.class_curves import in_several
from ogive.strategies.base import Level


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
        """What is asked of each group."""
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
        stays = [part.price(unit) for part in self.asked]
        joins: list[Loss] = []
        if unit.adjacency is Adjacency.REPLACE and not self.public_groups:
            joins = [part.price(PrivacyUnit(Adjacency.ADD_OR_REMOVE, unit.person)) for part in self.asked]
        if len({type(loss) for loss in (*stays, *joins)}) > 1:
            stays, joins = list(map(as_concentrated, stays)), list(map(as_concentrated, joins))
        loss = in_several(_dearest(stays, 1), unit, len(self.asked))
        return larger_loss(loss, _dearest(joins, 2)) if joins else loss

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
        if adjacency is not Adjacency.REPLACE:
            return None
        if self.public_groups:
            pairs = zip(self.groups.each, self.groups.split(sums), strict=True)
            return tuple(each.records(part) for each, part in pairs)
        return (self.groups.records(sums),)

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
        found, first = [], 0
        for part, counts in zip(self.parts, self.groups.split(sums), strict=True):
            if part is None:
                continue
            own = None if nodes is None else _PartNodes(nodes, first, len(part.levels))
            found.append(part.answer(counts, own).ravel())
            first += len(part.levels)
        return np.concatenate(found)


@dataclass(frozen=True)
class LinearGroupsQuery(base.LinearQuery):
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
    def method(self) -> str:
        """Names of the parts' methods."""
        return self.joined.method

    @property
    def aggregate(self) -> GroupBinning | Parted:
        """What is asked of each group."""
        return self.joined.aggregate

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels of each group's query in turn."""
        return self.joined.levels

    @property
    def public_columns(self) -> tuple[str, ...]:
        """The column of groups, where these are public."""
        return self.joined.public_columns

    def price(self, unit: PrivacyUnit) -> Loss:
        """Privacy loss of all groups' answers together.

        Raises:
            ParameterError: a part cannot be asked under this adjacency.
        """
        return self.joined.price(unit)

    def totals(self, sums: Int64, adjacency: Adjacency) -> tuple[int, ...] | None:
        """Under REPLACE the number of records, or of each group where groups are public."""
        return self.joined.totals(sums, adjacency)

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """That of the same questions to one who sees all records, who gets the same answers."""
        return self.joined.digest(sums, adjacency)

    def measure(self, sums: Int64) -> Int64:
        """Exact measurements of all groups, one after the other, shape (sum of sizes,)."""
        pairs = zip(self.linear, self.aggregate.split(sums), strict=True)
        return np.concatenate([part.measure(counts).ravel() for part, counts in pairs])

    def noise(self, nodes: NodeNoise) -> Int64:
        """Independent noise of all groups, in the shape of `measure`."""
        found, first = [], 0
        for part in self.linear:
            found.append(part.noise(_PartNodes(nodes, first, len(part.levels))).ravel())
            first += len(part.levels)
        return np.concatenate(found)


def _dearest(losses: list[Loss], count: int) -> Loss:
    """What any so many of these losses, all of one type, add up to at most."""
    kind = type(losses[0])
    most = (sum(sorted(column)[-count:]) for column in zip(*(vars(loss).values() for loss in losses), strict=True))
    return kind(*most)


@dataclass(frozen=True)
class _PartNodes:
    """Noise of one part of a question, which meets that of no other part.

    A query takes for each law the levels up to its number of declared levels, and further ones where a draw needs more
    bits than one word has. The former are numbered from those of the parts before it on, the latter from `_FURTHER` on.

    Fields:
        nodes: Of the whole question.
        first: How many levels the parts before it declare.
        declared: How many levels the part declares.
    """

    nodes: NodeNoise
    first: int
    declared: int

    def values(self, law: Law, level: int, nodes: Int64) -> Int64:
        if self.declared < level < _FURTHER:
            level = (level - self.declared) * _FURTHER + self.declared
        return self.nodes.values(law, self.first + level, nodes)


_FURTHER = 1 << 24
