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

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ogive.local.description import Description
from ogive.study.https.responses import FAILED, exact, html, line
from ogive.study.https.results import Results
from ogive.study.https.taking import Taking
from ogive.study.local.enrolment import Participants
from ogive.study.local.pages import CLIENT, client, owners_page, policy, status_page
from ogive.study.local.released import ReleasedFile
from ogive.study.local.reports import LocalReports


class LocalService:
    """The application around the reports of one collection.

    Args:
        description: What is asked.
        reports: Those that are stored.
        participants: Who may report.
        released: What the collector publishes.
    """

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
        reports = f"/v1/tasks/{self._description.digest.hex()}/reports"

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            # reports come by the thousand each second, and go past the router
            if scope["type"] == "http" and scope["path"] == reports:
                response = await self._taking.answer(Request(scope, receive))
                await response(scope, receive, send)
            else:
                await others(scope, receive, send)

        return application

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
