"""What the processes of a study store: named bytes, in transactions that are durable when they end.

Coordinator, servers, agents and people differ in the names under which they store something, which are data here, in
how they know of what was lost, and in what a release passes through.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from sqlalchemy import Column, Connection, LargeBinary, MetaData, String, Table, delete, insert, select, text, update

from ogive.crypto.wire import Reader
from ogive.errors import LedgerError, ParameterError, PeerError, RefusalError, plain
from ogive.ledger.database import Database
from ogive.queries import Answer
from ogive.segments import Segments
from ogive.study.course import check_together
from ogive.study.document import AnyStudy, PeopleStudy, ServersStudy, Study
from ogive.study.frames import Stage, read_answers, write_answer

CALLED = "state"

_TABLES = MetaData()
_ENTRIES = Table(
    "ogive_study_state",
    _TABLES,
    Column("name", String(200), primary_key=True),
    Column("value", LargeBinary, nullable=False),
)
_FORMAT, _VERSION = "format", b"1"
_LOCK = 0x0617F  # PostgreSQL's advisory lock of whoever runs on the state


class Entries:
    """The named bytes within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, name: str) -> bytes | None:
        result = self._connection.execute(select(_ENTRIES.c.value).where(_ENTRIES.c.name == name)).scalar_one_or_none()
        return None if result is None else bytes(result)

    def put(self, name: str, value: bytes) -> None:
        changed = self._connection.execute(update(_ENTRIES).where(_ENTRIES.c.name == name).values(value=value))
        if not changed.rowcount:
            self._connection.execute(insert(_ENTRIES).values(name=name, value=value))

    def put_new(self, name: str, value: bytes) -> bytes | None:
        """Keep bytes under a name unless it has some, and say which it had."""
        earlier = self.get(name)
        if earlier is None:
            self.put(name, value)
        return earlier

    def names(self, front: str) -> list[str]:
        begins = _ENTRIES.c.name.startswith(front, autoescape=True)
        return sorted(self._connection.execute(select(_ENTRIES.c.name).where(begins)).scalars())

    def drop_one(self, name: str) -> None:
        self._connection.execute(delete(_ENTRIES).where(_ENTRIES.c.name == name))

    def drop(self, front: str) -> None:
        self._connection.execute(delete(_ENTRIES).where(_ENTRIES.c.name.startswith(front, autoescape=True)))


def begin(entries: Entries, study: AnyStudy, words: str) -> None:
    """Say of which study a state is, where it is new."""
    _compare(entries.put_new(study.state[0], study.digest) or study.digest, study, words)


def check_state(store: Store, study: AnyStudy) -> None:
    """Refuse a state that nobody began for this study, such as one of the study before its file was changed."""
    name, what = study.state
    with store.read() as entries:
        of = entries.get(name)
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
        self._database.make_file(_create)
        with self._database.write() as connection:
            self._database.lock_making(connection)
            _create(connection)
            version = Entries(connection).get(_FORMAT)
            if version != _VERSION:
                raise LedgerError(f"the state {plain(self.words)} was written by a newer version of ogive")
        self._database.log_ahead()

    @staticmethod
    def existing(place: str) -> Store:
        if "://" not in place and not Path(place).exists():
            raise ParameterError(f"there is no state {plain(place)}")
        return Store(place)

    @staticmethod
    def held(place: str | Path) -> Store:
        """A state on which this process alone runs."""
        store = Store(place)
        store.hold()
        return store

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
    def read(self) -> Iterator[Entries]:
        """A transaction that sees one state and changes nothing."""
        with self._database.read() as connection:
            yield Entries(connection)

    @contextmanager
    def write(self) -> Iterator[Entries]:
        """A transaction that is durable when it ends, or undone."""
        with self._database.write() as connection:
            yield Entries(connection)

    def close(self) -> None:
        if isinstance(self._held, int):
            os.close(self._held)
        elif self._held is not None:
            self._held.close()
        self._held = None
        self._database.close()


def _create(connection: Connection) -> None:
    _TABLES.create_all(connection)
    Entries(connection).put_new(_FORMAT, _VERSION)


# --- The number of steps, apart from the state, which shows that a state was lost or is an older one
#
# A process that forgot what it gave away would give it again. So the number of each step is in the state first, then
# where the process knows it by, and only then does anything of the step leave. A person's is its ledger (`joining`).
#
# A server that forgot which material it used would use it for a second check, and that tells the other server the cells
# of its clients. Its steps are in a log beside its uploads; a state with a smaller number than the last one there is
# not the one that this server had.

NUMBER_BYTES = 8
FOLDER = "steps"
_STEPS = "steps"


def next_number(entries: Entries, name: str, *, after: int = 0) -> int:
    number = max(_number(entries, name), after) + 1
    entries.put(name, number.to_bytes(NUMBER_BYTES, "little"))
    return number


def _number(entries: Entries, name: str) -> int:
    return int.from_bytes(entries.get(name) or b"", "little")


class Steps:
    """The steps of one server."""

    def __init__(self, folder: Path) -> None:
        self._log = Segments(folder / FOLDER)
        try:
            self._noted = max((int.from_bytes(each, "little") for each in self._log), default=0)
        except BaseException:
            self._log.close()
            raise

    def check(self, entries: Entries, words: str) -> None:
        known = _number(entries, _STEPS)
        if known < self._noted:
            raise RefusalError(
                f"the state {words} is lost or an older one: this server took {self._noted} steps, and it knows of "
                f"{known}; what is used twice would reveal records, so a new study is needed"
            )

    def take(self, entries: Entries) -> int:
        """Count a step in the state; returns its number, which is to be noted once the state is durable."""
        return next_number(entries, _STEPS, after=self._noted)

    def note(self, number: int) -> None:
        self._log.append([number.to_bytes(NUMBER_BYTES, "little")])
        self._noted = number

    def close(self) -> None:
        self._log.close()


# --- What a state says of the releases of its study: what was requested, opened and published, and why one is over


class Releases(ABC):
    """The releases of a study by their numbers, from 0, as its state knows them."""

    _answers: ClassVar[str]
    """Name of the opened sums of a release, of which `number` and `name` are filled in; so are the following."""
    _over: ClassVar[str] = ""

    def __init__(self, study: Any, entries: Entries) -> None:
        self.study = study
        self.entries = entries

    def answers(self, number: int) -> tuple[Answer, ...]:
        return read_answers(self.entries.get(self._name(self._answers, number)) or b"")

    def put_answers(self, number: int, answers: Sequence[Answer]) -> None:
        self.entries.put(self._name(self._answers, number), b"".join(map(write_answer, answers)))

    def end(self, number: int, reason: str) -> None:
        self.entries.put(self._name(self._over, number), reason.encode())

    def over(self, number: int) -> str | None:
        return self._text(self._over, number)

    def refused(self, number: int) -> str | None:
        """Why a release was not begun, which may be requested again."""
        return None

    @abstractmethod
    def state(self, number: int, *, released: bool | None = None) -> str:
        """A word for how far a release is; whether it is released may be known."""

    @abstractmethod
    def news(self, number: int) -> list[str]:
        """How far a release is, in lines that change when it may be released."""

    def row(self, number: int, *, released: bool | None = None) -> dict[str, Any]:
        """All that is public of a release but its result."""
        release = self.study.releases[number]
        state = self.state(number, released=released)
        return {"name": release.name, "privacy": str(release.privacy), "state": state, "reason": self.over(number)}

    def _name(self, template: str, number: int) -> str:
        return template.format(number=number, name=self.study.releases[number].name)

    def _text(self, template: str, number: int) -> str | None:
        result = self.entries.get(self._name(template, number))
        return None if result is None else result.decode()


def releases_of(study: AnyStudy, entries: Entries) -> Releases:
    if isinstance(study, PeopleStudy):
        return OfPeople(study, entries)
    return (OfServers if isinstance(study, ServersStudy) else OfParties)(study, entries)


def request(store: Store, study: Study | ServersStudy, name: str) -> None:
    """Ask for a release, on a state that a process may run on; one that was asked for stays as it is."""
    number, kind = study.place_of(name), OfServers if isinstance(study, ServersStudy) else OfParties
    while True:
        with store.read() as entries:
            before = kind(study, entries).requested
        if name not in before:  # nobody waits for the state meanwhile: a price takes long where noise is designed
            check_together(study, [each for each, paid in before.items() if paid], name)
        with store.write() as entries:
            releases = kind(study, entries)
            if releases.requested == before:
                releases.request(number)
                return


@dataclass(frozen=True)
class Progress:
    """How far a release of parties is.

    Its state is "requested", "running", "released" or "over", for a `reason`. Queries and attempts count from 0. The
    members are the parties whose records are in the sums, empty before that is settled; `failed` says why the last
    attempts ended.
    """

    state: str
    query: int = 0
    attempt: int = 0
    stage: int = 0
    members: tuple[int, ...] = ()
    reason: str = ""
    failed: tuple[str, ...] = ()

    @property
    def is_paid(self) -> bool:
        """Whether parties pay for it or may have: all but a release that was over before a set was to be confirmed."""
        return self.state != "over" or self.query > 0 or self.stage > Stage.INPUT

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @staticmethod
    def from_bytes(data: bytes) -> Progress:
        fields = json.loads(data)
        return Progress(**fields | {name: tuple(fields[name]) for name in ("members", "failed")})


class OfParties(Releases):
    """What coordinator and agents know; the coordinator also which parties have not read a result yet."""

    _answers = "release/{number}/answers"
    _progress, _result, _unread = "release/{number}/progress", "release/{number}/result", "untold/{number}/"

    def progress(self, number: int) -> Progress | None:
        stored = self.entries.get(self._name(self._progress, number))
        return None if stored is None else Progress.from_bytes(stored)

    def put_progress(self, number: int, progress: Progress) -> None:
        self.entries.put(self._name(self._progress, number), progress.to_bytes())

    def over(self, number: int) -> str | None:
        item = self.progress(number)
        return item.reason if item is not None and item.state == "over" else None

    @property
    def all_progress(self) -> dict[str, Progress]:
        items = {release.name: self.progress(number) for number, release in enumerate(self.study.releases)}
        return {name: item for name, item in items.items() if item is not None}

    @property
    def requested(self) -> dict[str, bool]:
        """Names of the releases that were requested, and whether somebody pays for them."""
        return {name: item.is_paid for name, item in self.all_progress.items()}

    def request(self, number: int) -> None:
        self.entries.put_new(self._name(self._progress, number), Progress("requested").to_bytes())

    def result(self, number: int) -> dict[str, Any] | None:
        """What was released, as plain data."""
        stored = self.result_bytes(number)
        return None if stored is None else dict(json.loads(stored))

    def result_bytes(self, number: int) -> bytes | None:
        return self.entries.get(self._name(self._result, number))

    def publish(self, number: int, progress: Progress, result: dict[str, Any]) -> None:
        """Store a result, and that no party has read it yet."""
        self.entries.put(self._name(self._result, number), json.dumps(result).encode())
        self.put_progress(number, progress)
        for party in range(1, len(self.study.parties) + 1):
            self.entries.put(f"{self._name(self._unread, number)}{party}", b"")

    def unread(self, number: int) -> tuple[int, ...]:
        """Parties that have not read the result of a release yet; their accounts do not hold it."""
        names = self.entries.names(self._name(self._unread, number))
        return tuple(sorted(int(name.rpartition("/")[2]) for name in names))

    def read(self, number: int, party: int) -> None:
        self.entries.drop_one(f"{self._name(self._unread, number)}{party}")

    def state(self, number: int, *, released: bool | None = None) -> str:
        item = self.progress(number)
        return "not requested" if item is None else item.state

    def news(self, number: int) -> list[str]:
        item = self.progress(number)
        if item is None:
            return []
        lines = []
        if item.attempt and item.failed:
            lines.append(f"query {item.query + 1}, attempt {item.attempt} ended: {plain(item.failed[-1])}")
        running = f", query {item.query + 1}, attempt {item.attempt + 1}, step {Stage(item.stage).word}"
        return [*lines, item.state + (running if item.state == "running" else "")]

    def row(self, number: int, *, released: bool | None = None) -> dict[str, Any]:
        release, item, names = self.study.releases[number], self.progress(number), self.study.parties
        row = {"name": release.name, "privacy": str(release.privacy), "state": self.state(number)}
        if item is None:
            return row
        return row | {
            "query": item.query + 1,
            "attempt": item.attempt + 1,
            "step": Stage(item.stage).word if item.state == "running" else None,
            "members": [names[member - 1].name for member in item.members],
            "reason": item.reason or None,
            "failed": list(item.failed),
        }


def in_the_sum(row: dict[str, Any], parties: Sequence[str]) -> str:
    """How many parties' records are in a release, and whose are not; empty before that is settled."""
    members = row.get("members") or []
    if not members:
        return ""
    others = [name for name in parties if name not in members]
    return f"{len(members)} of {len(parties)}" + (f", without {', '.join(others)}" if others else "")


class OfServers(Releases):
    """What a server knows; server 0 also what the others may not have been told."""

    _answers, _over = "answers/{name}", "over/{name}"
    _requested, _refused = "requested/{name}", "refused/{name}"
    _closed, _undelivered = "closed", "untold/"

    @property
    def closed(self) -> int | None:
        """How many uploads there were when no more were taken."""
        result = self.entries.get(self._closed)
        return None if result is None else int.from_bytes(result, "little")

    def close(self, count: int) -> None:
        self.entries.put(self._closed, count.to_bytes(NUMBER_BYTES, "little"))

    def is_requested(self, number: int) -> bool:
        return self._text(self._requested, number) is not None

    @property
    def requested(self) -> dict[str, bool]:
        return {each.name: True for number, each in enumerate(self.study.releases) if self.is_requested(number)}

    def request(self, number: int) -> None:
        self.entries.drop_one(self._name(self._refused, number))
        self.entries.put_new(self._name(self._requested, number), b"")

    def refuse(self, number: int, reason: str) -> None:
        """Forget that a release was requested, and note why; nothing of it was begun."""
        self.entries.drop_one(self._name(self._requested, number))
        self.entries.put(self._name(self._refused, number), reason.encode())

    def refused(self, number: int) -> str | None:
        return self._text(self._refused, number)

    def state(self, number: int, *, released: bool | None = None) -> str:
        if self.over(number) is not None:
            return "over"
        if released:
            return "released"
        return "running" if self.answers(number) or self.is_requested(number) else "not requested"

    def news(self, number: int) -> list[str]:
        return [f"running, query {len(self.answers(number)) + 1}"]

    def row(self, number: int, *, released: bool | None = None) -> dict[str, Any]:
        row = super().row(number, released=released)
        reason = row.pop("reason")
        return row | {"opened": len(self.answers(number)), "reason": reason}

    def put_undelivered(self, number: int, query: int, messages: Sequence[bytes]) -> None:
        parts = [len(each).to_bytes(4, "little") + each for each in messages]
        self.entries.put(f"{self._undelivered}{number}/{query}", b"".join(parts))

    def undelivered(self) -> list[tuple[int, int, list[bytes]]]:
        """Releases, queries and answers of which some server may not have been told, in order."""
        results = []
        for name in self.entries.names(self._undelivered):
            _, number, query = name.split("/")
            reader, messages = Reader(self.entries.get(name) or b"", "kept answers"), []
            while reader.left:
                messages.append(reader.take(reader.number(4)))
            results.append((int(number), int(query), messages))
        return sorted(results)

    def delivered(self, number: int, query: int) -> None:
        self.entries.drop_one(f"{self._undelivered}{number}/{query}")


class OfPeople(Releases):
    """What the service of a study of people knows of its one release, which begins by itself."""

    _answers, _over, _begun = "pairs/answer", "pairs/over", "pairs/begun"

    def begin(self) -> None:
        self.entries.put_new(self._begun, b"")

    def state(self, number: int, *, released: bool | None = None) -> str:
        if self.entries.get(self._answers) is not None:
            return "released"
        if self.over(number) is not None:
            return "over"
        return "waiting for people" if self.entries.get(self._begun) is None else "running"

    def news(self, number: int) -> list[str]:
        return [self.state(number)]
