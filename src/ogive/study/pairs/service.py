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
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute

from ogive.crypto.wire import Reader
from ogive.errors import LedgerError, OgiveError, ParameterError
from ogive.queries import Answer
from ogive.showing.parts import PICTURES, document, fine, say, table, tag
from ogive.study.frames import read_answer, write_answer
from ogive.study.https.connections import Recent, beside, exact, html, is_known, line
from ogive.study.https.pages import REFRESH_SECONDS, Released, Results, drawn, release_link
from ogive.study.https.service import listen, log_to_stderr, run
from ogive.study.meeting import Collected, Collector, History, PairsStudy, Relay, collect
from ogive.study.meeting.collector import Met, read_passes, write_pass
from ogive.study.meeting.websocket import endpoint, largest_frame
from ogive.study.pairs.document import PeopleStudy
from ogive.study.pairs.joining import PATH
from ogive.study.pairs.terms import Meeting
from ogive.study.store import Kept, Store, begin, check

# --- The stored state: that pairs have begun, what became of each, and what came out

_STUDY, _BEGUN, _ANSWER, _OVER = "pairs/study", "pairs/begun", "pairs/answer", "pairs/over"
_PASS, _MET = "pairs/pass/", "pairs/met/"


def check_state(store: Store, study: PeopleStudy) -> None:
    """Refuse a state that no service of this study runs on."""
    check(store, _STUDY, study.digest, "that of a service of people; name the --state that ogive study serve")


def keep(kept: Kept, changes: History) -> None:
    """Keep what has changed."""
    for told in changes.passes:
        kept.put(f"{_PASS}{told.number:08d}", write_pass(told))
    if changes.pairs:
        kept.put_new(_BEGUN, b"")
    for number, met in changes.pairs.items():
        kept.put(f"{_MET}{number:08d}", met.to_bytes())


def history(kept: Kept, protocol: PairsStudy) -> History:
    """What became of pairs so far."""
    passes = read_passes(protocol, [kept.get(name) or b"" for name in kept.names(_PASS)])
    outputs = next(iter(protocol.circuits.values())).outputs
    bits = sum(port.width for port in outputs)
    pairs = {
        int(name.removeprefix(_MET)): Met.from_bytes(kept.get(name) or b"", outputs=bits) for name in kept.names(_MET)
    }
    return History(passes, pairs)


def end(kept: Kept, answer: Answer | None, reason: str) -> None:
    """Keep what came out; or why there is nothing."""
    if answer is None:
        kept.put(_OVER, reason.encode())
    else:
        kept.put(_ANSWER, write_answer(answer))


def answer(kept: Kept) -> Answer | None:
    """What came out; None before the end."""
    found = kept.get(_ANSWER)
    return None if found is None else read_answer(Reader(found, "kept answer"))


def ended(kept: Kept) -> str | None:
    """Why nothing came out; None if something did or may."""
    found = kept.get(_OVER)
    return None if found is None else found.decode()


def state_of(kept: Kept) -> str:
    """Waiting, running, released or over."""
    if kept.get(_ANSWER) is not None:
        return "released"
    if kept.get(_OVER) is not None:
        return "over"
    return "waiting for people" if kept.get(_BEGUN) is None else "running"


# --- The page of the study


def status_page(told: dict[str, Any], released: Mapping[str, Released]) -> str:
    """The page of a study of people, which the browser reads again every few seconds."""
    title = told["title"] or told["study"]
    pairs = [
        ("that were to compute", (f"{told['pairs']:,}",)),
        ("opened", (f"{told['opened']:,}",)),
        ("lost", (f"{told['lost']:,}",)),
    ]
    return document(
        title,
        tag("header", tag("h1", title), say(_lead(told))),
        tag(
            "main",
            table(
                "Releases",
                ("release", "state", "guarantee"),
                [(release_link(each), (each["state"], each["privacy"])) for each in told["releases"]],
                texts=(1, 2),
            ),
            None if told["reason"] is None else say(f"The study is over without a release: {told['reason']}."),
            *(drawn(name, each.picture) for name, each in released.items() if each.picture is not None),
            table("Pairs", ("pairs of people", "number"), pairs),
        ),
        tag(
            "footer",
            say(f"The release costs each person {told['releases'][0]['privacy']}, whatever comes of their pairs."),
            fine(f"Study {told['study']}, SHA-256 {told['digest']}"),
        ),
        refresh=REFRESH_SECONDS,
        policy=PICTURES,
    )


def _lead(told: dict[str, Any]) -> str:
    here = f"{told['here']:,} of {told['people']:,} people are connected."
    if told["releases"][0]["state"] in ("released", "over"):
        return f"{here} No more pairs compute."
    return f"{here} No pair begins after {told['deadline'].replace('T', ' ').replace('+00:00', ' UTC')}."


# --- Relay and aggregator at one address

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
            begin(kept, _STUDY, meeting.study.digest, store.words)
            earlier = history(kept, meeting.protocol)
        self._collector = Collector(
            meeting.protocol, key=key, seconds=pair_seconds, deadline=time.monotonic() + max(0.0, left), earlier=earlier
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
            lifespan=lambda _: beside(self._collect()),
        )

    async def _collect(self) -> None:
        """Go through all pairs, unless that was done; what ends this by mistake is in the log, and in `/health`."""
        try:
            with self._store.read() as kept:
                state = state_of(kept)
            if state in ("released", "over"):
                await self._relay.finish()
                return
            await collect(
                self._collector,
                self._relay,
                patience=self._patience,
                store=lambda changes: self._stored(lambda kept: keep(kept, changes)),
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
        await self._stored(lambda kept: end(kept, found, reason))
        LOG.info("%d pairs were opened, %d lost; %s", len(collected.outputs), len(collected.lost), reason or "released")

    async def _study(self, request: Request) -> Response:
        return Response(self._meeting.study.text, media_type="application/toml")

    async def _status(self, request: Request) -> Response:
        return JSONResponse(self.told(*await self._kept.get()))

    def _read(self) -> tuple[str, str | None]:
        """The state of the release, and why it is over."""
        with self._store.read() as kept:
            return state_of(kept), ended(kept)

    def told(self, state: str, reason: str | None) -> dict[str, Any]:
        """Everything that anybody may know of the study."""
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
            found = answer(kept)
        if found is None or name != self._meeting.study.releases[0].name:
            return None
        return self._meeting.estimate(found).to_dict()

    async def _health(self, request: Request) -> Response:
        if self._failed:
            return line("no more pairs compute; start the service again", 503)
        return PlainTextResponse("ok\n")


def serve(
    study: PeopleStudy, *, key: Ed25519PrivateKey, state: str, folder: Path, host: str, port: int, patience: float
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
