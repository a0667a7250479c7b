"""Figure 5: how far released ROC curves are from the true one, against epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ogive_papers.ecdf.data_sets import BANK, inputs_of
from ogive_papers.ecdf.drawing import OURS as OURS_GREEN
from ogive_papers.ecdf.drawing import PAPER_BLUE, PAPER_RED, logarithmic, plot
from ogive_papers.ecdf.roc import ABSOLUTE, CODE, ERRORS, OURS, SQUARES, curve_errors
from ogive_papers.ecdf.stand_ins import mark, withheld
from ogive_papers.items import FIGURE, Item, Setting
from ogive_papers.summaries import Cell, Summary, difference, scaled
from ogive_papers.verdicts import Check, Outcome, below, every, show

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
EQUAL, CLOSE = 2.0, 1.25
"""Two errors are about equal if the larger is below this many times the smaller, and nearly so below the second."""


def settings(quick: bool) -> tuple[Setting, ...]:
    """The epsilons of the specification."""
    chosen = (0.1, 1.0, 5.0) if quick else EPSILONS
    return tuple({"data set": BANK.name, "epsilon": epsilon, "show": ERRORS} for epsilon in chosen)


def judge(summary: Summary) -> tuple[Check, ...]:
    """Compare with Section 6.5: the error falls as epsilon grows, and both smoothings do equally well."""
    epsilons, absolute = summary.series("epsilon", ABSOLUTE)
    _, squares = summary.series("epsilon", SQUARES)
    _, ours = summary.series("epsilon", OURS)
    pairs = list(zip(absolute, squares, strict=True))
    ratios = ", ".join(f"{a.mean / s.mean:.2f} at {e:g}" for e, (a, s) in zip(epsilons, pairs, strict=True))
    gains = ", ".join(f"{o.mean / s.mean:.2f} at {e:g}" for e, o, s in zip(epsilons, ours, squares, strict=True))
    return withheld(
        summary,
        (
            Check(
                "the error decreases as epsilon grows, at every step, with p=1 and with p=2",
                every([
                    below(difference(later, earlier), 0.0)
                    for cells in (absolute, squares)
                    for earlier, later in pairwise(cells)
                ]),
                "p=2: " + ", ".join(f"{show(cell)} at {e:g}" for e, cell in zip(epsilons, squares, strict=True)),
            ),
            Check(
                f"p=1 and p=2 perform about equally well: the larger error below {EQUAL:g} times the smaller",
                near(pairs, EQUAL),
                f"p=1 / p=2: {ratios}",
            ),
            Check(
                f"they even perform nearly the same: below {CLOSE:g} times",
                near(pairs, CLOSE),
                f"p=1 / p=2: {ratios}",
                essential=False,
            ),
            Check(
                "ours at the same guarantee: below the error of the paper's p=2 at every epsilon",
                every([below(difference(o, s), 0.0) for o, s in zip(ours, squares, strict=True)]),
                f"ours / p=2: {gains}",
                essential=False,
            ),
        ),
        BANK,
    )  # fmt: skip


def near(pairs: Sequence[tuple[Cell, Cell]], factor: float) -> Outcome:
    """Whether in all pairs the larger is below a multiple of the smaller."""
    both = [ordered for pair in pairs for ordered in (pair, pair[::-1])]
    return every([below(difference(one, scaled(other, factor)), 0.0) for one, other in both])


def draw(summary: Summary, figure: Figure) -> None:
    """Distances and errors of the area, both axes logarithmic."""
    distances, areas = figure.subplots(1, 2)
    for axes, prefix, title in (
        (distances, "", "1-norm distance from the true curve"),
        (areas, "AUC error, ", "error of the area under it"),
    ):
        logarithmic(axes)
        axes.set(yscale="log", xlabel="epsilon")
        for name, color, marker, style in (
            (ABSOLUTE, PAPER_RED, "s", "-"),
            (SQUARES, PAPER_BLUE, "o", "-"),
            (OURS, OURS_GREEN, "D", "--"),
        ):
            plot(axes, summary, "epsilon", prefix + name, color=color, marker=marker, linestyle=style)
        mark(axes, summary, BANK, f"{BANK.title}: {title}")
    distances.legend()


FIGURE_5 = Item(
    "ecdf", FIGURE, 5, "error of ROC curves against epsilon",
    settings, curve_errors, draw, judge, CODE, inputs=inputs_of(BANK.name),
)  # fmt: skip
