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
import logging
import threading
from collections.abc import Mapping
from contextlib import closing
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ogive.columns import Binning
from ogive.errors import OgiveError, plain
from ogive.local.description import Description, asked, chances, purpose, refuses, revealed, sent
from ogive.local.oracles import RandomizedResponse, UnaryOracle
from ogive.local.tree import TreeOracle
from ogive.privacy import PureDP
from ogive.showing.parts import PICTURES, POLICY, Html, document, fine, say, table, tag
from ogive.statistics.kinds import read_recorded
from ogive.study.https.connections import FAILED, Taking, exact, html, line
from ogive.study.https.pages import REFRESH_SECONDS, Released, Results, drawn, hour
from ogive.study.https.service import listen, log_to_stderr, run
from ogive.study.local.reports import LIST, LocalReports, Participants

# --- The published estimate, in a file that may come later and may be replaced

LOG = logging.getLogger("ogive.study")

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
        self._found: dict[str, Any] | None = None
        self._released: Released | None = None

    def find(self, name: str) -> dict[str, Any] | None:
        """The estimate as plain data, if it has this name; None if there is none."""
        self.pictured()
        return self._found if name == NAME else None

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
            self._known = self._found = self._released = None
            return
        if self._known == (about.st_mtime_ns, about.st_size):
            return
        self._known = (about.st_mtime_ns, about.st_size)
        self._found = self._released = None
        try:
            with self._path.open("rb") as file:
                found = json.loads(file.read(_MOST))
            estimate = read_recorded(found)
        except (OSError, ValueError, OgiveError) as problem:
            LOG.warning("%s is not shown: it holds no estimate (%s)", plain(self._path), plain(problem)[:200])
            return
        if estimate.provenance is None or estimate.provenance.trust != "local":
            LOG.warning("%s is not shown: it is no estimate of local reports", plain(self._path))
            return
        self._found, self._released = found, Released.of(found)


# --- Pages for owners, with a form that makes their report, and of the status

CLIENT = "local_report.mjs"
_STYLE = "font: inherit; width: 100%; max-width: 34rem; padding: .45rem .6rem; display: block; margin: .2rem 0 .8rem"


@cache
def client() -> str:
    """The module with which browsers make a report."""
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
            _part("What you are asked", *(tag("p", asked(each, description.rounding)) for each in columns)),
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


def status_page(told: dict[str, Any], released: Mapping[str, Released]) -> str:
    """How many have reported, and what was released; the browser reads it again every few seconds."""
    return document(
        told["title"] or told["study"],
        tag(
            "header",
            tag("h1", told["title"] or told["study"]),
            say(f"{told['uploads']:,} of {told['participants']:,} participants have reported."),
        ),
        tag(
            "main",
            table(
                "Reports",
                ("hour (UTC)", "reports"),
                [(hour(first), (f"{count:,}",)) for first, count in told["uploads_by_hour"]] or [("none", ("0",))],
            ),
            *(drawn(name, each.picture) for name, each in released.items() if each.picture is not None),
        ),
        tag(
            "footer",
            say(f"Each report costs its owner {told['privacy']}."),
            fine(f"Collection {told['study']}, SHA-256 {told['digest']}"),
        ),
        refresh=REFRESH_SECONDS,
        policy=PICTURES,
    )


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


class LocalService:
    """The application around the reports of one collection."""

    def __init__(
        self, description: Description, reports: LocalReports, participants: Participants, released: ReleasedFile
    ) -> None:
        self._description = description
        self._reports = reports
        self._taking = Taking(longest=description.report_bytes, person=participants.person, take=reports.take)
        self._page = owners_page(description)
        self._released = released

    def application(self) -> ASGIApp:
        """The application, to be served by one process."""
        others = exact(
            routes=[
                Route("/", self._owners),
                Route(f"/{CLIENT}", self._client),
                Route("/status", self._status_page),
                Route("/health", self._health),
                Route("/metrics", self._metrics),
                Route("/v1/study", self._study),
                Route("/v1/status", self._status),
                *Results(self._released.find).routes(),
            ]
        )
        return self._taking.before(others, f"/v1/tasks/{self._description.digest.hex()}/reports")

    async def _owners(self, request: Request) -> Response:
        return html(self._page, more=policy())

    async def _client(self, request: Request) -> Response:
        return Response(client(), media_type="text/javascript")

    async def _study(self, request: Request) -> Response:
        return Response(self._description.canonical, media_type="application/json")

    async def _status(self, request: Request) -> Response:
        return JSONResponse(self.told())

    def told(self) -> dict[str, Any]:
        """Everything that anybody may know of this service."""
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
        return html(status_page(self.told(), await run_in_threadpool(self._released.pictured)))

    async def _health(self, request: Request) -> Response:
        return PlainTextResponse("ok\n") if self._reports.usable else line(FAILED, 503)

    async def _metrics(self, request: Request) -> Response:
        lines = [f"ogive_local_{name} {value}" for name, value in self._taking.counts.items()]
        lines += [f"ogive_local_uploads {len(self._reports)}", f"ogive_local_store_bytes {self._reports.size}"]
        return PlainTextResponse("\n".join(lines) + "\n")


# --- The process that takes the reports of a collection


def serve(
    description: Description, *, service: Path, store: Path, host: str, port: int, released: Path | None = None
) -> None:
    """Take reports until the process is told to stop.

    Args:
        description: What is asked.
        service: Folder of `enrolment.equip`.
        store: Folder of the reports, made if it is not there.
        host: Address to listen on.
        port: Port to listen on; 0 for any that is free.
        released: File of the estimate that is published, once it is there; None publishes nothing.

    Raises:
        ParameterError: a file of the folder cannot be used, or the address.
        RefusalError: another process has the store, or it cannot be used.
    """
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
