"""The numbers of a distribution's chapter, read off an estimate; post-processing."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ogive.columns.grids import Grid
from ogive.core.arrays import Float64
from ogive.errors import ParameterError
from ogive.provenance import Provenance
from ogive.statistics.curve.bands.simultaneous import Band
from ogive.statistics.curve.estimate import Curve

CONFIDENCE_LEVEL = 0.95
PROBABILITIES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class QuantileRow:
    """One quantile as numbers of the grid; the interval and the truth where they are known."""

    probability: float
    number: float
    low: float | None = None
    high: float | None = None
    truth: float | None = None


@dataclass(frozen=True)
class Figures:
    """One release as plain numbers.

    Fields:
        column: Name of the column.
        grid: The public thresholds.
        provenance: Origin of the release: statistic, price and trust model.
        quantiles: Rows of the table, in order; none where noise left no records.
        share: Released share at each threshold, shape (N,); None where only quantiles were released.
        sample_band, population_band: For the curve of these records, and of those they were drawn from.
        noise_band: Of a method that approximates: holds what it would say of these records without noise.
        typical_error: Root mean square of the noise's standard deviation, as a share.
        truth: Exact share at each threshold, shape (N,), where it is shown.
        smoothing: How the noisy measurements became a valid curve.
        total: Number of records where it is public.
        confidence_level: Of bands and intervals.
        people: Whether people were counted, and not rows.
        defined: False where noise left no records, so that the curve says nothing.
    """

    column: str
    grid: Grid
    provenance: Provenance
    quantiles: tuple[QuantileRow, ...]
    share: Float64 | None = None
    sample_band: Band | None = None
    population_band: Band | None = None
    noise_band: Band | None = None
    typical_error: float | None = None
    truth: Float64 | None = None
    smoothing: str = "none"
    total: int | None = None
    confidence_level: float = CONFIDENCE_LEVEL
    defined: bool = True
    people: bool = False

    @property
    def counted(self) -> str:
        """What the shares are shares of."""
        return "people" if self.people else "records"

    def reach(self, band: Band) -> float:
        """Largest distance, as a share, of the released curve from any curve that the band holds.

        A band is centered on the estimate before smoothing, so its half width alone would not do.
        """
        assert self.share is not None
        return float(max(np.max(band.high - self.share), np.max(self.share - band.low)))

    @cached_property
    def view(self) -> tuple[float, float]:
        """The part of the axis worth drawing: where the released curve rises, with some room.

        All of it, unless that would leave almost a third of the axis empty.
        """
        low, high = self.whole_axis
        if self.share is None:
            return low, high
        places = np.searchsorted(self.share, (0.005, 0.98))
        first, last = (float(value) for value in self.grid.thresholds[places])
        if self.grid.kind == "geometric":
            ratio = (last / first) ** 0.08
            first, last = max(low, first / ratio), min(high, last * ratio)
            part = math.log(last / first) / math.log(high / low)
        else:
            room = 0.08 * (last - first)
            first, last = max(low, first - room), min(high, last + room)
            part = (last - first) / (high - low)
        return (first, last) if 0 < part < 0.7 else (low, high)

    @property
    def whole_axis(self) -> tuple[float, float]:
        """Bounds of the grid; one unit wide where there is a single threshold."""
        low, high = self.grid.low, self.grid.high
        return (low, high) if low < high else (high - 1.0, high)


def figures_of(curve: Curve, truth: Curve | None) -> Figures:
    """Read off a curve what a report shows."""
    exact = exact_shares(curve, truth)
    assert curve.provenance is not None
    common = Figures(curve.column, curve.grid, curve.provenance, _quantiles_of(curve, exact), truth=exact)
    return read_curve(common, curve, CONFIDENCE_LEVEL)


def exact_shares(estimate: Any, truth: Curve | None) -> Float64 | None:
    """The exact share at each threshold, where the truth is given."""
    if truth is None:
        return None
    if not isinstance(truth, Curve) or truth.private or truth.grid != estimate.grid:
        raise ParameterError(f"the truth for {estimate.column} must be an exact curve on the same thresholds")
    return truth.probabilities


def read_curve(common: Figures, curve: Curve, level: float) -> Figures:
    """The figures with what the whole curve says: its shares, its bands at a confidence level, and its noise."""
    return dataclasses.replace(
        common,
        quantiles=common.quantiles if curve.told else (),
        share=curve.probabilities,
        sample_band=curve.band(level, target="sample") if curve.private else None,
        population_band=curve.band(level, target="population"),
        noise_band=curve.band(level, target="approximation") if curve.approximates else None,
        typical_error=_typical_error(curve),
        smoothing=curve.smoothing,
        total=curve.total,
        confidence_level=level,
        defined=curve.told,
        people=curve.people,
    )


def _quantiles_of(curve: Curve, exact: Float64 | None) -> tuple[QuantileRow, ...]:
    numbers = curve.thresholds[np.searchsorted(curve.probabilities, PROBABILITIES)]
    interval = curve.quantile_interval(np.array(PROBABILITIES), CONFIDENCE_LEVEL)
    low, high = (_numbers(curve.grid, ends) for ends in interval)
    return tuple(
        QuantileRow(share, float(number), first, last, exact_quantile(curve.grid, exact, share))
        for share, number, first, last in zip(PROBABILITIES, numbers, low, high, strict=True)
    )


def _numbers(grid: Grid, labels: Sequence[object]) -> list[float]:
    return [grid.number(label) for label in labels]


def exact_quantile(grid: Grid, exact: Float64 | None, share: float) -> float | None:
    """The first threshold at which the exact shares reach a share; None where they are not known."""
    if exact is None:
        return None
    # a share like 0.3 is not a float, and must not skip a threshold at which F is exactly that
    return float(grid.thresholds[int(np.searchsorted(exact, share - 1e-12))])


def _typical_error(curve: Curve) -> float | None:
    if curve.strategy is None or not curve.defined:
        return None
    variance = curve.strategy.variance(total_known=curve.total is not None)
    return math.sqrt(float(np.mean(variance))) / curve.records
