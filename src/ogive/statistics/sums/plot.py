"""Draw a number with its interval."""

from __future__ import annotations

from typing import Any, Unpack

from ogive.pictures import BLUE, Style, caption, legend, lighten, new_axes, styled
from ogive.statistics.sums.estimate import NumberEstimate
from ogive.statistics.sums.text import counted, level


def draw(estimate: NumberEstimate, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw the number as a point, and its interval as a line.

    Args:
        estimate: What to draw.
        ax: Axes to draw into; new ones by default.
        style: Of the point; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, or the style is none.
    """
    look = styled(style, color=BLUE, linestyle="none", label="released" if estimate.private else "exact")
    axes = new_axes(ax, size=(7.2, 1.9))
    low, high = estimate.interval()
    label = f"{level(estimate)} interval {counted(estimate)}"
    axes.hlines(0.0, low, high, color=look["color"], linewidth=6, alpha=0.35, label=label)
    axes.plot([estimate.value], [0.0], marker="o", markersize=7, **look)
    axes.set_ylim(-1.0, 1.0)
    axes.set_yticks([])
    axes.set_xlabel(f"{estimate.what} of {estimate.subject}")
    caption(axes, f"{estimate.what.capitalize()} of {estimate.subject}", estimate.caption, private=estimate.private)
    lighten(axes)
    legend(axes)
    return axes
