"""A statistic of those records that a verb, a function or a command was asked for."""

from __future__ import annotations

from ogive.statistics.base import EstimateT, Statistic
from ogive.statistics.options import Where


def asked(statistic: Statistic[EstimateT], *, where: Where | None = None) -> Statistic[EstimateT]:
    """A statistic of the records that somebody asked for.

    Args:
        statistic: What is wanted.
        where: The condition that the records satisfy; None for all records.

    Raises:
        ParameterError: this is no condition.
    """
    if where is None:
        return statistic
    from ogive.statistics.groups.subset import Subset  # most questions are about all records

    return Subset(statistic, where)
