"""How many reports answer the same question: numbers decide that, and no report and no state can choose it."""

from __future__ import annotations

import numpy as np

from ogive.arrays import Int64, UInt8
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
    assignment = _assignment(oracle)
    if assignment is None:
        return participants
    from ogive.local.aggregation import count_levels

    bounds = np.array(assignment.bounds, dtype=np.int64)
    return int(count_levels(0, participants, bounds, np.uint64(assignment.key), assignment.even).min())


def answers_fit(oracle: Oracle, sums: Int64, heard: UInt8) -> bool:
    """Whether sums have as many reports at each level as participants who were heard are asked it.

    Args:
        oracle: What the reports are of.
        sums: What they add up to, of the oracle's shape.
        heard: Bitmap of participants, 8 in a byte, the first in the lowest bit.
    """
    inner = oracle.inner if isinstance(oracle, PublicClasses) else oracle
    assignment = _assignment(inner)
    if assignment is None:
        return True
    from ogive.local.aggregation import count_heard_levels

    assert isinstance(inner, HaarOracle | TreeOracle)
    counted = sum(inner.level_reports(each) for each in sums.reshape(-1, *inner.shape))
    bounds = np.array(assignment.bounds, dtype=np.int64)
    return np.array_equal(counted, count_heard_levels(heard, bounds, np.uint64(assignment.key), assignment.even))


def _assignment(oracle: Oracle) -> Assignment | None:
    """Who is asked which level; None where everybody is asked the same."""
    if isinstance(oracle, HaarOracle):
        return oracle.assignment
    return oracle.levels_of if isinstance(oracle, TreeOracle) else None
