"""Figures 1, 8 and 9: single ROC curves, and whether what the paper reads off such pictures holds in repeated runs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from ogive_papers.ecdf.data_sets import BANK, DIABETES, HEART, DataSet, inputs_of
from ogive_papers.ecdf.drawing import NOISE, PAPER_BLUE, PAPER_RED, TRUTH
from ogive_papers.ecdf.drawing import OURS as OURS_GREEN
from ogive_papers.ecdf.roc import (
    ABSOLUTE,
    CODE,
    CURVES,
    DIAGONAL,
    ERRORS,
    HALVES,
    HORIZONTAL,
    OURS,
    RAW,
    SQUARES,
    THRESHOLDS,
    TRUE,
    VERTICAL,
    curve_errors,
    picture_points,
)
from ogive_papers.ecdf.stand_ins import mark, withheld
from ogive_papers.items import FIGURE, Item, Setting
from ogive_papers.summaries import Cell, Row, Summary, difference, scaled
from ogive_papers.verdicts import Check, above, below, every, show

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VISIBLE = 0.01
"""Errors of a coordinate above this are visible in a picture of the unit square."""

STEP = 10 / THRESHOLDS
"""Ten times the part of noise that would be a step between halves if every threshold had noise of its own."""

GOOD, BETTER = 0.5, 0.25
"""A curve is a good picture if its distance from the true one is below this part of the diagonal's; a better one
below the second."""

TENTH = 0.1
GROWTH = 2.0


def settings(quick: bool, *, data_set: DataSet, epsilon: float, compare: bool) -> tuple[Setting, ...]:
    """One release to look at, repeated ones to judge, and these with a tenth of the records."""
    common: Setting = {"data set": data_set.name, "epsilon": epsilon}
    results: list[Setting] = [
        {**common, "show": CURVES, "records": 0, "runs": 1},
        {**common, "show": ERRORS, "records": 0},
    ]
    if compare:
        results.append({**common, "show": ERRORS, "records": round(TENTH * data_set.rows / 2)})
    return tuple(results)


def judge_noise(summary: Summary, *, data_set: DataSet) -> tuple[Check, ...]:
    """Compare with Section 5.1: noise in both coordinates, the tree in it, and smoothing that helps."""
    cells = repeated(summary).cells
    return withheld(
        summary,
        (
            Check(
                f"noise is visible in both coordinates: the raw curve's errors above {VISIBLE}",
                every([above(cells[name], VISIBLE) for name in (HORIZONTAL, VERTICAL)]),
                f"horizontal {show(cells[HORIZONTAL])}, vertical {show(cells[VERTICAL])}",
            ),
            Check(
                "the noise's tree can be seen: one half of the thresholds above, the other below, for at least "
                f"{STEP:.2g} of the noise",
                above(cells[HALVES], STEP),
                f"{show(cells[HALVES])}; noise of every threshold's own would make {1 / THRESHOLDS:.2g}",
            ),
            smoothing_check(cells, essential=True),
        ),
        data_set,
    )


def judge_size(summary: Summary, *, data_set: DataSet) -> tuple[Check, ...]:
    """Compare with Section 5.1: more records give a good picture at a smaller epsilon."""
    row = repeated(summary)
    few = next(other for other in summary.where(show=ERRORS).rows if other.setting["records"] != 0)
    near, far, diagonal = row.cells[SQUARES], few.cells[SQUARES], row.cells[DIAGONAL]
    evidence = (
        f"distance {show(near)}, the diagonal's {diagonal.mean:.3g}; p=1 {show(row.cells[ABSOLUTE])}; "
        f"ours {show(row.cells[OURS])}"
    )
    return withheld(
        summary,
        (
            Check(
                f"the curve smoothed with p=2 gives a good picture: its distance from the true one below {GOOD} times "
                "that of the diagonal, which knows nothing",
                below(difference(near, scaled(diagonal, GOOD)), 0.0),
                evidence,
            ),
            Check(
                f"it gives an even better picture: below {BETTER} times",
                below(difference(near, scaled(diagonal, BETTER)), 0.0),
                evidence,
                essential=False,
            ),
            Check(
                f"more records make up for a smaller epsilon: with a tenth of them at least {GROWTH:g} times as far",
                above(difference(far, scaled(near, GROWTH)), 0.0),
                f"distance {show(far)} with {few.setting['records']} records",
            ),
            smoothing_check(row.cells, essential=False),
        ),
        data_set,
    )


def repeated(summary: Summary) -> Row:
    """The setting at which releases of all records were repeated."""
    (row,) = summary.where(show=ERRORS, records=0).rows
    return row


def smoothing_check(cells: Mapping[str, Cell], *, essential: bool) -> Check:
    """Whether both smoothings take the curve nearer to the true one; the paper says so of Figure 1."""
    errors = [f"{name} {show(cells[f'point error, {name}'])}" for name in (RAW, ABSOLUTE, SQUARES)]
    return Check(
        "smoothed curves stay closer to the true one than the raw curve, with p=1 and with p=2",
        every([below(cells[f"{name} - raw"], 0.0) for name in (ABSOLUTE, SQUARES)]),
        "error of a point: " + ", ".join(errors),
        essential,
    )


def draw(summary: Summary, figure: Figure, *, data_set: DataSet) -> None:
    """One release: the paper's curves, and ours beside its best."""
    (row,) = summary.where(show=CURVES).rows
    points = {name: picture_points(row.cells, name) for name in (TRUE, RAW, ABSOLUTE, SQUARES, OURS)}
    paper, ours = figure.subplots(1, 2, sharey=True)
    for axes, title, shown in (
        (paper, f"{data_set.title}, epsilon = {row.setting['epsilon']:g}, one release", (RAW, ABSOLUTE, SQUARES, TRUE)),
        (ours, "ours at the same guarantee", (SQUARES, OURS, TRUE)),
    ):
        for name in shown:
            axes.plot(*points[name], label=name, **STYLES[name])
        axes.set(xlabel="false positives, share", xlim=(0, 1), ylim=(0, 1), aspect="equal")
        axes.legend(loc="lower right")
        mark(axes, summary, data_set, title)
    paper.set_ylabel("true positives, share")


STYLES: dict[str, Any] = {
    TRUE: {"color": TRUTH, "linewidth": 1.4},
    RAW: {"color": NOISE, "linewidth": 0.8},
    ABSOLUTE: {"color": PAPER_RED, "linestyle": "--"},
    SQUARES: {"color": PAPER_BLUE},
    OURS: {"color": OURS_GREEN},
}


def _item(number: int, data_set: DataSet, epsilon: float) -> Item:
    compare = data_set is not HEART
    return Item(
        "ecdf", FIGURE, number, f"a ROC curve of {data_set.title} at epsilon = {epsilon:g}",
        partial(settings, data_set=data_set, epsilon=epsilon, compare=compare),
        curve_errors,
        partial(draw, data_set=data_set),
        partial(judge_size if compare else judge_noise, data_set=data_set),
        CODE, inputs=inputs_of(data_set.name),
    )  # fmt: skip


FIGURE_1 = _item(1, HEART, 0.5)
FIGURE_8 = _item(8, BANK, 0.2)
FIGURE_9 = _item(9, DIABETES, 0.05)
