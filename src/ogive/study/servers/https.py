"""One server of a study as an HTTP service.

    GET  /v1/study                              the study file
    GET  /v1/tasks/TASK                         whether uploads are taken, and how many there are
    POST /v1/tasks/TASK/reports                 server 0: a person's report; 201 once it is durable
    POST /v1/tasks/TASK/preparation_jobs        the other servers: a request of server 0, sealed and signed
    GET  /v1/status                             the same with the state of each release, as JSON
    GET  /v1/releases/NAME                      what was released, as JSON
    GET  /, /releases/NAME                      pages
    GET  /health, /metrics                      for whoever operates it

TASK is the digest of the study in hexadecimal digits. A person shows a credential, as `Authorization: Bearer
CREDENTIAL`. Logs hold counts, sizes and times, and never a body, a credential or a header.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ogive.errors import LedgerError, OgiveError, PeerError
from ogive.privacy import Adjacency
from ogive.study.https.recent import Recent
from ogive.study.https.responses import FAILED, exact, html, line
from ogive.study.https.results import Results
from ogive.study.https.taking import Taking
from ogive.study.servers.asking import Answering
from ogive.study.servers.leader import Leader
from ogive.study.servers.node import Node
from ogive.study.servers.pages import status_page
from ogive.study.servers.reports import report_bytes
from ogive.study.servers.sealing import LARGEST_ENVELOPE, Arriving
from ogive.study.servers.uploads import Reports
from ogive.study.submissions import NotEnrolledError

LOG = logging.getLogger("ogive.study")

REPORT = "application/vnd.ogive.report"
JOB = "application/vnd.ogive.preparation-job"

JOB_SECONDS = 600.0
"""How long a request of server 0 may take to come."""
_PRIVATE = "whoever runs the servers knows why; it may tell how many people there are, which is private here"
TICK_SECONDS = 0.25
LONGEST_PAUSE = 15.0


class ServerService:
    """The application around one server.

    Args:
        node: The server.
        leader: The same as server 0; None at the others.
    """

    def __init__(self, node: Node, leader: Leader | None) -> None:
        self._node = node
        self._leader = leader
        self._answering = None if leader is not None else Answering(node)
        self._taking = Taking(longest=report_bytes(node.study), person=self._person, take=self._take)
        self._counts = self._taking.counts
        self._counts["jobs"] = 0
        self._results = Results(self._result)
        self._kept, self._checked = Recent(self._read), Recent(node.check)
        self._problem = ""

    def application(self) -> ASGIApp:
        """The application, to be served by one process."""
        task = f"/v1/tasks/{self._node.study.digest.hex()}"
        routes = [
            Route("/", self._page),
            *self._results.routes(),
            Route("/health", self._health),
            Route("/metrics", self._metrics),
            Route("/v1/study", self._study),
            Route("/v1/status", self._status),
            Route(task, self._task),
        ]
        if self._leader is None:
            routes.append(Route(f"{task}/preparation_jobs", self._job, methods=["POST"]))
        others = exact(routes=routes, lifespan=self._lifespan)
        reports = f"{task}/reports"

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            # reports come by the thousand each second, and go past the router
            if scope["type"] == "http" and scope["path"] == reports and self._leader is not None:
                response = await self._taking.answer(Request(scope, receive))
                await response(scope, receive, send)
            else:
                await others(scope, receive, send)

        return application

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        ticking = None if self._leader is None else asyncio.create_task(self._tick(self._leader))
        try:
            yield
        finally:
            if ticking is not None:
                ticking.cancel()
                with suppress(asyncio.CancelledError):
                    await ticking

    async def _tick(self, leader: Leader) -> None:
        """Relay what came, and go on with what was asked for."""
        pause = TICK_SECONDS
        while True:
            try:
                busy = await run_in_threadpool(leader.relay)
                busy |= await run_in_threadpool(leader.advance)
                pause = TICK_SECONDS
                self._say("the other servers answer")
            except OgiveError as problem:
                self._say(f"waiting: {problem}")
                busy, pause = False, min(2 * pause, LONGEST_PAUSE)
            if not busy:
                await asyncio.sleep(pause)

    def _say(self, text: str) -> None:
        if text != self._problem:
            self._problem = text
            LOG.info("%s", text)

    def _person(self, shown: str) -> int:
        """The number of the person who shows a credential, in hexadecimal digits."""
        try:
            credential = bytes.fromhex(shown)
        except ValueError:
            raise NotEnrolledError from None
        return self._reports.number(credential)

    def _take(self, number: int, report: bytes) -> Future[None]:
        return self._reports.take(number, report)

    @property
    def _reports(self) -> Reports:
        uploads = self._node.uploads
        assert isinstance(uploads, Reports), "server 0 takes reports"
        return uploads

    async def _job(self, request: Request) -> Response:
        assert self._answering is not None, "server 0 is asked nothing"
        try:
            async with asyncio.timeout(JOB_SECONDS):
                body = await self._envelope(request, self._answering)
            if body is None:
                return self._taking.refused(
                    f"a request has the length that it states, and at most {LARGEST_ENVELOPE} bytes", 413
                )
            response = await run_in_threadpool(self._answering.answer, body)
        except TimeoutError:
            return self._taking.refused("the request came too slowly", 408)
        except ClientDisconnect:
            return self._taking.refused("the request was cut off", 400)
        except PeerError as problem:
            return self._taking.refused(str(problem), 403)
        except LedgerError as problem:
            LOG.error("the state cannot be used: %s", problem)
            return self._taking.refused("the server cannot store anything now; try again", 503)
        self._counts["jobs"] += 1
        self._counts["bytes_in"] += len(body)
        return Response(response, media_type=JOB)

    async def _envelope(self, request: Request, answering: Answering) -> bytes | None:
        """An envelope of server 0, of which nothing is kept before it is known to be one; None if it is longer.

        Raises:
            PeerError: it is none.
        """
        arriving = Arriving(answering.bytes_of)
        async for chunk in request.stream():
            if not arriving.add(chunk):
                return None
        return bytes(arriving)

    async def _study(self, request: Request) -> Response:
        return Response(self._node.study.text, media_type="application/toml")

    async def _task(self, request: Request) -> Response:
        private = self._node.study.unit.adjacency is Adjacency.ADD_OR_REMOVE
        uploads = None if private else len(self._node.uploads)  # nothing is read from the disk for strangers
        return JSONResponse({"open": self._node.closed is None, "uploads": uploads})

    async def _status(self, request: Request) -> Response:
        return JSONResponse(self.told(await self._kept.get()))

    def _read(self) -> dict[str, Any]:
        """What the state and the ledger know."""
        node, spent = self._node, self._node.spent()
        return {
            "spent": None if spent is None else str(spent),
            "clients": node.clients,
            "left_out": node.left_out,
            "releases": node.states(),
        }

    def told(self, kept: dict[str, Any]) -> dict[str, Any]:
        """Everything that anybody may know of this server; None for what would tell a private number of people.

        Args:
            kept: What the state and the ledger know.
        """
        node, study = self._node, self._node.study
        told: dict[str, Any] = {
            "study": study.name,
            "title": study.title,
            "digest": study.digest.hex(),
            "server": study.servers[node.number].name,
            "servers": [server.name for server in study.servers],
            "budget": str(study.budget),
            "spent": kept["spent"],
            "open": node.closed is None,
            "uploads": len(node.uploads),
            "bytes": node.uploads.size,
            "uploads_by_hour": [] if self._leader is None else self._reports.by_hour,
            "who": "organizations" if study.organizations else "people",
            "clients": kept["clients"],
            "left_out": kept["left_out"],
            "releases": kept["releases"],
            "waiting": self._problem if self._problem.startswith("waiting") else None,
        }
        if study.unit.adjacency is Adjacency.ADD_OR_REMOVE:
            told |= dict.fromkeys(("uploads", "bytes", "uploads_by_hour", "clients", "left_out"))
            told["waiting"] = told["waiting"] and "waiting for each other"
            told["releases"] = [each | {"reason": each["reason"] and _PRIVATE} for each in told["releases"]]
        return told

    def _result(self, name: str) -> dict[str, Any] | None:
        for number, release in enumerate(self._node.study.releases):
            if release.name == name:
                estimate = self._node.estimate(number)
                return None if estimate is None else estimate.to_dict()
        return None

    async def _page(self, request: Request) -> Response:
        told = self.told(await self._kept.get())
        return html(status_page(told, await self._results.pictured(told["releases"])))

    async def _health(self, request: Request) -> Response:
        try:
            await self._checked.get()
        except LedgerError:
            return line("the state cannot be read", 503)
        if not self._node.uploads.usable:
            return line(FAILED, 503)
        return PlainTextResponse("ok\n")

    async def _metrics(self, request: Request) -> Response:
        told = self.told(await self._kept.get())
        lines = []
        if told["uploads"] is not None:
            lines += [f"ogive_server_{name} {value}" for name, value in self._counts.items()]
            lines += [f"ogive_server_uploads {told['uploads']}", f"ogive_server_store_bytes {told['bytes']}"]
        lines += [
            f"ogive_server_releases{{state={json.dumps(state)}}} "
            f"{sum(each['state'] == state for each in told['releases'])}"
            for state in ("running", "released", "over")
        ]
        return PlainTextResponse("\n".join(lines) + "\n")
