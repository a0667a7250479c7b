"""The chart of boxes: one row for each group, the true box below the released one where it is shown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from ogive.grids import Grid
from ogive.html.axis import show, tick_label, ticks
from ogive.html.chart import BOTTOM, NARROW, RIGHT, WIDE, Size, shortened
from ogive.html.markup import Html, tag

MOST_ROWS = 24
"""More boxes than these are not drawn; the table has them all."""

_MARGIN = 18
_NAME, _LINE, _HALF = 24, 26, 9


class Row(NamedTuple):
    """One box as plain numbers: low, q1, median, q3, high; its intervals are those of q1, median and q3, if any."""

    numbers: tuple[float, float, float, float, float]
    outliers: tuple[float, ...] = ()
    intervals: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class BoxChart:
    """What a chart of boxes shows.

    Fields:
        grid: The public thresholds, whose bounds are the ends of the axis.
        label: What lies along the axis.
        names: Of the groups, at most 24.
        boxes: Of the groups, None where one says nothing.
        truths: The exact boxes, where they are shown, else empty.
        summary: What the chart shows, in words, for those who do not see it.
        legend: Pairs of a class and what it means.
    """

    grid: Grid
    label: str
    names: tuple[str, ...]
    boxes: tuple[Row | None, ...]
    truths: tuple[Row | None, ...]
    summary: str
    legend: tuple[tuple[str, str], ...] = ()

    @property
    def title(self) -> str:
        """The chart's name."""
        return f"Boxplot of {self.label}"

    @property
    def sizes(self) -> tuple[Size, ...]:
        """As high as the groups need, for wide and for narrow screens."""
        height = _MARGIN + round(len(self.names) * self._row) + BOTTOM
        return tuple(Size(size.name, size.width, height, size.intervals) for size in (WIDE, NARROW))

    @property
    def _row(self) -> float:
        return _NAME + _LINE * (2 if self.truths else 1)

    def paint(self, size: Size) -> list[Html]:
        """Axis, then for each group its name, its box and the true one."""
        bottom = size.height - BOTTOM
        parts = self._axis(size, bottom)
        for number, name in enumerate(self.names):
            top = _MARGIN + number * self._row
            parts.append(tag("text", shortened(name, size.width - 2 * _MARGIN), class_="name", x=_MARGIN, y=top + 14))
            middle = top + _NAME + _LINE / 2
            parts += self._box(size, self.boxes[number], middle, name, "box", "outlier")
            if self.truths:
                parts += self._box(size, self.truths[number], middle + _LINE, name, "true-box", "true-outlier")
        return parts

    def x(self, size: Size, number: float) -> float:
        """Horizontal place of a number of the grid, in px."""
        low, high = self.grid.low, self.grid.high
        if low == high:
            return size.width / 2
        if self.grid.kind == "geometric":
            low, high, number = math.log(low), math.log(high), math.log(number)
        return round(_MARGIN + (number - low) / (high - low) * (size.width - _MARGIN - RIGHT), 1)

    def _axis(self, size: Size, bottom: float) -> list[Html]:
        low, high = self.grid.low, self.grid.high
        places = ticks(self.grid, low, high, size.intervals) if low < high else [low]
        step = min((b - a for a, b in pairwise(places)), default=max(high - low, 1.0))
        parts: list[Html] = []
        for number in places:
            x = self.x(size, number)
            kind = "end" if x > size.width - 2 * RIGHT else "middle" if x > 2 * _MARGIN else None
            parts.append(tag("line", class_="rule", x1=x, x2=x, y1=_MARGIN / 2, y2=bottom + 5))
            words = tag_class("tick", kind)
            parts.append(tag("text", tick_label(self.grid, number, step), class_=words, x=x, y=bottom + 21))
        label = shortened(self.label, size.width - 2 * _MARGIN)
        parts.append(tag("text", label, class_="name middle", x=size.width / 2, y=size.height - 6))
        return parts

    def _box(self, size: Size, row: Row | None, y: float, name: str, kind: str, outlier: str) -> list[Html]:
        """Whiskers, box, median and outliers, with the numbers for a pointer that rests on them."""
        if row is None:
            return [tag("text", "says nothing: too noisy", class_="tick", x=_MARGIN, y=y + 4)]
        low, q1, median, q3, high = (self.x(size, number) for number in row.numbers)
        ends = ", ".join(show(self.grid, number) for number in row.numbers)
        exact = "exact: " if kind == "true-box" else ""
        whiskers = f"M{low:g} {y - 5:g}v10M{low:g} {y:g}H{q1:g}M{q3:g} {y:g}H{high:g}M{high:g} {y - 5:g}v10"
        lines = [(self.x(size, a), self.x(size, b)) for a, b in row.intervals]
        around = "".join(
            f"M{a:g} {at - 2:g}v4M{a:g} {at:g}H{b:g}M{b:g} {at - 2:g}v4"
            for (a, b), at in zip(lines, (y - 5, y, y + 5), strict=False)
        )
        dots = sorted({self.x(size, number) for number in row.outliers})
        return [
            tag(
                "g",
                tag("title", f"{name}: {exact}low end, Q1, median, Q3 and high end {ends}"),
                tag("path", class_="interval" if kind == "box" else "truth", d=whiskers),
                tag("rect", class_=kind, x=q1, y=y - _HALF, width=max(q3 - q1, 1.5), height=2 * _HALF),
                tag("path", class_="curve" if kind == "box" else "truth", d=f"M{median:g} {y - _HALF:g}v{2 * _HALF:g}"),
                *([tag("path", class_="interval", d=around)] if around else []),
                *(tag("circle", class_=outlier, cx=place, cy=y, r=2.5) for place in dots),
            )
        ]


def tag_class(*names: str | None) -> str:
    """Classes joined, those that are None left out."""
    return " ".join(name for name in names if name is not None)
