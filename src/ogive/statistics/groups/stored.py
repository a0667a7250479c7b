"""Estimates of groups as JSON: exact, versioned, and safe to read from strangers."""

from __future__ import annotations

import math
from typing import Any, get_args

from ogive.columns import MAX_GROUPS, LabelValue
from ogive.contrast import Kind
from ogive.errors import DataError, ParameterError, plain, quoted
from ogive.queries.aggregates import check_groups
from ogive.queries.discovery import LARGEST_THRESHOLD
from ogive.statistics.groups.contrasts.contrast import Contrast
from ogive.statistics.groups.estimate import GroupEstimates, of_group
from ogive.statistics.kinds import read_estimate
from ogive.statistics.plain_json import Fields

MOST_CONTRASTS = 1000
"""Of one file, which a stranger may have written: each takes a moment to compute."""

_CONTRAST = ("kind", "group", "other", "probability", "confidence_level")
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
        **({"contrasts": [_contrast(each) for each in found.contrasts]} if found.contrasts else {}),
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
    estimate = GroupEstimates(by, tuple(listed), estimates, public, provenance, threshold)
    if "contrasts" not in data:
        return estimate
    rows = known.rows("contrasts", "a contrast of groups", _CONTRAST, nonempty=True)
    if len(rows) > MOST_CONTRASTS:
        raise DataError(f"the field 'contrasts' must hold at most {MOST_CONTRASTS} contrasts")
    return estimate.with_contrasts(*(_read_contrast(row, estimate) for row in rows))


def _contrast(found: Contrast) -> dict[str, Any]:
    """Plain data of a contrast; the results follow from the estimates, and are there for other programs."""
    ends = (found.standard_error, found.low, found.high)
    error, low, high = (each if math.isfinite(each) else None for each in ends)
    return {
        "kind": found.kind,
        "group": found.group,
        "other": found.other,
        "what": found.what,
        "probability": found.probability,
        "confidence_level": found.confidence_level,
        "value": found.value if found.defined else None,
        "standard_error": error,
        "interval": [low, high],
    }


def _read_contrast(row: Fields, found: GroupEstimates[Any]) -> Contrast:
    """A contrast, computed anew from the estimates."""
    kind, group, other = row.text("kind"), row.data["group"], row.data["other"]
    if kind not in get_args(Kind):
        raise DataError(f"the kind of {row.what} must be {' or '.join(get_args(Kind))}, got {quoted(kind)}")
    if not all(isinstance(each, LabelValue) for each in (group, other)):
        raise DataError(f"the groups of {row.what} must be numbers, texts or truth values")
    compared = found.difference if kind == "difference" else found.ratio
    probability = 0.5 if row.data["probability"] is None else row.number("probability", 1)
    try:
        return compared(group, other, probability=probability, confidence_level=row.chance("confidence_level"))
    except ParameterError as problem:
        raise DataError(f"{row.what}: {plain(problem)}") from None
