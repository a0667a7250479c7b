"""Which groups can be compared: the same before a release is paid for and after it."""

from __future__ import annotations

from collections.abc import Sequence

from ogive.columns import LabelValue
from ogive.errors import ParameterError, quoted


def place_of(group: LabelValue, by: str, groups: Sequence[LabelValue]) -> int:
    """The place of a group among all groups.

    Raises:
        ParameterError: there is no such group.
    """
    if group not in groups:
        listed = ", ".join(map(quoted, groups[:20])) + (", ..." if len(groups) > 20 else "")
        raise ParameterError(f"there is no group {quoted(group)}; the groups of {quoted(by)} are {listed}")
    return groups.index(group)


def check_compared(group: LabelValue, other: LabelValue, by: str, groups: Sequence[LabelValue]) -> None:
    """Refuse to compare what are not two groups.

    Args:
        group: The first group.
        other: The group that is subtracted, or the divisor.
        by: The column of groups.
        groups: Its values.

    Raises:
        ParameterError: there is no such group, or one is given twice.
    """
    if place_of(group, by, groups) == place_of(other, by, groups):
        raise ParameterError(f"give two different groups to compare, got {quoted(group)} twice")
