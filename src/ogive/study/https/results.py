"""What was released, as every service of a study gives it: as JSON, and as a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ogive.study.https.pages import Released, release_page
from ogive.study.https.responses import html, line


class Results:
    """The releases of a study.

    Args:
        find: Gives what the release of a name came to, as plain data; None before that, or if there is no such release.
    """

    def __init__(self, find: Callable[[str], dict[str, Any] | None]) -> None:
        self._find = find
        self._pictured: dict[str, Released] = {}
        self._pages: dict[str, tuple[dict[str, Any], str]] = {}

    def routes(self) -> list[Route]:
        """Where they are."""
        return [Route("/v1/releases/{name}", self._json), Route("/releases/{name}", self._page)]

    async def pictured(self, states: list[dict[str, Any]]) -> dict[str, Released]:
        """Those of some releases that are complete, by name, as the page of a study shows them; drawn once."""
        for each in states:
            name = each["name"]
            if each["state"] == "released" and name not in self._pictured:
                found = await run_in_threadpool(self._find, name)
                if found is not None:
                    self._pictured[name] = await run_in_threadpool(Released.of, found)
        return self._pictured

    async def _json(self, request: Request) -> Response:
        found = await run_in_threadpool(self._find, request.path_params["name"])
        return _none() if found is None else JSONResponse(found)

    async def _page(self, request: Request) -> Response:
        name = request.path_params["name"]
        found = await run_in_threadpool(self._find, name)
        if found is None:
            return _none()
        if name not in self._pages or self._pages[name][0] != found:
            self._pages[name] = found, await run_in_threadpool(release_page, name, found)
        return html(self._pages[name][1])


def _none() -> Response:
    return line("there is no such release yet", 404)
