"""Draw a cross table: a bar of each row's shares for each column, with its interval."""

from __future__ import annotations

import math
from typing import Any, Unpack

from ogive.errors import ParameterError
from ogive.pictures import GRAY, Style, caption, legend, lighten, new_axes, styled
from ogive.statistics.crosstab.estimate import CrosstabEstimate
from ogive.statistics.crosstab.text import independence, level

_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_ROW, _MARGIN, _TALLEST, _WIDTH = 0.3, 1.9, 40.0, 0.8


def draw(found: CrosstabEstimate, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw within each row of the table a bar for each column: its share of the row, with the interval.

    Args:
        found: What to draw.
        ax: Axes to draw into; new ones by default.
        style: Of all bars; the label stands before the names of columns; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, the style is none, or noise leaves no records.
    """
    look = styled(style, alpha=0.55)
    if not found.defined:
        raise ParameterError("noise leaves no records to draw")
    before = f"{look.pop('label')}, " if "label" in look else ""
    rows, columns = found.shape
    axes = new_axes(ax, size=(7.2, min(_TALLEST, _MARGIN + _ROW * rows * columns)))
    width, shares, intervals = _WIDTH / columns, found.row_shares, found.row_share_intervals()
    for number, name in enumerate(found.column_names):
        places = [rows - 1 - row + _WIDTH / 2 - (number + 0.5) * width for row in range(rows)]
        bars = [0.0 if math.isnan(row[number]) else 100 * row[number] for row in shares]
        mine = {"color": _COLORS[number % len(_COLORS)], **look}
        axes.barh(places, bars, height=0.9 * width, label=f"{before}{found.column} = {name}", **mine)
        lows, highs = zip(*((100 * row[number][0], 100 * row[number][1]) for row in intervals), strict=True)
        axes.hlines(
            places, lows, highs, color=GRAY, linewidth=1.6, label=f"{level(found)} intervals" if not number else None
        )
    axes.set_yticks(range(rows - 1, -1, -1), labels=found.row_names, parse_math=False)
    axes.set_ylim(-0.7, rows - 0.3)
    axes.set_xlim(left=0.0)
    axes.set_xlabel(f"Share of the row (%); {independence(found)}")
    axes.set_ylabel(found.row)
    caption(axes, f"{found.row} by {found.column}", found.caption, private=found.private)
    lighten(axes, grid="x")
    legend(axes)
    return axes
