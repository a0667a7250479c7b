"""A trusted curator: one party sees all records and adds the noise.

Roles: the curator holds the records and the noise key; the analyst sees answers only.
Noise is a deterministic function of the release's secret key, a digest of everything that
fixes the release (data snapshot, binning, strategy, adjacency) and the node, so asking
again returns the same integers and never averages the noise away.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ogive.noise import DerivedNodes
from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency
from ogive.queries import Answer, Binning, Int64, Query
from ogive.records import Records
from ogive.trust.base import Opening


class Central:
    """A curator who sees every record, adds the noise and is trusted with both.

    Args:
        data: Anything `Records.of` reads: a file, a frame, a dictionary of arrays.
    """

    name: ClassVar[str] = "central"
    private: ClassVar[bool] = True
    assumption: ClassVar[str] = (
        "The curator who made this release saw every record and knows the noise; "
        "everyone else learns only what is published."
    )

    def __init__(self, data: Any) -> None:
        self.records = Records.of(data)

    def refusal(self, query: Query) -> str | None:
        """A curator can answer every query."""
        return None

    def open(self, adjacency: Adjacency, *, source: RandomSource) -> Opening:
        """Start a release with a fresh noise key from the source."""
        return _CentralOpening(self.records, adjacency, source.key())

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> Opening:
        """Go on with a release from its noise key."""
        return _CentralOpening(self.records, adjacency, secret)


class _CentralOpening:
    """One release by a curator, fixed to its data, adjacency and noise key."""

    def __init__(self, records: Records, adjacency: Adjacency, key: bytes) -> None:
        self._records = records
        self._adjacency = adjacency
        self.secret = key
        self._histograms: dict[Binning, Int64] = {}

    def answer(self, query: Query) -> Answer:
        """Exact counts plus the release's own noise.

        Privacy: `query.price(adjacency)` once per measurement, however often it is opened.
        """
        counts = self._histogram(query.binning)
        nodes = DerivedNodes(self.secret, self.context(query))
        total = int(counts.sum()) if self._adjacency is Adjacency.REPLACE else None
        return Answer(query.measure(counts) + query.noise(nodes), total)

    def context(self, query: Query) -> bytes:
        return query.digest(self._histogram(query.binning), self._adjacency)

    def _histogram(self, binning: Binning) -> Int64:
        # binned once: what a file holds may change while a release is open, the release may not
        if binning not in self._histograms:
            self._histograms[binning] = self._records.histogram(binning)
        return self._histograms[binning]
