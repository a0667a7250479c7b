"""Draw boxes and violins of one column, beside the true ones where those may be seen."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from ogive.arrays import Float64
from ogive.pictures import (
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
from ogive.statistics.boxplot.estimate import Boxplots, PlotKind
from ogive.statistics.boxplot.text import PERCENT
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
