"""A whole page: one document that loads nothing else."""

from __future__ import annotations

from importlib import resources

from ogive.html.markup import Html, tag

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Content security policy: the browser loads nothing, so a page stays self-contained whatever it contains."""


PICTURES = f"{POLICY}; img-src data:"
"""The same for a page that holds pictures within itself."""


def document(title: str, *body: Html | None, refresh: int | None = None, policy: str = POLICY) -> str:
    """The document with our style, light and dark.

    Args:
        title: Of the page.
        body: What is in it.
        refresh: Seconds after which the browser reads the page again; None for never.
        policy: `POLICY` or `PICTURES`.
    """
    style = "".join(_asset(name) for name in ("chart.css", "page.css"))
    again = None if refresh is None else tag("meta", http_equiv="refresh", content=str(refresh))
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        again,
        tag("title", title),
        Html(f"<style>{style}</style>"),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, tag('body', *body), lang='en')}\n"


def _asset(name: str) -> str:
    return resources.files("ogive.html").joinpath(name).read_text(encoding="utf-8")
