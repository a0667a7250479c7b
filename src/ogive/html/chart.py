"""A chart as a small SVG: what every kind of chart has in common.

No scripts, no fonts, no links. Colors are CSS classes, so that a page decides about light and dark;
a file of its own brings the same style with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from typing import Protocol

from ogive.html.markup import Html, join, tag

TOP, RIGHT, BOTTOM, LEFT = 32, 18, 44, 50

_RECTANGLES = ("spent", "reserved", "left", "box", "true-box")

# about the width of a letter of 14 px in the widest of the fonts that a reader may have
LETTER = 8.7


@dataclass(frozen=True)
class Size:
    """Width and height of a chart in px, and how many intervals its horizontal axis has room for."""

    name: str
    width: int
    height: int
    intervals: int


WIDE = Size("wide", 760, 400, 8)
NARROW = Size("narrow", 350, 320, 4)


class Chart(Protocol):
    """What can be drawn: plain numbers, a legend, and words for those who do not see it."""

    @property
    def title(self) -> str:
        """The chart's name, in words."""

    @property
    def summary(self) -> str:
        """What the chart shows, in words."""

    @property
    def legend(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a class (curve, band, truth, dot, ...) and what it means."""

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The sizes to draw it in: a wide and a narrow one, or one for every screen."""

    def paint(self, size: Size) -> Iterable[Html]:
        """The SVG elements, from back to front."""


def draw(chart: Chart, size: Size, *, identity: str) -> Html:
    """Draw one chart as an SVG element.

    Args:
        chart: What to show.
        size: How large, in px of the drawing; it scales with its place on the page.
        identity: Prefix of the element ids, distinct on the page.
    """
    return tag(
        "svg",
        tag("title", chart.title, id=f"{identity}-title"),
        tag("desc", chart.summary, id=f"{identity}-desc"),
        *chart.paint(size),
        xmlns="http://www.w3.org/2000/svg",
        class_=f"chart {size.name}",
        viewBox=f"0 0 {size.width} {size.height}",
        role="img",
        aria_labelledby=f"{identity}-title",
        aria_describedby=f"{identity}-desc",
    )


def standalone(chart: Chart, *, identity: str = "chart") -> str:
    """The chart in its first size as the text of an SVG file that carries its own style, light and dark."""
    size = chart.sizes[0]
    element = draw(chart, size, identity=identity)
    style = resources.files("ogive.html").joinpath("chart.css").read_text(encoding="utf-8")
    opening, rest = element.split(">", 1)
    return f'{opening} width="{size.width}" height="{size.height}"><style>{style}</style>{rest}\n'


def key(*entries: tuple[str, str]) -> Html | None:
    """A legend: pairs of a class and what it means."""
    if not entries:
        return None
    items = []
    for kind, meaning in entries:
        shape = {
            "band": tag("rect", class_="band", x=1, y=2, width=24, height=10),
            "dot": join(
                tag("path", class_="interval", d="M3 3v8M3 7H23M23 3v8"),
                tag("circle", class_="dot", cx=13, cy=7, r=3.5),
            ),
            "true-dot": tag("circle", class_="true-dot", cx=13, cy=7, r=4),
            **{name: tag("rect", class_=name, x=1, y=2, width=24, height=10) for name in _RECTANGLES},
        }.get(kind, tag("path", class_=kind, d="M1 7H25"))
        swatch = tag("svg", shape, class_="swatch", viewBox="0 0 26 14", aria_hidden="true")
        items.append(tag("li", swatch, meaning))
    return tag("ul", *items, class_="key")


def shortened(label: str, room: float) -> str:
    """A label that fits into so many px, with an ellipsis where it was cut."""
    most = max(4, int(room / LETTER))
    return label if len(label) <= most else label[: most - 1] + "…"
