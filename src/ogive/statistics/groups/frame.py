"""Estimates of groups as columns of a data frame: those of each group, one below the other."""

from __future__ import annotations

from typing import Any

from ogive.rooms import room
from ogive.statistics.groups.estimate import GroupEstimates


def columns(found: GroupEstimates[Any]) -> dict[str, Any]:
    """The group, then what the frame of its estimate has."""
    each = [room(type(estimate), "frame").columns(estimate) for estimate in found.estimates]
    sizes = [max(len(values) for values in part.values()) for part in each]
    name = "group" if found.by in each[0] else found.by
    groups = [group for group, size in zip(found.groups, sizes, strict=True) for _ in range(size)]
    return {name: groups, **{column: [value for part in each for value in part[column]] for column in each[0]}}
