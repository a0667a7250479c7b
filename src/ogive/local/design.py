"""Trees whose budget is split by a rule that needs an accountant; owners get the result, not this."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ogive.accounting.randomized_responses import per_report_epsilon
from ogive.local.tree import TreeOracle
from ogive.privacy import Rational, exact


def design_tree(size: int, epsilon: Rational, delta: Rational = 0, **fields: Any) -> TreeOracle:
    """Design a tree oracle with the largest epsilon per level that the composition allows.

    Args:
        size: Number of symbols.
        epsilon: Epsilon of a whole report.
        delta: Delta of a whole report; above 0 for a budget split by advanced or exact composition, else unused.
        fields: Other fields of `TreeOracle`.

    Raises:
        ParameterError: as for `TreeOracle`.
    """
    whole, slack = exact(epsilon, "epsilon"), exact(delta, "delta")
    rule = fields.get("composition", "basic")
    if fields.get("split", "users") == "users" or rule == "basic":
        return TreeOracle(size, whole, Fraction(0), **fields)
    levels = TreeOracle(size, whole, branching=fields.get("branching", 2)).levels
    share = per_report_epsilon(whole, slack, levels, rule)
    return TreeOracle(size, whole, slack, level_epsilon=share, **fields)
