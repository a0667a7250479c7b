"""Panels of Figures 1 and 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ogive_papers.pate.consensus import (
    ANSWERED,
    ASKED_IN,
    CHECKS,
    COMPARED,
    COST_IN,
    JOINT,
    PAPER,
    RIGHT,
    SHARES,
    STUDENT,
    in_bin,
)
from ogive_papers.pate.marks import legend_below, mark_stand_in
from ogive_papers.summaries import Cell, Row, Summary, scaled
from ogive_papers.ustatistics.drawing import COLORS, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STUDENTS = {
    "LNMax": ((500, 43.3), (1000, 59.8), (2000, 68.8), (4000, 72.6), (6000, 73.7)),
    "Confident-GNMax": ((456, 39.6), (908, 59.6), (1818, 69.6), (3602, 72.7), (5422, 73.4)),
}
"""The paper's students of Glyph: answers and percent right. They are quoted."""

BUDGET = (1 / 3, 1 / 2)
"""What part of the budget the paper says that checks take."""

FEWEST = 10
"""Queries of a bin, on average, from which its part that passes is told."""


def draw_labels(axes: Axes, summary: Summary, mechanisms: Sequence[str]) -> None:
    """Labels that are right, against answers."""
    for number, name in enumerate(mechanisms):
        rows = _ordered(summary.where(mechanism=name), "asked")
        axes.plot(_means(rows, ANSWERED), [100 * mean for mean in _means(rows, RIGHT)], label=name, **_look(number))
    axes.set(xlabel="answers", ylabel="labels that are right, percent", title="labels")
    _finish(axes, summary)


def draw_students(axes: Axes, summary: Summary) -> None:
    """The accuracy of students of characters where there are some, and of the paper's, against answers."""
    trained = any(STUDENT in row.cells for row in summary.rows)
    for number, name in enumerate(STUDENTS if trained else ()):
        rows = _ordered(summary.where(mechanism=name), "asked")
        axes.plot(_means(rows, ANSWERED), [100 * mean for mean in _means(rows, STUDENT)], label=name, **_look(number))
    for number, (name, students) in enumerate(STUDENTS.items()):
        answers, accuracies = zip(*students, strict=True)
        look = _look(number) | ({"linestyle": ":", "markerfacecolor": "white"} if trained else {})
        axes.plot(answers, accuracies, label=f"{name}, the paper's, quoted", **look)
    axes.set(xlabel="answers", ylabel="students' accuracy, percent", title="students")
    if trained:
        mark_stand_in(axes, summary)
    legend_below(axes, columns=2)


def draw_prices(axes: Axes, summary: Summary, mechanisms: Sequence[str]) -> None:
    """Epsilon against answers, by the paper's accounting and by ours."""
    for number, name in enumerate(mechanisms):
        rows = _ordered(summary.where(mechanism=name), "asked")
        answers = _means(rows, ANSWERED)
        axes.plot(answers, _means(rows, PAPER), label=f"{name}, the paper's accounting", **_look(number))
        axes.plot(answers, _means(rows, JOINT), color=COLORS[number], linestyle=":", label=f"{name}, joint")
    axes.set(xlabel="answers", ylabel="epsilon at delta 1e-8", title="price", ylim=(0, None))
    _finish(axes, summary)


def draw_checks(axes: Axes, summary: Summary, mechanisms: Sequence[str]) -> None:
    """What part of the Renyi cost is that of checks, and what the paper says of it."""
    for number, name in enumerate(COMPARED):
        if name in mechanisms:
            rows = _ordered(summary.where(mechanism=name), "asked")
            axes.plot(_means(rows, ANSWERED), _means(rows, CHECKS), label=name, **_look(number))
    axes.axhspan(*BUDGET, color="#d9dee4", label="the paper: a third to a half")
    axes.set(xlabel="answers", ylabel="part of checks in the Renyi cost", title="checks", ylim=(0, 1.05))
    _finish(axes, summary)


def draw_shares(axes: Axes, summary: Summary) -> None:
    """Answers by the share of the plurality, and dots for what an answer of the bin costs."""
    bins, cells = _bins(summary)
    middles = [(place + 0.5) / bins for place in range(bins)]
    for number, name in enumerate(COMPARED):
        heights = [cells[in_bin(ANSWERED, place, bins, name)].mean for place in range(bins)]
        width = 0.9 * (1 - 0.3 * number) / bins
        axes.bar(middles, heights, width=width, color=COLORS[number], label=name)
    costs = axes.twinx()
    known = [place for place in range(bins) if in_bin(COST_IN, place, bins) in cells]
    dots: Any = {"color": "black", "marker": "o", "linestyle": "", "markersize": 6, "markeredgecolor": "white"}
    costs.plot(
        [middles[place] for place in known], [cells[in_bin(COST_IN, place, bins)].mean for place in known], **dots
    )
    costs.grid(visible=False)
    costs.spines["right"].set_visible(True)
    costs.set_ylabel("log10 of the mean Renyi cost")
    axes.plot([], [], label="cost of an answer, order 50 (right axis)", **dots)
    axes.set_axisbelow(True)
    axes.set(xlabel="share of the plurality", ylabel="answers", title="consensus")
    _finish(axes, summary)


def draw_passing(axes: Axes, rates: Mapping[str, Mapping[int, Cell]], bins: int) -> None:
    """The part of real queries that passes a check, by the share of the plurality, for every data set."""
    for number, (title, result) in enumerate(rates.items()):
        middles = [(place + 0.5) / bins for place in result]
        axes.plot(middles, [cell.mean for cell in result.values()], label=title, **_look(number))
    axes.set(xlabel="share of the plurality", ylabel="part that passes the check", xlim=(0, 1), ylim=(0, 1.05))
    axes.set_title("real votes, the checks of Table 1")
    legend_below(axes, columns=2)


def pass_rates(summary: Summary, mechanism: str) -> Sequence[Cell]:
    """The part of every bin's queries that is answered, by bin; bins of few queries are left out."""
    bins, cells = _bins(summary)
    return list(passing(cells, bins, mechanism).values())


def passing(cells: Mapping[str, Cell], bins: int, mechanism: str) -> dict[int, Cell]:
    """The part of every bin's queries that is answered, by number of the bin; bins of few queries are left out."""
    asked = [cells[in_bin(ASKED_IN, place, bins)].mean for place in range(bins)]
    return {
        place: scaled(cells[in_bin(ANSWERED, place, bins, mechanism)], 1 / asked[place])
        for place in range(bins)
        if asked[place] >= FEWEST
    }


def _finish(axes: Axes, summary: Summary) -> None:
    mark_stand_in(axes, summary)
    legend_below(axes, columns=2)


def _look(number: int) -> Any:
    return {"color": COLORS[number], "marker": MARKERS[number]}


def _means(rows: Sequence[Row], quantity: str) -> list[float]:
    return [row.cells[quantity].mean for row in rows]


def _bins(summary: Summary) -> tuple[int, Mapping[str, Cell]]:
    (row,) = summary.where(panel=SHARES).rows
    return int(row.setting["bins"]), row.cells


def _ordered(summary: Summary, axis: str) -> list[Row]:
    return sorted(summary.rows, key=lambda row: float(row.setting[axis]))
