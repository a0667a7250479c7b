"""Several parties with the records of different people: reading them, and saying at which one something is wrong."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ogive.errors import DataError, ParameterError
from ogive.kernels.in_order import InOrder
from ogive.queries import Aggregate, Int64, KernelQuery, Label, Query
from ogive.records import Records
from ogive.records.labelled import columns_of


@contextmanager
def naming(number: int, parties: int) -> Iterator[None]:
    """Say at which of several parties, counted from 1, something is wrong."""
    try:
        yield
    except (DataError, ParameterError) as problem:
        if parties == 1:
            raise
        raise type(problem)(f"party {number + 1}: {problem}") from None


def read_parties(parties: Sequence[Any], *, person: str | None, max_rows_per_person: int) -> tuple[Records, ...]:
    """The records of every party, bounded per person; a party may have none.

    Raises:
        ParameterError: two parties are the very same object or file, though they may have equal records.
        DataError: a party's records cannot be read.
    """
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
            read.append(Records.of_party(data).bounded(person, max_rows_per_person))
    return tuple(read)


def digest_of(parties: Sequence[Records]) -> bytes:
    """SHA-256 of the records of all parties, in their order.

    Raises:
        DataError: a party's records cannot be read.
    """
    found = hashlib.sha256(b"ogive parties\n")
    for number, records in enumerate(parties):
        with naming(number, len(parties)):
            found.update(records.digest())
    return found.digest()


def count_parties(parties: Sequence[Records], *, without: Collection[int] = ()) -> int:
    """Records of all parties but some, whose numbers are counted from 1; after bounding."""
    total = 0
    for number, records in enumerate(parties):
        if number + 1 not in without:
            with naming(number, len(parties)):
                total += records.count()
    return total


def party_sums(parties: Sequence[Records], aggregate: Aggregate) -> tuple[Int64, ...]:
    """The exact sums of every party."""
    sums = []
    for number, records in enumerate(parties):
        with naming(number, len(parties)):
            sums.append(records.aggregate(aggregate))
    return tuple(sums)


def check_classes_named(query: Query, who: str) -> None:
    """Refuse a label whose other class nobody named: owners of single records, or of some, do not see what it is.

    Args:
        query: What is asked.
        who: Holds the records, for example "parties".

    Raises:
        ParameterError: there is one.
    """
    for column in columns_of(query.aggregate):
        if isinstance(column, Label) and column.negative is None:
            other = "negative='no'" if isinstance(column.positive[0], str) else "negative=0"
            raise ParameterError(
                f"{who} cannot compare which other class they mean; say the negative class, for example {other}"
            )


def no_sum(query: Query, who: str) -> str:
    """Why those who only add up cannot answer a query that is not linear, and what would work."""
    asked, instead = _INSTEAD.get(query.method, (query.method, "path"))
    reason = f"{asked} needs all records in one place, and {who}; use trust central"
    if isinstance(query, KernelQuery) and any(isinstance(kernel, InOrder) for kernel in query.measure.kernels):
        return reason  # of a record of each class nothing adds up
    return f"{reason}, or a method whose answers add up, such as method='{instead}'"


_INSTEAD = {"sparse_vector": ("five_numbers", "resample"), "kernel": ("kernel", "cells")}
"""For what is measured, the name by which it was asked for, and the method that adds up."""
