"""Which row an account is, whether it is for these records, and that these records have no other account."""

from __future__ import annotations

import dataclasses
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection, insert, select

from ogive.errors import BudgetError, LedgerError, plain, quoted
from ogive.ledger.entries import WHOLE, DataSet, damaged, now, plain_text, read_data_set, read_fingerprints, read_part
from ogive.ledger.people import claim_people
from ogive.ledger.schema import DATA_SETS, SPENDS
from ogive.privacy import Privacy, PrivacyUnit

if TYPE_CHECKING:
    from ogive.ledger.books import Books, Spot


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
    """The row of a data set, locked and compared with what is wanted; None where there is none.

    Raises:
        BudgetError: more than the limit is spent already.
        LedgerError: unit or limit are others.
    """
    books.database.lock_making(connection)
    query = select(DATA_SETS).where(DATA_SETS.c.name == wanted.name)
    found = connection.execute(query.with_for_update()).one_or_none()
    if found is None:
        return None
    row = read_data_set(found)
    books.locked(connection, row)
    check_unit(wanted.name, row.unit, wanted.unit)
    limit = wanted.limit
    if limit is not None and row.limit is None:
        charges = books.charges(connection, row.id, data_set=row)
        if not charges.keep(limit, WHOLE):
            raise BudgetError(
                f"the account {quoted(wanted.name)} has spent {charges.spent(None, WHOLE)}; its limit cannot be {limit}"
            )
        books.change(connection, row.id, spend_limit=plain_text(limit.to_dict()))
    elif limit is not None and row.limit != limit:
        raise LedgerError(
            f"the account {quoted(wanted.name)} has the limit {row.limit}, not {limit}; "
            "leave the limit out, or change it with `Account.set_limit`"
        )
    return row


def make_row(books: Books, connection: Connection, wanted: Wanted) -> DataSet:
    """A new data set's row; within the transaction that found none.

    Raises:
        LedgerError: nobody said whose data it counts.
    """
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
    """Refuse a unit that is not the account's.

    Raises:
        LedgerError: it is another.
    """
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
    """Compare a fingerprint with the one that is kept; keep it where there is none, or where data were updated.

    Args:
        books: The tables.
        connection: A transaction that holds the lock of making.
        row: The data set's.
        spot: Says part and fingerprint.
        updated: Take another fingerprint.
        keep: Whether a first fingerprint is kept now; else it is only looked at.

    Raises:
        LedgerError: it is another, or these records or their people have another account.
    """
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
    """Refuse a new account, or a part of it, for records or people that would get a second budget by it.

    Raises:
        LedgerError: they would.
    """
    if spot.fingerprint is not None:
        refuse_second(connection, 0, spot.part, spot.fingerprint)
    claim_people(books, connection, spot, known=False, keep=False)


def refuse_second(connection: Connection, number: int, part: str, fingerprint: str) -> None:
    """Refuse records that have an account, or are another part, already: they would get a second budget.

    Records that an account had before an update count, too, if anything was spent on them.

    Args:
        connection: A transaction that holds the lock of making.
        number: Of the data set that these records are to belong to; 0 if it is new.
        part: Of it.
        fingerprint: Of the records.

    Raises:
        LedgerError: they have.
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
