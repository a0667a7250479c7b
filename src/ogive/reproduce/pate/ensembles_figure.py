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
    inputs,
    measure,
    settings,
)
from ogive.reproduce.pate.printed import GLYPH
from ogive.reproduce.pate.tables import PRIVATE_VOTES
from ogive.reproduce.pate.votes import MNIST, absence
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
        _noises(summary, GLYPH),
        _noises(summary, MNIST.title),
        *_sizes(summary.where(votes=GLYPH)),
    )


def _noises(summary: Summary, votes: str) -> Check:
    """At the accuracy of each Laplace noise, what Gaussian noise of that accuracy costs."""
    teachers = COMPARED[votes]
    claim = f"for {teachers} teachers of {votes} Gaussian noise is cheaper than Laplace noise at equal accuracy"
    rows = [row for row in summary.where(votes=votes, teachers=teachers).rows if EPSILON in row.cells]
    if not rows:
        return Check(claim, Outcome.UNDECIDED, absence(MNIST), essential=False)
    gaussian = sorted((row for row in rows if row.setting["mechanism"] == GAUSSIAN), key=_lost)
    lost = [_lost(row) for row in gaussian]
    prices = np.log([row.cells[EPSILON].mean for row in gaussian])
    pairs = [
        (row.cells[EPSILON], float(np.exp(np.interp(_lost(row), lost, prices))))
        for row in rows
        if row.setting["mechanism"] == LAPLACE and lost[0] <= _lost(row) <= lost[-1]
    ]
    found = ", ".join(f"{price:.3g} against {show(cell)}" for cell, price in pairs)
    return Check(
        claim,
        every([above(cell, price) for cell, price in pairs]),
        f"on {'SIMULATED' if votes == GLYPH else 'real'} votes epsilon {found}",
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
    """Right labels that noise costs, against epsilon: two noises, then sizes; and the noises on real votes."""
    simulated, real = summary.where(votes=GLYPH), summary.where(votes=MNIST.title)
    known = any(EPSILON in row.cells for row in real.rows)
    panels = figure.subplots(1, 2 + known)
    for axes, part, votes in zip(panels[::2], (simulated, real), COMPARED, strict=False):
        for number, mechanism in enumerate((LAPLACE, GAUSSIAN)):
            _curve(axes, part.where(mechanism=mechanism, teachers=COMPARED[votes]), number, mechanism)
        axes.set_title(f"{COMPARED[votes]} teachers" + (f", {votes}, real votes" if axes is not panels[0] else ""))
    sizes = sorted({int(row.setting["teachers"]) for row in simulated.rows})
    for number, size in enumerate(sizes):
        _curve(panels[1], simulated.where(mechanism=GAUSSIAN, teachers=size), number, f"{size} teachers")
    panels[1].set_title(GAUSSIAN)
    for axes in panels:
        axes.set(xscale="log", xlabel="epsilon, the paper's accounting")
        axes.legend(fontsize="small")
    for axes in panels[:2]:
        stamp(axes, GLYPH)
    panels[0].set_ylabel("right labels lost to noise, percentage points")
    figure.set_size_inches(4.3 * len(panels), 4.2)


def _curve(axes: Axes, summary: Summary, number: int, label: str) -> None:
    rows = sorted(summary.rows, key=lambda row: float(row.setting["noise"]))
    prices = [row.cells[EPSILON].mean for row in rows]
    axes.plot(
        prices, [100 * _lost(row) for row in rows], color=COLORS[number], marker=MARKERS[number], label=label
    )  # fmt: skip


FIGURE_4 = Item(
    "pate", FIGURE, 4, "right labels against epsilon, for two noises and four sizes of ensembles",
    settings, measure, draw, judge, CODE, inputs=inputs, usual_runs=5,
)  # fmt: skip
