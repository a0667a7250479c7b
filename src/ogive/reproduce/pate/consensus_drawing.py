"""Panels of Figures 1 and 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ogive.reproduce.pate.consensus import (
    ANSWERED,
    ASKED_IN,
    CHECKS,
    COMPARED,
    COST_IN,
    JOINT,
    LAPLACE,
    PAPER,
    RIGHT,
    SHARES,
    in_bin,
)
from ogive.reproduce.summaries import Cell, Row, Summary, scaled
from ogive.reproduce.ustatistics.drawing import COLORS, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STUDENTS = {
    "LNMax": ((500, 43.3), (1000, 59.8), (2000, 68.8), (4000, 72.6), (6000, 73.7)),
    "Confident-GNMax": ((456, 39.6), (908, 59.6), (1818, 69.6), (3602, 72.7), (5422, 73.4)),
}
"""The paper's students of Glyph: answers and percent right. They are quoted; none is trained here."""

FEWEST = 10
"""Queries of a bin, on average, from which its part that passes is told."""


def draw_labels(axes: Axes, summary: Summary, mechanisms: Sequence[str]) -> None:
    """Labels that are right, and the accuracy of the paper's students, against answers."""
    for number, name in enumerate(mechanisms):
        rows = _ordered(summary.where(mechanism=name), "asked")
        look: Any = {"color": COLORS[number], "marker": MARKERS[number]}
        answers = [row.cells[ANSWERED].mean for row in rows]
        axes.plot(answers, [100 * row.cells[RIGHT].mean for row in rows], label=f"{name}, labels", **look)
        places, accuracies = zip(*STUDENTS[name], strict=True)
        axes.plot(places, accuracies, linestyle=":", label=f"{name}, students (quoted)", **look)
    axes.set(xlabel="answers", ylabel="percent right", title="accuracy")
    axes.legend(fontsize="x-small")


def draw_prices(axes: Axes, summary: Summary, mechanisms: Sequence[str], *, checks: bool) -> None:
    """Epsilon against answers, with the part of the checks shaded."""
    for number, name in enumerate(mechanisms):
        rows = _ordered(summary.where(mechanism=name), "asked")
        answers = [row.cells[ANSWERED].mean for row in rows]
        paper = [row.cells[PAPER].mean for row in rows]
        axes.plot(answers, paper, color=COLORS[number], marker=MARKERS[number], label=name)
        joint = [row.cells[JOINT].mean for row in rows]
        axes.plot(answers, joint, color=COLORS[number], linestyle=":", label=f"{name}, joint")
        if checks and name != LAPLACE:
            spent = [price * row.cells[CHECKS].mean for price, row in zip(paper, rows, strict=True)]
            axes.fill_between(answers, 0, spent, color=COLORS[number], alpha=0.15)
    axes.set(xlabel="answers", ylabel="epsilon at delta 1e-8", title="price", ylim=(0, None))
    axes.legend(fontsize="x-small")


def draw_shares(axes: Axes, summary: Summary) -> None:
    """Answers by the share of the plurality, and dots for what an answer of the bin costs."""
    bins, cells = _bins(summary)
    middles = [(place + 0.5) / bins for place in range(bins)]
    for number, name in enumerate(COMPARED):
        heights = [cells[in_bin(ANSWERED, place, bins, name)].mean for place in range(bins)]
        width = 0.9 * (1 - 0.25 * number) / bins
        axes.bar(middles, heights, width=width, color=COLORS[number], alpha=0.7, label=name)
    costs = axes.twinx()
    known = [place for place in range(bins) if in_bin(COST_IN, place, bins) in cells]
    costs.plot(
        [middles[place] for place in known], [cells[in_bin(COST_IN, place, bins)].mean for place in known],
        color=COLORS[-1], marker="o", linestyle="",
    )  # fmt: skip
    costs.grid(visible=False)
    costs.set_ylabel("log10 of the mean cost of an answer, order 50 (dots)", fontsize="small")
    axes.set(xlabel="share of the plurality", ylabel="answers", title="consensus")
    axes.legend(fontsize="x-small", loc="center left")


def pass_rates(summary: Summary, mechanism: str) -> Sequence[Cell]:
    """The part of every bin's queries that is answered, by bin; bins of few queries are left out."""
    bins, cells = _bins(summary)
    asked = [cells[in_bin(ASKED_IN, place, bins)].mean for place in range(bins)]
    return [
        scaled(cells[in_bin(ANSWERED, place, bins, mechanism)], 1 / asked[place])
        for place in range(bins)
        if asked[place] >= FEWEST
    ]


def _bins(summary: Summary) -> tuple[int, Mapping[str, Cell]]:
    (row,) = summary.where(panel=SHARES).rows
    return int(row.setting["bins"]), row.cells


def _ordered(summary: Summary, axis: str) -> list[Row]:
    return sorted(summary.rows, key=lambda row: float(row.setting[axis]))
