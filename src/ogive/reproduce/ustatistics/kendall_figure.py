"""Figure 4: what the paper says of randomized response for Kendall's tau, and its picture."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from ogive.reproduce.ecdf.data_sets import SIMULATED
from ogive.reproduce.ecdf.drawing import OURS as OUR_COLOR
from ogive.reproduce.ecdf.drawing import PAPER_BLUE, TRUTH, logarithmic, plot
from ogive.reproduce.items import FIGURE, Item
from ogive.reproduce.simulated import stamp
from ogive.reproduce.summaries import Summary, difference, excess
from ogive.reproduce.ustatistics.kendall import (
    CODE,
    COVERED,
    EPSILONS,
    OURS,
    PAPER,
    STATED,
    TRUTHS,
    errors,
    settings,
)
from ogive.reproduce.ustatistics.ratings import FILES, INPUT, inputs
from ogive.reproduce.verdicts import Check, Outcome, above, below, every, show

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRINTED, DIGITS = 0.58, 0.01
"""The paper's coefficient, which it prints with two digits."""

COVERAGE = 0.75
"""Intervals of 95 % that hold the truth less often than this are wrong, whatever chance there was in the runs."""


def judge(summary: Summary) -> tuple[Check, ...]:
    """Compare with Section 6: the true coefficient, and randomized response; pairs of parties are no part of this."""
    first = summary.rows[0]
    if first.setting[INPUT] == SIMULATED:
        absent = f"no file {FILES[0]} was found; name a copy or its folder with --data"
        return (Check("Kendall's tau of ratings of rooms and of cleanliness", Outcome.UNDECIDED, absent),)
    found = {name: first.cells[name].mean for name in TRUTHS}
    epsilons, cells = summary.series("epsilon", PAPER)
    _, stated = summary.series("epsilon", STATED)
    _, covered = summary.series("epsilon", COVERED)
    _, unary = summary.series("epsilon", OURS)
    return (
        Check(
            f"the true coefficient is {PRINTED}: tau-a of all reviews, of which -1 is a level like the others",
            Outcome.HOLDS if 0 <= found["tau-a"] - PRINTED < DIGITS else Outcome.FAILS,
            ", ".join(f"{name} {value:.4f}" for name, value in found.items()) + "; tau-b and gamma are not 0.58",
        ),
        Check(
            "the error of randomized response falls as epsilon grows",
            every([below(difference(b, a), 0.0) for a, b in itertools.pairwise(cells)]),
            ", ".join(f"{show(cell)} at {epsilon:g}" for epsilon, cell in zip(epsilons, cells, strict=True)),
        ),
        Check(
            "it is useful at epsilon 1 already thanks to the small domain: an error below 0.1",
            every([below(cell, 0.1) for epsilon, cell in zip(epsilons, cells, strict=True) if epsilon >= 1]),
            ", ".join(f"{show(cell)} at {e:g}" for e, cell in zip(epsilons, cells, strict=True) if e >= 1),
        ),
        Check(
            f"its stated intervals of 95 % hold the truth in more than {COVERAGE:.0%} of the runs",
            every([above(cell, COVERAGE) for cell in covered]),
            ", ".join(f"{cell.mean:.2f} at {epsilon:g}" for epsilon, cell in zip(epsilons, covered, strict=True))
            + "; stated errors "
            + ", ".join(f"{cell.mean:.2g}" for cell in stated),
            essential=False,
        ),
        Check(
            "beyond the paper: projected unary reports err less than half as much, on average below epsilon 1",
            below(excess(
                (ours, cell) for epsilon, ours, cell in zip(epsilons, unary, cells, strict=True) if epsilon < 1
            ), -0.5),
            ", ".join(f"{show(cell)} at {epsilon:g}" for epsilon, cell in zip(epsilons, unary, strict=True)),
            essential=False,
        ),
    )  # fmt: skip


def draw(summary: Summary, figure: Figure) -> None:
    """Errors against epsilon, both axes logarithmic."""
    axes = figure.subplots()
    logarithmic(axes)
    axes.set(yscale="log", xlabel="epsilon", ylabel="mean absolute error of tau-a")
    axes.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS], minor=False)
    plot(axes, summary, "epsilon", PAPER, color=PAPER_BLUE, marker="s", linestyle="-")
    plot(axes, summary, "epsilon", STATED, color=TRUTH, marker="", linestyle=":")
    plot(axes, summary, "epsilon", OURS, color=OUR_COLOR, marker="D", linestyle="-")
    axes.legend()
    axes.set_title("Kendall's tau of two ratings, local reports")
    if summary.rows[0].setting[INPUT] == SIMULATED:
        stamp(axes, "ratings of hotels")


FIGURE_4 = Item(
    "ustatistics", FIGURE, 4, "Kendall's tau of hotel ratings from randomized reports (the local part)",
    settings, errors, draw, judge, CODE, inputs=inputs, usual_runs=100,
)  # fmt: skip
