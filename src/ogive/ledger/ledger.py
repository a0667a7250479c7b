"""The ledger itself: opening it, going on with an older copy, and its accounts."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, delete, insert, inspect, select, text, update
from sqlalchemy.schema import CreateIndex

from ogive.accounting import at_least
from ogive.errors import LedgerError, ParameterError, plain, quoted
from ogive.ledger.account import Account, Hasher, Wanted, claim, find_row, make_row, refuse_new, sample
from ogive.ledger.database import Database, retried
from ogive.ledger.entries import (
    KEY_BYTES,
    LOST,
    WHOLE,
    DataSet,
    Keys,
    now,
    plain_text,
    question_digest,
    read_charge,
    read_data_set,
    read_spend,
)
from ogive.ledger.mark import (
    KEY_VARIABLE,
    Line,
    Mark,
    Noted,
    draft_of,
    key_path,
    make_key,
    mark_path,
    read_key,
    set_aside,
    settle_key,
)
from ogive.ledger.tables import CHARGES, DATA_SETS, META, SPENDS, TABLES, VERSION, Change, revision_name
from ogive.ledger.transactions import LedgerTables, Spot
from ogive.privacy import Privacy, PrivacyUnit, check_privacy

# --- Comparing a ledger with its mark, and going on with an older copy: what it lost counts as spent

IDENTITY, LATE_IDENTITY = "ledger", "mark"
"""Names in META of a ledger's identity: of one that was made with it, and of one that got it with its mark."""


def identity_of(connection: Connection, values: dict[str, str], mark: Mark) -> str:
    """Which ledger this is.

    One of an older version has no identity. It gets one from its first account. Before it has any, it is taken for an
    older copy of such a ledger, if the mark knows one.
    """
    named = values.get(IDENTITY) or values.get(LATE_IDENTITY)
    if named:
        return named
    query = select(DATA_SETS.c.name, DATA_SETS.c.created).order_by(DATA_SETS.c.id).limit(1)
    first = connection.execute(query).one_or_none()
    if first is not None:
        text = plain_text([values.get("key_check", ""), first.name, first.created])
        return hashlib.sha256(text.encode()).hexdigest()[:32]
    return next(iter(mark.unnamed), secrets.token_hex(16))


ReadCharges = dict[int, dict[str, str]]
"""Charges of spends by account and release id, read once in a transaction."""


def check_newest(tables: LedgerTables, connection: Connection) -> ReadCharges:
    """Refuse a ledger that lacks what the mark had before this transaction; the charges that were read for it."""
    assert tables.mark is not None
    read: ReadCharges = {}
    rows = {row.name: row for row in map(read_data_set, connection.execute(select(DATA_SETS)))}
    for name, noted in tables.mark.accounts(tables.identity).items():
        if name not in rows:
            raise tables.behind()
        number = rows[name].id
        read[number] = tables.charged(connection, number)
        if tables.lacks(connection, number, noted, anew=True, charges=read[number]):
            raise tables.behind()
    return read


def unnoted(tables: LedgerTables, connection: Connection, read: ReadCharges) -> list[Line]:
    """What the mark lacks of a whole ledger: changes of other machines, of who was killed, and of older libraries."""
    assert tables.mark is not None
    accounts = tables.mark.accounts(tables.identity)
    changes: dict[int, Change] = {}
    for row in map(read_data_set, list(connection.execute(select(DATA_SETS)))):
        revision = tables.revision(connection, row.id)
        # also where the revision is known: older libraries spend and count none
        changes[row.id] = tables.unnoted(connection, row, accounts.get(row.name, Noted()), revision, read.get(row.id))
    return tables.lines(connection, changes)


def write_off(tables: LedgerTables, connection: Connection) -> tuple[list[str], list[Line]]:
    """Charge as spent what the mark lists and an older copy of the ledger lacks.

    Releases in progress are closed, because their noise may have met the records that were bound later. Limits and
    fingerprints become what they were last.
    """
    assert tables.mark is not None
    sentences, lines = [], []
    for name, noted in sorted(tables.mark.accounts(tables.identity).items()):
        query = select(DATA_SETS).where(DATA_SETS.c.name == name)
        row = connection.execute(query.with_for_update()).one_or_none()
        if row is not None and not tables.lacks(connection, read_data_set(row).id, noted, anew=True):
            continue
        if row is None:
            values = {**noted.settings, "name": name, "created": now()}
            connection.execute(insert(DATA_SETS).values(**values))
            row = connection.execute(query).one()
        sentence, line = _write_off(tables, connection, read_data_set(row), noted)
        sentences.append(sentence)
        lines += [line] if line.spends else []
    return sentences, lines


def _write_off(tables: LedgerTables, connection: Connection, row: DataSet, noted: Noted) -> tuple[str, Line]:
    rows = connection.execute(select(SPENDS).where(SPENDS.c.data_set == row.id))
    known = {spend.release_id: spend for spend in map(read_spend, rows)}
    revision = tables.revision(connection, row.id)
    if noted.settled > revision:
        last = {"spend_limit": noted.settings["spend_limit"], "fingerprints": noted.settings["fingerprints"]}
        connection.execute(update(DATA_SETS).where(DATA_SETS.c.id == row.id).values(**last))
    for begun in known.values():
        if begun.secret is not None:
            # under a question that nobody asks, so that asking again is paid anew
            question = plain_text({**begun.question, "lost": begun.release_id})
            closed = {
                "state": LOST,
                "secret": None,
                "bound": None,
                "question": question,
                "digest": question_digest(question),
            }
            connection.execute(update(SPENDS).where(SPENDS.c.id == begun.id).values(**closed))
    lost = {}
    for release_id, spend in noted.spends.items():
        if release_id not in known:
            _book(connection, row.id, release_id, spend)
        elif not at_least(known[release_id].charge, read_charge(spend["charge"])):
            connection.execute(update(SPENDS).where(SPENDS.c.release_id == release_id).values(charge=spend["charge"]))
        else:
            continue
        lost[release_id] = spend
    connection.execute(delete(META).where(META.c.name == revision_name(row.id)))
    ahead = max(revision, noted.revision) + 1
    connection.execute(insert(META).values(name=revision_name(row.id), value=str(ahead)))
    words = {0: "no spend was lost", 1: "1 lost spend counts as spent"}
    sentence = f"{quoted(row.name)}: {words.get(len(lost), f'{len(lost)} lost spends count as spent')}"
    # so that a copy from before this restoration is older than what the mark lists last
    return sentence, Line(row.name, ahead, spends=lost)


def _book(connection: Connection, number: int, release_id: str, spend: dict[str, str]) -> None:
    """Enter a lost spend in the ledger, with a placeholder for its question, which is not known."""
    question = plain_text({"statistic": {"name": spend["statistic"]}, "lost": release_id})
    values = {**spend, "data_set": number, "release_id": release_id, "question": question, "state": LOST}
    values["digest"] = question_digest(question)
    connection.execute(insert(SPENDS).values(**values))


# --- The ledger

SCHEMA = "ogive.ledger/1"

_VERSION = re.compile(r"[0-9]{1,9}")


class Ledger:
    """A durable record of the charges on each data set, shared by everybody who releases from it.

    Open one with `Ledger.open`, which also works as a context manager.
    """

    def __init__(self, tables: LedgerTables, *, begun: bool = False) -> None:
        self._tables = tables
        self.begun = begun
        """Whether there was no such ledger before."""

    @staticmethod
    def open(place: str | Path | None = None, *, read_only: bool = False) -> Ledger:
        """Open a ledger, or create one if there is none.

        Args:
            place: A path or `sqlite:///path` for a file, with its key file created next to it;
                `postgresql://user@host/name` for a database; None for a ledger in memory that ends with the process.
            read_only: Open an existing ledger for reading only; the place need not be writable.

        Raises:
            ParameterError: place has none of these forms.
            LedgerError: the ledger cannot be opened, its key file is missing, it was written by a newer version, it is
                missing or empty although its key file exists, or it is an older copy than its mark records.
        """
        database = Database(place, read_only=read_only)
        if database.in_memory:
            keys = Keys(secrets.token_bytes(KEY_BYTES))
            with database.write() as connection:
                _make(connection, keys, secrets.token_hex(16))
            return Ledger(LedgerTables(database, keys), begun=True)
        database.check_one_name()
        path = key_path(database.default_key)
        if read_only:
            return Ledger(_read(database, path))
        check_not_lost(database)
        identity = secrets.token_hex(16)

        def make(connection: Connection) -> None:
            keys = make_key(path, identity)
            set_aside(mark_path(path), keys.mark)
            _make(connection, keys, identity)

        begun = database.make_file(make)
        with database.write() as connection:
            database.lock_making(connection)
            names = inspect(connection).get_table_names()
            if META.name not in names:
                if names and not database.postgres:
                    raise LedgerError(
                        f"the ledger {plain(database.words)} is a database of something else; name another file"
                    )
                if path.exists() and not _is_other(database, path):
                    raise _lost(database, path)
                make(connection)
                begun = True
        tables = _opened(database, path)
        assert tables.mark is not None
        with database.read() as connection:
            lines = unnoted(tables, connection, check_newest(tables, connection))
            indexed = database.postgres or _has_index(connection)
        tables.mark.note(tables.identity, lines)
        database.log_ahead()
        if not indexed:  # of an earlier version; without it the ledger works, too
            with contextlib.suppress(LedgerError), database.write() as connection:
                connection.execute(CreateIndex(CHARGES, if_not_exists=True))
        return Ledger(tables, begun=begun)

    @staticmethod
    def restore(place: str | Path) -> tuple[str, ...]:
        """Continue with an older copy of a ledger, for example a backup. Charges that the copy lacks count as spent.

        The mark next to the key file records what was charged after the copy was made. These charges are entered, with
        the limits and fingerprints of the mark. Unfinished releases are closed. Lost answers stay lost, and asking
        again is charged again. The mark records the charges of this machine, and those of other machines as of its
        last charge or opening. Each other machine must restore the same database with its own mark before any further
        charge.

        Args:
            place: As for `open`.

        Returns:
            A sentence for each account that was corrected; empty if the ledger is not behind its mark.

        Raises:
            ParameterError: place has none of these forms.
            LedgerError: as for `open`, except that an older copy is accepted.
        """
        database = Database(place)
        if database.in_memory:
            raise ParameterError("a ledger in memory has no copies")
        check_exists(database)
        with database.read() as connection:
            _check_tables(connection, database)
        tables = _opened(database, key_path(database.default_key))
        with database.write() as connection:
            database.lock_making(connection)
            sentences, lines = write_off(tables, connection)
        assert tables.mark is not None, "ledgers that are stored have one"
        tables.mark.note(tables.identity, lines)
        Ledger.open(place).close()  # which notes the rest
        return tuple(sentences)

    @property
    def place(self) -> str:
        """Place of the ledger, without any password."""
        return self._tables.database.words

    @retried
    def account(
        self,
        name: str,
        *,
        unit: PrivacyUnit | None = None,
        limit: Privacy | None = None,
        fingerprint: str | None = None,
        updated: bool = False,
        people: Hasher | None = None,
        other_people: bool = False,
        lazy: bool = False,
    ) -> Account:
        """Open the account of a data set, or create it on first use.

        Args:
            name: Of the data set.
            unit: Privacy unit of its releases; required on first use and the same from then on.
            limit: Guarantee that all releases together must satisfy; if a limit is set already, it must be the same.
            fingerprint: From `fingerprint`; checks that these are the data used before. None skips the check.
            updated: These are newer data of the same people: accept the new fingerprint and keep the charges.
            people: Function that hashes the persons of the data. It takes a `key` of 32 bytes and a `count`, and
                returns the smallest `count` distinct keyed hashes, sorted, as `Records.person_hashes` does. It is
                called only if the account is new or was used for other data. None skips the comparison of persons.
            other_people: Create the account although another one has mostly the same person identifiers: here they
                identify different people, or a second budget is intended. The declaration is recorded and appears in
                statements.
            lazy: Create a new account with its first charge, not now, so that an unused account leaves no trace. The
                first fingerprint is stored then, too.

        Raises:
            ParameterError: the name is empty.
            LedgerError: there is no such account and no unit was given; or unit, limit or fingerprint differ; or the
                data, or most of the persons in them, already have another account.
        """
        if not isinstance(name, str) or not name:
            raise ParameterError(f"an account's name must be a text, got {quoted(name)}")
        if limit is not None:
            check_privacy(limit)

        tables, wanted = self._tables, Wanted(name, unit, limit)
        crowd = sample(tables, name, WHOLE, fingerprint, people, others=other_people)
        with tables.writing() as connection:
            row = find_row(tables, connection, wanted)
            if row is None and lazy and unit is not None:
                spot = Spot(0, name, WHOLE, fingerprint, crowd)
                refuse_new(tables, connection, spot)
                return Account(tables, spot, unit, wanted=wanted)
            if row is None:
                row = make_row(tables, connection, wanted)
            spot = Spot(row.id, name, WHOLE, fingerprint, crowd)
            claim(tables, connection, row, spot, updated=updated, keep=not lazy)
        account = Account(tables, spot, row.unit)
        if lazy and fingerprint is not None:
            account._wanted = Wanted(name, account.unit, None)
        return account

    def accounts(self) -> tuple[Account, ...]:
        """All accounts, in the order of their names."""
        with self._tables.database.read() as connection:
            rows = [read_data_set(row) for row in connection.execute(select(DATA_SETS).order_by(DATA_SETS.c.name))]
        return tuple(Account(self._tables, Spot(row.id, row.name, WHOLE, None), row.unit) for row in rows)

    def fingerprint(self, digest: bytes) -> str:
        """Turn a digest of data into a text that reveals nothing without the ledger's key file.

        An unkeyed digest would let anybody test a guess of the data.

        Args:
            digest: Of the data, for example SHA-256 of a file.
        """
        return self._tables.keys.fingerprint(digest)

    def export(self) -> dict[str, Any]:
        """Everything but secrets, as plain data with exact numbers."""
        accounts = []
        for account in self.accounts():
            limit, spent, left = account.limit, account.spent, account.remaining
            spends = self._tables.numbered(account._spot.number, None)
            shared = [each.to_dict() for each in account.shared_people]
            accounts.append(
                {
                    "name": account.name,
                    "unit": account.unit.to_dict(),
                    "limit": None if limit is None else limit.to_dict(),
                    "spent": None if spent is None else spent.to_dict(),
                    "remaining": None if left is None else left.to_dict(),
                    **({"shared_people": shared} if shared else {}),
                    "entries": [
                        {**spend.entry(number).to_dict(), "estimate": spend.recorded()} for number, spend in spends
                    ],
                }
            )
        return {"schema": SCHEMA, "accounts": accounts}

    def close(self) -> None:
        """Close the ledger; a ledger in memory is lost."""
        self._tables.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _has_index(connection: Connection) -> bool:
    query = text("SELECT count(*) FROM sqlite_master WHERE type = 'index' AND name = :name")
    return bool(connection.execute(query, {"name": CHARGES.name}).scalar_one())


def _make(connection: Connection, keys: Keys, identity: str) -> None:
    TABLES.create_all(connection, checkfirst=False)
    values = {"version": str(VERSION), "key_check": keys.check, IDENTITY: identity}
    connection.execute(insert(META), [{"name": name, "value": value} for name, value in values.items()])


def check_not_lost(database: Database) -> None:
    """Refuse a file that is missing or empty although its key file is there: it was used before, so it was lost."""
    if database.path is None:
        return
    path = key_path(database.default_key)
    # the key file appears after the ledger, so whoever sees it first and then no ledger sees a loss
    if not path.exists() or (database.path.exists() and (database.path.is_dir() or database.path.stat().st_size)):
        return
    if not _is_other(database, path):
        raise _lost(database, path)


def _is_other(database: Database, path: Path) -> bool:
    """Whether a key file is known to be of other ledgers alone, so that another one may be made with it."""
    if path == database.default_key:
        return False
    mark = Mark(mark_path(path), read_key(path).mark)
    mark.refresh()
    return bool(mark.places) and database.identity not in mark.places


def _lost(database: Database, path: Path) -> LedgerError:
    if path != database.default_key:
        return LedgerError(
            f"the ledger {database.words} is missing or empty, and its key file {path} may belong to it; restore a "
            f"backup of the ledger, or name another key file in {KEY_VARIABLE} for a new one"
        )
    return LedgerError(
        f"the ledger {database.words} is missing or empty, but its key file {path} exists, so it was used before; "
        "restore a backup of the ledger, or move the key file away to start a new ledger on purpose"
    )


def check_exists(database: Database) -> None:
    """Refuse a file that is missing, a folder, or may not be read."""
    check_not_lost(database)
    if database.path is None:
        return
    if not database.path.exists():
        raise LedgerError(f"there is no ledger {plain(database.words)}")
    if database.path.is_dir():
        raise LedgerError(f"the ledger {plain(database.words)} cannot be opened: it is a folder")
    if not os.access(database.path, os.R_OK):
        raise LedgerError(f"the ledger {plain(database.words)} cannot be opened: Permission denied")


def _check_tables(connection: Connection, database: Database) -> None:
    """Refuse a database in which no ledger was made."""
    if META.name not in inspect(connection).get_table_names():
        raise LedgerError(f"there is no ledger in {plain(database.words)}")


def _read(database: Database, path: Path) -> LedgerTables:
    """A ledger that is only looked at: compared with its mark, which is left as it is."""
    check_exists(database)
    with database.read() as connection:
        _check_tables(connection, database)
        values = _kept(connection)
    keys = _check(values, database, path, settle=False)
    mark = Mark(mark_path(path), keys.mark)
    mark.refresh()
    with database.read() as connection:
        tables = LedgerTables(database, keys, mark, identity_of(connection, values, mark))
        check_newest(tables, connection)
    return tables


def _opened(database: Database, path: Path) -> LedgerTables:
    """A ledger that exists, with its key file and its mark as they were at the last change."""
    with database.read() as connection:
        values = _kept(connection)
    keys = _check(values, database, path, settle=True)
    mark = Mark(mark_path(path), keys.mark)
    mark.refresh()
    unnamed = IDENTITY not in values
    if unnamed and LATE_IDENTITY not in values:
        with database.write() as connection:
            database.lock_making(connection)
            values = _kept(connection)
            identity = identity_of(connection, values, mark)
            if LATE_IDENTITY not in values:
                connection.execute(insert(META).values(name=LATE_IDENTITY, value=identity))
    else:
        identity = values[LATE_IDENTITY if unnamed else IDENTITY]
    if mark.place(identity) != database.identity:
        mark.begin(identity, database.identity, unnamed=unnamed)
    return LedgerTables(database, keys, mark, identity)


def _kept(connection: Connection) -> dict[str, str]:
    wanted = ("version", "key_check", IDENTITY, LATE_IDENTITY)
    rows = connection.execute(select(META).where(META.c.name.in_(wanted)))
    return {row.name: row.value for row in rows if isinstance(row.name, str) and isinstance(row.value, str)}


def _check(values: dict[str, str], database: Database, path: Path, *, settle: bool) -> Keys:
    """Compare version and key of a ledger that exists; finish making its key file if that was cut off."""
    version = values.get("version", "")
    if not _VERSION.fullmatch(version):
        raise LedgerError(f"the ledger {plain(database.words)} is damaged: it has no version; restore it from a backup")
    if int(version) > VERSION:
        raise LedgerError(
            f"the ledger {plain(database.words)} is of version {version}, and this library reads up to {VERSION}; "
            "upgrade ogive"
        )
    if settle:
        settle_key(path, values.get("key_check", ""), values.get(IDENTITY))
    keys = read_key(path if path.exists() or not draft_of(path).exists() else draft_of(path), values.get(IDENTITY))
    if values.get("key_check") != keys.check:
        raise LedgerError(
            f"{plain(path)} is the key file of another ledger than {plain(database.words)}; find the right one"
        )
    return keys
