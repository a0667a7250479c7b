"""Draw distribution functions."""

from __future__ import annotations

import importlib
from typing import Any, Unpack

import numpy as np

from ogive.arrays import Float64
from ogive.axis import band_steps
from ogive.grids import Grid
from ogive.pictures import BLUE, ORANGE, Style, caption, keep_private, legend, lighten, new_axes, styled
from ogive.statistics.confidence import Target
from ogive.statistics.curve.estimate import Curve


def draw(
    curve: Curve,
    ax: Any = None,
    *,
    confidence_level: float | None = 0.95,
    target: Target = "population",
    width: str = "even",
    truth: Curve | None = None,
    **style: Unpack[Style],
) -> Any:
    """Draw a curve as steps, with the band that holds the true one.

    Args:
        curve: What to draw.
        ax: Axes to draw into; new ones by default.
        confidence_level: Confidence level of the band; None for no band.
        target: Of the band, "population" or "sample".
        width: Of the band, "even" or "narrowing" in the tails.
        truth: An exact curve to compare with, drawn dashed; only where it may be shown.
        style: Of the curve; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, the style is none, or confidence_level, target or width is out of
            range.
    """
    usual = {"color": BLUE, "linewidth": 1.8, "label": "released" if curve.private else "exact (not private)"}
    look = styled(style, **usual)
    axes = new_axes(ax)
    edges = _edges(curve.grid)
    if confidence_level is not None:
        band = curve.band(confidence_level, target=target, width=width)
        axes.fill_between(
            edges,
            *band_steps(curve.grid, band.low, band.high),
            step="post",
            color=look["color"],
            alpha=0.22,
            linewidth=0,
            label=f"{100 * confidence_level:.6g} % band, {target}" if "label" not in style else None,
        )
    if truth is not None:
        keep_private(axes)
        axes.step(
            _edges(truth.grid),
            np.concatenate(([0.0], truth.probabilities)),
            where="post",
            color=ORANGE,
            linewidth=1.4,
            linestyle=(0, (5, 2)),
            label="exact (not private)",
            zorder=3,
        )
    axes.step(
        edges,
        np.concatenate(([0.0], curve.probabilities)),
        where="post",
        **look,
    )
    _frame(axes, curve, "Share at or below")
    if confidence_level is not None or truth is not None or "label" in style:
        legend(axes)
    return axes


def plot_steps(curve: Curve, values: Float64, before: float, ax: Any = None) -> Any:
    """Draw one step function on the grid of a curve.

    Args:
        curve: Where grid, column and caption are taken from.
        values: Value at each threshold, shape (N,).
        before: Value below all thresholds.
        ax: Axes to draw into; new ones by default.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed.
    """
    axes = new_axes(ax)
    axes.step(_edges(curve.grid), np.concatenate(([before], values)), where="post", color=BLUE, linewidth=1.8)
    _frame(axes, curve, "Share at or below" if before == 0 else "Share above")
    return axes


def _edges(grid: Grid) -> Any:
    """Where the steps begin: the lower bound, then the thresholds, as matplotlib reads them."""
    return as_dates(grid, np.concatenate(([grid.low], grid.thresholds)))


def as_dates(grid: Grid, numbers: Float64) -> Any:
    """Numbers of a grid as matplotlib reads them: dates where they are dates."""
    match grid.unit:
        case "date":
            return np.floor(numbers).astype(np.int64).astype("datetime64[D]")
        case "datetime":
            return np.floor(numbers).astype(np.int64).astype("datetime64[us]")
        case _:
            return numbers


def _frame(axes: Any, curve: Curve, label: str) -> None:
    axes.set_xlabel(curve.column)
    axes.set_ylabel(label)
    axes.set_ylim(-0.02, 1.02)
    axes.margins(x=0.01)
    caption(axes, f"Distribution of {curve.column}", curve.caption, private=curve.private)
    scale_axis(axes.xaxis, curve.grid)
    lighten(axes, grid="y")


def scale_axis(axis: Any, grid: Grid) -> None:
    """Logarithms on an axis of a geometric grid; short dates on one of dates."""
    if grid.kind == "geometric":
        (axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale)("log")
    if grid.unit != "number":
        dates: Any = importlib.import_module("matplotlib.dates")
        locator = dates.AutoDateLocator()
        axis.set_major_locator(locator)
        axis.set_major_formatter(dates.ConciseDateFormatter(locator))
