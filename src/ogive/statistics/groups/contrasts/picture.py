"""A contrast as a point with its interval, beside the value at which the groups are alike."""

from __future__ import annotations

import math
from typing import Any, Unpack

from ogive.errors import ParameterError
from ogive.showing.pictures import Style, caption, intervals, lighten, new_axes
from ogive.statistics.groups.contrasts.contrast import Contrast


def draw(found: Contrast, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw the value, its interval, and a line where there is no difference."""
    if not all(map(math.isfinite, (found.value, found.low, found.high))):
        raise ParameterError(f"noise leaves no number to draw of the {found.head}")
    axes = new_axes(ax, size=(7.2, 2.6))
    sign = "\u2212" if found.kind == "difference" else "/"
    intervals(axes, [f"{found.group} {sign} {found.other}"], [found.value], [found.interval], style)
    axes.axvline(0 if found.kind == "difference" else 1, color="0.6", linewidth=1, linestyle="--", zorder=0)
    axes.set_xlabel(f"{found.kind} of the {found.what}, with {100 * found.confidence_level:.6g} % interval")
    axes.set_ylabel(found.by)
    caption(axes, f"{found.head[0].upper()}{found.head[1:]}", found.caption, private=found.private)
    lighten(axes, grid="x")
    return axes
