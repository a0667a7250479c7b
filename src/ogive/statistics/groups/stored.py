"""Estimates of groups as JSON: exact, versioned, and safe to read from strangers."""

from __future__ import annotations

from typing import Any

from ogive.columns import MAX_GROUPS
from ogive.errors import DataError, ParameterError
from ogive.queries.aggregates import check_groups
from ogive.queries.discovery import LARGEST_THRESHOLD
from ogive.statistics.groups.estimate import GroupEstimates, of_group
from ogive.statistics.kinds import read_estimate
from ogive.statistics.plain_json import Fields

_NEEDED = ("by", "groups", "estimates", "public_groups", "provenance")


def to_dict(found: GroupEstimates[Any]) -> dict[str, Any]:
    """Plain data of estimates of groups."""
    return {
        "schema": GroupEstimates.schema,
        "by": found.by,
        "groups": list(found.groups),
        "public_groups": found.public_groups,
        **({} if found.threshold is None else {"threshold": found.threshold}),
        "estimates": [estimate.to_dict() for estimate in found.estimates],
        "provenance": None if found.provenance is None else found.provenance.to_dict(),
    }


def from_dict(data: Any) -> GroupEstimates[Any]:
    """Rebuild from plain data, which need not be trusted.

    Raises:
        ParameterError, DataError: these are no estimates of groups that this version can read.
    """
    known = Fields.of(data, GroupEstimates.schema, "estimates of groups", _NEEDED)
    by, listed, held, public = known.text("by"), data["groups"], data["estimates"], data["public_groups"]
    if not isinstance(listed, list) or not 1 <= len(listed) <= MAX_GROUPS:
        raise DataError(f"the field 'groups' must be a list of 1 to {MAX_GROUPS} values")
    try:
        check_groups(by, tuple(listed))
    except (ParameterError, TypeError):
        raise DataError("the field 'groups' must list different numbers, texts or truth values") from None
    if not isinstance(held, list) or len(held) != len(listed):
        raise DataError("the field 'estimates' must hold an estimate for each group")
    if not isinstance(public, bool):
        raise DataError("the field 'public_groups' must be true or false")
    threshold = known.whole("threshold", 2, LARGEST_THRESHOLD) if "threshold" in data else None
    provenance = known.provenance(*((by,) if public else ()))
    if any(isinstance(each, dict) and each.get("schema") == GroupEstimates.schema for each in held):
        raise DataError("groups have no groups of their own")
    estimates = tuple(read_estimate(each) for each in held)
    if len({type(estimate) for estimate in estimates}) > 1:
        raise DataError("the estimates of all groups must be of one kind")
    for group, estimate in zip(listed, estimates, strict=True):
        mine = estimate.provenance
        wanted = None
        if provenance is not None:
            wanted = of_group(provenance, by, group, estimate)
        if mine != wanted:
            raise DataError("the provenance of each group must be that of the release, with the group's condition")
    return GroupEstimates(by, tuple(listed), estimates, public, provenance, threshold)
