"""What one server was sent: on disk before it is acknowledged, each person once, in one order at all servers.

Server 0 takes reports, and stores each with the digest of its owner's credential:

    record = digest 16 | report

It relays to every other server the parts for it, in the order in which it stored the reports. A server that is relayed
parts stores them as they are. So the place of a part in the store is the same at all servers, and a relay that was cut
off goes on where the other one's store ends.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path

from ogive.errors import PeerError, RefusalError
from ogive.segments.log import BEGINNING, Place, Segments
from ogive.study.servers.document import ServersStudy
from ogive.study.servers.enrolment import DIGEST_BYTES, Enrolled
from ogive.study.servers.reports import part_bytes, read_report
from ogive.study.submissions import ClosedError, NotEnrolledError, Submissions

FOLDER = "uploads"


class Reports:
    """The reports that server 0 takes.

    Args:
        study: The study.
        folder: Of the server.
        enrolled: Who may upload.
        closed: Whether no more are taken.

    Raises:
        RefusalError: the store cannot be used.
    """

    def __init__(self, study: ServersStudy, folder: Path, enrolled: Enrolled, *, closed: bool = False) -> None:
        self._study = study
        self._enrolled = enrolled
        self._kept = Submissions(folder / FOLDER, len(enrolled), self._owner, closed=closed)

    def _owner(self, record: bytes) -> tuple[int, bytes]:
        number = self._enrolled.place(record[:DIGEST_BYTES])
        if number is None:
            raise RefusalError("people whose reports are stored are not in the list of who may upload; restore it")
        return number, record[DIGEST_BYTES:]

    def __len__(self) -> int:
        """How many reports are stored."""
        return len(self._kept)

    @property
    def usable(self) -> bool:
        """Whether more can be stored before the process is started again."""
        return self._kept.usable

    @property
    def size(self) -> int:
        """How many bytes they take."""
        return self._kept.size

    @property
    def by_hour(self) -> list[list[int]]:
        """How many were stored in which of the last hours."""
        return self._kept.by_hour

    def number(self, shown: bytes) -> int:
        """The number of the person who shows a credential.

        Raises:
            NotEnrolledError: nobody has it.
        """
        number = self._enrolled.number(shown)
        if number is None:
            raise NotEnrolledError("nobody who is enrolled in this study has this credential")
        return number

    def take(self, number: int, report: bytes) -> Future[None]:
        """Store the report of a person; the same one again is as good as the first time.

        Returns:
            Done when it is durable; with a `RefusalError` if it is not kept.

        Raises:
            PeerError: it is no report of this study.
            OtherReportError: this person uploaded another one.
            ClosedError: no more are taken.
            RefusalError: too much waits to be stored.
        """
        read_report(report, self._study)
        return self._kept.take(number, report, self._enrolled.digest(number) + report)

    def close_uploads(self) -> int:
        """Take no more reports; returns how many there are once all that wait are stored."""
        return self._kept.close_uploads()

    def parts(self, server: int, place: Place = BEGINNING) -> Iterator[tuple[Place, list[bytes]]]:
        """The sealed parts for a server after a place in the store, some at a time, each with the place after it."""
        for after, records in self._kept.after(place):
            yield after, [read_report(record[DIGEST_BYTES:], self._study)[server] for record in records]

    def close(self) -> None:
        """Let another process open the store."""
        self._kept.close()


class Relayed:
    """The parts that a server other than 0 is relayed.

    Args:
        study: The study.
        server: Its number.
        folder: Of the server.
        closed: After how many parts no more are taken; None while they are.

    Raises:
        RefusalError: the store cannot be used.
    """

    def __init__(self, study: ServersStudy, server: int, folder: Path, *, closed: int | None = None) -> None:
        self._length = part_bytes(study, server)
        self._closed = closed
        self._one = threading.Lock()
        self._store = Segments(folder / FOLDER)
        self._stored = sum(1 for _ in self._store)

    def __len__(self) -> int:
        """How many parts are stored."""
        return self._stored

    @property
    def usable(self) -> bool:
        """Whether more can be stored before the process is started again."""
        return self._store.usable

    @property
    def size(self) -> int:
        """How many bytes they take."""
        return self._store.size

    def take(self, start: int, parts: Sequence[bytes]) -> int:
        """Store parts that follow those that are there; what is there already is passed over.

        Returns:
            How many are stored now.

        Raises:
            PeerError: they begin further on, or one has another length than all have.
            ClosedError: no more are taken.
            RefusalError: they could not be stored.
        """
        if any(len(part) != self._length for part in parts):
            raise PeerError("a relayed part has another length than expected")
        with self._one:
            if start > self._stored:
                raise PeerError(f"parts from number {start} on were relayed, and {self._stored} are stored")
            new = parts[self._stored - start :]
            if new:
                if self._closed is not None:
                    raise ClosedError("the study takes no more uploads")
                self._store.append(new)
                self._stored += len(new)
            return self._stored

    def close_uploads(self, count: int) -> None:
        """Take no more parts.

        Raises:
            PeerError: not so many are stored.
        """
        with self._one:
            if self._stored != count:
                raise PeerError(f"{self._stored} parts are stored, and {count} are to be counted")
            self._closed = count

    def parts(self) -> Iterator[list[bytes]]:
        """The sealed parts, some at a time."""
        for _, records in self._store.after(BEGINNING):
            yield records

    def close(self) -> None:
        """Let another process open the store."""
        self._store.close()
