"""What everybody knows of the uploads of one aggregate before anything is sent."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ogive.arrays import Int64
from ogive.crypto.comparison import KeyShape
from ogive.crypto.domains import HashDomain, digest, number
from ogive.crypto.field import P
from ogive.crypto.sketch import AmountClaim, CellClaim, Claim, StepClaim
from ogive.crypto.tables import ShareShape
from ogive.privacy import Adjacency
from ogive.queries import LabelsQuery
from ogive.queries.blocks import block_ends
from ogive.queries.labels import ServedQuery
from ogive.trust.servers.layout import Layout
from ogive.trust.servers.uploads import KEYS, SUMS, Uploads

TABLE_VERIFICATIONS = 3
"""How often a table can be verified: once is enough, the others are for servers that were stopped in the middle."""


@dataclass(frozen=True)
class AggregateUploads:
    """The uploads of one aggregate: public, the same for clients, servers and analyst.

    Fields:
        layout: The cells.
        uploads: What is uploaded, its kind decided.
    """

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
        """Shares add up modulo this."""
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
