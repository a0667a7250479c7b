"""Figure 7: what the paper says of it, and its picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ogive_papers.ecdf.drawing import PAPER_BLUE, PAPER_RED
from ogive_papers.ecdf.releases import CODE
from ogive_papers.ecdf.runtime import (
    AGREEMENT,
    LINEAR,
    LOG_RATIO,
    OUR_LINEAR,
    OUR_QUADRATIC,
    QUADRATIC,
    settings,
    smoothing_times,
)
from ogive_papers.items import FIGURE, Item
from ogive_papers.summaries import Summary
from ogive_papers.verdicts import Check, Outcome, below, every

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGE = 2**8
"""From here on times are those of the solver rather than of setting it up."""


def judge(summary: Summary) -> tuple[Check, ...]:
    """Compare with Section 6.7: the quadratic program is solved more quickly."""
    sizes, ratios = summary.series("size", LOG_RATIO)
    claim = f"the quadratic program is solved more quickly than the linear one from N = {LARGE} on"
    if not sizes.size:
        return (Check(claim, Outcome.UNDECIDED, "cvxopt is not installed; pip install 'ogive[bench]'"),)
    _, linear = summary.series("size", LINEAR)
    _, quadratic = summary.series("size", QUADRATIC)
    large = [place for place, size in enumerate(sizes) if size >= LARGE]
    _, apart = summary.series("size", AGREEMENT)
    return (
        Check(
            claim,
            every([below(ratios[place], 0.0) for place in large]),
            "LP / QP: " + ", ".join(f"{linear[p].median / quadratic[p].median:.2g} at {sizes[p]:g}" for p in large),
        ),
        Check(
            "both ways to smooth with p=2 find the same curve, to one record",
            every([below(cell, 1.0) for cell in apart]),
            f"largest difference {max(cell.mean for cell in apart):.1g} records",
        ),
    )


def draw(summary: Summary, figure: Figure) -> None:
    """Median seconds against N, both axes logarithmic."""
    axes = figure.subplots()
    for quantity, color, marker, style in (
        (LINEAR, PAPER_RED, "s", "-"),
        (QUADRATIC, PAPER_BLUE, "o", "-"),
        (OUR_LINEAR, PAPER_RED, "s", ":"),
        (OUR_QUADRATIC, PAPER_BLUE, "o", ":"),
    ):
        sizes, cells = summary.series("size", quantity)
        if sizes.size:
            medians = [cell.median for cell in cells]
            axes.plot(sizes, medians, color=color, marker=marker, linestyle=style, label=quantity)
    axes.set_xscale("log", base=2)
    axes.set(yscale="log", xlabel="N", ylabel="seconds, one core")
    axes.set_title("time to smooth one curve")
    axes.legend()


FIGURE_7 = Item(
    "ecdf", FIGURE, 7, "run time of smoothing",
    settings, smoothing_times, draw, judge,
    (*CODE, "papers/ecdf/runtime.py", "papers/ecdf/solvers.py"),
    most_runs=10, alone=True,
)  # fmt: skip
