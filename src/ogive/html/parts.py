"""Pieces that sections of the page are built of: tables, cards, paragraphs, banners."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from ogive.html.markup import Html, tag

Row = tuple[str, Sequence[Html | str]]

_PHONE, _COLUMN, _PAGE = 330, 415, 850
"""Room in px: of a phone, of half of the page, and of all of it."""
_PADDING = 10
_SMALL = re.compile(r"(\d[\d.]*e-\d+)")
_LETTER = 9.6
"""Width of a digit in a table in px, in the widest of the usual fonts."""


def table(
    caption: str, head: Sequence[str], rows: Sequence[Row], about: str | None = None, *, texts: Collection[int] = ()
) -> Html:
    """A table whose first column names its rows, with a remark below.

    One that is too wide for a phone becomes a list there: each cell below the last, with its column's name. One
    that is too wide for half of the page takes all of it.

    Args:
        caption: What the table holds.
        head: A name for each column.
        rows: For each row its name, then its other cells.
        about: How to read it.
        texts: Numbers of the columns that hold words, which are set to the left.
    """
    width = _width(head, rows)
    kinds = [None, *("words" if i in texts else None for i in range(1, len(head)))]
    heads = (tag("th", name, scope="col", class_=kind) for name, kind in zip(head, kinds, strict=True))
    body = (
        tag(
            "tr",
            tag("th", name, scope="row", data_name=head[0]),
            *(
                tag("td", cell, class_=kind, data_name=label)
                for cell, kind, label in zip(cells, kinds[1:], head[1:], strict=True)
            ),
        )
        for name, cells in rows
    )
    shape = " ".join(name for name, wanted in (("stacks", width > _PHONE), ("tight", width <= _PAGE)) if wanted)
    written = tag("table", tag("caption", caption), tag("thead", tag("tr", *heads)), tag("tbody", *body), class_=shape)
    return tag("div", written, fine(about) if about else None, class_="whole" if width > _COLUMN else None)


def _width(head: Sequence[str], rows: Sequence[Row]) -> float:
    """About how wide a table is in px if no cell is broken; a column's name may be, between words."""
    columns = zip(*([name, *cells] for name, cells in rows), strict=True)
    longest = [max(map(len, cells)) for cells in columns] if rows else [0] * len(head)
    words = [max(map(len, name.split())) for name in head]
    return sum(max(pair) * _LETTER + _PADDING for pair in zip(longest, words, strict=True))


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
    """A number that stands out; 1e-05 is not broken at its hyphen."""
    pieces = (tag("span", piece, class_="unbroken") if "e-" in piece else piece for piece in _SMALL.split(text))
    return tag("p", *pieces, class_="figure")


def strong(text: str) -> Html:
    """Words that stand out."""
    return tag("strong", text)


def not_private(message: str) -> Html:
    """A banner that cannot be missed."""
    return tag("p", strong("Not private. "), message, class_="banner", role="note")
