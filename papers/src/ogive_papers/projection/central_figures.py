"""Figures 2 and D2: distance from the true distribution function against epsilon, and what the paper says of it."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from ogive_papers.items import FIGURE, Item
from ogive_papers.projection.central import (
    AQ,
    AQ_NAIVE,
    CENTRAL_CODE,
    EPSILONS,
    HQ,
    HQ_CUT,
    HQ_LAPLACE,
    HQ_NAIVE,
    HQ_STEP,
    ISOTROPIC,
    LIBRARY_MODE,
    NO_PRIVACY,
    PAPER_MODE,
    PP,
    PP_EXACT,
    SHAPED,
    SHAPED_6,
    SHAPED_10,
    SHAPED_20,
    errors,
    settings,
)
from ogive_papers.projection.checking import (
    agreement,
    ahead,
    at,
    behind,
    both_ways,
    comparable,
    nearer,
    numbers,
    place,
)
from ogive_papers.projection.distances import EMD, ENERGY, KS
from ogive_papers.projection.drawing import draw_distances
from ogive_papers.projection.per_point import (
    ALL_POINTS,
    DECILES_CAUCHY,
    DECILES_GLOBAL,
    DECILES_LAPLACE,
    POINTS_JOINT,
)
from ogive_papers.projection.reference import CENTRAL
from ogive_papers.projection.shapes import SHAPES
from ogive_papers.summaries import Row, Summary, average
from ogive_papers.verdicts import MIN_RUNS, Check, Outcome, below, every, some

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HIGH_PRIVACY, LOW_PRIVACY, LEAST_PRIVACY = 0.1, 1.0, EPSILONS[-1]
SIMILAR = 1.5
"""Methods are comparable if their distances differ by less than this factor on average."""

INTEGRALS = (EMD, ENERGY)
SHOWN = (*PAPER_MODE, *LIBRARY_MODE, HQ_LAPLACE, NO_PRIVACY)
OTHERS = tuple(name for name in SHAPES if name != "normal")


def rows_at(summary: Summary, shapes: tuple[str, ...], epsilon: float) -> list[Row]:
    """The numbers of all distributions measured at an epsilon."""
    return [row for row in (at(summary, shape, epsilon) for shape in shapes) if row is not None]


def judge_figure_2(summary: Summary) -> tuple[Check, ...]:
    """Compare with Section IV-A, for the normal distribution."""
    both = [row for epsilon in (HIGH_PRIVACY, LOW_PRIVACY) for row in rows_at(summary, ("normal",), epsilon)]
    tight, loose = both
    (end,) = rows_at(summary, ("normal",), LEAST_PRIVACY)
    naive, joint = nearer(tight, PP, AQ_NAIVE), nearer(tight, PP_EXACT, AQ)
    return (
        *both_ways(
            "HQ performs worst: largest Earth Mover's and energy distances at epsilon 0.1 and 1",
            behind(both, HQ_NAIVE, (PP, AQ_NAIVE), INTEGRALS), behind(both, HQ, (PP_EXACT, AQ), INTEGRALS),
            (" | ".join(f"{place(row)}: {numbers(row, *PAPER_MODE)}" for row in both),
             " | ".join(f"{place(row)}: {numbers(row, PP_EXACT, HQ, AQ)}" for row in both)),
        ),
        Check(
            "HQ has the largest Kolmogorov-Smirnov distance too (naive accounting, as in the paper)",
            behind(both, HQ_NAIVE, (PP, AQ_NAIVE), (KS,)),
            numbers(tight, *PAPER_MODE),
            essential=False,
        ),
        *both_ways(
            f"PP is comparable to AQ at epsilon 0.1: within a factor of {SIMILAR}",
            comparable(naive, SIMILAR), comparable(joint, SIMILAR),
            tuple(f"PP has {math.exp(cell.mean):.2f} times the distances of AQ" for cell in (naive, joint)),
        ),
        *both_ways(
            "AQ gets ahead where there is little privacy: smaller Earth Mover's and energy distances at epsilon 5",
            ahead([end], AQ_NAIVE, (PP,), INTEGRALS), ahead([end], AQ, (PP_EXACT,), INTEGRALS),
            (numbers(end, PP, AQ_NAIVE), numbers(end, PP_EXACT, AQ)),
        ),
        Check(
            "AQ is slightly ahead at epsilon 1 already, in these two distances (naive accounting, as in the paper)",
            below(nearer(loose, AQ_NAIVE, PP, INTEGRALS), 0.0),
            numbers(loose, PP, AQ_NAIVE),
            essential=False,
        ),
        *corrected(summary, ("normal",)),
    )  # fmt: skip


def judge_figure_d2(summary: Summary) -> tuple[Check, ...]:
    """Compare with Section IV-A, for the distributions beside the normal one."""
    (beta,) = rows_at(summary, ("beta",), HIGH_PRIVACY)
    tight, loose, end = (rows_at(summary, OTHERS, epsilon) for epsilon in (HIGH_PRIVACY, LOW_PRIVACY, LEAST_PRIVACY))
    return (
        *both_ways(
            "PP outperforms AQ on the beta distribution at epsilon 0.1, in all distances",
            ahead([beta], PP, (AQ_NAIVE,)), ahead([beta], PP_EXACT, (AQ,)),
            (numbers(beta, PP, AQ_NAIVE), numbers(beta, PP_EXACT, AQ)),
        ),
        *both_ways(
            "HQ performs worst at epsilon 1, on every distribution and in every distance",
            behind(loose, HQ_NAIVE, (PP, AQ_NAIVE)), behind(loose, HQ, (PP_EXACT, AQ)),
            (" | ".join(f"{place(row)}: {numbers(row, *PAPER_MODE)}" for row in loose),
             " | ".join(f"{place(row)}: {numbers(row, PP_EXACT, HQ, AQ)}" for row in loose)),
        ),
        Check(
            "HQ performs worst at epsilon 0.1 too, on every distribution (naive accounting, as in the paper)",
            behind(tight, HQ_NAIVE, (PP, AQ_NAIVE)),
            " | ".join(f"{place(row)}: {numbers(row, *PAPER_MODE)}" for row in tight),
            essential=False,
        ),
        *both_ways(
            "AQ gets ahead of PP on some distribution where there is little privacy: at epsilon 5, in all distances",
            some([ahead([row], AQ_NAIVE, (PP,)) for row in end]), some([ahead([row], AQ, (PP_EXACT,)) for row in end]),
            (" | ".join(f"{place(row)}: {numbers(row, PP, AQ_NAIVE)}" for row in end),
             " | ".join(f"{place(row)}: {numbers(row, PP_EXACT, AQ)}" for row in end)),
        ),
        *corrected(summary, OTHERS),
    )  # fmt: skip


def corrected(summary: Summary, shapes: tuple[str, ...]) -> tuple[Check, ...]:
    """What is true of the methods when everything is charged what it costs, and whether the numbers are right."""
    tight = rows_at(summary, shapes, HIGH_PRIVACY)
    rivals = (PP_EXACT, HQ, AQ)
    evidence = " | ".join(f"{place(row)}: {numbers(row, *LIBRARY_MODE)}" for row in tight)
    return (
        Check(
            "corrected: with correct accounting PP is the worst of PP, HQ and AQ at epsilon 0.1, in all distances",
            behind(tight, PP_EXACT, (HQ, AQ)),
            evidence,
        ),
        Check(
            "corrected: the library's projection is ahead of PP, HQ and AQ at epsilon 0.1, in all distances",
            ahead(tight, SHAPED, rivals),
            evidence,
        ),
        Check(
            "it is ahead of a histogram with Laplace noise too, which the library takes by itself, on average over "
            "data and distances",
            below(average(tuple(nearer(row, SHAPED, HQ_LAPLACE) for row in tight)), 0.0),
            " | ".join(f"{place(row)}: {numbers(row, SHAPED, HQ_LAPLACE)}" for row in tight),
            essential=False,
        ),
        Check(
            "it is no farther from the truth than PP, HQ and AQ at every epsilon, on average over the distances",
            every([no_farther(row, SHAPED, other) for row in summary.rows for other in rivals]),
            _closest(summary, rivals),
            essential=False,
        ),
        *without_picture(summary, shapes),
        *agreement(summary, CENTRAL, PAPER_MODE, "as in the paper"),
        *agreement(
            summary, CENTRAL, (PP_EXACT, HQ_CUT, HQ_STEP, AQ, ISOTROPIC, SHAPED_6, SHAPED_10, SHAPED_20, NO_PRIVACY),
            "as the library releases",
        ),
    )  # fmt: skip


def without_picture(summary: Summary, shapes: tuple[str, ...]) -> tuple[Check, ...]:
    """What is true of noise at each point and of smooth sensitivity, which the paper names and does not compare."""
    tight, loose, end = (rows_at(summary, shapes, epsilon) for epsilon in (HIGH_PRIVACY, LOW_PRIVACY, LEAST_PRIVACY))
    smooth, points = (DECILES_CAUCHY, DECILES_LAPLACE), (POINTS_JOINT, ALL_POINTS)

    def evidence(rows: list[Row], *methods: str) -> str:
        return " | ".join(f"{place(row)}: {numbers(row, *methods)}" for row in rows)

    return (
        Check(
            "noise of smooth sensitivity refines that of global sensitivity: smaller distances at epsilon 1 and 5",
            every([ahead([*loose, *end], name, (DECILES_GLOBAL,)) for name in smooth]),
            evidence([*loose, *end], DECILES_GLOBAL, *smooth),
            essential=False,
        ),
        Check(
            "noise at each of 30 points is ahead of PP at epsilon 0.1, with correct accounting of both",
            ahead(tight, POINTS_JOINT, (PP_EXACT,)),
            evidence(tight, POINTS_JOINT, PP_EXACT),
            essential=False,
        ),
        Check(
            "the library's projection is ahead of noise at each point at epsilon 0.1",
            every([ahead(tight, SHAPED, (name,)) for name in points]),
            evidence(tight, SHAPED, *points),
            essential=False,
        ),
        Check(
            "quantiles with noise of smooth sensitivity are behind HQ, AQ and the library's projection at epsilon 0.1 "
            "and 1",
            every([behind([*tight, *loose], name, (HQ, AQ, SHAPED)) for name in smooth]),
            evidence([*tight, *loose], *smooth, HQ, AQ, SHAPED),
            essential=False,
        ),
    )


def no_farther(row: Row, first: str, second: str) -> Outcome:
    """Whether the runs do not show the first method to be farther away."""
    if min(cell.runs for cell in row.cells.values()) < MIN_RUNS:
        return Outcome.UNDECIDED
    return Outcome.FAILS if below(nearer(row, second, first), 0.0) is Outcome.HOLDS else Outcome.HOLDS


def _closest(summary: Summary, rivals: tuple[str, ...]) -> str:
    row, other = max(
        ((row, other) for row in summary.rows for other in rivals),
        key=lambda pair: nearer(pair[0], SHAPED, pair[1]).mean,
    )
    return f"closest at {place(row)}: {numbers(row, SHAPED, other)}"


def draw_figure_2(summary: Summary, figure: Figure) -> None:
    """As in the paper above, as the library releases below."""
    normal = summary.where(data="normal")
    draw_distances([("normal", normal)], SHOWN, figure)


def draw_figure_d2(summary: Summary, figure: Figure) -> None:
    """A row of panels for every distribution."""
    panels = [(SHAPES[name].title, summary.where(data=name)) for name in OTHERS]
    draw_distances(panels, SHOWN, figure)


FIGURE_2 = Item(
    "projection", FIGURE, 2, "distance from the true curve, normal distribution, N = 10 000",
    partial(settings, ("normal",)), errors, draw_figure_2, judge_figure_2, CENTRAL_CODE, usual_runs=50,
)  # fmt: skip
FIGURE_D2 = Item(
    "projection", FIGURE, "D2", "distance from the true curve, four other distributions, N = 10 000",
    partial(settings, OTHERS), errors, draw_figure_d2, judge_figure_d2, CENTRAL_CODE, usual_runs=50,
)  # fmt: skip
