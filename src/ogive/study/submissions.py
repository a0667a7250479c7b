"""What people send once each: on disk before it is acknowledged, and one of each person, whatever process stores it."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import numpy as np

from ogive.errors import PeerError, RefusalError
from ogive.segments.committing import Committer
from ogive.segments.log import Place, Segments
from ogive.study.hours import FILE, Hours

_MARK_BYTES = 8


class NotEnrolledError(PeerError):
    """Nobody who is enrolled has this credential."""


class OtherReportError(PeerError):
    """Another report of the same person is stored."""


class ClosedError(PeerError):
    """No more uploads are taken."""


class Submissions:
    """A store that holds at most one report of each person.

    Args:
        folder: Of the store.
        people: How many there are; they have the numbers from 0 on.
        owner: From a record of the store the number of the person whose it is, and their report; raises a
            `RefusalError` where there is none.
        closed: Whether no more are taken.

    Raises:
        RefusalError: the store cannot be used.
    """

    def __init__(
        self, folder: Path, people: int, owner: Callable[[bytes], tuple[int, bytes]], *, closed: bool = False
    ) -> None:
        self._open = not closed
        self._changed = threading.Condition()
        until = _last_change(folder)  # before the store is opened, which may cut off what a killed process left
        self._store = Segments(folder)
        self._marks = np.zeros(people, f"V{_MARK_BYTES}")  # of whom a report is stored, digests of these
        self._waiting: dict[int, tuple[bytes, Future[None]]] = {}
        self._stored = 0
        try:
            for record in self._store:
                number, report = owner(record)
                self._marks[number] = _mark(report)
                self._stored += 1
        except BaseException:
            self._store.close()
            raise
        self._hours = Hours(folder, self._stored, until)
        self._committer = Committer(self._store)

    def __len__(self) -> int:
        """How many reports are stored."""
        return self._stored

    @property
    def usable(self) -> bool:
        """Whether more can be stored before the process is started again."""
        return self._store.usable

    @property
    def size(self) -> int:
        """How many bytes they take."""
        return self._store.size

    @property
    def by_hour(self) -> list[list[int]]:
        """Reports stored in the last hours: the hour's first second since 1970, and how many."""
        return self._hours.last

    def take(self, number: int, report: bytes, record: bytes) -> Future[None]:
        """Store the report of a person; the same one again is as good as the first time.

        Args:
            number: Of the person.
            report: What they sent.
            record: What is stored of it, of which `owner` knows number and report.

        Returns:
            Done when it is durable; with a `RefusalError` if it is not kept, and an `OtherReportError` if another one
            of this person was just being stored, and is.

        Raises:
            OtherReportError: this person uploaded another one.
            ClosedError: no more are taken.
            RefusalError: too much waits to be stored.
        """
        mark = _mark(report)
        with self._changed:
            before = self._marks[number].tobytes()
            if before == mark:
                return _done()
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
        """The records after a place in the store, some at a time, each with the place after it."""
        return self._store.after(place)

    def close(self) -> None:
        """Let another process open the store."""
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
    found = hashlib.sha256(report).digest()[:_MARK_BYTES]
    return found if any(found) else b"\1" * _MARK_BYTES


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


def _done() -> Future[None]:
    future: Future[None] = Future()
    future.set_result(None)
    return future
