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
import logging
import socket
import ssl
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import uvicorn
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ogive.errors import LedgerError, ParameterError, PeerError, plain
from ogive.report.budget import totals
from ogive.showing.parts import Html, table, tag
from ogive.study.common import LOG
from ogive.study.coordinator import Coordinator, is_connected
from ogive.study.document import Study
from ogive.study.enrolment import SERVICE, TOKENS, Tokens, expiry_words
from ogive.study.https import connections
from ogive.study.https.connections import admit, bearer, line
from ogive.study.https.mailbox import STEP
from ogive.study.https.pages import Released, Shell, drawn, in_state, release_link, study_page
from ogive.study.store import Store, in_the_sum

MEDIA = "application/vnd.ogive.study"
LONGEST_WAIT = 30.0
_IN_MEMORY = 1 << 20
PER_SECOND = 20.0
"""Requests of one party, on average."""
BURST = 100.0
TICK_SECONDS = 0.25


# --- The page of a study of parties


def status_page(status: dict[str, Any], released: Mapping[str, Released]) -> str:
    rows = [(release_link(each), _cells(each, status["parties"])) for each in status["releases"]]
    waiting = dict.fromkeys(status["waiting_for"], "waiting for its reply")
    parties = [(party["name"], (_agent(party), waiting.get(party["name"], "-"))) for party in status["parties"]]
    parts = [
        table("Releases", ("release", "state", "guarantee", "parties in the sum"), rows, texts=(1, 2, 3)),
        *(_reasons(each) for each in status["releases"]),
        _as_json(released),
        *drawn(released),
        table("Parties", ("party", "agent", "asked for this step"), parties, texts=(1, 2)),
    ]
    costs = " and ".join(str(total.together) for total in totals([each.provenance for each in released.values()]))
    spent = f"What was released so far costs {costs}." if released else "Nothing was released so far."
    foot = f"The budget of each party's records for this study is {status['budget']}. {spent}"
    return study_page(status, _lead(status), parts, foot)


def _lead(status: dict[str, Any]) -> str:
    connected = sum(is_connected(party) for party in status["parties"])
    parties = f"{connected} of {len(status['parties'])} parties are connected."
    running = [each for each in status["releases"] if each["state"] == "running"]
    if not running:
        return f"{parties} No release is running."
    waiting = ", ".join(status["waiting_for"]) or "nobody"
    return f"{parties} Release {running[0]['name']} is at the step {running[0]['step']} and waits for {waiting}."


def _cells(release: dict[str, Any], parties: Sequence[Mapping[str, Any]]) -> tuple[str, str, str]:
    state = release["state"]
    if state == "running":
        state = f"step {release['step']}, query {release['query']}, attempt {release['attempt']}"
    return state, release["privacy"], in_the_sum(release, [party["name"] for party in parties]) or "-"


def _as_json(released: Mapping[str, Released]) -> Html | None:
    if not released:
        return None
    links = [tag("a", f"{name}.json", href=f"/v1/releases/{name}", download=f"{name}.json") for name in released]
    return tag("p", "Files for ogive show and ogive report:", *(part for link in links for part in (" ", link)))


def _reasons(release: dict[str, Any]) -> Html | None:
    lines = [*release.get("failed", []), *([release["reason"]] if release.get("reason") else [])]
    if not lines:
        return None
    return tag("section", tag("h3", f"Attempts of {release['name']}"), tag("ul", *(tag("li", line) for line in lines)))


def _agent(party: dict[str, Any]) -> str:
    if party["seen"] is None:
        return "not seen yet"
    if is_connected(party):
        return "connected"
    return f"last seen {time.strftime('%Y-%m-%d %H:%M', time.gmtime(party['seen']))} UTC"


# --- The application


class _Arriving:
    """A reply as it comes, on disk from `_IN_MEMORY` bytes on."""

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
        self._file.seek(0)
        return self._file.read()

    @property
    def closed(self) -> bool:
        return self._file.closed

    def close(self) -> None:
        self._file.close()


class Service(Shell):
    """The application around a coordinator."""

    prefix = "ogive_study"
    page = staticmethod(status_page)

    def __init__(self, coordinator: Coordinator, tokens: Tokens) -> None:
        super().__init__(coordinator.study.text, "questions", "replies", "refused", "bytes_in", "bytes_out")
        self._coordinator = coordinator
        self._tokens = tokens
        self._arriving: dict[int, _Arriving] = {}
        self._handled: set[int] = set()
        self._receiving = asyncio.Lock()
        self._left: dict[int, tuple[float, float]] = {}
        self._changed = asyncio.Event()
        self._ending = False
        self._numbers = {party.name: number for number, party in enumerate(coordinator.study.parties, 1)}
        self._seen: dict[int, float] = {}

    def end(self) -> None:
        """Let nobody wait for a question any longer, since the process is to end."""
        self._ending = True
        self._wake()

    def application(self) -> Starlette:
        parties = [
            Route("/v1/parties/{name}/question", self._question, methods=["POST"]),
            Route("/v1/parties/{name}/reply", self._reply, methods=["POST"]),
        ]
        return connections.exact(routes=[*self.routes(), *parties], lifespan=lambda _: connections.beside(self._tick()))

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
        party = self._tokens.party(bearer(request))
        if party is None or self._numbers.get(request.path_params["name"]) != party:
            return self.refused("this needs the token of that party", 401)
        now = time.monotonic()
        left, since = self._left.get(party, (BURST, now))
        left = min(BURST, left + (now - since) * PER_SECOND)  # a bucket that fills
        self._left[party] = (max(left - 1, 0.0), now)
        if left < 1:
            return self.refused("too many requests; wait a second", 429)
        self._seen[party] = time.time()
        connections.is_known(request.scope)
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
                    self.counts["questions"] += 1
                    self.counts["bytes_out"] += len(question)
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
        most = f"a reply to what this party is asked now has at most {arriving.longest} bytes"
        wrong: tuple[str, int] | None = (most, 413)
        if stated.isdecimal() and int(stated) <= arriving.longest:
            wrong = await admit(request, arriving.add, what="reply", most=most, seconds=None)
        if wrong is not None:
            if wrong[1] != 413:
                return line(*wrong)
            return self.refused(*(("another reply of this party came", 409) if arriving.closed else wrong))
        self.counts["bytes_in"] += arriving.size
        del self._arriving[party]
        self._handled.add(party)
        try:
            async with self._receiving:  # of large replies one at a time is in memory
                await run_in_threadpool(lambda: self._coordinator.receive(party, arriving.read()))
        except PeerError as problem:
            name = request.path_params["name"]
            LOG.info("a reply of %d bytes from party %d (%s) does not count: %s", arriving.size, party, name, problem)
            return self.refused(str(problem), 409)
        finally:
            self._handled.discard(party)
        self.counts["replies"] += 1
        self._wake()
        return Response(status_code=204)

    def read(self) -> dict[str, Any]:
        return self._coordinator.status(dict(self._seen))

    def public(self, stored: dict[str, Any]) -> dict[str, Any]:
        return stored

    def check(self) -> None:
        self._coordinator.progress()

    def result(self, name: str) -> dict[str, Any] | None:
        try:
            return self._coordinator.result(name)
        except ParameterError:
            return None

    def metrics(self, status: dict[str, Any]) -> dict[str, Any]:
        return {
            **self.counts,
            "parties_connected": sum(is_connected(party) for party in status["parties"]),
            "parties_waited_for": len(status["waiting_for"]),
            **in_state(status, "requested", "running", "released", "over"),
        }


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
    """Run the coordinator with its key until the process is told to stop; with `clients` agents need a certificate."""
    tokens = Tokens.read(folder / TOKENS, study)
    listening = listen(folder, host, port)
    store = Store.held(state)
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
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s")
    for name in ("asyncio", "uvicorn.error"):
        logging.getLogger(name).addFilter(connections.OneLine())
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
    connections.allow_files(_FILES)
    connections.limit(_CONNECTIONS)
    config = configuration(application, folder, clients=clients, longest_frame=longest_frame)
    StoppingServer(config, ending).run(sockets=[listening])


def configuration(
    application: ASGIApp, folder: Path, *, clients: bool = False, longest_frame: int | None = None
) -> uvicorn.Config:
    certificate, key, authority = _files(folder)
    return uvicorn.Config(
        connections.closing_unread(application),
        ssl_certfile=str(certificate),
        ssl_keyfile=str(key),
        ssl_ca_certs=str(authority) if clients else None,
        ssl_cert_reqs=ssl.CERT_REQUIRED if clients else ssl.CERT_NONE,
        backlog=connections.BACKLOG,
        proxy_headers=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=3,
        loop="asyncio",  # the same, whatever else is installed
        http=connections.Connection,
        ws="none" if longest_frame is None else connections.WebSocket,
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
        self._ending()
        await super().shutdown(sockets)


def _files(folder: Path) -> tuple[Path, Path, Path]:
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
