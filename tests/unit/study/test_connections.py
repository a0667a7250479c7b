"""Connections that strangers open at a service and leave open, or fill without end."""

import asyncio
import contextlib
import logging
import resource
import socket
import ssl
import threading
import time
from pathlib import Path

import pytest
import uvicorn
import websockets.sync.client
from helpers.study import Trial
from helpers.study_service import free_port
from helpers.waiting import PATIENCE, in_thread, until
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from uvicorn.server import ServerState
from websockets.exceptions import InvalidState

from ogive.errors import ParameterError
from ogive.study.enrolment import equip
from ogive.study.https import connections
from ogive.study.https import service as serving
from ogive.study.https.connections import (
    Connection,
    Encrypted,
    OneLine,
    Places,
    WebSocket,
    allow_files,
    closing_unread,
    exact,
    is_known,
    limit,
)

LARGE = 1 << 26
SOURCES = Path(connections.__file__).parents[2]
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

    async def upload(request):
        is_known(request.scope)
        return PlainTextResponse("ok" if len(await request.body()) else "nothing")

    # a test shortens what it waits for, and nothing else
    monkeypatch.setattr(connections, "HEAD_SECONDS", PATIENCE)
    monkeypatch.setattr(connections, "WRITE_SECONDS", PATIENCE)
    monkeypatch.setattr(connections, "BODY_SECONDS", PATIENCE)
    monkeypatch.setattr(connections, "UNREAD_SECONDS", PATIENCE)
    monkeypatch.setattr(Connection, "places", Places(3))
    routes = [Route("/health", health), Route("/large", large), Route("/upload", upload, methods=["POST"])]
    server = uvicorn.Server(
        uvicorn.Config(
            closing_unread(Starlette(routes=routes)), host="127.0.0.1", port=number, http=Connection,
            log_level="critical", loop="asyncio", ws="none", timeout_keep_alive=PATIENCE,
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


def test_a_head_of_more_than_64_kb_is_refused_however_it_comes(opened):
    for size, found in ((60_000, b"HTTP/1.1 200"), (70_000, b"HTTP/1.1 400")):
        connection = opened(GET[:-2] + b"X: " + b"a" * size + b"\r\n\r\n")
        assert connection.recv(12) == found


@pytest.fixture
def places(service):
    return Connection.places


def test_where_all_places_are_taken_the_one_that_waits_longest_ends(opened, places):
    others = []
    for number in range(3):
        others.append(opened(GET[:20]))
        until(lambda number=number: len(places) == number + 1)
    assert answered(opened(GET))
    assert ended(others[0])
    for other in others[2:]:  # it has its place
        other.sendall(GET[20:])
        assert answered(other)


def test_a_request_that_is_answered_or_whose_sender_is_known_keeps_its_place(opened, service, places):
    lazy = opened(UPLOAD % 4)
    until(lambda: len(places) == 1 and not places._waiting)
    crowd = [opened(UNREAD) for _ in range(12)]
    assert all(answered(each) for each in crowd[-2:])
    lazy.sendall(b"true")
    assert answered(lazy)


@pytest.mark.parametrize("said", [b"0\r\nX: ", b"1;x=", b""], ids=["trailer", "chunk", "blank lines"])
def test_what_is_neither_head_nor_body_has_an_end(opened, said):
    """Parsers keep a trailer until it is complete, and pass over lines before a head."""
    front = UPLOAD.partition(b"Content")[0] + b"Transfer-Encoding: chunked\r\n\r\n" if said else GET
    connection = opened(front + said)
    if not said:
        assert answered(connection)
    with pytest.raises(ConnectionError):
        connection.sendall((b"a" if said else b"\r\n") * 60_000_000)


def test_who_says_nothing_but_blank_lines_takes_no_place_for_long(opened, monkeypatch):
    connection = opened(GET)
    assert answered(connection)
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.3)
    connection.sendall(b"\r\n")
    assert ended(connection)


def test_a_request_that_came_before_the_last_was_answered_keeps_its_place(opened, places):
    connection = opened(UPLOAD % 4 + b"true" + UPLOAD % 4 + b"true" + UPLOAD % 4)
    found = b""
    while found.count(b"ok") < 2:
        found += connection.recv(1 << 16)
    until(lambda: not places._waiting)  # the third one is coming, and its sender is known
    connection.sendall(b"true")
    assert answered(connection)
    until(lambda: len(places._waiting) == 1)


def test_a_stranger_at_a_websocket_keeps_no_place(monkeypatch):
    known = threading.Event()

    async def pairs(websocket):
        await websocket.accept()
        if await websocket.receive_text() == "token":
            is_known(websocket.scope)
            known.set()
        await websocket.receive_text()

    monkeypatch.setattr(Connection, "places", Places(3))
    config = uvicorn.Config(
        Starlette(routes=[WebSocketRoute("/pairs", pairs)]), host="127.0.0.1", port=free_port(), http=Connection,
        ws=WebSocket, log_level="critical", loop="asyncio",
    )  # fmt: skip
    with in_thread(uvicorn.Server(config)), contextlib.ExitStack() as stack:

        def connect():
            return stack.enter_context(
                websockets.sync.client.connect(f"ws://127.0.0.1:{config.port}/pairs", proxy=None)
            )

        friend = connect()
        friend.send("token")
        assert known.wait(PATIENCE)
        strangers = [connect() for _ in range(6)]
        with pytest.raises(websockets.ConnectionClosed):
            strangers[0].recv(timeout=PATIENCE)
        assert len(Connection.places) == 3
        friend.ping().wait(PATIENCE)
        assert friend.state is websockets.State.OPEN


def test_connections_without_a_handshake_keep_nobody_out(tmp_path, monkeypatch):
    async def health(_):
        return PlainTextResponse("ok")

    folder = tmp_path / "tls"
    equip(folder, Trial(tmp_path).study, hosts=("127.0.0.1",))
    monkeypatch.setattr(Connection, "places", Places(3))
    monkeypatch.setattr(asyncio.sslproto, "SSLProtocol", Encrypted)
    config = serving.configuration(Starlette(routes=[Route("/health", health)]), folder)
    config.host, config.port, config.timeout_graceful_shutdown = "127.0.0.1", free_port(), 1
    with in_thread(uvicorn.Server(config)), contextlib.ExitStack() as stack:
        silent = [
            stack.enter_context(socket.create_connection(("127.0.0.1", config.port), timeout=PATIENCE))
            for _ in range(12)
        ]
        context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
        for _ in range(3):
            raw = socket.create_connection(("127.0.0.1", config.port), timeout=PATIENCE)
            with context.wrap_socket(raw, server_hostname="127.0.0.1") as honest:
                honest.sendall(GET)
                assert answered(honest)
        assert ended(silent[0])
        assert len(Connection.places) <= 3
        stack.close()
        until(lambda: not len(Connection.places) and not Connection.places._waiting)


def test_a_process_limits_its_connections_by_its_files(monkeypatch):
    monkeypatch.setattr(Connection, "places", None)
    monkeypatch.setattr(asyncio.sslproto, "SSLProtocol", asyncio.sslproto.SSLProtocol)
    monkeypatch.setattr(asyncio.constants, "SSL_HANDSHAKE_TIMEOUT", 60.0)
    for files, most in ((400, 272), (100_000, 1000), (50, 1)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        limit(1000)
        assert Connection.places._most == most
    assert asyncio.sslproto.SSLProtocol is Encrypted
    assert connections.HANDSHAKE_SECONDS == asyncio.constants.SSL_HANDSHAKE_TIMEOUT == 10


def test_clients_of_one_network_take_no_places_of_another():
    class Transport:
        def __init__(self, *address):
            self.address, self.aborted = address, False

        def get_extra_info(self, name):
            return self.address if name == "peername" else ("::", 8443, 0, 0)

        def abort(self):
            self.aborted = True

    few = Places(11)
    honest = [Transport("10.0.0.1", 1), Transport("2001:db8:1::1", 2, 0, 0), Transport("::ffff:10.0.0.9", 1, 0, 0)]
    same_site = [Transport("2001:db8:2::" + str(number), 3, 0, 0) for number in range(40)]
    one_host = [Transport("::ffff:10.0.0.2", number, 0, 0) for number in range(40)]
    for each in (*honest, *same_site, *one_host):
        few.opened(each)
        assert len(few) <= 11
    assert not any(each.aborted for each in honest)
    assert sum(not each.aborted for each in same_site) == sum(not each.aborted for each in one_host) == 4
    for client in list(few._transports):
        few.stays(client)
    late = Transport("10.0.0.3", 1)
    few.opened(late)
    assert late.aborted
    for client in list(few._transports):
        few.closed(client)
    assert (len(few), few._waiting) == (0, {})


UNREAD = GET[:-2] + b"Content-Length: 1000000000\r\n\r\nx"
UPLOAD = b"POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"


def test_an_answer_to_a_body_that_is_not_read_ends_its_connection(opened, monkeypatch):
    monkeypatch.setattr(connections, "UNREAD_SECONDS", 0.3)
    connection = opened(UNREAD)
    assert answered(connection)
    assert ended(connection)
    whole = opened(UPLOAD.replace(b"/upload", b"/health").replace(b"POST", b"GET") % 4 + b"text")
    assert answered(whole)
    assert ended(whole)
    known = opened(UPLOAD % 4 + b"text")
    for _ in range(2):  # the control: a body that is read
        assert answered(known)
        known.sendall(UPLOAD % 4 + b"text")


def test_who_sends_much_that_is_not_read_reads_the_answer(opened):
    size = 10_000_000
    connection = opened(GET[:-2] + b"Content-Length: %d\r\n\r\n" % size + bytes(size))
    found = b""
    while some := connection.recv(1 << 16):
        found += some
    assert found.startswith(b"HTTP/1.1 200 OK")
    assert b"connection: close" in found


def test_a_body_that_comes_too_slowly_takes_no_place_for_long(opened, monkeypatch):
    for name, seconds in (("BODY_SECONDS", 0.5), ("_CHECK_SECONDS", 0.1)):
        monkeypatch.setattr(connections, name, seconds)
    slow = opened(UPLOAD % 100_000 + b"x" * 20)
    assert ended(slow)
    monkeypatch.setattr(connections, "LEAST_RATE", 1.0)
    enough = opened(UPLOAD % 100_000 + b"x" * 99_000)  # what came is enough for 99,000 seconds
    time.sleep(1.5)
    enough.sendall(b"x" * 1_000)
    assert answered(enough)


def test_every_service_takes_paths_as_they_are():
    """A redirect to a path with or without a slash at its end would name the host that the client has named."""
    places = [path for path in SOURCES.rglob("*.py") if "Starlette(" in path.read_text(encoding="utf-8")]
    assert [path.name for path in places] == ["connections.py"]
    assert not exact(routes=[]).router.redirect_slashes


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
    once = ["something that is not an HTTP request was refused", "a request for another protocol was refused"]
    assert lines == ["too many files are open; new connections wait", "something else", *once, *["something else"] * 2]
    assert caplog.records[0].exc_info is None


def test_a_service_listens_at_the_address_that_was_named(tmp_path):
    port = free_port()
    with serving._listen("127.0.0.1", port) as listening:
        assert listening.getsockname() == ("127.0.0.1", port)
        listening.listen()
        with pytest.raises(ParameterError, match=f"cannot listen at 127.0.0.1 port {port}: Address already in use"):
            serving._listen("127.0.0.1", port)


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
