"""Figures 6 and 7: what the paper says of the generic protocol for the AUC, and its pictures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ogive_papers.ecdf.data_sets import DIABETES
from ogive_papers.ecdf.stand_ins import absence, is_simulated, mark
from ogive_papers.items import FIGURE, Item, Setting
from ogive_papers.summaries import Summary, average, difference, excess, scaled
from ogive_papers.ustatistics import generic
from ogive_papers.ustatistics.auc_figures import Rows, shown
from ogive_papers.ustatistics.drawing import by_bins
from ogive_papers.ustatistics.generic import CODE, GUESS, NOISE, OURS, PAPER, STATED
from ogive_papers.ustatistics.scores import AUC_ONE, DIGIT, PATIENTS, SYNTHETIC, UNIFORM, inputs
from ogive_papers.verdicts import Check, Outcome, above, below, every

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GOOD, BAD = 0.02, 0.4
"""An error below the first is good with a million people in each class; one above the second is that of a guess."""

SMALL = 4
"""Up to 2^4 bins a domain is small."""

GROWTH = 10.0
"""The error scales badly if the most bins have at least so many times that of the fewest."""


def _rows(summary: Summary) -> Rows:
    return {
        (str(row.setting["data"]), int(row.setting["exponent"]), float(row.setting["epsilon"])): row.cells
        for row in summary.rows
    }


def judge_synthetic(summary: Summary) -> tuple[Check, ...]:
    """Compare with Appendix D.1 and Figure 6."""
    rows = _rows(summary)
    epsilons = sorted({epsilon for *_, epsilon in rows})
    exponents = sorted({exponent for _, exponent, _ in rows})
    small = [key for key in rows if key[0] != DIGIT and key[1] <= SMALL and key[2] >= 1]
    ends = [(UNIFORM, exponent, epsilons[0]) for exponent in (exponents[0], exponents[-1])]
    digits = [key for key in rows if key[0] == DIGIT]
    deepest = max(key[1] for key, row in rows.items() if OURS in row)
    return (
        Check(
            f"auc_one and ur: good in a small domain, an error below {GOOD:g} at epsilon 1 and more",
            every([below(rows[key][PAPER], GOOD) for key in small]),
            shown(rows, PAPER, [key for key in small if key[1] == max(each[1] for each in small)]),
        ),
        Check(
            f"scales very poorly with the number of bins: ur errs at least {GROWTH:g} times as much at most bins",
            above(difference(rows[ends[1]][PAPER], scaled(rows[ends[0]][PAPER], GROWTH)), 0.0),
            shown(rows, PAPER, ends),
        ),
        Check(
            f"ithdigit: a large error at every number of bins, above {BAD:g} on average over epsilons",
            every([
                above(average(tuple(rows[key][PAPER] for key in digits if key[1] == exponent)), BAD)
                for exponent in exponents
            ]),
            shown(rows, PAPER, digits[:: len(epsilons)]),
        ),
        _honest(rows),
        Check(
            "beyond the paper: one bit in the Haar basis errs less than half as much, on average from 2^6 bins on and "
            "but for ithdigit",
            below(excess(
                (row[OURS], row[PAPER])
                for key, row in rows.items() if OURS in row and key[0] != DIGIT and key[1] >= 6 and key[2] <= 2
            ), -0.5),
            shown(rows, OURS, [(name, deepest, epsilons[0]) for name in (AUC_ONE, UNIFORM)]),
            essential=False,
        ),
    )  # fmt: skip


def judge_patients(summary: Summary) -> tuple[Check, ...]:
    """Compare with Appendix D.2 and Figure 7."""
    if is_simulated(summary, DIABETES):
        return (
            Check(
                "the generic protocol on a model's scores of diabetes patients", Outcome.UNDECIDED, absence(DIABETES)
            ),
        )
    rows = _rows(summary)
    largest = max(epsilon for *_, epsilon in rows)
    middling = max(epsilon for *_, epsilon in rows if epsilon <= 2)
    few = [key for key in rows if key[1] <= SMALL]
    return (
        Check(
            f"small error in a small domain: below that of guessing 1/2 at epsilon {largest:g}",
            every([below(difference(rows[key][PAPER], rows[key][GUESS]), 0.0) for key in few if key[2] == largest]),
            shown(rows, PAPER, [key for key in few if key[2] == largest]),
        ),
        Check(
            f"the classes are so well separated that 2^2 bins are enough: below half of that at epsilon {largest:g}",
            every([
                below(difference(rows[key][PAPER], scaled(rows[key][GUESS], 0.5)), 0.0)
                for key in few if key[1] == 2 and key[2] == largest
            ]),
            shown(rows, PAPER, [key for key in few if key[1] == 2 and key[2] == largest]),
            essential=False,
        ),
        _honest(rows),
        Check(
            f"beyond the paper: one bit in the Haar basis errs less than half as much, on average from 2^6 bins on and "
            f"up to epsilon {middling:g}",
            below(excess(
                (row[OURS], row[PAPER])
                for key, row in rows.items() if OURS in row and key[1] >= 6 and key[2] <= middling
            ), -0.5),
            shown(rows, OURS, [key for key in rows if OURS in rows[key] and key[1] >= 6 and key[2] == middling]),
            essential=False,
        ),
    )  # fmt: skip


def _honest(rows: Rows) -> Check:
    """The stated standard error, of a normal error 1.25 times its mean size, against the errors that were made."""
    ratios = [
        difference(scaled(row[NOISE], 1.25), scaled(row[STATED], factor))
        for row in rows.values() for factor in (1.5, 0.6)
    ]  # fmt: skip
    outcomes = [below(cell, 0.0) for cell in ratios[::2]] + [above(cell, 0.0) for cell in ratios[1::2]]
    fails = Outcome.FAILS in outcomes
    worst = max(1.25 * row[NOISE].mean / row[STATED].mean for row in rows.values())
    least = min(1.25 * row[NOISE].mean / row[STATED].mean for row in rows.values())
    return Check(
        "stated standard errors are those that were made, to a factor of 0.6 to 1.5 wherever the runs decide",
        Outcome.FAILS if fails else Outcome.HOLDS,
        f"errors are {least:.2f} to {worst:.2f} times as large as stated",
        essential=False,
    )


def draw(summary: Summary, figure: Figure) -> None:
    """For every data set randomized response, and what the library takes."""
    names = list(dict.fromkeys(str(row.setting["data"]) for row in summary.rows))
    figure.set_size_inches(4.6 * max(len(names), 2), 3.8)
    grid = figure.subplots(1, max(len(names), 2), sharey=True)
    for number, name in enumerate(names):
        part = summary.where(data=name)
        by_bins(grid[number], part, PAPER)
        if len(names) > 1:
            by_bins(grid[number], part, OURS, linestyle=":", name="Haar basis")
        mark(grid[number], summary, DIABETES, name if len(names) > 1 else f"{name}: {PAPER}")
    if len(names) == 1:
        by_bins(grid[1], summary, OURS)
        mark(grid[1], summary, DIABETES, OURS)
    grid[0].legend(fontsize="x-small")
    grid[0].set_ylabel("mean absolute error of the AUC")


def _settings(names: tuple[str, ...], quick: bool) -> tuple[Setting, ...]:
    return generic.settings(*names, quick=quick)


FIGURE_6 = Item(
    "ustatistics", FIGURE, 6, "the generic protocol on synthetic scores, a million people in each class",
    partial(_settings, SYNTHETIC), generic.errors, draw, judge_synthetic, CODE, usual_runs=20,
)  # fmt: skip
FIGURE_7 = Item(
    "ustatistics", FIGURE, 7, "the generic protocol on a model's scores, 693 people in the smaller class",
    partial(_settings, (PATIENTS,)), generic.errors, draw, judge_patients,
    (*CODE, "demo/data.py", "papers/ecdf/models.py"),
    inputs=inputs, usual_runs=20,
)  # fmt: skip
