"""One horizontal bar cut into parts: what of a budget is spent, reserved and left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ogive.html.chart import Size
from ogive.html.markup import Html, tag


@dataclass(frozen=True)
class BarChart:
    """Parts of a whole.

    Fields:
        title, summary: Name and content of the chart, in words.
        parts: For each part its class (spent, reserved, left) and its share of the whole.
        legend: Pairs of a class and what it means.
    """

    title: str
    summary: str
    parts: tuple[tuple[str, float], ...]
    legend: tuple[tuple[str, str], ...] = ()
    sizes: ClassVar[tuple[Size, ...]] = (Size("every", 700, 36, 1),)

    def paint(self, size: Size) -> Iterator[Html]:
        """The parts from left to right, and a frame around them."""
        place, whole = 1.0, size.width - 2.0
        for kind, share in self.parts:
            width = round(min(max(share, 0.0) * whole, whole + 1 - place), 1)
            if width > 0:
                yield tag("rect", class_=kind, x=round(place, 1), y=1, width=width, height=size.height - 2)
                place += width
        yield tag("rect", class_="frame", x=1, y=1, width=whole, height=size.height - 2)
