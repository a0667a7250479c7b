"""Figures 1 and D1: the curves of one release, and whether what the paper reads off them holds in repeated ones."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ogive_papers.items import FIGURE, Item
from ogive_papers.projection.central import AQ, AQ_NAIVE, HQ, HQ_NAIVE, PP, SHAPED, quantity
from ogive_papers.projection.checking import JOINT, NAIVE, agreement
from ogive_papers.projection.distances import ENERGY, KS
from ogive_papers.projection.drawing import BLUE, GREEN, LABELS, PURPLE, RED, TRUTH
from ogive_papers.projection.reference import WITHOUT_NOISE
from ogive_papers.projection.shapes import SHAPES
from ogive_papers.projection.single import (
    CURVES,
    ERRORS,
    IGNORANT,
    PLAIN,
    PRIVATE,
    SINGLE_CODE,
    STRIDE,
    TRUE,
    measure,
    points,
    settings,
)
from ogive_papers.summaries import Cell, Row, Summary, difference, scaled
from ogive_papers.verdicts import Check, above, below, every, show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

APPENDIX = ("beta", "exponential")
"""The paper shows two more distributions, of which it names the beta one."""

VISIBLE, NEAR, FITTING = 0.05, 0.05, 0.1
"""Kolmogorov-Smirnov distances: above the first HQ's steps are noticeable, below the second a curve without noise is a
good fit, below the third a private one is."""

CROWDED = 1.2
"""Points crowd in the steep part if it has this many times as many as points spread evenly would have there."""


def judge(summary: Summary, *, shapes: tuple[str, ...]) -> tuple[Check, ...]:
    """Compare with Section IV-A."""
    rows = {name: summary.where(data=name, show=ERRORS).rows[0] for name in shapes}
    checks = [
        Check(
            f"HQ differs noticeably from the true curve even without noise: KS above {VISIBLE}",
            every([above(_plain(row, HQ_NAIVE), VISIBLE) for row in rows.values()]),
            _evidence(rows, HQ_NAIVE),
        ),
        Check(
            "but that is the steps' fault: with straight lines between edges HQ's KS is below half of it",
            every([
                below(difference(_plain(row, HQ), scaled(_plain(row, HQ_NAIVE), 0.5)), 0.0) for row in rows.values()
            ]),
            _evidence(rows, HQ),
            essential=False,
        ),
        Check(
            "AQ without noise is the most accurate of the three: smaller KS than HQ and PP",
            every([
                below(difference(_plain(row, AQ), _plain(row, other)), 0.0)
                for row in rows.values() for other in (HQ_NAIVE, PP)
            ]),
            _evidence(rows, HQ_NAIVE, AQ, PP),
            essential=shapes == ("normal",),
        ),
        Check(
            f"AQ's points crowd where the curve is steep: {CROWDED} times as many as evenly spread ones ({NAIVE})",
            every([above(_crowd(row, AQ_NAIVE), CROWDED) for row in rows.values()]),
            _crowds(rows, AQ_NAIVE),
        ),
        Check(
            f"AQ's points crowd where the curve is steep: {CROWDED} times as many ({JOINT})",
            every([above(_crowd(row, AQ), CROWDED) for row in rows.values()]),
            _crowds(rows, AQ),
            essential=False,
        ),
        Check(
            f"PP fits the true curve without noise: KS below {NEAR}",
            every([below(_plain(row, PP), NEAR) for row in rows.values()]),
            _evidence(rows, PP),
        ),
        Check(
            "PP follows the true curve with noise: nearer to it than the uniform distribution is, in energy distance",
            every([
                below(difference(_energy(row, PP), _energy(row, IGNORANT)), 0.0) for row in rows.values()
            ]),
            "; ".join(
                f"{name}: {show(_energy(row, PP))}, uniform {_energy(row, IGNORANT).mean:.3g}"
                for name, row in rows.items()
            ),
        ),
        Check(
            f"PP fits the true curve with noise: KS below {FITTING} (the paper's constants)",
            every([below(row.cells[quantity(PP, KS)], FITTING) for row in rows.values()]),
            "; ".join(f"{name}: {show(row.cells[quantity(PP, KS)])}" for name, row in rows.items()),
            essential=False,
        ),
        Check(
            f"corrected: the library's projection does, KS below {FITTING}",
            every([below(row.cells[quantity(SHAPED, KS)], FITTING) for row in rows.values()]),
            "; ".join(f"{name}: {show(row.cells[quantity(SHAPED, KS)])}" for name, row in rows.items()),
        ),
    ]  # fmt: skip
    expected = tuple(dict.fromkeys(method for method, *_ in WITHOUT_NOISE))
    return (*checks, *agreement(summary.where(show=ERRORS), WITHOUT_NOISE, expected, "without noise"))


def _plain(row: Row, method: str) -> Cell:
    return row.cells[quantity(f"{method}, {PLAIN}", KS)]


def _energy(row: Row, method: str) -> Cell:
    return row.cells[quantity(method, ENERGY)]


def _crowd(row: Row, method: str, label: str = PRIVATE) -> Cell:
    """Points in the steep part over what evenly spread ones would have there."""
    return scaled(row.cells[f"{method}, {label}: asked in the steep part"], 1 / row.cells["steep part"].mean)


def _evidence(rows: dict[str, Row], *methods: str) -> str:
    return "; ".join(
        f"{name}: " + ", ".join(f"{method} {show(_plain(row, method))}" for method in methods)
        for name, row in rows.items()
    )


def _crowds(rows: dict[str, Row], method: str) -> str:
    return "; ".join(
        f"{name}: {show(_crowd(row, method))}, without noise {_crowd(row, method, PLAIN).mean:.3g}"
        for name, row in rows.items()
    )


def draw(summary: Summary, figure: Figure, *, shapes: tuple[str, ...]) -> None:
    """Two rows for every distribution: as in the paper, and as the library releases."""
    figure.set_size_inches(9.4, 0.7 + 5.4 * len(shapes))
    grid = figure.subplots(2 * len(shapes), 3, sharey=True)
    for name, upper, lower in zip(shapes, grid[::2], grid[1::2], strict=True):
        (row,) = summary.where(data=name, show=CURVES).rows
        for axes, method, color in (
            *zip(upper, (HQ_NAIVE, AQ_NAIVE, PP), (GREEN, BLUE, RED), strict=True),
            *zip(lower, (HQ, AQ, SHAPED), (GREEN, BLUE, PURPLE), strict=True),
        ):
            _panel(axes, row, method, color)
            axes.set_title(LABELS[method])
        for axes in (upper[0], lower[0]):
            axes.set_ylabel(f"share of records, {SHAPES[name].title}")


def _panel(axes: Axes, row: Row, method: str, color: str) -> None:
    shape = SHAPES[str(row.setting["data"])]
    places = shape.axis[::STRIDE]
    axes.plot(places, points(row.cells, TRUE), color=TRUTH, linewidth=2.6, label="true")
    axes.plot(places, points(row.cells, f"{method}, {PLAIN}"), color=color, linewidth=1.3, label=PLAIN)
    private = points(row.cells, f"{method}, {PRIVATE}")
    axes.plot(places, private, color=color, linestyle="--", linewidth=1.5, label="private, epsilon 0.1")
    asked = points(row.cells, f"{method}, places")
    if asked.size:
        shares = points(row.cells, f"{method}, shares")
        axes.plot(asked, shares, color=color, marker=".", linestyle="", markersize=5)
        axes.plot(asked, np.zeros_like(asked), color=color, marker="|", linestyle="", clip_on=False)
    axes.set(xlim=(shape.low, shape.high), ylim=(-0.03, 1.03))
    # above the ticks that mark where adaptive quantiles asked
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.06 if asked.size else 0.0), fontsize=8)


def _item(number: int | str, title: str, shapes: tuple[str, ...]) -> Item:
    return Item(
        "projection", FIGURE, number, title, partial(settings, shapes), measure, partial(draw, shapes=shapes),
        partial(judge, shapes=shapes), SINGLE_CODE, usual_runs=50,
    )  # fmt: skip


FIGURE_1 = _item(1, "one release at epsilon 0.1, normal distribution, N = 10 000", ("normal",))
FIGURE_D1 = _item("D1", "one release at epsilon 0.1, other distributions, N = 10 000", APPENDIX)
