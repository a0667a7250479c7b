"""Estimates of some of the records, under the adjacency that the whole release hides."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from ogive.privacy import Adjacency
from ogive.statistics.base import Estimate

StatedT = TypeVar("StatedT", bound=Estimate)


def stated(estimate: StatedT, adjacency: Adjacency) -> StatedT:
    """An estimate whose noise was drawn as if records came and went, as one that hides what the release hides.

    Where replacing a record is hidden and it may join or leave, its part of the records is asked under ADD_OR_REMOVE.
    The price is that of the release, under its own adjacency.

    Args:
        estimate: Of some of the records, with the estimates that it holds.
        adjacency: Of the release.
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
