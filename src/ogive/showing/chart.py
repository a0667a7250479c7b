"""Charts as small SVGs: of a budget, of boxes, of distribution functions, of numbers, and of two shares.

No scripts, no fonts, no links. Colors are CSS classes, so that a page decides about light and dark;
a file of its own brings the same style with it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import pairwise
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from ogive.columns.axis import band_steps
from ogive.columns.grids import Grid
from ogive.core.arrays import Float64
from ogive.showing.axis import nice_step, number_ticks, plain_number, show, tick_label, ticks
from ogive.showing.parts import Html, join, tag

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
    """Draw one chart as an SVG element."""
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
    style = resources.files("ogive.showing").joinpath("chart.css").read_text(encoding="utf-8")
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
    """A label that fits into a width in px, with an ellipsis where it was cut."""
    most = max(4, int(room / LETTER))
    return label if len(label) <= most else label[: most - 1] + "…"


# --- Bar: parts of a whole


@dataclass(frozen=True)
class BarChart:
    """Parts of a whole.

    Fields:
        parts: For each part its class (spent, reserved, left) and its share of the whole.
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


# --- Rows of boxes or of numbers

_MARGIN = 18


def _row_sizes(rows: int) -> tuple[Size, ...]:
    """For wide and for narrow screens, as high as rows of a height in px need."""
    height = _MARGIN + rows + BOTTOM
    return tuple(Size(size.name, size.width, height, size.intervals) for size in (WIDE, NARROW))


def _row_axis(size: Size, label: str, places: Iterable[tuple[float, str]]) -> list[Html]:
    """Rules at some places in px with words below them, and the label of the axis."""
    bottom = size.height - BOTTOM
    parts: list[Html] = []
    for x, words in places:
        kind = "tick end" if x > size.width - 2 * RIGHT else "tick middle" if x > 2 * _MARGIN else "tick"
        parts.append(tag("line", class_="rule", x1=x, x2=x, y1=_MARGIN / 2, y2=bottom + 5))
        parts.append(tag("text", words, class_=kind, x=x, y=bottom + 21))
    below = shortened(label, size.width - 2 * _MARGIN)
    parts.append(tag("text", below, class_="name middle", x=size.width / 2, y=size.height - 6))
    return parts


def _row_name(size: Size, name: str, top: float) -> Html:
    return tag("text", shortened(name, size.width - 2 * _MARGIN), class_="name", x=_MARGIN, y=top + 14)


def _says_nothing(y: float) -> Html:
    return tag("text", "says nothing: too noisy", class_="tick", x=_MARGIN, y=y + 4)


def _interval(a: float, b: float, y: float) -> Html:
    return tag("path", class_="interval", d=f"M{a:g} {y - 4:g}v8M{a:g} {y:g}H{b:g}M{b:g} {y - 4:g}v8")


# --- Boxes: a row for each group

MOST_BOXES = 24
"""More boxes than these are not drawn; the table has them all."""

_BOX_NAME, _BOX_LINE, _HALF = 24, 26, 9


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
        names: Of the groups, at most 24.
        boxes: Of the groups, None where one says nothing.
        truths: The exact boxes, where they are shown, else empty.
        summary: What the chart shows, in words, for those who do not see it.
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
        return _row_sizes(round(len(self.names) * self._row))

    @property
    def _row(self) -> float:
        return _BOX_NAME + _BOX_LINE * (2 if self.truths else 1)

    def paint(self, size: Size) -> list[Html]:
        """Axis, then for each group its name, its box and the true one."""
        parts = self._axis(size)
        for number, name in enumerate(self.names):
            top = _MARGIN + number * self._row
            parts.append(_row_name(size, name, top))
            middle = top + _BOX_NAME + _BOX_LINE / 2
            parts += self._box(size, self.boxes[number], middle, name, "box", "outlier")
            if self.truths:
                parts += self._box(size, self.truths[number], middle + _BOX_LINE, name, "true-box", "true-outlier")
        return parts

    def x(self, size: Size, number: float) -> float:
        """Horizontal place of a number of the grid, in px."""
        low, high = self.grid.low, self.grid.high
        if low == high:
            return size.width / 2
        if self.grid.kind == "geometric":
            low, high, number = math.log(low), math.log(high), math.log(number)
        return round(_MARGIN + (number - low) / (high - low) * (size.width - _MARGIN - RIGHT), 1)

    def _axis(self, size: Size) -> list[Html]:
        low, high = self.grid.low, self.grid.high
        places = ticks(self.grid, low, high, size.intervals) if low < high else [low]
        step = min((b - a for a, b in pairwise(places)), default=max(high - low, 1.0))
        marked = ((self.x(size, number), tick_label(self.grid, number, step)) for number in places)
        return _row_axis(size, self.label, marked)

    def _box(self, size: Size, row: Row | None, y: float, name: str, kind: str, outlier: str) -> list[Html]:
        """Whiskers, box, median and outliers, with the numbers for a pointer that rests on them."""
        if row is None:
            return [_says_nothing(y)]
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


# --- Distribution functions


@dataclass(frozen=True)
class CurveChart:
    """What a chart of a step function of shares shows, as plain numbers.

    Fields:
        grid: The public thresholds.
        share: Released share at each threshold, shape (N,).
        low, high: Ends of the band at each threshold, shape (N,); None for no band.
        truth: The exact shares, shape (N,), where they are shown.
        marks: Quantiles to mark as (probability, number, low, high).
        summary: What the chart shows, in words, for those who do not see it.
        name: Title of the chart; that of a distribution by default.
        others: Charts on the same thresholds, of other groups, that are drawn into this one; at most three.
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
    start: float = 0.0
    name: str = ""
    share_label: str = "Share of records at or below"
    others: tuple[CurveChart, ...] = ()
    sizes: ClassVar[tuple[Size, ...]] = (WIDE, NARROW)

    @staticmethod
    def together(charts: Sequence[CurveChart], names: Sequence[str], title: str) -> CurveChart:
        """The curves of a few groups in one chart, without what is exact."""
        first = charts[0]
        legend = [(f"curve g{place}", name) for place, name in enumerate(names)]
        bands = next((text for kind, text in first.legend if kind == "band"), None)
        view = min(each.view[0] for each in charts), max(each.view[1] for each in charts)
        summary = " ".join(f"{name}: {each.summary}" for name, each in zip(names, charts, strict=True))
        return dataclasses.replace(
            first,
            view=view,
            summary=summary,
            truth=None,
            marks=(),
            legend=(*legend, *([("band", f"{bands}, of each group")] if bands else [])),
            name=title,
            others=tuple(charts[1:]),
        )

    @property
    def title(self) -> str:
        """The chart's name."""
        return self.name or f"Distribution of {self.label}"

    def paint(self, size: Size) -> list[Html]:
        """Axes, band, released curve, true curve, marks: from back to front."""
        frame = _CurveFrame(self, size)
        parts, every = _curve_axes(frame, self), (self, *self.others)
        of = [f" g{place}" if self.others else "" for place in range(len(every))]
        for each, group in zip(every, of, strict=True):
            if each.low is not None and each.high is not None:
                band = _band(frame, each.low, each.high, falling=self.start > 0)
                parts.append(tag("path", class_=f"band{group}", d=band))
        for each, group in zip(every, of, strict=True):
            stairs = _stairs(frame, each.share, start=self.start)
            parts.append(tag("path", class_=f"curve{group}", d=_path(stairs, end=frame.right)))
        if self.truth is not None:
            parts.append(
                tag("path", class_="truth", d=_path(_stairs(frame, self.truth, start=self.start), end=frame.right))
            )
        return parts + [_curve_mark(frame, self.grid, *mark) for mark in self.marks]


class _CurveFrame:
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


def _stairs(frame: _CurveFrame, shares: Float64, *, start: float) -> tuple[Float64, Float64]:
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
    moved = np.concatenate(([True], y[1:] != y[:-1]))
    return x[moved], y[moved]


def _path(stairs: tuple[Float64, Float64], *, end: float) -> str:
    x, y = stairs
    steps = "".join(f"H{a:g}V{b:g}" for a, b in zip(x[1:], y[1:], strict=True))
    return f"M{x[0]:g} {y[0]:g}{steps}H{end:g}"


def _band(frame: _CurveFrame, low: Float64, high: Float64, *, falling: bool) -> str:
    if falling:
        upper, lower = (1.0 - each for each in band_steps(frame.grid, 1.0 - np.asarray(high), 1.0 - np.asarray(low)))
    else:
        lower, upper = band_steps(frame.grid, np.asarray(low), np.asarray(high))
    top = _stairs(frame, upper[1:], start=float(upper[0]))
    x, y = _stairs(frame, lower[1:], start=float(lower[0]))
    back = "".join(f"H{a:g}V{b:g}" for a, b in zip(x[:0:-1], y[-2::-1], strict=True))
    return f"{_path(top, end=frame.right)}V{y[-1]:g}{back}H{frame.left:g}Z"


def _curve_axes(frame: _CurveFrame, drawing: CurveChart) -> list[Html]:
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
    parts.append(tag("text", drawing.share_label, class_="tick", x=LEFT - 42, y=TOP - 16))
    parts.append(tag("text", label, class_="name middle", x=middle, y=frame.size.height - 6))
    return parts


def _curve_mark(frame: _CurveFrame, grid: Grid, probability: float, number: float, low: float, high: float) -> Html:
    """A dot at a quantile with its interval, and its name for a pointer that rests on it."""
    ends = np.clip(frame.x(np.array([number, low, high])), frame.left, frame.right)
    x, a, b = (round(float(place), 1) for place in ends)
    y = round(float(frame.y(np.array(probability))), 1)
    name = f"{probability:.0%} at or below {show(grid, number)}, interval {show(grid, low)} to {show(grid, high)}"
    return tag("g", tag("title", name), _interval(a, b, y), tag("circle", class_="dot", cx=x, cy=y, r=3.5))


# --- Dots: a row for each number with its interval

MOST_ROWS = 24
"""More numbers than these are not drawn; the table has them all."""

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
        dots: At most 24.
        summary: What the chart shows, in words, for those who do not see it.
        shares: Whether numbers are shares, which are written as percent.
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
        return _row_sizes(len(self.dots) * (_NAME + _LINE))

    def paint(self, size: Size) -> list[Html]:
        """Axis, then for each name its number with its interval."""
        low, high = self._view()
        places = number_ticks(low, high, size.intervals)
        marked = ((self._x(size, number, low, high), self._written(number)) for number in places)
        parts = _row_axis(size, self.label, marked)
        for number, dot in enumerate(self.dots):
            top = _MARGIN + number * (_NAME + _LINE)
            parts.append(_row_name(size, dot.name, top))
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

    def _mark(self, size: Size, dot: Dot, y: float, low: float, high: float) -> Html:
        if dot.value is None:
            return _says_nothing(y)
        x, a, b = (self._x(size, number, low, high) for number in (dot.value, dot.low, dot.high))
        text = f"{dot.name}: {self._written(dot.value)}, interval {self._written(dot.low)} to {self._written(dot.high)}"
        exact = []
        if dot.truth is not None:
            text += f", true {self._written(dot.truth)}"
            exact = [tag("path", class_="truth", d=f"M{self._x(size, dot.truth, low, high):g} {y - 7:g}v14")]
        return tag("g", tag("title", text), _interval(a, b, y), *exact, tag("circle", class_="dot", cx=x, cy=y, r=3.5))

    def _written(self, number: float) -> str:
        return f"{plain_number(round(100 * number, 4))} %" if self.shares else plain_number(number)


# --- Squares: both axes are shares from 0

LARGE = (Size("wide", 470, 472, 5), Size("narrow", 350, 352, 5))
SMALL = (Size("every", 350, 296, 5),)

_RIGHT, _BOTTOM = 26, 46  # the others are those of all charts


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
        lines, ribbon, marks: What is drawn; the ribbon lies below the lines and the marks above them.
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
        frame = _SquareFrame(self, size)
        yield from _square_axes(frame, self)
        if self.ribbon is not None:
            yield tag("path", class_="band", d=_closed(frame, self.ribbon))
        for line in self.lines:
            path = _open(frame, line.x, line.y)
            if path:
                yield tag("path", class_=line.kind, d=path)
        for mark in self.marks:
            yield _square_mark(frame, mark)


class _SquareFrame:
    """Where shares lie in the drawing."""

    def __init__(self, chart: SquareChart, size: Size) -> None:
        self.size = size
        self.left, self.right = float(LEFT), float(size.width - _RIGHT)
        self.top, self.bottom = float(TOP), float(size.height - _BOTTOM)
        self.x_top, self.y_top = chart.x_top, chart.y_top

    def x(self, shares: Float64 | float) -> Float64:
        """Horizontal places, held within the frame."""
        return self.left + np.clip(np.asarray(shares) / self.x_top, 0.0, 1.0) * (self.right - self.left)

    def y(self, shares: Float64 | float) -> Float64:
        """Vertical places, held within the frame."""
        return self.bottom - np.clip(np.asarray(shares) / self.y_top, 0.0, 1.0) * (self.bottom - self.top)


def _points(frame: _SquareFrame, x: Float64, y: Float64) -> tuple[Float64, Float64]:
    """Places in px, without points that hide below the one before; the last one stays."""
    finite = np.isfinite(x) & np.isfinite(y)
    across, down = np.round(frame.x(x[finite]), 1), np.round(frame.y(y[finite]), 1)
    places, last = [], None
    for i, here in enumerate(zip(across, down, strict=True)):
        if last is None or i == len(across) - 1 or abs(here[0] - last[0]) + abs(here[1] - last[1]) >= 0.5:
            places.append(i)
            last = here
    return across[places], down[places]


def _open(frame: _SquareFrame, x: Float64, y: Float64) -> str:
    corners = [f"{a:g} {b:g}" for a, b in zip(*_points(frame, x, y), strict=True)]
    return f"M{corners[0]}L{' '.join(corners[1:])}" if len(corners) > 1 else ""


def _closed(frame: _SquareFrame, ribbon: Ribbon) -> str:
    upper = zip(*_points(frame, ribbon.x, ribbon.high), strict=True)
    lower = zip(*_points(frame, ribbon.x[::-1], ribbon.low[::-1]), strict=True)
    corners = [f"{a:g} {b:g}" for a, b in (*upper, *lower)]
    return f"M{corners[0]}L{' '.join(corners[1:])}Z"


def _square_axes(frame: _SquareFrame, chart: SquareChart) -> Iterator[Html]:
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
    yield tag("text", above, class_="name", x=8, y=TOP - 14)
    yield tag("text", below, class_="name middle", x=middle, y=frame.size.height - 7)


def _places(top: float, most: int) -> list[float]:
    step = nice_step(top, most)
    return [k * step for k in range(int(top / step + 1e-9) + 1)]


def _square_mark(frame: _SquareFrame, mark: Mark) -> Html:
    x, y = (round(float(place), 1) for place in (frame.x(mark.x), frame.y(mark.y)))
    bar = None
    if mark.low is not None and mark.high is not None:
        a, b = (round(float(frame.y(end)), 1) for end in (mark.low, mark.high))
        bar = tag("path", class_="interval", d=f"M{x - 4:g} {a:g}h8M{x:g} {a:g}V{b:g}M{x - 4:g} {b:g}h8")
    radius = 4 if mark.kind == "dot" else 5
    return tag("g", tag("title", mark.name), bar, tag("circle", class_=mark.kind, cx=x, cy=y, r=radius))
