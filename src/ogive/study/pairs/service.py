"""The service of a study of people: relay and aggregator at one address.

    WS  /v1/pairs              a person, who proves its number by a signature
    GET /v1/study              the study file
    GET /v1/status             how many people are there, and how far the pairs are, as JSON
    GET /v1/releases/NAME      what was released, as JSON
    GET /, /releases/NAME      pages
    GET /health                for whoever operates it

Logs hold counts and times, and never a message or a key.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute

from ogive.errors import LedgerError, OgiveError, ParameterError
from ogive.runtime.pairs import Collected, Collector, Relay, collect
from ogive.runtime.pairs.websocket import endpoint, largest_frame
from ogive.study.https.connections import is_known
from ogive.study.https.recent import Recent
from ogive.study.https.responses import exact, html, line
from ogive.study.https.results import Results
from ogive.study.https.serving import listen, log_to_stderr, run
from ogive.study.pairs import kept as of_pairs
from ogive.study.pairs.document import PeopleStudy
from ogive.study.pairs.joining import PATH
from ogive.study.pairs.meeting import Meeting
from ogive.study.pairs.pages import status_page
from ogive.study.store import Kept, Store

LOG = logging.getLogger("ogive.study")
PAUSE = 1.0
"""Seconds between attempts to write the state."""


class PairsService:
    """The application around relay and aggregator.

    Args:
        meeting: What is computed.
        key: The aggregator's.
        store: Keeps what came out.
        patience: Seconds to wait until everybody is there; the pairs begin then with those who are.
        pair_seconds: How long a pair may take.

    Raises:
        ParameterError: it is the key of another coordinator.
        PeerError: the store is of another study.
    """

    def __init__(
        self, meeting: Meeting, *, key: Ed25519PrivateKey, store: Store, patience: float, pair_seconds: float = 60.0
    ) -> None:
        if key.public_key().public_bytes_raw() != meeting.study.coordinator:
            raise ParameterError(f"the study {meeting.study.name} names another key of the coordinator")
        self._meeting = meeting
        self._store = store
        self._patience = patience
        self._relay = Relay(meeting.protocol)
        self._failed = False
        self._results = Results(self._result)
        self._kept = Recent(self._read)
        left = (meeting.study.deadline - datetime.now(UTC)).total_seconds()
        with store.write() as kept:
            of_pairs.begin_state(kept, meeting.study, store.words)
            earlier = of_pairs.history(kept, meeting.protocol)
        self._collector = Collector(
            meeting.protocol,
            key=key,
            seconds=pair_seconds,
            deadline=time.monotonic() + max(0.0, left),
            earlier=earlier,
        )

    def application(self) -> Starlette:
        """The application, to be served by one process."""
        return exact(
            routes=[
                WebSocketRoute(PATH, endpoint(self._relay, is_known)),
                Route("/v1/study", self._study),
                Route("/v1/status", self._status),
                Route("/", self._page),
                *self._results.routes(),
                Route("/health", self._health),
            ],
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        collecting = asyncio.create_task(self._collect())
        try:
            yield
        finally:
            collecting.cancel()
            with suppress(asyncio.CancelledError):
                await collecting

    async def _collect(self) -> None:
        """Go through all pairs, unless that was done; what ends this by mistake is in the log, and in `/health`."""
        try:
            with self._store.read() as kept:
                state = of_pairs.state(kept)
            if state in ("released", "over"):
                await self._relay.finish()
                return
            await collect(
                self._collector,
                self._relay,
                patience=self._patience,
                store=lambda changes: self._stored(lambda kept: of_pairs.keep(kept, changes)),
                keep=self._keep,
            )
        except Exception:
            self._failed = True
            LOG.exception("no more pairs compute; start the service again, and they go on")

    async def _stored(self, write: Callable[[Kept], None]) -> None:
        """Store something; where that fails everybody waits until it can be stored."""
        while True:
            try:
                with self._store.write() as kept:
                    write(kept)
                return
            except LedgerError as problem:
                LOG.error("the state cannot be written, and is tried again: %s", problem)
                await asyncio.sleep(PAUSE)

    async def _keep(self, collected: Collected) -> None:
        """Keep what came out, or why nothing did."""
        found, reason = None, ""
        try:
            found = self._meeting.answer(collected)
        except OgiveError as problem:
            reason = str(problem)
        await self._stored(lambda kept: of_pairs.end(kept, found, reason))
        LOG.info("%d pairs were opened, %d lost; %s", len(collected.outputs), len(collected.lost), reason or "released")

    async def _study(self, request: Request) -> Response:
        return Response(self._meeting.study.text, media_type="application/toml")

    async def _status(self, request: Request) -> Response:
        return JSONResponse(self.told(*await self._kept.get()))

    def _read(self) -> tuple[str, str | None]:
        """The state of the release, and why it is over."""
        with self._store.read() as kept:
            return of_pairs.state(kept), of_pairs.ended(kept)

    def told(self, state: str, reason: str | None) -> dict[str, Any]:
        """Everything that anybody may know of the study.

        Args:
            state: Of its release.
            reason: Why it is over; None if it is not.
        """
        study, collected = self._meeting.study, self._collector.collected
        (release,) = study.releases
        return {
            "study": study.name,
            "title": study.title,
            "digest": study.digest.hex(),
            "releases": [{"name": release.name, "privacy": str(release.privacy), "state": state}],
            "reason": reason,
            "people": study.records,
            "here": self._collector.here,
            "pairs": len(collected.pairs),
            "opened": len(collected.outputs),
            "lost": len(collected.lost),
            "deadline": study.deadline.isoformat(),
        }

    async def _page(self, request: Request) -> Response:
        told = self.told(*await self._kept.get())
        return html(status_page(told, await self._results.pictured(told["releases"])))

    def _result(self, name: str) -> dict[str, Any] | None:
        with self._store.read() as kept:
            found = of_pairs.answer(kept)
        if found is None or name != self._meeting.study.releases[0].name:
            return None
        return self._meeting.estimate(found).to_dict()

    async def _health(self, request: Request) -> Response:
        if self._failed:
            return line("no more pairs compute; start the service again", 503)
        return PlainTextResponse("ok\n")


def serve(
    study: PeopleStudy,
    *,
    key: Ed25519PrivateKey,
    state: str,
    folder: Path,
    host: str,
    port: int,
    patience: float,
) -> None:
    """Run the service until the process is told to stop.

    Args:
        study: The study.
        key: The coordinator's.
        state: Where what came out is kept.
        folder: With certificate and key.
        host: Address to listen on.
        port: Port to listen on; 0 for any that is free.
        patience: Seconds to wait until everybody is there.

    Raises:
        ParameterError: a file of the folder, the key or the address cannot be used.
        PeerError, LedgerError: the state is of another study or in use, or cannot be used.
    """
    meeting = Meeting.of(study)
    listening = listen(folder, host, port)
    store = Store(state)
    store.hold()
    log_to_stderr()
    service = PairsService(meeting, key=key, store=store, patience=patience)
    LOG.info("serving study %s at https://%s:%d", study.name, host, listening.getsockname()[1])
    run(service.application(), listening, folder, longest_frame=largest_frame(meeting.protocol))
    store.close()
