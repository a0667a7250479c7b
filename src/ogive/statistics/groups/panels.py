"""Small multiples: many groups side by side, each in axes of its own with the same scales."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ogive.pictures import heading_of, new_figure
from ogive.statistics.groups.estimate import GroupEstimates
from ogive.statistics.groups.text import about

MOST_TOGETHER, MOST_PANELS = 4, 60
"""Groups whose curves and bands are still told apart in one picture, and most that a page of panels holds."""

_COLUMNS = 3
_WIDTH, _HEIGHT, _ABOVE = 3.3, 2.5, 0.8
"""Inches of one panel, and of what stands above all."""


def draw_panels(
    found: GroupEstimates[Any], draw: Callable[..., Any], names: Sequence[str], style: dict[str, Any]
) -> Any:
    """Draw each group into axes of its own; the guarantee stands above them once.

    Args:
        found: What to draw.
        draw: Draws one estimate into axes.
        names: Of the groups, in their order.
        style: Of every main mark.

    Returns:
        The axes of the first group; its figure has them all.
    """
    number = len(found.groups)
    columns = _COLUMNS if number > _COLUMNS + 1 else 2
    rows = -(-number // columns)
    figure = new_figure((columns * _WIDTH, rows * _HEIGHT + _ABOVE))
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for place, (axes, name, estimate) in enumerate(zip(panels.flat, names, found.estimates, strict=False)):
        draw(estimate, axes, **style)
        shown = dict.fromkeys(axes.get_legend_handles_labels()[1])
        if axes.get_legend() is not None:
            axes.get_legend().remove()
        heading_of(axes).only(name)
        if place + columns < number:
            axes.set_xlabel("")
            axes.tick_params(labelbottom=False)
        else:
            axes.tick_params(labelbottom=True)
        if place % columns:
            axes.set_ylabel("")
    for axes in panels.flat[number:]:
        axes.remove()
    title = about(found)
    heading = f"{title[0].upper()}{title[1:]} by {found.by}: {'; '.join(shown)}\n{found.caption}"
    figure.suptitle(heading, fontsize=9.5, x=0.01, ha="left", parse_math=False, wrap=True)
    return panels.flat[0]
