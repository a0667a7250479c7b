"""Draw bounds on the noisy counts that they were found in."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from ogive.pictures import BLUE, GRAY, ORANGE, Style, caption, legend, lighten, new_axes, styled
from ogive.statistics.bounds.estimate import BoundsEstimate

_MOST_TICKS = 8


def draw(estimate: BoundsEstimate, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw how many records each order of magnitude seems to hold, and the bounds.

    Args:
        estimate: What to draw.
        ax: Axes to draw into; new ones by default.
        style: Of the bars; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, or the style is none.
    """
    look = styled(style, color=BLUE, label="records, with noise" if estimate.private else "records")
    axes = new_axes(ax)
    counts, ends = np.array(estimate.counts), estimate.grid.thresholds
    held = np.flatnonzero(counts >= estimate.threshold)
    # beyond the magnitudes that stand out there is nothing but noise
    first, last = (int(held[0]), int(held[-1])) if len(held) else (0, len(counts) - 1)
    margin = max(2, (last - first) // 2)
    places = np.arange(max(0, first - margin), min(len(counts), last + margin + 1))
    axes.bar(places, counts[places], width=0.85, **look)
    if estimate.private:
        line = {"color": GRAY, "linewidth": 1, "linestyle": (0, (5, 2))}
        axes.axhline(estimate.threshold, **line, label="more than noise alone")
    if estimate.defined:
        axes.axvline(first - 0.5, color=ORANGE, linewidth=1.6, label="bounds")
        axes.axvline(last + 0.5, color=ORANGE, linewidth=1.6)
    step = max(1, -(-len(places) // _MOST_TICKS))
    axes.set_xticks(places[::step] + 0.5, [f"{ends[place]:.3g}" for place in places[::step]])
    axes.set_xlabel(f"{estimate.column}, upper ends of the magnitudes")
    axes.set_ylabel("Records")
    caption(axes, f"Bounds of {estimate.column}", estimate.caption, private=estimate.private)
    lighten(axes, grid="y")
    axes.set_ylim(top=1.45 * max(1, estimate.threshold, int(counts[places].max())))
    legend(axes)
    return axes
