"""Figures 2 and 3: how much of the noise smoothing takes away (the paper, Section 6.3).

    ratio = |F - F'|^2 / |F - Fhat|^2        squared 2-norms over all N points

for the paper's constants with both of its smoothings, and for the strategy of least error at
the same guarantee with its own smoothing. The last quantities compare the two directly.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ogive.reproduce.ecdf.releases import (
    CODE,
    SIZE,
    best_strategy,
    measure,
    paper_strategy,
    poisson_counts,
    squared_error,
)
from ogive.reproduce.items import FIGURE, Item, Numbers, Setting
from ogive.reproduce.randomness import streams
from ogive.reproduce.summaries import Cell, Summary
from ogive.reproduce.verdicts import Check, above, below, every, show, some
from ogive.statistics.smoothing import smooth

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
RATES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
CROSSING = 0.2
"""Below this epsilon the paper's p=2 curve lies above 1."""

PAPER_BLUE, PAPER_RED, OURS = "#2b6cb0", "#c05621", "#2f855a"


def smoothing_errors(setting: Setting, seed: int, data: Path | None) -> Numbers:
    """One release of X_Pois with every noise and smoothing."""
    epsilon, rate = float(setting["epsilon"]), float(setting["rate"])
    generator, source = streams(seed)
    counts = poisson_counts(SIZE, rate, generator)
    truth = np.cumsum(counts).astype(np.float64)
    total = int(truth[-1])

    paper = paper_strategy(SIZE, epsilon)
    answer = measure(paper, counts, source)
    raw = squared_error(paper.estimate(answer, None), truth)
    absolute, squares = (
        squared_error(smooth(paper, answer, total=total, kind=kind, anchor=False), truth)
        for kind in ("least_absolute", "least_squares")
    )
    ours = best_strategy(SIZE, epsilon)
    answer = measure(ours, counts, source)
    our_raw = squared_error(ours.estimate(answer, total), truth)
    our_smoothed = squared_error(smooth(ours, answer, total=total, kind="least_squares"), truth)
    return {
        "paper p=1": absolute / raw,
        "paper p=2": squares / raw,
        "ours": our_smoothed / our_raw,
        "p=2 - p=1": (squares - absolute) / raw,
        "ours / paper, raw": our_raw / raw,
        "ours / paper p=2, smoothed": our_smoothed / squares,
    }


def figure_2_settings(quick: bool) -> tuple[Setting, ...]:
    """X_Pois(3) at the epsilons of the specification."""
    chosen = (0.05, 0.2, 1.0, 10.0) if quick else EPSILONS
    return tuple({"epsilon": epsilon, "rate": 3.0} for epsilon in chosen)


def figure_3_settings(quick: bool) -> tuple[Setting, ...]:
    """All rates at epsilon 1."""
    chosen = (0.1, 1.0, 3.0, 10.0, 100.0) if quick else RATES
    return tuple({"epsilon": 1.0, "rate": rate} for rate in chosen)


def judge_figure_2(summary: Summary) -> tuple[Check, ...]:
    """Compare with Section 6.3: p=2 helps from epsilon 0.2, beats p=1, and the effect fades."""
    epsilons, squares = summary.series("epsilon", "paper p=2")
    _, gaps = summary.series("epsilon", "p=2 - p=1")
    helped = [place for place, epsilon in enumerate(epsilons) if epsilon >= CROSSING]
    early = [place for place, epsilon in enumerate(epsilons) if epsilon < CROSSING]
    one = int(np.argmin(np.abs(np.log(epsilons))))
    gap = combined(gaps)
    return (
        Check(
            f"p=2 smoothing lowers the squared error from epsilon {CROSSING} on: ratio below 1",
            every([below(squares[place], 1.0) for place in helped]),
            "largest ratio " + show(max((squares[place] for place in helped), key=lambda cell: cell.mean)),
        ),
        Check(
            "p=2 does better than p=1: lower ratio on average over epsilon",
            below(gap, 0.0),
            f"mean of (p=2) - (p=1) {show(gap)}",
        ),
        faded("epsilon", epsilons[-1], squares[-1], epsilons[one], squares[one]),
        Check(
            "the advantage of p=2 over p=1 is larger at the smallest epsilon than at the largest",
            below(difference(gaps[0], gaps[-1]), 0.0),
            f"(p=2) - (p=1) is {show(gaps[0])} at {epsilons[0]:g}, {show(gaps[-1])} at {epsilons[-1]:g}",
            essential=False,
        ),
        Check(
            f"the p=2 ratio crosses 1 near epsilon {CROSSING}: above 1 somewhere below it",
            some([above(squares[place], 1.0) for place in early]),
            "ratios there: " + ", ".join(f"{show(squares[place])} at {epsilons[place]:g}" for place in early),
            essential=False,
        ),
    )


def judge_figure_3(summary: Summary) -> tuple[Check, ...]:
    """Compare with Section 6.3: a gain at moderate lambda, little at large lambda."""
    rates, squares = summary.series("rate", "paper p=2")
    moderate = [place for place, rate in enumerate(rates) if 1 <= rate <= 10]
    middle = int(np.argmin(np.abs(np.log(rates / 3.0))))
    cells = [squares[place] for place in moderate]
    return (
        Check(
            "p=2 smoothing lowers the squared error at lambda from 1 to 10: ratio below 1",
            every([below(cell, 1.0) for cell in cells]),
            "largest ratio " + show(max(cells, key=lambda cell: cell.mean)),
        ),
        faded("lambda", rates[-1], squares[-1], rates[middle], squares[middle]),
    )


def faded(name: str, far: float, last: Cell, near: float, middle: Cell) -> Check:
    """The effect, |1 - ratio|, at the far end is below half of what it is in the middle."""
    quantity = Cell(
        abs(1 - last.mean) - abs(1 - middle.mean) / 2,
        math.hypot(last.error, middle.error / 2),
        abs(1 - last.median) - abs(1 - middle.median) / 2,
        min(last.runs, middle.runs),
    )
    return Check(
        f"the effect fades as {name} grows: |1 - ratio| at {far:g} below half of that at {near:g}",
        below(quantity, 0.0),
        f"p=2 ratio {show(last)} at {far:g}, {show(middle)} at {near:g}",
    )


def combined(cells: tuple[Cell, ...]) -> Cell:
    """Average of independent quantities."""
    size = len(cells)
    return Cell(
        math.fsum(cell.mean for cell in cells) / size,
        math.hypot(*(cell.error for cell in cells)) / size,
        math.fsum(cell.median for cell in cells) / size,
        min(cell.runs for cell in cells),
    )


def difference(first: Cell, second: Cell) -> Cell:
    """First minus second, independent of each other."""
    return Cell(
        first.mean - second.mean,
        math.hypot(first.error, second.error),
        first.median - second.median,
        min(first.runs, second.runs),
    )


def _draw(summary: Summary, figure: Figure, axis: str, label: str) -> None:
    ratios, gains = figure.subplots(1, 2)
    logarithmic(ratios)
    logarithmic(gains)
    for quantity, color, marker, style in (
        ("paper p=1", PAPER_RED, "s", "-"),
        ("paper p=2", PAPER_BLUE, "o", "-"),
        ("ours", OURS, "D", "--"),
    ):
        plot(ratios, summary, axis, quantity, color=color, marker=marker, linestyle=style)
    ratios.axhline(1.0, color="#1f2933", linewidth=0.9)
    ratios.set(xlabel=label, ylabel="squared error, smoothed / unsmoothed")
    ratios.set_ylim(bottom=0)
    ratios.set_title("what smoothing does")
    ratios.legend()
    plot(gains, summary, axis, "ours / paper, raw", color=OURS, marker="^", linestyle=":")
    plot(gains, summary, axis, "ours / paper p=2, smoothed", color=OURS, marker="D", linestyle="-")
    gains.axhline(1.0, color="#1f2933", linewidth=0.9)
    gains.set(xlabel=label, ylabel="squared error, ours / paper's", ylim=(0, 1.05))
    gains.set_title("ours against the paper's")
    gains.legend()


def logarithmic(axes: Axes) -> None:
    """Make the horizontal axis logarithmic, with plain numbers."""
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")


def plot(axes: Axes, summary: Summary, axis: str, quantity: str, *, color: str, marker: str, linestyle: str) -> None:
    """One curve of means, with two standard errors; on a logarithmic axis, as far down as up."""
    places, cells = summary.series(axis, quantity)
    up = [2 * cell.error if math.isfinite(cell.error) else 0.0 for cell in cells]
    down = up
    if axes.get_yscale() == "log":
        down = [cell.mean - cell.mean**2 / (cell.mean + length) for cell, length in zip(cells, up, strict=True)]
    axes.errorbar(
        places,
        [cell.mean for cell in cells],
        yerr=[down, up],
        color=color,
        marker=marker,
        linestyle=linestyle,
        capsize=2,
        label=quantity,
    )


def draw_figure_2(summary: Summary, figure: Figure) -> None:
    """Ratios against epsilon."""
    _draw(summary, figure, "epsilon", "epsilon")


def draw_figure_3(summary: Summary, figure: Figure) -> None:
    """Ratios against lambda."""
    _draw(summary, figure, "rate", "lambda, records per grid point")


_CODE = (*CODE, "reproduce/ecdf/smoothing.py")

FIGURE_2 = Item(
    "ecdf", FIGURE, 2, "effect of smoothing, lambda = 3, N = 32768",
    figure_2_settings, smoothing_errors, draw_figure_2, judge_figure_2, _CODE,
)  # fmt: skip
FIGURE_3 = Item(
    "ecdf", FIGURE, 3, "effect of smoothing, epsilon = 1, N = 32768",
    figure_3_settings, smoothing_errors, draw_figure_3, judge_figure_3, _CODE,
)  # fmt: skip
