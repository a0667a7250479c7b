"""Connections that strangers open at a service and leave open, or fill without end."""

import asyncio
import contextlib
import logging
import resource
import socket

import pytest
import uvicorn
from helpers.study_service import free_port
from helpers.waiting import PATIENCE, in_thread, until
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from uvicorn.server import ServerState
from websockets.exceptions import InvalidState

from ogive.study.https import connections
from ogive.study.https.connections import Connection, OneLine, WebSocket, allow_files

LARGE = 1 << 26
CLOSE = b"\x88\x02\x03\xe8"
"""A close frame with the code 1000."""
GET = b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.fixture
def service(monkeypatch):
    """Of a service that takes three connections."""
    number = free_port()

    async def health(_):
        return PlainTextResponse("ok")

    async def large(_):
        return PlainTextResponse("x" * LARGE)

    # a test shortens what it waits for, and nothing else
    monkeypatch.setattr(connections, "HEAD_SECONDS", PATIENCE)
    monkeypatch.setattr(connections, "WRITE_SECONDS", PATIENCE)
    server = uvicorn.Server(
        uvicorn.Config(
            Starlette(routes=[Route("/health", health), Route("/large", large)]),
            host="127.0.0.1", port=number, http=Connection,
            limit_concurrency=3, log_level="critical", loop="asyncio", ws="none", timeout_keep_alive=PATIENCE,
        )
    )  # fmt: skip
    with in_thread(server):
        yield server


@pytest.fixture
def opened(service):
    """Opens connections to it, and says something."""
    with contextlib.ExitStack() as stack:

        def connect(said=b""):
            found = stack.enter_context(socket.create_connection(("127.0.0.1", service.config.port), timeout=PATIENCE))
            with contextlib.suppress(ConnectionError):  # on a busy machine the service has hung up meanwhile
                found.sendall(said)
            return found

        yield connect


def ended(connection):
    """Whether the service hangs up, without an answer."""
    try:
        return connection.recv(1 << 16) == b""
    except ConnectionResetError:
        return True


def answered(connection):
    """Whether the service answers, to the end of what it says."""
    found = b""
    while not found.endswith(b"ok"):
        some = connection.recv(1 << 16)
        if not some:
            return False
        found += some
    return found.startswith(b"HTTP/1.1 200 OK")


def test_who_says_nothing_or_half_of_it_takes_no_place_for_long(opened, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.5)
    idle = [opened(), opened(GET[:20]), opened(GET[:-1])]
    assert all(map(ended, idle))
    monkeypatch.setattr(connections, "HEAD_SECONDS", PATIENCE)
    another = opened(GET)
    assert answered(another)
    another.sendall(GET)  # and goes on for as long as it asks
    assert answered(another)
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.5)
    another.sendall(GET[:20])
    assert ended(another)


def read_to_the_end(connection):
    """How many bytes the service sends until it hangs up."""
    found = 0
    with contextlib.suppress(ConnectionResetError):
        while some := connection.recv(1 << 20):
            found += len(some)
    return found


def test_who_does_not_read_what_was_asked_for_takes_no_place_for_long(opened, service, monkeypatch):
    asked = GET.replace(b"health", b"large").replace(b"Host", b"Connection: close\r\nHost")
    assert read_to_the_end(opened(asked)) > LARGE  # the control: who reads gets all
    monkeypatch.setattr(connections, "WRITE_SECONDS", 0.5)
    lazy = opened(asked)
    until(lambda: service.server_state.total_requests == 2 and not service.server_state.connections)
    assert read_to_the_end(lazy) < LARGE
    assert answered(opened(GET))


def test_a_head_without_end_is_not_kept(opened):
    connection = opened(GET[:-2])
    with pytest.raises(ConnectionError):
        connection.sendall((b"X: " + b"a" * 1000 + b"\r\n") * 60_000)


def test_what_is_beyond_the_limit_is_hung_up_on(opened):
    others = [opened(GET[:20]) for _ in range(3)]
    assert ended(opened(GET))
    for other in others:  # they have their places
        other.sendall(GET[20:])
        assert not ended(other)


def test_connections_that_cannot_be_accepted_fill_no_log(caplog):
    logger = logging.getLogger("test of connections")
    logger.addFilter(OneLine())
    for _ in range(3):
        logger.error("socket.accept() out of system resource\nsocket: 3", exc_info=OSError(24, "too many"))
        logger.error("something else")
        logger.warning("Invalid HTTP request received.")
        logger.warning("Unsupported upgrade request.")
        logger.warning("No supported WebSocket library detected. Please use something")
    lines = [record.getMessage() for record in caplog.records]
    once = ["something that is no HTTP request was refused", "a request for another protocol was refused"]
    assert lines == ["too many files are open; new connections wait", "something else", *once, *["something else"] * 2]
    assert caplog.records[0].exc_info is None


def test_a_service_may_open_as_many_files_as_it_needs():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (512, before[1]))
        allow_files(600)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (600, before[1])
        allow_files(100)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 600
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


class Kept:
    """A transport that keeps what is written, and whose connection stays after it was closed, as TLS lets it."""

    def __init__(self):
        self.written, self.closed = b"", False

    def get_extra_info(self, _, default=None):
        return default

    def write(self, data):
        self.written += data

    def close(self):
        self.closed = True

    def is_closing(self):
        return self.closed


def test_a_service_stops_while_a_client_has_not_answered_its_close_frame():
    hello = (
        b"GET /pairs HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )

    async def close(websocket):
        await websocket.accept()
        await websocket.close(1000)

    async def serve():
        config = uvicorn.Config(Starlette(routes=[WebSocketRoute("/pairs", close)]), ws=WebSocket, lifespan="off")
        config.load()
        connection, transport = WebSocket(config, ServerState(), {}), Kept()
        connection.connection_made(transport)
        connection.data_received(hello)
        while CLOSE not in transport.written:
            await asyncio.sleep(0)
        with pytest.raises(InvalidState):  # the control: uvicorn's own
            super(WebSocket, connection).shutdown()
        transport.closed = False
        connection.shutdown()
        assert transport.closed

    asyncio.run(asyncio.wait_for(serve(), PATIENCE))
