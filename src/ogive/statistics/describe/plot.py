"""Draw described variables: a panel for each, with the mean or share of every group and its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from ogive.pictures import BLUE, GRAY, Style, caption, lighten, new_axes, styled
from ogive.statistics.describe.estimate import DescribeEstimate
from ogive.statistics.describe.lines import columns_of, label_of, titles
from ogive.statistics.describe.text import about
from ogive.statistics.describe.variables import Number
from ogive.statistics.sums.estimate import ProportionEstimate

_WIDTH = 7.2
_HEAD, _TITLE, _ROW, _TICKS = 0.9, 0.3, 0.24, 0.3
"""Heights in inches: of the picture's title, and of a panel's title, lines and numbers."""

_SMALL = 8


def draw(found: DescribeEstimate, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw means and shares, each variable on an axis of its own.

    Args:
        found: What to draw.
        ax: Axes whose place the panels take; new ones by default.
        style: Of the points; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, or the style is none.
    """
    look = styled(style, color=BLUE, linestyle="none", label="")
    shown = columns_of(found)
    panel_height = _TITLE + _ROW * len(shown) + _TICKS
    axes = new_axes(ax)
    figure = axes.get_figure(root=True)
    if len(figure.get_axes()) == 1:  # a picture of its own is as high as its panels
        figure.set_size_inches(_WIDTH, _HEAD + panel_height * len(found))
    axes.set_axis_off()
    names = titles(found)
    left = min(0.3, 0.03 + 0.012 * max(map(len, names)))
    for number, variable in enumerate(found):
        bottom = 1 - (number + (_TITLE + _ROW * len(shown)) / panel_height) / len(found)
        height = _ROW * len(shown) / panel_height / len(found)
        panel = axes.inset_axes((left, bottom, 0.98 - left, height))
        part = "mean" if isinstance(variable, Number) else "proportion"
        _draw_groups(panel, [found.of(variable.column, group)[part] for group in shown], look)
        panel.set_yticks(range(len(shown)), names, parse_math=False, fontsize=_SMALL)
        panel.set_ylim(len(shown) - 0.5, -0.5)
        panel.tick_params(labelsize=_SMALL)
        unit = "mean" if part == "mean" else "%"
        panel.set_title(f"{label_of(variable)}, {unit}", loc="left", fontsize=9, color=GRAY, parse_math=False)
        lighten(panel, grid="x")
    title = about(found)
    caption(axes, f"{title[0].upper()}{title[1:]}", found.caption, private=found.private)
    return axes


def _draw_groups(panel: Any, estimates: Sequence[Any], look: dict[str, Any]) -> None:
    """A point with its interval in each line."""
    for place, estimate in enumerate(estimates):
        if not estimate.defined:
            continue
        scale = 100 if isinstance(estimate, ProportionEstimate) else 1
        low, high = (scale * each for each in estimate.interval())
        panel.hlines(place, low, high, color=look["color"], linewidth=5, alpha=0.35)
        panel.plot([scale * estimate.value], [place], marker="o", markersize=5, **look)
