"""Figure 4: what the paper says of it, and its picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ogive_papers.ecdf.drawing import OURS, PAPER_BLUE, PAPER_RED, logarithmic, plot
from ogive_papers.ecdf.inverse import (
    FORWARD,
    HARM,
    INVERSE_RAW,
    INVERSE_SMOOTHED,
    OUR_FORWARD,
    OUR_INVERSE,
    inverse_errors,
    settings,
)
from ogive_papers.ecdf.releases import CODE
from ogive_papers.items import FIGURE, Item
from ogive_papers.summaries import Summary, difference, scaled
from ogive_papers.verdicts import Check, above, below, every, opposite, show

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORDER = 10.0
"""Numbers are of the same order of magnitude if none is more than this many times another."""


def judge(summary: Summary) -> tuple[Check, ...]:
    """Compare with Section 6.4: three errors of one order, and bisection not hurt by noise."""
    curves = [summary.series("epsilon", name)[1] for name in (FORWARD, INVERSE_RAW, INVERSE_SMOOTHED)]
    epsilons, harms = summary.series("epsilon", "raw - harm x smoothed")
    spreads = []
    outcomes = []
    for cells in zip(*curves, strict=True):
        largest = max(cells, key=lambda cell: cell.mean)
        smallest = min(cells, key=lambda cell: cell.mean)
        spreads.append(largest.mean / smallest.mean)
        outcomes.append(below(difference(largest, scaled(smallest, ORDER)), 0.0))
    first, last = curves[0][0], curves[0][-1]
    return (
        Check(
            f"at every epsilon the three errors are of one order: the largest below {ORDER:g} times the smallest",
            every(outcomes),
            "largest / smallest: " + ", ".join(f"{s:.2g} at {e:g}" for e, s in zip(epsilons, spreads, strict=True)),
        ),
        Check(
            f"bisection of the raw curve is not hurt much: its error below {HARM:g} times that of the smoothed",
            every([below(cell, 0.0) for cell in harms]),
            "raw / smoothed: "
            + ", ".join(
                f"{raw.mean / smoothed.mean:.2g} at {e:g}"
                for e, raw, smoothed in zip(epsilons, curves[1], curves[2], strict=True)
            ),
            essential=False,
        ),
        Check(
            "errors fall as epsilon grows",
            opposite(above(last, first.mean)),
            f"mean squared error of F {show(first)} at {epsilons[0]:g}, {show(last)} at {epsilons[-1]:g}",
        ),
    )


def draw(summary: Summary, figure: Figure) -> None:
    """Mean squared errors against epsilon, both axes logarithmic."""
    paper, ours = figure.subplots(1, 2, sharey=True)
    for axes, title in ((paper, "the paper's constants"), (ours, "ours at the same guarantee")):
        logarithmic(axes)
        axes.set(yscale="log", xlabel="epsilon")
        axes.set_title(title)
    for quantity, color, marker, style in (
        (FORWARD, PAPER_RED, "s", "-"),
        (INVERSE_RAW, PAPER_BLUE, "o", "--"),
        (INVERSE_SMOOTHED, PAPER_BLUE, "D", "-"),
    ):
        plot(paper, summary, "epsilon", quantity, color=color, marker=marker, linestyle=style)
    plot(ours, summary, "epsilon", OUR_FORWARD, color=OURS, marker="s", linestyle="-")
    plot(ours, summary, "epsilon", OUR_INVERSE, color=OURS, marker="D", linestyle="--")
    plot(ours, summary, "epsilon", INVERSE_SMOOTHED, color=PAPER_BLUE, marker="D", linestyle="-")
    paper.legend()
    ours.legend()
    paper.set_ylabel("mean squared error, domain and range [0, 1]")


FIGURE_4 = Item(
    "ecdf", FIGURE, 4, "a distribution function and its inverse, lambda = 3, N = 32768",
    settings, inverse_errors, draw, judge,
    (*CODE, "statistics/curve/readings.py", "papers/ecdf/inverse.py"),
)  # fmt: skip
