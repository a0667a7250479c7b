"""Table 1: exponents with which the squared error was seen to grow, beside those that the paper proves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ogive_papers.items import TABLE, Item
from ogive_papers.summaries import Cell, Summary, difference
from ogive_papers.ustatistics.orders import BASE, BOUND, CODE, ERROR, SPLITS, settings, squared_errors
from ogive_papers.verdicts import Check, above, below, every, show

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROVED: Mapping[str, Mapping[str, float]] = {
    "budget, basic": {"levels": 3, "people": -1, "epsilon": -2},
    "budget, advanced": {"levels": 2, "people": -1, "epsilon": -2},
    "users": {"levels": 2, "people": -1, "epsilon": -2},
}
"""Exponents of the paper's orders, for users of that against the population."""

ROOM = 0.7
"""An exponent agrees if it is not more than this above the proved one; orders are upper bounds."""


def exponent(summary: Summary, split: str, name: str, quantity: str) -> Cell:
    """Slope of the logarithm of a quantity over a parameter's, between its ends, the others being `BASE`'s."""
    rest = {other: value for other, value in BASE.items() if other != name}
    places, cells = summary.where(split=split, **rest).series(name, quantity)
    low, high, reach = cells[0], cells[-1], math.log(places[-1] / places[0])
    return Cell(
        math.log(high.mean / low.mean) / reach,
        math.hypot(high.error / high.mean, low.error / low.mean) / reach,
        math.log(high.median / low.median) / reach,
        min(low.runs, high.runs),
    )


def _scanned(summary: Summary) -> tuple[str, ...]:
    return tuple(name for name in BASE if len({row.setting[name] for row in summary.rows}) > 1)


def judge(summary: Summary) -> tuple[Check, ...]:
    """Compare exponents with Table 1."""
    checks = []
    for name in _scanned(summary):
        result = {split: exponent(summary, split, name, ERROR) for split in PROVED}
        checks.append(
            Check(
                f"the squared error grows with {name} at most as proved, to the power of "
                + ", ".join(f"{PROVED[split][name]:g} ({split})" for split in PROVED),
                every([below(cell, PROVED[split][name] + ROOM) for split, cell in result.items()]),
                ", ".join(f"{show(cell)} ({split})" for split, cell in result.items()),
            )
        )
    rows = {split: summary.where(split=split, **BASE).rows[0].cells for split in SPLITS}
    steeper = difference(
        exponent(summary, "budget, basic", "levels", ERROR), exponent(summary, "users", "levels", ERROR)
    )
    return (
        *checks,
        Check(
            "a split budget under basic composition grows faster with levels than split users do",
            above(steeper, 0.0),
            f"exponents differ by {show(steeper)}",
        ),
        Check(
            "corrected: at these few levels advanced composition is worse than basic, in spite of its better order",
            above(difference(rows["budget, advanced"][ERROR], rows["budget, basic"][ERROR]), 0.0),
            _errors(rows),
            essential=False,
        ),
        Check(
            "beyond the paper: exact composition is better than advanced",
            below(difference(rows["budget, exact"][ERROR], rows["budget, advanced"][ERROR]), 0.0),
            _errors(rows),
            essential=False,
        ),
        Check(
            "every squared error is below the corrected bound of Theorem 3",
            every([below(difference(row.cells[ERROR], row.cells[BOUND]), 0.0) for row in summary.rows]),
            _errors(rows, BOUND),
        ),
    )


def _errors(rows: Mapping[str, Mapping[str, Cell]], quantity: str = ERROR) -> str:
    return f"{quantity}: " + ", ".join(f"{show(cells[quantity])} ({split})" for split, cells in rows.items())


def draw(summary: Summary, figure: Figure) -> None:
    """Exponents as proved and as found."""
    axes = figure.subplots()
    axes.set_axis_off()
    names = _scanned(summary)
    lines = []
    for split in SPLITS:
        line = [split]
        for name in names:
            proved = PROVED.get(split, {}).get(name)
            cell = exponent(summary, split, name, ERROR)
            line += ["" if proved is None else f"{proved:g}", f"{cell.mean:.2f} ± {cell.error:.2f}"]
        lines.append(line)
    titles = [f"{name},\n{how}" for name in names for how in ("proved", "found")]
    axes.set_title("to which power of each number the squared error grows")
    table = axes.table([["split", *titles], *lines], loc="center", cellLoc="right", edges="horizontal")
    table.scale(1, 2.2)
    figure.set_size_inches(9.0 + len(names), 0.55 * (len(lines) + 3))


TABLE_1 = Item(
    "ustatistics", TABLE, 1, "orders of the AUC protocol's error for each way to split, as proved and as found",
    settings, squared_errors, draw, judge, CODE, usual_runs=100,
)  # fmt: skip
