"""How curves of the paper's figures are drawn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ogive_papers.summaries import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAPER_BLUE, PAPER_RED, OURS = "#2b6cb0", "#c05621", "#2f855a"
TRUTH, NOISE = "#1f2933", "#a3adb8"


def logarithmic(axes: Axes) -> None:
    """Make the horizontal axis logarithmic, with plain numbers."""
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")


def plot(
    axes: Axes, summary: Summary, axis: str, quantity: str, *,
    color: str, marker: str, linestyle: str, label: str | None = None,
) -> None:  # fmt: skip
    """One curve of means, with two standard errors; on a logarithmic axis, as far down as up."""
    places, cells = summary.series(axis, quantity)
    up = [2 * cell.error if math.isfinite(cell.error) else 0.0 for cell in cells]
    down = up
    if axes.get_yscale() == "log":
        down = [cell.mean * length / (cell.mean + length) for cell, length in zip(cells, up, strict=True)]
    axes.errorbar(
        places,
        [cell.mean for cell in cells],
        yerr=[down, up],
        color=color,
        marker=marker,
        linestyle=linestyle,
        capsize=2,
        label=label or quantity,
    )
