"""Opening an account: which row it is, that its records have no other account, and whom they are about."""

from __future__ import annotations

import base64
import dataclasses
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, delete, insert, select

from ogive.core.arrays import UInt64
from ogive.errors import LedgerError, plain, quoted
from ogive.ledger.books import Books, People, Spot
from ogive.ledger.entries import (
    PEOPLE_ROWS,
    WHOLE,
    DataSet,
    PeopleRow,
    Shared,
    damaged,
    now,
    people_row,
    plain_text,
    read_data_set,
    read_fingerprints,
    read_part,
    read_people,
)
from ogive.ledger.tables import DATA_SETS, META, SPENDS
from ogive.privacy import Privacy, PrivacyUnit

# --- Whom records are about: keyed hashes of persons, by which they are known again under another name
#
# Of each account and part the ledger keeps the smallest `MOST_HASHES` hashes, a random sample of its people and the
# same one wherever they appear. The sample is sealed and always of one length, so that without the key file it tells
# neither who nor how many they are. Whoever has ledger and key file can test whether a person is in the sample.
#
# Source: Broder, On the resemblance and containment of documents, 1997; bottom-k samples.

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
    """Refuse records of people who have another account, or are in another part; keep whom these are about."""
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


# --- Which row an account is, whether it is for these records, and that these records have no other account


@dataclass(frozen=True)
class Wanted:
    """What the opener of an account said about it.

    Fields:
        name: Of the data set.
        unit: Whose data are hidden; None to take the account's own.
        limit: What all releases together must keep; None to take the account's own.
    """

    name: str
    unit: PrivacyUnit | None
    limit: Privacy | None


def find_row(books: Books, connection: Connection, wanted: Wanted) -> DataSet | None:
    """The row of a data set, locked and compared with what is wanted; None where there is none."""
    books.database.lock_making(connection)
    query = select(DATA_SETS).where(DATA_SETS.c.name == wanted.name)
    result = connection.execute(query.with_for_update()).one_or_none()
    if result is None:
        return None
    row = read_data_set(result)
    books.locked(connection, row)
    check_unit(wanted.name, row.unit, wanted.unit)
    limit = wanted.limit
    if limit is not None and row.limit is None:
        books.check_limit(connection, row, limit)
        books.change(connection, row.id, spend_limit=plain_text(limit.to_dict()))
    elif limit is not None and row.limit != limit:
        raise LedgerError(
            f"the account {quoted(wanted.name)} has the limit {row.limit}, not {limit}; "
            "leave the limit out, or change it with `Account.set_limit`"
        )
    return row


def make_row(books: Books, connection: Connection, wanted: Wanted) -> DataSet:
    """A new data set's row; within the transaction that found none."""
    if wanted.unit is None:
        raise LedgerError(
            f"the ledger {plain(books.database.words)} has no account {quoted(wanted.name)}; declare the privacy "
            "unit when it is first used, for example `unit=PrivacyUnit(Adjacency.REPLACE)`"
        )
    connection.execute(
        insert(DATA_SETS).values(
            name=wanted.name,
            unit=plain_text(wanted.unit.to_dict()),
            spend_limit=None if wanted.limit is None else plain_text(wanted.limit.to_dict()),
            fingerprints=plain_text({}),
            created=now(),
        )
    )
    row = read_data_set(connection.execute(select(DATA_SETS).where(DATA_SETS.c.name == wanted.name)).one())
    books.locked(connection, row)
    books.advance(connection, row.id, settings=True)
    return row


def check_unit(name: str, kept: PrivacyUnit, unit: PrivacyUnit | None) -> None:
    """Refuse a unit that is not the account's."""
    if unit is not None and unit != kept and dataclasses.replace(unit, row_choice=kept.row_choice) == kept:
        raise LedgerError(
            f"the account {quoted(name)} chooses rows of a person by {quoted(kept.row_choice)}, and this release would "
            f"choose them by {quoted(unit.row_choice)}; give the choice of the account as `row_choice`"
        )
    if unit is not None and unit != kept:
        raise LedgerError(
            f"the account {quoted(name)} protects {plain(kept.words)}, and this release would protect "
            f"{plain(unit.words)}; release with the unit of the account"
        )


def claim(
    books: Books, connection: Connection, row: DataSet, spot: Spot, *, updated: bool = False, keep: bool = True
) -> None:
    """Compare a fingerprint with the one that is kept; keep it where there is none, or where data were updated."""
    kept = row.fingerprints
    fingerprint = spot.fingerprint
    if updated and fingerprint is None:
        # the data are others, and nobody says how to tell: any new text will do
        fingerprint = secrets.token_hex(32)
    known = fingerprint is not None and kept.get(spot.part) == fingerprint
    if known or fingerprint is None:
        claim_people(books, connection, spot, known=known, keep=keep or spot.part in kept)
        return
    refuse_second(connection, row.id, spot.part, fingerprint)
    if spot.part in kept and not updated:
        raise LedgerError(
            f"{spot.words} was opened for other data before; if these are newer or other data of the same people, "
            "use `updated=True`, which keeps the spends; use another name only for other people"
        )
    claim_people(books, connection, spot, known=False, keep=keep or spot.part in kept)
    if keep or spot.part in kept:
        books.change(connection, row.id, fingerprints=plain_text({**kept, spot.part: fingerprint}))


def refuse_new(books: Books, connection: Connection, spot: Spot) -> None:
    """Refuse a new account, or a part of it, for records or people that would get a second budget by it."""
    if spot.fingerprint is not None:
        refuse_second(connection, 0, spot.part, spot.fingerprint)
    claim_people(books, connection, spot, known=False, keep=False)


def refuse_second(connection: Connection, number: int, part: str, fingerprint: str) -> None:
    """Refuse records that have an account, or are another part, already: they would get a second budget.

    Records that an account had before an update count, too, if anything was spent on them.
    """
    rows = list(connection.execute(select(DATA_SETS.c.id, DATA_SETS.c.name, DATA_SETS.c.fingerprints)))
    owners = [
        (row.id, each)
        for row in rows
        for each, kept in read_fingerprints(row.fingerprints).items()
        if kept == fingerprint
    ]
    spends = select(SPENDS.c.data_set, SPENDS.c.part).where(SPENDS.c.fingerprint == fingerprint).distinct()
    owners += [(row.data_set, read_part(row.part)) for row in connection.execute(spends)]
    names = {row.id: row.name for row in rows}
    for owner, each in owners:
        # the whole and its part pay into one account, so that they may have the same records
        if owner != number or (part and each not in (WHOLE, part)):
            if owner not in names:
                raise damaged("an entry belongs to no account")
            name = names[owner]
            what = f"the account {quoted(name)}" + (f", part {quoted(each)}" if each else "")
            how = f"`name={quoted(name)}`" + (f" and `part={quoted(each)}`" if each else "")
            raise LedgerError(f"these records already have {what}; use it: {how}")
