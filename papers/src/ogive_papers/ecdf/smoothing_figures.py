"""Figures 2 and 3: what the paper says of them, and their pictures."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ogive_papers.ecdf.drawing import OURS, PAPER_BLUE, PAPER_RED, logarithmic, plot
from ogive_papers.ecdf.releases import CODE
from ogive_papers.ecdf.smoothing import figure_2_settings, figure_3_settings, smoothing_errors
from ogive_papers.items import FIGURE, Item
from ogive_papers.summaries import Cell, Summary, average, difference, scaled
from ogive_papers.verdicts import Check, above, below, every, show, some

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CROSSING = 0.2
"""Below this epsilon the paper's p=2 curve lies above 1."""


def judge_figure_2(summary: Summary) -> tuple[Check, ...]:
    """Compare with Section 6.3: p=2 helps from epsilon 0.2, beats p=1, and the effect fades."""
    epsilons, squares = summary.series("epsilon", "paper p=2")
    _, gaps = summary.series("epsilon", "p=2 - p=1")
    helping = [cell for epsilon, cell in zip(epsilons, squares, strict=True) if epsilon >= CROSSING]
    early = [place for place, epsilon in enumerate(epsilons) if epsilon < CROSSING]
    one = int(np.argmin(np.abs(np.log(epsilons))))
    gap = average(gaps)
    return (
        Check(
            f"p=2 smoothing lowers the squared error from epsilon {CROSSING} on: ratio below 1",
            every([below(cell, 1.0) for cell in helping]),
            "largest ratio " + show(max(helping, key=lambda cell: cell.mean)),
        ),
        Check(
            "p=2 does better than p=1: lower ratio on average over epsilon",
            below(gap, 0.0),
            f"mean of (p=2) - (p=1) {show(gap)}",
        ),
        Check(
            f"the effect shrinks as epsilon grows: from {CROSSING} on, smaller at every step",
            every([below(difference(effect(second), effect(first)), 0.0) for first, second in pairwise(helping)]),
            "ratios " + ", ".join(f"{cell.mean:.3g}" for cell in helping),
        ),
        faded("epsilon", epsilons[-1], squares[-1], epsilons[one], squares[one], essential=False),
        Check(
            "the advantage of p=2 over p=1 is larger at the smallest epsilon than at the largest",
            below(difference(gaps[0], gaps[-1]), 0.0),
            f"(p=2) - (p=1) is {show(gaps[0])} at {epsilons[0]:g}, {show(gaps[-1])} at {epsilons[-1]:g}",
            essential=False,
        ),
        Check(
            f"the p=2 ratio crosses 1 near epsilon {CROSSING}: above 1 somewhere below it",
            some([above(squares[place], 1.0) for place in early]),
            "ratios there: " + ", ".join(f"{show(squares[place])} at {epsilons[place]:g}" for place in early),
            essential=False,
        ),
    )


def judge_figure_3(summary: Summary) -> tuple[Check, ...]:
    """Compare with Section 6.3: a gain at moderate lambda, little at large lambda."""
    rates, squares = summary.series("rate", "paper p=2")
    moderate = [place for place, rate in enumerate(rates) if 1 <= rate <= 10]
    middle = int(np.argmin(np.abs(np.log(rates / 3.0))))
    cells = [squares[place] for place in moderate]
    return (
        Check(
            "p=2 smoothing lowers the squared error at lambda from 1 to 10: ratio below 1",
            every([below(cell, 1.0) for cell in cells]),
            "largest ratio " + show(max(cells, key=lambda cell: cell.mean)),
        ),
        faded("lambda", rates[-1], squares[-1], rates[middle], squares[middle], essential=True),
    )


def faded(name: str, far: float, last: Cell, near: float, middle: Cell, *, essential: bool) -> Check:
    """Whether the effect at the far end is below half of what it is in the middle."""
    quantity = difference(effect(last), scaled(effect(middle), 0.5))
    return Check(
        f"the effect fades as {name} grows: |1 - ratio| at {far:g} below half of that at {near:g}",
        below(quantity, 0.0),
        f"p=2 ratio {show(last)} at {far:g}, {show(middle)} at {near:g}",
        essential,
    )


def effect(ratio: Cell) -> Cell:
    """How far smoothing changes the squared error, |1 - ratio|."""
    return Cell(abs(1 - ratio.mean), ratio.error, abs(1 - ratio.median), ratio.runs)


def _draw(summary: Summary, figure: Figure, axis: str, label: str) -> None:
    ratios, gains = figure.subplots(1, 2)
    logarithmic(ratios)
    logarithmic(gains)
    for quantity, color, marker, style in (
        ("paper p=1", PAPER_RED, "s", "-"),
        ("paper p=2", PAPER_BLUE, "o", "-"),
        ("ours", OURS, "D", "--"),
    ):
        plot(ratios, summary, axis, quantity, color=color, marker=marker, linestyle=style)
    ratios.axhline(1.0, color="#1f2933", linewidth=0.9)
    ratios.set(xlabel=label, ylabel="squared error, smoothed / unsmoothed")
    ratios.set_ylim(bottom=0)
    ratios.set_title("what smoothing does")
    ratios.legend()
    plot(gains, summary, axis, "ours / paper, raw", color=OURS, marker="^", linestyle=":")
    plot(gains, summary, axis, "ours / paper p=2, smoothed", color=OURS, marker="D", linestyle="-")
    gains.axhline(1.0, color="#1f2933", linewidth=0.9)
    gains.set(xlabel=label, ylabel="squared error, ours / paper's", ylim=(0, 1.05))
    gains.set_title("ours against the paper's")
    gains.legend()


def draw_figure_2(summary: Summary, figure: Figure) -> None:
    """Ratios against epsilon."""
    _draw(summary, figure, "epsilon", "epsilon")


def draw_figure_3(summary: Summary, figure: Figure) -> None:
    """Ratios against lambda."""
    _draw(summary, figure, "rate", "lambda, records per grid point")


_CODE = (*CODE, "papers/ecdf/smoothing.py")

FIGURE_2 = Item(
    "ecdf", FIGURE, 2, "effect of smoothing, lambda = 3, N = 32768",
    figure_2_settings, smoothing_errors, draw_figure_2, judge_figure_2, _CODE,
)  # fmt: skip
FIGURE_3 = Item(
    "ecdf", FIGURE, 3, "effect of smoothing, epsilon = 1, N = 32768",
    figure_3_settings, smoothing_errors, draw_figure_3, judge_figure_3, _CODE,
)  # fmt: skip
