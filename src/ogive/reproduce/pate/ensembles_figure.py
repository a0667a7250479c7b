"""Figure 4: what the paper says of Gaussian against Laplace noise and of larger ensembles, and its two panels."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from ogive.reproduce.items import FIGURE, Item
from ogive.reproduce.pate.ensembles import (
    CODE,
    COMPARED,
    EPSILON,
    GAUSSIAN,
    LAPLACE,
    LOST,
    measure,
    settings,
)
from ogive.reproduce.pate.printed import GLYPH
from ogive.reproduce.pate.stand_in import simulated
from ogive.reproduce.pate.tables import PRIVATE_VOTES
from ogive.reproduce.simulated import stamp
from ogive.reproduce.summaries import Row, Summary, difference
from ogive.reproduce.ustatistics.drawing import COLORS, MARKERS
from ogive.reproduce.verdicts import Check, Outcome, above, below, every, show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOM = {EPSILON: 0.01, LOST: 0.001}
"""Differences that count as none: where no ensemble agrees, or every one does, they are by chance."""


def judge(summary: Summary) -> tuple[Check, ...]:
    """Compare with Section 4.2 and Appendix A; what is found on simulated votes is no proof of what Glyph's do."""
    return (
        Check(
            f"{GLYPH}: accuracy of 4000 aggregated labels against epsilon, at the paper's numbers",
            Outcome.UNDECIDED,
            f'{PRIVATE_VOTES}; the text\'s "left of Figure 1" is the left panel of this figure',
        ),
        _noises(summary),
        *_sizes(summary),
    )


def _noises(summary: Summary) -> Check:
    """At the accuracy of each Laplace noise, what Gaussian noise of that accuracy costs."""
    gaussian = sorted(summary.where(mechanism=GAUSSIAN, teachers=COMPARED).rows, key=_lost)
    lost = [_lost(row) for row in gaussian]
    prices = np.log([row.cells[EPSILON].mean for row in gaussian])
    pairs = [
        (row.cells[EPSILON], float(np.exp(np.interp(_lost(row), lost, prices))))
        for row in summary.where(mechanism=LAPLACE).rows
        if lost[0] <= _lost(row) <= lost[-1]
    ]
    return Check(
        f"for {COMPARED} teachers Gaussian noise is cheaper than Laplace noise at equal accuracy",
        every([above(cell, price) for cell, price in pairs]),
        "on SIMULATED votes epsilon " + ", ".join(f"{price:.3g} against {show(cell)}" for cell, price in pairs),
        essential=False,
    )


def _sizes(summary: Summary) -> tuple[Check, ...]:
    """At every noise, whether more teachers cost less and lose less."""
    rows = summary.where(mechanism=GAUSSIAN).rows
    groups: dict[float, list[Row]] = {}
    for row in sorted(rows, key=lambda row: float(row.setting["teachers"])):
        groups.setdefault(float(row.setting["noise"]), []).append(row)
    checks = []
    for quantity, words in ((EPSILON, "cost no more"), (LOST, "lose no more right labels")):
        falls = [
            below(difference(large.cells[quantity], small.cells[quantity]), ROOM[quantity])
            for group in groups.values()
            for small, large in itertools.pairwise(group)
        ]
        found = "; ".join(
            f"sigma {noise:g}: " + ", ".join(f"{row.cells[quantity].mean:.3g}" for row in group)
            for noise, group in groups.items()
        )
        sizes = ", ".join(f"{row.setting['teachers']}" for row in next(iter(groups.values())))
        checks.append(Check(
            f"with the same noise more teachers {words} (ensembles of {sizes})",
            every(falls), f"on SIMULATED votes, whose teachers are as good in ensembles of every size: {found}",
            essential=False,
        ))  # fmt: skip
    return tuple(checks)


def _lost(row: Row) -> float:
    return row.cells[LOST].mean


def draw(summary: Summary, figure: Figure) -> None:
    """Right labels that noise costs, against epsilon: two noises, then sizes."""
    left, right = figure.subplots(1, 2, sharey=True)
    for number, mechanism in enumerate((LAPLACE, GAUSSIAN)):
        _curve(left, summary.where(mechanism=mechanism, teachers=COMPARED), number, mechanism)
    sizes = sorted({int(row.setting["teachers"]) for row in summary.rows})
    for number, size in enumerate(sizes):
        _curve(right, summary.where(mechanism=GAUSSIAN, teachers=size), number, f"{size} teachers")
    for axes, title in ((left, f"{COMPARED} teachers"), (right, GAUSSIAN)):
        axes.set(xscale="log", xlabel="epsilon, the paper's accounting", title=title)
        axes.legend(fontsize="small")
        stamp(axes, "Glyph")
    left.set_ylabel("right labels lost to noise, percentage points")


def _curve(axes: Axes, summary: Summary, number: int, label: str) -> None:
    rows = sorted(summary.rows, key=lambda row: float(row.setting["noise"]))
    prices = [row.cells[EPSILON].mean for row in rows]
    axes.plot(
        prices, [100 * _lost(row) for row in rows], color=COLORS[number], marker=MARKERS[number], label=label
    )  # fmt: skip


FIGURE_4 = Item(
    "pate", FIGURE, 4, "right labels against epsilon, for two noises and four sizes of ensembles",
    settings, measure, draw, judge, CODE, inputs=simulated, usual_runs=5,
)  # fmt: skip
