"""Responses that every service of a study gives."""

from __future__ import annotations

from starlette.responses import HTMLResponse, PlainTextResponse, Response

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

FAILED = "nothing more can be stored; find out why a write to the disk failed, and start the process again"
"""What `/health` says where a store failed."""


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
