"""Whom an account's records are about: keyed hashes of persons, by which they are known again under another name.

Of each account and part the ledger keeps the smallest `MOST_HASHES` hashes, a random sample of its people and the
same one wherever they appear. The sample is sealed and always of one length, so that without the key file it tells
neither who nor how many they are. Whoever has ledger and key file can test whether a person is in the sample.

Source: Broder, On the resemblance and containment of documents, 1997; bottom-k samples.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator

import numpy as np
from sqlalchemy import Connection, delete, insert, select

from ogive.arrays import UInt64
from ogive.errors import LedgerError, quoted
from ogive.ledger.books import Books, People, Spot
from ogive.ledger.entries import (
    PEOPLE_ROWS,
    WHOLE,
    PeopleRow,
    Shared,
    damaged,
    people_row,
    plain_text,
    read_people,
)
from ogive.ledger.schema import DATA_SETS, META, SPENDS

MOST_HASHES = 4096
"""Of how many persons hashes are kept; of fewer persons all are kept, and comparisons are exact."""

LEAST_SEEN = 10
"""How many common hashes it takes to call two larger tables mostly the same people; by chance there are none."""

Hasher = Callable[..., UInt64]
"""Called with `key` and `count`: the smallest hashes of all persons of a table, sorted and all different."""

_COUNT_BYTES = 4


def sample(
    books: Books, name: str, part: str, fingerprint: str | None, hasher: Hasher | None, *, others: bool
) -> People | None:
    """Hash the people of an account's records where the ledger does not know them yet; None where it does."""
    if hasher is None:
        return None
    number = books.number_of(name)
    with books.database.read() as connection:
        own = _own(connection, number, part) if number else None
    if own is not None and fingerprint is not None and own.fingerprint == fingerprint:
        return None
    return People(hasher(key=books.keys.people, count=MOST_HASHES), others)


def claim_people(books: Books, connection: Connection, spot: Spot, *, known: bool, keep: bool) -> None:
    """Refuse records of people who have another account, or are in another part; keep whom these are about.

    Args:
        books: The tables.
        connection: A transaction that holds the lock of making.
        spot: Says account and part, and whom its records are about; number 0 where the account is new.
        known: Whether these records had this account already. If they were spent on and their people were not kept,
            by an earlier version of the library, that they have another account is noted and not refused.
        keep: Whether they are kept now; else they are only looked at.

    Raises:
        LedgerError: they are mostly the people of another account, or one of them is in another part.
    """
    if spot.people is None:
        return
    own = _own(connection, spot.number, spot.part) if spot.number else None
    if own is not None and spot.fingerprint is not None and own.fingerprint == spot.fingerprint:
        return
    shared = () if own is None else own.shared
    excused = {(each.account, each.part) for each in shared}
    noted = spot.people.others or (known and own is None and _spent(connection, spot))
    names = {row.id: row.name for row in connection.execute(select(DATA_SETS.c.id, DATA_SETS.c.name))}
    for kept in _all(connection):
        if kept.number not in names:
            raise damaged("people belong to no account")
        account = names[kept.number]
        if (account, kept.part or None) in excused or not _rivals(spot, kept):
            continue
        words = _compared(spot, account, kept, _unsealed(books, kept))
        if words is None:
            continue
        if not noted:
            raise LedgerError(words)
        shared += (Shared(account, kept.part or None, declared=spot.people.others),)
    if keep:
        before = np.empty(0, np.uint64) if own is None else _unsealed(books, own)
        hashes = np.union1d(before, spot.people.hashes)[:MOST_HASHES]
        _write(books, connection, spot, hashes, shared)


def shared_people(connection: Connection, number: int, part: str) -> tuple[Shared, ...]:
    """The accounts and parts that share people with an account and its parts, or with one part."""
    kept = [each for each in _all(connection, number) if part in (WHOLE, each.part)]
    return tuple(dict.fromkeys(shared for each in kept for shared in each.shared))


def _spent(connection: Connection, spot: Spot) -> bool:
    of_spot = (SPENDS.c.data_set == spot.number) & (SPENDS.c.part == spot.part)
    return connection.execute(select(SPENDS.c.id).where(of_spot).limit(1)).first() is not None


def _rivals(spot: Spot, kept: PeopleRow) -> bool:
    """Whether people in both would have two budgets; a data set and its part share one account."""
    if kept.number != spot.number:
        return True
    return WHOLE not in (kept.part, spot.part) and kept.part != spot.part


def _compared(spot: Spot, account: str, kept: PeopleRow, theirs: UInt64) -> str | None:
    """Why the records must not have a budget of their own beside another account or part; None if they may."""
    assert spot.people is not None
    common, ours_seen, theirs_seen, exact = overlap(spot.people.hashes, theirs)
    about = "" if exact else "about "
    if kept.number == spot.number:
        if not common:
            return None
        return (
            f"{about}{_percent(common, ours_seen)} of the people in these records are in the part "
            f"{quoted(kept.part)} too, but the parts of a data set together cost only the largest of their spends if "
            "no person is in two; remove them from one part, or release from the whole data set; if the ids denote "
            "other people, use `other_people=True`"
        )
    if common < (1 if exact else LEAST_SEEN) or 2 * common <= min(ours_seen, theirs_seen):
        return None
    other = f"the account {quoted(account)}" + (f", part {quoted(kept.part)}," if kept.part else "")
    how = f"`name={quoted(account)}`" + (f" and `part={quoted(kept.part)}`" if kept.part else "")
    if 2 * common > ours_seen:
        who = f"{about}{_percent(common, ours_seen)} of the people in these records have {other} already"
    else:
        who = f"{about}{_percent(common, theirs_seen)} of the people of {other} are in these records"
    return (
        f"{who} and would get a second budget; use that account: {how}, with `updated=True` if these are newer "
        "records; if the ids denote other people, or a second budget is intended, use `other_people=True`"
    )


def overlap(one: UInt64, other: UInt64) -> tuple[int, int, int, bool]:
    """How many people two samples have in common, of how many of each that are comparable; and whether all are.

    Below the smaller of the two samples' largest hashes both hold everybody, so that shares there are shares of all.
    """
    exact = len(one) < MOST_HASHES and len(other) < MOST_HASHES
    ends = [each[-1] for each in (one, other) if len(each) >= MOST_HASHES]
    if ends:
        one, other = (each[: np.searchsorted(each, min(ends), side="right")] for each in (one, other))
    return len(np.intersect1d(one, other, assume_unique=True)), len(one), len(other), exact


def _percent(common: int, seen: int) -> str:
    share = 100 * common / max(seen, 1)
    return f"{share:.0f} %" if share >= 1 else "less than 1 %"


def _own(connection: Connection, number: int, part: str) -> PeopleRow | None:
    name = people_row(number, part)
    value = connection.execute(select(META.c.value).where(META.c.name == name)).scalar()
    return None if value is None else read_people(name, value)


def _all(connection: Connection, number: int | None = None) -> Iterator[PeopleRow]:
    """Rows of every account and part, or of those of one data set."""
    prefix = PEOPLE_ROWS if number is None else f"{PEOPLE_ROWS}{number} "
    query = select(META).where(META.c.name.startswith(prefix, autoescape=True)).order_by(META.c.name)
    for row in list(connection.execute(query)):
        yield read_people(row.name, row.value)


def _write(books: Books, connection: Connection, spot: Spot, hashes: UInt64, shared: tuple[Shared, ...]) -> None:
    content = len(hashes).to_bytes(_COUNT_BYTES, "little") + hashes.astype("<u8").tobytes()
    name = people_row(spot.number, spot.part)
    # of one length, whatever the number of persons
    sealed = books.keys.seal(content.ljust(_COUNT_BYTES + 8 * MOST_HASHES, b"\0"), name)
    value = {
        "part": spot.part,
        "fingerprint": spot.fingerprint,
        "shared": [each.to_dict() for each in shared],
        "sealed": base64.b64encode(sealed).decode(),
    }
    connection.execute(delete(META).where(META.c.name == name))
    connection.execute(insert(META).values(name=name, value=plain_text(value)))
    books.advance(connection, spot.number)


def _unsealed(books: Books, kept: PeopleRow) -> UInt64:
    content = books.keys.unseal(kept.sealed, kept.name)
    count = int.from_bytes(content[:_COUNT_BYTES], "little")
    return np.frombuffer(content, "<u8", count=count, offset=_COUNT_BYTES).astype(np.uint64)
