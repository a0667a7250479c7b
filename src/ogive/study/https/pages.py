"""The shell that all services of a study have: their file, status, health, metrics, pages, and what was released."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ogive.errors import LedgerError, ParameterError, PeerError, RefusalError
from ogive.provenance import Provenance
from ogive.report import chart_svg, render_report
from ogive.showing.parts import PICTURES, Html, document, fine, say, table, tag
from ogive.statistics.kinds import read_recorded
from ogive.study.common import LOG
from ogive.study.https.connections import Recent, admit, bearer, html, is_known, line
from ogive.study.submissions import ClosedError, NotEnrolledError, OtherReportError

REFRESH_SECONDS = 5
_NO_RELEASE = "there is no such release yet"


@dataclass(frozen=True)
class Released:
    """What the page of a study shows of a release; no picture where only single values were released."""

    provenance: Provenance
    picture: str | None

    @staticmethod
    def of(result: dict[str, Any]) -> Released:
        estimate = read_recorded(result)
        assert estimate.provenance is not None, "releases of a study have one"
        try:
            picture = chart_svg(estimate)
        except ParameterError:
            picture = None
        return Released(estimate.provenance, picture)


def study_page(
    status: dict[str, Any], lead: str, parts: Sequence[Html | None], foot: str, *, what: str = "Study"
) -> str:
    """The page of a study, which the browser reads again every few seconds."""
    title = status["title"] or status["study"]
    return document(
        title,
        tag("header", tag("h1", title), say(lead)),
        tag("main", *parts),
        tag("footer", say(foot), fine(f"{what} {status['study']}, SHA-256 {status['digest']}")),
        refresh=REFRESH_SECONDS,
        policy=PICTURES,
    )


def by_hour(caption: str, heading: str, counts: list[list[int]]) -> Html:
    rows = [(time.strftime("%Y-%m-%d %H:00", time.gmtime(first)), (f"{count:,}",)) for first, count in counts]
    return table(caption, ("hour (UTC)", heading), rows or [("none", ("0",))])


def release_page(name: str, result: dict[str, Any]) -> str:
    return render_report([read_recorded(result)], title=name)


def release_link(release: dict[str, Any]) -> Html:
    if release["state"] == "released":
        return tag("a", release["name"], href=f"/releases/{release['name']}")
    return Html(release["name"])  # a name of a study has no character that means anything in HTML


def drawn(released: Mapping[str, Released]) -> list[Html]:
    """The charts of releases, each as a picture of its own, so that no rule of one changes another."""
    sections = []
    for name, each in released.items():
        if each.picture is not None:
            src = f"data:image/svg+xml;base64,{base64.b64encode(each.picture.encode()).decode()}"
            chart = tag("img", src=src, alt=f"The chart of {name}", style="max-width: 100%")
            sections.append(tag("section", tag("h3", f"Release {name}"), tag("a", chart, href=f"/releases/{name}")))
    return sections


# --- The shell


class Shell:
    """A service: routes that all have, around what a subclass knows of its study.

    What strangers ask for is read from the disk at most once a second.
    """

    media = "application/toml"
    prefix = ""
    """What the names of its metrics begin with; a service without any counts nothing."""

    def __init__(self, text: bytes, *counted: str) -> None:
        self._text = text
        self.counts = dict.fromkeys(counted, 0)
        self._pictured: dict[str, Released] = {}
        self._pages: dict[str, tuple[dict[str, Any], str]] = {}
        self._stored_status, self._checked = Recent(self.read), Recent(self.check)

    def read(self) -> Any:
        return None

    def public(self, stored: Any) -> dict[str, Any]:
        """Everything that anybody may know, with what `read` found."""
        raise NotImplementedError

    def check(self) -> None:
        """Read something of the state; a `LedgerError` is told by `/health`."""

    def fault(self) -> str | None:
        """Why the service cannot go on."""
        return None

    def metrics(self, status: dict[str, Any]) -> dict[str, Any]:
        return {}

    def result(self, name: str) -> dict[str, Any] | None:
        """What was released under a name, as plain data."""
        raise NotImplementedError

    def page(self, status: dict[str, Any], released: Mapping[str, Released]) -> str:
        raise NotImplementedError

    def routes(self) -> list[BaseRoute]:
        counted = [Route("/metrics", self._metrics)] if self.prefix else []
        return [
            Route("/", self._page),
            Route("/v1/releases/{name}", self._release),
            Route("/releases/{name}", self._release_page),
            Route("/health", self._health),
            *counted,
            Route("/v1/study", self._study),
            Route("/v1/status", self._status),
        ]

    def refused(self, text: str, status: int) -> Response:
        """One line that says why something was not taken."""
        self.counts["refused"] += 1
        return line(text, status)

    async def _now(self) -> dict[str, Any]:
        return self.public(await self._stored_status.get())

    async def _study(self, request: Request) -> Response:
        return Response(self._text, media_type=self.media)

    async def _status(self, request: Request) -> Response:
        return JSONResponse(await self._now())

    async def _page(self, request: Request) -> Response:
        status = await self._now()
        for each in status["releases"]:  # drawn once
            name = each["name"]
            if each["state"] == "released" and name not in self._pictured:
                result = await run_in_threadpool(self.result, name)
                if result is not None:
                    self._pictured[name] = await run_in_threadpool(Released.of, result)
        return html(self.page(status, self._pictured))

    async def _release(self, request: Request) -> Response:
        result = await run_in_threadpool(self.result, request.path_params["name"])
        return line(_NO_RELEASE, 404) if result is None else JSONResponse(result)

    async def _release_page(self, request: Request) -> Response:
        name = request.path_params["name"]
        result = await run_in_threadpool(self.result, name)
        if result is None:
            return line(_NO_RELEASE, 404)
        if name not in self._pages or self._pages[name][0] != result:
            self._pages[name] = result, await run_in_threadpool(release_page, name, result)
        return html(self._pages[name][1])

    async def _health(self, request: Request) -> Response:
        try:
            await self._checked.get()
            fault = self.fault()
        except LedgerError:
            fault = "the state cannot be read"
        return PlainTextResponse("ok\n") if fault is None else line(fault, 503)

    async def _metrics(self, request: Request) -> Response:
        counts = self.metrics(await self._now())
        return PlainTextResponse("".join(f"{self.prefix}_{name} {value}\n" for name, value in counts.items()))


REPORT_SECONDS = 30.0
"""How long the body of a report may take to come."""


class Taking(Shell):
    """A service to which people send a report each, by POST with their credential."""

    longest: int
    """Bytes of a report."""

    def __init__(self, text: bytes, *counted: str) -> None:
        super().__init__(text, "reports", "refused", "bytes_in", *counted)

    def person(self, shown: str) -> int:
        """The number of the person who shows a credential."""
        raise NotImplementedError

    def take(self, number: int, report: bytes) -> Future[None]:
        raise NotImplementedError

    def before(self, others: ASGIApp, path: str) -> ASGIApp:
        """An application that takes reports at a path, past the router, since they come by the thousand each second."""

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http" and scope["path"] == path:
                response = await self._answer(Request(scope, receive))
                await response(scope, receive, send)
            else:
                await others(scope, receive, send)

        return application

    async def _answer(self, request: Request) -> Response:
        """The answer to one report: 201 once it is durable, and one line if it is refused."""
        if request.method != "POST":
            return self.refused("reports are sent by POST", 405)
        try:
            number = self.person(bearer(request))
        except NotEnrolledError:
            return self.refused("this needs the credential of somebody who is enrolled in this study", 401)
        is_known(request.scope)
        report = bytearray()

        def add(chunk: bytes) -> bool:
            report.extend(chunk)
            return len(report) <= self.longest

        most = f"a report of this study has {self.longest} bytes"
        wrong = await admit(request, add, what="report", most=most, seconds=REPORT_SECONDS)
        if wrong is not None:
            return self.refused(*wrong)
        try:
            await asyncio.wrap_future(self.take(number, bytes(report)))
        except PeerError as problem:
            statuses: dict[type, int] = {OtherReportError: 409, ClosedError: 410}
            return self.refused(str(problem), statuses.get(type(problem), 400))
        except RefusalError as problem:
            LOG.error("a report is not stored: %s", problem)
            return self.refused("the report could not be stored now; send it again", 503)
        self.counts["reports"] += 1
        self.counts["bytes_in"] += len(report)
        return Response(status_code=201)


def in_state(status: dict[str, Any], *states: str) -> dict[str, int]:
    results = [each["state"] for each in status["releases"]]
    return {f'releases{{state="{state}"}}': results.count(state) for state in states}
