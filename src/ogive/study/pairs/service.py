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
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute

from ogive.errors import LedgerError, OgiveError, ParameterError
from ogive.showing.parts import say, table
from ogive.study.common import LOG
from ogive.study.document import PeopleStudy
from ogive.study.https.connections import beside, exact, is_known
from ogive.study.https.pages import Released, Shell, drawn, release_link, study_page
from ogive.study.https.service import listen, log_to_stderr, run
from ogive.study.pairs import Collected, Collector, History, PairsStudy, Relay, collect
from ogive.study.pairs.collector import Met, read_passes, write_pass
from ogive.study.pairs.joining import PATH, endpoint, largest_frame
from ogive.study.pairs.study import Meeting
from ogive.study.store import Entries, OfPeople, Store, begin

# --- The stored state of pairs: what became of each, and what everybody was told before each further pass

_PASS, _MET = "pairs/pass/", "pairs/met/"


def store_changes(releases: OfPeople, changes: History) -> None:
    for each in changes.passes:
        releases.entries.put(f"{_PASS}{each.number:08d}", write_pass(each))
    if changes.pairs:
        releases.begin()
    for number, met in changes.pairs.items():
        releases.entries.put(f"{_MET}{number:08d}", met.to_bytes())


def history(entries: Entries, protocol: PairsStudy) -> History:
    passes = read_passes(protocol, [entries.get(name) or b"" for name in entries.names(_PASS)])
    outputs = next(iter(protocol.circuits.values())).outputs
    bits = sum(port.width for port in outputs)
    names = entries.names(_MET)
    pairs = {int(name.removeprefix(_MET)): Met.from_bytes(entries.get(name) or b"", outputs=bits) for name in names}
    return History(passes, pairs)


# --- The page of the study


def status_page(status: dict[str, Any], released: Mapping[str, Released]) -> str:
    counts = [("that were to compute", "pairs"), ("opened", "opened"), ("lost", "lost")]
    rows = [(release_link(each), (each["state"], each["privacy"])) for each in status["releases"]]
    parts = [
        table("Releases", ("release", "state", "guarantee"), rows, texts=(1, 2)),
        None if status["reason"] is None else say(f"The study is over without a release: {status['reason']}."),
        *drawn(released),
        table("Pairs", ("pairs of people", "number"), [(words, (f"{status[name]:,}",)) for words, name in counts]),
    ]
    price = status["releases"][0]["privacy"]
    foot = f"The release costs each person {price}, whatever comes of their pairs."
    return study_page(status, _lead(status), parts, foot)


def _lead(status: dict[str, Any]) -> str:
    here = f"{status['here']:,} of {status['people']:,} people are connected."
    if status["releases"][0]["state"] in ("released", "over"):
        return f"{here} No more pairs compute."
    return f"{here} No pair begins after {status['deadline'].replace('T', ' ').replace('+00:00', ' UTC')}."


# --- Relay and aggregator at one address

PAUSE = 1.0
"""Seconds between attempts to write the state."""


class PairsService(Shell):
    """The application around relay and aggregator.

    Pairs begin after `patience` seconds with those who are there, and each may take `pair_seconds`.
    """

    page = staticmethod(status_page)

    def __init__(
        self, meeting: Meeting, *, key: Ed25519PrivateKey, store: Store, patience: float, pair_seconds: float = 60.0
    ) -> None:
        if key.public_key().public_bytes_raw() != meeting.study.coordinator:
            raise ParameterError(f"the study {meeting.study.name} names another key of the coordinator")
        super().__init__(meeting.study.text)
        self._meeting = meeting
        self._store = store
        self._patience = patience
        self._relay = Relay(meeting.protocol)
        self._failed = False
        left = (meeting.study.deadline - datetime.now(UTC)).total_seconds()
        with store.write() as entries:
            begin(entries, meeting.study, store.words)
            earlier = history(entries, meeting.protocol)
        self._collector = Collector(
            meeting.protocol, key=key, seconds=pair_seconds, deadline=time.monotonic() + max(0.0, left), earlier=earlier
        )

    def application(self) -> Starlette:
        connected = WebSocketRoute(PATH, endpoint(self._relay, is_known))
        return exact(routes=[connected, *self.routes()], lifespan=lambda _: beside(self._collect()))

    async def _collect(self) -> None:
        """Go through all pairs, unless that was done; what ends this by mistake is in the log, and in `/health`."""
        try:
            if self.read()["state"] in ("released", "over"):
                await self._relay.finish()
                return
            await collect(
                self._collector,
                self._relay,
                patience=self._patience,
                store=lambda changes: self._stored(lambda releases: store_changes(releases, changes)),
                keep=self._keep,
            )
        except Exception:
            self._failed = True
            LOG.exception("no more pairs compute; start the service again, and they go on")

    async def _stored(self, write: Callable[[OfPeople], None]) -> None:
        """Store something; where that fails everybody waits until it can be stored."""
        while True:
            try:
                with self._store.write() as entries:
                    write(OfPeople(self._meeting.study, entries))
                return
            except LedgerError as problem:
                LOG.error("the state cannot be written, and is tried again: %s", problem)
                await asyncio.sleep(PAUSE)

    async def _keep(self, collected: Collected) -> None:
        try:
            answers, reason = [self._meeting.answer(collected)], ""
        except OgiveError as problem:
            answers, reason = [], str(problem)
        await self._stored(lambda releases: releases.put_answers(0, answers) if answers else releases.end(0, reason))
        LOG.info("%d pairs were opened, %d lost; %s", len(collected.outputs), len(collected.lost), reason or "released")

    def read(self) -> dict[str, Any]:
        with self._store.read() as entries:
            return OfPeople(self._meeting.study, entries).row(0)

    def public(self, stored: dict[str, Any]) -> dict[str, Any]:
        study, collected = self._meeting.study, self._collector.collected
        return {
            "study": study.name,
            "title": study.title,
            "digest": study.digest.hex(),
            "releases": [{name: stored[name] for name in ("name", "privacy", "state")}],
            "reason": stored["reason"],
            "people": study.records,
            "here": self._collector.here,
            "pairs": len(collected.pairs),
            "opened": len(collected.outputs),
            "lost": len(collected.lost),
            "deadline": study.deadline.isoformat(),
        }

    def result(self, name: str) -> dict[str, Any] | None:
        with self._store.read() as entries:
            answers = OfPeople(self._meeting.study, entries).answers(0)
        if not answers or name != self._meeting.study.releases[0].name:
            return None
        return self._meeting.estimate(answers[0]).to_dict()

    def fault(self) -> str | None:
        return "no more pairs compute; start the service again" if self._failed else None


def serve(
    study: PeopleStudy, *, key: Ed25519PrivateKey, state: str, folder: Path, host: str, port: int, patience: float
) -> None:
    """Run the service with the key of the coordinator until the process is told to stop."""
    meeting = Meeting.of(study)
    listening = listen(folder, host, port)
    store = Store.held(state)
    log_to_stderr()
    service = PairsService(meeting, key=key, store=store, patience=patience)
    LOG.info("serving study %s at https://%s:%d", study.name, host, listening.getsockname()[1])
    run(service.application(), listening, folder, longest_frame=largest_frame(meeting.protocol))
    store.close()
