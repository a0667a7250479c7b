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
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ogive.errors import LedgerError, OgiveError, PeerError, RefusalError
from ogive.study.https.responses import html, line
from ogive.study.https.results import Results
from ogive.study.servers.asking import Answering
from ogive.study.servers.leader import Leader
from ogive.study.servers.node import Node
from ogive.study.servers.pages import status_page
from ogive.study.servers.reports import report_bytes
from ogive.study.servers.sealing import FRONT_BYTES
from ogive.study.servers.uploads import ClosedError, NotEnrolledError, OtherReportError, Reports

LOG = logging.getLogger("ogive.study")

REPORT = "application/vnd.ogive.report"
JOB = "application/vnd.ogive.preparation-job"

BODY_SECONDS = 30.0
"""How long the body of a report may take to come."""
JOB_SECONDS = 600.0
"""How long a request of server 0 may take to come."""
LARGEST_JOB = 1 << 30
TICK_SECONDS = 0.25
LONGEST_PAUSE = 15.0
_HOURS = 48


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
        self._report_bytes = report_bytes(node.study)
        self._uploads: Counter[int] = Counter()
        self._counts = {"reports": 0, "refused": 0, "bytes_in": 0, "jobs": 0}
        self._results = Results(self._result)
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
        others = Starlette(routes=routes, lifespan=self._lifespan)
        reports = f"{task}/reports"

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            # reports come by the thousand each second, and go past the router
            if scope["type"] == "http" and scope["path"] == reports and self._leader is not None:
                response = await self._report(Request(scope, receive))
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

    async def _report(self, request: Request) -> Response:
        uploads = self._node.uploads
        assert isinstance(uploads, Reports), "server 0 takes reports"
        if request.method != "POST":
            return self._refused("reports are sent by POST", 405)
        scheme, _, shown = request.headers.get("authorization", "").partition(" ")
        try:
            if scheme.lower() != "bearer":
                raise NotEnrolledError
            number = uploads.number(bytes.fromhex(shown))
        except (NotEnrolledError, ValueError):
            return self._refused("this needs the credential of somebody who is enrolled in this study", 401)
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await self._body(request, self._report_bytes)
            if body is None:
                return self._refused(f"a report of this study has {self._report_bytes} bytes", 413)
            await asyncio.wrap_future(uploads.take(number, body))
        except TimeoutError:
            return self._refused("the report came too slowly", 408)
        except ClientDisconnect:
            return self._refused("the report was cut off", 400)
        except OtherReportError as problem:
            return self._refused(str(problem), 409)
        except ClosedError as problem:
            return self._refused(str(problem), 410)
        except PeerError as problem:
            return self._refused(str(problem), 400)
        except RefusalError as problem:
            LOG.error("a report is not stored: %s", problem)
            return self._refused("the report could not be stored now; send it again", 503)
        self._counts["reports"] += 1
        self._counts["bytes_in"] += len(body)
        self._uploads[int(time.time()) // 3600] += 1
        return Response(status_code=201)

    async def _job(self, request: Request) -> Response:
        assert self._answering is not None, "server 0 is asked nothing"
        try:
            async with asyncio.timeout(JOB_SECONDS):
                body = await self._envelope(request, self._answering)
            if body is None:
                return self._refused(f"a request has the length that it states, and at most {LARGEST_JOB} bytes", 413)
            response = await run_in_threadpool(self._answering.answer, body)
        except TimeoutError:
            return self._refused("the request came too slowly", 408)
        except ClientDisconnect:
            return self._refused("the request was cut off", 400)
        except PeerError as problem:
            return self._refused(str(problem), 403)
        except LedgerError as problem:
            LOG.error("the state cannot be used: %s", problem)
            return self._refused("the server cannot store anything now; try again", 503)
        self._counts["jobs"] += 1
        self._counts["bytes_in"] += len(body)
        return Response(response, media_type=JOB)

    async def _body(self, request: Request, most: int) -> bytes | None:
        """The body; None if it is longer."""
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > most:
                return None
        return bytes(body)

    async def _envelope(self, request: Request, answering: Answering) -> bytes | None:
        """An envelope of server 0, of which nothing is kept before it is known to be one; None if it is longer.

        Raises:
            PeerError: it is none.
        """
        body, length = bytearray(), FRONT_BYTES
        async for chunk in request.stream():
            known = len(body) >= FRONT_BYTES
            body += chunk
            if not known and len(body) >= FRONT_BYTES:
                length = answering.bytes_of(bytes(body[:FRONT_BYTES]))
            if len(body) > length or length > LARGEST_JOB:
                return None
        return bytes(body)

    def _refused(self, text: str, status: int) -> Response:
        self._counts["refused"] += 1
        response = line(text, status)
        response.headers["connection"] = "close"  # the rest of the body is not read
        return response

    async def _study(self, request: Request) -> Response:
        return Response(self._node.study.text, media_type="application/toml")

    async def _task(self, request: Request) -> Response:
        return JSONResponse({"open": self._node.closed is None, "uploads": len(self._node.uploads)})

    async def _status(self, request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(self.told))

    def told(self) -> dict[str, Any]:
        """Everything that anybody may know of this server."""
        node, study = self._node, self._node.study
        spent = node.spent()
        hours = sorted(self._uploads.items())[-_HOURS:]
        return {
            "study": study.name,
            "title": study.title,
            "digest": study.digest.hex(),
            "server": study.servers[node.number].name,
            "servers": [server.name for server in study.servers],
            "budget": str(study.budget),
            "spent": None if spent is None else str(spent),
            "open": node.closed is None,
            "uploads": len(node.uploads),
            "bytes": node.uploads.size,
            "uploads_by_hour": [[hour * 3600, count] for hour, count in hours],
            "clients": node.clients,
            "left_out": node.left_out,
            "releases": node.states(),
            "waiting": self._problem if self._problem.startswith("waiting") else None,
        }

    def _result(self, name: str) -> dict[str, Any] | None:
        for number, release in enumerate(self._node.study.releases):
            if release.name == name:
                estimate = self._node.estimate(number)
                return None if estimate is None else estimate.to_dict()
        return None

    async def _page(self, request: Request) -> Response:
        told = await run_in_threadpool(self.told)
        return html(status_page(told, await self._results.pictured(told["releases"])))

    async def _health(self, request: Request) -> Response:
        try:
            await run_in_threadpool(self._node.check)
        except LedgerError:
            return line("the state cannot be read", 503)
        return PlainTextResponse("ok\n")

    async def _metrics(self, request: Request) -> Response:
        told = await run_in_threadpool(self.told)
        lines = [f"ogive_server_{name} {value}" for name, value in self._counts.items()]
        lines += [f"ogive_server_uploads {told['uploads']}", f"ogive_server_store_bytes {told['bytes']}"]
        lines += [
            f"ogive_server_releases{{state={json.dumps(state)}}} "
            f"{sum(each['state'] == state for each in told['releases'])}"
            for state in ("running", "released", "over")
        ]
        return PlainTextResponse("\n".join(lines) + "\n")
