"""How many parties there are, how many may leave or collude, and what of the protocol follows from that."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from ogive.core.arrays import Int64, UInt64
from ogive.core.checks import Range, whole
from ogive.crypto import aggregation
from ogive.crypto.aggregation.messages import aggregation_cost
from ogive.errors import ParameterError
from ogive.noise import DerivedNodes
from ogive.noise.laws import ShareNodes, largest_share
from ogive.privacy import Adjacency
from ogive.provenance import trust_statement
from ogive.queries import Aggregate, CurveQuery, LinearQuery
from ogive.trust.base import Traffic

if TYPE_CHECKING:
    from ogive.records import Records

ALL_PAIRS = 500
"""Up to this number of parties, each shares masks with all others."""

ALONE = "A party that reads the release knows its own noise and therefore counts as colluding."
NOBODY = (
    "No party may read the release: the guarantee relies on the noise of all parties, and a party that knows its own "
    "noise learns more about the others' records than the guarantee allows."
)


@dataclass(frozen=True)
class AggregationTerms:
    """Terms of a secure aggregation, known before there are any records.

    A party that reads the result is one of those who collude; `wanted` is the threshold that the user wants, or None.
    """

    parties: int
    colluding: int
    dropouts: int = 0
    wanted: int | None = None

    def __post_init__(self) -> None:
        parties = whole(self.parties, "parties", 2, aggregation.MOST_PARTIES)
        whole(self.colluding, "colluding", 0, parties - 1)
        whole(self.dropouts, "dropouts", 0, parties - 1)
        if self.honest < 1:
            raise ParameterError(
                f"`colluding={self.colluding}` and `dropouts={self.dropouts}` leave none of {parties} parties honest; "
                "one is needed"
            )
        if self.wanted is not None:
            whole(self.wanted, "threshold")
        graph = self.graph  # refuses numbers that no graph can serve
        if self.wanted is not None and graph is not None:
            raise ParameterError(
                f"of more than {ALL_PAIRS} parties each knows some others only, and the threshold follows from how "
                "many; leave it out"
            )
        if self.wanted is not None:
            aggregation.check_threshold(self.wanted, parties, self.dropouts, self.colluding, confirmed=self.confirmed)

    @property
    def honest(self) -> int:
        """How many are sure to be in the sum and to keep their noise to themselves."""
        return self.parties - self.colluding - self.dropouts

    @cached_property
    def graph(self) -> tuple[int, int] | None:
        """With how many others each party shares masks and secrets, and how many of them open one; None for all."""
        if self.parties <= ALL_PAIRS:
            return None
        return aggregation.choose_neighbours(self.parties, dropouts=self.dropouts, colluding=self.colluding)

    @cached_property
    def confirmed(self) -> bool:
        """Whether the parties stand up to a server that lies: enough of them confirm the same list.

        Not possible where too many may leave, or where each of many parties knows some others only.
        """
        least = aggregation.least_threshold(self.parties, colluding=self.colluding, confirmed=True)
        return self.graph is None and least <= self.parties - self.dropouts

    def settings(
        self, *, study: bytes, release: bytes, parties: Sequence[bytes], server: bytes, length: int, totals: int
    ) -> aggregation.AggregationSettings:
        if self.graph is not None:
            neighbours, threshold = self.graph
        else:
            # where lists cannot be confirmed, as many as will stay, so that no few of them open a secret
            most = self.parties - self.dropouts
            least = aggregation.least_threshold(self.parties, colluding=self.colluding, confirmed=True)
            neighbours, threshold = None, min(least, most) if self.wanted is None else self.wanted
        return aggregation.AggregationSettings(
            study,
            release,
            tuple(parties),
            server,
            length,
            threshold,
            dropouts=self.dropouts,
            colluding=self.colluding,
            totals=totals,
            confirmed=self.confirmed,
            neighbours=neighbours,
        )

    def assumption(self, *, simulated: bool = True) -> str:
        whole = "All" if self.honest == self.parties else f"At least {self.honest}"
        verb, keep = ("adds", "keeps") if self.honest == 1 else ("add", "keep")
        readers = ALONE if self.colluding else NOBODY
        server = "" if self.confirmed else " The server follows the protocol."
        where = " The parties were simulated in one process, which saw everything." if simulated else ""
        return trust_statement(
            holds=f"Each of {self.parties} parties holds its own records and adds its share of the noise.",
            sees="Anyone who sees only the sum of all parties' masked vectors learns only what is published, and so do "
            f"colluding parties.{where}",
            assumed=f"{whole} of the {self.parties} parties {verb} their share of the noise and {keep} it secret. "
            f"{readers}{server} The records of each person are with one party.",
        )


# --- Costs of a release, which takes one aggregation for every question


def traffic(terms: AggregationTerms, queries: Sequence[LinearQuery], adjacency: Adjacency) -> Traffic:
    sent, to_party, received, seconds = 0, 0, 0, 0.0
    for query in queries:
        nothing = np.zeros(query.aggregate.shape, np.int64)
        cost = aggregation_cost(
            terms.parties,
            int(np.prod(query.measure(nothing).shape)),
            totals=len(query.totals(nothing, adjacency) or ()),
            dropouts=terms.dropouts,
            neighbours=None if terms.graph is None else terms.graph[0],
            confirmed=terms.confirmed,
        )
        sent += cost.bytes_per_party
        to_party += cost.bytes_to_party
        received += cost.bytes_per_server
        seconds += cost.seconds
    return Traffic("vectors", sent, received, seconds, bytes_to_party=to_party)


# --- One party's part of a release: what it adds up of its own records, its share of the noise, and what fixes both


class Contribution:
    """What one party contributes to the measurements of one release."""

    def __init__(self, records: Records, number: int, terms: AggregationTerms, adjacency: Adjacency) -> None:
        self._number = number
        self._terms = terms
        self._adjacency = adjacency
        # summed once: what a file holds may change while a release is open, the release may not
        self.sums: Callable[[Aggregate], Int64] = cache(records.aggregate)

    def declared(self, query: LinearQuery) -> tuple[int, ...]:
        """The party's numbers of records, which it commits to; opened where the adjacency makes them public."""
        return query.totals(self.sums(query.aggregate), Adjacency.REPLACE) or ()

    def context(self, query: LinearQuery) -> bytes:
        result = hashlib.sha256(b"ogive secure aggregation 3\n")
        for value in (self._terms.parties, self._terms.honest, self._number):
            result.update(value.to_bytes(8, "big"))
        result.update(query.digest(self.sums(query.aggregate), self._adjacency))
        return result.digest()

    def vector(self, query: LinearQuery, *, key: bytes, context: bytes) -> UInt64:
        """The party's exact integers and its share of the noise, modulo 2^64; shape (length,).

        The noise follows from its key, 32 bytes, and from the context.
        """
        exact = query.measure(self.sums(query.aggregate))
        laws = [level.law for level in query.levels]
        most = largest_share(laws, parties=self._terms.parties, honest=self._terms.honest)
        refusal = f"its numbers go beyond {most}, so that the sum of all parties might not fit in 64 bits"
        Range(int(exact.min(initial=0)), int(exact.max(initial=0))).check(most, refusal)
        noise = query.noise(ShareNodes(DerivedNodes(key, context), self._terms.honest))
        return np.ascontiguousarray(exact + noise).view(np.uint64).reshape(-1)


def of_no_records(query: LinearQuery) -> Int64:
    """The sums of no records, shape of the aggregate: what is public about a query's answer follows from them."""
    return np.zeros(query.aggregate.shape, np.int64)


def shape_of(query: LinearQuery) -> tuple[int, ...]:
    return query.measure(of_no_records(query)).shape


def public_bytes(query: LinearQuery, adjacency: Adjacency) -> bytes:
    """All that is public about a query, to be hashed.

    That is the digest of the query as of no records, and its points: other points make other sums with the same noise.
    """
    points = query.points if isinstance(query, CurveQuery) else None
    opened = b"all" if points is None else np.asarray(points, "<u8").tobytes()
    return query.digest(of_no_records(query), adjacency) + opened


def opened_totals(query: LinearQuery, adjacency: Adjacency) -> int:
    """How many totals every party opens with its vector."""
    return len(query.totals(of_no_records(query), adjacency) or ())
