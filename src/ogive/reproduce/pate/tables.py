"""How tables are drawn, how exact numbers decide, and what simulated votes leave undecided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ogive.reproduce.verdicts import Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRIVATE_VOTES = "Glyph's votes are not public, and simulated ones decide nothing about them"


def outcome_of(holds: bool) -> Outcome:
    """What a number that no chance enters says of a claim."""
    return Outcome.HOLDS if holds else Outcome.FAILS


def draw_table(figure: Figure, titles: Sequence[str], lines: Sequence[Sequence[str]], *, first: float) -> None:
    """A table of text, its first column as wide as a part `first` of it."""
    axes = figure.subplots()
    axes.set_axis_off()
    others = (1 - first) / (len(titles) - 1)
    table = axes.table(
        [list(titles), *map(list, lines)],
        loc="center",
        cellLoc="right",
        edges="horizontal",
        colWidths=[first] + [others] * (len(titles) - 1),
    )
    table.auto_set_font_size(False)
    table.set_fontsize(8)
    table.scale(1, 1.6)
    for column in range(len(titles)):
        table[0, column].set_height(2 * table[0, column].get_height())
    figure.set_size_inches(12.0, 0.45 * (len(lines) + 3))
