"""Curves as JSON: exact, versioned, and safe to read from strangers."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ogive.errors import DataError, ParameterError
from ogive.files import write_atomically
from ogive.grids import MAX_BINS, Grid
from ogive.privacy import Adjacency
from ogive.provenance import Provenance
from ogive.strategies import strategy_from_dict

if TYPE_CHECKING:
    from ogive.statistics.curve import Curve

SCHEMA = "ogive.curve/1"

_NEEDED = ("column", "grid", "adjacency", "total", "smoothing", "strategy", "raw", "cumulative", "provenance")
# "1e999999999" is a short text and, as an exact number, fills the memory
_EXPONENT = re.compile(r"[eE]\s*[+-]?\d*\d{4}")
LONGEST_TEXT = 4000
_LARGEST_WHOLE = 1 << 62


def to_dict(curve: Curve) -> dict[str, Any]:
    """Plain data of a curve; thresholds are implied by the grid, shares by the counts."""
    return {
        "schema": SCHEMA,
        "column": curve.column,
        "grid": curve.grid.to_dict(),
        "adjacency": curve.adjacency.value,
        "total": curve.total,
        "smoothing": curve.smoothing,
        "strategy": None if curve.strategy is None else curve.strategy.to_dict(),
        "raw": curve.raw.tolist(),
        "cumulative": curve.cumulative.tolist(),
        "provenance": None if curve.provenance is None else curve.provenance.to_dict(),
    }


def to_json(curve: Curve, path: str | Path | None) -> str:
    """JSON text of a curve, also written to the path if one is given."""
    text = json.dumps(to_dict(curve), allow_nan=False)
    if path is not None:
        write_atomically(Path(path), text.encode() + b"\n")
    return text


def parse(source: str | bytes | Path) -> Any:
    """Plain data of JSON text, or of the file at a Path.

    Raises:
        DataError: the file cannot be read or holds no JSON.
    """
    text = _read(source) if isinstance(source, Path) else source
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise DataError("not a curve: the JSON is nested too deeply") from None
    except (ValueError, TypeError) as problem:
        raise DataError(f"not JSON: {problem}") from None


def fields(data: Any) -> dict[str, Any]:
    """Checked arguments of `Curve` from plain data.

    Raises:
        ParameterError, DataError: this is no curve that this version can read.
    """
    if not isinstance(data, dict) or "schema" not in data:
        raise DataError(f'not a curve: expected a JSON object with "schema": "{SCHEMA}"')
    if data["schema"] != SCHEMA:
        raise DataError(f"this version reads curves of schema {SCHEMA}, got {str(data['schema'])[:40]!r}")
    for name in _NEEDED:
        if name not in data:
            raise DataError(f"a curve lacks the field {name!r}")
    for name in ("column", "adjacency", "smoothing"):
        if not isinstance(data[name], str) or len(data[name]) > LONGEST_TEXT:
            raise DataError(f"the field {name!r} of a curve must be a short text")
    total = data["total"]
    if total is not None and not (_whole(total) and total >= 0):
        raise DataError("the field 'total' of a curve must be a number of records or null")
    if data["adjacency"] not in {member.value for member in Adjacency}:
        raise DataError(f"unknown adjacency {data['adjacency'][:40]!r}")
    raw, cumulative = _numbers(data, "raw"), _numbers(data, "cumulative")
    provenance = data["provenance"]
    return {
        "grid": _grid(data["grid"], len(raw)),
        "cumulative": cumulative,
        "raw": raw,
        "strategy": None if data["strategy"] is None else read_strategy(data["strategy"], len(raw)),
        "adjacency": Adjacency(data["adjacency"]),
        "total": total,
        "smoothing": data["smoothing"],
        "column": data["column"],
        "provenance": None if provenance is None else Provenance.from_dict(provenance),
    }


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise DataError(f"cannot read {path}: {problem.strerror}") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number in JSON")


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST_WHOLE


def is_number(value: Any) -> bool:
    """Whether plain data is a finite number, and not so large that floating point could not hold it."""
    return _whole(value) or (isinstance(value, float) and math.isfinite(value))


def _numbers(data: dict[str, Any], name: str) -> Any:
    values = data[name]
    if not isinstance(values, list) or not values or not all(map(is_number, values)):
        raise DataError(f"the field {name!r} of a curve must be a list of finite numbers")
    return np.array(values, dtype=np.float64)


def read_grid(data: Any) -> Grid:
    """A grid that stands alone; at most 2^24 thresholds.

    Raises:
        ParameterError, DataError: this is no grid.
    """
    size = data.get("bins") if isinstance(data, dict) else None
    if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= MAX_BINS:
        raise DataError(f"a grid needs a number of bins from 1 to {MAX_BINS}")
    return _grid(data, size)


def _grid(data: Any, size: int) -> Grid:
    """A grid of the wanted size; the size is compared before anything is built from it."""
    if not isinstance(data, dict) or not all(is_number(data.get(name)) for name in ("low", "high")):
        raise DataError("the field 'grid' of a curve must be an object with finite numbers low and high")
    if not _whole(data.get("bins")) or data["bins"] != size:
        raise DataError(f"a curve with {size} values needs a grid with bins = {size}")
    listed = data.get("thresholds", [])
    if not isinstance(listed, list) or len(listed) not in (0, size) or not all(map(is_number, listed)):
        raise DataError(f"the thresholds of the grid must be {size} finite numbers")
    grid = Grid.from_dict(data)
    if grid.to_dict() != {**data, "low": float(data["low"]), "high": float(data["high"])}:
        raise DataError("the grid contradicts itself")
    try:
        grid.label(grid.low), grid.label(grid.high)
    except OverflowError:
        raise DataError("the grid holds dates that no calendar has") from None
    return grid


def read_strategy(data: Any, size: int) -> Any:
    """A strategy of the wanted size, or a refusal; nothing in it may be larger than the curve calls for."""
    _check_plain(data, size, depth=0)
    if not isinstance(data, dict) or data.get("size") != size:
        raise DataError(f"a curve with {size} values needs a strategy with size = {size}")
    try:
        return strategy_from_dict(data)
    except ParameterError:
        raise
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as problem:
        raise DataError(f"the strategy cannot be read: {problem}") from None


def _check_plain(data: Any, size: int, depth: int) -> None:
    """Refuse numbers and texts whose mere reading could exhaust time or memory."""
    if depth > 8:
        raise DataError("the strategy is nested too deeply")
    match data:
        case dict() | list():
            if len(data) > 8 * size + 64:
                raise DataError("the strategy holds longer lists than the curve calls for")
            for item in data.values() if isinstance(data, dict) else data:
                _check_plain(item, size, depth + 1)
        case str():
            if len(data) > LONGEST_TEXT or _EXPONENT.search(data):
                raise DataError("the strategy holds a number that is too large")
        case None | bool():
            pass
        case _:
            if not is_number(data):
                raise DataError("the strategy holds a number that is too large")
