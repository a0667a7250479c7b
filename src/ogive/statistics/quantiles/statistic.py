"""Quantiles with simultaneous intervals, from a whole curve or from the few points a bisection visits."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ogive.errors import ParameterError, quoted
from ogive.grids import Bound, Grid
from ogive.provenance import Provenance, publishable
from ogive.queries import Answer, CurveQuery, Query
from ogive.statistics import plain_json
from ogive.statistics.base import Terms
from ogive.statistics.confidence import check_level, simulations_needed
from ogive.statistics.curve import bins as curve_bins
from ogive.statistics.curve.bands.simultaneous import FEWEST_SIMULATIONS
from ogive.statistics.curve.bins import lower_ends
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.ecdf.statistic import DEFAULT_BINS, Ecdf, by_hand
from ogive.statistics.methods.choose import METHODS, Method, as_method
from ogive.statistics.methods.unbiased import choose
from ogive.statistics.quantiles import stored as quantiles_json
from ogive.statistics.quantiles.bisection import bisect_quantiles
from ogive.strategies import Pointwise, Strategy

DECILES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
CONFIDENCE_LEVEL = 0.95


@dataclass(frozen=True)
class QuantileEstimates:
    """Quantiles of one column, with intervals that hold for all of them at once.

    Fields:
        column: What was measured.
        grid: The public thresholds; every quantile is one of them.
        probabilities: Which quantiles, in the order asked.
        numbers, low, high: Quantile and interval ends as numbers of the grid.
        confidence_level: Chance that all intervals hold the population's quantiles.
        curve: The whole curve where the method released one, else None.
        provenance: What was released, at what price and under whose trust.
    """

    schema: ClassVar[str] = quantiles_json.SCHEMA

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
        """The quantiles as the user writes them: floats, dates or datetimes."""
        return [self.grid.label(number) for number in self.numbers]

    @property
    def intervals(self) -> list[tuple[Any, Any]]:
        """Ends of the simultaneous intervals, in the same form."""
        return [(self.grid.label(a), self.grid.label(b)) for a, b in zip(self.low, self.high, strict=True)]

    def with_provenance(self, provenance: Provenance) -> QuantileEstimates:
        """The same estimates carrying their provenance."""
        curve = None if self.curve is None else self.curve.with_provenance(provenance)
        return dataclasses.replace(self, provenance=provenance, curve=curve)

    def to_dict(self) -> dict[str, Any]:
        """Plain data of the published schema `ogive.quantiles/1`; dates are ISO text."""
        return quantiles_json.to_dict(self)

    @staticmethod
    def from_dict(data: Any) -> QuantileEstimates:
        """Rebuild from `to_dict`; equal to the original. The data need not be trusted.

        Raises:
            ParameterError, DataError: these are no quantiles that this version can read.
        """
        return QuantileEstimates(**quantiles_json.fields(data))

    @staticmethod
    def from_json(source: str | bytes | Path) -> QuantileEstimates:
        """Read quantiles from JSON text, or from a file if given a Path. The text need not be trusted.

        Raises:
            ParameterError, DataError: these are no quantiles that this version can read.
        """
        return QuantileEstimates.from_dict(plain_json.parse(source))

    def errors(self, truth: QuantileEstimates) -> dict[str, float]:
        """Distances from exact quantiles.

        Returns:
            rank: Largest distance of a wanted probability from the shares that the exact curve puts
                below, and at or below, the quantile given for it; NaN where only quantiles are known.
        """
        if truth.curve is None:
            return {"rank": float("nan")}
        shares = np.concatenate(([0.0], truth.curve.probabilities))
        at = np.searchsorted(truth.grid.thresholds, self.numbers)
        wanted = np.array(self.probabilities)
        return {"rank": float(np.max(np.maximum(0, np.maximum(shares[at] - wanted, wanted - shares[at + 1]))))}

    def to_json(self, path: str | Path | None = None) -> str:
        """JSON text; with a path, also written there, whole or not at all; for its owner alone if not private.

        Raises:
            ParameterError: the file cannot be written.
        """
        return plain_json.write(self.to_dict(), path, public=publishable(self.provenance), indent=1)

    def __str__(self) -> str:
        percent = f"{100 * self.confidence_level:g} % interval"
        lines = [f"quantiles of {self.column} ({self.provenance})", f"{'probability':>11}  {'value':>20}  {percent}"]
        for p, value, (a, b) in zip(self.probabilities, self.values, self.intervals, strict=True):
            lines.append(f"{p:>11g}  {_short(value):>20}  {_short(a)} to {_short(b)}")
        return "\n".join(lines)


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Quantiles:
    """Quantiles of one column on a public grid.

    Fields:
        column: Numeric or temporal column.
        probabilities: Which quantiles, each in [0, 1].
        bounds, bins, grid, missing: As for `Ecdf`.
        method: "bisection" opens only the points it visits (path noise); anything else is a method
            of `Ecdf` and reads the quantiles off a whole curve, which costs the same. "auto" does so.
        confidence_level: Of the simultaneous intervals.
        expected_records: As for `Ecdf`.
    """

    name: ClassVar[str] = "quantiles"

    column: str
    probabilities: Sequence[float] = DECILES
    _: KW_ONLY
    bounds: tuple[Bound, Bound] | None = None
    bins: int = DEFAULT_BINS
    grid: Grid | str = "linear"
    method: Method = "auto"
    missing: str = "refuse"
    confidence_level: float = CONFIDENCE_LEVEL
    expected_records: int | None = None

    def __post_init__(self) -> None:
        """Refuse what no release could use, before any data is touched."""
        try:
            wanted = np.atleast_1d(np.asarray(self.probabilities, dtype=np.float64))
        except (TypeError, ValueError):
            raise ParameterError(f"probabilities must be numbers in [0, 1], got {quoted(self.probabilities)}") from None
        if wanted.ndim != 1 or wanted.size == 0:
            raise ParameterError("ask for at least one probability")
        if not np.all((wanted >= 0) & (wanted <= 1)):
            raise ParameterError(
                f"probabilities must be in [0, 1], got {wanted[~((wanted >= 0) & (wanted <= 1))][0]:g}"
            )
        level = check_level(self.confidence_level)
        object.__setattr__(self, "probabilities", tuple(float(p) for p in wanted))
        object.__setattr__(self, "confidence_level", float(level))
        size = self.ecdf().binning().grid.bins
        # refused before anything is paid for; no method of this package draws more values than four a threshold
        nodes = sum(part.nodes for part in self.method.levels) if isinstance(self.method, Strategy) else 4 * size
        simulations_needed(level, share=Fraction(1, 2), nodes=nodes, usual=FEWEST_SIMULATIONS)

    def ecdf(self) -> Ecdf:
        """The curve that quantiles are read off; bisection opens single points of it."""
        method = "path" if self.method == "bisection" else self.method
        return Ecdf(
            self.column,
            self.bounds,
            bins=self.bins,
            grid=self.grid,
            method=method,
            missing=self.missing,
            expected_records=self.expected_records,
        )

    def canonical(self) -> Quantiles:
        """The one spelling that stands for all of the same question: the grid itself, recipes spelled out."""
        grid = self.ecdf().binning().grid
        method = self.method if self.method == "bisection" else as_method(self.method)
        return dataclasses.replace(self, bounds=None, bins=grid.bins, grid=grid, method=method)

    def alternatives(self) -> dict[str, Quantiles]:
        """One for each way to a whole curve, one for bisection, and one for a recipe or strategy of one's own."""
        named = {name: dataclasses.replace(self, method=name) for name in (*METHODS, "bisection")}
        return named if self.method == "bisection" else named | by_hand(self)

    def questions(self, terms: Terms) -> Generator[Query, Answer, QuantileEstimates]:
        """Release a curve and read it, or bisect.

        Privacy: one measurement at the whole of `terms.privacy`, however many quantiles.
        """
        if self.method == "bisection":
            return (yield from self._bisect(terms))
        curve = yield from self.ecdf().questions(terms)
        probabilities = np.array(self.probabilities)
        low = high = curve.quantile(probabilities)
        if terms.simulations != 0:
            band = curve.band(self.confidence_level, simulations=self._simulations(curve, terms))
            low, high = curve_bins.quantile_interval(probabilities, band)
        number = curve.grid.number
        return QuantileEstimates(
            column=self.column,
            grid=curve.grid,
            probabilities=tuple(self.probabilities),
            numbers=tuple(number(value) for value in curve.quantile(probabilities)),
            low=tuple(number(value) for value in low),
            high=tuple(number(value) for value in high),
            confidence_level=self.confidence_level,
            curve=curve,
        )

    def _simulations(self, curve: Curve, terms: Terms) -> int | None:
        """How many releases the interval is simulated with; None for the usual number."""
        if terms.simulations is None or curve.strategy is None:
            return None
        nodes = sum(level.nodes for level in curve.strategy.levels)
        level = check_level(self.confidence_level)
        return simulations_needed(level, share=Fraction(1, 2), nodes=nodes, usual=terms.simulations)

    def _bisect(self, terms: Terms) -> Generator[Query, Answer, QuantileEstimates]:
        binning = self.ecdf().binning()
        terms.check_cells(binning.grid.bins)
        strategy = choose(
            binning.grid.bins,
            terms.privacy,
            terms.adjacency,
            "path",
            lambda candidate: terms.refusal(CurveQuery(binning, candidate, (0,))),
            rows=terms.unit.max_rows_per_person,
        )
        assert isinstance(strategy, Pointwise)
        found, low, high = yield from bisect_quantiles(
            binning, strategy, self.probabilities, confidence_level=self.confidence_level
        )
        thresholds = binning.grid.thresholds
        return QuantileEstimates(
            column=self.column,
            grid=binning.grid,
            probabilities=tuple(self.probabilities),
            numbers=tuple(thresholds[found].tolist()),
            low=tuple(lower_ends(binning.grid)[low].tolist()),
            high=tuple(thresholds[high].tolist()),
            confidence_level=self.confidence_level,
        )
