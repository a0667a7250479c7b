"""Connections to the ledger's database, and transactions that keep two processes from spending the same rest.

SQLite: a writing transaction begins with BEGIN IMMEDIATE, so there is one at a time.

PostgreSQL: a writing transaction is READ COMMITTED, whatever the server, the database, the role or the URL has as
default. `SELECT ... FOR UPDATE` waits for the row's lock, and the statements after it see all that was committed by
then. At a higher level they would see the state from before the wait. Two guards stand behind this one: every
transaction compares its level, and a spend also updates a counter of its account, which a transaction with an old
snapshot cannot do. Reading transactions are REPEATABLE READ, so that all their statements see one state.
"""

from __future__ import annotations

import errno
import functools
import hashlib
import os
import re
import secrets
import sqlite3
import stat
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from ogive.errors import LedgerError, ParameterError, plain, quoted
from ogive.ledger.mark import config_folder, sync_folder

# --- What went wrong with a database, in one line

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
        called: What is kept there, if it is not a ledger.

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


# --- Connections and transactions

P = ParamSpec("P")
T = TypeVar("T")

BUSY_SECONDS = 30.0
"""How long a transaction waits for another to end."""

_CONFIRMED_WITHIN = 10_000
"""Milliseconds until what was sent to a server must be confirmed."""

ATTEMPTS = 12
"""How often a transaction is tried that other transactions undo."""

WRITING, READING = "READ COMMITTED", "REPEATABLE READ"
"""PostgreSQL's isolation levels of transactions that write and of those that read."""

_LEVEL = text("SELECT current_setting('transaction_isolation')")
_DURABLE = text(
    "SELECT current_setting('transaction_isolation'), set_config('lock_timeout', :patience, true), "
    "set_config('synchronous_commit', 'on', true)"
)
_MAKING = 0x0617E  # PostgreSQL's advisory lock while tables are made
_PAUSE_SECONDS = 0.01


def retried(transaction: Callable[P, T]) -> Callable[P, T]:
    """Try a function again whose one transaction was undone by the database because of others at the same time.

    After `ATTEMPTS` the `LedgerError` is the caller's. The function leaves nothing behind when it raises.
    """

    @functools.wraps(transaction)
    def trying(*args: P.args, **kwargs: P.kwargs) -> T:
        for attempt in range(1, ATTEMPTS):
            try:
                return transaction(*args, **kwargs)
            except ConflictError:
                # a random part of a growing pause, so that those who met do not meet again
                time.sleep(_PAUSE_SECONDS * min(attempt, 5) * (1 + secrets.randbelow(100) / 100))
        return transaction(*args, **kwargs)

    return trying


class Database:
    """One place where a ledger, or other state, is kept: memory, an SQLite file or a PostgreSQL database.

    Every transaction has a connection of its own while it runs, so that threads and forked processes do not share any.
    A connection to PostgreSQL is kept for the next transaction of this process. A database in memory has one connection
    and belongs to the process that made it.
    """

    def __init__(self, place: str | Path | None, *, read_only: bool = False, called: str = "ledger") -> None:
        url = _url(place, called)
        self.called = called
        self.postgres = url.get_backend_name() == "postgresql"
        self.path = Path(url.database) if not self.postgres and url.database else None
        self.in_memory = not self.postgres and self.path is None
        hidden = [option for option in url.query if "password" in option]
        shown = url.difference_update_query(hidden).set(drivername="postgresql").render_as_string(hide_password=True)
        self.words = "in memory" if self.in_memory else str(self.path or shown)
        host = f"{url.host or ''}:{url.port or 5432}/{url.database or ''}"
        self._digest = hashlib.sha256(host.encode()).hexdigest()[:16]
        self._process = os.getpid()
        self._lock = threading.RLock() if self.in_memory else None
        # what lies beside the file already is another's
        self._tidy = read_only and self.path is not None and not any(map(Path.exists, _beside(self.path)))
        self._open: Callable[[], sqlite3.Connection] | None = None
        if self.path is not None:
            opening = _read_only if read_only else _read_write
            self._open = functools.partial(opening, self.path.absolute())  # the folder may be left
            return
        if self.in_memory:
            connection = sqlite3.connect(":memory:", timeout=BUSY_SECONDS, check_same_thread=False, factory=_Kept)
            self._open = lambda: connection
            # of a session that nobody closed: SQLite's objects warn when they are collected open, as psycopg's do
            self._end = weakref.finalize(self, connection.end)
            self._end.atexit = False
            return
        arguments: dict[str, Any] = {"connect_timeout": 10, "application_name": "ogive", "client_encoding": "utf8"}
        if "tcp_user_timeout" not in url.query:
            # a kept connection whose other end has gone without a word is noticed when it is used again
            arguments["tcp_user_timeout"] = _CONFIRMED_WITHIN
        try:
            self._engine = create_engine(url, pool_size=1, max_overflow=-1, connect_args=arguments)
        except ModuleNotFoundError:
            raise LedgerError(
                f"the {self.called} {self.words} needs the PostgreSQL driver; run pip install 'ogive[postgres]'"
            ) from None
        weakref.finalize(self, _dispose, self._engine, self._process)
        _check_options(url, called)
        _SERVERS.add(self._engine)

    @property
    def identity(self) -> str:
        """Names this place in the mark file."""
        return f"postgresql {self._digest}" if self.path is None else str(self.path.resolve())

    @property
    def default_key(self) -> Path:
        """Where the key file is unless the environment names another."""
        if self.path is not None:
            file = self.path.resolve()  # a link's ledger is the one it points to
            return file.with_name(file.name + ".key")
        return config_folder() / f"ledger-{self._digest}.key"

    def make_file(self, fill: Callable[[Connection], None]) -> bool:
        """Make an SQLite file that only its user can read, where there is none: it appears complete or not at all."""
        if self.path is None:
            return False
        if self.path.is_dir():
            raise LedgerError(f"the {self.called} {plain(self.path)} cannot be opened: it is a folder")
        target = self.path.resolve()
        name: str | None = None
        try:
            if target.exists():
                # not opened here: closing the file would drop the locks that SQLite holds for this process's threads
                if not os.access(target, os.R_OK | os.W_OK):
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
                if not target.stat().st_size:
                    target.chmod(0o600)  # an empty file becomes a ledger, which is for its owner alone
                return False
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
            os.close(handle)
            draft = Database(Path(name), called=self.called)
            draft.words = self.words
            with draft.write() as connection:
                fill(connection)
            draft.close()
            os.link(name, target)
            sync_folder(target.parent)
        except FileExistsError:
            return False
        except OSError as problem:
            raise LedgerError(f"the {self.called} {plain(self.path)} cannot be opened: {problem.strerror}") from None
        finally:
            if name is not None:
                Path(name).unlink(missing_ok=True)
                Path(f"{name}-journal").unlink(missing_ok=True)
        return True

    def check_folder(self) -> None:
        """Refuse an SQLite file that could not be made where it is to be."""
        if self.path is None:
            return
        folder = self.path.resolve().parent
        problem = errno.ENOTDIR if folder.exists() else errno.ENOENT
        if folder.is_dir():
            problem = 0 if os.access(folder, os.W_OK | os.X_OK) else errno.EACCES
        if problem:
            raise LedgerError(f"the {self.called} {plain(self.path)} cannot be opened: {os.strerror(problem)}")

    def check_one_name(self) -> None:
        """Refuse an SQLite file that has a second name (a hard link), under which it would have a second log.

        The name that `make_file` gives a draft is taken away, if whoever made it was cut off before that.
        """
        if self.path is None:
            return
        with suppress(OSError):  # a file that is missing, or closed to this user, is refused when it is opened
            target = self.path.resolve()
            result = target.stat()
            names = result.st_nlink if stat.S_ISREG(result.st_mode) else 1
            draft = re.compile(rf"\.{re.escape(target.name)}\.[a-z0-9_]{{8}}")
            for other in target.parent.iterdir() if names > 1 else ():
                with suppress(OSError):  # its maker takes it away this moment, or the folder is read-only
                    if draft.fullmatch(other.name) and other.samefile(target):
                        names -= 1
                        other.unlink()
            if names > 1 and target.stat().st_nlink > 1:
                raise LedgerError(
                    f"the {self.called} {plain(self.path)} has a second name, a hard link, under which "
                    "its budget would be counted separately; remove one of the names, or make a symbolic link"
                )

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one state and changes nothing."""
        with self._connect(write=False) as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that is durable when it ends, or undone.

        On SQLite no other transaction writes meanwhile. On PostgreSQL whoever reserves locks the data set's row.
        """
        with self._connect(write=True) as connection:
            yield connection

    def _check_isolation(self, connection: Connection, wanted: str) -> None:
        """Refuse a transaction of another level than was asked for, which would not see what others spent.

        One that writes is also made durable, and waits no longer than SQLite's for another.
        """
        needed = _DURABLE if wanted == WRITING else _LEVEL
        level = connection.execute(needed, {"patience": f"{BUSY_SECONDS:.0f}s"}).scalars().first()
        assert level is not None
        if level.upper() != wanted:
            raise LedgerError(
                f"the {self.called} {self.words} runs a transaction as {level.upper()} that was begun as {wanted}; "
                "connect to the PostgreSQL server itself, without what changes this in between"
            )

    def session(self) -> Connection:
        """A connection that stays open, without a transaction, for locks that end with it; on PostgreSQL."""
        with in_words(self.words, self.called):
            connection = self._again(self._lasting)
            connection.detach()  # so that it is closed and not kept
            return connection

    def _lasting(self) -> Connection:
        connection = self._engine.connect()
        try:
            connection.execution_options(isolation_level="AUTOCOMMIT").execute(_LEVEL)
        except BaseException:
            connection.close()
            raise
        return connection

    def _again(self, connected: Callable[[], Connection]) -> Connection:
        """A connection to PostgreSQL; a kept one whose server has ended, as its first statement finds, is not used."""
        try:
            return connected()
        except DBAPIError as problem:
            if not problem.connection_invalidated:
                raise
        return connected()

    def lock_making(self, connection: Connection) -> None:
        """Let one process at a time make tables; SQLite's write transactions do that anyway."""
        if self.postgres:
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_MAKING})"))

    def log_ahead(self) -> None:
        """Make SQLite write ahead, so that readers do not wait for writers; the choice stays with the file."""
        if self.path is None:
            return
        until = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                with self._connect(write=False, begin=False) as connection:
                    if connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() != "wal":
                        connection.exec_driver_sql("PRAGMA journal_mode = WAL")
                return
            except LedgerError as problem:
                # the change does not wait its turn as transactions do
                if "locked" not in str(problem) or time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def forget(self) -> None:
        """Overwrite what earlier versions of changed rows held, as far as the database lets us.

        SQLite zeroes deleted content, but copies wait in the log until it is truncated. What cannot be
        truncated now, because another process reads, is truncated later.
        """
        if self.path is not None:
            with self._connect(write=False, begin=False) as connection:
                connection.exec_driver_sql("PRAGMA busy_timeout = 0")
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _connect(self, *, write: bool, begin: bool = True) -> Iterator[Connection]:
        if self.in_memory and os.getpid() != self._process:
            raise LedgerError(
                f"a {self.called} in memory belongs to the process that made it; keep it in a file to share it"
            )
        if self._lock is not None:
            self._lock.acquire()
        try:
            with in_words(self.words, self.called):
                if self.postgres:
                    with self._begun(WRITING if write else READING) as connection:
                        yield connection
                        connection.commit()
                    return
                with self._connected() as plain:
                    connection = plain.execution_options(ogive_begin=begin, ogive_write=write)
                    with connection.begin():
                        yield connection
        except LedgerError as problem:
            if self._tidy and DAMAGED in str(problem) and self.path is not None:
                _take_away(self.path)
            raise
        finally:
            if self._lock is not None:
                self._lock.release()

    def _begun(self, level: str) -> Connection:
        """A connection to PostgreSQL within a transaction of this level, which is compared before it is used."""
        return self._again(functools.partial(self._compared, level))

    def _compared(self, level: str) -> Connection:
        connection = self._engine.connect()
        try:
            connection = connection.execution_options(isolation_level=level)
            self._check_isolation(connection, level)
        except BaseException:
            connection.close()
            raise
        return connection

    def _connected(self) -> Connection:
        """A connection to SQLite; in memory, the only one."""
        assert self._open is not None, "a file, or memory"
        _OPENED.here = self._open
        try:
            return _sqlite().connect()
        finally:
            del _OPENED.here

    def close(self) -> None:
        """Close what is open; a ledger in memory is gone."""
        if self.in_memory:
            self._end()
        elif self.postgres:
            self._engine.dispose()


class _Kept(sqlite3.Connection):
    """A connection to a database in memory, which engines leave open, since the database would be gone."""

    prepared = False

    def close(self) -> None:
        """Nothing."""

    def create_function(self, *_: Any, **__: Any) -> None:
        """Nothing, since SQLite refuses it while a result is read; ledgers use no functions of their own."""

    def end(self) -> None:
        """Close it."""
        super().close()


def _dispose(engine: Engine, process: int) -> None:
    """Close the kept connections of an engine in the process that made it."""
    if os.getpid() == process:
        engine.dispose()


_SERVERS: weakref.WeakSet[Engine] = weakref.WeakSet()
"""The engines of PostgreSQL."""


def _leave_connections() -> None:
    """Leave the kept connections of PostgreSQL to the process that this one was forked from."""
    for engine in list(_SERVERS):
        engine.dispose(close=False)


os.register_at_fork(after_in_child=_leave_connections)

_OPENED = threading.local()
"""What opens the connection that a thread asks for at this moment."""


@functools.cache
def _sqlite() -> Engine:
    """The engine of all of SQLite, which compiles a statement once, whichever database it is for."""
    engine = create_engine("sqlite://", poolclass=NullPool, creator=lambda: _OPENED.here())
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


os.register_at_fork(after_in_child=_sqlite.cache_clear)  # another thread may hold its lock at that moment


def _read_write(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False)


def _url(place: str | Path | None, called: str) -> URL:
    if place is None:
        return URL.create("sqlite")
    if isinstance(place, Path):
        return URL.create("sqlite", database=str(place.expanduser()))
    if not isinstance(place, str) or not place:
        raise ParameterError(f"a {called}'s place must be a path or a URL, got {quoted(place)}")
    if "://" not in place:
        return URL.create("sqlite", database=str(Path(place).expanduser()))
    try:
        url = make_url(place)
        backend = url.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError):
        backend = ""
    if backend == "sqlite":
        name = url.database
        if url.query or str(name).startswith("file:"):
            raise ParameterError(
                f"a {called}'s place sqlite:///budget.db takes no options; name the file alone, as in "
                "sqlite:///budget.db"
            )
        return URL.create("sqlite", database=None if name in (None, "", ":memory:") else str(Path(name).expanduser()))
    if backend in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise ParameterError(
        f"a {called}'s place must be a path, sqlite:///budget.db or postgresql://user@host/name, "
        f"got {place.split('://')[0]}://..."
    )


def _check_options(url: URL, called: str) -> None:
    """Refuse options of a URL that are the driver's and not PostgreSQL's: some change what statements answer."""
    import psycopg

    known = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()}
    for option in url.query:
        if option not in known:
            raise ParameterError(f"a {called}'s place on PostgreSQL takes no option {quoted(option)}")


def _beside(path: Path) -> tuple[Path, Path]:
    """The log of a ledger's file, and the index of the log, which SQLite makes and takes away."""
    target = path.resolve()
    return target.with_name(f"{target.name}-wal"), target.with_name(f"{target.name}-shm")


def _take_away(path: Path) -> None:
    """Remove the logs that SQLite made to read a damaged file, so that they do not lie beside a restored backup."""
    log, index = _beside(path)
    if not log.exists() or not log.stat().st_size:
        for each in (log, index):
            each.unlink(missing_ok=True)


def _read_only(path: Path) -> sqlite3.Connection:
    """Open a file that may lie on a read-only or full disk, where SQLite cannot make the files beside it.

    Without a log the file is all there is, so it is read as it is. Where nobody has the file open and this user may
    write, SQLite makes its log for the moment. A connection that might write takes it away again, one that might not
    leaves it.
    """
    place = path.resolve().as_uri()
    log, index = _beside(path)
    writable = os.access(path, os.W_OK) and os.access(path.resolve().parent, os.W_OK)
    if writable and not log.exists() and not index.exists():
        tidy = sqlite3.connect(f"{place}?mode=rw", uri=True, timeout=BUSY_SECONDS, check_same_thread=False)
        try:
            with closing(tidy.cursor()) as cursor:
                cursor.execute("PRAGMA query_only = ON")
                cursor.execute("SELECT count(*) FROM sqlite_master")
            return tidy
        except sqlite3.Error as problem:
            tidy.close()
            if not isinstance(problem, sqlite3.OperationalError):
                raise
    connection = sqlite3.connect(f"{place}?mode=ro", uri=True, timeout=BUSY_SECONDS, check_same_thread=False)
    try:
        with closing(connection.cursor()) as cursor:
            cursor.execute("SELECT count(*) FROM sqlite_master")
        return connection
    except sqlite3.OperationalError:
        connection.close()
        if (log.exists() and log.stat().st_size) or not os.access(path, os.R_OK):
            raise
    return sqlite3.connect(f"{place}?mode=ro&immutable=1", uri=True, check_same_thread=False)


def _prepare_sqlite(connection: Any, _: object) -> None:
    if isinstance(connection, _Kept):
        if connection.prepared:
            return  # the driver would commit what another transaction has begun
        connection.prepared = True
    connection.isolation_level = None  # transactions begin where `_begin_sqlite` says, not where the driver guesses
    cursor = connection.cursor()
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA secure_delete = ON")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    options = connection.get_execution_options()
    if options.get("ogive_begin", True):
        connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get("ogive_write") else "BEGIN")
