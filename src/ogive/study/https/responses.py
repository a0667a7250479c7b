"""Responses that every service of a study gives."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute
from starlette.types import Lifespan

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

FAILED = "nothing more can be stored; find out why a write to the disk failed, and start the process again"
"""What `/health` says where a store failed."""


def exact(*, routes: Sequence[BaseRoute], lifespan: Lifespan[Starlette] | None = None) -> Starlette:
    """An application whose paths are taken as they are: a redirect would name the host that the client has named."""
    found = Starlette(routes=routes, lifespan=lifespan)
    found.router.redirect_slashes = False
    return found


def line(text: str, status: int) -> Response:
    """One line for people."""
    return PlainTextResponse(text + "\n", status_code=status)


def html(page: str, *, more: str = "") -> Response:
    """A page that is not kept, and loads nothing but what `more` of its policy allows."""
    return HTMLResponse(
        page,
        headers={
            "Content-Security-Policy": _POLICY + more,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
        },
    )
