"""A stated cost as a picture."""

from __future__ import annotations

from typing import Any

from ogive.accounting.losses import shown_up
from ogive.pate.costs.conversion import Rule, epsilon_of_rdp
from ogive.pate.costs.stated import PrivacyCost
from ogive.showing.pictures import BLUE, GRAY, ORANGE, caption, legend, lighten, new_axes

_MOST_TICKS = 9
_HIGHEST = 4.0
"""Upper end of the picture, in units of the epsilon that counts."""


def plot_cost(cost: PrivacyCost, ax: Any = None) -> Any:
    """Draw a cost at every Renyi order, what epsilon each order gives, and the one that counts.

    The picture is as private as the cost: unless `publishable`, as the votes.
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
    clause = "differential privacy for all votes" if cost.publishable else "as private as the votes; do not publish"
    caption(axes, f"Cost of {cost.queries:,} queries, {cost.mode.replace('_', ' ')}", clause, private=cost.publishable)
    legend(axes)
    lighten(axes)
    return axes
