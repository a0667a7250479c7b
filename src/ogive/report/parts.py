"""Pieces that sections of the page are built of: tables, cards, paragraphs, banners."""

from __future__ import annotations

from collections.abc import Sequence

from ogive.report.markup import Html, tag

Row = tuple[str, Sequence[Html | str]]


def table(caption: str, head: Sequence[str], rows: Sequence[Row], about: str | None = None) -> Html:
    """A table whose first column names its rows, with a remark below.

    Args:
        caption: What the table holds.
        head: A name for each column.
        rows: For each row its name, then its other cells.
        about: How to read it.
    """
    heads = tag("tr", *(tag("th", name, scope="col") for name in head))
    body = (tag("tr", tag("th", name, scope="row"), *(tag("td", cell) for cell in cells)) for name, cells in rows)
    written = tag("table", tag("caption", caption), tag("thead", heads), tag("tbody", *body))
    return tag("div", written, fine(about) if about else None)


def card(name: str, *children: Html | None) -> Html:
    """A small section with a heading."""
    return tag("section", tag("h3", name), *children)


def say(*pieces: Html | str) -> Html:
    """A paragraph."""
    return tag("p", *pieces)


def fine(*pieces: Html | str) -> Html:
    """A remark in small print."""
    return tag("p", *pieces, class_="fine")


def figure(text: str) -> Html:
    """A number that stands out."""
    return tag("p", text, class_="figure")


def strong(text: str) -> Html:
    """Words that stand out."""
    return tag("strong", text)


def not_private(message: str) -> Html:
    """A banner that cannot be missed."""
    return tag("p", strong("Not private. "), message, class_="banner", role="note")
