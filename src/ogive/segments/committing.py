"""Many appends at a time share one write to the disk, so that waiting for it costs each of them little."""

from __future__ import annotations

import threading
from concurrent.futures import Future

from ogive.errors import RefusalError
from ogive.segments.log import Segments

MOST_WAITING = 1 << 26
"""Bytes that may wait to be written."""


class Committer:
    """A thread that appends what waits, all of it in one commit.

    Args:
        segments: To which is appended; by this alone.
        most_waiting: Bytes that may wait; more is refused.
    """

    def __init__(self, segments: Segments, *, most_waiting: int = MOST_WAITING) -> None:
        self._segments = segments
        self._most = most_waiting
        self._waiting: list[tuple[bytes, Future[None]]] = []
        self._bytes = 0
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="ogive-committer", daemon=True)
        self._thread.start()

    def submit(self, record: bytes) -> Future[None]:
        """Store a record; the future is done when it is durable, and has a `RefusalError` if it is not kept.

        Raises:
            RefusalError: too much waits already, or no more is taken.
        """
        future: Future[None] = Future()
        future.set_running_or_notify_cancel()  # who stops waiting does not take back what is being written
        with self._changed:
            if self._closed:
                raise RefusalError("the store is closed")
            if self._bytes + len(record) > self._most:
                raise RefusalError("the store is busy; try again")
            self._waiting.append((record, future))
            self._bytes += len(record)
            self._changed.notify()
        return future

    def close(self) -> None:
        """Take no more, and wait until all is written."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                some, self._waiting, self._bytes = self._waiting, [], 0
            if not some:
                return
            try:
                self._segments.append([record for record, _ in some])
            except BaseException as problem:
                for _, future in some:
                    future.set_exception(problem)
            else:
                for _, future in some:
                    future.set_result(None)
