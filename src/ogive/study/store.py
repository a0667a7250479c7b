"""What an agent or a coordinator keeps on disk: named bytes, in transactions that are durable when they end."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Column, Connection, LargeBinary, MetaData, String, Table, delete, insert, select, text, update

from ogive.errors import LedgerError, ParameterError, PeerError, plain
from ogive.ledger.database import Database

if TYPE_CHECKING:
    from ogive.study.document import AnyStudy

CALLED = "state"

_TABLES = MetaData()
_KEPT = Table(
    "ogive_study_state",
    _TABLES,
    Column("name", String(200), primary_key=True),
    Column("value", LargeBinary, nullable=False),
)
_FORMAT, _VERSION = "format", b"1"
_LOCK = 0x0617F  # PostgreSQL's advisory lock of whoever runs on the state


class Kept:
    """The named bytes within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, name: str) -> bytes | None:
        result = self._connection.execute(select(_KEPT.c.value).where(_KEPT.c.name == name)).scalar_one_or_none()
        return None if result is None else bytes(result)

    def put(self, name: str, value: bytes) -> None:
        changed = self._connection.execute(update(_KEPT).where(_KEPT.c.name == name).values(value=value))
        if not changed.rowcount:
            self._connection.execute(insert(_KEPT).values(name=name, value=value))

    def put_new(self, name: str, value: bytes) -> bytes | None:
        """Keep bytes under a name unless it has some, and say which it had."""
        earlier = self.get(name)
        if earlier is None:
            self.put(name, value)
        return earlier

    def names(self, front: str) -> list[str]:
        result = self._connection.execute(select(_KEPT.c.name).where(_KEPT.c.name.startswith(front, autoescape=True)))
        return sorted(result.scalars())

    def drop_one(self, name: str) -> None:
        self._connection.execute(delete(_KEPT).where(_KEPT.c.name == name))

    def drop(self, front: str) -> None:
        self._connection.execute(delete(_KEPT).where(_KEPT.c.name.startswith(front, autoescape=True)))


def begin(kept: Kept, study: AnyStudy, words: str) -> None:
    """Say of which study a state is, where it is new."""
    _compare(kept.put_new(study.state[0], study.digest) or study.digest, study, words)


def check_state(store: Store, study: AnyStudy) -> None:
    """Refuse a state that nobody began for this study, such as one of the study before its file was changed."""
    name, what = study.state
    with store.read() as kept:
        of = kept.get(name)
    if of is None:
        raise ParameterError(f"the state {plain(store.words)} is not {what} runs on")
    _compare(of, study, store.words)


def _compare(of: bytes, study: AnyStudy, words: str) -> None:
    if of != study.digest:
        raise PeerError(
            f"the state {plain(words)} is of another study, or of this one before its file was changed; give each "
            "study a state of its own"
        )


class Store:
    """A place of named bytes: memory, an SQLite file, or a PostgreSQL database by URL."""

    def __init__(self, place: str | Path | None) -> None:
        self._database = Database(place, called=CALLED)
        self._held: int | Connection | None = None
        self._database.check_one_name()
        self._database.make_file(_make)
        with self._database.write() as connection:
            self._database.lock_making(connection)
            _make(connection)
            version = Kept(connection).get(_FORMAT)
            if version != _VERSION:
                raise LedgerError(f"the state {plain(self.words)} was written by a newer version of ogive")
        self._database.log_ahead()

    @staticmethod
    def existing(place: str) -> Store:
        if "://" not in place and not Path(place).exists():
            raise ParameterError(f"there is no state {plain(place)}")
        return Store(place)

    @property
    def words(self) -> str:
        """Where it is, without any password."""
        return self._database.words

    def hold(self) -> None:
        """Keep other processes from running on this state until this one ends."""
        busy = LedgerError(f"the state {plain(self.words)} is in use by another process that runs on it")
        if self._database.postgres:
            connection = self._database.session()
            if not connection.execute(text(f"SELECT pg_try_advisory_lock({_LOCK})")).scalar_one():
                connection.close()
                raise busy
            self._held = connection
        elif self._database.path is not None:
            target = self._database.path.resolve()
            handle = os.open(target.with_name(target.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as problem:
                os.close(handle)
                if problem.errno in (errno.EAGAIN, errno.EACCES):
                    raise busy from None
                raise LedgerError(f"the state {plain(self.words)} cannot be locked: {problem.strerror}") from None
            self._held = handle

    @contextmanager
    def read(self) -> Iterator[Kept]:
        """A transaction that sees one state and changes nothing."""
        with self._database.read() as connection:
            yield Kept(connection)

    @contextmanager
    def write(self) -> Iterator[Kept]:
        """A transaction that is durable when it ends, or undone."""
        with self._database.write() as connection:
            yield Kept(connection)

    def close(self) -> None:
        if isinstance(self._held, int):
            os.close(self._held)
        elif self._held is not None:
            self._held.close()
        self._held = None
        self._database.close()


def _make(connection: Connection) -> None:
    _TABLES.create_all(connection)
    Kept(connection).put_new(_FORMAT, _VERSION)
