"""A plan of labels as a picture."""

from __future__ import annotations

from itertools import cycle
from typing import Any

from ogive.pate.planned import LabelsPlan, LabelsPlanRow
from ogive.pictures import BLUE, GRAY, ORANGE, caption, lighten, new_axes

_COLORS = {"margins": BLUE, "confident": ORANGE, "gnmax": GRAY, "interactive": "#009E73"}
_MARKS = {"margins": "o", "confident": "s", "gnmax": "^", "interactive": "D"}
_DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))
_MOST_TICKS = 9


def plot_labels_plan(plan: LabelsPlan, ax: Any = None) -> Any:
    """Draw the share of right labels, a line for each aggregator.

    Against epsilon, with a line of its own for each number of answers; against the number of answers where there are
    more of these.

    Args:
        plan: What to draw.
        ax: Axes to draw into; new ones by default.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed.
    """
    axes = new_axes(ax)
    epsilons = sorted({row.epsilon for row in plan.rows})
    answers = sorted({row.max_answers for row in plan.rows})
    by_epsilon = len(epsilons) >= len(answers)
    across, apart = (epsilons, answers) if by_epsilon else (answers, epsilons)
    dashes: dict[float, Any] = dict(zip(apart, cycle(_DASHES), strict=False))

    def places(row: LabelsPlanRow) -> tuple[float, float]:
        return (row.epsilon, row.max_answers) if by_epsilon else (row.max_answers, row.epsilon)

    for name in dict.fromkeys(row.aggregator for row in plan.rows):
        for other in apart:
            points = sorted(
                (places(row)[0], 100 * row.right)
                for row in plan.rows
                if row.aggregator == name and places(row)[1] == other
            )
            said = f", at most {other:,} answers" if by_epsilon else f", epsilon = {other:g}"
            axes.plot(
                *zip(*points, strict=True),
                label=name + (said if len(apart) > 1 else ""),
                color=_COLORS[name],
                marker=_MARKS[name],
                linestyle=dashes[other],
                markersize=5,
                linewidth=1.6,
            )
    axes.set_xscale("log")
    if len(across) <= _MOST_TICKS:
        axes.set_xticks(across, labels=[f"{value:g}" for value in across])
        axes.set_xticks([], minor=True)
    axes.set_xlabel(f"epsilon, at delta = {plan.delta:g}" if by_epsilon else "Answers at most")
    axes.set_ylabel("Right labels, % of those given")
    axes.set_ylim(top=100.5)
    one = f"; at most {apart[0]:,} answers" if by_epsilon else f"; epsilon = {apart[0]:g}"
    clause = f"{plan.queries:,} queries, {plan.teachers:,} teachers, {plan.classes:,} classes"
    what = "the truth" if plan.known else "the plurality"
    caption(axes, f"Labels that agree with {what}", clause + (one if len(apart) == 1 else ""), private=True)
    axes.legend(frameon=False, fontsize=8.5)
    lighten(axes)
    return axes
