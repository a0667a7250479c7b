"""How tables are drawn, how exact numbers decide, and what simulated votes leave undecided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ogive.reproduce.verdicts import Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRIVATE_VOTES = "Glyph's votes are not public, and simulated ones decide nothing about them"

_LINE, _HEAD, _TITLE = 0.27, 0.62, 0.4
"""Heights in inches: of a line, of the column titles, and of what stands above the table."""


def outcome_of(holds: bool) -> Outcome:
    """What a number that no chance enters says of a claim."""
    return Outcome.HOLDS if holds else Outcome.FAILS


def draw_table(figure: Figure, titles: Sequence[str], lines: Sequence[Sequence[str]], *, first: float) -> None:
    """A table of text that fills its picture, its first column a part `first` of it; dashes stand for gaps."""
    from matplotlib.transforms import Bbox

    height = _HEAD + _LINE * len(lines)
    figure.set_size_inches(12.0, height + _TITLE)
    axes = figure.subplots()
    axes.set_axis_off()
    others = (1 - first) / (len(titles) - 1)
    table = axes.table(
        [list(titles), *([cell or "–" for cell in line] for line in lines)],
        bbox=Bbox.unit(),
        cellLoc="right",
        edges="horizontal",
        colWidths=[first] + [others] * (len(titles) - 1),
    )
    table.auto_set_font_size(False)
    table.set_fontsize(8)
    for (line, column), cell in table.get_celld().items():
        cell.set_height((_LINE if line else _HEAD) / height)
        cell.set_linewidth(0.5)
        if column == 0:
            cell.get_text().set_horizontalalignment("left")
