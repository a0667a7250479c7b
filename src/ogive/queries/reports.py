"""Reports that every owner randomizes, and the integers that they add up to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ogive.accounting import group_loss
from ogive.core.arrays import Int64
from ogive.core.parameters import plain_fields
from ogive.errors import ParameterError
from ogive.local.base import Oracle, RandomWords
from ogive.local.oracles import PublicClasses
from ogive.local.values import check_rounding, rounded
from ogive.privacy import Adjacency, Loss, PrivacyUnit
from ogive.queries.aggregates import RowValues
from ogive.queries.base import Kind, Query, check_missing, rows_digest
from ogive.strategies.base import Level

_CHUNK = 1 << 20


@dataclass(frozen=True)
class ReportsQuery(Query):
    """One report of every record's owner.

    Fields:
        rows: What a record is to its owner: a row of numbers, and their symbol.
        oracle: How the symbol is randomized.
        rounding: How numbers become symbols: "simple" (their bin) or "randomized" (one of the two nodes around
            them, drawn by the owner so that it is right on average).

    Raises:
        ParameterError: there is no rounding of this name, or it does not fit the columns.
    """

    kind: ClassVar[Kind] = "reports"

    rows: RowValues
    oracle: Oracle
    rounding: str = "simple"

    def __post_init__(self) -> None:
        check_rounding(self.rounding, self.rows.domain)

    @property
    def method(self) -> str:
        return self.oracle.name

    @property
    def aggregate(self) -> RowValues:
        return self.rows

    @property
    def levels(self) -> tuple[Level, ...]:
        """No levels, since every report has its own noise."""
        return ()

    @property
    def public_columns(self) -> tuple[str, ...]:
        """The last column, where owners send it as it is."""
        return (self.rows.domain.columns[-1].column,) if isinstance(self.oracle, PublicClasses) else ()

    def price(self, unit: PrivacyUnit) -> Loss:
        """Loss of all reports of one person.

        Raises:
            ParameterError: the number of records would be private, or missing values are dropped: whoever gets the
                reports can count them.
        """
        if unit.adjacency is Adjacency.ADD_OR_REMOVE:
            raise ParameterError(
                "reports can be counted by anyone who receives them, so the number of records cannot be private; "
                "use `adjacency REPLACE`"
            )
        for column in self.rows.domain.columns:
            check_missing(column, unit.adjacency)
        return group_loss(self.oracle.loss, unit.max_rows_per_person)

    def totals(self, sums: Int64, adjacency: Adjacency) -> tuple[int, ...] | None:
        """How many reports there are."""
        return (len(sums),)

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of the description and of all rows; as secret as the data."""
        return rows_digest("reports", plain_fields(self), sums)

    def collect(self, sums: Int64, *, source: RandomWords) -> Int64:
        """What the reports of all owners add up to, each drawn as its owner would.

        Rows are numbered in a random order, so that what a participant is asked does not depend on the
        order of a table.

        Args:
            sums: The rows, as their aggregate gives them.
            source: The owners' random bits.

        Returns:
            Sums of the oracle's shape.
        """
        symbols = rounded(self.rows.domain, self.rows.values(sums), self.rounding, source=source)
        order = np.argsort(source.words(2 * len(symbols)).view(np.uint64), kind="stable")
        numbers = np.empty(len(symbols), dtype=np.int64)
        numbers[order] = np.arange(len(symbols))
        result = np.zeros(self.oracle.shape, dtype=np.int64)
        for start in range(0, len(symbols), _CHUNK):
            part = slice(start, start + _CHUNK)
            payloads = self.oracle.randomize(symbols[part], numbers[part], source=source)
            assert bool(self.oracle.add(result, numbers[part], payloads).all())
        return result
