"""How a panel says that its votes are not those on Glyph, and where its legend stands: both beside what is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ogive_papers.pate.printed import GLYPH
from ogive_papers.pate.stand_in import standing
from ogive_papers.summaries import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def mark_stand_in(axes: Axes, summary: Summary) -> None:
    """Say above a panel, in red, whose votes it shows in place of those on Glyph."""
    mark = f"{standing(summary.rows[0].setting)}, not {GLYPH}"
    axes.set_title(mark, loc="right", color="#c53030", weight="bold")


def legend_below(axes: Axes, *, columns: int) -> None:
    """The legend below a panel, in columns."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=columns, fontsize="small")
