"""Released quantiles with intervals that hold for all of them at once."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from ogive.columns.grids import Grid
from ogive.errors import DataError
from ogive.provenance import Provenance
from ogive.statistics.base import Estimate
from ogive.statistics.curve.estimate import Curve, read_grid
from ogive.statistics.plain_json import Fields, is_number

CONFIDENCE_LEVEL = 0.95


@dataclass(frozen=True, repr=False)
class QuantileEstimates(Estimate):
    """Quantiles of one column, with simultaneous confidence intervals.

    Fields:
        column: Name of the column.
        grid: The public thresholds; every quantile is one of them.
        probabilities: Probabilities of the quantiles, in the order requested.
        numbers, low, high: Quantile and interval ends as numbers of the grid.
        confidence_level: Probability that all intervals contain the population's quantiles.
        curve: The whole curve where the method released one, else None.
        provenance: Origin of the release: statistic, price and trust model.
    """

    schema: ClassVar[str] = "ogive.quantiles/1"
    indent: ClassVar[int | None] = 1

    column: str
    grid: Grid
    probabilities: tuple[float, ...]
    numbers: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    confidence_level: float = CONFIDENCE_LEVEL
    curve: Curve | None = None
    provenance: Provenance | None = None

    @property
    def values(self) -> list[Any]:
        """The quantiles in the user's units: floats, dates or datetimes."""
        return [self.grid.label(number) for number in self.numbers]

    @property
    def intervals(self) -> list[tuple[Any, Any]]:
        """Ends of the simultaneous intervals, in the same form."""
        return [(self.grid.label(a), self.grid.label(b)) for a, b in zip(self.low, self.high, strict=True)]

    @property
    def told(self) -> bool:
        """Whether people are told the quantiles: those of a curve where noise leaves records, and selected ones."""
        return self.curve is None or self.curve.told

    def with_provenance(self, provenance: Provenance) -> Self:
        """Return the same estimates with their provenance."""
        curve = None if self.curve is None else self.curve.with_provenance(provenance)
        return dataclasses.replace(self, provenance=provenance, curve=curve)

    def noise_share(self) -> float:
        """The noise share of the curve, if one was released."""
        return 0.0 if self.curve is None else self.curve.noise_share()

    def errors(self, truth: QuantileEstimates) -> dict[str, float]:
        """Distances from exact quantiles.

        Returns:
            rank: Largest difference between a requested probability and the exact shares below, and at or below, the
                released quantile; NaN if the exact curve is not known.
        """
        if truth.curve is None:
            return {"rank": float("nan")}
        shares = np.concatenate(([0.0], truth.curve.probabilities))
        at = np.searchsorted(truth.grid.thresholds, self.numbers)
        wanted = np.array(self.probabilities)
        return {"rank": float(np.max(np.maximum(0, np.maximum(shares[at] - wanted, wanted - shares[at + 1]))))}

    def to_dict(self) -> dict[str, Any]:
        """Plain data: quantiles as people write them, and as exact numbers of the grid."""
        rows = zip(self.probabilities, self.numbers, self.low, self.high, strict=True)
        return {
            "schema": self.schema,
            "column": self.column,
            "grid": self.grid.to_dict(),
            "confidence_level": self.confidence_level,
            "quantiles": [
                {
                    "probability": probability,
                    "value": _written(self.grid, number),
                    "low": _written(self.grid, low),
                    "high": _written(self.grid, high),
                    "numbers": [number, low, high],
                }
                for probability, number, low, high in rows
            ],
            "curve": None if self.curve is None else self.curve.to_dict(),
            "provenance": None if self.provenance is None else self.provenance.to_dict(),
        }

    @classmethod
    def _read(cls, data: Any) -> Any:
        known = Fields.of(data, cls.schema, "quantiles", _NEEDED)
        column, listed, provenance = known.text("column"), data["quantiles"], known.provenance()
        if not isinstance(listed, list) or not listed:
            raise DataError("the field 'quantiles' must be a list of at least one quantile")
        grid = read_grid(data["grid"])
        rows = [_row(grid, row) for row in listed]
        curve = None if data["curve"] is None else Curve.from_dict(data["curve"])
        if curve is not None and (curve.grid, curve.column, curve.provenance) != (grid, column, provenance):
            raise DataError("the curve of these quantiles is of another column, grid or release")
        probabilities, numbers, low, high = zip(*rows, strict=True)
        level = known.chance("confidence_level")
        return QuantileEstimates(column, grid, probabilities, numbers, low, high, level, curve, provenance)


# --- Plain data, which need not be trusted

_NEEDED = ("column", "grid", "confidence_level", "quantiles", "curve", "provenance")
_ROW = ("probability", "value", "low", "high", "numbers")


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
