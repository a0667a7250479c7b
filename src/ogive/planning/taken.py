"""Predict price and errors of the method that a release would use, and of no other."""

from __future__ import annotations

from typing import Any

from ogive.planning.predict import Planned, Planner, plan_of
from ogive.planning.rows import Plan
from ogive.privacy import Privacy, PrivacyUnit
from ogive.statistics.base import Statistic


def plan_taken(statistic: Statistic[Any], *, privacy: Privacy, records: int, unit: PrivacyUnit, trust: Planned) -> Plan:
    """Predict what the method that is taken costs, and how far off it is.

    Args:
        statistic: The statistic to plan.
        privacy: The guarantee.
        records: Number of records; a guess if the adjacency keeps it private.
        unit: Whose data the guarantee would hide.
        trust: Trust model, as for `plan`.

    Returns:
        A plan of one row, with the numbers of that row in `plan`.

    Raises:
        ParameterError, UnsupportedError, BudgetError: an argument is out of range, or the statistic does not fit.

    Privacy:
        Reads no private records and costs nothing.
    """
    planner = Planner.of(
        statistic,
        records,
        unit.adjacency,
        unit.person,
        unit.max_rows_per_person,
        trust,
        None,
        None,
        None,
        None,
        public=unit.public,
    )
    return plan_of([planner], records, [planner.taken(privacy)])
