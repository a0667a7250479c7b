"""A plan of labels as a picture."""

from __future__ import annotations

from itertools import cycle
from typing import Any

from ogive.pate.labels_plan import LabelsPlan, LabelsPlanRow
from ogive.releasing.planning.text import draw_lines
from ogive.showing.pictures import BLUE, GRAY, ORANGE, caption, legend, lighten, new_axes

_COLORS = {"margins": BLUE, "confident": ORANGE, "gnmax": GRAY, "interactive": "#009E73"}
_MARKS = {"margins": "o", "confident": "s", "gnmax": "^", "interactive": "D"}
_DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))


def draw(plan: LabelsPlan, ax: Any = None) -> Any:
    """Draw the share of right labels, a line for each aggregator.

    Against epsilon, with a line of its own for each number of answers; against the number of answers where there are
    more of these.
    """
    axes = new_axes(ax)
    epsilons = sorted({row.epsilon for row in plan.rows})
    answers = sorted({row.max_answers for row in plan.rows})
    by_epsilon = len(epsilons) >= len(answers)
    across, apart = (epsilons, answers) if by_epsilon else (answers, epsilons)
    dashes: dict[float, Any] = dict(zip(apart, cycle(_DASHES), strict=False))

    def places(row: LabelsPlanRow) -> tuple[float, float]:
        return (row.epsilon, row.max_answers) if by_epsilon else (row.max_answers, row.epsilon)

    lines: dict[str, list[tuple[float, float]]] = {}
    styles: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys(row.aggregator for row in plan.rows):
        for other in apart:
            clause = f", at most {other:,} answers" if by_epsilon else f", epsilon = {other:g}"
            label = name + (clause if len(apart) > 1 else "")
            rows = [row for row in plan.rows if row.aggregator == name and places(row)[1] == other]
            lines[label] = [(places(row)[0], 100 * row.right) for row in rows]
            styles[label] = {"color": _COLORS[name], "marker": _MARKS[name], "linestyle": dashes[other]}
    draw_lines(axes, lines, styles, across)
    axes.set_xlabel(f"epsilon, at delta = {plan.delta:g}" if by_epsilon else "Answers at most")
    axes.set_ylabel("Right labels, % of those given")
    axes.set_ylim(top=100.5)
    one = f"; at most {apart[0]:,} answers" if by_epsilon else f"; epsilon = {apart[0]:g}"
    clause = f"{plan.queries:,} queries, {plan.teachers:,} teachers, {plan.classes:,} classes"
    what = "the truth" if plan.known else "the plurality"
    caption(axes, f"Labels that agree with {what}", clause + (one if len(apart) == 1 else ""), private=True)
    legend(axes)
    lighten(axes)
    return axes
