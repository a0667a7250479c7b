"""Persons as keyed hashes: enough of them to see whether two tables are about the same people.

A person is hashed under the name that `ogive.records.persons` gives it, less what gets lost on the way from one table
to the next: letter case, spaces around a name, leading zeros, and the ways in which Unicode writes one letter. So
5, 5.0, "5", "005" and " 5" are one person here, though two rows of a table that differ in that are of two persons. Two
persons who are taken for one here make two tables look a little more alike, and nothing else.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ogive.arrays import UInt64
from ogive.compiling import njit
from ogive.records.hashing import Key, siphash, text_words
from ogive.records.missing_words import USUAL, MissingWords
from ogive.records.persons import PersonCodes, Persons, named_rows
from ogive.records.sources import Source

KEY_BYTES = 32


def smallest_hashes(source: Source, person: str, *, key: bytes, count: int, missing: MissingWords = USUAL) -> UInt64:
    """The smallest keyed hashes of all persons of a table: a random sample of them, and the same of the same persons.

    Args:
        source: The table; read in one pass, with bounded memory.
        person: The column with the person's identifier.
        key: 32 bytes: one key of SipHash-2-4 for numbers and one for texts. Who lacks it learns nothing from a hash.
        count: How many hashes at most.
        missing: What says that a person is missing; rows without one are left out.

    Returns:
        Sorted, all different, shape (min(count, persons),).

    Raises:
        DataError: the table cannot be read.
    """
    words = np.frombuffer(key, "<u8")
    for_numbers, for_texts = (words[0], words[1]), (words[2], words[3])
    found = np.empty(0, dtype=np.uint64)
    for (names,) in source.batches((person,), identifiers={person}):
        persons = _canonical(_persons(person, source.type(person), named_rows(names, missing)))
        numbers = _hash_numbers(persons.numbers.view(np.uint64), for_numbers)
        texts = text_words(persons.texts, np.ones(len(persons.texts), dtype=np.bool_), for_texts)
        hashes = np.concatenate([found, numbers, texts])
        if len(found) == count:
            hashes = hashes[hashes <= found[-1]]
        hashes.sort()
        found = hashes[np.diff(hashes, prepend=~hashes[:1]) != 0][:count]
    return found


def _persons(column: str, arrow_type: Any, names: Any, nobody: Set[str] = USUAL.folded) -> Persons:
    codes = PersonCodes(column, arrow_type, nobody)
    codes.add(names)
    return codes.finish()


def _canonical(persons: Persons) -> Persons:
    """The same persons, with those who differ only in how a text is written as one."""
    if not len(persons.texts):
        return persons
    texts = pc.utf8_trim_whitespace(pc.utf8_lower(pc.utf8_normalize(persons.texts, form="NFKC")))
    texts = pc.replace_substring_regex(texts, pattern="^0+([0-9])", replacement=r"\1")
    changed = pc.not_equal(texts, persons.texts)
    rewritten = texts.filter(pc.and_(changed, pc.not_equal(texts, "")))
    if not len(rewritten):
        return persons
    # what is left of a text may write a number
    written = _persons("", pa.large_string(), rewritten, frozenset())
    same = persons.texts.filter(pc.invert(changed))
    return Persons(
        persons.codes, np.concatenate([persons.numbers, written.numbers]), pa.concat_arrays([same, written.texts])
    )


@njit(nogil=True)
def _hash_numbers(numbers: UInt64, key: Key) -> UInt64:
    found = np.empty(len(numbers), dtype=np.uint64)
    for place in range(len(numbers)):
        found[place] = siphash(numbers[place : place + 1], key)
    return found
