"""What every estimate of a group states: the condition that its records satisfy, and the adjacency of the release."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

from ogive.columns import LabelValue
from ogive.columns.predicates import Comparison, within_group
from ogive.core.checks import KeptByType
from ogive.errors import ParameterError, quoted
from ogive.privacy import Adjacency, is_one_line
from ogive.provenance import LONGEST_WHERE
from ogive.statistics.base import Estimate


def condition(by: str, group: LabelValue, where: str | None) -> str:
    """The condition of a group, beside that of the release if there is one."""
    return within_group(Comparison(by, "==", group), where)


def check_conditions(by: str, groups: Sequence[LabelValue], where: str | None = None) -> None:
    """Refuse groups whose condition no estimate could state, before anything is paid."""
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
        """Refuse a condition beside which that of a group could not be stated."""
        ...


# --- Estimates of some of the records

StatedT = TypeVar("StatedT", bound=Estimate)


def stated(estimate: StatedT, adjacency: Adjacency) -> StatedT:
    """An estimate whose noise was drawn as if records came and went, as one that hides what the release hides.

    Where replacing a record is hidden and it may join or leave, its part of the records is asked under ADD_OR_REMOVE.
    The price is that of the release, under its own adjacency.
    """
    changed: dict[str, Any] = {}
    held: Any = estimate
    for field in dataclasses.fields(held):
        value = getattr(held, field.name)
        if field.name == "adjacency":
            changed[field.name] = adjacency
        elif isinstance(value, Estimate):
            changed[field.name] = stated(value, adjacency)
        elif isinstance(value, tuple) and value and all(isinstance(each, Estimate) for each in value):
            changed[field.name] = tuple(stated(each, adjacency) for each in value)
    replaced: StatedT = dataclasses.replace(held, **changed) if changed else estimate
    return replaced
