"""The coordinator as an HTTP service: long polls for questions, replies of limited size, health and metrics.

    GET  /v1/study                     the study file
    POST /v1/parties/NAME/question     the question that NAME is to answer, waited for up to ?wait= seconds; 204 if none
    POST /v1/parties/NAME/reply        NAME's reply; 409 if it is not asked any more
    GET  /v1/status                    how far it is: names of releases, steps and parties, and nothing else
    GET  /v1/releases/NAME             what was released, as JSON
    GET  /, /releases/NAME             pages
    GET  /health, /metrics             for whoever operates it

A party shows its token, as `Authorization: Bearer TOKEN`. Logs hold names, steps, sizes and times, and never a body, a
token or a header.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import ssl
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import uvicorn
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ogive.errors import LedgerError, ParameterError, PeerError, plain
from ogive.study.coordinator import Coordinator, is_connected, status_of
from ogive.study.document import Study
from ogive.study.enrolment import SERVICE, TOKENS, Tokens, expiry_words
from ogive.study.https.connections import (
    BACKLOG,
    Connection,
    OneLine,
    Recent,
    WebSocket,
    allow_files,
    beside,
    closing_unread,
    exact,
    html,
    is_known,
    limit,
    line,
)
from ogive.study.https.mailbox import STEP
from ogive.study.https.pages import Results, status_page
from ogive.study.store import Store

LOG = logging.getLogger("ogive.study")

MEDIA = "application/vnd.ogive.study"
LONGEST_WAIT = 30.0
_IN_MEMORY = 1 << 20
PER_SECOND = 20.0
"""Requests of one party, on average."""
BURST = 100.0
TICK_SECONDS = 0.25


class _Limiter:
    """How many requests a party may make: a bucket of `BURST` that fills by `PER_SECOND`."""

    def __init__(self) -> None:
        self._left: dict[int, tuple[float, float]] = {}

    def allows(self, party: int) -> bool:
        now = time.monotonic()
        left, since = self._left.get(party, (BURST, now))
        left = min(BURST, left + (now - since) * PER_SECOND)
        self._left[party] = (max(left - 1, 0.0), now)
        return left >= 1


class _Arriving:
    """A reply as it comes, on disk from `_IN_MEMORY` bytes on.

    Fields:
        longest: Bytes that it may have.
        size: Bytes that it has.
    """

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self.size = 0
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - closed by `close`

    def add(self, chunk: bytes) -> bool:
        """Add a part; False if it is longer than it may be, or was let go."""
        self.size += len(chunk)
        if self.closed or self.size > self.longest:
            return False
        self._file.write(chunk)
        return True

    def read(self) -> bytes:
        """All of it."""
        self._file.seek(0)
        return self._file.read()

    @property
    def closed(self) -> bool:
        """Whether it was let go."""
        return self._file.closed

    def close(self) -> None:
        """Let it go."""
        self._file.close()


class Service:
    """The application around a coordinator."""

    def __init__(self, coordinator: Coordinator, tokens: Tokens) -> None:
        self._coordinator = coordinator
        self._tokens = tokens
        self._arriving: dict[int, _Arriving] = {}
        self._handled: set[int] = set()
        self._receiving = asyncio.Lock()
        self._limiter = _Limiter()
        self._changed = asyncio.Event()
        self._ending = False
        self._numbers = {party.name: number for number, party in enumerate(coordinator.study.parties, 1)}
        self._seen: dict[int, float] = {}
        self._results = Results(self._result)
        self._told, self._checked = Recent(self.told), Recent(coordinator.progress)
        self._counts = {"questions": 0, "replies": 0, "refused": 0, "bytes_in": 0, "bytes_out": 0}

    def end(self) -> None:
        """Let nobody wait for a question any longer, since the process is to end."""
        self._ending = True
        self._wake()

    def application(self) -> Starlette:
        """The application, to be served by one process."""
        return exact(
            routes=[
                Route("/", self._page),
                *self._results.routes(),
                Route("/health", self._health),
                Route("/metrics", self._metrics),
                Route("/v1/study", self._study),
                Route("/v1/status", self._status),
                Route("/v1/parties/{name}/question", self._question, methods=["POST"]),
                Route("/v1/parties/{name}/reply", self._reply, methods=["POST"]),
            ],
            lifespan=lambda _: beside(self._tick()),
        )

    async def _tick(self) -> None:
        """Close steps whose time is up, and begin what another process asked for."""
        while True:
            try:
                await run_in_threadpool(self._coordinator.advance)
            except LedgerError as problem:
                LOG.error("the state cannot be used, and is tried again: %s", problem)
            self._wake()
            await asyncio.sleep(TICK_SECONDS)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _as_party(self, request: Request, answer: Callable[[int], Awaitable[Response]]) -> Response:
        """Answer a party that shows its token."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        party = self._tokens.party(token) if scheme.lower() == "bearer" else None
        if party is None or self._numbers.get(request.path_params["name"]) != party:
            self._counts["refused"] += 1
            return line("this needs the token of that party", 401)
        if not self._limiter.allows(party):
            self._counts["refused"] += 1
            return line("too many requests; wait a second", 429)
        self._seen[party] = time.time()
        is_known(request.scope)
        try:
            response = await answer(party)
            response.headers[STEP] = f"{self._coordinator.step_seconds:g}"
            return response
        except LedgerError as problem:
            LOG.error("the state cannot be used, and is tried again: %s", problem)
            return line("the coordinator cannot store anything now; try again", 503)

    async def _question(self, request: Request) -> Response:
        try:
            wait = min(max(float(request.query_params.get("wait", "0")), 0.0), LONGEST_WAIT)
        except ValueError:
            return line("wait must be a number of seconds", 400)

        async def answer(party: int) -> Response:
            until = time.monotonic() + wait
            while True:
                changed = self._changed
                question = await run_in_threadpool(self._coordinator.question, party)
                left = until - time.monotonic()
                if question is not None:
                    self._counts["questions"] += 1
                    self._counts["bytes_out"] += len(question)
                    return Response(question, media_type=MEDIA)
                if self._ending or not left > 0:
                    return Response(status_code=204)
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), left)

        return await self._as_party(request, answer)

    async def _reply(self, request: Request) -> Response:
        async def answer(party: int) -> Response:
            if party in self._handled:
                return line("an earlier reply of this party is being read; wait", 429)
            longest = await run_in_threadpool(self._coordinator.longest_reply, party)
            # one reply at a time of each party: an earlier one, whose connection may be half dead, is let go
            with closing(_Arriving(longest)) as arriving:
                if (before := self._arriving.pop(party, None)) is not None:
                    before.close()
                self._arriving[party] = arriving
                try:
                    return await self._received(request, party, arriving)
                except OSError as problem:
                    LOG.error("a reply cannot be kept while it comes: %s", problem.strerror)
                    return line("the coordinator cannot store anything now; try again", 503)
                finally:
                    if self._arriving.get(party) is arriving:
                        del self._arriving[party]

        return await self._as_party(request, answer)

    async def _received(self, request: Request, party: int, arriving: _Arriving) -> Response:
        stated = request.headers.get("content-length", "0")
        fits = stated.isdecimal() and int(stated) <= arriving.longest
        try:
            if fits:
                async for chunk in request.stream():
                    fits = arriving.add(chunk)
                    if not fits:
                        break
        except ClientDisconnect:
            return line("the reply was cut off", 400)
        if not fits:
            self._counts["refused"] += 1
            if arriving.closed:
                return line("another reply of this party came", 409)
            return line(f"a reply to what this party is asked now has at most {arriving.longest} bytes", 413)
        self._counts["bytes_in"] += arriving.size
        del self._arriving[party]
        self._handled.add(party)
        try:
            async with self._receiving:  # of large replies one at a time is in memory
                await run_in_threadpool(lambda: self._coordinator.receive(party, arriving.read()))
        except PeerError as problem:
            self._counts["refused"] += 1
            name = request.path_params["name"]
            LOG.info("a reply of %d bytes from party %d (%s) does not count: %s", arriving.size, party, name, problem)
            return line(str(problem), 409)
        finally:
            self._handled.discard(party)
        self._counts["replies"] += 1
        self._wake()
        return Response(status_code=204)

    async def _study(self, request: Request) -> Response:
        return Response(self._coordinator.study.text, media_type="application/toml")

    async def _status(self, request: Request) -> Response:
        return JSONResponse(await self._told.get())

    def told(self) -> dict[str, Any]:
        """Everything that anybody may know of the study."""
        return status_of(self._coordinator, seen=dict(self._seen))

    def _result(self, name: str) -> dict[str, Any] | None:
        try:
            return self._coordinator.result(name)
        except ParameterError:
            return None

    async def _page(self, request: Request) -> Response:
        told = await self._told.get()
        return html(status_page(told, await self._results.pictured(told["releases"])))

    async def _health(self, request: Request) -> Response:
        try:
            await self._checked.get()
        except LedgerError:
            return line("the state cannot be read", 503)
        return PlainTextResponse("ok\n")

    async def _metrics(self, request: Request) -> Response:
        told = await self._told.get()
        lines = [f"ogive_study_{name} {value}" for name, value in self._counts.items()]
        lines.append(f"ogive_study_parties_connected {sum(is_connected(party) for party in told['parties'])}")
        lines.append(f"ogive_study_parties_waited_for {len(told['waiting_for'])}")
        lines += [
            f"ogive_study_releases{{state={json.dumps(state)}}} "
            f"{sum(each['state'] == state for each in told['releases'])}"
            for state in ("requested", "running", "released", "over")
        ]
        return PlainTextResponse("\n".join(lines) + "\n")


# --- The process of a service

_CONNECTIONS = 1 << 14
_FILES = 2 * _CONNECTIONS
_LAST_PORT = 65_535


def serve(
    study: Study,
    *,
    key: Ed25519PrivateKey,
    state: str,
    folder: Path,
    host: str,
    port: int,
    step_seconds: float,
    clients: bool,
) -> None:
    """Run the service until the process is told to stop.

    Args:
        study: The study.
        key: The coordinator's.
        state: Where its state is kept.
        folder: Of `enrolment.equip`.
        host: Address to listen on.
        port: Port to listen on; 0 for any that is free.
        step_seconds: How long a step waits for those who have not answered.
        clients: Whether agents must have a certificate of the study's authority.

    Raises:
        ParameterError: a file of the folder cannot be used, or the address.
        LedgerError: another process runs on the state, or it cannot be opened.
    """
    tokens = Tokens.read(folder / TOKENS, study)
    listening = listen(folder, host, port)
    store = Store(state)
    store.hold()
    log_to_stderr()
    coordinator = Coordinator(study, key=key, store=store, step_seconds=step_seconds)
    LOG.info("serving study %s at https://%s:%d", study.name, host, listening.getsockname()[1])
    expiry = expiry_words(folder / f"{SERVICE}.pem")
    if expiry is not None:
        LOG.warning("%s", expiry)
    service = Service(coordinator, tokens)
    run(service.application(), listening, folder, clients=clients, ending=service.end)
    store.close()


def log_to_stderr() -> None:
    """Write what is logged to the standard error, a line each."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s")
    for name in ("asyncio", "uvicorn.error"):
        logging.getLogger(name).addFilter(OneLine())
    logging.getLogger("httpx").setLevel(logging.WARNING)  # it writes a line for each request


def listen(folder: Path, host: str, port: int) -> socket.socket:
    """A socket at an address, for the certificate in a folder."""
    certificate, key, authority = _files(folder)
    for path in (certificate, key, authority):
        if not path.is_file():
            raise ParameterError(f"{plain(path)} is not there; ogive study keys --service makes it")
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key)
    except OSError as problem:
        raise ParameterError(f"the certificate in {plain(folder)} cannot be used: {problem.strerror}") from None
    return _listen(host, port)


def run(
    application: ASGIApp,
    listening: socket.socket,
    folder: Path,
    *,
    clients: bool = False,
    longest_frame: int | None = None,
    ending: Callable[[], None] = lambda: None,
) -> None:
    """Serve an application until the process is told to stop."""
    allow_files(_FILES)
    limit(_CONNECTIONS)
    config = configuration(application, folder, clients=clients, longest_frame=longest_frame)
    StoppingServer(config, ending).run(sockets=[listening])


def configuration(
    application: ASGIApp, folder: Path, *, clients: bool = False, longest_frame: int | None = None
) -> uvicorn.Config:
    """How every service is served."""
    certificate, key, authority = _files(folder)
    return uvicorn.Config(
        closing_unread(application),
        ssl_certfile=str(certificate),
        ssl_keyfile=str(key),
        ssl_ca_certs=str(authority) if clients else None,
        ssl_cert_reqs=ssl.CERT_REQUIRED if clients else ssl.CERT_NONE,
        backlog=BACKLOG,
        proxy_headers=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=3,
        loop="asyncio",  # the same, whatever else is installed
        http=Connection,
        ws="none" if longest_frame is None else WebSocket,
        ws_max_size=longest_frame or 0,
        access_log=False,
        log_level="warning",
        server_header=False,
        workers=1,
    )


class StoppingServer(uvicorn.Server):
    """A server that tells its application to end what it waits for, before connections are waited for."""

    def __init__(self, config: uvicorn.Config, ending: Callable[[], None]) -> None:
        super().__init__(config)
        self._ending = ending

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End all connections."""
        self._ending()
        await super().shutdown(sockets)


def _files(folder: Path) -> tuple[Path, Path, Path]:
    """Certificate, its key, and the authority."""
    return folder / f"{SERVICE}.pem", folder / f"{SERVICE}.key", folder / "ca.pem"


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port <= _LAST_PORT:
        raise ParameterError(f"`port` must be 0 to {_LAST_PORT}, got {port}")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
        except OSError:
            listening.close()
            raise
    except (OSError, UnicodeError) as problem:
        reason = getattr(problem, "strerror", None) or "no such name"
        raise ParameterError(f"cannot listen at {plain(host)} port {port}: {plain(reason)}") from None
    return listening
