"""Connections that strangers open: each says what it wants soon and in few bytes, or it ends."""

from __future__ import annotations

import asyncio
import logging
import resource
import time
from asyncio import sslproto
from typing import ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState

HEAD_SECONDS = 20.0
"""How long the head of a request may take to come, and a new connection to begin one."""
WRITE_SECONDS = 60.0
"""How long a client may leave a part of an answer unread before more of it is read."""
HEAD_BYTES = 1 << 16
"""How long it may be, before it is complete."""
_READ_BYTES = 1 << 15
_MINUTE = 60.0


class Connection(HttpToolsProtocol):
    """An HTTP connection whose requests have a limit of time and length, and which ends where there are too many.

    uvicorn has no such limits: who says nothing, or does not read what was asked for, would be waited for without end,
    in a place that others need.
    """

    _head: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
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
        self._read_on()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client reads too slowly."""
        if self._unread is None:
            self._unread = self.loop.call_later(WRITE_SECONDS, self.transport.abort)
        super().pause_writing()

    def resume_writing(self) -> None:
        """The client has read on."""
        self._read_on()
        super().resume_writing()

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

    def _read_on(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _stop(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None


class WebSocket(WebSocketsSansIOProtocol):
    """A connection of WebSocket that a service can end at any moment.

    uvicorn stops with an error, without waiting for its other connections, where it is told to stop while a connection
    waits for the answer to its close frame.
    """

    def shutdown(self) -> None:
        """End the connection."""
        try:
            super().shutdown()
        except InvalidState:
            self.transport.close()


class OneLine(logging.Filter):
    """One line a minute of what strangers can bring about as often as they like, and which asyncio or uvicorn log."""

    _SAID: ClassVar[dict[str, str | None]] = {
        "socket.accept() out of system resource": "too many files are open; new connections wait",
        "Invalid HTTP request received": "something that is no HTTP request was refused",
        "Unsupported upgrade request": "a request for another protocol was refused",
        "No supported WebSocket library detected": None,
        "Exceeded concurrency limit": "too many connections are open",
    }

    def __init__(self) -> None:
        super().__init__()
        self._next: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether something is logged."""
        message = record.getMessage()
        for beginning, said in self._SAID.items():
            if message.startswith(beginning):
                now = time.monotonic()
                if said is None or now < self._next.get(beginning, now):
                    return False
                self._next[beginning] = now + _MINUTE
                record.msg, record.args, record.exc_info = said, (), None
        return True


def small_buffers() -> None:
    """Let an encrypted connection take 32 KB of memory for what it reads, two TLS records, instead of 256 KB.

    asyncio has no option for this. It allocates the whole buffer for each connection, also for one that says nothing,
    so that strangers could make a service take gigabytes.
    """
    sslproto.SSLProtocol.max_size = _READ_BYTES


def allow_files(count: int) -> None:
    """Let this process open so many files, or as many as it may."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if most == resource.RLIM_INFINITY else min(count, most)
    if now != resource.RLIM_INFINITY and now < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
