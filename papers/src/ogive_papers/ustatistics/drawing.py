"""How the paper draws errors: a curve of means for every epsilon, against the number of bins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ogive_papers.ecdf.drawing import plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ogive_papers.summaries import Summary

COLORS = ("#c05621", "#2b6cb0", "#2f855a", "#6b46c1")
MARKERS = ("o", "s", "D", "^")


def by_bins(axes: Axes, summary: Summary, quantity: str, *, linestyle: str = "-", name: str = "") -> None:
    """One curve of errors against the number of bins for each epsilon, called by it and perhaps by a name."""
    from matplotlib.ticker import MaxNLocator

    epsilons = sorted({float(row.setting["epsilon"]) for row in summary.rows})
    for epsilon, color, marker in zip(epsilons, COLORS, MARKERS, strict=False):
        plot(
            axes, summary.where(epsilon=epsilon), "exponent", quantity,
            color=color, marker=marker, linestyle=linestyle, label=f"epsilon {epsilon:g}{name and ', '}{name}",
        )  # fmt: skip
    axes.set(yscale="log", xlabel="bins: 2 to the power of")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
