"""Opening a ledger, and what is in it."""

from __future__ import annotations

import secrets
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, Row, insert, inspect, select

from ogive.errors import BudgetError, LedgerError, ParameterError
from ogive.ledger.account import Account, check_fingerprint
from ogive.ledger.books import Books, Spot
from ogive.ledger.database import Database
from ogive.ledger.entries import WHOLE, plain_text, read_entry, read_privacy, read_text
from ogive.ledger.keys import KEY_BYTES, Keys, key_path, make_key, read_key
from ogive.ledger.schema import DATA_SETS, META, TABLES, VERSION
from ogive.privacy import Privacy, PrivacyUnit, check_privacy

SCHEMA = "ogive.ledger/1"


class Ledger:
    """A durable list of what was spent on which data, shared by all who release from them.

    Comes from `Ledger.open`; also a context manager.
    """

    def __init__(self, books: Books) -> None:
        self._books = books

    @staticmethod
    def open(place: str | Path | None = None) -> Ledger:
        """Open a ledger, or make one where there is none.

        Args:
            place: A path or `sqlite:///path` for a file, whose key file is made beside it;
                `postgresql://user@host/name` for a database; None for one in memory that ends with the process.

        Raises:
            ParameterError: place is of no such form.
            LedgerError: it cannot be opened, its key file is missing, or it is of a newer version.
        """
        database = Database(place)
        if database.in_memory:
            keys = Keys(secrets.token_bytes(KEY_BYTES))
            with database.write() as connection:
                _make(connection, keys)
            return Ledger(Books(database, keys))
        database.make_file()
        path = key_path(database.default_key)
        with database.write() as connection:
            database.lock_making(connection)
            tables = inspect(connection).get_table_names()
            if META.name in tables:
                keys = _check(connection, database, path)
            elif tables and not database.postgres:
                raise LedgerError(f"the ledger {database.words} is a database of something else; name another file")
            else:
                keys = make_key(path)
                _make(connection, keys)
        database.log_ahead()
        return Ledger(Books(database, keys))

    @property
    def place(self) -> str:
        """Where the ledger is, without any password."""
        return self._books.database.words

    def account(
        self,
        name: str,
        *,
        unit: PrivacyUnit | None = None,
        limit: Privacy | None = None,
        fingerprint: str | None = None,
        updated: bool = False,
    ) -> Account:
        """Open a data set's account, or make it on first use.

        Args:
            name: Of the data set.
            unit: Whose data its releases hide; must be said on first use and be the same ever after.
            limit: What all releases together must keep; where one is set already it must be the same.
            fingerprint: Tells whether these are the data that were used before, from `fingerprint`; None if
                that is not to be checked.
            updated: These are newer data of the same people: take the new fingerprint, keep the spends.

        Raises:
            ParameterError: the name is empty.
            LedgerError: there is no such account and no unit was given, or unit, limit or fingerprint differ.
        """
        if not isinstance(name, str) or not name:
            raise ParameterError(f"an account's name must be a text, got {name!r}")
        if limit is not None:
            check_privacy(limit)

        def check(connection: Connection, row: Row[Any]) -> None:
            kept = PrivacyUnit.from_dict(read_text(row.unit))
            spot = Spot(row.id, name, WHOLE, None)
            if unit is not None:
                Account(self._books, spot, kept).check_unit(unit)
            if limit is not None and row.spend_limit is None:
                charges = self._books.charges(connection, row.id)
                if not charges.keep(limit, WHOLE):
                    raise BudgetError(
                        f"the account {name!r} has spent {charges.spent(None, WHOLE)}; its limit cannot be {limit}"
                    )
                self._books.change(connection, row.id, spend_limit=plain_text(limit.to_dict()))
            elif limit is not None and read_text(row.spend_limit) != limit.to_dict():
                raise LedgerError(
                    f"the account {name!r} has the limit {read_privacy(row.spend_limit)}, not {limit}; "
                    "leave the limit out, or change it with Account.set_limit"
                )
            check_fingerprint(self._books, connection, row, spot, fingerprint, updated=updated)

        row = self._books.open_data_set(name, unit=unit, limit=limit, check=check)
        return self._account(row, fingerprint)

    def accounts(self) -> tuple[Account, ...]:
        """All accounts, in the order of their names."""
        with self._books.database.read() as connection:
            rows = list(connection.execute(select(DATA_SETS).order_by(DATA_SETS.c.name)))
        return tuple(self._account(row, None) for row in rows)

    def fingerprint(self, digest: bytes) -> str:
        """Turn a digest of data into a text that reveals nothing to who lacks the ledger's key file.

        A bare digest would let anybody who can guess the data check the guess.

        Args:
            digest: Of the data, for example SHA-256 of a file.
        """
        return self._books.keys.fingerprint(digest)

    def export(self) -> dict[str, Any]:
        """Everything but secrets, as plain data with exact numbers."""
        accounts = []
        for account in self.accounts():
            limit, spent, left = account.limit, account.spent, account.remaining
            rows = self._books.spends(account._spot.number, None)
            accounts.append(
                {
                    "name": account.name,
                    "unit": account.unit.to_dict(),
                    "limit": None if limit is None else limit.to_dict(),
                    "spent": None if spent is None else spent.to_dict(),
                    "remaining": None if left is None else left.to_dict(),
                    "entries": [
                        {
                            **read_entry(row).to_dict(),
                            "estimate": None if row.estimate is None else read_text(row.estimate),
                        }
                        for row in rows
                    ],
                }
            )
        return {"schema": SCHEMA, "accounts": accounts}

    def close(self) -> None:
        """Close the ledger; one in memory is gone."""
        self._books.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _account(self, row: Row[Any], fingerprint: str | None) -> Account:
        spot = Spot(row.id, row.name, WHOLE, fingerprint)
        return Account(self._books, spot, PrivacyUnit.from_dict(read_text(row.unit)))


def _make(connection: Connection, keys: Keys) -> None:
    TABLES.create_all(connection, checkfirst=False)
    rows = [{"name": "version", "value": str(VERSION)}, {"name": "key_check", "value": keys.check}]
    connection.execute(insert(META), rows)


def _check(connection: Connection, database: Database, path: Path) -> Keys:
    """Compare version and key of a ledger that exists.

    Raises:
        LedgerError: it is of a newer version, or its key file is missing or another's.
    """
    kept = {row.name: row.value for row in connection.execute(select(META))}
    version = kept.get("version", "")
    if not version.isdecimal():
        raise LedgerError(f"the ledger {database.words} is damaged: it has no version; restore it from a backup")
    if int(version) > VERSION:
        raise LedgerError(
            f"the ledger {database.words} is of version {version}, and this library reads up to {VERSION}; "
            "upgrade ogive"
        )
    keys = read_key(path)
    if kept.get("key_check") != keys.check:
        raise LedgerError(f"{path} is the key file of another ledger than {database.words}; find the right one")
    return keys
