"""What is drawn of each variable: a point with its interval for every column of the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ogive.statistics.describe.estimate import DescribeEstimate
from ogive.statistics.describe.lines import columns_of, label_of
from ogive.statistics.describe.variables import Number, Share, Variable

Point = tuple[float, float, float]
"""A number with the ends of its interval."""


@dataclass(frozen=True)
class Panel:
    """A mean or a share of every column of the table.

    Fields:
        name: What it is of: the variable, with the value or category that is counted.
        column: The variable.
        share: Whether the numbers are shares, between 0 and 1.
        points: One for each column of the table; None where noise leaves it undefined.
    """

    name: str
    column: str
    share: bool
    points: tuple[Point | None, ...]


def panels(found: DescribeEstimate) -> list[Panel]:
    """The panels of all variables, in the order of the table."""
    return [panel for variable in found for panel in _of_variable(found, variable)]


def _of_variable(found: DescribeEstimate, variable: Variable) -> Iterator[Panel]:
    name = variable.column
    each: list[Any] = [found.of(name, group) for group in columns_of(found)]
    if isinstance(variable, Number):
        bounded = found.bounded(name)
        yield Panel(name, name, False, tuple(_number(parts["mean"]) if bounded else None for parts in each))
    elif isinstance(variable, Share):
        yield Panel(label_of(variable), name, True, tuple(_number(parts["proportion"]) for parts in each))
    else:
        for place, category in enumerate(each[0]["histogram"].categories):
            points = tuple(_category(parts["histogram"], place) for parts in each)
            yield Panel(f"{name} = {category}", name, True, points)


def _number(estimate: Any) -> Point | None:
    return (estimate.value, *estimate.interval()) if estimate.defined else None


def _category(estimate: Any, place: int) -> Point | None:
    return (estimate.shares[place], *estimate.intervals()[place]) if estimate.defined else None
