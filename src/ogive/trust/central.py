"""A trusted curator: one party sees all records and adds the noise.

Roles: the curator holds the records and the noise key; the analyst sees answers only.
Noise is a deterministic function of the release's secret key, a digest of everything that
fixes the release (data snapshot, binning, strategy, adjacency) and the node, so asking
again returns the same integers and never averages the noise away.
"""

from __future__ import annotations

import hashlib
import json
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
        return CentralOpening(self.records, adjacency, key=source.key())


class CentralOpening:
    """One release by a curator, fixed to its data, adjacency and noise key.

    Args:
        records: The data; must not change while the release is open.
        adjacency: Which data sets are adjacent.
        key: 32 secret uniform bytes, used for this release only.
    """

    def __init__(self, records: Records, adjacency: Adjacency, *, key: bytes) -> None:
        self._records = records
        self._adjacency = adjacency
        self._key = key
        self._counts: dict[Binning, Int64] = {}

    def answer(self, query: Query) -> Answer:
        """Exact counts plus the release's own noise.

        Privacy: `query.price(adjacency)` once per measurement, however often it is opened.
        """
        counts = self._counts.get(query.binning)
        if counts is None:
            counts = self._counts[query.binning] = self._records.histogram(query.binning)
        nodes = DerivedNodes(self._key, self.context(query, counts))
        total = int(counts.sum()) if self._adjacency is Adjacency.REPLACE else None
        return Answer(query.measure(counts) + query.noise(nodes), total)

    def context(self, query: Query, counts: Int64) -> bytes:
        """Digest of all that fixes the noise of a measurement; as secret as the data."""
        public = {
            "binning": query.binning.to_dict(),
            "strategy": query.strategy.to_dict(),
            "adjacency": self._adjacency.value,
        }
        digest = hashlib.sha256(b"ogive measurement 1\0")
        text = json.dumps(public, sort_keys=True).encode()
        digest.update(len(text).to_bytes(8, "big") + text)
        digest.update(counts.astype("<i8").tobytes())
        return digest.digest()
