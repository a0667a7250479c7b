"""Boxplots as JSON: exact, versioned, and safe to read from strangers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ogive.errors import DataError, ParameterError, quoted
from ogive.grids import Grid
from ogive.privacy import Adjacency
from ogive.statistics.boxplot.boxes import NUMBERS, SHOWN_OUTLIERS, Box, Interval, Intervals, box_of
from ogive.statistics.boxplot.estimate import Boxplots
from ogive.statistics.curve import stored as curve_json
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.plain_json import Fields, is_number, is_text, is_whole
from ogive.statistics.stated_price import check_price

SCHEMA = Boxplots.schema
METHODS = ("resample", "five_numbers")

_NEEDED = ("column", "by", "grid", "method", "adjacency", "public_groups", "boxes", "curves", "provenance")
_BOX = ("group", "values", "numbers", "below", "above", "outliers", "records", "flat")
_MOST_BOXES = 1000


def to_dict(boxplots: Boxplots) -> dict[str, Any]:
    """Plain data of boxes: as people write them, and as exact numbers of the grid."""
    return {
        "schema": SCHEMA,
        "column": boxplots.column,
        "by": boxplots.by,
        "grid": boxplots.grid.to_dict(),
        "method": boxplots.method,
        "adjacency": boxplots.adjacency.value,
        "public_groups": boxplots.public_groups,
        "boxes": [_box_data(boxplots.grid, box) for box in boxplots.boxes],
        "curves": [curve.to_dict() for curve in boxplots.curves],
        "provenance": None if boxplots.provenance is None else boxplots.provenance.to_dict(),
    }


def _box_data(grid: Grid, box: Box) -> dict[str, Any]:
    data = {
        "group": box.group,
        "values": _written(grid, box),
        "numbers": list(box.numbers),
        "below": box.below,
        "above": box.above,
        "outliers": list(box.outliers),
        "records": box.records,
        "flat": box.flat,
    }
    if box.intervals is not None:
        data["intervals"] = {name: list(ends) for name, ends in box.intervals._asdict().items()}
    return data


def _written(grid: Grid, box: Box) -> dict[str, Any]:
    """The five numbers for people, who are told none where there are no records."""
    labels = [grid.label(number) for number in box.numbers]
    written = [label if isinstance(label, float) else label.isoformat() for label in labels]
    return dict(zip(NUMBERS, written, strict=True)) if box.defined else dict.fromkeys(NUMBERS)


def from_dict(data: Any) -> Boxplots:
    """Rebuild from plain data, which need not be trusted.

    Raises:
        ParameterError, DataError: these are no boxes that this version can read.
    """
    known = Fields.of(data, SCHEMA, "boxplots", _NEEDED)
    column, method, adjacency = known.text("column"), known.text("method"), known.adjacency()
    by, listed, held = data["by"], data["boxes"], data["curves"]
    if by is not None and not is_text(by):
        raise DataError("the field 'by' of boxplots must be a short text or null")
    if method not in METHODS:
        raise DataError(f"the method of boxplots must be {' or '.join(METHODS)}")
    if not isinstance(listed, list) or not 1 <= len(listed) <= _MOST_BOXES or (by is None and len(listed) != 1):
        raise DataError(
            f"the field 'boxes' must be a list of 1 to {_MOST_BOXES} boxes, or of one where there is no 'by'"
        )
    if not isinstance(held, list) or len(held) != (len(listed) if method == "resample" else 0):
        raise DataError("the field 'curves' must hold a curve for each box, or none where five numbers were found")
    known_groups = data["public_groups"]
    if not isinstance(known_groups, bool) or (known_groups and (by is None or adjacency is not Adjacency.REPLACE)):
        raise DataError("the field 'public_groups' must be false, or true where there are groups and none is added")
    provenance = known.provenance(*((by,) if known_groups and by is not None else ()))
    grid = curve_json.read_grid(data["grid"])
    boxes = tuple(_box(grid, box) for box in listed)
    if any((box.group is None) != (by is None) for box in boxes) or len({b.group for b in boxes}) < len(boxes):
        raise DataError(
            "each box must be of a group of its own where there is a 'by', and of no group where there is none"
        )
    curves = tuple(Curve.from_dict(curve) for curve in held)
    check_price(provenance, [(curve.strategy, curve.adjacency) for curve in curves])
    if known_groups and provenance is not None:
        curves = tuple(curve.with_provenance(provenance) for curve in curves)
    for box, curve in zip(boxes, curves, strict=method == "resample"):
        _check_curve(box, curve, grid, column)
    return Boxplots(
        column=column,
        by=by,
        grid=grid,
        method=method,
        boxes=boxes,
        curves=curves,
        adjacency=adjacency,
        provenance=provenance,
        public_groups=known_groups,
    )


def _check_curve(box: Box, curve: Curve, grid: Grid, column: str) -> None:
    """A box read off a curve must be that curve's."""
    if (curve.grid, curve.column) != (grid, column):
        raise DataError("a curve of these boxplots is of another column or grid")
    expected = box_of(curve, box.group)
    near = 1e-9 * (grid.high - grid.low)
    if not np.allclose(box.numbers, expected.numbers, rtol=0, atol=near):
        raise DataError("a box contradicts its curve: its five numbers must be those read off the curve")


def _box(grid: Grid, data: Any) -> Box:
    if not isinstance(data, dict) or any(name not in data for name in _BOX):
        raise DataError(f"each box must have {', '.join(_BOX)}")
    group, numbers, outliers, records = (data[name] for name in ("group", "numbers", "outliers", "records"))
    if not (group is None or isinstance(group, bool) or is_text(group) or is_number(group)):
        raise DataError("the group of a box must be a short text, a number, a truth value or null")
    if not isinstance(numbers, list) or len(numbers) != len(NUMBERS) or not all(map(is_number, numbers)):
        raise DataError("the numbers of a box must be its low, q1, median, q3 and high")
    ends = [grid.low, *map(float, numbers), grid.high]
    if ends != sorted(ends):
        raise DataError("the numbers of a box must lie in the bounds of the grid and not decrease")
    for name in ("below", "above"):
        if data[name] is not None and not (is_whole(data[name]) and data[name] >= 0):
            raise DataError(f"the field {quoted(name)} of a box must be a number of records or null")
    if not isinstance(outliers, list) or len(outliers) > 2 * SHOWN_OUTLIERS or not all(map(is_number, outliers)):
        raise DataError(f"the outliers of a box must be a list of at most {2 * SHOWN_OUTLIERS} numbers")
    if any(not grid.low <= value <= grid.high for value in outliers) or outliers != sorted(outliers):
        raise DataError("the outliers of a box must lie in the bounds of the grid and not decrease")
    if records is not None and not (is_number(records) and records >= 0):
        raise DataError("the records of a box must be a number of at least 0, or null")
    if not isinstance(data["flat"], bool):
        raise DataError("the field 'flat' of a box must be true or false")
    low, q1, median, q3, high = map(float, numbers)
    intervals = _intervals(grid, data["intervals"], (q1, median, q3)) if "intervals" in data else None
    box = Box(
        group,
        low,
        q1,
        median,
        q3,
        high,
        below=data["below"],
        above=data["above"],
        outliers=tuple(map(float, outliers)),
        records=None if records is None else float(records),
        flat=data["flat"],
        intervals=intervals,
    )
    try:
        written = _written(grid, box)
    except (ParameterError, OverflowError, ValueError):
        raise DataError("the numbers of a box are none that the grid's dates can write") from None
    if data["values"] != written:
        raise DataError("a box contradicts itself: its values must be those of its numbers")
    return box


def _intervals(grid: Grid, data: Any, numbers: tuple[float, float, float]) -> Intervals:
    """The intervals of a box; files of versions before there were any lack them."""
    if not isinstance(data, dict) or set(data) != set(Intervals._fields):
        raise DataError(f"the intervals of a box must be of {', '.join(Intervals._fields)}")
    found = []
    for name, number in zip(Intervals._fields, numbers, strict=True):
        ends = data[name]
        if not isinstance(ends, list) or len(ends) != 2 or not all(map(is_number, ends)):
            raise DataError(f"the interval of {name} must be two numbers")
        if not grid.low <= ends[0] <= number <= ends[1] <= grid.high:
            raise DataError(f"the interval of {name} must hold it, and lie in the bounds of the grid")
        found.append(Interval(float(ends[0]), float(ends[1])))
    return Intervals(*found)
