"""Connections that strangers open: each says what it wants soon and in few bytes, or it ends."""

from __future__ import annotations

import asyncio
import logging
import resource
import time

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 20.0
"""How long the head of a request may take to come, and a new connection to begin one."""
HEAD_BYTES = 1 << 16
"""How long it may be, before it is complete."""
_MINUTE = 60.0


class Connection(HttpToolsProtocol):
    """An HTTP connection whose requests have a limit of time and length, and which ends where there are too many.

    uvicorn has no such limits: who says nothing would be waited for without end, in a place that others need.
    """

    _head: asyncio.TimerHandle | None = None
    _bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        if self.limit_concurrency is not None and len(self.connections) > self.limit_concurrency:
            transport.abort()
        else:
            self._await()

    def data_received(self, data: bytes) -> None:
        """Read on."""
        self._bytes += len(data)
        super().data_received(data)
        if self._head is not None and self._bytes > HEAD_BYTES:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing."""
        self._stop()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """A head begins."""
        self._await()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """A head is complete."""
        self._stop()
        super().on_headers_complete()

    def _await(self) -> None:
        if self._head is None:
            self._bytes = 0
            self._head = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _stop(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None


class OneLine(logging.Filter):
    """Of connections that cannot be accepted, which asyncio reports thousands of times a second, one line a minute."""

    _next = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether something is logged."""
        if not record.getMessage().startswith("socket.accept() out of system resource"):
            return True
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + _MINUTE
        record.msg, record.args, record.exc_info = "too many files are open; new connections wait", (), None
        return True


def allow_files(count: int) -> None:
    """Let this process open so many files, or as many as it may."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if most == resource.RLIM_INFINITY else min(count, most)
    if now != resource.RLIM_INFINITY and now < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
