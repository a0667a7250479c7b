"""A curator for simulations who is given records as counts per bin, and answers as `Central` does."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ogive.noise import DerivedNodes
from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import Answer, Query


class Counted:
    """Roles and noise of `Central`; binning was done before.

    Args:
        counts: Records per bin, for whatever column and grid is asked about.
    """

    name: ClassVar[str] = "counted"
    private: ClassVar[bool] = True
    assumption: ClassVar[str] = "A simulation."

    def __init__(self, counts: NDArray[np.int64]) -> None:
        self.counts = counts

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        """One record."""
        return PrivacyUnit(adjacency)

    def count(self) -> int:
        """Records in all bins."""
        return int(self.counts.sum())

    def refusal(self, query: Query) -> str | None:
        """Whatever can be asked of counts."""
        return None

    def open(self, adjacency: Adjacency, *, source: RandomSource) -> Any:
        """A release with a key of the source."""
        return _Opening(self.counts, adjacency, source.key())

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> Any:
        """The same release again."""
        return _Opening(self.counts, adjacency, secret)


class _Opening:
    def __init__(self, counts: NDArray[np.int64], adjacency: Adjacency, key: bytes) -> None:
        self.counts, self.adjacency, self.secret = counts, adjacency, key

    def answer(self, query: Query) -> Answer:
        nodes = DerivedNodes(self.secret, self.context(query))
        return Answer(query.answer(self.counts, nodes), query.totals(self.counts, self.adjacency))

    def context(self, query: Query) -> bytes:
        return query.digest(self.counts, self.adjacency)
