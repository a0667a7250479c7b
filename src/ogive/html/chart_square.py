"""Charts whose two axes are shares from 0: lines with a band, and points with their intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ogive.arrays import Float64
from ogive.html.axis import nice_step, plain_number
from ogive.html.chart import Size, shortened
from ogive.html.markup import Html, tag

LARGE = (Size("wide", 470, 472, 5), Size("narrow", 350, 352, 5))
SMALL = (Size("every", 350, 296, 5),)

_TOP, _RIGHT, _BOTTOM, _LEFT = 32, 26, 46, 50


@dataclass(frozen=True)
class Line:
    """A line through the finite ones of some points, in the look of its class: curve, truth or chance."""

    kind: str
    x: Float64
    y: Float64


@dataclass(frozen=True)
class Ribbon:
    """A band: for each x from low to high."""

    x: Float64
    low: Float64
    high: Float64


@dataclass(frozen=True)
class Mark:
    """A point, with its vertical interval where it has one, and its name for a pointer that rests on it."""

    x: float
    y: float
    name: str
    low: float | None = None
    high: float | None = None
    kind: str = "dot"


@dataclass(frozen=True)
class SquareChart:
    """What a chart of two shares shows, as plain numbers.

    Fields:
        title, summary: Name and content of the chart, in words.
        x_label, y_label: What lies along the axes.
        lines, ribbon, marks: What is drawn; the ribbon lies below the lines and the marks above them.
        legend: Pairs of a class and what it means.
        sizes: In which sizes it is drawn.
        x_top, y_top: Upper ends of the axes.
        y_factor: True where heights are multiples ("2 x") and not shares.
    """

    title: str
    summary: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...] = ()
    ribbon: Ribbon | None = None
    marks: tuple[Mark, ...] = ()
    legend: tuple[tuple[str, str], ...] = ()
    sizes: tuple[Size, ...] = LARGE
    x_top: float = 1.0
    y_top: float = 1.0
    y_factor: bool = False

    def paint(self, size: Size) -> Iterator[Html]:
        """Axes, ribbon, lines, marks: from back to front."""
        frame = _Frame(self, size)
        yield from _axes(frame, self)
        if self.ribbon is not None:
            yield tag("path", class_="band", d=_closed(frame, self.ribbon))
        for line in self.lines:
            path = _open(frame, line.x, line.y)
            if path:
                yield tag("path", class_=line.kind, d=path)
        for mark in self.marks:
            yield _mark(frame, mark)


class _Frame:
    """Where shares lie in the drawing."""

    def __init__(self, chart: SquareChart, size: Size) -> None:
        self.size = size
        self.left, self.right = float(_LEFT), float(size.width - _RIGHT)
        self.top, self.bottom = float(_TOP), float(size.height - _BOTTOM)
        self.x_top, self.y_top = chart.x_top, chart.y_top

    def x(self, shares: Float64 | float) -> Float64:
        """Horizontal places, held within the frame."""
        return self.left + np.clip(np.asarray(shares) / self.x_top, 0.0, 1.0) * (self.right - self.left)

    def y(self, shares: Float64 | float) -> Float64:
        """Vertical places, held within the frame."""
        return self.bottom - np.clip(np.asarray(shares) / self.y_top, 0.0, 1.0) * (self.bottom - self.top)


def _points(frame: _Frame, x: Float64, y: Float64) -> tuple[Float64, Float64]:
    """Places in px, without points that hide below the one before; the last one stays."""
    finite = np.isfinite(x) & np.isfinite(y)
    across, down = np.round(frame.x(x[finite]), 1), np.round(frame.y(y[finite]), 1)
    kept, last = [], None
    for i, here in enumerate(zip(across, down, strict=True)):
        if last is None or i == len(across) - 1 or abs(here[0] - last[0]) + abs(here[1] - last[1]) >= 0.5:
            kept.append(i)
            last = here
    return across[kept], down[kept]


def _open(frame: _Frame, x: Float64, y: Float64) -> str:
    corners = [f"{a:g} {b:g}" for a, b in zip(*_points(frame, x, y), strict=True)]
    return f"M{corners[0]}L{' '.join(corners[1:])}" if len(corners) > 1 else ""


def _closed(frame: _Frame, ribbon: Ribbon) -> str:
    upper = zip(*_points(frame, ribbon.x, ribbon.high), strict=True)
    lower = zip(*_points(frame, ribbon.x[::-1], ribbon.low[::-1]), strict=True)
    corners = [f"{a:g} {b:g}" for a, b in (*upper, *lower)]
    return f"M{corners[0]}L{' '.join(corners[1:])}Z"


def _axes(frame: _Frame, chart: SquareChart) -> Iterator[Html]:
    middle = (frame.left + frame.right) / 2
    for share in _places(chart.y_top, 5):
        y = round(float(frame.y(share)), 1)
        name = f"{plain_number(share)} ×" if chart.y_factor else f"{plain_number(round(100 * share, 6))} %"
        yield tag("line", class_="rule", x1=frame.left, x2=frame.right, y1=y, y2=y)
        yield tag("text", name, class_="tick end", x=frame.left - 7, y=y + 4)
    for share in _places(chart.x_top, frame.size.intervals):
        x = round(float(frame.x(share)), 1)
        yield tag("line", class_="rule", x1=x, x2=x, y1=frame.top, y2=frame.bottom + 5)
        yield tag("text", f"{plain_number(round(100 * share, 6))} %", class_="tick middle", x=x, y=frame.bottom + 21)
    above = shortened(chart.y_label, frame.size.width - 8)
    below = shortened(chart.x_label, 2 * (frame.size.width - middle))
    yield tag("text", above, class_="name", x=8, y=_TOP - 14)
    yield tag("text", below, class_="name middle", x=middle, y=frame.size.height - 7)


def _places(top: float, most: int) -> list[float]:
    step = nice_step(top, most)
    return [k * step for k in range(int(top / step + 1e-9) + 1)]


def _mark(frame: _Frame, mark: Mark) -> Html:
    x, y = (round(float(place), 1) for place in (frame.x(mark.x), frame.y(mark.y)))
    bar = None
    if mark.low is not None and mark.high is not None:
        a, b = (round(float(frame.y(end)), 1) for end in (mark.low, mark.high))
        bar = tag("path", class_="interval", d=f"M{x - 4:g} {a:g}h8M{x:g} {a:g}V{b:g}M{x - 4:g} {b:g}h8")
    radius = 4 if mark.kind == "dot" else 5
    return tag("g", tag("title", mark.name), bar, tag("circle", class_=mark.kind, cx=x, cy=y, r=radius))
