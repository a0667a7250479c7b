"""Draw a histogram: a bar for each category, with its interval; of several groups bars below each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from ogive.errors import ParameterError
from ogive.pictures import BLUE, GRAY, Style, caption, legend, lighten, new_axes, styled
from ogive.statistics.histogram.estimate import HistogramEstimate
from ogive.statistics.histogram.text import level

_ROW, _MARGIN, _TALLEST = 0.32, 1.5, 40.0
_WIDTH = 0.8


def draw(found: HistogramEstimate, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw the share of each category as a bar, and its interval as a line, the first category on top.

    Args:
        found: What to draw.
        ax: Axes to draw into; new ones by default.
        style: Of the bars; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, the style is none, or noise leaves no records.
    """
    look = styled(style, label="released" if found.private else "exact")
    axes = draw_groups((found,), (look.pop("label"),), ax, (BLUE,), look, found.caption)
    legend(axes)
    return axes


def draw_groups(
    estimates: Sequence[HistogramEstimate],
    labels: Sequence[str],
    ax: Any,
    colors: Sequence[str],
    look: Mapping[str, Any],
    clause: str,
) -> Any:
    """Draw the bars of several groups below each other, within each category.

    Args:
        estimates: Of the groups, with the same categories.
        labels: Of the groups, for the legend.
        ax: Axes to draw into; new ones by default.
        colors: Of the groups, over and over.
        look: Of all bars.
        clause: The guarantee.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, or noise leaves no records of any group.
    """
    told = [number for number, each in enumerate(estimates) if each.defined]
    if not told:
        raise ParameterError("noise leaves no records to draw")
    first, bars = estimates[0], len(estimates[0].categories) * len(estimates)
    axes = new_axes(ax, size=(7.2, min(_TALLEST, _MARGIN + _ROW * bars)))
    categories, width = first.categories, _WIDTH / len(estimates)
    for number in told:
        found = estimates[number]
        places = [len(categories) - 1 - place + _WIDTH / 2 - (number + 0.5) * width for place in range(len(categories))]
        mine = {"color": colors[number % len(colors)], "alpha": 0.55, **look}
        axes.barh(places, [100 * share for share in found.shares], height=0.9 * width, label=labels[number], **mine)
        lows, highs = zip(*((100 * low, 100 * high) for low, high in found.intervals()), strict=True)
        name = f"{level(found)} intervals for the population" if number == told[0] else None
        axes.hlines(places, lows, highs, color=GRAY, linewidth=1.6, label=name)
        axes.plot([*lows, *highs], [*places, *places], "|", color=GRAY, markersize=7)
    axes.set_yticks(range(len(categories) - 1, -1, -1), labels=categories, parse_math=False)
    axes.set_ylim(-0.7, len(categories) - 0.3)
    axes.set_xlim(left=0.0)
    axes.set_xlabel("Share of the records (%)")
    axes.set_ylabel(first.column)
    caption(axes, f"Histogram of {first.column}", clause, private=first.private)
    lighten(axes, grid="x")
    return axes
