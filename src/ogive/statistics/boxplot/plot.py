"""Draw boxes and violins of one column, beside the true ones where those may be seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from ogive.arrays import Float64
from ogive.pictures import BLUE, GRAY, ORANGE, caption, keep_private, lighten, new_axes
from ogive.statistics.boxplot.estimate import Boxplots
from ogive.statistics.curve.estimate import Curve

_WIDTH = 0.34
_SLICES = 48  # of a violin, so that single bins of noise do not look like features


def plot_boxes(boxes: Boxplots, ax: Any = None, *, kind: str = "box", truth: Boxplots | None = None) -> Any:
    """Draw a box or a violin for each group; returns matplotlib axes.

    Args:
        boxes: What was released.
        ax: Axes to draw into; new ones by default.
        kind: "box" or "violin".
        truth: Exact boxes of the same groups, drawn beside.

    Raises:
        ParameterError: matplotlib is not installed.
    """
    axes = new_axes(ax)
    places = np.arange(len(boxes.boxes), dtype=np.float64)
    shift = 0.0 if truth is None else _WIDTH * 0.6
    drawn = [(boxes, places + shift, BLUE, "private" if boxes.private else "exact")]
    if truth is not None:
        if not truth.private:
            keep_private(axes)
        drawn.insert(0, (truth, places - shift, GRAY, "compared" if truth.private else "exact"))
    for each, at, color, name in drawn:
        if kind == "violin":
            _violins(axes, each, at, color)
        _boxes(axes, each, at, color, width=_WIDTH if kind == "box" else _WIDTH / 5, fliers=kind == "box")
        axes.plot([], [], color=color, linewidth=6, alpha=0.6, label=name)
    axes.set_xticks(places, ["all" if box.group is None else str(box.group) for box in boxes.boxes])
    axes.set_xlim(-0.7, len(places) - 0.3)
    axes.set_ylabel(boxes.column)
    if boxes.by is not None:
        axes.set_xlabel(boxes.by)
    if boxes.grid.unit != "number":
        axes.yaxis.set_major_formatter(lambda value, _: str(boxes.grid.label(value))[:10])
    if truth is not None:
        axes.legend(frameon=False, fontsize=9, ncols=2, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0)
    lighten(axes, grid="y")
    what = f"{'Boxplot' if kind == 'box' else 'Violins'} of {boxes.column}"
    caption(axes, what, boxes.caption, private=boxes.private)
    return axes


def _boxes(axes: Any, boxes: Boxplots, places: Float64, color: str, *, width: float, fliers: bool) -> None:
    shown = [(box, place) for box, place in zip(boxes.boxes, places, strict=True) if box.defined]
    stats = [
        dict(zip(("whislo", "q1", "med", "q3", "whishi"), box.numbers, strict=True)) | {"fliers": list(box.outliers)}
        for box, _ in shown
    ]
    if not stats:
        return
    line = {"color": color, "linewidth": 1.2}
    axes.bxp(
        stats,
        positions=[place for _, place in shown],
        widths=width,
        showfliers=fliers,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": color, "alpha": 0.28, "edgecolor": color},
        medianprops={"color": ORANGE, "linewidth": 1.8},
        whiskerprops=line,
        capprops=line,
        flierprops={"marker": ".", "markersize": 4, "markeredgecolor": color, "alpha": 0.5},
    )


def _violins(axes: Any, boxes: Boxplots, places: Float64, color: str) -> None:
    for box, curve, place in zip(boxes.boxes, boxes.curves, places, strict=True):
        if box.defined:
            ends, density = slopes(curve)
            half = np.repeat(density / density.max() * _WIDTH / 2, 2)
            axes.fill_betweenx(
                np.repeat(ends, 2)[1:-1], place - half, place + half, color=color, alpha=0.28, linewidth=0
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
