"""Plans of labels and costs as pictures."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

from ogive.accounting.rounding import shown_up
from ogive.pate.costs.conversion import Rule, epsilon_of_rdp
from ogive.pictures import BLUE, GRAY, ORANGE, caption, lighten, new_axes

if TYPE_CHECKING:
    from ogive.pate.costs.stated import PrivacyCost
    from ogive.pate.planned import LabelsPlan, LabelsPlanRow

_COLORS = {"margins": BLUE, "confident": ORANGE, "gnmax": GRAY, "interactive": "#009E73"}
_MARKS = {"margins": "o", "confident": "s", "gnmax": "^", "interactive": "D"}
_DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))
_MOST_TICKS = 9
_HIGHEST = 4.0
"""Of a picture of costs, in units of the epsilon that counts."""


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


def plot_cost(cost: PrivacyCost, ax: Any = None) -> Any:
    """Draw a cost at every Renyi order, what epsilon each order gives, and the one that counts.

    The picture is as private as the cost: unless `publishable`, as the votes.

    Args:
        cost: What to draw.
        ax: Axes to draw into; new ones by default.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed.
    """
    axes = new_axes(ax)
    rule: Rule = "paper" if cost.rule == "paper" else "tight"
    implied = [
        epsilon_of_rdp([rdp], [order], target_delta=cost.delta, rule=rule).value for order, rdp in cost.by_order.items()
    ]
    mark = "o" if len(cost.orders) == 1 else None
    axes.plot(cost.orders, implied, color=BLUE, linewidth=1.8, marker=mark, label=f"epsilon at delta = {cost.delta:g}")
    axes.plot(cost.orders, cost.rdp, color=GRAY, linewidth=1.4, linestyle=(0, (5, 2)), marker=mark, label="Renyi cost")
    if cost.order is None:
        said = f"epsilon = {shown_up(cost.epsilon, '.4g')}, without orders"
        axes.axhline(cost.epsilon, color=ORANGE, linewidth=1.2, linestyle=(0, (1, 1.5)), label=said)
    else:
        said = f"epsilon = {shown_up(cost.epsilon, '.4g')} at order {cost.order:g}"
        axes.plot([cost.order], [cost.epsilon], "o", color=ORANGE, markersize=7, label=said, zorder=4)
    axes.set_xscale("log")
    if len(cost.orders) <= _MOST_TICKS:
        axes.set_xticks(cost.orders, labels=[f"{order:g}" for order in cost.orders])
        axes.set_xticks([], minor=True)
    axes.set_ylim(0, min(max(*implied, *cost.rdp), max(_HIGHEST * cost.epsilon, min(implied))) * 1.02 or 1.0)
    axes.set_xlabel("Renyi order")
    axes.set_ylabel("Cost")
    clause = (
        "differential privacy, whatever the votes are"
        if cost.publishable
        else "as private as the votes: do not publish"
    )
    caption(axes, f"Cost of {cost.queries:,} queries, {cost.mode.replace('_', ' ')}", clause, private=cost.publishable)
    axes.legend(frameon=False)
    lighten(axes)
    return axes
