"""Draw one number with its intervals."""

from __future__ import annotations

import math
from typing import Any, Unpack

from ogive.errors import ParameterError
from ogive.pictures import GRAY, Style, caption, intervals, lighten, new_axes
from ogive.statistics.confidence import TARGETS
from ogive.statistics.ustatistic.estimate import UstatisticEstimate


def draw(found: UstatisticEstimate, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw a value as a point, with its intervals for the population and for these records.

    A value that noise moved out of what is possible is an empty point at the nearest possible one.

    Args:
        found: What to draw.
        ax: Axes to draw into; new ones by default.
        style: Of the intervals; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, the style is none, or the value is undefined.
    """
    if not math.isfinite(found.value):
        if found.private:
            raise ParameterError(
                "noise leaves this value undefined, so there is nothing to draw; use a larger privacy budget"
            )
        raise ParameterError("these records leave this value undefined, so there is nothing to draw")
    axes = new_axes(ax)
    least, most = found.limits
    place = min(max(found.value, least), most) if found.private else found.value
    moved = place != found.value
    level = f"{100 * found.confidence_level:.6g} % interval"
    ends = [found.interval(target=target) for target in TARGETS]
    intervals(axes, ["for the\npopulation", "for these\nrecords"], [place] * len(ends), ends, style, hollow=moved)
    axes.axvline(place, color=GRAY, linewidth=0.8, linestyle=(0, (5, 2)))
    low, high = found.interval()
    room = 0.6 * (high - low) or 0.05 * (abs(place) or 1.0)
    axes.set_xlim(min(low, place) - room, max(high, place) + room)
    for end in found.limits:
        if math.isfinite(end):
            axes.axvline(end, color=GRAY, linewidth=1.2)
    note = f"; noise moved it to {found.value:.4g}, drawn at the nearest possible value" if moved else ""
    axes.set_xlabel(f"{found.title} ({level}{note})")
    caption(axes, found.title, found.caption, private=found.private)
    lighten(axes, grid="x")
    return axes
