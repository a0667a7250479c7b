"""Figure 4: what the paper says of Kendall's tau from randomized reports and from pairs, and its picture."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from ogive_papers.ecdf.data_sets import SIMULATED
from ogive_papers.ecdf.drawing import OURS as OUR_COLOR
from ogive_papers.ecdf.drawing import PAPER_BLUE, PAPER_RED, TRUTH, logarithmic, plot
from ogive_papers.items import FIGURE, Item
from ogive_papers.simulated import stamp
from ogive_papers.summaries import Summary, difference, excess
from ogive_papers.ustatistics.kendall import (
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
from ogive_papers.ustatistics.kendall_pairs import (
    ALL,
    ALL_EXACT,
    BEST,
    FRESH,
    GIVEN,
    ONE,
    PRINTED,
    SAMPLED,
    SQUARE,
    THEOREM,
)
from ogive_papers.ustatistics.kendall_pairs_checks import ROOM, judge_pairs, ratio_of_roots
from ogive_papers.ustatistics.ratings import FILES, INPUT, inputs
from ogive_papers.verdicts import Check, Outcome, above, below, every, show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ALL_COLOR = "#6b46c1"
REDS, MARKERS = ("#7b341e", "#c05621", "#ed8936", "#fbd38d"), ("o", "P", "X", "h")
"""Of sampled pairs, darker for fewer pairs."""

COEFFICIENT, DIGITS = 0.58, 0.01
"""The paper's coefficient, which it prints with two digits."""

COVERAGE = 0.75
"""Intervals of 95 % that hold the truth less often than this are wrong, whatever chance there was in the runs."""


def judge(summary: Summary) -> tuple[Check, ...]:
    """Compare with Section 6: the true coefficient, randomized response, and pairs."""
    first = summary.rows[0]
    if first.setting[INPUT] == SIMULATED:
        absent = f"no file {FILES[0]} was found; name a copy or its folder with --data"
        return (Check("Kendall's tau of ratings of rooms and of cleanliness", Outcome.UNDECIDED, absent),)
    result = {name: first.cells[name].mean for name in TRUTHS}
    epsilons, cells = summary.series("epsilon", PAPER)
    _, stated = summary.series("epsilon", STATED)
    _, covered = summary.series("epsilon", COVERED)
    _, unary = summary.series("epsilon", OURS)
    return (
        Check(
            f"the true coefficient is {COEFFICIENT}: tau-a of all reviews, of which -1 is a level like the others",
            Outcome.HOLDS if 0 <= result["tau-a"] - COEFFICIENT < DIGITS else Outcome.FAILS,
            ", ".join(f"{name} {value:.4f}" for name, value in result.items()) + "; tau-b and gamma are not 0.58",
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
        *judge_pairs(summary),
    )  # fmt: skip


def draw(summary: Summary, figure: Figure) -> None:
    """Errors against epsilon, the paper's protocols drawn through and ours dashed; beside them errors as predicted."""
    figure.set_size_inches(11.5, 5.2)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    _errors(left, summary)
    _predictions(right, summary)
    if summary.rows[0].setting[INPUT] == SIMULATED:
        stamp(left, "ratings of hotels")
        stamp(right, "ratings of hotels")


def _errors(axes: Axes, summary: Summary) -> None:
    _by_epsilon(axes)
    axes.set(yscale="log", ylabel="mean absolute error of tau-a")
    lines = {
        PAPER: (PAPER_BLUE, "s", "-"), STATED: (TRUTH, "", ":"), ALL: (ALL_COLOR, "v", "-"),
        **{name: (color, marker, "-") for name, color, marker in zip(SAMPLED.values(), REDS, MARKERS, strict=True)},
        OURS: (PAPER_BLUE, "D", "--"), ALL_EXACT: (ALL_COLOR, "^", "--"),
        ONE: (OUR_COLOR, "o", "--"), BEST: (OUR_COLOR, "*", ":"),
    }  # fmt: skip
    for name, (color, marker, style) in lines.items():
        plot(axes, summary, "epsilon", name, color=color, marker=marker, linestyle=style)
    axes.legend(fontsize="x-small", loc="lower left")
    axes.set_title("Kendall's tau of two ratings: drawn through, the paper's protocols", fontsize="medium")


def _predictions(axes: Axes, summary: Summary) -> None:
    """Root mean squared errors over predictions, P = 1 and the largest."""
    _by_epsilon(axes)
    axes.set(ylabel="root mean squared error / prediction", ylim=(0.5, 1.6))
    axes.axhspan(1 - ROOM, 1 + ROOM, color=TRUTH, alpha=0.08, linewidth=0)
    rows = {float(row.setting["epsilon"]): row.cells for row in summary.rows}
    largest = max(SAMPLED)
    kinds = {
        "given the records": (SQUARE, GIVEN, OUR_COLOR),
        "Theorem 5, corrected; new records": (FRESH, THEOREM, PAPER_BLUE),
        "Theorem 5, as printed; new records": (FRESH, PRINTED, PAPER_RED),
    }
    for place, rounds in enumerate((1, largest)):
        for words, (quantity, prediction, color) in kinds.items():
            cells = [ratio_of_roots(row, SAMPLED[rounds], quantity, prediction) for row in rows.values()]
            axes.errorbar(
                [*rows], [cell.mean for cell in cells],
                yerr=[2 * cell.error if cell.runs > 1 else 0.0 for cell in cells],
                color=color, marker="os"[place], linestyle=("-", ":")[place], capsize=2, elinewidth=1,
                label=f"{words}, P = {rounds}",
            )  # fmt: skip
    axes.legend(fontsize="x-small", loc="lower left")
    axes.set_title("sampled pairs, Laplace: within the band is within 10 %", fontsize="medium")


def _by_epsilon(axes: Axes) -> None:
    logarithmic(axes)
    axes.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS], minor=False)
    axes.set_xlabel("epsilon")


FIGURE_4 = Item(
    "ustatistics", FIGURE, 4, "Kendall's tau of hotel ratings, from randomized reports and from pairs",
    settings, errors, draw, judge, CODE, inputs=inputs, usual_runs=100,
)  # fmt: skip
