"""How many reports answer the same question, which decides how much shuffling hides."""

from __future__ import annotations

import numpy as np

from ogive.errors import ParameterError
from ogive.local.assignment import Assignment
from ogive.local.base import Oracle
from ogive.local.classes import PublicClasses
from ogive.local.haar import HaarOracle
from ogive.local.tree import TreeOracle


def smallest_group(oracle: Oracle, participants: int) -> int:
    """Fewest participants who are asked the same, so that their reports mix, if all of 0..participants-1 report.

    Raises:
        ParameterError: that depends on what participants say of themselves.
    """
    if isinstance(oracle, PublicClasses):
        raise ParameterError(
            "reports of public classes mix with those of their own class only, and nobody knows beforehand how many "
            "those are"
        )
    assignment: Assignment | None = None
    if isinstance(oracle, HaarOracle):
        assignment = oracle.assignment
    elif isinstance(oracle, TreeOracle):
        assignment = oracle.levels_of
    if assignment is None:
        return participants
    from ogive.local.aggregation import count_levels

    bounds = np.array(assignment.bounds, dtype=np.int64)
    return int(count_levels(0, participants, bounds, np.uint64(assignment.key), assignment.even).min())
