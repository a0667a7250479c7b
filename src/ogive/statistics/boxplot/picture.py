"""Boxes and violins of one column, beside the true ones where those may be seen: picture and chapter of a report."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from ogive.core.arrays import Float64
from ogive.errors import ParameterError
from ogive.showing import words
from ogive.showing.axis import plain_number, show
from ogive.showing.chapter import Chapter, Picture
from ogive.showing.chart import MOST_BOXES, BoxChart, Row
from ogive.showing.parts import Html, fine, say, table
from ogive.showing.parts import Row as TableRow
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
from ogive.statistics.boxplot.boxes import NUMBERS, Box, Interval
from ogive.statistics.boxplot.estimate import Boxplots, PlotKind
from ogive.statistics.boxplot.text import PERCENT, alone, between
from ogive.statistics.curve.estimate import Curve

_WIDTH = 0.34
_SLICES = 48  # of a violin, so that single bins of noise do not look like features


def draw(
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


# --- The chapter of the report

_HEAD = ("Low end", "First quartile", "Median", "Third quartile", "High end", "Beyond")


def chapter(boxplots: Boxplots, truth: Boxplots | None) -> Chapter:
    """What boxes say."""
    if truth is not None:
        if not isinstance(truth, Boxplots) or truth.private:
            raise ParameterError(f"the truth for {boxplots.column} must be exact boxes of the same groups")
        boxplots.errors(truth)
    assert boxplots.provenance is not None
    shown = truth if boxplots.private else None
    about = "" if boxplots.by is None else f" by {boxplots.by}"
    return Chapter(
        title=f"Boxplot of {boxplots.column}{about}",
        subject=boxplots.column,
        provenance=boxplots.provenance,
        headline=headline(boxplots),
        error=_error(boxplots),
        released=_released(boxplots),
        pictures=(_picture(boxplots, shown),),
        tables=(_table("Boxes", boxplots, _read(boxplots)), None if shown is None else _table("True boxes", shown)),
        details=(
            *(() if boxplots.by is None else (("Groups", "public" if boxplots.public_groups else "private"),)),
            ("Boxes", "read off one private curve" if boxplots.curves else "five numbers, found one by one"),
            (
                "Thresholds",
                f"{boxplots.grid.spacing}, {boxplots.grid.bins:,} from {_at(boxplots, boxplots.grid.low)} "
                f"to {_at(boxplots, boxplots.grid.high)}",
            ),
        ),
        warning=_useless(boxplots),
        exact=truth is not None,
    )


def headline(boxplots: Boxplots) -> str:
    """The release in a sentence or two."""
    found = [box for box in boxplots.boxes if box.told]
    if not found:
        return f"Noise hides the distribution of {boxplots.column}: there is no box to draw."
    if boxplots.by is None:
        box = found[0]
        return (
            f"The median {boxplots.column} is {_number(boxplots, box, 'median')} ({_interval(boxplots, box)}"
            f"interquartile range {_number(boxplots, box, 'q1')} to {_number(boxplots, box, 'q3')})."
        )
    low, high = (pick(found, key=lambda box: box.median) for pick in (min, max))
    if len(found) == 1 or low.median == high.median:
        median = _number(boxplots, low, "median")
        return f"The median {boxplots.column} is {median} in every group that has enough records."
    said = (
        f"The median {boxplots.column} is lowest where {boxplots.by} is {low.group}, "
        f"{_number(boxplots, low, 'median')}, and highest where it is {high.group}, "
        f"{_number(boxplots, high, 'median')}"
    )
    below, above = low.intervals, high.intervals
    if boxplots.private and below is not None and above is not None and above.median.low <= below.median.high:
        return f"{said}; their intervals overlap, so that the order may be chance."
    return f"{said}."


def _interval(boxplots: Boxplots, box: Box) -> str:
    """The interval of the median in words that something follows; nothing where there is none."""
    return "" if box.intervals is None else f"{PERCENT} CI {_between(boxplots, box.intervals.median)}; "


def _between(boxplots: Boxplots, interval: Interval) -> str:
    return " to ".join(map(words.minus, between(boxplots, interval).split(" to ")))


def _number(boxplots: Boxplots, box: Box, name: str) -> str:
    return words.minus(alone(boxplots, box, name))


def _at(boxplots: Boxplots, number: float) -> str:
    return show(boxplots.grid, number)


def _name(box: Box) -> str:
    return "All records" if box.group is None else str(box.group)


def _picture(boxplots: Boxplots, truth: Boxplots | None) -> Picture:
    boxes, exact = boxplots.boxes[:MOST_BOXES], () if truth is None else truth.boxes[:MOST_BOXES]
    rows = tuple(_row(boxplots, place) for place in range(len(boxes)))
    legend = [("box", "Released box" if boxplots.private else "Exact box")]
    if exact:
        legend.append(("true-box", "True box of these records"))
    if any(row is not None and row.intervals for row in rows):
        legend.append(("interval", f"{PERCENT} intervals for Q1 (top), median and Q3 (bottom) of the population"))
    summary = f"A box for each group of {boxplots.column}. {headline(boxplots)} " + " ".join(
        "{}: whiskers from {} to {}, quartiles {}, {} and {}.".format(
            _name(box), *(_number(boxplots, box, name) for name in ("low", "high", "q1", "median", "q3"))
        )
        for box in boxes
        if box.told
    )
    chart = BoxChart(
        grid=boxplots.grid,
        label=boxplots.column,
        names=tuple(_name(box) for box in boxes),
        boxes=rows,
        truths=() if truth is None else tuple(_row(truth, place) for place in range(len(exact))),
        summary=summary,
        legend=tuple(legend),
    )
    left = len(boxplots.boxes) - len(boxes)
    return Picture(chart, note=f"{left:,} more groups are in the table." if left else None)


def _row(boxplots: Boxplots, place: int) -> Row | None:
    box = boxplots.boxes[place]
    return Row(box.numbers, boxplots.dots(place), box.intervals or ()) if box.told else None


def _read(boxplots: Boxplots) -> str:
    flat = [_name(box) for box in boxplots.boxes if box.flat and box.told]
    said = "Half of a group's records lie between its quartiles: the interquartile range."
    if any(box.intervals for box in boxplots.boxes):
        said += (
            f" In brackets are {PERCENT} confidence intervals, which count noise and sampling: with that confidence "
            "they hold the quartiles and the median of a group's population, all three."
        )
    if boxplots.curves:
        said += " Beyond is the estimated number of records below and above the whiskers."
    if flat:
        said += f" Flat, because half of the records have about the same value: {', '.join(flat)}."
    return said


def _table(caption: str, boxplots: Boxplots, about: str | None = None) -> Html:
    rows: list[TableRow] = []
    for box in boxplots.boxes:
        if not box.told:
            known = not boxplots.private or boxplots.public_groups
            rows.append((_name(box), ["no records" if known else "too noisy", *[""] * (len(_HEAD) - 1)]))
            continue
        known = box.below is not None and box.above is not None
        beyond = f"{plain_number(box.below or 0)} and {plain_number(box.above or 0)}" if known else "not shown"
        rows.append((_name(box), [*(_cell(boxplots, box, name) for name in NUMBERS), beyond]))
    return table(caption, ("Group" if boxplots.by is None else boxplots.by, *_HEAD), rows, about)


def _cell(boxplots: Boxplots, box: Box, name: str) -> str:
    number = _number(boxplots, box, name)
    interval = getattr(box.intervals, name, None)
    return number if interval is None else f"{number} ({_between(boxplots, interval)})"


def _error(boxplots: Boxplots) -> tuple[Html, ...]:
    if not boxplots.private:
        return (say("The values are exact for these records, up to the spacing of the thresholds."),)
    if boxplots.curves:
        counted = ", and their intervals count it" if any(box.intervals for box in boxplots.boxes) else ""
        return (
            say(
                f"Noise affects quartiles and medians least{counted}. The ends of whiskers and the numbers of records "
                "beyond them depend on few records and have larger errors."
            ),
            fine("ogive plan predicts these errors before anything is spent."),
        )
    return (
        say(
            "Each number was chosen by noisy counts. A quartile may be off by some ranks, and either end may lie well "
            "inside or outside the outermost records."
        ),
        fine("ogive plan predicts these errors before anything is spent."),
    )


def _released(boxplots: Boxplots) -> tuple[Html, ...]:
    ends = f"{_at(boxplots, boxplots.grid.low)} to {_at(boxplots, boxplots.grid.high)}"
    who = (
        f"of {boxplots.column}"
        if boxplots.by is None
        else f"of {boxplots.column} in each of {len(boxplots.boxes):,} groups"
    )
    if boxplots.curves:
        what = (
            f"The whole distribution function {who}. Boxes, whiskers and dots are computed from it at no further cost. "
            "The dots are synthetic outliers: they follow from the private curve, and none of them is a record."
        )
    else:
        what = f"Five numbers {who}: both ends and the three quartiles. Records beyond the ends are not shown."
    found = (say(what), fine(f"Public bounds: {ends}. Values outside are clipped to the nearest bound."))
    if not (boxplots.private and boxplots.public_groups):
        return found
    known = "The group of each record is public, and so is the number of records in each group: they have no noise."
    return (*found, say(known))


def _useless(boxplots: Boxplots) -> str | None:
    if not boxplots.private or any(box.told for box in boxplots.boxes):
        return None
    return "The noise is larger than the number of records. Use a larger privacy budget or more records."
