"""Draw areas between groups: a table of all pairs, colored by how far from chance each is."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from ogive.errors import ParameterError
from ogive.pictures import GRAY, Style, caption, legend, new_axes, styled
from ogive.statistics.group_auc.estimate import GroupAucEstimate
from ogive.statistics.group_auc.text import level, told

_COLORS = "RdYlBu"
_OPACITY, _LEAST, _CELL, _FRAME = 0.8, 3.6, 1.3, 0.94
_MOST_SHOWN = 8
"""Groups of a table whose cells have room for intervals."""


def draw(found: GroupAucEstimate, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw the area of every pair of groups as a colored table: red below chance, blue above.

    Args:
        found: What to draw.
        ax: Axes to draw into; new ones by default.
        style: Of the frame of the areas within a group; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, the style is none, or noise leaves no area.
    """
    look = styled(style, color=GRAY, linewidth=1.6, label="within a group")
    if not found.defined:
        raise ParameterError("noise leaves no areas to draw")
    count = len(found.names)
    axes = new_axes(ax, size=(_LEAST + _CELL * count, _LEAST + 0.6 * count))
    shown = np.ma.masked_invalid(found.auc)
    axes.imshow(shown, cmap=_COLORS, vmin=0.0, vmax=1.0, alpha=_OPACITY, aspect="auto")
    for row, areas in enumerate(found.table()):
        for column, area in enumerate(areas):
            text = told(area).replace(" (", "\n(", 1) if count <= _MOST_SHOWN else told(area).split(" ")[0]
            axes.text(column, row, text, ha="center", va="center", fontsize=8, color="black", parse_math=False)
    from matplotlib.patches import Rectangle

    label, color = look.pop("label"), look.pop("color")
    for place in range(count):
        corner = place - _FRAME / 2
        named = None if place else label
        frame = Rectangle((corner, corner), _FRAME, _FRAME, fill=False, edgecolor=color, label=named, **look)
        axes.add_patch(frame)
    for set_ticks in (axes.set_xticks, axes.set_yticks):
        set_ticks(range(count), labels=found.names, parse_math=False)
    axes.set_xlabel(f"Negatives of {found.group.column} ({level(found)} intervals)")
    axes.set_ylabel(f"Positives of {found.group.column}")
    title = f"AUC of {found.score.column} for {found.label.column} between groups"
    caption(axes, title, found.caption, private=found.private)
    legend(axes)
    return axes
