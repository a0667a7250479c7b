"""Reports about the nodes of some levels: where their bits lie, and where their sums go.

At a level an owner is in one node. A Hadamard response draws a uniform index j, which has nothing to do with
the owner, and sends j with the parity of j AND node, flipped with a small chance. A unary response sends one noisy bit
for each node. A report answers one level, which its number decides, or all of them side by side.

    Hadamard field    bit 0: 1 for sign -1; then j, least significant bit first; bits above are 0
    unary field       bit q: node q; bits above are 0
    sums              per level with a tally: sum of the signs per index, or ones per node; then reports per level

Source: spec of the AUC protocol, 6.1; Bell, Bellet, Gascon and Kulkarni 2020, algorithms 2 and 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ogive.core.arrays import Bool, Int64, UInt8
from ogive.local.base import HALF, Assignment, RandomWords, bernoulli, read_bytes, uniform_bits, write_bytes

MAX_TALLY = 1 << 20
_CHUNK_BITS = 1 << 22


@dataclass(frozen=True)
class Layout:
    """Levels, and how reports about them are written.

    Fields:
        nodes: Nodes of each level.
        unary: Whether a level is answered by one bit a node.
        joint: Whether a report answers every level.
    """

    nodes: tuple[int, ...]
    unary: tuple[bool, ...]
    joint: bool = False

    @cached_property
    def exponents(self) -> tuple[int, ...]:
        """Indices of a level's Hadamard responses are below two to this."""
        return tuple((nodes - 1).bit_length() for nodes in self.nodes)

    @cached_property
    def _shifts(self) -> Int64:
        return np.array(self.exponents, dtype=np.int64)

    @cached_property
    def tallies(self) -> tuple[int, ...]:
        """Length of each level's tally; 0 for a level so large that its reports must be kept instead."""
        sizes = [
            nodes if unary else 1 << exponent
            for nodes, unary, exponent in zip(self.nodes, self.unary, self.exponents, strict=True)
        ]
        return tuple(size if size <= MAX_TALLY else 0 for size in sizes)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each level's tally begins in the sums, and after the last of them, where reports are counted."""
        return (0, *np.cumsum(self.tallies).tolist())

    @property
    def length(self) -> int:
        """How many integers the sums are."""
        return self.starts[-1] + len(self.nodes)

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Bytes of each level's field."""
        bits = [
            nodes if unary else exponent + 1
            for nodes, unary, exponent in zip(self.nodes, self.unary, self.exponents, strict=True)
        ]
        return tuple((count + 7) // 8 for count in bits)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Where each level's field begins in a payload."""
        if not self.joint:
            return (0,) * len(self.nodes)
        return (0, *np.cumsum(self.widths).tolist()[:-1])

    @cached_property
    def payload_bytes(self) -> int:
        """Length of a payload."""
        return sum(self.widths) if self.joint else max(self.widths)

    def tally(self, sums: Int64, level: int) -> Int64:
        """What was added up at a level."""
        return sums[self.starts[level] : self.starts[level + 1]]

    def reports(self, sums: Int64) -> Int64:
        """Reports that were added at each level, shape (levels,)."""
        return sums[self.starts[-1] :]

    def possible(self, sums: Int64, reports: int) -> bool:
        """Whether this number of reports can have these sums."""
        each = self.reports(sums)
        if (each < 0).any() or (each > reports).any():
            return False
        if not ((each == reports).all() if self.joint else int(each.sum()) == reports):
            return False
        return all(self._reached(self.tally(sums, level), level, int(each[level])) for level in range(len(self.nodes)))

    def _reached(self, tally: Int64, level: int, reports: int) -> bool:
        """Whether so many answers at one level can add up to its tally."""
        if self.unary[level]:
            return bool((tally >= 0).all() and (tally <= reports).all())
        if not self.tallies[level]:
            return True
        if (tally < -reports).any() or (tally > reports).any():
            return False
        left = reports - int(np.abs(tally).sum())  # in pairs of opposite signs
        return left >= 0 and left % 2 == 0

    def answer_all(self, places: Sequence[Int64], threshold: int, *, source: RandomWords) -> UInt8:
        """Joint reports: a field for every level, from the node of each owner at each level."""
        payloads = np.empty((places[0].size, self.payload_bytes), dtype=np.uint8)
        for level, nodes in enumerate(places):
            field = payloads[:, self.offsets[level] : self.offsets[level] + self.widths[level]]
            if self.unary[level]:
                write_unary(field, nodes, self.nodes[level], threshold, source=source)
            else:
                exponents = np.full(nodes.size, self.exponents[level], dtype=np.int64)
                write_bytes(field, hadamard_values(exponents, nodes, threshold, source=source))
        return payloads

    def answer_one(
        self, levels: Int64, places: Int64, threshold: int, *, source: RandomWords, negative: Bool | None = None
    ) -> UInt8:
        """Reports about one level each, from the owner's level and its node there."""
        payloads = np.zeros((places.size, self.payload_bytes), dtype=np.uint8)
        if any(self.unary):
            for level in np.flatnonzero(self.unary):
                rows = np.flatnonzero(levels == level)
                field = np.empty((rows.size, self.widths[level]), dtype=np.uint8)
                write_unary(field, places[rows], self.nodes[level], threshold, source=source)
                payloads[rows, : self.widths[level]] = field
            rows = np.flatnonzero(~np.array(self.unary)[levels])
            part = np.empty((rows.size, self.payload_bytes), dtype=np.uint8)
            write_bytes(part, hadamard_values(self._shifts[levels[rows]], places[rows], threshold, source=source))
            payloads[rows] = part
            return payloads
        values = hadamard_values(self._shifts[levels], places, threshold, source=source, negative=negative)
        write_bytes(payloads, values)
        return payloads

    def add(self, sums: Int64, numbers: Int64, payloads: UInt8, assignment: Assignment | None) -> Bool:
        """Add reports to sums in place; says which were well-formed."""
        from ogive.local.aggregation import add_hadamard, add_joint, add_single

        table = np.array(
            [self.nodes, self.unary, self.exponents, self.tallies, self.starts[:-1], self.offsets, self.widths],
            dtype=np.int64,
        )
        good = np.ones(len(payloads), dtype=np.bool_)
        if assignment is None:
            add_joint(sums, self.starts[-1], payloads, table, good)
        else:
            add = add_single if any(self.unary) else add_hadamard
            add(sums, self.starts[-1], numbers, payloads, table, *assignment.compiled, good)
        return good

    def read(self, payloads: UInt8, level: int) -> tuple[Int64, Int64]:
        """Index and sign of each report at a level of Hadamard responses; the reports are well-formed."""
        values = read_bytes(payloads[:, self.offsets[level] : self.offsets[level] + self.widths[level]])
        return values >> 1, 1 - 2 * (values & 1)


def hadamard_values(
    exponents: Int64, places: Int64, threshold: int, *, source: RandomWords, negative: Bool | None = None
) -> Int64:
    """Hadamard responses as numbers: bit 0 for the sign, the index above it."""
    indices = uniform_bits(source, exponents)
    signs = (np.bitwise_count(indices & places) & 1).astype(np.bool_)
    if negative is not None:
        signs ^= negative
    signs ^= bernoulli(source, places.size, threshold)
    values: Int64 = indices << 1 | signs
    return values


def write_unary(payloads: UInt8, places: Int64, nodes: int, threshold: int, *, source: RandomWords) -> None:
    """Unary responses: the owner's own bit is a fair coin, every other bit comes up with the threshold's chance."""
    rows = max(1, _CHUNK_BITS // nodes)
    for start in range(0, places.size, rows):
        own = places[start : start + rows]
        bits = bernoulli(source, own.size * nodes, threshold).reshape(own.size, nodes)
        bits[np.arange(own.size), own] = bernoulli(source, own.size, HALF)
        payloads[start : start + rows] = np.packbits(bits, axis=1, bitorder="little")
