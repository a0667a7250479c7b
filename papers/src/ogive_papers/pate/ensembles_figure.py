"""Figure 4: what the paper says of Gaussian against Laplace noise and of larger ensembles, and its panels."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from ogive_papers.items import FIGURE, Item, Setting
from ogive_papers.pate.ensembles import (
    CODE,
    COMPARED,
    EPSILON,
    GAUSSIAN,
    LAPLACE,
    LOST,
    SHARED,
    inputs,
    measure,
    settings,
)
from ogive_papers.pate.marks import legend_below, mark_stand_in
from ogive_papers.pate.printed import GLYPH
from ogive_papers.pate.stand_in import is_simulated, seen
from ogive_papers.pate.tables import PRIVATE_VOTES
from ogive_papers.pate.votes import TEACHERS, VOTE_SETS, lack
from ogive_papers.summaries import Row, Summary, difference
from ogive_papers.ustatistics.drawing import COLORS, MARKERS
from ogive_papers.verdicts import Check, Outcome, above, below, every, show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOM = {EPSILON: 0.01, LOST: 0.001}
"""Differences that count as none: where no ensemble agrees, or every one does, they are by chance."""


def judge(summary: Summary) -> tuple[Check, ...]:
    """Compare with Section 4.2 and Appendix A; what is found on simulated votes is not a proof of what Glyph's do."""
    return (
        Check(
            f"{GLYPH}: accuracy of 4000 aggregated labels against epsilon, at the paper's numbers",
            Outcome.UNDECIDED,
            f'{PRIVATE_VOTES}; the text\'s "left of Figure 1" is the left panel of this figure',
        ),
        *(_noises(summary, votes) for votes in COMPARED),
        *(check for votes in COMPARED for check in _sizes(summary, votes)),
    )


def _noises(summary: Summary, votes: str) -> Check:
    """At the accuracy of each Laplace noise, what Gaussian noise of that accuracy costs."""
    teachers = COMPARED[votes]
    claim = f"for {teachers} teachers of {votes} Gaussian noise is cheaper than Laplace noise at equal accuracy"
    measured = summary.where(votes=votes, teachers=teachers).rows
    rows = [row for row in measured if EPSILON in row.cells]
    if not rows:
        return Check(claim, Outcome.UNDECIDED, lack(VOTE_SETS[votes], measured[0].setting), essential=False)
    gaussian = sorted((row for row in rows if row.setting["mechanism"] == GAUSSIAN), key=_lost)
    lost = [_lost(row) for row in gaussian]
    prices = np.log([row.cells[EPSILON].mean for row in gaussian])
    pairs = [
        (row.cells[EPSILON], float(np.exp(np.interp(_lost(row), lost, prices))))
        for row in rows
        if row.setting["mechanism"] == LAPLACE and lost[0] <= _lost(row) <= lost[-1]
    ]
    result = ", ".join(f"{price:.3g} against {show(cell)}" for cell, price in pairs)
    return Check(
        claim,
        every([above(cell, price) for cell, price in pairs]),
        f"{_seen(votes, rows[0].setting)} epsilon {result}",
        essential=False,
    )


def _sizes(summary: Summary, votes: str) -> tuple[Check, ...]:
    """At every noise, whether more teachers cost less and lose less."""
    rows = summary.where(votes=votes, mechanism=GAUSSIAN).rows
    sizes = ", ".join(f"{size}" for size in sorted({int(row.setting["teachers"]) for row in rows}))
    known = [row for row in rows if EPSILON in row.cells]
    groups: dict[float, list[Row]] = {}
    for row in sorted(known, key=lambda row: float(row.setting["teachers"])):
        groups.setdefault(float(row.setting["noise"]), []).append(row)
    checks = []
    for quantity, words in ((EPSILON, "cost no more"), (LOST, "lose no more right labels")):
        falls = [
            below(difference(large.cells[quantity], small.cells[quantity]), ROOM[quantity])
            for group in groups.values()
            for small, large in itertools.pairwise(group)
        ]
        result = "; ".join(
            f"sigma {noise:g}: " + ", ".join(f"{row.cells[quantity].mean:.3g}" for row in group)
            for noise, group in groups.items()
        )
        checks.append(Check(
            f"with the same noise more teachers of {votes} {words} (ensembles of {sizes})", every(falls),
            f"{_seen(votes, known[0].setting)}, {_as_good(votes, known[0].setting)}: {result}"
            if groups else lack(VOTE_SETS[votes], rows[0].setting),
            essential=False,
        ))  # fmt: skip
    return tuple(checks)


def _seen(votes: str, setting: Setting) -> str:
    return seen(setting) if votes == GLYPH else "on real votes"


def _as_good(votes: str, setting: Setting) -> str:
    """Whether smaller ensembles have better teachers."""
    if votes == GLYPH and not is_simulated(setting):
        return "where ensembles divide the same images"
    return "where teachers are as good in ensembles of every size"


def _lost(row: Row) -> float:
    return row.cells[LOST].mean


def draw(summary: Summary, figure: Figure) -> None:
    """Right labels that noise costs, against epsilon: two noises, then sizes; and both on real votes."""
    simulated = summary.where(votes=GLYPH)
    known = [votes for votes in SHARED if any(EPSILON in row.cells for row in summary.where(votes=votes).rows)]
    figure.set_size_inches(10.4, 8.4 if known else 4.4)
    panels = figure.subplots(1 + bool(known), 2, squeeze=False).ravel()
    for number, mechanism in enumerate((LAPLACE, GAUSSIAN)):
        _curve(panels[0], simulated.where(mechanism=mechanism, teachers=COMPARED[GLYPH]), number, mechanism)
    panels[0].set_title(f"{COMPARED[GLYPH]} teachers")
    for number, size in enumerate(sorted({int(row.setting["teachers"]) for row in simulated.rows})):
        _curve(panels[1], simulated.where(mechanism=GAUSSIAN, teachers=size), number, f"{size} teachers")
    panels[1].set_title(f"{GAUSSIAN}, by teachers")
    for axes in panels[:2]:
        mark_stand_in(axes, simulated)
    for axes, votes in zip(panels[2:], known, strict=False):
        part = summary.where(votes=votes)
        for number, mechanism in enumerate((LAPLACE, GAUSSIAN)):
            _curve(
                axes, part.where(mechanism=mechanism, teachers=TEACHERS), number, f"{mechanism}, {TEACHERS} teachers"
            )
        for size in sorted({int(row.setting["teachers"]) for row in part.rows} - {TEACHERS}):
            _curve(axes, part.where(mechanism=GAUSSIAN, teachers=size), 2, f"{GAUSSIAN}, {size} of them")
        axes.set_title(f"{votes}, real votes")
    for axes in panels[2 + len(known) :]:
        axes.set_axis_off()
    for axes in panels[: 2 + len(known)]:
        axes.set(
            xlabel="epsilon, the paper's accounting", ylabel="right labels lost to noise, percentage points",
            xscale="log",
        )  # fmt: skip
        _plain_ticks(axes)
        legend_below(axes, columns=2)


def _plain_ticks(axes: Axes) -> None:
    """Ticks of a logarithmic axis as plain numbers, as many as have room."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    low, high = axes.get_xlim()
    steps = (1, 1.5, 2, 3, 4, 5, 6, 8) if high < 10 * low else (1, 2, 5)
    axes.xaxis.set_major_locator(LogLocator(subs=steps))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())


def _curve(axes: Axes, summary: Summary, number: int, label: str) -> None:
    known = [row for row in summary.rows if EPSILON in row.cells]
    rows = sorted(known, key=lambda row: float(row.setting["noise"]))
    prices = [row.cells[EPSILON].mean for row in rows]
    axes.plot(
        prices, [100 * _lost(row) for row in rows], color=COLORS[number], marker=MARKERS[number], label=label
    )  # fmt: skip


FIGURE_4 = Item(
    "pate", FIGURE, 4, "right labels against epsilon, for two noises and sizes of ensembles",
    settings, measure, draw, judge, CODE, inputs=inputs, usual_runs=5,
)  # fmt: skip
