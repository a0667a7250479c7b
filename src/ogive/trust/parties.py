"""Several parties with the records of different people: reading them, and saying at which one something is wrong."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from ogive.columns import Schema
from ogive.core.arrays import Int64
from ogive.errors import DataError, ParameterError
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import Aggregate
from ogive.records import Records
from ogive.records.missing_words import NaValues
from ogive.trust.base import TableModel

ReadT = TypeVar("ReadT")


@contextmanager
def naming(number: int, parties: int) -> Iterator[None]:
    """Say at which of several parties, counted from 1, something is wrong."""
    try:
        yield
    except (DataError, ParameterError) as problem:
        if parties == 1:
            raise
        raise problem.prefixed(f"party {number + 1}") from None


class SeveralTables(TableModel):
    """A trust model of parties who hold a table each; no person is in two of them."""

    parties: tuple[Records, ...]

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        """One record of one party, or one person where a person column was named."""
        first = self.parties[0]
        return PrivacyUnit(adjacency, first.person, first.max_rows_per_person, row_choice=first.row_choice)

    def count(self) -> int:
        """Records of all parties who take part, after bounding."""
        return sum(_at_each(self.parties, Records.count, without=self.absent))

    @property
    def absent(self) -> frozenset[int]:
        """Parties, counted from 1, whose records are not counted."""
        return frozenset()

    def data_digest(self) -> bytes:
        """SHA-256 of the records of all parties, in their order."""
        found = hashlib.sha256(b"ogive parties\n")
        for digest in _at_each(self.parties, Records.digest):
            found.update(digest)
        return found.digest()

    def schema(self) -> Schema:
        """What the columns hold at the first party who has any records; all parties have the same columns."""
        first = next((each for each in self.parties if not each.is_empty), self.parties[0]).schema()
        return dataclasses.replace(first, with_missing=self._with_missing)

    def _with_missing(self, columns: Sequence[str]) -> tuple[str, ...]:
        found = {name for each in self.parties for name in each.schema().with_missing(columns)}
        return tuple(name for name in columns if name in found)

    def check_columns(self, columns: Sequence[str]) -> None:
        """Refuse columns that a party's table lacks.

        Raises:
            DataError: one is not there; says which are.
        """
        for records in self.parties:
            records.check_columns(columns)


def _at_each(
    parties: Sequence[Records], read: Callable[[Records], ReadT], *, without: Container[int] = ()
) -> Iterator[ReadT]:
    """What is read of the records of every party but some, counted from 1."""
    for number, records in enumerate(parties):
        if number + 1 not in without:
            with naming(number, len(parties)):
                found = read(records)
            yield found


def read_parties(
    parties: Sequence[Any], *, person: str | None, max_rows_per_person: int, na_values: NaValues = ()
) -> tuple[Records, ...]:
    """The records of every party, bounded per person; a party may have none."""
    known: dict[object, int] = {}
    for number, data in enumerate(parties, 1):
        same = Path(data).resolve() if isinstance(data, str | Path) else id(data)
        if same in known:
            raise ParameterError(
                f"parties {known[same]} and {number} have the very same records, so everybody would count twice"
            )
        known[same] = number
    read = []
    for number, data in enumerate(parties):
        with naming(number, len(parties)):
            read.append(Records.of_party(data, na_values=na_values).bounded(person, max_rows_per_person))
    return tuple(read)


def party_sums(parties: Sequence[Records], aggregate: Aggregate) -> tuple[Int64, ...]:
    """The exact sums of every party."""
    return tuple(_at_each(parties, lambda records: records.aggregate(aggregate)))
