"""Figure 4: boxplots of records, of private samples and of five private numbers, and what the paper says of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ogive_papers.items import FIGURE, Item
from ogive_papers.projection.boxes import (
    BOXES_CODE,
    DEGREES,
    ENDS,
    ERRORS,
    FIVE,
    FIVE_MONOTONE,
    OFF_ENDS,
    OFF_OUTLIERS,
    OFF_QUARTILES,
    ORIGINAL,
    OUR_FIVE,
    OURS,
    OUTLIERS,
    PICTURE,
    QUARTILES,
    RESAMPLED,
    measure,
    outliers_of,
    settings,
)
from ogive_papers.projection.drawing import BLUE, PURPLE, RED, TRUTH
from ogive_papers.summaries import Cell, Row, Summary, difference, scaled
from ogive_papers.verdicts import MARGIN, MIN_RUNS, Check, Outcome, above, below, every, show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXPECTED_RUNS = 50
ROUNDING = {OUTLIERS: 1.0}
"""How far printed numbers are rounded at most; elsewhere `HUNDREDTH`."""

HUNDREDTH = 0.01

K6, K10, K20 = DEGREES
EXPECTED: dict[str, dict[str, tuple[float, float]]] = {
    FIVE: {"low end": (-2.84, 0.26), "Q1": (-0.676, 0.014), "median": (0.001, 0.014), "Q3": (0.672, 0.014),
           "high end": (2.87, 0.24)},
    FIVE_MONOTONE: {"low end": (-3.15, 0.53), "Q1": (-0.676, 0.013), "median": (0.0, 0.013), "Q3": (0.674, 0.015),
                    "high end": (3.37, 2.1)},
    RESAMPLED: {"low end": (-3.12, 0.69), "Q1": (-0.733, 0.050), "median": (0.019, 0.055), "Q3": (0.754, 0.053),
                "high end": (3.22, 0.75), OUTLIERS: (91, 93)},
    K6: {"Q1": (-0.748, 0.021), "median": (-0.002, 0.018), "Q3": (0.743, 0.020), OUTLIERS: (88, 12)},
    K10: {"low end": (-3.52, 0.46), "Q1": (-0.682, 0.020), "median": (-0.001, 0.017), "Q3": (0.677, 0.019),
          "high end": (3.55, 0.45), OUTLIERS: (84, 19)},
    K20: {"low end": (-3.58, 0.37), "Q1": (-0.678, 0.021), "median": (-0.001, 0.017), "Q3": (0.671, 0.019),
          "high end": (3.58, 0.39), OUTLIERS: (72, 17)},
}  # fmt: skip
"""Mean and standard deviation of the same simulations by another program, 50 runs; the paper prints no numbers."""


def judge(summary: Summary) -> tuple[Check, ...]:
    """Compare with Section IV-B: samples show outliers, and look more like the records."""
    (row,) = summary.where(show=ERRORS).rows

    def off(name: str, what: str) -> Cell:
        return row.cells[f"{name}: {what}"]

    def closer(first: str, second: str, what: str) -> Outcome:
        return below(difference(off(first, what), off(second, what)), 0.0)

    def compared(what: str, *names: str) -> str:
        return f"{what}: " + ", ".join(f"{name} {show(off(name, what))}" for name in names)

    return (
        Check(
            "the boxplot of samples (PP) shows outliers, at least half as many as the records have; "
            "that of five numbers can show none",
            above(difference(off(RESAMPLED, OUTLIERS), scaled(off(ORIGINAL, OUTLIERS), 0.5)), 0.0),
            compared(OUTLIERS, ORIGINAL, RESAMPLED, FIVE),
        ),
        Check(
            "the boxplot of samples (PP) resembles the original better: its smallest and largest value are nearer",
            closer(RESAMPLED, FIVE, OFF_ENDS),
            compared(OFF_ENDS, RESAMPLED, FIVE),
            essential=False,
        ),
        Check(
            "its number of outliers (PP) is nearer to that of the records than none at all",
            closer(RESAMPLED, FIVE, OFF_OUTLIERS),
            compared(OFF_OUTLIERS, RESAMPLED, FIVE),
            essential=False,
        ),
        Check(
            "its quartiles (PP) are nearer as well",
            closer(RESAMPLED, FIVE, OFF_QUARTILES),
            compared(OFF_QUARTILES, RESAMPLED, FIVE),
            essential=False,
        ),
        Check(
            "corrected: read off the library's projection, ends and outliers are nearer than with five numbers",
            every([closer(OURS, OUR_FIVE, what) for what in (OFF_ENDS, OFF_OUTLIERS)]),
            f"{compared(OFF_ENDS, OURS, OUR_FIVE)}; {compared(OFF_OUTLIERS, OURS, OUR_FIVE)}",
        ),
        Check(
            "corrected: so are quartiles, ends and number of outliers, each nearer than with samples of PP",
            every([closer(OURS, RESAMPLED, what) for what in (OFF_QUARTILES, OFF_ENDS, OFF_OUTLIERS)]),
            "; ".join(compared(what, OURS, RESAMPLED) for what in (OFF_QUARTILES, OFF_ENDS, OFF_OUTLIERS)),
        ),
        Check(
            "five numbers still give the nearest quartiles",
            closer(OUR_FIVE, OURS, OFF_QUARTILES),
            compared(OFF_QUARTILES, OUR_FIVE, OURS),
            essential=False,
        ),
        *agreement(row),
    )


def agreement(row: Row) -> tuple[Check, ...]:
    """Compare with the numbers of another simulation."""
    checks = []
    for names, mode in (((FIVE, RESAMPLED), "as in the paper"), ((FIVE_MONOTONE, *DEGREES), "as the library releases")):
        gaps = [
            (f"{name}: {key}", row.cells[f"{name}: {key}"], mean, spread)
            for name in names
            for key, (mean, spread) in EXPECTED[name].items()
        ]
        name, cell, mean, _ = max(gaps, key=lambda gap: _excess(*gap))
        checks.append(
            Check(
                f"{mode}: means of ends, quartiles and outliers are those expected, within {MARGIN:g} standard errors",
                every([_as_expected(*gap) for gap in gaps]),
                f"farthest: {name} is {show(cell)}, expected {mean:g}",
            )
        )
    return tuple(checks)


def _excess(name: str, cell: Cell, mean: float, spread: float) -> float:
    """How far beyond chance and rounding a mean is from what is expected, in standard errors over the margin."""
    error = MARGIN * math.hypot(cell.error, spread / math.sqrt(EXPECTED_RUNS))
    return (abs(cell.mean - mean) - ROUNDING.get(name.rpartition(": ")[2], HUNDREDTH)) / error


def _as_expected(name: str, cell: Cell, mean: float, spread: float) -> Outcome:
    if cell.runs < MIN_RUNS:
        return Outcome.UNDECIDED
    return Outcome.HOLDS if _excess(name, cell, mean, spread) <= 1 else Outcome.FAILS


def draw(summary: Summary, figure: Figure) -> None:
    """The three boxplots of the paper, and the library's."""
    (row,) = summary.where(show=PICTURE).rows
    figure.set_size_inches(9.4, 4.6)
    paper, ours = figure.subplots(1, 2, sharey=True)
    _panel(
        paper, row, "as in the paper, epsilon = 1",
        {ORIGINAL: ("original data", TRUTH), RESAMPLED: ("strategy 2:\nsamples, PP", RED),
         FIVE: ("strategy 1:\nfive numbers", BLUE)},
    )  # fmt: skip
    _panel(
        ours, row, "as the library releases, epsilon = 1",
        {ORIGINAL: ("original data", TRUTH), OURS: ("resample:\nread off LEG-E", PURPLE),
         OUR_FIVE: ("five_numbers:\nselected", BLUE)},
    )  # fmt: skip
    paper.set_ylabel("value")


def _panel(axes: Axes, row: Row, title: str, boxes: dict[str, tuple[str, str]]) -> None:
    for place, (name, (label, color)) in enumerate(boxes.items(), start=1):
        values = {key: row.cells[f"{name}: {key}"].mean for key in (*ENDS, *QUARTILES, "low whisker", "high whisker")}
        box: dict[str, Any] = {
            "label": label, "q1": values["Q1"], "med": values["median"], "q3": values["Q3"],
            "whislo": values["low whisker"], "whishi": values["high whisker"], "fliers": outliers_of(row.cells, name),
        }  # fmt: skip
        line = {"color": color, "linewidth": 1.6}
        dots = {"marker": ".", "markersize": 4, "markerfacecolor": color, "markeredgecolor": color, "alpha": 0.6}
        axes.bxp(
            [box], positions=[place], widths=0.5, boxprops=line, whiskerprops=line, capprops=line, medianprops=line,
            flierprops=dots,
        )  # fmt: skip
    axes.set_xticks(range(1, len(boxes) + 1), [label for label, _ in boxes.values()])
    axes.set(xlim=(0.5, len(boxes) + 0.5), title=title)
    axes.grid(visible=False, axis="x")


FIGURE_4 = Item(
    "projection", FIGURE, 4, "boxplots, normal distribution, N = 10 000", settings, measure, draw, judge, BOXES_CODE,
    usual_runs=50,
)  # fmt: skip
