"""One table dealt to several parties: simulated organizations, each with some of the rows.

Rows are ordered by the hash of their place in the table, or persons by the hash of their name, so that a person's rows
stay together, and the order is cut into equal parts. The hash is public and fixed: the same table is dealt alike
everywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ogive.arrays import UInt16, UInt64
from ogive.errors import DataError
from ogive.records.hashing import hashes_of
from ogive.records.missing_words import USUAL, MissingWords
from ogive.records.persons import PersonCodes, are_named
from ogive.records.sources import Source

MOST_PARTS = 1 << 16


def deal(source: Source, person: str | None, parts: int, words: MissingWords = USUAL) -> UInt16:
    """The 0-based part of each row of a table, shape (rows,); two bytes a row, and about forty while they are dealt.

    The parts' numbers of rows, or of persons, differ by one at most.

    Args:
        source: The table.
        person: The column with the person's identifier; None deals rows one by one.
        parts: How many, at most `MOST_PARTS`.
        words: What says that a person is missing. Rows without one go to one part; whoever uses them is refused.

    Raises:
        DataError: the table cannot be read.
    """
    if person is None:
        return _cut(hashes_of(np.arange(source.rows(), dtype=np.uint64)[:, None]), parts)
    found: list[UInt64] = []
    for (persons,) in source.batches((person,), identifiers={person}):
        has = are_named(persons, words)
        codes = PersonCodes(person, source.type(person))
        codes.add(persons.filter(pa.array(has)))
        named = codes.finish()
        each = np.zeros(len(has), dtype=np.uint64)
        each[has] = hashes_of(named.words(np.ones(named.number, dtype=np.bool_)))[named.codes]
        found.append(each)
    return _cut(np.concatenate(found), parts)


def _cut(hashes: UInt64, parts: int) -> UInt16:
    """Equal parts of what is hashed, in the order of the hashes; what is hashed alike stays together."""
    distinct, places = np.unique(hashes, return_inverse=True)
    return (places * parts // len(distinct)).astype(np.uint16)


class PartSource:
    """The rows of one part of a table; every pass reads the whole table and leaves the others out.

    Args:
        source: The table.
        dealt: The part of each row, from `deal`.
        part: Which part this is.
    """

    def __init__(self, source: Source, dealt: UInt16, part: int) -> None:
        self._source = source
        self._dealt = dealt
        self._part = part
        self.name = source.name
        self.columns = source.columns
        self.has_names = source.has_names
        self.numbers_hint = source.numbers_hint
        self.guesses_kinds = source.guesses_kinds
        self.told = source.told

    def rows(self) -> int:
        """Number of rows of the part."""
        return int(np.count_nonzero(self._dealt == self._part))

    def digest(self) -> bytes:
        """SHA-256 of the whole table's digest and of the places of the part's rows."""
        places = np.packbits(self._dealt == self._part).tobytes()
        return hashlib.sha256(b"ogive part of a table 1\n" + self._source.digest() + places).digest()

    def is_empty(self) -> bool:
        """Whether no row is of the part."""
        return self.rows() == 0

    def type(self, column: str) -> Any:
        """Arrow type of a column."""
        return self._source.type(column)

    def number_remedy(self, column: str) -> str:
        """What makes numbers of the whole table's column."""
        return self._source.number_remedy(column)

    def wrong_line(self, column: str, unit: str) -> int | None:
        """The line of the first wrong cell of the whole table."""
        return self._source.wrong_line(column, unit)

    def offset_line(self, column: str) -> int | None:
        """The line of the first time of the whole table with an offset."""
        return self._source.offset_line(column)

    def batches(self, columns: Sequence[str], *, identifiers: Collection[str] = ()) -> Iterator[tuple[Any, ...]]:
        """The part's rows of each batch of the table."""
        first = 0
        for arrays in self._source.batches(columns, identifiers=identifiers):
            end = first + len(arrays[0])
            if end > len(self._dealt):
                break
            mask = pa.array(self._dealt[first:end] == self._part)
            yield tuple(array.filter(mask) for array in arrays)
            first = end
        else:
            if first == len(self._dealt):
                return
        raise DataError(f"{self.name} has another number of rows than when it was dealt to parties")
