"""How a service takes what people send once each: who it is first, then a short body in a short time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from ogive.errors import PeerError, RefusalError
from ogive.study.https.connections import is_known
from ogive.study.https.responses import line
from ogive.study.submissions import ClosedError, NotEnrolledError, OtherReportError

LOG = logging.getLogger("ogive.study")

BODY_SECONDS = 30.0
"""How long the body of a report may take to come."""


class Taking:
    """The reports of a service, each sent by POST with its owner's credential.

    Args:
        longest: Bytes that a report may have.
        person: The number of whose credential it is; raises `NotEnrolledError`.
        take: Stores the report of a person; done when it is durable.
    """

    def __init__(
        self, *, longest: int, person: Callable[[str], int], take: Callable[[int, bytes], Future[None]]
    ) -> None:
        self._longest = longest
        self._person = person
        self._take = take
        self.counts = {"reports": 0, "refused": 0, "bytes_in": 0}

    async def answer(self, request: Request) -> Response:
        """The answer to one report: 201 once it is durable, and one line if it is refused."""
        if request.method != "POST":
            return self.refused("reports are sent by POST", 405)
        scheme, _, shown = request.headers.get("authorization", "").partition(" ")
        try:
            if scheme.lower() != "bearer":
                raise NotEnrolledError
            number = self._person(shown)
        except NotEnrolledError:
            return self.refused("this needs the credential of somebody who is enrolled in this study", 401)
        is_known(request.scope)
        try:
            async with asyncio.timeout(BODY_SECONDS):
                report = await self._body(request)
            if report is None:
                return self.refused(f"a report of this study has {self._longest} bytes", 413)
            await asyncio.wrap_future(self._take(number, report))
        except TimeoutError:
            return self.refused("the report came too slowly", 408)
        except ClientDisconnect:
            return self.refused("the report was cut off", 400)
        except OtherReportError as problem:
            return self.refused(str(problem), 409)
        except ClosedError as problem:
            return self.refused(str(problem), 410)
        except PeerError as problem:
            return self.refused(str(problem), 400)
        except RefusalError as problem:
            LOG.error("a report is not stored: %s", problem)
            return self.refused("the report could not be stored now; send it again", 503)
        self.counts["reports"] += 1
        self.counts["bytes_in"] += len(report)
        return Response(status_code=201)

    async def _body(self, request: Request) -> bytes | None:
        """The body; None if it is longer than a report."""
        found = bytearray()
        async for chunk in request.stream():
            found += chunk
            if len(found) > self._longest:
                return None
        return bytes(found)

    def refused(self, text: str, status: int) -> Response:
        """One line that says why nothing was stored."""
        self.counts["refused"] += 1
        return line(text, status)
