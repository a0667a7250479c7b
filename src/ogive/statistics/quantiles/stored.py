"""Quantiles as JSON: exact, versioned, and safe to read from strangers."""

from __future__ import annotations

from typing import Any

from ogive.errors import DataError
from ogive.grids import Grid
from ogive.statistics.curve import stored as curve_json
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.plain_json import Fields, is_number
from ogive.statistics.quantiles.estimate import QuantileEstimates

SCHEMA = QuantileEstimates.schema

_NEEDED = ("column", "grid", "confidence_level", "quantiles", "curve", "provenance")
_ROW = ("probability", "value", "low", "high", "numbers")


def to_dict(estimates: QuantileEstimates) -> dict[str, Any]:
    """Plain data of quantiles: as people write them, and as exact numbers of the grid."""
    grid = estimates.grid
    rows = zip(estimates.probabilities, estimates.numbers, estimates.low, estimates.high, strict=True)
    curve, provenance = estimates.curve, estimates.provenance
    return {
        "schema": SCHEMA,
        "column": estimates.column,
        "grid": grid.to_dict(),
        "confidence_level": estimates.confidence_level,
        "quantiles": [
            {
                "probability": probability,
                "value": _written(grid, number),
                "low": _written(grid, low),
                "high": _written(grid, high),
                "numbers": [number, low, high],
            }
            for probability, number, low, high in rows
        ],
        "curve": None if curve is None else curve.to_dict(),
        "provenance": None if provenance is None else provenance.to_dict(),
    }


def from_dict(data: Any) -> QuantileEstimates:
    """Rebuild from plain data, which need not be trusted.

    Raises:
        ParameterError, DataError: these are no quantiles that this version can read.
    """
    known = Fields.of(data, SCHEMA, "quantiles", _NEEDED)
    column, listed, provenance = known.text("column"), data["quantiles"], known.provenance()
    if not isinstance(listed, list) or not listed:
        raise DataError("the field 'quantiles' must be a list of at least one quantile")
    grid = curve_json.read_grid(data["grid"])
    rows = [_row(grid, row) for row in listed]
    curve = None if data["curve"] is None else Curve.from_dict(data["curve"])
    if curve is not None and (curve.grid, curve.column, curve.provenance) != (grid, column, provenance):
        raise DataError("the curve of these quantiles is of another column, grid or release")
    probabilities, numbers, low, high = (tuple(values) for values in zip(*rows, strict=True))
    return QuantileEstimates(
        column=column,
        grid=grid,
        probabilities=probabilities,
        numbers=numbers,
        low=low,
        high=high,
        confidence_level=known.chance("confidence_level"),
        curve=curve,
        provenance=provenance,
    )


def _written(grid: Grid, number: float) -> Any:
    label = grid.label(number)
    return label if isinstance(label, float) else label.isoformat()


def _row(grid: Grid, row: Any) -> tuple[float, float, float, float]:
    """Probability, value and both ends, as numbers; what people read must say the same."""
    if not isinstance(row, dict) or any(name not in row for name in _ROW):
        raise DataError(f"each quantile must have {', '.join(_ROW)}")
    probability, listed = row["probability"], row["numbers"]
    if not is_number(probability) or not 0 <= probability <= 1:
        raise DataError("the probability of a quantile must be a number in [0, 1]")
    if not isinstance(listed, list) or len(listed) != 3 or not all(map(is_number, listed)):
        raise DataError("the numbers of a quantile must be its value, low and high")
    number, low, high = map(float, listed)
    if not (grid.low <= low <= high <= grid.high and grid.low <= number <= grid.high):
        raise DataError("a quantile and the ends of its interval must lie in the bounds of the grid, low before high")
    if [row[name] for name in ("value", "low", "high")] != [_written(grid, end) for end in (number, low, high)]:
        raise DataError("a quantile contradicts itself: its value, low and high must be those of its numbers")
    return float(probability), number, low, high
