"""Released quantiles with intervals that hold for all of them at once."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from ogive.grids import Grid
from ogive.provenance import Provenance
from ogive.statistics.base import Estimate
from ogive.statistics.curve.estimate import Curve

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
