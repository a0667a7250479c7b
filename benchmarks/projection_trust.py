"""A curator for simulations who is given records as counts per bin, and answers as `Central` does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ogive.noise import DerivedNodes
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import Answer, CuratorQuery, Kind
from ogive.trust.base import Opening, TrustModel, TrustOptions


@dataclass(frozen=True)
class CountedOptions(TrustOptions):
    """Whatever can be asked of counts is answered."""

    name: ClassVar[str] = "counted"
    serves: ClassVar[frozenset[Kind]] = frozenset({"linear", "curator"})
    assumption: ClassVar[str] = "A simulation."


class Counted(TrustModel):
    """Roles and noise of `Central`; binning was done before.

    Args:
        counts: Records per bin, for whatever column and grid is asked about.
    """

    options_type = CountedOptions

    def __init__(self, counts: NDArray[np.int64]) -> None:
        self.options = CountedOptions()
        self.counts = counts

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        """One record."""
        return PrivacyUnit(adjacency)

    def count(self) -> int:
        """Records in all bins."""
        return int(self.counts.sum())

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> Opening[CuratorQuery]:
        """A release with this noise."""
        return _Opening(self.counts, adjacency, secret)


class _Opening(Opening[CuratorQuery]):
    def __init__(self, counts: NDArray[np.int64], adjacency: Adjacency, key: bytes) -> None:
        self.counts, self.adjacency, self.secret = counts, adjacency, key

    def answer(self, query: CuratorQuery) -> Answer:
        nodes = DerivedNodes(self.secret, self.context(query))
        return Answer(query.answer(self.counts, nodes), query.totals(self.counts, self.adjacency))

    def context(self, query: CuratorQuery) -> bytes:
        return query.digest(self.counts, self.adjacency)
