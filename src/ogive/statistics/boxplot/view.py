"""What people see of boxes: a table, boxes or violins beside the true ones where those may be seen, and a chapter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack

import numpy as np

from ogive.core.arrays import Float64
from ogive.privacy import Adjacency
from ogive.showing import words
from ogive.showing.axis import plain_number, shown, span
from ogive.showing.chapter import Picture
from ogive.showing.chart import MOST_BOXES, BoxChart, Row
from ogive.showing.parts import Html, fine, table
from ogive.showing.pictures import (
    BLUE,
    GRAY,
    ORANGE,
    Style,
    caption,
    keep_private,
    legend,
    lighten,
    name_groups,
    new_axes,
    styled,
)
from ogive.showing.view import View
from ogive.statistics.boxplot.estimate import (
    CONFIDENCE_LEVEL,
    NUMBERS,
    PUBLIC_GROUPS,
    Box,
    Boxplots,
    Intervals,
    PlotKind,
)
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.sums.posterior import sizes_of

LOUD = 0.1
"""Noise, as a share of the records, from which quartiles are imprecise."""

PERCENT = f"{100 * CONFIDENCE_LEVEL:g} %"

_HEADINGS = ("low end", "Q1", "median", "Q3", "high end", "beyond", "records")
_HEAD = ("Low end", "First quartile", "Median", "Third quartile", "High end", "Beyond")
_WIDTH = 0.34
_SLICES = 48  # of a violin, so that single bins of noise do not look like features


class BoxplotsView(View):
    """The numbers of each box with their intervals."""

    estimate: Boxplots

    @property
    def name(self) -> str:
        return f"boxplot {self._of}"

    @property
    def title(self) -> str:
        return f"Boxplot {self._of}"

    @property
    def short(self) -> str:
        boxes = len(self.estimate.boxes)
        return f"{self._of}: {boxes} {'box' if boxes == 1 else 'boxes'}"

    @property
    def _of(self) -> str:
        return f"of {self.estimate.column}" + ("" if self.estimate.by is None else f" by {self.estimate.by}")

    @property
    def guarantee(self) -> str:
        known = "; groups are public" if self.estimate.private and self.estimate.public_groups else ""
        return f"{self.estimate.provenance}{known}"

    @property
    def _sizes_known(self) -> bool:
        """Whether the size of each group is known."""
        return not self.estimate.private or self.estimate.public_groups

    @property
    def headings(self) -> tuple[str, ...]:
        return ("group" if self.estimate.by is None else self.estimate.by, *_HEADINGS)

    @property
    def rows(self) -> list[tuple[str, ...]]:
        estimate, lines = self.estimate, []
        counted = self._sizes_known or (estimate.by is None and estimate.adjacency is Adjacency.REPLACE)
        total = None if counted or estimate.provenance is None else estimate.provenance.total
        measured = [box.records for box in estimate.boxes]
        for box, size in zip(estimate.boxes, sizes_of(measured, total) or measured, strict=True):
            cells = ["-"] * len(NUMBERS)
            beyond, records = "-", "0"
            if box.told:
                cells = [self.cell(box, name) for name in NUMBERS]
                beyond = "not shown" if box.below is None or box.above is None else f"{box.below} + {box.above}"
                records = "private" if size is None else f"{'' if counted else 'about '}{size:,.0f}"
            lines.append(("all" if box.group is None else str(box.group), *cells, beyond, records))
        return lines

    def cell(self, box: Box, name: str, written: Callable[[str], str] = str) -> str:
        """One number of a box, with its interval in brackets where it has one."""
        value, *ends = map(written, self._shown(box, name))
        return f"{value} ({' to '.join(ends)})" if ends else value

    def _shown(self, box: Box, name: str) -> tuple[str, ...]:
        """A number and the ends of its interval, with the digits of that, or of the widest where it has none."""
        interval = getattr(box.intervals, name, None)
        widths = [high - low for low, high in ((interval,) if interval else box.intervals or ())]
        value = shown(self.estimate.grid, getattr(box, name), max(widths, default=0.0))
        return value, *(shown(self.estimate.grid, end, widths[0]) for end in interval or ())

    @property
    def notes(self) -> list[str]:
        estimate, lines = self.estimate, []
        if any(box.intervals for box in estimate.boxes):
            lines.append(
                f"in brackets: {PERCENT} confidence intervals for the population, simultaneous for the three of a box"
            )
        if estimate.private and estimate.public_groups:
            lines.append(PUBLIC_GROUPS)
        if estimate.method == "five_numbers":
            lines.append("about as many records as were allowed lie beyond the ends; they are not shown")
        elif estimate.private:
            lines.append("outliers are synthetic: they follow from the private curve, and none of them is a record")
        names = ["the box" if box.group is None else f"the box of {box.group}" for box in estimate.boxes]
        for box, name in zip(estimate.boxes, names, strict=True):
            if not box.told:
                empty = "there are no records" if self._sizes_known else "noise leaves no records"
                lines.append(f"{name} is empty: {empty}")
            elif box.flat:
                lines.append(
                    f"{name} is flat: at least half of the records seem to have the same value, or to differ by less "
                    "than a bin"
                )
        if any(curve.approximates for curve in estimate.curves):
            lines.append("the boxes come from approximate curves: they are too tall if the bounds are far too wide")
        for box, curve, name in zip(estimate.boxes, estimate.curves, names, strict=False):
            if estimate.private and box.told and curve.rmse() >= LOUD:
                lines.append(
                    f"{name} is imprecise: noise changes its curve by {curve.rmse():.2g} of the records (root mean "
                    "square, before smoothing)"
                )
        return lines

    @property
    def columns(self) -> dict[str, Any]:
        boxes, label = self.estimate.boxes, self.estimate.grid.label
        columns: dict[str, Any] = {} if self.estimate.by is None else {self.estimate.by: [box.group for box in boxes]}
        for name in NUMBERS:
            columns[name] = [label(getattr(box, name)) if box.told else None for box in boxes]
        for name in Intervals._fields:
            intervals = [getattr(box.intervals, name, None) if box.told else None for box in boxes]
            for place, end in enumerate(("low", "high")):
                columns[f"{name}_{end}"] = [None if ends is None else label(ends[place]) for ends in intervals]
        for name in ("below", "above", "records"):
            columns[name] = [getattr(box, name) for box in boxes]
        return columns

    def draw(self, ax: Any = None, **options: Any) -> Any:
        return plot_boxes(self.estimate, ax, **options)

    # the chapter of a report

    @property
    def truth_words(self) -> str:
        return "exact boxes of the same groups"

    def check_truth(self, truth: Any) -> None:
        super().check_truth(truth)
        self.estimate.errors(truth)

    @property
    def headline(self) -> str:
        estimate, column = self.estimate, self.estimate.column
        boxes = [box for box in estimate.boxes if box.told]
        if not boxes:
            return f"Noise hides the distribution of {column}: there is no box to draw."
        if estimate.by is None:
            median, *ends = map(words.minus, self._shown(boxes[0], "median"))
            first, last = (self._number(boxes[0], name) for name in ("q1", "q3"))
            interval = f"{PERCENT} CI {' to '.join(ends)}; " if ends else ""
            return f"The median {column} is {median} ({interval}interquartile range {first} to {last})."
        low, high = (pick(boxes, key=lambda box: box.median) for pick in (min, max))
        smallest, largest = (self._number(box, "median") for box in (low, high))
        if len(boxes) == 1 or low.median == high.median:
            return f"The median {column} is {smallest} in every group that has enough records."
        text = (
            f"The median {column} is lowest where {estimate.by} is {low.group}, {smallest}, and highest where it is "
            f"{high.group}, {largest}"
        )
        below, above = low.intervals, high.intervals
        if estimate.private and below is not None and above is not None and above.median.low <= below.median.high:
            return f"{text}; their intervals overlap, so that the order may be chance."
        return f"{text}."

    def _number(self, box: Box, name: str) -> str:
        return words.minus(self._shown(box, name)[0])

    def pictures(self, exact: Any) -> Sequence[Picture]:
        estimate = self.estimate
        boxes, rows = estimate.boxes[:MOST_BOXES], self._boxes()
        legends = [("box", "Released box" if estimate.private else "Exact box")]
        if exact is not None:
            legends.append(("true-box", "True box of these records"))
        if any(row is not None and row.intervals for row in rows):
            legends.append(("interval", f"{PERCENT} intervals for Q1 (top), median and Q3 (bottom) of the population"))
        summary = f"A box for each group of {estimate.column}. {self.headline} " + " ".join(
            "{}: whiskers from {} to {}, quartiles {}, {} and {}.".format(
                _name(box), *(self._number(box, name) for name in ("low", "high", "q1", "median", "q3"))
            )
            for box in boxes
            if box.told
        )
        chart = BoxChart(
            grid=estimate.grid,
            label=estimate.column,
            names=tuple(map(_name, boxes)),
            boxes=rows,
            truths=() if exact is None else exact._boxes(),
            summary=summary,
            legend=tuple(legends),
        )
        left = len(estimate.boxes) - len(boxes)
        return (Picture(chart, note=f"{left:,} more groups are in the table." if left else None),)

    def _boxes(self) -> tuple[Row | None, ...]:
        return tuple(
            Row(box.numbers, self.estimate.dots(place), box.intervals or ()) if box.told else None
            for place, box in enumerate(self.estimate.boxes[:MOST_BOXES])
        )

    def tables(self, exact: Any) -> Sequence[Html | None]:
        return self._table("Boxes", self._reading), None if exact is None else exact._table("True boxes")

    def _table(self, title: str, about: str | None = None) -> Html:
        rows = []
        for box in self.estimate.boxes:
            cells = ["no records" if self._sizes_known else "too noisy", *[""] * (len(_HEAD) - 1)]
            if box.told:
                beyond = "not shown"
                if box.below is not None and box.above is not None:
                    beyond = f"{plain_number(box.below)} and {plain_number(box.above)}"
                cells = [*(self.cell(box, name, words.minus) for name in NUMBERS), beyond]
            rows.append((_name(box), cells))
        return table(title, ("Group" if self.estimate.by is None else self.estimate.by, *_HEAD), rows, about)

    @property
    def _reading(self) -> str:
        """How the table is read."""
        flat = [_name(box) for box in self.estimate.boxes if box.flat and box.told]
        text = "Half of a group's records lie between its quartiles: the interquartile range."
        if any(box.intervals for box in self.estimate.boxes):
            text += (
                f" In brackets are {PERCENT} confidence intervals, which count noise and sampling: with that "
                "confidence they hold the quartiles and the median of a group's population, all three."
            )
        if self.estimate.curves:
            text += " Beyond is the estimated number of records below and above the whiskers."
        if flat:
            text += f" Flat, because half of the records have about the same value: {', '.join(flat)}."
        return text

    @property
    def error(self) -> Sequence[Html | str]:
        estimate = self.estimate
        if not estimate.private:
            return ("The values are exact for these records, up to the spacing of the thresholds.",)
        if estimate.curves:
            counted = ", and their intervals count it" if any(box.intervals for box in estimate.boxes) else ""
            text = (
                f"Noise affects quartiles and medians least{counted}. The ends of whiskers and the numbers of records "
                "beyond them depend on few records and have larger errors."
            )
        else:
            text = (
                "Each number was chosen by noisy counts. A quartile may be off by some ranks, and either end may lie "
                "well inside or outside the outermost records."
            )
        return text, fine("ogive plan predicts these errors before anything is spent.")

    @property
    def released(self) -> Sequence[Html | str]:
        estimate = self.estimate
        who = f"of {estimate.column}" + ("" if estimate.by is None else f" in each of {len(estimate.boxes):,} groups")
        if estimate.curves:
            what = (
                f"The whole distribution function {who}{self._selected}. Boxes, whiskers and dots are computed from it "
                "at no further cost. The dots are synthetic outliers: they follow from the private curve, and none of "
                "them is a record."
            )
        else:
            what = f"Five numbers {who}: both ends and the three quartiles. Records beyond the ends are not shown."
        known = "The group of each record is public, and so is the number of records in each group: they have no noise."
        return (
            what,
            fine(f"Public bounds: {span(self.estimate.grid)}. Values outside are clipped to the nearest bound."),
            *((known,) if estimate.private and estimate.public_groups else ()),
        )

    @property
    def _selected(self) -> str:
        return ", with quartiles that were selected beside it" if self.estimate.method == "joint" else ""

    @property
    def details(self) -> Sequence[tuple[str, str]]:
        estimate, grid = self.estimate, self.estimate.grid
        return (
            *(() if estimate.by is None else (("Groups", "public" if estimate.public_groups else "private"),)),
            (
                "Boxes",
                f"read off one private curve{self._selected}" if estimate.curves else "five numbers, found one by one",
            ),
            ("Thresholds", f"{grid.spacing}, {grid.bins:,} from {span(grid)}"),
        )

    @property
    def useless(self) -> str | None:
        if not self.estimate.private or any(box.told for box in self.estimate.boxes):
            return None
        return "The noise is larger than the number of records. Use a larger privacy budget or more records."


def _name(box: Box) -> str:
    return "All records" if box.group is None else str(box.group)


# --- Pictures


def plot_boxes(
    boxes: Boxplots,
    ax: Any = None,
    *,
    kind: PlotKind = "box",
    truth: Boxplots | None = None,
    **style: Unpack[Style],
) -> Any:
    """Draw a box or a violin for each group; returns matplotlib axes.

    Args:
        boxes: What was released.
        ax: Axes to draw into; new ones by default.
        kind: "box" or "violin".
        truth: Exact boxes of the same groups, drawn beside.
        style: Of the boxes; see `ogive.plots.Style`.

    Raises:
        ParameterError: matplotlib is not installed, or the style is none.
    """
    look = styled(style, color=BLUE, linewidth=1.2, alpha=0.28, label="private" if boxes.private else "exact")
    axes = new_axes(ax)
    places = np.arange(len(boxes.boxes), dtype=np.float64)
    shift = 0.0 if truth is None else _WIDTH * 0.6
    drawn = [(boxes, places + shift, look)]
    if truth is not None:
        if not truth.private:
            keep_private(axes)
        beside = {"color": GRAY, "label": "compared" if truth.private else "exact"}
        drawn.insert(0, (truth, places - shift, {**look, **beside}))
    for each, at, how in drawn:
        if kind == "violin":
            _violins(axes, each, at, how)
        _boxes(axes, each, at, how, width=_WIDTH if kind == "box" else _WIDTH / 5, fliers=kind == "box")
        if kind == "box":
            _intervals(axes, each, at, how)
        axes.plot([], [], color=how["color"], linewidth=6, alpha=0.6, label=how["label"])
    names = ["all" if box.group is None else str(box.group) for box in boxes.boxes]
    name_groups(axes, places, names)
    axes.set_xlim(-0.7, len(places) - 0.3)
    axes.set_ylabel(boxes.column)
    if boxes.by is not None:
        axes.set_xlabel(boxes.by)
    if boxes.grid.unit != "number":
        axes.yaxis.set_major_formatter(lambda value, _: str(boxes.grid.label(value))[:10])
    marked = kind == "box" and any(box.told and box.intervals is not None for box in boxes.boxes)
    if marked:
        sure = f"{PERCENT} CI of Q1, median and Q3, from left to right"
        axes.plot([], [], color=look["color"], linewidth=1.0, label=sure)
    if truth is not None or marked or "label" in style:
        legend(axes)
    lighten(axes, grid="y")
    by = "" if boxes.by is None else f" by {boxes.by}"
    what = f"{'Boxplot' if kind == 'box' else 'Violins'} of {boxes.column}{by}"
    caption(axes, what, boxes.caption, private=boxes.private)
    return axes


def _boxes(axes: Any, boxes: Boxplots, places: Float64, look: dict[str, Any], *, width: float, fliers: bool) -> None:
    shown = [(box, place, boxes.dots(n)) for n, (box, place) in enumerate(zip(boxes.boxes, places, strict=True))]
    shown = [each for each in shown if each[0].told]
    stats = [
        dict(zip(("whislo", "q1", "med", "q3", "whishi"), box.numbers, strict=True)) | {"fliers": list(dots)}
        for box, _, dots in shown
    ]
    if not stats:
        return
    line = {name: look[name] for name in ("color", "linewidth", "linestyle") if name in look}
    axes.bxp(
        stats,
        positions=[place for _, place, _ in shown],
        widths=width,
        showfliers=fliers,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": look["color"], "alpha": look["alpha"], "edgecolor": look["color"]},
        medianprops={"color": ORANGE, "linewidth": 1.8},
        whiskerprops=line,
        capprops=line,
        flierprops={"marker": ".", "markersize": 4, "markeredgecolor": look["color"], "alpha": 0.5},
    )


def _intervals(axes: Any, boxes: Boxplots, places: Float64, look: dict[str, Any]) -> None:
    """Thin lines in each box: the intervals of its first quartile, median and third quartile, from left to right."""
    for box, place in zip(boxes.boxes, places, strict=True):
        if box.told and box.intervals is not None:
            at = place + _WIDTH * np.array([-0.25, 0.0, 0.25])
            low, high = zip(*box.intervals, strict=True)
            axes.vlines(at, low, high, color=[look["color"], ORANGE, look["color"]], linewidth=1.0, zorder=3)


def _violins(axes: Any, boxes: Boxplots, places: Float64, look: dict[str, Any]) -> None:
    for box, curve, place in zip(boxes.boxes, boxes.curves, places, strict=True):
        if box.told:
            ends, density = slopes(curve)
            half = np.repeat(density / density.max() * _WIDTH / 2, 2)
            across = np.repeat(ends, 2)[1:-1]
            axes.fill_betweenx(
                across, place - half, place + half, color=look["color"], alpha=look["alpha"], linewidth=0
            )


def slopes(curve: Curve) -> tuple[Float64, Float64]:
    """Ends of some slices of a curve's bounds, and its mean slope in each; shapes (slices + 1,) and (slices,)."""
    grid = curve.grid
    cuts = np.unique(np.linspace(0, grid.bins, min(grid.bins, _SLICES) + 1).round().astype(int))
    ends = np.concatenate(([grid.low], grid.thresholds))[cuts]
    if ends[1] == ends[0]:  # a grid of integers begins with its first threshold
        ends[0] = ends[0] - (ends[2] - ends[1] if len(ends) > 2 else 1.0)
    shares = np.diff(np.concatenate(([0.0], curve.probabilities))[cuts])
    return ends, shares / np.diff(ends)
