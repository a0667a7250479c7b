"""A question about wide groups, asked of sums in narrower ones.

Who uploads once cannot be told the groups of a later question, which follow from the answer to an earlier one. Where
all groups that there may be are made of whole groups of a fine grid, sums in these tell everything.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ogive.arrays import Int64
from ogive.columns import Binning
from ogive.errors import ParameterError
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, Loss, PrivacyUnit
from ogive.queries import base
from ogive.queries.aggregates import Aggregate, GroupSums, Selected
from ogive.queries.base import LinearQuery
from ogive.strategies.base import Level


@dataclass(frozen=True)
class RefinedQuery(base.LinearQuery):
    """A query whose aggregate is computed from that of narrower groups.

    Fields:
        query: What is asked.
        narrow: The aggregate of narrower groups.

    Raises:
        ParameterError: the query's aggregate does not follow from it.
    """

    query: LinearQuery
    narrow: Aggregate

    def __post_init__(self) -> None:
        if not follows(self.query.aggregate, self.narrow):
            raise ParameterError("`narrow` must tell what the query asks for, of the same columns")

    @property
    def method(self) -> str:
        """Name of what is measured."""
        return self.query.method

    @property
    def aggregate(self) -> Aggregate:
        """That of narrower groups."""
        return self.narrow

    @property
    def measurement(self) -> Hashable:
        """What is priced once."""
        return self.query.measurement

    @property
    def levels(self) -> tuple[Level, ...]:
        """The query's own."""
        return self.query.levels

    def price(self, unit: PrivacyUnit) -> Loss:
        """Privacy loss of the answer, which is that of the query."""
        return self.query.price(unit)

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
    found: Aggregate | None = None
    if isinstance(first, Selected):
        values = finest([each.values for each in aggregates if isinstance(each, Selected)])
        found = None if values is None else Selected(values, first.where)
    else:
        sums = [each for each in aggregates if isinstance(each, GroupSums)]
        binnings = [*(each for each in aggregates if isinstance(each, Binning)), *(each.probability for each in sums)]
        if sums:
            widest = max((each.grid for each in binnings), key=lambda grid: grid.bins)
            found = replace(sums[0], probability=replace(sums[0].probability, grid=widest))
    return found if found is not None and all(follows(each, found) for each in aggregates) else None


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
    joined: Int64 = np.add.reduceat(sums[2] + sums[3] if wide is binning else sums, starts, axis=-1)
    return joined
