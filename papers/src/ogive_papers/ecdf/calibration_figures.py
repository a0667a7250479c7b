"""Figures 6 and 10: what the paper says of them, and their pictures."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from ogive_papers.ecdf.calibration import (
    CODE,
    DEBIASED,
    EXPECTED,
    OURS,
    PAPER,
    calibration_errors,
    noise_deviation,
    settings,
)
from ogive_papers.ecdf.data_sets import BANK, DIABETES, DataSet, inputs_of
from ogive_papers.ecdf.drawing import OURS as OURS_GREEN
from ogive_papers.ecdf.drawing import PAPER_BLUE, PAPER_RED, logarithmic, plot
from ogive_papers.ecdf.stand_ins import mark, withheld
from ogive_papers.items import FIGURE, Item
from ogive_papers.summaries import Summary, difference
from ogive_papers.verdicts import Check, Outcome, above, below, every, show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALL = 0.5
"""Epsilons up to this are small: here runs are said to differ widely."""

ERROR, APART = "log10 error, ", "log10 difference, "

SOLID, DASHED = "-", (0, (3.5, 2.0))
STYLES = ((SOLID, {PAPER: "o", OURS: "D"}, None), (DASHED, {PAPER: "^", OURS: "s"}, "white"))
"""For the first and the second data set: dashes, a marker for each release, and what fills it if not its color."""

KEY = {"handlelength": 4.5, "labelspacing": 0.7}
"""A legend that is wide enough to show the dashes."""


def judge_bank(summary: Summary) -> tuple[Check, ...]:
    """Compare with Section 6.6: errors fall, and runs differ widely, since the lowest group expects few positives."""
    epsilons, apart = summary.series("epsilon", APART + PAPER)
    _, expected = summary.series("epsilon", EXPECTED)
    small = [place for place, epsilon in enumerate(epsilons) if epsilon <= SMALL]
    few = expected[0].mean
    noise = noise_deviation(float(epsilons[small[-1]]))
    return withheld(
        summary,
        (
            *falling_checks(summary, BANK),
            Check(
                f"runs differ widely at epsilon up to {SMALL:g}: two releases typically by more than the true "
                "statistic itself",
                every([above(apart[place], 0.0) for place in small]),
                "log10 of difference / statistic: "
                + ", ".join(f"{show(cell)} at {e:g}" for e, cell in zip(epsilons, apart, strict=True)),
            ),
            Check(
                "the lowest group expects few positives: fewer than the noise's standard deviation at "
                f"epsilon = {epsilons[small[-1]]:g}",
                Outcome.HOLDS if few < noise else Outcome.FAILS,
                f"{few:.1f} expected, noise {noise:.1f}",
            ),
            gain_check(summary, BANK),
        ),
        BANK,
    )


def judge_diabetes(summary: Summary) -> tuple[Check, ...]:
    """Compare with Section 6.6: errors that fall, and runs that differ less than those of Bank-full."""
    epsilons, apart = summary.where(**{"data set": DIABETES.name}).series("epsilon", APART + PAPER)
    _, bank = summary.where(**{"data set": BANK.name}).series("epsilon", APART + PAPER)
    gaps = [difference(ours, other) for ours, other in zip(apart, bank, strict=True)]
    return withheld(
        summary,
        (
            *falling_checks(summary, DIABETES),
            Check(
                f"runs differ less than those of {BANK.title}, relative to the statistic, at every epsilon",
                every([below(gap, 0.0) for gap in gaps]),
                "log10 of the ratio: " + ", ".join(f"{show(g)} at {e:g}" for e, g in zip(epsilons, gaps, strict=True)),
            ),
            gain_check(summary, DIABETES),
        ),
        BANK,
        DIABETES,
    )


def falling_checks(summary: Summary, data_set: DataSet) -> tuple[Check, Check]:
    """Whether the typical error falls by much from end to end, and whether at every step."""
    rows = summary.where(**{"data set": data_set.name})
    epsilons, typical = rows.series("epsilon", ERROR + PAPER)
    _, squared = rows.series("epsilon", PAPER)
    shown = "relative MSE: " + ", ".join(
        f"{cell.mean:.2g} (median {cell.median:.2g}) at {e:g}" for e, cell in zip(epsilons, squared, strict=True)
    )
    return (
        Check(
            f"the error falls as epsilon grows: from {epsilons[0]:g} to {epsilons[-1]:g} typically below a tenth",
            below(difference(typical[-1], typical[0]), -1.0),
            shown,
        ),
        Check(
            "it falls at every step, in the mean of its logarithm",
            every([below(difference(later, earlier), 0.0) for earlier, later in pairwise(typical)]),
            "log10: " + ", ".join(f"{show(cell)} at {e:g}" for e, cell in zip(epsilons, typical, strict=True)),
            essential=False,
        ),
    )


def gain_check(summary: Summary, data_set: DataSet) -> Check:
    """Whether ours has less error."""
    rows = summary.where(**{"data set": data_set.name})
    epsilons, paper = rows.series("epsilon", ERROR + PAPER)
    _, ours = rows.series("epsilon", ERROR + OURS)
    gaps = [difference(mine, theirs) for mine, theirs in zip(ours, paper, strict=True)]
    return Check(
        "ours at the same guarantee: a smaller typical error at every epsilon",
        every([below(gap, 0.0) for gap in gaps]),
        "typical error, ours / paper's: "
        + ", ".join(f"{10**gap.mean:.2g} at {e:g}" for e, gap in zip(epsilons, gaps, strict=True)),
        essential=False,
    )


def draw_errors(axes: Axes, summary: Summary, data_set: DataSet) -> None:
    """Relative mean squared errors against epsilon with medians, both axes logarithmic."""
    rows = summary.where(**{"data set": data_set.name})
    logarithmic(axes)
    axes.set(yscale="log", xlabel="epsilon", ylabel="relative MSE of H; dotted: median")
    for name, color, marker in ((PAPER, PAPER_BLUE, "o"), (OURS, OURS_GREEN, "D"), (DEBIASED, PAPER_RED, "s")):
        plot(axes, rows, "epsilon", name, color=color, marker=marker, linestyle="-")
        epsilons, cells = rows.series("epsilon", name)
        axes.plot(epsilons, [cell.median for cell in cells], color=color, linestyle=":", linewidth=1.2)
    axes.legend()
    mark(axes, summary, data_set, f"{data_set.title}, ten groups")


def draw_differences(axes: Axes, summary: Summary, *data_sets: DataSet) -> None:
    """How far two releases are typically apart."""
    logarithmic(axes)
    axes.set(yscale="log", xlabel="epsilon", ylabel="difference / H, typical")
    for data_set, (dashes, markers, fill) in zip(data_sets, STYLES, strict=False):
        rows = summary.where(**{"data set": data_set.name})
        for name, color in ((PAPER, PAPER_BLUE), (OURS, OURS_GREEN)):
            epsilons, cells = rows.series("epsilon", APART + name)
            axes.plot(
                epsilons, [10**cell.mean for cell in cells], color=color, marker=markers[name], linestyle=dashes,
                markerfacecolor=fill, label=f"{name}, {data_set.title}",
            )  # fmt: skip
    axes.legend(**KEY)
    mark(axes, summary, data_sets[0], "two releases of the same records")


def draw(summary: Summary, figure: Figure, *, shown: DataSet, compared: tuple[DataSet, ...]) -> None:
    """Errors, and how much releases differ from each other."""
    errors, differences = figure.subplots(1, 2)
    draw_errors(errors, summary, shown)
    draw_differences(differences, summary, *compared)


FIGURE_6 = Item(
    "ecdf", FIGURE, 6, "error of the Hosmer-Lemeshow statistic, Bank-full",
    partial(settings, data_sets=(BANK,)), calibration_errors,
    partial(draw, shown=BANK, compared=(BANK,)), judge_bank, CODE, inputs=inputs_of(BANK.name),
)  # fmt: skip
FIGURE_10 = Item(
    "ecdf", FIGURE, 10, "error of the Hosmer-Lemeshow statistic, Diabetes",
    partial(settings, data_sets=(DIABETES, BANK)), calibration_errors,
    partial(draw, shown=DIABETES, compared=(DIABETES, BANK)), judge_diabetes, CODE,
    inputs=inputs_of(DIABETES.name, BANK.name),
)  # fmt: skip
