"""What the services of a study share: limits on connections, responses, bodies, and values that many ask for.

Strangers open connections; each says what it wants soon and in few bytes, or it ends. A process has a number of places
for connections. Where all are taken and another connection comes, one of those ends of which no whole request is being
answered, and no request whose sender has shown a token is coming: the oldest one of the network that has most of them.
So connections that wait keep nobody out, however many there are.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import resource
import time
from asyncio import constants, sslproto
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Lifespan, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState

HEAD_SECONDS = 20.0
"""How long the head of a request may take to come, and a new connection to begin one."""
WRITE_SECONDS = 60.0
"""How long a client may leave a part of an answer unread before more of it is read."""
HEAD_BYTES = 1 << 16
"""Bytes that the head of a request may have."""
BODY_SECONDS = 30.0
LEAST_RATE = 4096.0
"""A body of n bytes may take BODY_SECONDS + n / LEAST_RATE to come."""
UNREAD_SECONDS = 5.0
UNREAD_BYTES = 1 << 24
"""How much of a body is taken and dropped, after its answer was sent, so that the client reads the answer."""
BACKLOG = 64
"""How many connections the operating system keeps until they are accepted, all of them at once."""
OTHER_FILES = 2 * BACKLOG
"""Files that are left for everything that is no connection, and for connections that have just been accepted."""
HANDSHAKE_SECONDS = 10.0
"""How long a client may take for the handshake of TLS."""
_READ_BYTES = 1 << 15
_MINUTE = 60.0
_CHECK_SECONDS = 5.0
_SUBNET = 64


class Places:
    """Who has the connections of a process, and whose ends where one more comes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._transports: dict[Any, asyncio.Transport] = {}
        self._waiting: dict[str, dict[Any, None]] = {}
        """Of each network the clients whose connections may end, in the order in which they began to wait."""

    def __len__(self) -> int:
        return len(self._transports)

    def opened(self, transport: asyncio.Transport) -> Any:
        ends = [transport.get_extra_info(name) for name in ("peername", "sockname")]
        client = tuple(end[:2] for end in ends) if all(isinstance(end, tuple) for end in ends) else id(transport)
        if client not in self._transports:
            self._transports[client] = transport
            self.waits(client)
            if len(self._transports) > self._most:
                self._end_one()
        return client

    def closed(self, client: Any) -> None:
        if self._transports.pop(client, None) is not None:
            self.stays(client)

    def waits(self, client: Any) -> None:
        """A connection may end from now on, where there are too many."""
        if client in self._transports:
            self._waiting.setdefault(_network(client), {}).setdefault(client)

    def stays(self, client: Any) -> None:
        """A connection does not end for others."""
        of_network = self._waiting.get(_network(client), {})
        of_network.pop(client, None)
        if not of_network:
            self._waiting.pop(_network(client), None)

    def _end_one(self) -> None:
        clients = max(self._waiting.values(), key=len)  # the newest one waits
        client = next(iter(clients))
        transport = self._transports[client]
        self.closed(client)
        transport.abort()


def _network(client: Any) -> str:
    host = client[0][0] if isinstance(client, tuple) else ""
    if ":" not in host:
        return str(host)
    address = ipaddress.IPv6Address(host.partition("%")[0])
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((address, _SUBNET), strict=False))


def is_known(scope: Scope) -> None:
    """Say that whoever sends a request has shown a token: until it is answered its connection ends for no other."""
    if Connection.places is not None and scope.get("client") and scope.get("server"):
        Connection.places.stays((tuple(scope["client"]), tuple(scope["server"])))


def closing_unread(application: ASGIApp) -> ASGIApp:
    """An application whose connections end where a request was answered before its body had come.

    The rest of the body is dropped for a while, since a client that still sends might not read the answer.
    """

    async def answered(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await application(scope, receive, send)
            return
        headers = dict(scope["headers"])
        complete = headers.get(b"content-length", b"0") == b"0" and b"transfer-encoding" not in headers
        closing = waited_for = False

        async def received() -> Message:
            nonlocal complete, waited_for
            waited_for = True
            message = await receive()
            complete |= message["type"] != "http.request" or not message.get("more_body", False)
            return message

        async def drop() -> None:
            left = UNREAD_BYTES
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(UNREAD_SECONDS):
                    while not complete and left > 0:
                        left -= len((await received()).get("body", b""))

        async def sent(message: Message) -> None:
            nonlocal closing
            if message["type"] == "http.response.start" and not complete:
                closing = True
                others = [each for each in message.get("headers", []) if each[0].lower() != b"connection"]
                message = {**message, "headers": [*others, (b"connection", b"close")]}
            if closing and message["type"] == "http.response.body" and not message.get("more_body", False):
                await send({**message, "more_body": True})
                if waited_for or b"expect" not in headers:  # such a client sends nothing before it is told to
                    await drop()
                message = {"type": "http.response.body"}
            await send(message)

        await application(scope, received, sent)

    return answered


class Connection(HttpToolsProtocol):
    """An HTTP connection whose requests have a limit of time and length, and which ends where there are too many.

    uvicorn has no such limits: who says nothing, or does not read what was asked for, would be waited for without end,
    in a place that others need.

    Fields:
        places: Of the process; None where they are not limited.
    """

    places: ClassVar[Places | None] = None
    _at: Any = None
    _head: asyncio.TimerHandle | None = None
    _body: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _bytes = 0
    """Bytes that came since the last part of a body, or the last end of a head or a request."""
    _head_bytes = 0
    _body_bytes = 0
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.places is not None:
            self._at = self.places.opened(transport)
        self._await()

    def data_received(self, data: bytes) -> None:
        if self._head is None and self._body is None and (self.cycle is None or self.cycle.response_complete):
            self._await()
        self._bytes += len(data)
        super().data_received(data)
        if self._bytes > HEAD_BYTES:  # a head, or a trailer or a line between parts of a body, that does not end
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop("_head", "_body", "_unread")
        if self.places is not None:
            self.places.closed(self._at)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        if self._unread is None:
            self._unread = self.loop.call_later(WRITE_SECONDS, self.transport.abort)
        self._waits()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._stop("_unread")
        if self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete:
            self._stays()
        super().resume_writing()

    def on_message_begin(self) -> None:
        self._await()
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._add(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._add(len(name) + len(value) + len(": \r\n"))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._stop("_head")
        self._bytes, self._body_bytes, self._since = 0, 0, self.loop.time()
        self._body = self.loop.call_later(BODY_SECONDS, self._check)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._bytes = 0
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._bytes = 0
        self._stop("_body")
        self._stays()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """A request is answered; another whole one may have come meanwhile."""
        if not self.pipeline:
            self._waits()
        super().on_response_complete()

    def handle_websocket_upgrade(self) -> None:
        """The connection becomes one of WebSocket, whose application asks who it is and says so by `is_known`."""
        self._stop("_body")
        self._waits()
        super().handle_websocket_upgrade()

    def _add(self, count: int) -> None:
        self._head_bytes += count
        if self._head_bytes > HEAD_BYTES:
            raise ValueError("the head is too long")

    def _await(self) -> None:
        if self._head is None:
            self._bytes = self._head_bytes = 0
            self._head = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _check(self) -> None:
        """End a connection whose body comes too slowly; an application that reads slowly is waited for."""
        if self.flow.read_paused:
            self._since += _CHECK_SECONDS
        late = self.loop.time() - self._since - BODY_SECONDS
        if self._body_bytes < late * LEAST_RATE:
            self.transport.abort()
        else:
            self._body = self.loop.call_later(_CHECK_SECONDS, self._check)

    def _stays(self) -> None:
        if self.places is not None:
            self.places.stays(self._at)

    def _waits(self) -> None:
        if self.places is not None:
            self.places.waits(self._at)

    def _stop(self, *timers: str) -> None:
        for timer in timers:
            handle = getattr(self, timer)
            if handle is not None:
                handle.cancel()
                setattr(self, timer, None)


class Encrypted(sslproto.SSLProtocol):
    """A connection of TLS that has its place before its handshake."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._at = Connection.places.opened(transport) if Connection.places is not None and self._server_side else None
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        if Connection.places is not None and self._at is not None:
            Connection.places.closed(self._at)
        super().connection_lost(exc)


class WebSocket(WebSocketsSansIOProtocol):
    """A connection of WebSocket that a service can end at any moment.

    uvicorn stops with an error, without waiting for its other connections, where it is told to stop while a connection
    waits for the answer to its close frame.
    """

    def shutdown(self) -> None:
        try:
            super().shutdown()
        except InvalidState:
            self.transport.close()


class OneLine(logging.Filter):
    """One line a minute of what strangers can bring about as often as they like, and which asyncio or uvicorn log."""

    _TEXTS: ClassVar[dict[str, str | None]] = {
        "socket.accept() out of system resource": "too many files are open; new connections wait",
        "Invalid HTTP request received": "something that is not an HTTP request was refused",
        "Unsupported upgrade request": "a request for another protocol was refused",
        "No supported WebSocket library detected": None,
    }

    def __init__(self) -> None:
        super().__init__()
        self._next: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        for beginning, text in self._TEXTS.items():
            if message.startswith(beginning):
                now = time.monotonic()
                if text is None or now < self._next.get(beginning, now):
                    return False
                self._next[beginning] = now + _MINUTE
                record.msg, record.args, record.exc_info = text, (), None
        return True


def limit(most: int) -> None:
    """Limit the connections of this process, and what each takes.

    An encrypted connection takes 32 KB of memory for what it reads, two TLS records, instead of 256 KB: asyncio has no
    option for this, and allocates the whole buffer for each connection, also for one that says nothing.
    """
    Connection.places = Places(min(most, max(resource.getrlimit(resource.RLIMIT_NOFILE)[0] - OTHER_FILES, 1)))
    Encrypted.max_size = _READ_BYTES
    sslproto.SSLProtocol = Encrypted  # type: ignore[misc]
    constants.SSL_HANDSHAKE_TIMEOUT = HANDSHAKE_SECONDS


def allow_files(count: int) -> None:
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    most_needed = count if most == resource.RLIM_INFINITY else min(count, most)
    if now != resource.RLIM_INFINITY and now < most_needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most_needed, most))


# --- Responses that every service of a study gives

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

FAILED = "nothing more can be stored; find out why a write to the disk failed, and start the process again"
"""What `/health` says where a store failed."""


def exact(*, routes: Sequence[BaseRoute], lifespan: Lifespan[Starlette] | None = None) -> Starlette:
    """An application whose paths are taken as they are: a redirect would name the host that the client has named."""
    result = Starlette(routes=routes, lifespan=lifespan)
    result.router.redirect_slashes = False
    return result


@contextlib.asynccontextmanager
async def beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def line(text: str, status: int) -> Response:
    return PlainTextResponse(text + "\n", status_code=status)


def html(page: str, *, more: str = "") -> Response:
    """A page that is not kept, and loads nothing but what `more` of its policy allows."""
    return HTMLResponse(
        page,
        headers={
            "Content-Security-Policy": _POLICY + more,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
        },
    )


# --- Who sends a request, and its body in a short time


def bearer(request: Request) -> str:
    """The token that a request shows; empty without one."""
    scheme, _, shown = request.headers.get("authorization", "").partition(" ")
    return shown if scheme.lower() == "bearer" else ""


async def admit(
    request: Request, add: Callable[[bytes], bool], *, what: str, most: str, seconds: float | None
) -> tuple[str, int] | None:
    """Read a body, whose parts `add` takes while they fit; or why it is not taken, and the status that says so."""
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                if not add(chunk):
                    return most, 413
    except TimeoutError:
        return f"the {what} came too slowly", 408
    except ClientDisconnect:
        return f"the {what} was cut off", 400
    return None


# --- What strangers ask for and the disk knows, read at most once a second, however many ask

T = TypeVar("T")

SECONDS = 1.0


class Recent(Generic[T]):
    """A value that is found in a thread, and given for a second."""

    def __init__(self, find: Callable[[], T]) -> None:
        self._find = find
        self._one = asyncio.Lock()
        self._value: tuple[float, T] | None = None

    async def get(self) -> T:
        async with self._one:
            if self._value is None or time.monotonic() - self._value[0] >= SECONDS:
                begun = time.monotonic()
                self._value = begun, await run_in_threadpool(self._find)
            return self._value[1]
