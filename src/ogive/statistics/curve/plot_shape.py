"""Draw what a curve says about shape: a histogram, and quantiles against those of another distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from ogive.arrays import Float64
from ogive.pictures import BLUE, GRAY, ORANGE, caption, legend, lighten, new_axes
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.curve.plot import as_dates, scale_axis


def plot_shares(curve: Curve, edges: Float64, shares: Float64, ax: Any = None) -> Any:
    """Draw shares of the records between edges as bars.

    Args:
        curve: Where grid, column and caption are taken from.
        edges: Numbers of the grid, increasing, shape (bins + 1,).
        shares: Share of the records in each bin, shape (bins,).
        ax: Axes to draw into; new ones by default.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed.
    """
    axes = new_axes(ax)
    axes.stairs(shares, as_dates(curve.grid, edges), fill=True, color=BLUE, alpha=0.35)
    axes.stairs(shares, as_dates(curve.grid, edges), color=BLUE, linewidth=1.2)
    axes.set_xlabel(curve.column)
    axes.set_ylabel("Share of the records")
    axes.set_ylim(bottom=0)
    axes.margins(x=0.01)
    caption(axes, f"Histogram of {curve.column}", curve.caption, private=curve.private)
    scale_axis(axes.xaxis, curve.grid)
    lighten(axes, grid="y")
    return axes


def plot_quantiles(curve: Curve, ours: Float64, others: Float64, name: str, ax: Any = None) -> Any:
    """Draw quantiles of a curve against those of another distribution, and the line on which equal ones lie.

    Args:
        curve: Where grid, column and caption are taken from.
        ours: Quantiles of the curve, numbers of its grid, shape (points,).
        others: Quantiles of the other at the same shares, shape (points,).
        name: Name of the other distribution.
        ax: Axes to draw into; new ones by default.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed.
    """
    axes = new_axes(ax)
    ends = as_dates(curve.grid, np.array([curve.grid.low, curve.grid.high]))
    axes.plot(ends, ends, color=GRAY, linewidth=1, linestyle=(0, (5, 2)), label="equal quantiles")
    axes.plot(
        as_dates(curve.grid, others),
        as_dates(curve.grid, ours),
        color=ORANGE if not curve.private else BLUE,
        marker="o",
        markersize=3.5,
        linewidth=0.8,
        label=f"{len(ours)} quantiles",
    )
    axes.set_xlabel(f"{curve.column}, {name}")
    axes.set_ylabel(f"{curve.column}, {'released' if curve.private else 'exact (not private)'}")
    caption(axes, f"Quantiles of {curve.column}", curve.caption, private=curve.private)
    scale_axis(axes.xaxis, curve.grid)
    scale_axis(axes.yaxis, curve.grid)
    legend(axes)
    lighten(axes)
    return axes
