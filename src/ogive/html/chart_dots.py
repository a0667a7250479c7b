"""A chart of numbers with their intervals: a row for each name, the true number beside it where it is shown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from ogive.html.axis import number_ticks, plain_number
from ogive.html.chart import BOTTOM, NARROW, RIGHT, WIDE, Size, shortened
from ogive.html.markup import Html, tag

MOST_ROWS = 24
"""More numbers than these are not drawn; the table has them all."""

_MARGIN = 18
_NAME, _LINE = 22, 16


class Dot(NamedTuple):
    """A number with its interval: value, low and high; None where it says nothing. The true one where it is shown."""

    name: str
    value: float | None
    low: float
    high: float
    truth: float | None = None


@dataclass(frozen=True)
class DotChart:
    """What a chart of numbers shows.

    Fields:
        title: The chart's name, in words.
        label: What lies along the axis.
        dots: At most 24.
        summary: What the chart shows, in words, for those who do not see it.
        shares: Whether numbers are shares, which are written as percent.
        legend: Pairs of a class and what it means.
    """

    title: str
    label: str
    dots: tuple[Dot, ...]
    summary: str
    shares: bool = False
    legend: tuple[tuple[str, str], ...] = ()

    @property
    def sizes(self) -> tuple[Size, ...]:
        """As high as the names need, for wide and for narrow screens."""
        height = _MARGIN + len(self.dots) * (_NAME + _LINE) + BOTTOM
        return tuple(Size(size.name, size.width, height, size.intervals) for size in (WIDE, NARROW))

    def paint(self, size: Size) -> list[Html]:
        """Axis, then for each name its number with its interval."""
        low, high = self._view()
        bottom = size.height - BOTTOM
        parts = self._axis(size, bottom, low, high)
        for number, dot in enumerate(self.dots):
            top = _MARGIN + number * (_NAME + _LINE)
            name = shortened(dot.name, size.width - 2 * _MARGIN)
            parts.append(tag("text", name, class_="name", x=_MARGIN, y=top + 14))
            parts.append(self._mark(size, dot, top + _NAME + _LINE / 2, low, high))
        return parts

    def _view(self) -> tuple[float, float]:
        """Ends of the axis: all numbers and intervals, and all shares where these are shares."""
        ends = [end for dot in self.dots if dot.value is not None for end in (dot.low, dot.value, dot.high)]
        ends += [dot.truth for dot in self.dots if dot.truth is not None]
        finite = [end for end in ends if math.isfinite(end)] or [0.0, 1.0]
        low, high = min(finite), max(finite)
        if self.shares or (low > 0 and low < high / 3):
            low = min(low, 0.0)  # a length that begins at zero can be compared
        if low == high:
            low, high = low - 0.5, high + 0.5
        return low, high

    def _x(self, size: Size, number: float, low: float, high: float) -> float:
        part = min(max((number - low) / (high - low), 0.0), 1.0)
        return round(_MARGIN + part * (size.width - _MARGIN - RIGHT), 1)

    def _axis(self, size: Size, bottom: float, low: float, high: float) -> list[Html]:
        parts: list[Html] = []
        for number in number_ticks(low, high, size.intervals):
            x = self._x(size, number, low, high)
            place = "tick end" if x > size.width - 2 * RIGHT else "tick middle" if x > 2 * _MARGIN else "tick"
            parts.append(tag("line", class_="rule", x1=x, x2=x, y1=_MARGIN / 2, y2=bottom + 5))
            parts.append(tag("text", self._written(number), class_=place, x=x, y=bottom + 21))
        label = shortened(self.label, size.width - 2 * _MARGIN)
        parts.append(tag("text", label, class_="name middle", x=size.width / 2, y=size.height - 6))
        return parts

    def _mark(self, size: Size, dot: Dot, y: float, low: float, high: float) -> Html:
        if dot.value is None:
            return tag("text", "says nothing: too noisy", class_="tick", x=_MARGIN, y=y + 4)
        x, a, b = (self._x(size, number, low, high) for number in (dot.value, dot.low, dot.high))
        said = f"{dot.name}: {self._written(dot.value)}, interval {self._written(dot.low)} to {self._written(dot.high)}"
        exact = []
        if dot.truth is not None:
            said += f", true {self._written(dot.truth)}"
            exact = [tag("path", class_="truth", d=f"M{self._x(size, dot.truth, low, high):g} {y - 7:g}v14")]
        return tag(
            "g",
            tag("title", said),
            tag("path", class_="interval", d=f"M{a:g} {y - 4:g}v8M{a:g} {y:g}H{b:g}M{b:g} {y - 4:g}v8"),
            *exact,
            tag("circle", class_="dot", cx=x, cy=y, r=3.5),
        )

    def _written(self, number: float) -> str:
        return f"{plain_number(round(100 * number, 4))} %" if self.shares else plain_number(number)
