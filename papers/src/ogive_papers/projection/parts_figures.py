"""Figures 3, D3 and D4: ten sites, ten updates, and what the paper says of them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ogive_papers.items import FIGURE, Item, Setting
from ogive_papers.projection.central import AQ, AQ_NAIVE, HQ, HQ_CUT, HQ_LAPLACE, HQ_NAIVE, PP, PP_EXACT, SHAPED
from ogive_papers.projection.checking import (
    NAIVE,
    agreement,
    ahead,
    both_ways,
    nearer,
    numbers,
    place,
)
from ogive_papers.projection.drawing import draw_distances
from ogive_papers.projection.parts import PARTS, PARTS_CODE, SECURE, SITES, UPDATES, WEIGHTS, errors, settings
from ogive_papers.projection.reference import SITES as EXPECTED_SITES
from ogive_papers.projection.reference import UPDATES as EXPECTED_UPDATES
from ogive_papers.projection.shapes import SHAPES
from ogive_papers.projection.weights import INPUT, LIKE, SIMULATED, inputs
from ogive_papers.simulated import stamp
from ogive_papers.summaries import Cell, Row, Summary, average
from ogive_papers.verdicts import Check, below, every

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HIGH_PRIVACY, LOW_PRIVACY = 0.1, 1.0
COMPETITIVE = 2.0
"""A method is competitive if its distances are below this many times those of the best, on average."""

NAIVE_RIVALS, JOINT_RIVALS = (HQ_NAIVE, AQ_NAIVE), (HQ, AQ)
SHOWN = (HQ_NAIVE, AQ_NAIVE, PP, HQ, AQ, PP_EXACT, SHAPED, HQ_LAPLACE, f"{SHAPED}{SECURE}")
GAIN = math.sqrt(PARTS)
"""How much less noise the sum of all sites has where only the sum is seen."""


def judge_sites(summary: Summary) -> tuple[Check, ...]:
    """Compare with Section IV-A: PP ahead where there is much privacy, competitive where there is little."""
    rows = claimed(summary, SITES)
    strict = [row for row in rows if float(row.setting["epsilon"]) <= HIGH_PRIVACY]
    tight = [row for row in rows if row.setting["epsilon"] == HIGH_PRIVACY]
    loose = [row for row in rows if row.setting["epsilon"] == LOW_PRIVACY]
    naive, joint = on_average(strict, PP, NAIVE_RIVALS), on_average(strict, PP_EXACT, JOINT_RIVALS)
    late_naive, late_joint = on_average(loose, PP, NAIVE_RIVALS), on_average(loose, PP_EXACT, JOINT_RIVALS)
    limit = math.log(COMPETITIVE)
    return (
        *both_ways(
            "sites: PP outperforms HQ and AQ at epsilon up to 0.1, on average over settings and distances",
            every([below(cell, 0.0) for cell in naive]), every([below(cell, 0.0) for cell in joint]),
            (_times(naive, PP, NAIVE_RIVALS, tight), _times(joint, PP_EXACT, JOINT_RIVALS, tight)),
        ),
        *each_alone("sites: so it does at every such epsilon on all data alone", strict),
        *both_ways(
            f"sites: PP is competitive at epsilon 1, within {COMPETITIVE:g} times the distances of HQ and AQ",
            every([below(cell, limit) for cell in late_naive]), every([below(cell, limit) for cell in late_joint]),
            (_times(late_naive, PP, NAIVE_RIVALS, loose), _times(late_joint, PP_EXACT, JOINT_RIVALS, loose)),
        ),
        *library_ahead("sites", tight),
        Check(
            "sites: where only their sum is seen the library's projection is nearer to the truth at epsilon 0.1",
            ahead(tight, f"{SHAPED}{SECURE}", (SHAPED,)),
            _times(on_average(tight, f"{SHAPED}{SECURE}", (SHAPED,)), f"{SHAPED}{SECURE}", (SHAPED,), tight)
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
    rows = claimed(summary, UPDATES)
    usual = [row for row in rows if float(row.setting["epsilon"]) <= LOW_PRIVACY]
    tight = [row for row in rows if row.setting["epsilon"] == HIGH_PRIVACY]
    beyond = [row for row in rows if float(row.setting["epsilon"]) > LOW_PRIVACY]
    naive, joint = on_average(usual, PP, NAIVE_RIVALS), on_average(usual, PP_EXACT, JOINT_RIVALS)
    return (
        *both_ways(
            "updates: PP is best at epsilon up to 1, on average over settings and distances",
            every([below(cell, 0.0) for cell in naive]), every([below(cell, 0.0) for cell in joint]),
            (_times(naive, PP, NAIVE_RIVALS, tight), _times(joint, PP_EXACT, JOINT_RIVALS, tight)),
        ),
        *each_alone("updates: so it is at every such epsilon on all data alone", usual),
        *each_alone("updates: so it is at every larger epsilon", beyond),
        Check(
            "corrected: with updates and correct accounting AQ beats PP at epsilon 0.1",
            every([below(nearer(row, AQ, PP_EXACT), 0.0) for row in tight]),
            " | ".join(f"{place(row)}: {numbers(row, PP_EXACT, AQ)}" for row in tight),
        ),
        *library_ahead("updates", tight),
        *agreement(summary.where(way=UPDATES), EXPECTED_UPDATES, (PP, *NAIVE_RIVALS), "updates, as in the paper"),
        *agreement(
            summary.where(way=UPDATES), EXPECTED_UPDATES, (HQ_CUT, AQ, f"{SHAPED} K=10", f"{SHAPED} K=20"),
            "updates, as the library releases",
        ),
    )  # fmt: skip


def claimed(summary: Summary, way: str) -> list[Row]:
    """The settings that the paper speaks of; others are there to be compared with expected numbers."""
    return [row for row in summary.where(way=way).rows if row.setting["data"] != LIKE.name]


def each_alone(claim: str, rows: Sequence[Row]) -> tuple[Check, ...]:
    """Whether PP is ahead of the naive baselines at every setting, on average over distances; a detail."""
    if not rows:
        return ()
    result = {place(row): [nearer(row, PP, other) for other in NAIVE_RIVALS] for row in rows}
    where, cells = max(result.items(), key=lambda pair: max(cell.mean for cell in pair[1]))
    ratios = ", ".join(
        f"{math.exp(cell.mean):.2f} times {other}" for cell, other in zip(cells, NAIVE_RIVALS, strict=True)
    )
    outcome = every([below(cell, 0.0) for several in result.values() for cell in several])
    return (Check(f"{claim} ({NAIVE})", outcome, f"worst for PP at {where}: {ratios}", essential=False),)


def library_ahead(way: str, tight: Sequence[Row]) -> tuple[Check, ...]:
    """Whether what the library does is better than all of them."""
    return (
        Check(
            f"corrected: with {way} the library's projection is ahead of PP, HQ, AQ at epsilon 0.1, in all distances",
            ahead(tight, SHAPED, (PP_EXACT, *JOINT_RIVALS)),
            " | ".join(f"{place(row)}: {numbers(row, SHAPED, PP_EXACT, HQ, AQ)}" for row in tight),
        ),
        Check(
            f"{way}: it is ahead of a histogram with Laplace noise too, on average over settings and distances",
            every([below(cell, 0.0) for cell in on_average(tight, SHAPED, (HQ_LAPLACE,))]),
            _times(on_average(tight, SHAPED, (HQ_LAPLACE,)), SHAPED, (HQ_LAPLACE,), tight),
            essential=False,
        ),
    )


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


def on_average(rows: Sequence[Row], first: str, others: Sequence[str]) -> list[Cell]:
    """Logarithm of the first method's distances over those of each other, averaged over settings and distances."""
    return [average(tuple(nearer(row, first, other) for row in rows)) for other in others]


def _times(cells: Sequence[Cell], first: str, others: Sequence[str], rows: Sequence[Row]) -> str:
    ratios = ", ".join(f"{math.exp(cell.mean):.2f} times {other}" for cell, other in zip(cells, others, strict=True))
    shown = " | ".join(f"{place(row)}: {numbers(row, first, *others)}" for row in rows)
    return f"{first} has {ratios}; {shown}"


def draw_figure_3(summary: Summary, figure: Figure) -> None:
    """Sites above, updates below."""
    weighed = summary.where(data=WEIGHTS)
    draw_distances(
        [("ten sites", weighed.where(way=SITES)), ("ten updates", weighed.where(way=UPDATES))], SHOWN, figure
    )
    if simulated(summary):
        for axes in figure.axes:
            stamp(axes, "weights of people")


def draw_synthetic(summary: Summary, figure: Figure) -> None:
    """A row of panels for every distribution."""
    draw_distances([(shape.title, summary.where(data=name)) for name, shape in SHAPES.items()], SHOWN, figure)


def settings_of_figure_3(quick: bool) -> tuple[Setting, ...]:
    """The weights, and a distribution like theirs where numbers are expected."""
    like = settings((LIKE.name,), (SITES, UPDATES), quick)
    expected = tuple(setting for setting in like if setting["epsilon"] in (HIGH_PRIVACY, LOW_PRIVACY))
    return settings((WEIGHTS,), (SITES, UPDATES), quick) + expected


FIGURE_3 = Item(
    "projection", FIGURE, 3, "25 000 weights at ten sites, and in ten updates", settings_of_figure_3, errors,
    draw_figure_3, judge_figure_3, PARTS_CODE, inputs=inputs, usual_runs=50,
)  # fmt: skip
FIGURE_D3 = Item(
    "projection", FIGURE, "D3", "10 000 records at ten sites",
    partial(settings, tuple(SHAPES), (SITES,)), errors, draw_synthetic, judge_sites, PARTS_CODE, usual_runs=50,
)  # fmt: skip
FIGURE_D4 = Item(
    "projection", FIGURE, "D4", "10 000 records in ten updates of 1000",
    partial(settings, tuple(SHAPES), (UPDATES,)), errors, draw_synthetic, judge_updates, PARTS_CODE, usual_runs=50,
)  # fmt: skip
