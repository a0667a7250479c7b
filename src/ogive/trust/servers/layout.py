"""How the records of an aggregate become what clients share between servers, and back.

A record counts in one cell of the aggregate, the cells numbered row by row, or nowhere: then it is given a cell of
its own after the last, which nobody asks for. Calibration also adds up probabilities: its cells are (label, group),
and the record has an amount beside its cell.

A teacher votes in every query, and shares one vector for each: its cells are the classes. These vectors are one upload,
under one name, and are counted all or none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ogive.arrays import Int64, UInt64
from ogive.columns import may_drop
from ogive.queries import Aggregate, Ballots, GroupSums
from ogive.records.contributions import Contributions, columns_of

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
        """Cells of one vector."""
        return self.cells // self.vectors

    def rows(self, clients: Int64) -> Int64:
        """The numbers of all vectors of some clients, where each client's come one after the other."""
        return (clients[:, np.newaxis] * self.vectors + np.arange(self.vectors)).ravel()

    @property
    def counted(self) -> int:
        """How many cells are asked for."""
        shape = self.aggregate.shape
        return 2 * shape[1] if isinstance(self.aggregate, GroupSums) else math.prod(shape)

    @property
    def drops(self) -> bool:
        """Whether a record may count nowhere."""
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
        """Servers' shares of the aggregate, concentrated in the last cell of every block; integers modulo the modulus.

        Args:
            ends: Of `ends`, shape (B,).
            blocks: Shares of the records in every block, uint64, shape (B,).
            amounts: Shares of the sums of amounts, uint64, shape (groups,).
            modulus: Of the shares.

        Returns:
            uint64, of the aggregate's shape.
        """
        cells = np.zeros(self.cells, dtype=np.uint64)
        cells[ends] = blocks
        if not isinstance(self.aggregate, GroupSums):
            return cells[: self.counted].reshape(self.aggregate.shape)
        negatives, positives = cells.reshape(2, self.groups)
        both = (negatives.astype(object) + positives.astype(object)) << self.aggregate.bits
        expected = np.array((both - amounts.astype(object)) % modulus, dtype=np.uint64)
        return np.stack([expected, amounts, negatives, positives])
