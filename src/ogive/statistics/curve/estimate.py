"""A released distribution function: the estimate that can be asked, compared, drawn and stored."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ogive import plots
from ogive.axis import last_at_or_below, plain, to_labels, to_numbers, to_shares
from ogive.errors import ParameterError, quoted
from ogive.grids import Grid
from ogive.privacy import Adjacency
from ogive.provenance import Provenance, publishable
from ogive.statistics import plain_json
from ogive.statistics.curve import bins as curve_bins
from ogive.statistics.curve import shape as curve_shape
from ogive.statistics.curve import stored as curve_json
from ogive.statistics.curve import text as curve_text
from ogive.statistics.curve.bands.simultaneous import TARGETS, Band, Progress, simultaneous_band
from ogive.statistics.curve.bins import QuantileInterval
from ogive.statistics.curve.merging import batches
from ogive.statistics.curve.shape import CurveMoments
from ogive.statistics.curve.steps import CurveFunction
from ogive.strategies import Strategy
from ogive.strategies.base import approximates

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curve:
    """Estimated share of records at or below every threshold; always a valid distribution function.

    Fields:
        grid: Public thresholds tau_1 < ... < tau_N.
        cumulative: Smoothed counts of records at or below each threshold: not decreasing, at least
            0, shape (N,).
        raw: Unbiased counts before smoothing, shape (N,); noise makes them wiggle. Bands are centered here.
        strategy: What was measured; None where nothing was added (trust model clear).
        adjacency: Which data sets are adjacent.
        total: Number of records where that is public, else None.
        smoothing: How `cumulative` came from the measurements.
        column: What was measured, for axes and captions.
        provenance: Price, trust and origin; None until released.
        measured: Noisy measurements of a strategy that approximates, as they were released: bands go back to them,
            and measurements of other records add up with them. None for other strategies, whose `raw` says it all.
        merged: Who was counted, where this is a sum of several releases; see `batches`.

    If noise leaves no records at all, `defined` is False and the curve has all mass at the last
    threshold: a valid distribution function that says nothing. Its bands are honest.

    Raises:
        ParameterError: lengths do not fit, or numbers are not finite, negative or decreasing.
    """

    schema: ClassVar[str] = curve_json.SCHEMA

    grid: Grid
    cumulative: Float64
    raw: Float64
    strategy: Strategy | None
    adjacency: Adjacency
    total: int | None
    smoothing: str
    column: str
    provenance: Provenance | None = None
    measured: Int64 | None = None
    merged: tuple[batches.Batch, ...] = ()

    def __post_init__(self) -> None:
        raw, cumulative = (self._numbers(name) for name in ("raw", "cumulative"))
        rounding = 1e-6 * max(1.0, float(np.max(np.abs(cumulative))))
        if float(cumulative.min()) < -rounding or np.any(np.diff(cumulative) < -rounding):
            raise ParameterError("cumulative counts must be at least 0 and must not decrease")
        np.maximum.accumulate(np.maximum(cumulative, 0), out=cumulative)
        if self.total is not None and self.total < 0:
            raise ParameterError(f"the number of records must be at least 0, got {self.total}")
        if self.strategy is not None and self.strategy.size != self.grid.bins:
            raise ParameterError(f"the strategy is for {self.strategy.size} bins, the grid has {self.grid.bins}")
        for name, values in (("raw", raw), ("cumulative", cumulative)):
            values.flags.writeable = False
            object.__setattr__(self, name, values)
        if self.measured is not None:
            measured = np.array(self.measured)
            if self.strategy is None or measured.ndim != 1 or measured.dtype.kind not in "iu" or not len(measured):
                raise ParameterError("measured must hold the whole numbers that a noisy strategy measured, shape (M,)")
            measured = measured.astype(np.int64)
            measured.flags.writeable = False
            object.__setattr__(self, "measured", measured)

    def _numbers(self, name: str) -> Float64:
        values = np.array(getattr(self, name), dtype=np.float64)
        if values.shape != (self.grid.bins,):
            raise ParameterError(f"{name} must hold {self.grid.bins} numbers, one a threshold, got {values.shape}")
        if not np.isfinite(values).all():
            raise ParameterError(f"{name} must hold finite numbers")
        return values

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Curve):
            return NotImplemented
        pairs = ((getattr(self, field.name), getattr(other, field.name)) for field in dataclasses.fields(self))
        return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)

    def __hash__(self) -> int:
        return hash((self.grid, self.column, self.total, self.cumulative.tobytes()))

    def with_provenance(self, provenance: Provenance) -> Self:
        """The same curve carrying where it comes from."""
        if provenance.total is None and self.total is not None:
            provenance = dataclasses.replace(provenance, total=self.total)
        return dataclasses.replace(self, provenance=provenance)

    # Who was counted

    @property
    def batches(self) -> tuple[batches.Batch, ...]:
        """The batches of records that were counted: several after a merge, else the release's own; none without one."""
        return batches.batches_of(self)

    def update(self, newer: Curve) -> Curve:
        """Add newly collected people, released by themselves; nobody's records are read again.

        Args:
            newer: A released curve of other people, on the same thresholds; see `merge`.

        Raises:
            ParameterError: a batch would count twice, or the curves do not fit together.

        Privacy:
            As `merge`: nobody loses more than the dearest release of theirs, provided that no person is in two batches.
        """
        from ogive.statistics.curve.merging.merge import merge

        return merge(self, newer)

    # What was estimated

    @property
    def private(self) -> bool:
        """Whether noise was added."""
        return self.strategy is not None

    @property
    def approximates(self) -> bool:
        """Whether the method measured less than a whole curve, so that its error is more than its noise."""
        return self.strategy is not None and approximates(self.strategy)

    @property
    def records(self) -> float:
        """Number of records: exact where that is public, else its estimate; at least 0."""
        return float(self.cumulative[-1]) if self.total is None else float(self.total)

    @property
    def defined(self) -> bool:
        """Whether there are any records, as far as the noise lets one see."""
        return self.records > 0

    @property
    def thresholds(self) -> Float64:
        """The grid's numbers, shape (N,)."""
        return self.grid.thresholds

    @property
    def labels(self) -> Any:
        """Thresholds as the user would write them, shape (N,): numbers, dates or datetimes."""
        return to_labels(self.grid, self.grid.thresholds)

    @cached_property
    def probabilities(self) -> Float64:
        """F at each threshold, shape (N,), not decreasing, in [0, 1]; the last is exactly 1."""
        values = np.minimum(self.cumulative / self.records, 1.0) if self.defined else np.zeros(self.grid.bins)
        values[-1] = 1.0
        values.flags.writeable = False
        return values

    # Asking

    def __call__(self, t: Any) -> Any:
        """F(t), the share of records at or below t; the same as `evaluate`."""
        return self.evaluate(t)

    def evaluate(self, t: Any) -> Any:
        """Share of records at or below each t, as a step function: F at the last threshold at or below t.

        Args:
            t: Numbers, or dates on a grid of dates; any shape, also infinite.

        Returns:
            A float, or an array of the shape of t; 0 below the first threshold.

        Raises:
            ParameterError: t is missing or of another kind than the grid's bounds.
        """
        return self.cdf.evaluate(t)

    def survival(self, t: Any) -> Any:
        """Share of records above each t, `1 - F(t)`."""
        return self.sf.evaluate(t)

    @property
    def cdf(self) -> CurveFunction:
        """The distribution function, in the shape of `scipy.stats.ecdf(...).cdf`."""
        return CurveFunction(self, "cdf")

    @property
    def sf(self) -> CurveFunction:
        """The survival function, in the shape of `scipy.stats.ecdf(...).sf`."""
        return CurveFunction(self, "sf")

    def quantile(self, p: Any) -> Any:
        """First threshold at which F reaches p, for each p in [0, 1].

        Returns:
            A number or date, or an array of them (dates as objects) of the shape of p.

        Raises:
            ParameterError: a p is outside [0, 1].
        """
        return to_labels(self.grid, self.thresholds[np.searchsorted(self.probabilities, to_shares(p), side="left")])

    def quantile_interval(
        self, p: Any, confidence_level: float = 0.95, *, target: str = "population"
    ) -> QuantileInterval:
        """Ends between which the true quantiles of all p lie at once, by inverting the band.

        Bins are half-open, so the true quantile is above `low` and at most `high`; on a grid of
        integers it is at least `low`. Values outside the grid's bounds count as clipped to them.

        Args:
            p: Shares in [0, 1], any shape.
            confidence_level: Wanted probability, above 0 and at most 0.9999.
            target: "population" or "sample"; see `band`.

        Returns:
            low and high, each of the shape of p.

        Raises:
            ParameterError: an argument is out of range.
        """
        return curve_bins.quantile_interval(to_shares(p), self.band(confidence_level, target=target))

    # Error

    def band(
        self,
        confidence_level: float = 0.95,
        *,
        target: str = "population",
        simulations: int | None = None,
        progress: Progress | None = None,
    ) -> Band:
        """Compute two curves between which the whole true curve lies with the stated confidence.

        Centered on `raw`, since no such statement is known for the smoothed curve, which may leave the
        band in places. A strategy that approximates (projection, histogram, adaptive quantiles) has a bias, so nothing
        around its estimate holds the truth: its band holds all curves that agree with what was measured, however
        uneven they are between, and is wide.

        Args:
            confidence_level: Wanted probability for all thresholds at once, above 0 and at most 0.9999.
            target: "population": what the records were drawn from; counts sampling error and noise.
                "sample": the records themselves; counts noise only, so it is narrower. "approximation", for
                strategies that approximate: what they would say without noise, bias included.
            simulations: Number of simulated releases; by default 9999, fewer for more than 6000 noise
                nodes. The level 1 - a holds on average over the simulation, which is fixed and public;
                the achieved a strays by about sqrt(a (1 - a) / simulations), 0.0022 by default.
            progress: Called with simulations done and to do.

        Raises:
            ParameterError: an argument is out of range.

        Privacy:
            Post-processing.
        """
        asked = (str(confidence_level), target, simulations)
        if asked not in self._bands:
            self._bands[asked] = simultaneous_band(
                self.grid,
                self.raw,
                strategy=self.strategy,
                total=self.total,
                confidence_level=confidence_level,
                target=target,
                simulations=simulations,
                progress=progress,
                measured=self.measured,
            )
        return self._bands[asked]

    @cached_property
    def _bands(self) -> dict[tuple[Any, ...], Band]:
        """Bands asked for so far: some take a second."""
        return {}

    @cached_property
    def _variance(self) -> Float64:
        if self.strategy is None:
            return np.zeros(self.grid.bins)
        return self.strategy.variance(total_known=self.total is not None)

    def rmse(self) -> float:
        """Predicted root-mean-square error of the raw counts over the thresholds, as a share of the records.

        Counts noise only. Smoothing usually does better, and the bias of a strategy that approximates comes on
        top. Infinite where the curve is not defined.
        """
        return float(np.sqrt(np.mean(self._variance))) / self.records if self.defined else float("inf")

    def errors(self, truth: Curve) -> dict[str, float]:
        """Distances from another curve on the same grid.

        Returns:
            ks: Largest difference at any threshold, as a share.
            rmse: Root mean squared difference over the thresholds, as a share.

        Raises:
            ParameterError: the other curve is on another grid.
        """
        if truth.grid != self.grid:
            raise ParameterError("curves on different grids do not compare threshold by threshold")
        gap = self.probabilities - truth.probabilities
        return {"ks": float(np.abs(gap).max()), "rmse": float(np.sqrt(np.mean(gap**2)))}

    def standard_error(self, t: Any, *, target: str = "population") -> Any:
        """Standard deviation of the raw estimate at each t, as a share of the records.

        One point at a time; for a whole curve use `band`. With a private number of records the
        noise of that number is left out. So is the bias of a strategy that approximates, which no release can tell.

        Args:
            t: As for `evaluate`.
            target: "population" adds the sampling error; "sample" counts noise only.

        Returns:
            A float, or an array of the shape of t; infinite where the curve is not defined.

        Raises:
            ParameterError: t or target is not what is asked for.
        """
        if target not in TARGETS:
            raise ParameterError(f"target must be population or sample, got {quoted(target)}")
        numbers = to_numbers(self.grid, t)
        if not self.defined:
            return plain(np.full(numbers.shape, np.inf))
        points = last_at_or_below(self.grid, numbers)
        variance = np.concatenate(([0.0], self._variance))[points + 1] / self.records**2
        if target == "population":
            share = np.concatenate(([0.0], self.probabilities))[points + 1]
            variance = variance + share * (1 - share) / self.records
        return plain(np.sqrt(variance))

    # Bins

    def histogram(self, edges: Any = None) -> curve_bins.Histogram:
        """Shares and counts between thresholds, by differences.

        Args:
            edges: Increasing thresholds (the first may be the grid's lower bound), or a number of equal
                groups of bins that divides N; by default every bin.

        Raises:
            ParameterError: an edge is no threshold, or the number does not divide N.
        """
        return curve_bins.histogram(self.grid, self.probabilities, self.records, edges)

    def mean(self) -> Any:
        """Expected value, with the mass of a bin in its middle; of values clipped to the bounds."""
        return to_labels(self.grid, curve_bins.mean(self.grid, self.probabilities))

    def moments(self, order: int = 4) -> CurveMoments:
        """Mean, variance and means of powers up to an order, of values clipped to the bounds.

        A Legendre projection (on a grid of even bins or of integers) has them as a by-product: unbiased, with a known
        law of noise. For other curves they are those of the smoothed curve, with the mass of a bin in its middle.

        Args:
            order: Highest power, from 1 to 15; a projection of degree K has K + 1 of its own.

        Raises:
            ParameterError: the order is out of range, or noise left no records.

        Privacy:
            Post-processing.
        """
        return curve_shape.moments(self, order)

    def sample(self, size: int, *, rng: np.random.Generator | int | None = None) -> Any:
        """Draw synthetic values from the curve, shape (size,).

        Uniform within a bin; on whole days on a grid of dates; on thresholds on a grid of integers.

        Args:
            size: Number of independent draws, at least 0.
            rng: Generator or seed. The draws are post-processing, so it need not be secret.

        Raises:
            ParameterError: size is not a whole number of at least 0.
        """
        return curve_bins.draw(self.grid, self.probabilities, size, np.random.default_rng(rng))

    # Showing and storing

    @property
    def caption(self) -> str:
        """The guarantee in a clause, or "not private"."""
        return curve_text.guarantee(self)

    def __str__(self) -> str:
        return curve_text.summary(self)

    def __repr__(self) -> str:
        return f"<Curve of {self.column}: {self.grid.bins} thresholds, {'private' if self.private else 'not private'}>"

    def _repr_html_(self) -> str:
        return curve_text.html(self)

    def plot(self, ax: Any = None, *, confidence_level: float | None = 0.95, target: str = "population") -> Any:
        """Draw the curve and its band; returns matplotlib axes.

        Args:
            ax: Axes to draw into; new ones by default.
            confidence_level: Of the band; None for no band.
            target: Of the band.
        """
        return plots.plot_curve(self, ax, confidence_level=confidence_level, target=target)

    def plot_histogram(self, bins: int | None = None, ax: Any = None) -> Any:
        """Draw the share of the records in groups of bins; returns matplotlib axes.

        Args:
            bins: Number of groups of about equally many bins; by default 30.
            ax: Axes to draw into; new ones by default.

        Raises:
            ParameterError: there are not that many bins, or noise left no records.
        """
        curve_shape.check_defined(self)
        edges, shares = curve_shape.groups(self.grid, self.probabilities, bins)
        return plots.plot_shares(self, edges, shares, ax)

    def plot_qq(self, other: Any, ax: Any = None, *, points: int = 99, name: str | None = None) -> Any:
        """Draw quantiles of this curve against those of another distribution; returns matplotlib axes.

        Equal distributions give points on the diagonal.

        Args:
            other: A curve, a sample, or a known distribution; see `ogive.distances`. With a sample of private
                records the picture is not private, and `ogive.plots.save` writes it for its owner alone.
            ax: Axes to draw into; new ones by default.
            points: How many quantiles.
            name: What the other is called.

        Raises:
            ParameterError: the other is on another axis, or noise left one of the two no records.
        """
        ours, others = curve_shape.quantile_pairs(self, other, points)
        axes = plots.plot_quantiles(self, ours, others, name or "compared", ax)
        if not curve_shape.may_be_shown(other):
            plots.keep_private(axes)
        return axes

    def to_frame(self, backend: str | None = None) -> Any:
        """Thresholds, counts and shares as a data frame.

        Args:
            backend: "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Raises:
            ParameterError: none is installed, or another name was given.
        """
        return curve_text.frame(self, backend)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact; see the schema in `ogive/schemas`."""
        return curve_json.to_dict(self)

    def to_json(self, path: str | Path | None = None) -> str:
        """JSON text; with a path, also written there, whole or not at all; for its owner alone if not private.

        Raises:
            ParameterError: the file cannot be written.
        """
        return plain_json.write(curve_json.to_dict(self), path, public=publishable(self.provenance))

    @staticmethod
    def from_dict(data: Any) -> Curve:
        """Rebuild a curve from `to_dict`; equal to the original.

        Raises:
            ParameterError, DataError: this is no curve that this version can read.
        """
        return Curve(**curve_json.fields(data))

    @staticmethod
    def from_json(source: str | bytes | Path) -> Curve:
        """Read a curve from JSON text, or from a file if given a Path. The text need not be trusted.

        Raises:
            ParameterError, DataError: this is no curve that this version can read.
        """
        return Curve.from_dict(plain_json.parse(source))
