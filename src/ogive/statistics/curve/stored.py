"""Curves as JSON: exact, versioned, and safe to read from strangers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ogive.arrays import Int64
from ogive.errors import DataError, ParameterError, plain, quoted
from ogive.grids import MAX_BINS, Grid
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.curve.merging.batches import MOST_BATCHES, read_batches
from ogive.statistics.curve.merging.check import check_merged
from ogive.statistics.plain_json import LONGEST_TEXT, Fields, is_number, is_whole
from ogive.statistics.stated_price import check_price
from ogive.strategies import strategy_from_dict
from ogive.strategies.people import counts_people

SCHEMA = Curve.schema

_NEEDED = ("column", "grid", "adjacency", "total", "smoothing", "strategy", "raw", "cumulative", "provenance")
# "1e999999999" is a short text and, as an exact number, fills the memory
_EXPONENT = re.compile(r"[eE]\s*[+-]?\d*\d{4}")


def to_dict(curve: Curve) -> dict[str, Any]:
    """Plain data of a curve; thresholds are implied by the grid, shares by the counts."""
    data: dict[str, Any] = {
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
    if curve.measured is not None:
        data["measured"] = curve.measured.tolist()
    if curve.people:
        data["counted"] = "people"
    if curve.merged:
        data["batches"] = [batch.to_dict() for batch in curve.merged]
    return data


def from_dict(data: Any) -> Curve:
    """Rebuild from plain data, which need not be trusted.

    Raises:
        ParameterError, DataError: this is no curve that this version can read.
    """
    known = Fields.of(data, SCHEMA, "a curve", _NEEDED)
    raw = known.numbers("raw")
    grid = read_grid(data["grid"], len(raw))
    strategy = None if data["strategy"] is None else read_strategy(data["strategy"], len(raw))
    total, provenance = known.total(), known.provenance()
    merged = read_batches(data["batches"]) if "batches" in data else ()
    adjacency = known.adjacency()
    people = _counts_people(data)
    if strategy is not None and counts_people(strategy) is not people:
        raise DataError("this curve contradicts itself: it counts people in some places only")
    check_merged(strategy, total, provenance, merged)
    check_price(provenance, [(strategy, adjacency)])
    return Curve(
        column=known.text("column"),
        grid=grid,
        adjacency=adjacency,
        total=total,
        smoothing=known.text("smoothing"),
        strategy=strategy,
        raw=raw,
        cumulative=known.numbers("cumulative"),
        provenance=provenance,
        measured=None if data.get("measured") is None else read_measured(data["measured"], len(raw)),
        merged=merged,
        people=people,
    )


def _counts_people(data: dict[str, Any]) -> bool:
    if data.get("counted", "people") != "people":
        raise DataError(f"the field 'counted' of a curve is 'people' or absent, got {quoted(data['counted'])}")
    return "counted" in data


def read_measured(data: Any, size: int) -> Int64:
    """Noisy measurements, not more of them than a strategy of that size could need.

    Raises:
        DataError: they are no list of whole numbers.
    """
    if not isinstance(data, list) or not 1 <= len(data) <= 8 * size + 64 or not all(map(is_whole, data)):
        raise DataError("the field 'measured' of a curve must be a list of whole numbers, one a measurement")
    return np.array(data, dtype=np.int64)


def read_grid(data: Any, size: int | None = None) -> Grid:
    """A grid of the wanted size; by default one that stands alone, with at most 2^24 thresholds.

    Raises:
        ParameterError, DataError: this is no grid.
    """
    if size is None:
        size = data.get("bins") if isinstance(data, dict) else None
    if not is_whole(size) or not 1 <= size <= MAX_BINS:
        raise DataError(f"a grid needs a number of bins from 1 to {MAX_BINS}")
    # the size is compared before anything is built from it
    if not isinstance(data, dict) or not all(is_number(data.get(name)) for name in ("low", "high")):
        raise DataError("the field 'grid' must be an object with finite numbers low and high")
    if not is_whole(data.get("bins")) or data["bins"] != size:
        raise DataError(f"an estimate with {size} values needs a grid with bins = {size}")
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
    """A strategy of the wanted size, or a refusal; nothing in it may be larger than that calls for."""
    _check_plain(data, size, depth=0)
    if not isinstance(data, dict) or data.get("size") != size:
        raise DataError(f"an estimate with {size} values needs a strategy with size = {size}")
    try:
        return strategy_from_dict(data)
    except ParameterError:
        raise
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as problem:
        raise DataError(f"the strategy cannot be read: {plain(problem)}") from None


def _check_plain(data: Any, size: int, depth: int) -> None:
    """Refuse numbers and texts whose mere reading could exhaust time or memory."""
    if depth > 8:
        raise DataError("the strategy is nested too deeply")
    match data:
        case dict() | list():
            if len(data) > 8 * size + 64 + MOST_BATCHES:
                raise DataError("the strategy holds longer lists than its size calls for")
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
