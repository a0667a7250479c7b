"""A statistic of those records that a verb, a function or a command was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from ogive.columns import LabelValue
from ogive.errors import ParameterError
from ogive.statistics.base import EstimateT, Statistic
from ogive.statistics.options import Where

if TYPE_CHECKING:
    from ogive.statistics.groups.estimate import GroupEstimates


@overload
def asked(
    statistic: Statistic[EstimateT], *, where: Where | None = None, by: None = None, groups: None = None
) -> Statistic[EstimateT]: ...
@overload
def asked(
    statistic: Statistic[EstimateT], *, where: Where | None, by: str | None, groups: Sequence[LabelValue] | None
) -> Statistic[EstimateT | GroupEstimates[EstimateT]]: ...
def asked(
    statistic: Statistic[Any],
    *,
    where: Where | None = None,
    by: str | None = None,
    groups: Sequence[LabelValue] | None = None,
) -> Statistic[Any]:
    """A statistic of the records that somebody asked for.

    Args:
        statistic: What is wanted.
        where: The condition that the records satisfy; None for all records.
        by: Column of groups, each of which is asked; None for all records in one.
        groups: The values of that column; None to find them.

    Raises:
        ParameterError: this is no condition, or there are groups of no column.
    """
    if by is None and groups is not None:
        raise ParameterError("`groups` are the values of a column; name it with `by=`")
    if by is not None:
        from ogive.statistics.groups.statistic import Grouped

        statistic = Grouped(statistic, by, None if groups is None else tuple(groups))
    if where is None:
        return statistic
    from ogive.statistics.groups.subset import Subset  # most questions are about all records

    return Subset(statistic, where)
