"""Draw quantiles with their intervals."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from ogive.pictures import BLUE, Style, caption, legend, lighten, new_axes, styled
from ogive.statistics.curve.plot import as_dates, scale_axis
from ogive.statistics.quantiles.estimate import QuantileEstimates


def draw(estimate: QuantileEstimates, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw each quantile at its probability, with its interval; none where noise leaves no records.

    Args:
        estimate: What to draw.
        ax: Axes to draw into; new ones by default.
        style: Of the points; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, or the style is none.
    """
    look = styled(style, color=BLUE, linestyle="none", label="released" if estimate.private else "exact")
    axes = new_axes(ax)
    told = slice(None) if estimate.told else slice(0)
    shares, grid = np.array(estimate.probabilities)[told], estimate.grid
    numbers, low, high = (
        as_dates(grid, np.array(ends, dtype=np.float64)[told])
        for ends in (estimate.numbers, estimate.low, estimate.high)
    )
    label = f"{100 * estimate.confidence_level:.6g} % intervals"
    axes.hlines(shares, low, high, color=look["color"], linewidth=6, alpha=0.35, label=label)
    axes.plot(numbers, shares, marker="o", markersize=6, **look)
    axes.set_ylim(-0.05, 1.05)
    axes.set_xlabel(estimate.column)
    axes.set_ylabel("Probability")
    caption(axes, f"Quantiles of {estimate.column}", estimate.caption, private=estimate.private)
    scale_axis(axes.xaxis, grid)
    lighten(axes)
    legend(axes)
    return axes
