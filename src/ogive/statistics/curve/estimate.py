"""A released distribution function: the estimate that can be asked, compared, drawn and stored."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

import numpy as np

from ogive.columns.axis import first_at_or_above, last_at_or_below, plain, to_labels, to_numbers, to_shares
from ogive.columns.grids import MAX_BINS, Grid
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import among
from ogive.core.rooms import room
from ogive.errors import DataError, ParameterError, quoted
from ogive.errors import plain as plain_words
from ogive.showing import pictures
from ogive.showing.pictures import Style
from ogive.statistics.confidence import TARGETS, Target
from ogive.statistics.curve import distances, readings
from ogive.statistics.curve.base import MOST_BATCHES, CurveBase, check_merged, read_batches
from ogive.statistics.curve.merging import merge
from ogive.statistics.curve.quantile_intervals import quantile_interval
from ogive.statistics.curve.readings import CurveMoments, QuantileInterval
from ogive.statistics.plain_json import LONGEST_TEXT, Fields, check_price, is_number, is_whole
from ogive.strategies import CountedPeople, strategy_from_dict

# --- Step functions, shaped like results of `scipy.stats.ecdf`


@dataclass(frozen=True, eq=False)
class StepFunction:
    """Values at the thresholds, and what holds between them.

    Fields:
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
    def _steps(self) -> StepFunction:
        grid, shares = self.curve.grid, self.curve.probabilities
        return StepFunction(grid, shares, 0.0) if self.name == "cdf" else StepFunction(grid, 1 - shares, 1.0)

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


# --- The estimate


class Curve(CurveBase):
    """Estimated share of records at or below every threshold; always a valid distribution function.

    The fields are those of `CurveBase`: `grid`, `cumulative`, `raw`, `strategy`, `adjacency`, `total`, `smoothing`,
    `column`, `provenance`, `measured` and `merged`.
    """

    def update(self, newer: Curve) -> Curve:
        """Add a released curve of newly collected people; no records are read again.

        Args:
            newer: A released curve of other people, on the same thresholds; see `merge`.

        Raises:
            ParameterError: a batch would count twice, or the curves do not match.

        Privacy:
            As `merge`: the privacy loss of a person is at most that of the most expensive batch, provided that no
            person is in two batches.
        """
        return merge(self, newer)

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
        self,
        p: Any,
        confidence_level: float = 0.95,
        *,
        target: Target = "population",
        width: str = "even",
        simultaneous: bool = True,
    ) -> QuantileInterval:
        """Confidence intervals of the quantiles of all p: by default all of them hold at once.

        Each quantile is tested at the two thresholds that decide it, so that an interval is about half as wide as what
        a band of the whole curve says. Bands of projections, of mixtures and of more than 4,096 thresholds are
        inverted.

        Bins are half-open, so the true quantile is above `low` and at most `high`; on a grid of
        integers it is at least `low`. Values outside the grid's bounds count as clipped to them.

        Args:
            p: Shares in [0, 1], any shape.
            confidence_level: Confidence level, above 0 and at most 0.9999.
            target: "population" or "sample"; see `band`.
            width: "even", or "narrowing" to invert the band that narrows in the tails; see `band`.
            simultaneous: Whether all intervals hold at once with the stated confidence (the more are asked for, the
                wider each is), or each one by itself.

        Returns:
            low and high, each of the shape of p.

        Raises:
            ParameterError: an argument is out of range.
            UnsupportedError: no narrowing band is known for this curve or target.

        Source:
            `docs/proofs/quantile_intervals.md`.
        """
        return quantile_interval(
            self, to_shares(p), confidence_level, target=target, width=width, simultaneous=simultaneous
        )

    # Error

    def rmse(self) -> float:
        """Predicted root-mean-square error of the raw counts over the thresholds, as a share of the records.

        It includes noise only. Smoothing usually reduces it; the bias of an approximating strategy is not included.
        Infinite where the curve is not defined.
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

    def standard_error(self, t: Any, *, target: Target = "population") -> Any:
        """Standard deviation of the raw estimate at each t, as a share of the records.

        It is valid at one point at a time; for a whole curve use `band`. It leaves out the noise of a private number
        of records, and the bias of an approximating strategy, which cannot be estimated from the release. Where people
        are counted it leaves out what rounding their shares to whole units does, a bias of at most 1/1680 of the
        people, which `band` and `quantile_interval` include.

        Args:
            t: As for `evaluate`.
            target: "population" includes the sampling error; "sample" includes noise only.

        Returns:
            A float, or an array of the shape of t; infinite where the curve is not defined.

        Raises:
            ParameterError: t or target is invalid.
        """
        among(target, "target", TARGETS)
        numbers = to_numbers(self.grid, t)
        if not self.defined:
            return plain(np.full(numbers.shape, np.inf))
        points = last_at_or_below(self.grid, numbers)
        variance = np.concatenate(([0.0], self._variance))[points + 1] / self.records**2
        if target == "population":
            share = np.concatenate(([0.0], self.probabilities))[points + 1]
            variance = variance + self.rows_of_one * share * (1 - share) / self.records
        return plain(np.sqrt(variance))

    # Bins

    def histogram(self, edges: Any = None) -> readings.Histogram:
        """Shares and counts between thresholds, by differences.

        Args:
            edges: Increasing thresholds (the first may be the grid's lower bound), or a number of equal
                groups of bins that divides N; by default every bin.

        Raises:
            ParameterError: an edge is no threshold, or the number does not divide N.
        """
        return readings.histogram(self.grid, self.probabilities, self.records, edges)

    def mean(self) -> Any:
        """Mean of the values clipped to the bounds, with the mass of a bin at its midpoint."""
        return to_labels(self.grid, readings.mean(self.grid, self.probabilities))

    def moments(self, order: int = 4) -> CurveMoments:
        """Mean, variance and means of powers up to an order, of values clipped to the bounds.

        A Legendre projection (on a grid of equal bins or of integers) measures them directly: they are unbiased, with
        known noise. For other curves they are computed from the smoothed curve, with the mass of a bin at its
        midpoint.

        Args:
            order: Highest power, from 1 to 15; a projection of degree K has K + 1 of its own.

        Raises:
            ParameterError: the order is out of range, or the curve is not defined.

        Privacy:
            Post-processing.
        """
        return readings.moments(self, order)

    def sample(self, size: int, *, rng: np.random.Generator | int | None = None) -> Any:
        """Draw synthetic values from the curve, shape (size,).

        Draws are uniform within a bin, whole days on a grid of dates, and thresholds on a grid of integers.

        Args:
            size: Number of independent draws, at least 0.
            rng: Generator or seed. The draws are post-processing, so it need not be secret.

        Raises:
            ParameterError: size is not a whole number of at least 0.
        """
        return readings.draw(self.grid, self.probabilities, size, np.random.default_rng(rng))

    # Plain data

    def to_dict(self) -> dict[str, Any]:
        """Plain data; thresholds are implied by the grid, shares by the counts."""
        data: dict[str, Any] = {
            "schema": self.schema,
            "column": self.column,
            "grid": self.grid.to_dict(),
            "adjacency": self.adjacency.value,
            "total": self.total,
            "smoothing": self.smoothing,
            "strategy": None if self.strategy is None else self.strategy.to_dict(),
            "raw": self.raw.tolist(),
            "cumulative": self.cumulative.tolist(),
            "provenance": None if self.provenance is None else self.provenance.to_dict(),
        }
        if self.measured is not None:
            data["measured"] = self.measured.tolist()
        if self.people:
            data["counted"] = "people"
        if self.merged:
            data["batches"] = [batch.to_dict() for batch in self.merged]
        return data

    @classmethod
    def _read(cls, data: Any) -> Any:
        known = Fields.of(data, cls.schema, "a curve", _NEEDED)
        raw = known.numbers("raw")
        grid = read_grid(data["grid"], len(raw))
        strategy = None if data["strategy"] is None else read_strategy(data["strategy"], len(raw))
        total, provenance = known.total(), known.provenance()
        merged = read_batches(data["batches"]) if "batches" in data else ()
        adjacency = known.adjacency()
        counted = data.get("counted", "people")
        if counted != "people":
            raise DataError(f"the field 'counted' of a curve is 'people' or absent, got {quoted(counted)}")
        people = "counted" in data
        parts = getattr(strategy, "parts", (strategy,))
        if strategy is not None and all(isinstance(part, CountedPeople) for part in parts) is not people:
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

    # Showing

    def plot(
        self,
        ax: Any = None,
        *,
        confidence_level: float | None = 0.95,
        target: Target = "population",
        width: str = "even",
        **style: Unpack[Style],
    ) -> Any:
        """Draw the curve and its band; returns matplotlib axes.

        Args:
            ax: Axes to draw into; new ones by default.
            confidence_level: Confidence level of the band; None for no band.
            target: Target of the band, "population" or "sample".
            width: Of the band: "even", or "narrowing" in the tails; see `band`.
            style: Of the curve; see `ogive.plots.Style`.
        """
        options = {"confidence_level": confidence_level, "target": target, "width": width}
        return self.view().draw(ax, **options, **style)

    def plot_histogram(self, bins: int | None = None, ax: Any = None) -> Any:
        """Draw the share of the records in groups of bins; returns matplotlib axes.

        Args:
            bins: Number of groups of about equally many bins; by default 30.
            ax: Axes to draw into; new ones by default.

        Raises:
            ParameterError: there are fewer bins, or the curve is not defined.
        """
        self.check_defined()
        edges, shares = readings.groups(self.grid, self.probabilities, bins)
        return room(type(self), "view").plot_shares(self, edges, shares, ax)

    def plot_qq(self, other: Any, ax: Any = None, *, points: int = 99, name: str | None = None) -> Any:
        """Draw quantiles of this curve against those of another distribution; returns matplotlib axes.

        Equal distributions give points on the diagonal.

        Args:
            other: A curve, a sample, or a known distribution; see `ogive.distances`. With a sample of private records
                the picture is not private, and `ogive.plots.save` makes the file readable by its owner only.
            ax: Axes to draw into; new ones by default.
            points: How many quantiles.
            name: Name of the other distribution.

        Raises:
            ParameterError: the other is on another axis, or one of the two is not defined.
        """
        ours, others = distances.quantile_pairs(self, other, points)
        axes = room(type(self), "view").plot_quantiles(self, ours, others, name or "compared", ax)
        if not distances.may_be_shown(other):
            pictures.keep_private(axes)
        return axes


# --- Plain data, which need not be trusted

_NEEDED = ("column", "grid", "adjacency", "total", "smoothing", "strategy", "raw", "cumulative", "provenance")
# "1e999999999" is a short text and, as an exact number, fills the memory
_EXPONENT = re.compile(r"[eE]\s*[+-]?\d*\d{4}")


def read_measured(data: Any, size: int) -> Int64:
    """Noisy measurements, not more of them than a strategy of that size could need."""
    if not isinstance(data, list) or not 1 <= len(data) <= 8 * size + 64 or not all(map(is_whole, data)):
        raise DataError("the field 'measured' of a curve must be a list of whole numbers, one a measurement")
    return np.array(data, dtype=np.int64)


def read_grid(data: Any, size: int | None = None) -> Grid:
    """A grid of the wanted size; by default one that stands alone, with at most 2^24 thresholds."""
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
        raise DataError(f"the strategy cannot be read: {plain_words(problem)}") from None


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
