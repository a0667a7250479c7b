"""How tables are drawn, how exact numbers decide, and what simulated votes leave undecided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ogive_papers.verdicts import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PRIVATE_VOTES = "Glyph's votes are not public, and simulated ones decide nothing about them"

_LINE, _HEAD, _TITLE, _BETWEEN = 0.27, 0.62, 0.4, 0.25
"""Heights in inches: of a line, of the column titles, of what stands above the table, and of the gap between two."""


def outcome_of(holds: bool) -> Outcome:
    """What a number that no chance enters says of a claim."""
    return Outcome.HOLDS if holds else Outcome.FAILS


@dataclass(frozen=True)
class TextTable:
    """A table of text.

    Fields:
        titles: Of its columns.
        lines: Texts of every line, shape (lines, columns); dashes stand for gaps.
        first: Width of the first column, as a part of the whole.
    """

    titles: Sequence[str]
    lines: Sequence[Sequence[str]]
    first: float

    @property
    def height(self) -> float:
        """In inches."""
        return _HEAD + _LINE * len(self.lines)


def draw_tables(figure: Figure, *tables: TextTable) -> None:
    """Tables that fill their picture, one below the other."""
    heights = [table.height for table in tables]
    figure.set_size_inches(12.0, sum(heights) + _TITLE + _BETWEEN * (len(tables) - 1))
    panels = figure.subplots(len(tables), 1, squeeze=False, height_ratios=heights).ravel()
    for axes, table in zip(panels, tables, strict=True):
        _draw_table(axes, table)


def _draw_table(axes: Axes, texts: TextTable) -> None:
    from matplotlib.transforms import Bbox

    axes.set_axis_off()
    others = (1 - texts.first) / (len(texts.titles) - 1)
    table = axes.table(
        [list(texts.titles), *([cell or "–" for cell in line] for line in texts.lines)],
        bbox=Bbox.unit(),
        cellLoc="right",
        edges="horizontal",
        colWidths=[texts.first] + [others] * (len(texts.titles) - 1),
    )
    table.auto_set_font_size(False)
    table.set_fontsize(8)
    for (line, column), cell in table.get_celld().items():
        cell.set_height((_LINE if line else _HEAD) / texts.height)
        cell.set_linewidth(0.5)
        if column == 0:
            cell.get_text().set_horizontalalignment("left")
