"""What everybody knows of the uploads of one aggregate before anything is sent, and what they cost."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ogive.columns import may_drop
from ogive.core.arrays import Int64, UInt64
from ogive.crypto.comparison import KeyShape
from ogive.crypto.domains import HashDomain, digest, number
from ogive.crypto.field import P
from ogive.crypto.sketch import AmountClaim, CellClaim, Claim, StepClaim
from ogive.crypto.tables import ShareShape, UploadCost, exchanged_bytes, upload_cost
from ogive.privacy import Adjacency
from ogive.queries import Aggregate, Ballots, GroupSums, LabelsQuery
from ogive.queries.labels import ServedQuery
from ogive.records.contributions import Contributions, columns_of
from ogive.trust.base import Traffic
from ogive.trust.modulus import block_ends
from ogive.trust.servers.uploads import AUTO, KEYS, SUMS, TABLES, Uploads

# --- The cells of an aggregate, as clients share them between servers
#
# A record counts in one cell of the aggregate, the cells numbered row by row, or nowhere: then it is given a cell of
# its own after the last, which nobody asks for. Calibration also adds up probabilities: its cells are (label, group),
# and the record has an amount beside its cell.
#
# A teacher votes in every query, and shares one vector for each: its cells are the classes. These vectors are one
# upload, under one name, and are counted all or none.

MOST_CELLS = 1 << 20
"""Cells that records are counted in at most; half of what a table may have, so that amounts find room beside them."""


@dataclass(frozen=True)
class Layout:
    """The cells of one aggregate, as clients and servers number them."""

    aggregate: Aggregate

    @property
    def cells(self) -> int:
        """How many cells there are in all vectors, that for records which count nowhere included."""
        return self.counted + self.drops

    @property
    def vectors(self) -> int:
        """How many vectors a client shares, in each of which it is in one cell: of ballots one for every query."""
        return self.aggregate.shape[0] if isinstance(self.aggregate, Ballots) else 1

    @property
    def width(self) -> int:
        return self.cells // self.vectors

    def rows(self, clients: Int64) -> Int64:
        return (clients[:, np.newaxis] * self.vectors + np.arange(self.vectors)).ravel()

    @property
    def counted(self) -> int:
        shape = self.aggregate.shape
        return 2 * shape[1] if isinstance(self.aggregate, GroupSums) else math.prod(shape)

    @property
    def drops(self) -> bool:
        columns = columns_of(self.aggregate)
        return any(map(may_drop, columns))

    @property
    def amount_bits(self) -> int | None:
        """Amounts are whole numbers from 0 to 2^amount_bits; None where records have no amount."""
        return self.aggregate.bits if isinstance(self.aggregate, GroupSums) else None

    @property
    def groups(self) -> int:
        """How many sums of amounts there are; the group of a cell is its number modulo this."""
        return self.aggregate.shape[1] if isinstance(self.aggregate, GroupSums) else 0

    def symbols(self, cells: Int64) -> Int64:
        """Cells of records, vector by vector, as clients share them: -1, for nowhere, becomes that after the last."""
        return np.where(cells < 0, self.counted, cells).ravel()

    def ends(self, wanted: Int64) -> Int64:
        """The last cell of every block of cells that is told apart, the very last cell included."""
        return np.append(wanted, self.counted) if self.drops else wanted

    def columns(self, aggregate_sums: Int64) -> Int64:
        """Exact sums of the aggregate as a vector of cells, then sums of amounts: what an organization shares at once.

        A record that counts nowhere is in no sum.
        """
        sums = aggregate_sums
        if isinstance(self.aggregate, GroupSums):
            return np.concatenate([sums[2], sums[3], sums[1]])
        return np.append(sums.ravel(), 0) if self.drops else sums.ravel()

    def added(self, records: Contributions) -> Int64:
        """What some records add to the cells that are asked for, and then to the sums of amounts."""
        if isinstance(self.aggregate, Ballots):
            queries = np.arange(self.vectors) * self.width
            return np.bincount((records.cells + queries).ravel(), minlength=self.counted)
        cells = records.cells[records.cells >= 0]
        counts = np.bincount(cells, minlength=self.counted)
        amounts = np.zeros(self.groups, np.int64)
        if records.amounts is not None:
            np.add.at(amounts, cells % self.groups, records.amounts[records.cells >= 0])
        return np.concatenate([counts, amounts])

    def sums(self, ends: Int64, blocks: UInt64, amounts: UInt64, modulus: int) -> UInt64:
        """Servers' shares of the aggregate, concentrated in the last cell of every block."""
        cells = np.zeros(self.cells, dtype=np.uint64)
        cells[ends] = blocks
        if not isinstance(self.aggregate, GroupSums):
            return cells[: self.counted].reshape(self.aggregate.shape)
        negatives, positives = cells.reshape(2, self.groups)
        both = (negatives.astype(object) + positives.astype(object)) << self.aggregate.bits
        expected = np.array((both - amounts.astype(object)) % modulus, dtype=np.uint64)
        return np.stack([expected, amounts, negatives, positives])


# --- The uploads of one aggregate

TABLE_VERIFICATIONS = 3
"""How often a table can be verified: once is enough, the others are for servers that were stopped in the middle."""


@dataclass(frozen=True)
class AggregateUploads:
    """The uploads of one aggregate, their kind decided: public, the same for clients, servers and analyst."""

    layout: Layout
    uploads: Uploads

    @property
    def keys(self) -> KeyShape | None:
        """Shape of the comparison keys; None where tables or sums are uploaded."""
        if self.uploads.kind != KEYS:
            return None
        group = "field" if self.uploads.verified else "ring64"
        return KeyShape(group=group, bits=max(1, (self.layout.cells - 1).bit_length()))

    @property
    def tables(self) -> ShareShape | None:
        """Shape of one vector of the tables or sums; None where keys are uploaded."""
        layout, kind = self.layout, self.uploads.kind
        if kind == KEYS:
            return None
        bits = layout.amount_bits
        digits = 0 if bits is None or kind == SUMS else bits + 1
        return ShareShape(layout.width + layout.groups + digits)

    @property
    def material(self) -> ShareShape | None:
        """Of what is shared for verifications of one vector; None where there are none.

        Every cell of a table is verified at the first, and only keys are verified again at later points. A verification
        that was begun is used up, so tables have some to spare.
        """
        if not self.uploads.verified:
            return None
        if self.uploads.kind == KEYS:
            return ShareShape(0, StepClaim.squares, StepClaim.products, self.uploads.verifications)
        claim = self.claim(np.arange(self.layout.cells))
        return ShareShape(0, claim.squares, claim.products, min(self.uploads.verifications, TABLE_VERIFICATIONS))

    def verified(self, ends: Int64, begun: int) -> Int64:
        """Last cells of the blocks that a verification checks: all cells for tables, and for the last one of keys."""
        material = self.material
        if material is None or (self.uploads.kind == KEYS and begun + 1 < material.verifications):
            return ends
        return np.arange(self.layout.cells)

    def points(self, ends: Int64) -> Int64:
        """Where keys are evaluated to count records in blocks: at the last cell of every block but the last."""
        return ends[:-1]

    def checks(self, ends: Int64) -> bool:
        """Whether anything has to be verified to count in these blocks; keys at no point only say how many they are."""
        return self.uploads.verified and (self.uploads.kind != KEYS or self.points(ends).size > 0)

    def claim(self, ends: Int64) -> Claim:
        """What is verified of every vector before records in these blocks are counted, where anything has to be."""
        layout = self.layout
        if self.uploads.kind == KEYS:
            return StepClaim(self.points(ends))
        if layout.amount_bits is not None:
            return AmountClaim(layout.groups, layout.amount_bits)
        return CellClaim(np.arange(layout.width) if layout.vectors > 1 else ends)

    @property
    def modulus(self) -> int:
        return P if self.keys is None else self.keys.modulus

    @cached_property
    def study(self) -> bytes:
        """Digest of what is agreed beforehand: the aggregate, the servers, what is uploaded and checked; 32 bytes."""
        public: dict[str, Any] = {
            "aggregate": self.layout.aggregate.to_dict(),
            "servers": self.uploads.servers,
            "upload": self.uploads.kind,
            "verified": self.uploads.verified,
            "verifications": self.uploads.verifications,
            "tolerated": self.uploads.tolerated,
        }
        if self.uploads.colluding is not None:
            public["colluding"] = self.uploads.colluding
        return digest(HashDomain.SERVERS_STUDY, json.dumps(public, sort_keys=True).encode())

    def binding(self, part: str, session: bytes) -> bytes:
        """Digest that binds one part of an upload to the study and the session, and gives it AES keys of its own."""
        return digest(HashDomain.SERVERS_BINDING, self.study, session, part.encode())


def question_digest(query: ServedQuery, adjacency: Adjacency) -> bytes:
    """Digest of a question with the points at which it is opened; 32 bytes."""
    nothing = np.zeros(query.aggregate.shape, np.int64)
    answers = len(nothing) if isinstance(query, LabelsQuery) else query.measure(nothing).size
    cells = block_ends(query).astype("<i8").tobytes()
    return digest(HashDomain.SERVERS_QUESTION, query.digest(nothing, adjacency), cells, number(answers))


def question_number(question: bytes) -> int:
    """Sequence number of the answers to a question, whose digest is given: an answer is the same whenever asked."""
    return int.from_bytes(question[:8], "little")


# --- What uploads of a release cost, and which kind is taken where that was left open: from public numbers alone


def fitting(uploads: Uploads, aggregate: Aggregate) -> tuple[Uploads, ...]:
    """The kinds of upload that an aggregate allows, with their parameters; keys before tables."""
    several = Layout(aggregate).amount_bits is not None or isinstance(aggregate, Ballots)
    if uploads.organizations and uploads.kind == AUTO and not isinstance(aggregate, Ballots):
        return (dataclasses.replace(uploads, kind=SUMS, verified=False),)
    if several and uploads.kind in (AUTO, KEYS):
        kinds: tuple[str, ...] = (TABLES,)
    elif uploads.kind == AUTO:
        kinds = (KEYS, TABLES) if uploads.servers == 2 else (TABLES,)
    else:
        kinds = (uploads.kind,)
    return tuple(dataclasses.replace(uploads, kind=kind) for kind in kinds)


def cost_of(collected: AggregateUploads, ends: Int64, clients: int) -> UploadCost:
    return upload_cost(
        keys=collected.keys,
        points=max(1, collected.points(ends).size),
        tables=collected.tables,
        material=collected.material,
        vectors=collected.layout.vectors,
        clients=clients,
        servers=collected.uploads.servers,
    )


def decided(uploads: Uploads, aggregate: Aggregate, clients: int) -> Uploads:
    """Choose what is uploaded of an aggregate where that was left open: what is received and evaluated first.

    Never from the question: each kind has noise of its own, so a block must get the same kind whatever else is asked.
    """

    def elapsed(each: Uploads) -> float:
        collected = AggregateUploads(Layout(aggregate), each)
        return cost_of(collected, np.arange(collected.layout.cells), clients).elapsed

    return min(fitting(uploads, aggregate), key=elapsed)


def traffic(uploads: Uploads, queries: Sequence[ServedQuery], clients: int) -> tuple[Traffic, ...]:
    """The traffic of a release with keys where they fit, and with tables; the one that would be used comes first.

    An aggregate is uploaded once. A question is computed and verified where it tells more cells apart than those before
    it, and the last verification that clients have brought material for covers all cells.
    """
    ways = {each.aggregate: fitting(uploads, each.aggregate) for each in queries}
    kinds = list(dict.fromkeys(each.kind for fit in ways.values() for each in fit))
    most = max(queries, key=lambda query: len(ways[query.aggregate]))
    chosen = decided(uploads, most.aggregate, clients).kind
    return tuple(_with(kind, ways, queries, clients) for kind in sorted(kinds, key=lambda kind: kind != chosen))


def _with(
    kind: str, ways: dict[Aggregate, tuple[Uploads, ...]], queries: Sequence[ServedQuery], clients: int
) -> Traffic:
    from ogive.trust.servers.labeling import Comparison  # a device that uploads has no group for transfers

    sent, received, seconds = 0, 0, 0.0
    counted: dict[Aggregate, Int64] = {}
    verified: Counter[Aggregate] = Counter()
    for query in queries:
        aggregate = query.aggregate
        uploads = next((each for each in ways[aggregate] if each.kind == kind), ways[aggregate][0])
        collected = AggregateUploads(Layout(aggregate), uploads)
        if isinstance(query, LabelsQuery):
            compared = Comparison(query, clients).traffic()
            received += compared.garbler_bytes
            seconds += compared.seconds
        ends = collected.layout.ends(block_ends(query))
        known = counted.get(aggregate)
        if known is not None:
            if np.isin(ends, known).all():
                continue
            ends = np.union1d(ends, known)
        ends = collected.verified(ends, verified[aggregate])
        verified[aggregate] += 1
        counted[aggregate] = ends
        cost = cost_of(collected, ends, clients)
        seconds += cost.seconds - cost.once
        if known is None:
            sent += cost.bytes_per_client
            received += cost.bytes_per_server
            seconds += cost.once
        else:
            received += clients * exchanged_bytes(collected.material, uploads.servers)
    return Traffic(kind, sent, received, seconds)
