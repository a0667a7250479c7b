"""Trees whose budget is split by a rule that needs an accountant; owners get the result, not this."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ogive.accounting.randomized_responses import per_report_epsilon
from ogive.local.tree import TreeOracle
from ogive.privacy import Rational, exact


def design_tree(size: int, epsilon: Rational, delta: Rational = 0, **fields: Any) -> TreeOracle:
    """A tree oracle with the largest share of epsilon for each level that its composition allows.

    Args:
        size: Symbols.
        epsilon: Of a whole report.
        delta: Of a whole report; used where the budget is split by advanced or exact composition, and then above 0.
        fields: Others of `TreeOracle`.

    Raises:
        ParameterError: as `TreeOracle` does.
    """
    whole, slack = exact(epsilon, "epsilon"), exact(delta, "delta")
    rule = fields.get("composition", "basic")
    if fields.get("split", "users") == "users" or rule == "basic":
        return TreeOracle(size, whole, Fraction(0), **fields)
    levels = TreeOracle(size, whole, branching=fields.get("branching", 2)).levels
    share = per_report_epsilon(whole, slack, levels, rule)
    return TreeOracle(size, whole, slack, level_epsilon=share, **fields)
