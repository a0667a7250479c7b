"""An owner's values as numbers, with those refused that a column does not hold, and numbers as symbols.

Messages name the column and never quote a value.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ogive.columns import Binning, Categories, Column, Domain, Label, Listed, Membership, categories, grids
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import among
from ogive.errors import DataError, ParameterError, quoted
from ogive.local.base import RandomWords

UNITS = {"number": "numbers", "date": "dates", "datetime": "times"}
_MISSING = math.nan


def row_of(domain: Domain, record: Any) -> Float64:
    """One record as a row of numbers, shape (1, columns)."""
    if not isinstance(record, Mapping):
        if len(domain.columns) > 1:
            raise ParameterError(f"a record must be a mapping with the columns {_names(domain)}")
        record = {domain.columns[0].column: record}
    return rows_of(domain, {name: [record[name]] for name in _present(domain, record)})


def rows_of(domain: Domain, table: Any) -> Float64:
    """Records as rows of numbers, shape (n, columns)."""
    if not hasattr(table, "keys") and not hasattr(table, "columns"):
        if len(domain.columns) > 1:
            raise ParameterError(f"a table must be a mapping with the columns {_names(domain)}")
        table = {domain.columns[0].column: table}
    columns = [numbers_of(column, table[column.column]) for column in _columns(domain, table)]
    if len({len(column) for column in columns}) > 1:
        raise ParameterError("every column of a table must have the same number of values")
    return np.stack(columns, axis=1)


def numbers_of(column: Column, values: Any) -> Float64:
    """The values of one column as numbers of its grid or places of its categories, shape (n,), without NaN."""
    array = _array(values)
    if array.ndim != 1:
        raise ParameterError(f"column {quoted(column.column)} must be one-dimensional, got {array.ndim} dimensions")
    if isinstance(column, Membership):
        return _members(column, array)
    if isinstance(column, Listed):
        return _symbols(column, array)
    if not isinstance(column, Binning):
        return _places(column, array)
    numbers = grid_numbers(column, array)
    missing = np.isnan(numbers)
    if missing.any():
        substitute = column.substitute
        if substitute is None:
            raise DataError(f"column {quoted(column.column)} has a missing value, which this column does not accept")
        numbers = np.where(missing, substitute, numbers)
    if column.outside != "clip" and len(numbers):
        low, high = column.grid.low, column.grid.high
        if numbers.min() < low or (numbers.max() > high and column.outside == "refuse"):
            bounds = f"{column.grid.label(low)} to {column.grid.label(column.grid.thresholds[column.reached - 1])}"
            raise DataError(
                f"column {quoted(column.column)} has a value outside {bounds}, which this column does not accept"
            )
    if column.holds_fractions(numbers):
        raise DataError(f"column {quoted(column.column)} has a value that is not whole; only whole numbers are asked")
    return np.clip(numbers, column.grid.low, column.grid.high) + 0.0  # one number for both zeros


def _array(values: Any) -> NDArray[Any]:
    """A column of any kind as an array, whose elements are what the user wrote; what is masked is missing."""
    if isinstance(values, np.ma.MaskedArray):
        missing = {"f": "nan", "M": "NaT"}.get(values.dtype.kind)
        kind = object if missing is None else values.dtype
        return np.where(np.ma.getmaskarray(values), np.array(missing, kind), values.data.astype(kind))
    if hasattr(values, "to_numpy") or hasattr(values, "__array__"):
        return np.asarray(values)
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__iter__"):
        raise ParameterError(f"a column must be a list or an array of values, got {type(values).__name__}")
    listed = [None if value is np.ma.masked else value for value in values]
    result = np.empty(len(listed), dtype=object)
    result[:] = listed
    return result


def grid_numbers(column: Binning, values: NDArray[Any]) -> Float64:
    """The values of a measured column as numbers of its grid, NaN where one is missing; shape (n,)."""
    grid = column.grid
    if values.dtype.kind in "biuf" and grid.unit == "number":
        return values.astype(np.float64)
    if values.dtype.kind == "M" and grid.unit != "number":
        ticks = values.astype("datetime64[D]" if grid.unit == "date" else "datetime64[us]")
        return np.where(np.isnat(ticks), _MISSING, ticks.astype(np.int64).astype(np.float64))
    return np.array([_number(column.column, grid, value) for value in values.tolist()], dtype=np.float64)


def _number(name: str, grid: grids.Grid, value: Any) -> float:
    if value is None or is_nan(value):
        return _MISSING
    if isinstance(value, float) and math.isinf(value) and grid.unit == "number":
        return value
    if isinstance(value, np.datetime64):
        days = np.datetime_data(value.dtype)[0] in ("D", "W", "M", "Y")
        value = value.astype("datetime64[D]" if days else "datetime64[us]").item()
    try:
        number = grid.number(value)
    except ParameterError:
        pass
    else:
        if isinstance(value, str | datetime.date) or grid.unit == "number":
            return number
    raise DataError(
        f"column {quoted(name)} needs {UNITS[grid.unit]}, got a {type(value).__name__} that is none"
    ) from None


def is_nan(value: Any) -> bool:
    """Whether a value is the NaN or NaT of any library, none of which equals itself."""
    if isinstance(value, np.ndarray) and value.ndim:  # several values are none, whatever each of them is
        return False
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA has no truth
        return True


def _places(column: Categories | Label, values: NDArray[Any]) -> Float64:
    if isinstance(column, Label):
        known = _classes(column.positive, column.negative)
        other = None if column.negative is not None else 0
        what = "neither class"
    else:
        known, other = {categories.trimmed(value): place for place, value in enumerate(column.values)}, None
        what = f"none of the {column.size} declared categories"
    listed = values.tolist()
    results = [_place(known, value, other) for value in listed]
    if isinstance(column, Categories):  # Python holds True and 1 for equal, and only a label takes one for the other
        results = [
            None if place is not None and _is_truth(value) and _is_number(column.values[place]) else place
            for place, value in zip(results, listed, strict=True)
        ]
    if None in results:
        missing = any(value is None or is_nan(value) for value in listed)
        problem = "a missing value, which cannot be reported" if missing else f"a value of {what}"
        raise DataError(f"column {quoted(column.column)} has {problem}")
    return np.array(results, dtype=np.float64)


def _members(column: Membership, values: NDArray[Any]) -> Float64:
    listed = values.tolist()
    missing = [value is None or is_nan(value) for value in listed]
    if column.missing != "no" and any(missing):
        raise DataError(f"column {quoted(column.column)} has a missing value, which this column does not accept")
    known: dict[Any, int] | None = None
    if column.values is not None:
        known = _classes(column.values, column.others)
        if column.others:  # a number also names the text that writes it
            known = categories.known_values(known.items())
    rest = 0 if column.others is None else None
    results = [1 if known is None else _place(known, value, rest) for value in listed]
    if column.others is not None and any(
        place is None and not gone for gone, place in zip(missing, results, strict=True)
    ):
        raise DataError(
            f"column {quoted(column.column)} has a value that is neither positive nor negative, "
            "which this column refuses"
        )
    return np.array([not gone and place == 1 for gone, place in zip(missing, results, strict=True)], dtype=np.float64)


def _symbols(column: Listed, values: NDArray[Any]) -> Float64:
    listed = values.tolist()
    known = {categories.trimmed(value): place for place, value in enumerate(column.values)}
    results = [
        column.missing_place if value is None or is_nan(value) else _place(known, value, column.other_place)
        for value in listed
    ]
    if None in results:
        missing = column.missing != "count" and any(value is None or is_nan(value) for value in listed)
        problem = "a missing value" if missing else f"a value of none of the {len(column.values)} declared ones"
        raise DataError(f"column {quoted(column.column)} has {problem}, which this column refuses")
    return np.array(results, dtype=np.float64)


def _classes(ones: categories.LabelValues, zeros: categories.LabelValues | None) -> dict[Any, int]:
    """The values that count as 1 and those that count as 0, as they are compared."""
    return dict.fromkeys(map(categories.trimmed, zeros or ()), 0) | dict.fromkeys(map(categories.trimmed, ones), 1)


def _place(known: Mapping[Any, int], value: Any, other: int | None) -> int | None:
    if value is None or is_nan(value):
        return None
    try:
        return known.get(categories.as_declared(value, known), other)
    except TypeError:  # cannot be looked up, so it is not a value of a column
        return None


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not _is_truth(value)


def _columns(domain: Domain, table: Any) -> tuple[Column, ...]:
    _present(domain, table.keys() if hasattr(table, "keys") else table.columns)
    return domain.columns


def _present(domain: Domain, names: Any) -> list[str]:
    columns = [column.column for column in domain.columns]
    for name in columns:
        if name not in names:
            raise DataError(f"the record lacks the column {quoted(name)}; {_names(domain)} are asked")
    return columns


def _names(domain: Domain) -> str:
    return ", ".join(repr(column.column) for column in domain.columns)


# --- How an owner's numbers become a symbol: by their bins, or at random by the nodes around them
#
# Simple rounding takes the bin that holds the number. Randomized rounding takes one of the two nodes around it, the
# nearer one more often, so that the node is right on average; a kernel that is linear between nodes then has no bias.
# Either way the symbol stays with the owner, who randomizes it, so the guarantee is the same.

Rounding = Literal["simple", "randomized"]
ROUNDINGS: tuple[Rounding, ...] = get_args(Rounding)


def check_rounding(rounding: str, domain: Domain) -> None:
    """Refuse a rounding that is none, or does not fit the columns."""
    among(rounding, "rounding", ROUNDINGS)
    if rounding == "randomized":
        for column in domain.columns:
            if isinstance(column, Binning):
                _ = column.grid.nodes


def rounded(domain: Domain, rows: Float64, rounding: str, *, source: RandomWords) -> Int64:
    """The symbol of each row of numbers, shape (n,) from (n, columns), without NaN."""
    if rounding == "simple":
        return domain.symbols(rows)
    result = np.zeros(len(rows), dtype=np.int64)
    for place, column in enumerate(domain.columns):
        values = rows[:, place]
        symbols = _nodes(column.grid, values, source) if isinstance(column, Binning) else column.symbols(values)
        result = result * column.size + symbols
    return result


def _nodes(grid: grids.Grid, values: Float64, source: RandomWords) -> Int64:
    """One of the two nodes around each value: the upper one as often as the value is close to it."""
    nodes = grid.nodes
    clipped = np.clip(values, grid.low, grid.high)
    below = np.clip(np.searchsorted(nodes, clipped, side="right") - 1, 0, len(nodes) - 2)
    above = (clipped - nodes[below]) / (nodes[below + 1] - nodes[below])
    words = source.words(2 * len(values)).astype(np.uint64).reshape(-1, 2)
    uniform = ((words[:, 0] << np.uint64(21)) | (words[:, 1] >> np.uint64(11))).astype(np.float64) * 2.0**-53
    result: Int64 = below + (uniform < above)
    return result.astype(np.int64)
