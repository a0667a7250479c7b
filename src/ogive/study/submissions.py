"""What people send once each: who may, and a store of it, on disk before it is acknowledged, one of each person."""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import numpy as np

from ogive.core.files import write_atomically
from ogive.errors import ParameterError, PeerError, RefusalError, plain
from ogive.segments import Committer, Place, Segments
from ogive.study.common import read_bytes

# --- How many reports came in which hour, in a file beside them, for the status page

FILE = "hours.json"
_HOUR, _HOURS = 3600, 48
_SECONDS = 60.0
"""How often the file is written at most; what a killed process had not written is counted when the next one begins."""


class Hours:
    """Counts by hour. The file is for people to look at: one that is damaged is begun again.

    Of the `stored` reports, those that the file does not count came before the process that took them was killed, and
    are counted in the hour of `until`, seconds since 1970, in which the last of them was stored.
    """

    def __init__(self, folder: Path, stored: int = 0, until: float = 0.0) -> None:
        self._path = folder / FILE
        self._counts: Counter[int] = Counter()
        self._all = 0
        self._written, self._changed = float("-inf"), False
        try:
            data = json.loads(self._path.read_text(encoding="utf-8"))
            # earlier versions wrote the hours alone, and not how many reports came before these
            hours, self._all = (data, stored) if isinstance(data, list) else (data["hours"], int(data["all"]))
            self._counts.update({int(first) // _HOUR: int(count) for first, count in hours})
        except (OSError, ValueError, TypeError, KeyError, OverflowError):
            self._counts.clear()
            self._all = 0
        if stored > self._all:
            self._counts[int(until) // _HOUR] += stored - self._all
            self._all, self._changed = stored, True

    def add(self) -> None:
        self._counts[int(time.time()) // _HOUR] += 1
        self._all += 1
        self._changed = True
        if time.monotonic() - self._written > _SECONDS:
            self.write()

    @property
    def last(self) -> list[list[int]]:
        """The last hours in which some came: an hour's first second since 1970, and how many."""
        return [[hour * _HOUR, count] for hour, count in sorted(self._counts.items())[-_HOURS:]]

    def write(self) -> None:
        """Bring the file up to date; where there is no room, it stays as it is."""
        if self._changed:
            with contextlib.suppress(ParameterError):
                write_atomically(self._path, json.dumps({"all": self._all, "hours": self.last}).encode())
        self._written, self._changed = time.monotonic(), False


# --- Who may send, by digests of what they show

DIGEST_BYTES = 16


class Listed:
    """A list of who may send: the digest of what each person shows, in the order of their numbers, from 0."""

    def __init__(self, digests: bytes) -> None:
        self._digests = digests

    def __len__(self) -> int:
        return len(self._digests) // DIGEST_BYTES

    def digest(self, number: int) -> bytes:
        """16 bytes; empty beyond the last."""
        return self._digests[number * DIGEST_BYTES : (number + 1) * DIGEST_BYTES]


def read_digests(path: Path, front: bytes, people: int, *, what: str, maker: str, other: str) -> bytes:
    """The digests in a list, of `people` at most, which begins with a kind of 8 bytes and what it belongs to."""
    most = len(front) + people * DIGEST_BYTES
    data = read_bytes(path, most + 1, f"the {what}", f"; ogive {maker} devices makes it" if maker == "local" else "")
    head, digests = data[: len(front)], data[len(front) :]
    if len(head) < len(front) or head[:8] != front[:8] or len(digests) % DIGEST_BYTES or len(data) > most:
        raise ParameterError(f"{plain(path)} is no {what}; ogive {maker} devices makes one")
    if head != front:
        raise ParameterError(f"{plain(path)} is the list of another {other}")
    return digests


# --- What people send, on disk before it is acknowledged

_MARK_BYTES = 8


class NotEnrolledError(PeerError):
    """Nobody who is enrolled has this credential."""


class OtherReportError(PeerError):
    """Another report of the same person is stored."""


class ClosedError(PeerError):
    """No more uploads are taken."""


class Submissions(ABC):
    """A store that holds at most one report of each person."""

    def __init__(self, folder: Path, people: int, *, closed: bool = False) -> None:
        self._open = not closed
        self._changed = threading.Condition()
        until = _last_change(folder)  # before the store is opened, which may cut off what a killed process left
        self._store = Segments(folder)
        self._marks = np.zeros(people, f"V{_MARK_BYTES}")  # of whom a report is stored, digests of these
        self._waiting: dict[int, tuple[bytes, Future[None]]] = {}
        self._stored = 0
        try:
            for record in self._store:
                number, report = self._owner(record)
                self._marks[number] = _mark(report)
                self._stored += 1
        except BaseException:
            self._store.close()
            raise
        self._hours = Hours(folder, self._stored, until)
        self._committer = Committer(self._store)

    @abstractmethod
    def _owner(self, record: bytes) -> tuple[int, bytes]:
        """Whose a record is, and the report in it."""

    def __len__(self) -> int:
        return self._stored

    @property
    def usable(self) -> bool:
        return self._store.usable

    @property
    def size(self) -> int:
        return self._store.size

    @property
    def by_hour(self) -> list[list[int]]:
        return self._hours.last

    def _keep(self, number: int, report: bytes, record: bytes) -> Future[None]:
        mark = _mark(report)
        with self._changed:
            before = self._marks[number].tobytes()
            if before == mark:
                stored: Future[None] = Future()
                stored.set_result(None)
                return stored
            waiting = self._waiting.get(number)
            if waiting is not None:
                return waiting[1] if waiting[0] == mark else _refused_after(waiting[1])
            if before != bytes(_MARK_BYTES):
                raise _another()
            if not self._open:
                raise ClosedError("the study takes no more uploads")
            stored = self._committer.submit(record)
            self._waiting[number] = mark, stored
        stored.add_done_callback(lambda future: self._note(number, mark, future))
        return stored

    def _note(self, number: int, mark: bytes, stored: Future[None]) -> None:
        with self._changed:
            del self._waiting[number]
            if stored.exception() is None:
                self._marks[number] = mark
                self._stored += 1
                self._hours.add()
            self._changed.notify_all()

    def close_uploads(self) -> int:
        """Take no more reports; returns how many there are once all that wait are stored."""
        with self._changed:
            self._open = False
            self._changed.wait_for(lambda: not self._waiting)
            self._hours.write()
            return self._stored

    def after(self, place: Place) -> Iterator[tuple[Place, list[bytes]]]:
        return self._store.after(place)

    def close(self) -> None:
        self._committer.close()
        self._hours.write()
        self._store.close()


def _last_change(folder: Path) -> float:
    """When the last report was stored, in seconds since 1970; now where that cannot be known."""
    try:
        return max(path.stat().st_mtime for path in folder.iterdir() if path.name != FILE)
    except (OSError, ValueError):
        return time.time()


def _mark(report: bytes) -> bytes:
    """What tells reports apart; never zeros."""
    result = hashlib.sha256(report).digest()[:_MARK_BYTES]
    return result if any(result) else b"\1" * _MARK_BYTES


def _another() -> OtherReportError:
    return OtherReportError("this person uploaded another report before; each uploads one")


def _refused_after(earlier: Future[None]) -> Future[None]:
    """Refuses a report once it is known whether the earlier one of the same person is stored."""
    future: Future[None] = Future()
    future.set_running_or_notify_cancel()

    def refuse(stored: Future[None]) -> None:
        lost = RefusalError("another report of this person could not be stored; send one again")
        future.set_exception(_another() if stored.exception() is None else lost)

    earlier.add_done_callback(refuse)
    return future
