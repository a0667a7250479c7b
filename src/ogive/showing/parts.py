"""HTML that is escaped, pieces that sections are built of (tables, cards, paragraphs, banners), and the whole page."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Sequence
from importlib import resources

# --- HTML that is escaped as it is built
#
# A plain `str` is text and is escaped when it enters an element; only `Html` goes in as it is,
# and only `tag` makes it.

VOID = frozenset({"br", "col", "hr", "link", "meta"})

# characters that neither HTML nor XML may hold, however they are written
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

# direction overrides would let a column's name rearrange the words around it
_OVERRIDES = re.compile("[\u202a-\u202e\u2066-\u2069]")


class Html(str):
    """Finished markup."""

    __slots__ = ()


Child = Html | str | None


def text(value: str) -> Html:
    """Escape text; characters that no page may hold become the replacement character."""
    return Html(html.escape(_OVERRIDES.sub("", _FORBIDDEN.sub("\ufffd", value)), quote=True))


def join(*children: Child) -> Html:
    """Put pieces one after another; text is escaped, None is nothing."""
    return Html("".join(child if isinstance(child, Html) else text(child) for child in children if child is not None))


def tag(name: str, /, *children: Child, **attributes: str | float | None) -> Html:
    """Build one element."""
    written = []
    for key, value in attributes.items():
        if value is not None:
            shown = value if isinstance(value, str) else f"{value:g}"
            written.append(f' {key.rstrip("_").replace("_", "-")}="{text(shown)}"')
    opening = f"<{name}{''.join(written)}>"
    return Html(opening if name in VOID else f"{opening}{join(*children)}</{name}>")


# --- Tables, cards, paragraphs, banners

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


def details(entries: Sequence[tuple[str, str]]) -> Html:
    """A section of technical facts, as pairs of a name and a value."""
    rows = join(*(tag("div", tag("dt", name), tag("dd", value)) for name, value in entries))
    return tag("section", tag("h3", "Details"), tag("dl", rows), class_="details")


def not_private(message: str) -> Html:
    """A banner that cannot be missed."""
    return tag("p", strong("Not private. "), message, class_="banner", role="note")


# --- A page

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Content security policy: the browser loads nothing, so a page stays self-contained whatever it contains."""


PICTURES = f"{POLICY}; img-src data:"
"""The same for a page that holds pictures within itself."""


def document(title: str, *body: Html | None, refresh: int | None = None, policy: str = POLICY) -> str:
    """The document with our style, light and dark."""
    folder = resources.files("ogive.showing")
    style = "".join(folder.joinpath(name).read_text(encoding="utf-8") for name in ("chart.css", "page.css"))
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
