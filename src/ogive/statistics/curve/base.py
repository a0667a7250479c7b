"""The data of a released distribution function, its band and its steps; what it can be asked is in `estimate`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from ogive.columns.axis import first_at_or_above, last_at_or_below, plain, to_labels, to_numbers
from ogive.columns.grids import Grid
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import Progress
from ogive.core.rooms import room
from ogive.errors import ParameterError
from ogive.privacy import Adjacency
from ogive.provenance import Provenance
from ogive.statistics.base import FEWEST, Estimate
from ogive.statistics.confidence import Target
from ogive.statistics.curve.bands.band import simultaneous_band
from ogive.statistics.curve.bands.simultaneous import Band
from ogive.statistics.curve.batches import Batch
from ogive.strategies import Strategy
from ogive.strategies.base import approximates


@dataclass(frozen=True, eq=False, repr=False)
class CurveBase(Estimate):
    """Noisy cumulative counts, made a valid distribution function: the data of a curve, and its accuracy.

    Fields:
        grid: Public thresholds tau_1 < ... < tau_N.
        cumulative: Smoothed counts of records at or below each threshold: not decreasing, at least
            0, shape (N,).
        raw: Unbiased counts before smoothing, shape (N,), not monotone. Bands are centered on them.
        strategy: The strategy that was measured; None without noise (trust model clear).
        adjacency: Which data sets are adjacent.
        total: Number of records if public, else None.
        smoothing: How `cumulative` came from the measurements.
        column: Name of the column, for axes and captions.
        provenance: Origin of the release: statistic, price and trust model; None until released.
        measured: Noisy measurements of an approximating strategy, as released; bands and merged curves are computed
            from them. None for other strategies, for which `raw` holds the measurements.
        merged: The batches that were counted, if this is a sum of several releases; see `batches`.
        people: Whether people were counted, whose rows share one weight each; else rows. Numbers of records are then
            numbers of people.

    If the noisy number of records is not positive, `defined` is False and the curve has all its mass at the last
    threshold. It is then a valid distribution function without information; its bands remain valid.

    Raises:
        ParameterError: lengths do not fit, or numbers are not finite, negative or decreasing.
    """

    schema: ClassVar[str] = "ogive.curve/1"

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
    merged: tuple[Batch, ...] = ()
    people: bool = False

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
        if self.provenance is not None and self.provenance.all_rows is not self.people:
            object.__setattr__(self, "provenance", dataclasses.replace(self.provenance, all_rows=self.people))
        for name, values in (("raw", raw), ("cumulative", cumulative)):
            values.flags.writeable = False
            object.__setattr__(self, name, values)
        if self.measured is not None:
            measured = np.array(self.measured)
            if self.strategy is None or measured.ndim != 1 or measured.dtype.kind not in "iu" or not len(measured):
                raise ParameterError(
                    "`measured` must hold the whole numbers that a noisy strategy measured, shape (M,)"
                )
            measured = measured.astype(np.int64)
            measured.flags.writeable = False
            object.__setattr__(self, "measured", measured)

    def _numbers(self, name: str) -> Float64:
        values = np.array(getattr(self, name), dtype=np.float64)
        if values.shape != (self.grid.bins,):
            raise ParameterError(f"`{name}` must hold {self.grid.bins} numbers, one a threshold, got {values.shape}")
        if not np.isfinite(values).all():
            raise ParameterError(f"`{name}` must hold finite numbers")
        return values

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CurveBase):
            return NotImplemented
        pairs = ((getattr(self, field.name), getattr(other, field.name)) for field in dataclasses.fields(self))
        return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)

    def __hash__(self) -> int:
        return hash((self.grid, self.column, self.total, self.cumulative.tobytes()))

    def with_provenance(self, provenance: Provenance) -> Self:
        """Return the same curve with its provenance."""
        if provenance.total is None and self.total is not None:
            provenance = dataclasses.replace(provenance, total=self.total)
        return dataclasses.replace(self, provenance=provenance)

    @property
    def batches(self) -> tuple[Batch, ...]:
        """The batches of records that were counted: several after a merge, else the release's own; none without one."""
        source = self.provenance
        if self.merged or source is None:
            return self.merged
        return (Batch(source.release_id, source.batch, self.total, self.records, source.privacy, source.account),)

    @property
    def rows_of_one(self) -> int:
        """Most records of one person that count alone: 1 where people are counted."""
        return 1 if self.people else super().rows_of_one

    @property
    def private(self) -> bool:
        """Whether noise was added."""
        return self.strategy is not None

    @property
    def approximates(self) -> bool:
        """Whether the method measured less than a whole curve, so that its error has a bias besides the noise."""
        return self.strategy is not None and approximates(self.strategy)

    @property
    def records(self) -> float:
        """Number of records: exact where that is public, else its estimate; at least 0."""
        return float(self.cumulative[-1]) if self.total is None else float(self.total)

    @property
    def defined(self) -> bool:
        """Whether the noisy number of records is positive."""
        return self.records > 0

    @property
    def told(self) -> bool:
        """Whether people are told anything of the curve: the number of records with its noise is at least 1."""
        return self.records >= FEWEST

    @property
    def thresholds(self) -> Float64:
        """The grid's numbers, shape (N,)."""
        return self.grid.thresholds

    @property
    def labels(self) -> Any:
        """Thresholds in the user's units, shape (N,): numbers, dates or datetimes."""
        return to_labels(self.grid, self.grid.thresholds)

    @cached_property
    def probabilities(self) -> Float64:
        """F at each threshold, shape (N,), not decreasing, in [0, 1]; the last is exactly 1."""
        values = np.minimum(self.cumulative / self.records, 1.0) if self.defined else np.zeros(self.grid.bins)
        values[-1] = 1.0
        values.flags.writeable = False
        return values

    def band(
        self,
        confidence_level: float = 0.95,
        *,
        target: str = "population",
        simulations: int | None = None,
        progress: Progress | None = None,
        rows_per_person: int | None = None,
        width: str = "even",
    ) -> Band:
        """Compute two curves between which the whole true curve lies with the stated confidence.

        Centered on `raw`, since no such statement is known for the smoothed curve, which may leave the
        band in places. A strategy that approximates (projection, histogram, adaptive quantiles) has a bias, so nothing
        around its estimate holds the truth: its band holds all curves that agree with what was measured, however
        uneven they are between, and is wide.

        Where people are counted, both ends are further out by 1/1680 of the people, the most by which rounding their
        shares to whole units moves the curve, whatever the target.

        Args:
            confidence_level: Wanted probability for all thresholds at once, above 0 and at most 0.9999.
            target: "population": what the records were drawn from; counts sampling error and noise.
                "sample": the records themselves; counts noise only, so it is narrower. "approximation", for
                strategies that approximate: what they would say without noise, bias included.
            simulations: Number of simulated releases; by default 9999, fewer for more than 6000 noise
                nodes. The level 1 - a holds on average over the simulation, which is fixed and public;
                the achieved a strays by about sqrt(a (1 - a) / simulations), 0.0022 by default.
            progress: Called with simulations done and to do.
            rows_per_person: Most records of one person, which may all be alike; by default what the release says.
            width: "even": as wide everywhere, but for what monotony gives. "narrowing", for the population alone:
                narrower in the tails, where noise is not most of the error, and up to an eighth wider in the middle.
                It takes seconds, and longer at high levels: half a minute at 0.999 for 10,000 records and 1024
                thresholds, and two minutes at 0.9997. Higher levels are refused unless `simulations` is given.

        Raises:
            ParameterError: an argument is out of range.
            UnsupportedError: no narrowing band is known: for a sample, for a strategy that approximates, where the
                number of records is private, where a person may have several rows, where people are counted, or for
                mixtures.

        Privacy:
            Post-processing.
        """
        rows = self.rows_of_one if rows_per_person is None else rows_per_person
        asked = (str(confidence_level), target, simulations, rows, width)
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
                rows_per_person=rows,
                people=self.people,
                width=width,
            )
        return self._bands[asked]

    @cached_property
    def _bands(self) -> dict[tuple[Any, ...], Band]:
        """Bands computed so far; some take a second."""
        return {}

    @cached_property
    def _variance(self) -> Float64:
        if self.strategy is None:
            return np.zeros(self.grid.bins)
        return self.strategy.variance(total_known=self.total is not None)

    @property
    def caption(self) -> str:
        """The guarantee in a clause, or "not private"."""
        if self.provenance is None and self.strategy is not None:
            return f"{self.strategy.loss(self.adjacency)}, {self.adjacency.words}"
        return super().caption

    def check_defined(self) -> None:
        """Refuse to read a shape from a curve that is not defined.

        Raises:
            ParameterError: noise left no records.
        """
        if not self.defined:
            raise ParameterError("this curve is not defined, since noise leaves no records, and says nothing of them")


# --- Step functions, shaped like results of `scipy.stats.ecdf`


@dataclass(frozen=True, eq=False)
class StepFunction:
    """Values at the thresholds, and what holds between them.

    Fields:
        grid: Thresholds.
        probabilities: Value at each threshold, shape (N,).
        outside: Value below all thresholds, or above all of them where `looks` is "ahead".
        looks: "back": between thresholds the value at the last one holds (right-continuous);
            "ahead": the value at the next one.
    """

    grid: Grid
    probabilities: Float64
    outside: float
    looks: str = "back"

    @property
    def quantiles(self) -> Any:
        """Thresholds as the user would write them, shape (N,)."""
        return to_labels(self.grid, self.grid.thresholds)

    def evaluate(self, x: Any) -> Any:
        """Value at each x (numbers, or dates on a grid of dates), same shape."""
        numbers = to_numbers(self.grid, x)
        if self.looks == "back":
            padded = np.concatenate(([self.outside], self.probabilities))
            return plain(padded[last_at_or_below(self.grid, numbers) + 1])
        padded = np.concatenate((self.probabilities, [self.outside]))
        return plain(padded[first_at_or_above(self.grid, numbers)])


class StepInterval(NamedTuple):
    """Two step functions that hold a whole true one between them with a stated confidence."""

    low: StepFunction
    high: StepFunction


@dataclass(frozen=True, eq=False)
class CurveFunction:
    """The distribution function ("cdf") or survival function ("sf") of a curve.

    Has what `scipy.stats.ecdf(...).cdf` has, with one difference: confidence intervals hold
    for all thresholds at once, not for one at a time.
    """

    curve: CurveBase
    name: str

    @property
    def quantiles(self) -> Any:
        """Thresholds as the user would write them, shape (N,)."""
        return self.curve.labels

    @property
    def probabilities(self) -> Float64:
        """Value at each threshold, shape (N,)."""
        return self._steps.probabilities

    def evaluate(self, x: Any) -> Any:
        """Value at each x, same shape; right-continuous between thresholds."""
        return self._steps.evaluate(x)

    def confidence_interval(self, confidence_level: float = 0.95, *, target: Target = "population") -> StepInterval:
        """Two step functions around the true one, at all thresholds at once; see `Curve.band`."""
        band = self.curve.band(confidence_level, target=target)
        if self.name == "cdf":
            return StepInterval(
                StepFunction(band.grid, band.low, 0.0), StepFunction(band.grid, band.high, 1.0, looks="ahead")
            )
        return StepInterval(
            StepFunction(band.grid, 1 - band.high, 0.0, looks="ahead"), StepFunction(band.grid, 1 - band.low, 1.0)
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the steps; returns matplotlib axes."""
        return room(type(self), "view").plot_steps(self.curve, self._steps.probabilities, self._steps.outside, ax)

    @property
    def _steps(self) -> StepFunction:
        if self.name == "cdf":
            return StepFunction(self.curve.grid, self.curve.probabilities, 0.0)
        return StepFunction(self.curve.grid, 1 - self.curve.probabilities, 1.0)
