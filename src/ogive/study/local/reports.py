"""The reports that a service takes: those that a device can send, one of each participant, each as it was sent.

The store holds whole reports, so it is read by `ogive local aggregate` as a file of them is.
"""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

import numpy as np

from ogive.errors import PeerError, RefusalError
from ogive.local.codec import HEADER_BYTES, TAG_BYTES, VERSION, read_numbers
from ogive.local.description import Description
from ogive.study.submissions import Submissions


class LocalReports:
    """A store of reports to one description.

    Args:
        description: What was asked.
        folder: Of the store, made if it is not there.
        people: How many may report; they have the numbers from 0 on.

    Raises:
        RefusalError: the store cannot be used, or holds something else.
    """

    def __init__(self, description: Description, folder: Path, people: int) -> None:
        self._description = description
        self._people = people
        self._front = bytes([VERSION]) + description.tag
        self._scratch = np.zeros(description.oracle.shape, dtype=np.int64)
        self._kept = Submissions(folder, people, self._owner)
        # compiled before anybody waits for it
        description.oracle.add(
            self._scratch, np.zeros(1, np.int64), np.zeros((1, description.oracle.payload_bytes), np.uint8)
        )

    def _owner(self, record: bytes) -> tuple[int, bytes]:
        try:
            return self._number(record), record
        except PeerError:
            raise RefusalError(
                "the store holds reports to another description, or of people who are not in the list of who may "
                "report; name its own store"
            ) from None

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

    def take(self, person: int, report: bytes) -> Future[None]:
        """Store the report of a participant; the same one again is as good as the first time.

        Returns:
            Done when it is durable; with a `RefusalError` if it is not kept.

        Raises:
            PeerError: no device of this participant can send it.
            OtherReportError: this participant sent another one.
            RefusalError: too much waits to be stored.
        """
        if self._number(report) != person:
            raise PeerError("the report has the number of another participant than the token")
        payloads = np.frombuffer(report, np.uint8, offset=HEADER_BYTES)[np.newaxis]
        if not self._description.oracle.add(self._scratch, np.array([person]), payloads)[0]:
            raise PeerError("no device sends such a report to this participant's question")
        return self._kept.take(person, report, report)

    def _number(self, report: bytes) -> int:
        """The participant whom a report names.

        Raises:
            PeerError: it is no report of this collection.
        """
        if len(report) != self._description.report_bytes:
            raise PeerError(f"a report of this collection has {self._description.report_bytes} bytes")
        if report[: 1 + TAG_BYTES] != self._front:
            raise PeerError("the report is to another description; read the one that this service gives")
        number = int(read_numbers(np.frombuffer(report, np.uint8)[np.newaxis])[0])
        if number >= self._people:
            raise PeerError(f"participants have the numbers 0 to {self._people - 1}")
        return number

    def close(self) -> None:
        """Let another process open the store."""
        self._kept.close()
