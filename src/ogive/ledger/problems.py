"""What went wrong with a database, in one line."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from ogive.errors import LedgerError, plain

# parts of SQLite's and PostgreSQL's messages, and what their user can do
_LOCKED = "is locked by another process; try again when that has ended"
_READ_ONLY = "is read-only for this user; ask for the right to write to it"
_FULL = "cannot be written: the disk is full or broken"
_CLOSED = "cannot be opened; check that its folder exists and that this user may write there"
DAMAGED = "is damaged; restore it from a backup"
_WORDS = {
    "database is locked": _LOCKED,
    "database table is locked": _LOCKED,
    "lock timeout": _LOCKED,
    "readonly database": _READ_ONLY,
    "read-only": _READ_ONLY,
    "permission denied": _READ_ONLY,
    "is not a database": "is not a {called}: it is a file of another kind",
    "disk is full": _FULL,
    "disk i/o error": _FULL,
    "no space left": _FULL,
    "could not extend file": _FULL,
    "could not write": _FULL,
    "malformed": DAMAGED,
    "could not decode to utf-8": DAMAGED,
    "unable to open database file": _CLOSED,
    "connection refused": "cannot be reached; check that its server runs, and its host and port",
    "timeout expired": "cannot be reached; check that its server runs, and its host and port",
    "server closed the connection": "cannot be reached; check that its server runs, and its host and port",
    "password authentication failed": "refuses this user and password",
}


_CONFLICTS = ("40001", "40P01")  # PostgreSQL's states: a serialization failure, a deadlock


class ConflictError(LedgerError):
    """A transaction was undone by the database because of another one at the same time; it can be tried again."""


@contextmanager
def in_words(place: str, called: str = "ledger") -> Iterator[None]:
    """Turn a database's errors into a `LedgerError` of one line that names the ledger.

    Args:
        place: Where it is.
        called: What is kept there, if it is no ledger.

    Raises:
        ConflictError: the transaction may be tried again.
    """
    try:
        yield
    except DBAPIError as problem:
        if getattr(problem.orig, "sqlstate", None) in _CONFLICTS:
            raise ConflictError(f"the {called} {plain(place)} is in use by too many at once; try again") from None
        raise LedgerError(f"the {called} {plain(place)} {plain(_describe(str(problem.orig), called))}") from None
    except (SQLAlchemyError, sqlite3.Error) as problem:
        raise LedgerError(f"the {called} {plain(place)} {plain(_describe(str(problem), called))}") from None
    except UnicodeDecodeError:  # of the driver, whose own message quotes damaged bytes
        raise LedgerError(f"the {called} {plain(place)} {DAMAGED}") from None


def _describe(message: str, called: str) -> str:
    for needle, words in _WORDS.items():
        if needle in message.lower():
            return words.format(called=called)
    first = " ".join(message.split("\n")[0].split("FATAL:")[-1].split())
    return f"cannot be used: {first[:300]}"
