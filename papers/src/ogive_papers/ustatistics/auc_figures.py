"""Figures 3 and 5: what the paper says of the AUC protocol, and its pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from ogive_papers.ecdf.data_sets import DIABETES
from ogive_papers.ecdf.stand_ins import absence, is_simulated, mark
from ogive_papers.items import FIGURE, Item, Setting
from ogive_papers.summaries import Cell, Summary, excess
from ogive_papers.ustatistics import auc
from ogive_papers.ustatistics.auc import BOUND, CODE, HAAR, OURS, PAPER, TIES
from ogive_papers.ustatistics.drawing import by_bins
from ogive_papers.ustatistics.scores import AUC_ONE, DIGIT, PATIENTS, SYNTHETIC, UNIFORM, inputs
from ogive_papers.verdicts import Check, Outcome, above, below, every, show

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Key = tuple[Any, ...]
Rows = Mapping[Key, Mapping[str, Cell]]
"""Quantities by data set (where there are several), exponent of the number of bins, and epsilon."""

FEW, MANY = 8, 10
"""Exponents of the numbers of bins between which an error is compared with those of more bins."""

FLAT = 3.0
"""An error hardly depends on the number of bins if none is more than this many times that of 2^8 bins."""

LITTLE = 0.5
"""More epsilon helps little if the error keeps more than this part of itself."""

LEARNT, NOTHING = 0.2, 0.4
"""An error below the first is low; one above the second is that of a guess."""

BEHIND = 13
"""At so many bins, as a power of two, and fewer all of ithdigit's scores are in one bin."""

TIGHT = 8.0


def judge_patients(summary: Summary) -> tuple[Check, ...]:
    """Compare with Section 6 and Figure 3."""
    rows: Rows = {(int(row.setting["exponent"]), float(row.setting["epsilon"])): row.cells for row in summary.rows}
    if is_simulated(summary, DIABETES):
        return (Check("the protocol on a model's scores of diabetes patients", Outcome.UNDECIDED, absence(DIABETES)),)
    epsilons = sorted({epsilon for _, epsilon in rows})
    exponents = sorted({exponent for exponent, _ in rows if exponent >= FEW})
    few, many, last = exponents[0], exponents[-1], epsilons[-1]
    from_two = max(epsilon for epsilon in epsilons if epsilon <= 2)
    return (
        Check(
            f"robust to the number of bins: at 2^{many} the error is below {FLAT:g} times that at 2^{few}, on average "
            "over epsilons",
            below(excess((rows[many, each][PAPER], rows[few, each][PAPER]) for each in epsilons), FLAT - 1),
            shown(rows, PAPER, [(exponent, epsilon) for exponent in (few, many) for epsilon in epsilons]),
        ),
        Check(
            f"epsilon beyond {from_two:g} helps little: at {last:g} more than {LITTLE:g} of the error is left, on "
            f"average from 2^{few} bins on",
            above(excess((rows[each, last][PAPER], rows[each, from_two][PAPER]) for each in exponents), LITTLE - 1),
            shown(rows, PAPER, [(exponent, epsilon) for epsilon in (from_two, last) for exponent in exponents]),
            essential=False,
        ),
        *_better(rows),
    )  # fmt: skip


def _better(rows: Rows) -> tuple[Check, ...]:
    """What the library has beside the paper's protocol."""
    return (
        Check(
            "beyond the paper: four children and unary nodes err less than what is printed, on average at epsilon "
            "2 and more",
            below(excess((row[OURS], row[PAPER]) for key, row in rows.items() if key[-1] >= 2), 0.0),
            shown(rows, OURS, [key for key in rows if key[-2] == MANY and key[-1] >= 2]),
            essential=False,
        ),
        Check(
            "beyond the paper: one bit in the Haar basis errs less than half as much as what is printed, on average "
            f"from 2^{FEW} bins on and but for ithdigit, whose scores share a bin",
            below(excess(
                (row[HAAR], row[PAPER])
                for key, row in rows.items() if HAAR in row and key[-2] >= FEW and key[0] != DIGIT
            ), -0.5),
            shown(rows, HAAR, [key for key in rows if key[-2] == MANY and key[0] != DIGIT]),
            essential=False,
        ),
    )  # fmt: skip


def judge_synthetic(summary: Summary) -> tuple[Check, ...]:
    """Compare with Appendix D.1 and Figure 5."""
    rows: Rows = {
        (str(row.setting["data"]), int(row.setting["exponent"]), float(row.setting["epsilon"])): row.cells
        for row in summary.rows
    }
    epsilons = sorted({epsilon for *_, epsilon in rows})
    deep = sorted({exponent for _, exponent, _ in rows if exponent >= MANY})
    places = [(exponent, epsilon) for exponent in deep for epsilon in epsilons]
    behind = [key for key in rows if key[0] == DIGIT and key[1] <= BEHIND]
    seen = [key for key in rows if key[0] == DIGIT and key[1] > BEHIND]
    return (
        Check(
            f"auc_one: the bound is not far from tight, its root on average below {TIGHT:g} times the mean error",
            below(excess((rows[AUC_ONE, *place][BOUND], rows[AUC_ONE, *place][TIES]) for place in places), TIGHT - 1),
            shown(rows, TIES, [(AUC_ONE, deep[0], epsilon) for epsilon in epsilons]),
        ),
        Check(
            "ur: much lower, on average below half of that of auc_one",
            below(excess((rows[UNIFORM, *place][TIES], rows[AUC_ONE, *place][TIES]) for place in places), -0.5),
            shown(rows, TIES, [(UNIFORM, deep[0], epsilon) for epsilon in epsilons]),
        ),
        Check(
            f"ithdigit: nothing is learnt up to 2^{BEHIND} bins, an error above {NOTHING:g}",
            every([above(rows[key][PAPER], NOTHING) for key in behind]),
            shown(rows, PAPER, behind[-len(epsilons):]),
        ),
        Check(
            f"ithdigit: from 2^{BEHIND + 1} bins on the error is low, below {LEARNT:g}",
            every([below(rows[key][PAPER], LEARNT) for key in seen]),
            shown(rows, PAPER, seen),
        ),
        Check(
            f"errors scale nicely with the number of bins: at 2^{deep[-1]} below {FLAT:g} times those at 2^{deep[0]}, "
            "on average over epsilons, auc_one and ur alike",
            every([
                below(excess(
                    (rows[name, deep[-1], epsilon][PAPER], rows[name, deep[0], epsilon][PAPER]) for epsilon in epsilons
                ), FLAT - 1)
                for name in (AUC_ONE, UNIFORM)
            ]),
            shown(rows, PAPER, [(AUC_ONE, deep[-1], epsilon) for epsilon in epsilons]),
        ),
        *_better(rows),
    )  # fmt: skip


def shown(rows: Rows, quantity: str, keys: Iterable[Key]) -> str:
    """Numbers at some settings, for evidence."""
    return ", ".join(f"{show(rows[key][quantity])} at {_place(key)}" for key in keys)


def _place(key: Key) -> str:
    *name, exponent, epsilon = key
    return "".join(f"{word} " for word in name) + f"2^{exponent}, epsilon {epsilon:g}"


def draw(summary: Summary, figure: Figure) -> None:
    """For every data set the protocol as printed, and the library's."""
    names = list(dict.fromkeys(str(row.setting["data"]) for row in summary.rows))
    figure.set_size_inches(4.6 * max(len(names), 2), 7.2 if len(names) > 1 else 3.8)
    if len(names) == 1:
        grid = [figure.subplots(1, 2, sharey=True)]
    else:
        columns = figure.subplots(2, len(names), sharex=True, sharey="col")
        grid = [(columns[0][place], columns[1][place]) for place in range(len(names))]
    for name, pair in zip(names, grid, strict=True):
        for axes, quantity in zip(pair, (PAPER, OURS), strict=True):
            by_bins(axes, summary.where(data=name), quantity)
            mark(axes, summary, DIABETES, f"{name}: {quantity}")
        by_bins(pair[1], summary.where(data=name), HAAR, linestyle=":", name="Haar basis")
    for axes in grid[0]:
        axes.legend(ncols=2, fontsize="x-small")
    grid[0][0].set_ylabel("mean absolute error of the AUC")


def _settings(names: tuple[str, ...], quick: bool) -> tuple[Setting, ...]:
    return auc.settings(*names, quick=quick)


FIGURE_3 = Item(
    "ustatistics", FIGURE, 3, "the AUC protocol on a model's scores, 693 people in the smaller class",
    partial(_settings, (PATIENTS,)), auc.errors, draw, judge_patients,
    (*CODE, "demo/data.py", "papers/ecdf/models.py"),
    inputs=inputs, usual_runs=100,
)  # fmt: skip
FIGURE_5 = Item(
    "ustatistics", FIGURE, 5, "the AUC protocol on synthetic scores, a million people in each class",
    partial(_settings, SYNTHETIC), auc.errors, draw, judge_synthetic, CODE, usual_runs=20,
)  # fmt: skip
