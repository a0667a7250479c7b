"""The condition that the records of one group satisfy, as every estimate of a group states it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from ogive.columns import LabelValue
from ogive.errors import ParameterError, quoted
from ogive.interfaces import KeptByType
from ogive.predicates import Comparison, within_group
from ogive.privacy import is_one_line
from ogive.provenance import LONGEST_WHERE


def condition(by: str, group: LabelValue, where: str | None) -> str:
    """The condition of a group, beside that of the release if there is one."""
    return within_group(Comparison(by, "==", group), where)


def check_conditions(by: str, groups: Sequence[LabelValue], where: str | None = None) -> None:
    """Refuse groups whose condition no estimate could state, before anything is paid.

    Args:
        by: The column of groups.
        groups: Its values; none where they are not known yet.
        where: The condition of the release.

    Raises:
        ParameterError: the column or a group is a text of several lines, or a condition is too long.
    """
    if not is_one_line(by):
        raise ParameterError(f"the column of groups must have a name of one line, got {quoted(by)}; rename the column")
    for group in groups:
        if isinstance(group, str) and not is_one_line(group):
            raise ParameterError(f"every group must be a text of one line, got {quoted(group)}; rename the group")
    longest = max(groups, key=lambda group: len(condition(by, group, None)), default=None)
    if longest is not None and len(condition(by, longest, where)) > LONGEST_WHERE:
        raise ParameterError(
            f"the condition of a group would have more than {LONGEST_WHERE} characters, `where` included; write a "
            "shorter `where`, or rename the groups"
        )


@runtime_checkable
class OfGroups(Protocol, metaclass=KeptByType):
    """A statistic whose estimate states the condition of each group."""

    def check_where(self, where: str | None) -> None:
        """Refuse a condition beside which that of a group could not be stated.

        Raises:
            ParameterError: it is too long, or a group is no text of one line.
        """
        ...
