"""The chart of a distribution function: a step curve, its band, and the true curve where it is shown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from ogive.arrays import Float64
from ogive.axis import band_steps
from ogive.grids import Grid
from ogive.html.axis import show, tick_label, ticks
from ogive.html.chart import BOTTOM, LEFT, NARROW, RIGHT, TOP, WIDE, Size, shortened
from ogive.html.markup import Html, tag


@dataclass(frozen=True)
class CurveChart:
    """What a chart shows, as plain numbers.

    Fields:
        grid: The public thresholds.
        label: What lies along the horizontal axis.
        share: Released share at or below each threshold, shape (N,).
        low, high: Ends of the band at each threshold, shape (N,); None for no band.
        truth: The exact shares, shape (N,), where they are shown.
        view: Ends of the horizontal axis.
        marks: Quantiles to mark as (probability, number, low, high).
        summary: What the chart shows, in words, for those who do not see it.
        legend: Pairs of a class and what it means.
    """

    grid: Grid
    label: str
    share: Float64
    view: tuple[float, float]
    summary: str
    low: Float64 | None = None
    high: Float64 | None = None
    truth: Float64 | None = None
    marks: tuple[tuple[float, float, float, float], ...] = ()
    legend: tuple[tuple[str, str], ...] = ()
    sizes: ClassVar[tuple[Size, ...]] = (WIDE, NARROW)

    @property
    def title(self) -> str:
        """The chart's name."""
        return f"Distribution of {self.label}"

    def paint(self, size: Size) -> list[Html]:
        """Axes, band, released curve, true curve, marks: from back to front."""
        frame = _Frame(self, size)
        parts = _axes(frame, self)
        if self.low is not None and self.high is not None:
            parts.append(tag("path", class_="band", d=_band(frame, self.low, self.high)))
        parts.append(tag("path", class_="curve", d=_path(_stairs(frame, self.share, start=0.0), end=frame.right)))
        if self.truth is not None:
            parts.append(tag("path", class_="truth", d=_path(_stairs(frame, self.truth, start=0.0), end=frame.right)))
        return parts + [_mark(frame, self.grid, *mark) for mark in self.marks]


class _Frame:
    """Where numbers and shares lie in the drawing."""

    def __init__(self, drawing: CurveChart, size: Size) -> None:
        self.size = size
        self.grid = drawing.grid
        self.left, self.right = float(LEFT), float(size.width - RIGHT)
        self.top, self.bottom = float(TOP), float(size.height - BOTTOM)
        self.view = drawing.view

    def x(self, numbers: Float64) -> Float64:
        """Horizontal places; what lies outside the view lands outside the frame."""
        low, high = self.view
        values = np.asarray(numbers, dtype=np.float64)
        if self.grid.kind == "geometric":
            low, high, values = math.log(low), math.log(high), np.log(values)
        return self.left + (values - low) / (high - low) * (self.right - self.left)

    def y(self, shares: Float64) -> Float64:
        """Vertical places of shares, held within 0 and 1."""
        return self.bottom - np.clip(shares, 0.0, 1.0) * (self.bottom - self.top)


def _stairs(frame: _Frame, shares: Float64, *, start: float) -> tuple[Float64, Float64]:
    """Corners of a right-continuous step function: where it jumps and to what, both in px.

    Steps that share half a pixel are drawn as one; the first corner is at the left edge.
    """
    places = frame.x(frame.grid.thresholds)
    heights = frame.y(np.asarray(shares, dtype=np.float64))
    before = int(np.searchsorted(places, frame.left, side="right"))
    after = int(np.searchsorted(places, frame.right, side="right"))
    first = heights[before - 1] if before else frame.y(np.array(start))
    inside, levels = places[before:after], heights[before:after]
    cells = np.round(inside * 2)
    last = np.append(cells[1:] != cells[:-1], True) if len(cells) else np.zeros(0, dtype=bool)
    x = np.concatenate(([frame.left], np.round(inside[last], 1)))
    y = np.round(np.concatenate(([first], levels[last])), 1)
    kept = np.concatenate(([True], y[1:] != y[:-1]))
    return x[kept], y[kept]


def _path(stairs: tuple[Float64, Float64], *, end: float) -> str:
    x, y = stairs
    steps = "".join(f"H{a:g}V{b:g}" for a, b in zip(x[1:], y[1:], strict=True))
    return f"M{x[0]:g} {y[0]:g}{steps}H{end:g}"


def _band(frame: _Frame, low: Float64, high: Float64) -> str:
    """The area between the lower and the upper end of the band."""
    lower, upper = band_steps(frame.grid, np.asarray(low), np.asarray(high))
    top = _stairs(frame, upper[1:], start=float(upper[0]))
    x, y = _stairs(frame, lower[1:], start=float(lower[0]))
    back = "".join(f"H{a:g}V{b:g}" for a, b in zip(x[:0:-1], y[-2::-1], strict=True))
    return f"{_path(top, end=frame.right)}V{y[-1]:g}{back}H{frame.left:g}Z"


def _axes(frame: _Frame, drawing: CurveChart) -> list[Html]:
    low, high = drawing.view
    parts: list[Html] = []
    for percent in (0, 25, 50, 75, 100):
        y = float(frame.y(np.array(percent / 100)))
        parts.append(tag("line", class_="rule", x1=frame.left, x2=frame.right, y1=y, y2=y))
        parts.append(tag("text", f"{percent} %", class_="tick end", x=frame.left - 7, y=y + 4))
    places = ticks(drawing.grid, low, high, frame.size.intervals)
    step = min((b - a for a, b in pairwise(places)), default=high - low)
    for number in places:
        x = float(frame.x(np.array(number)))
        parts.append(tag("line", class_="rule", x1=f"{x:.1f}", x2=f"{x:.1f}", y1=frame.bottom, y2=frame.bottom + 5))
        parts.append(
            tag("text", tick_label(drawing.grid, number, step), class_="tick middle", x=f"{x:.1f}", y=frame.bottom + 21)
        )
    middle = (frame.left + frame.right) / 2
    label = shortened(drawing.label, 2 * (frame.size.width - middle))
    parts.append(tag("text", "Share of records at or below", class_="tick", x=LEFT - 42, y=TOP - 16))
    parts.append(tag("text", label, class_="name middle", x=middle, y=frame.size.height - 6))
    return parts


def _mark(frame: _Frame, grid: Grid, probability: float, number: float, low: float, high: float) -> Html:
    """A dot at a quantile with its interval, and its name for a pointer that rests on it."""
    ends = np.clip(frame.x(np.array([number, low, high])), frame.left, frame.right)
    x, a, b = (round(float(place), 1) for place in ends)
    y = round(float(frame.y(np.array(probability))), 1)
    name = f"{probability:.0%} at or below {show(grid, number)}, interval {show(grid, low)} to {show(grid, high)}"
    return tag(
        "g",
        tag("title", name),
        tag("path", class_="interval", d=f"M{a:g} {y - 4:g}v8M{a:g} {y:g}H{b:g}M{b:g} {y - 4:g}v8"),
        tag("circle", class_="dot", cx=x, cy=y, r=3.5),
    )
