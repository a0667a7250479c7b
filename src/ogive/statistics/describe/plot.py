"""Draw described variables: a panel for each, with the mean or share of every group and its interval."""

from __future__ import annotations

from typing import Any, Unpack

from ogive.pictures import BLUE, GRAY, Style, caption, legend, lighten, new_axes, styled
from ogive.statistics.describe.estimate import DescribeEstimate
from ogive.statistics.describe.lines import columns_of, titles
from ogive.statistics.describe.panels import panels
from ogive.statistics.describe.text import about

_WIDTH = 7.2
_HEAD, _TITLE, _ROW, _TICKS = 0.9, 0.3, 0.24, 0.3
"""Heights in inches: of the picture's title, and of a panel's title, lines and numbers."""

_SMALL, _LARGE = 8, 9
_LEAST = 0.65


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
    look = styled(style, color=BLUE, linestyle="none", label="released" if found.private else "exact")
    label = look.pop("label")
    shown = columns_of(found)
    drawn = panels(found)
    panel_height = _TITLE + _ROW * len(shown) + _TICKS
    axes = new_axes(ax)
    figure = axes.get_figure(root=True)
    if len(figure.get_axes()) == 1:  # a picture of its own is as high as its panels
        figure.set_size_inches(_WIDTH, _HEAD + panel_height * len(drawn))
    axes.set_axis_off()
    inches = axes.get_window_extent().height / figure.dpi
    # letters of panels that share a picture with others are smaller, down to what can be read
    scale = min(1.0, max(_LEAST, inches / (panel_height * len(drawn))))
    names = titles(found)
    left = min(0.3, 0.03 + 0.012 * max(map(len, names)))
    for number, panel in enumerate(drawn):
        bottom = 1 - (number + (_TITLE + _ROW * len(shown)) / panel_height) / len(drawn)
        height = _ROW * len(shown) / panel_height / len(drawn)
        place = axes.inset_axes((left, bottom, 0.98 - left, height))
        for line, point in enumerate(panel.points):
            if point is not None:
                value, low, high = (number * (100 if panel.share else 1) for number in point)
                place.hlines(line, low, high, color=look["color"], linewidth=5, alpha=0.35)
                place.plot([value], [line], marker="o", markersize=5, **look)
        place.set_yticks(range(len(shown)), names, parse_math=False, fontsize=scale * _SMALL)
        place.set_ylim(len(shown) - 0.5, -0.5)
        place.tick_params(labelsize=scale * _SMALL, pad=3 * scale)
        title = f"{panel.name}, {'%' if panel.share else 'mean'}"
        place.set_title(title, loc="left", fontsize=scale * _LARGE, pad=5 * scale, color=GRAY, parse_math=False)
        lighten(place, grid="x")
    (sure, *_) = (variable.confidence_level for variable in found)
    axes.plot([], [], marker="o", markersize=5, **look, label=f"{label}, with {100 * sure:.6g} % CI")
    legend(axes)
    title = about(found)
    caption(axes, f"{title[0].upper()}{title[1:]}", found.caption, private=found.private)
    return axes
