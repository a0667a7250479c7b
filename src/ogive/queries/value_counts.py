"""How many records have each value of a column that nobody has listed.

Values are texts, numbers and truth values, and every answer is an array of whole numbers, so counts and values are
written as one: see `write`. The values are sorted, so that nothing of the order of the records is in it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ogive.arrays import Int64
from ogive.columns import LabelValue, OpenCategories

_WORD = 8


@dataclass(frozen=True)
class Counted:
    """Numbers of records, exact or noisy.

    Fields:
        counts: Of each value.
        missing: With a missing value.
        unnamed: With a value that could not be stored, a text that is too long say.
    """

    counts: Mapping[LabelValue, int]
    missing: int = 0
    unnamed: int = 0


@dataclass(frozen=True)
class ValueCounts:
    """Records per value of a column, for all values that occur; "sums" are what `write` makes of them.

    Only who sees all records has them: which values there are is as secret as the records.

    Fields:
        column: The column.
    """

    column: OpenCategories

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape for no records, (2,); it grows with the values that occur."""
        return (2,)

    def records(self, sums: Int64) -> int:
        """How many records were counted: with a value, or with a missing one unless those are dropped."""
        counted = read(sums)
        missing = 0 if self.column.missing == "drop" else counted.missing
        return sum(counted.counts.values()) + counted.unnamed + missing

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"values": self.column.to_dict()}


def write(counted: Counted) -> Int64:
    """Counts of values as whole numbers: missing, unnamed, and of each value its count, a length and its text.

    Values stand in order, numbers before texts. A value is written as JSON, whose bytes fill as many integers as they
    need; the length is that in bytes.
    """
    words = [np.array([counted.missing, counted.unnamed], dtype="<i8")]
    for value in sorted(counted.counts, key=lambda value: (isinstance(value, str), value)):
        text = json.dumps(value).encode()
        padded = text.ljust(-(-len(text) // _WORD) * _WORD, b"\0")
        words.append(np.array([counted.counts[value], len(text)], dtype="<i8"))
        words.append(np.frombuffer(padded, dtype="<i8"))
    return np.concatenate(words).astype(np.int64)


def added_up(parts: Sequence[tuple[int, Int64]]) -> Int64:
    """The counts of several tables, each with how often it is there."""
    counts: Counter[LabelValue] = Counter()
    missing = unnamed = 0
    for times, sums in parts:
        found = read(sums)
        missing, unnamed = missing + times * found.missing, unnamed + times * found.unnamed
        counts.update({value: times * count for value, count in found.counts.items()})
    return write(Counted(counts, missing, unnamed))


def read(sums: Int64) -> Counted:
    """What `write` wrote."""
    raw = sums.astype("<i8").tobytes()
    counts: dict[LabelValue, int] = {}
    place = 2
    while place < len(sums):
        count, length = int(sums[place]), int(sums[place + 1])
        first = _WORD * (place + 2)
        counts[json.loads(raw[first : first + length])] = count
        place += 2 + -(-length // _WORD)
    return Counted(counts, int(sums[0]), int(sums[1]))
