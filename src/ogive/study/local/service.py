"""The reports of a collection as an HTTP service.

    GET  /                                      what owners read, with a form that makes a report in their browser
    GET  /v1/study                              the description, as the bytes that its digest is of
    GET  /local_report.mjs                      the client for browsers
    POST /v1/tasks/TASK/reports                 a participant's report; 201 once it is durable
    GET  /v1/status, /status                    how many have reported, as JSON and as a page with the estimate
    GET  /v1/releases/estimate                  the released estimate as JSON; 404 before there is one
    GET  /releases/estimate                     the same as a page
    GET  /health, /metrics                      for whoever operates it

TASK is the digest of the description in hexadecimal digits. A participant shows a token, as `Authorization: Bearer
TOKEN`. Logs hold counts, sizes and times, and never a body, a token or a header.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import closing
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ogive.columns import Binning
from ogive.errors import OgiveError, plain
from ogive.local.description import Description, chances, purpose, question_of, refuses, revealed, sent
from ogive.local.oracles import RandomizedResponse, UnaryOracle
from ogive.local.tree import TreeOracle
from ogive.privacy import PureDP
from ogive.showing.parts import POLICY, Html, document, fine, say, tag
from ogive.statistics.kinds import read_recorded
from ogive.study.common import LOG
from ogive.study.https.connections import FAILED, exact, html
from ogive.study.https.pages import Released, Taking, by_hour, drawn, study_page
from ogive.study.https.service import listen, log_to_stderr, run
from ogive.study.local import LIST, LocalReports, Participants

# --- The published estimate, in a file that may come later and may be replaced

NAME = "estimate"
"""Under which the service shows it."""

_MOST = 1 << 26


class ReleasedFile:
    """The estimate that a file holds now, as `ogive local aggregate --output` writes it.

    Several threads may ask. A file that is not there yet, or that holds no estimate of local reports, shows nothing,
    and of the latter the log says so once.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._one = threading.Lock()
        self._known: tuple[int, int] | None = None
        self._result: dict[str, Any] | None = None
        self._released: Released | None = None

    def find(self, name: str) -> dict[str, Any] | None:
        self.pictured()
        return self._result if name == NAME else None

    def pictured(self) -> dict[str, Released]:
        """The estimate by its name, as a page shows it; drawn anew where the file was replaced."""
        with self._one:
            self._look()
            return {} if self._released is None else {NAME: self._released}

    def _look(self) -> None:
        if self._path is None:
            return
        try:
            about = self._path.stat()
        except OSError:
            self._known = self._result = self._released = None
            return
        if self._known == (about.st_mtime_ns, about.st_size):
            return
        self._known = (about.st_mtime_ns, about.st_size)
        self._result = self._released = None
        try:
            with self._path.open("rb") as file:
                result = json.loads(file.read(_MOST))
            estimate = read_recorded(result)
        except (OSError, ValueError, OgiveError) as problem:
            LOG.warning("%s is not shown: it holds no estimate (%s)", plain(self._path), plain(problem)[:200])
            return
        if estimate.provenance is None or estimate.provenance.trust != "local":
            LOG.warning("%s is not shown: it is not an estimate of local reports", plain(self._path))
            return
        self._result, self._released = result, Released.of(result)


# --- Pages for owners, with a form that makes their report, and of the status

CLIENT = "local_report.mjs"
_STYLE = "font: inherit; width: 100%; max-width: 34rem; padding: .45rem .6rem; display: block; margin: .2rem 0 .8rem"


@cache
def client() -> str:
    return _text(CLIENT)


@cache
def _script() -> str:
    return client() + _text("local_page.mjs")


@cache
def policy() -> str:
    """What the page of owners may do beside showing itself: run its own script, and ask its own service."""
    digest = base64.b64encode(hashlib.sha256(_script().encode()).digest()).decode()
    return f"; script-src 'sha256-{digest}'; connect-src 'self'"


def owners_page(description: Description) -> str:
    """The page that an owner reads: the question, what is sent, with which chances it is true, and what that tells."""
    columns = description.domain.columns
    title = description.title or "A question to you"
    form = _form(description) if _in_browsers(description) else _elsewhere()
    more = ["If your value is not accepted, no report is sent, and the collector sees that yours is missing."]
    return document(
        title,
        tag(
            "header",
            tag("h1", title),
            tag(
                "p",
                f"{description.participants:,} people are asked. Your answer stays on your device: it sends one random "
                "report, which says little of your answer alone, and much of everybody's together.",
                class_="lead",
            ),
        ),
        tag(
            "main",
            _part("What you are asked", *(tag("p", question_of(each, description.rounding)) for each in columns)),
            form,
            _part("What is sent", say(" ".join(each.strip() for each in sent(description)))),
            _part("When it is true", *(say(each) for each in chances(description.oracle))),
            _part("What an observer can learn", *(say(each.strip()) for each in revealed(description))),
            _part(
                "What an observer cannot learn",
                say(
                    "Whether your report is true. Whoever sees it, the collector included, can never be surer of your "
                    "answer than the limit above allows, whatever else they know and however long they compute. They "
                    "see no part of your answer that is not in the report."
                ),
            ),
            _part(
                "What is not protected",
                say(
                    "That you take part, your number, and when and from where you report. That the collector asks you "
                    "once only: another question costs as much again. Your answer, from somebody who watches your "
                    "device."
                ),
                *map(say, more if any(map(refuses, columns)) else ()),
            ),
            _part("What it is for", *map(say, purpose(description.statistic))),
        ),
        tag(
            "footer",
            say(tag("a", "The question as a file", href="/v1/study"), ", ", tag("a", "the client", href=f"/{CLIENT}"),
                ", ", tag("a", "how many have reported", href="/status")),
            fine(f"Collection {description.id}, SHA-256 {description.digest.hex()}"),
        ),
        Html(f'<script type="module">{_script()}</script>') if _in_browsers(description) else None,
        policy=POLICY + policy(),
    )  # fmt: skip


def status_page(status: dict[str, Any], released: Mapping[str, Released]) -> str:
    lead = f"{status['uploads']:,} of {status['participants']:,} participants have reported."
    parts = [by_hour("Reports", "reports", status["uploads_by_hour"]), *drawn(released)]
    return study_page(status, lead, parts, f"Each report costs its owner {status['privacy']}.", what="Collection")


def _form(description: Description) -> Html:
    (column,) = description.domain.columns
    assert isinstance(column, Binning)
    dates = column.grid.unit == "date"
    return tag(
        "section",
        tag("h2", "Your report"),
        tag(
            "form",
            tag(
                "label",
                f"{column.column} ({column.grid.span})",
                tag("input", name="answer", type="date" if dates else "text", autocomplete="off", style=_STYLE,
                    inputmode=None if dates else "decimal"),
            ),
            tag("label", "Your token", tag("input", name="token", type="text", autocomplete="off", style=_STYLE)),
            tag("button", "Make and send my report", type="submit", style="font: inherit; padding: .45rem .9rem"),
            data_digest=description.digest.hex(),
            data_limit=str(description.privacy.epsilon),
        ),
        tag("p", tag("output"), role="status"),
        fine(
            "Your browser draws the report, keeps it, and sends nothing else; a second click sends the same report. "
            "The page and its script come from the collector's service: if you do not trust them, make the report with "
            "ogive local randomize, or with a copy of the client that you have read."
        ),
    )  # fmt: skip


def _elsewhere() -> Html:
    return _part(
        "Your report",
        say("This page cannot make your report; ogive local randomize makes it, and ogive local send sends it."),
    )


def _in_browsers(description: Description) -> bool:
    """Whether the client knows the question."""
    column, *more = description.domain.columns
    known = isinstance(column, Binning) and column.grid.unit != "datetime" and not more
    return (
        known and isinstance(description.privacy, PureDP) and description.rounding == "simple" and _method(description)
    )


def _method(description: Description) -> bool:
    oracle = description.oracle
    if isinstance(oracle, TreeOracle):
        return oracle.composition == "basic" and oracle.seed < 1 << 53
    return isinstance(oracle, RandomizedResponse | UnaryOracle)


def _part(name: str, *children: Html) -> Html:
    return tag("section", tag("h2", name), *children)


def _text(name: str) -> str:
    return resources.files("ogive.study.local").joinpath(name).read_text(encoding="utf-8")


# --- The application


class LocalService(Taking):
    """The application around the reports of one collection."""

    media = "application/json"
    prefix = "ogive_local"
    page = staticmethod(status_page)

    def __init__(
        self, description: Description, reports: LocalReports, participants: Participants, released: ReleasedFile
    ) -> None:
        super().__init__(description.canonical)
        self._description = description
        self._reports = reports
        self._participants = participants
        self.longest = description.report_bytes
        self._released = released
        self._owners_page = owners_page(description)

    def person(self, shown: str) -> int:
        return self._participants.person(shown)

    def take(self, number: int, report: bytes) -> Future[None]:
        return self._reports.take(number, report)

    def application(self) -> ASGIApp:
        own = [Route("/", self._owners), Route(f"/{CLIENT}", self._client), Route("/status", self._status_page)]
        others = exact(routes=[*own, *self.routes()])
        return self.before(others, f"/v1/tasks/{self._description.digest.hex()}/reports")

    async def _owners(self, request: Request) -> Response:
        return html(self._owners_page, more=policy())

    async def _client(self, request: Request) -> Response:
        return Response(client(), media_type="text/javascript")

    def public(self, stored: object = None) -> dict[str, Any]:
        description = self._description
        return {
            "study": description.id,
            "title": description.title,
            "digest": description.digest.hex(),
            "participants": description.participants,
            "privacy": str(description.privacy),
            "uploads": len(self._reports),
            "bytes": self._reports.size,
            "uploads_by_hour": self._reports.by_hour,
        }

    async def _status_page(self, request: Request) -> Response:
        return html(self.page(self.public(), await run_in_threadpool(self._released.pictured)))

    def result(self, name: str) -> dict[str, Any] | None:
        return self._released.find(name)

    def fault(self) -> str | None:
        return None if self._reports.usable else FAILED

    def metrics(self, status: dict[str, Any]) -> dict[str, Any]:
        return {**self.counts, "uploads": status["uploads"], "store_bytes": status["bytes"]}


# --- The process that takes the reports of a collection


def serve(
    description: Description, *, service: Path, store: Path, host: str, port: int, released: Path | None = None
) -> None:
    """Take reports into the folder `store`, and publish the estimate in `released`, until told to stop."""
    participants = Participants.read(service / LIST, description)
    with (
        listen(service, host, port) as listening,
        closing(LocalReports(description, store, len(participants))) as reports,
    ):
        log_to_stderr()
        LOG.info(
            "collecting %s at https://%s:%d, %d people may report, %d have",
            description.id, host, listening.getsockname()[1], len(participants), len(reports),
        )  # fmt: skip
        run(LocalService(description, reports, participants, ReleasedFile(released)).application(), listening, service)
