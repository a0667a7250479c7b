"""Figures 3, D3 and D4: ten sites, ten updates, and what the paper says of them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ogive.reproduce.items import FIGURE, Item
from ogive.reproduce.projection.central import AQ, AQ_NAIVE, HQ, HQ_CUT, HQ_NAIVE, PP, PP_EXACT, SHAPED
from ogive.reproduce.projection.checking import (
    agreement,
    ahead,
    both_ways,
    joined,
    nearer,
    numbers,
    place,
)
from ogive.reproduce.projection.drawing import draw_distances
from ogive.reproduce.projection.parts import PARTS_CODE, SECURE, SITES, UPDATES, WEIGHTS, errors, settings
from ogive.reproduce.projection.reference import SITES as EXPECTED_SITES
from ogive.reproduce.projection.reference import UPDATES as EXPECTED_UPDATES
from ogive.reproduce.projection.shapes import SHAPES
from ogive.reproduce.projection.weights import INPUT, SIMULATED, inputs
from ogive.reproduce.summaries import Cell, Row, Summary
from ogive.reproduce.verdicts import Check, below, every

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HIGH_PRIVACY, LOW_PRIVACY = 0.1, 1.0
COMPETITIVE = 2.0
"""A method is competitive if its distances are below this many times those of the best, on average."""

NAIVE_RIVALS, JOINT_RIVALS = (HQ_NAIVE, AQ_NAIVE), (HQ, AQ)
SHOWN = (HQ_NAIVE, AQ_NAIVE, PP, HQ, AQ, PP_EXACT, SHAPED, f"{SHAPED}{SECURE}")
GAIN = math.sqrt(10.0)
"""How much less noise the sum of ten sites has where only the sum is seen."""


def judge_sites(summary: Summary) -> tuple[Check, ...]:
    """Compare with Section IV-A: PP ahead where there is much privacy, competitive where there is little."""
    rows = summary.where(way=SITES).rows
    tight = [row for row in rows if row.setting["epsilon"] == HIGH_PRIVACY]
    loose = [row for row in rows if row.setting["epsilon"] == LOW_PRIVACY]
    naive = [on_average(tight, PP, other) for other in NAIVE_RIVALS]
    joint = [on_average(tight, PP_EXACT, other) for other in JOINT_RIVALS]
    naive_late = [on_average(loose, PP, other) for other in NAIVE_RIVALS]
    joint_late = [on_average(loose, PP_EXACT, other) for other in JOINT_RIVALS]
    return (
        *both_ways(
            "sites: PP outperforms HQ and AQ at epsilon 0.1, on average over data and distances",
            every([below(cell, 0.0) for cell in naive]), every([below(cell, 0.0) for cell in joint]),
            (_times(naive, PP, NAIVE_RIVALS, tight), _times(joint, PP_EXACT, JOINT_RIVALS, tight)),
        ),
        *both_ways(
            f"sites: PP is competitive at epsilon 1, within {COMPETITIVE:g} times the distances of HQ and AQ",
            every([below(cell, math.log(COMPETITIVE)) for cell in naive_late]),
            every([below(cell, math.log(COMPETITIVE)) for cell in joint_late]),
            (_times(naive_late, PP, NAIVE_RIVALS, loose), _times(joint_late, PP_EXACT, JOINT_RIVALS, loose)),
        ),
        Check(
            "corrected: with sites the library's projection is ahead of PP, HQ and AQ at epsilon 0.1, in all distances",
            ahead(tight, SHAPED, (PP_EXACT, *JOINT_RIVALS)),
            " | ".join(f"{place(row)}: {numbers(row, SHAPED, PP_EXACT, HQ, AQ)}" for row in tight),
        ),
        Check(
            "where only the sum of the sites is seen the library's projection is nearer to the truth at epsilon 0.1",
            ahead(tight, f"{SHAPED}{SECURE}", (SHAPED,)),
            _times([on_average(tight, f"{SHAPED}{SECURE}", SHAPED)], f"{SHAPED}{SECURE}", (SHAPED,), tight)
            + f"; the noise is {1 / GAIN:.2f} times, the error besides noise is the same",
        ),
        *agreement(
            summary.where(way=SITES), EXPECTED_SITES, (PP, *NAIVE_RIVALS, f"{PP}{SECURE}"), "sites, as in the paper"
        ),
        *agreement(
            summary.where(way=SITES), EXPECTED_SITES,
            (HQ_CUT, AQ, *(f"{SHAPED} K={degree}{way}" for degree in (10, 20) for way in ("", SECURE))),
            "sites, as the library releases",
        ),
    )  # fmt: skip


def judge_updates(summary: Summary) -> tuple[Check, ...]:
    """Compare with Section IV-A: PP consistently outperforms the other two when new data come."""
    rows = summary.where(way=UPDATES).rows
    tight = [row for row in rows if row.setting["epsilon"] == HIGH_PRIVACY]
    naive = {place(row): [nearer(row, PP, other) for other in NAIVE_RIVALS] for row in rows}
    joint = {place(row): [nearer(row, PP_EXACT, other) for other in JOINT_RIVALS] for row in rows}
    against_aq = [nearer(row, AQ, PP_EXACT) for row in tight]
    return (
        *both_ways(
            "updates: PP is best at every epsilon, on average over distances",
            every([below(cell, 0.0) for cells in naive.values() for cell in cells]),
            every([below(cell, 0.0) for cells in joint.values() for cell in cells]),
            (_worst(naive, NAIVE_RIVALS), _worst(joint, JOINT_RIVALS)),
        ),
        Check(
            "corrected: with updates and correct accounting AQ beats PP at epsilon 0.1",
            every([below(cell, 0.0) for cell in against_aq]),
            " | ".join(f"{place(row)}: {numbers(row, PP_EXACT, AQ)}" for row in tight),
        ),
        Check(
            "corrected: with updates the library's projection is ahead of PP, HQ and AQ at epsilon 0.1, in all of them",
            ahead(tight, SHAPED, (PP_EXACT, *JOINT_RIVALS)),
            " | ".join(f"{place(row)}: {numbers(row, SHAPED, PP_EXACT, HQ, AQ)}" for row in tight),
        ),
        *agreement(summary.where(way=UPDATES), EXPECTED_UPDATES, (PP, *NAIVE_RIVALS), "updates, as in the paper"),
        *agreement(
            summary.where(way=UPDATES), EXPECTED_UPDATES, (HQ_CUT, AQ, f"{SHAPED} K=10", f"{SHAPED} K=20"),
            "updates, as the library releases",
        ),
    )  # fmt: skip


def judge_figure_3(summary: Summary) -> tuple[Check, ...]:
    """Both halves; undecided where the weights are simulated."""
    checks = (*judge_sites(summary), *judge_updates(summary))
    if not simulated(summary):
        return checks
    words = "the weights are SIMULATED, no file of them was found (name it or its folder with --data); "
    return tuple(dataclasses.replace(check, evidence=words + check.evidence) for check in checks)


def simulated(summary: Summary) -> bool:
    """Whether a stand-in was measured in place of the weights."""
    return any(row.setting.get(INPUT) == SIMULATED for row in summary.rows)


def on_average(rows: Sequence[Row], first: str, second: str) -> Cell:
    """Logarithm of the first method's distances over the second's, averaged over settings and distances."""
    return joined(nearer(row, first, second) for row in rows)


def _times(cells: Sequence[Cell], first: str, others: Sequence[str], rows: Sequence[Row]) -> str:
    ratios = ", ".join(f"{math.exp(cell.mean):.2f} times {other}" for cell, other in zip(cells, others, strict=True))
    shown = " | ".join(f"{place(row)}: {numbers(row, first, *others)}" for row in rows)
    return f"{first} has {ratios}; {shown}"


def _worst(found: dict[str, list[Cell]], rivals: Sequence[str]) -> str:
    where, cells = max(found.items(), key=lambda pair: max(cell.mean for cell in pair[1]))
    ratios = ", ".join(f"{math.exp(cell.mean):.2f} times {other}" for cell, other in zip(cells, rivals, strict=True))
    return f"worst for PP at {where}: {ratios}"


def draw_figure_3(summary: Summary, figure: Figure) -> None:
    """Sites above, updates below."""
    draw_distances(
        [("ten sites", summary.where(way=SITES)), ("ten updates", summary.where(way=UPDATES))], SHOWN, figure
    )
    if simulated(summary):
        for axes in figure.axes:
            axes.text(
                0.5, 0.5, "SIMULATED\nweights", transform=axes.transAxes, ha="center", va="center",
                color="#c53030", alpha=0.3, fontsize=18, rotation=20, weight="bold",
            )  # fmt: skip


def draw_synthetic(summary: Summary, figure: Figure) -> None:
    """A row of panels for every distribution."""
    draw_distances([(shape.title, summary.where(data=name)) for name, shape in SHAPES.items()], SHOWN, figure)


FIGURE_3 = Item(
    "projection", FIGURE, 3, "25 000 weights at ten sites, and in ten updates",
    partial(settings, (WEIGHTS,), (SITES, UPDATES)), errors, draw_figure_3, judge_figure_3, PARTS_CODE,
    inputs=inputs, usual_runs=50,
)  # fmt: skip
FIGURE_D3 = Item(
    "projection", FIGURE, "D3", "10 000 records at ten sites",
    partial(settings, tuple(SHAPES), (SITES,)), errors, draw_synthetic, judge_sites, PARTS_CODE, usual_runs=50,
)  # fmt: skip
FIGURE_D4 = Item(
    "projection", FIGURE, "D4", "10 000 records in ten updates of 1000",
    partial(settings, tuple(SHAPES), (UPDATES,)), errors, draw_synthetic, judge_updates, PARTS_CODE, usual_runs=50,
)  # fmt: skip
