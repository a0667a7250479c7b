"""Private rows dealt to teachers, so that one person reaches one teacher only.

Adjacent data sets differ in one person. For one vote to move per query, that person's rows must lie with one teacher,
and nobody else's may move when they change. So the teacher of a row depends on public facts alone:

* where every row is a person, on the row's place: a permutation of the places, drawn from the seed, is dealt round.
  Parts differ by one row at most. A replaced row stays where it was; how many rows there are is public.
* where rows belong to persons, on the person's name: a keyed hash of it, the key made from the seed. Adding or removing
  a person moves nobody else; so parts are equal on average only. Persons dealt in the order of their hashes would come
  out even, and one person less would move many others to another teacher.

To replace a person by one of another name is to remove one and to add one: two teachers, unless names are public and
stay, as those of all customers or patients of a list do. `docs/teachers.md` says which you have.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from ogive.arrays import Int64, UInt64
from ogive.checks import any_whole
from ogive.compiling import njit
from ogive.errors import DataError, ParameterError, quoted
from ogive.pate.learners import check_seed, number_of_rows
from ogive.records.hashing import siphash
from ogive.records.missing_words import USUAL
from ogive.records.persons import PersonCodes, are_named, check_person_type
from ogive.records.sources import memory_source

MOST_TEACHERS = 1 << 16


@dataclass(frozen=True, eq=False)
class Partition:
    """Assignment of rows to teachers.

    Fields:
        teachers: Number of teachers.
        parts: The 0-based teacher of each row, shape (rows,).
    """

    teachers: int
    parts: Int64

    @property
    def sizes(self) -> Int64:
        """Number of rows of each teacher, shape (teachers,); private if the rows belong to persons."""
        return np.bincount(self.parts, minlength=self.teachers)

    def rows(self, teacher: int) -> Int64:
        """Indices of one teacher's rows, ascending."""
        return np.flatnonzero(self.parts == teacher)


def partition(records: Any, teachers: int, *, person: Any = None, seed: int) -> Partition:
    """Assign rows to teachers.

    Args:
        records: The table (an array, a data frame or a dict of columns), or its number of rows.
        teachers: Number of teachers, from 2 to 65,536.
        person: Identifier of the person of each row: the name of a column of `records`, or numbers or texts, one for
            each row. None if every row is a person.
        seed: A whole number from 0, which may be public; it determines the partition.

    Raises:
        ParameterError: the number of teachers is out of range, the seed is invalid, or there is no such column.
        DataError: there are more teachers than rows, or the person of a row is unknown.

    Privacy:
        Replacing one row, or all rows of one person under the same identifier, or adding or removing a person, changes
        the rows of one teacher. Votes are priced for this change, "replace one teacher".

    Example:
        >>> sorted(partition(10, 3, seed=1).sizes.tolist())
        [3, 3, 4]
    """
    drawn = check_seed(seed)
    any_whole(teachers, "teachers", 2, MOST_TEACHERS)
    if person is None:
        rows = _rows(records)
        if rows < teachers:
            raise DataError(f"{rows} rows are too few for {teachers} teachers; each needs at least one")
        places = np.random.default_rng(drawn).permutation(rows)
        parts = np.empty(rows, dtype=np.int64)
        parts[places] = np.arange(rows) % teachers
        return Partition(int(teachers), parts)
    column = person if isinstance(person, str) else "person"
    source = memory_source(records if isinstance(person, str) else {column: person}, column)
    if column not in source.columns:
        raise ParameterError(
            f"the records have no column {quoted(column)}; give a column's name, or the persons themselves"
        )
    if not isinstance(person, str) and source.rows() != _rows(records):
        raise DataError(f"there are {source.rows()} persons for {_rows(records)} rows; each row needs one")
    if source.is_empty():
        raise DataError("there are no rows to deal")
    check_person_type(column, source.type(column))
    codes = PersonCodes(column, source.type(column))
    for (names,) in source.batches((column,), identifiers={column}):
        if not are_named(names, USUAL).all():
            raise DataError(
                f"person column {quoted(column)} has missing values, or words for them such as NA; every row needs an "
                "identifier, so leave out the others before the rows are dealt"
            )
        codes.add(names)
    persons = codes.finish()
    if persons.number < teachers:
        raise DataError(f"{persons.number} persons are too few for {teachers} teachers")
    words = persons.words(np.ones(persons.number, dtype=np.bool_))
    return Partition(int(teachers), _hashed(words, _key(drawn), int(teachers))[persons.codes])


def _rows(records: Any) -> int:
    if isinstance(records, int | np.integer) and not isinstance(records, bool):
        return int(records)
    if isinstance(records, dict):
        return memory_source(records, "").rows()
    if not hasattr(records, "shape") and not isinstance(records, Sized):
        raise ParameterError(f"`records` must be a table or a number of rows, got {type(records).__name__}")
    return number_of_rows(records)


def _key(seed: int) -> tuple[int, int]:
    digest = hashlib.sha256(b"ogive teachers 1\n" + str(seed).encode()).digest()
    # 63 bits each, since compiled code takes whole numbers as signed
    return int.from_bytes(digest[:8], "little") >> 1, int.from_bytes(digest[8:16], "little") >> 1


@njit(nogil=True)
def _hashed(words: UInt64, key: tuple[int, int], teachers: int) -> Int64:
    found = np.empty(len(words), dtype=np.int64)
    for person in range(len(words)):
        found[person] = ((siphash(words[person], key) >> np.uint64(32)) * np.uint64(teachers)) >> np.uint64(32)
    return found
