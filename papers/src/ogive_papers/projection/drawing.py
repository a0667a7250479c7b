"""How distances and curves of the paper's figures are drawn: a color for every family of methods."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ogive_papers.projection.central import (
    AQ,
    AQ_NAIVE,
    HQ,
    HQ_LAPLACE,
    HQ_NAIVE,
    NO_PRIVACY,
    PP,
    PP_EXACT,
    SHAPED,
    quantity,
)
from ogive_papers.projection.distances import DISTANCES, TITLES
from ogive_papers.projection.parts import SECURE
from ogive_papers.summaries import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREEN, BLUE, RED, PURPLE = "#2f855a", "#2b6cb0", "#c05621", "#6b46c1"
TRUTH, FAINT = "#8b95a1", "#a3adb8"

LABELS = {
    HQ_NAIVE: "HQ, naive accounting",
    AQ_NAIVE: "AQ, naive accounting",
    PP: "PP, the paper's constants",
    HQ: "HQ, correct accounting",
    AQ: "AQ, correct accounting",
    PP_EXACT: "PP, exact constants",
    SHAPED: "LEG-E, the library's projection",
    f"{SHAPED}{SECURE}": "LEG-E, secure sum",
    HQ_LAPLACE: "HQ, Laplace noise",
    NO_PRIVACY: "no privacy",
}
STYLES: dict[str, dict[str, Any]] = {
    HQ_NAIVE: {"color": GREEN, "marker": "s", "linestyle": "--"},
    AQ_NAIVE: {"color": BLUE, "marker": "^", "linestyle": "--"},
    PP: {"color": RED, "marker": "o", "linestyle": "--"},
    HQ: {"color": GREEN, "marker": "s"},
    AQ: {"color": BLUE, "marker": "^"},
    PP_EXACT: {"color": RED, "marker": "o"},
    SHAPED: {"color": PURPLE, "marker": "D"},
    f"{SHAPED}{SECURE}": {"color": PURPLE, "marker": "d", "linestyle": ":"},
    HQ_LAPLACE: {"color": GREEN, "marker": "x", "linestyle": ":"},
    NO_PRIVACY: {"color": TRUTH, "marker": "", "linestyle": ":", "linewidth": 1.2},
}


def draw_distances(panels: list[tuple[str, Summary]], methods: tuple[str, ...], figure: Figure) -> None:
    """A row of panels for every part of a summary: each distance against epsilon.

    Args:
        panels: Title and numbers of each row.
        methods: Curves to draw, where they were measured.
        figure: An empty one; its height is set by the rows.
    """
    figure.set_size_inches(9.4, 1.5 + 2.5 * len(panels))
    grid = figure.subplots(len(panels), len(DISTANCES), sharex=True, squeeze=False)
    for (title, summary), row in zip(panels, grid, strict=True):
        for axes, distance in zip(row, DISTANCES, strict=True):
            axes.set(xscale="log", yscale="log")
            for method in methods:
                draw_means(axes, summary, method, distance)
            axes.xaxis.set_major_formatter("{x:g}")
            axes.set_title(f"{TITLES[distance]}, {title}" if distance == DISTANCES[0] else TITLES[distance])
            axes.grid(visible=True, which="major")
    for axes in grid[-1]:
        axes.set_xlabel("epsilon")
    for row in grid:
        row[0].set_ylabel("distance")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)


def draw_means(axes: Axes, summary: Summary, method: str, distance: str) -> None:
    """One curve of means with two standard errors, as far down as up; nothing where it was not measured."""
    places, cells = summary.series("epsilon", quantity(method, distance))
    if not cells:
        return
    up = [2 * cell.error if math.isfinite(cell.error) else 0.0 for cell in cells]
    down = [cell.mean * length / (cell.mean + length) for cell, length in zip(cells, up, strict=True)]
    means = [cell.mean for cell in cells]
    axes.errorbar(places, means, yerr=[down, up], capsize=1.5, label=LABELS[method], **STYLES[method])
