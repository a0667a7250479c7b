"""How a panel says that its votes are simulated, and where its legend stands: both beside what is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ogive.reproduce.pate.printed import GLYPH

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARK = f"SIMULATED, not {GLYPH}"


def mark_simulated(axes: Axes) -> None:
    """Say above a panel, in red, that it shows no votes on Glyph."""
    axes.set_title(MARK, loc="right", color="#c53030", weight="bold")


def legend_below(axes: Axes, *, columns: int) -> None:
    """The legend below a panel, in columns."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=columns, fontsize="small")
