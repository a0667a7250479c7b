"""Released measures of a risk score for censored times, with intervals that know the noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from ogive.accounting import at_least
from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.core.arrays import Float64
from ogive.errors import DataError, ParameterError
from ogive.privacy import Adjacency
from ogive.provenance import Provenance
from ogive.queries import class_curves_price
from ogive.statistics.base import Estimate
from ogive.statistics.concordance import indices
from ogive.statistics.concordance.indices import Measure, Table
from ogive.statistics.confidence import check_level
from ogive.statistics.curve.estimate import read_grid, read_strategy
from ogive.statistics.plain_json import Codec, Fields, Read, check_price, is_number, optional, stored
from ogive.statistics.survival.estimate import Value, check_times
from ogive.statistics.survival.process import noise_roots, normal_quantile
from ogive.strategies import Strategy

MOST_BINS, MOST_SCORE_BINS, MOST_HORIZONS = 100, 250, 20
SHOWN = 4
_CLEAR, _FEWEST = 4.0, 3.0
"""Noise deviations, and records, by which a count must exceed 0 so that something is divided by it."""
_SEED, _SIMULATIONS = 0x636F6E63, 4000


def check_grids(times: Grid, scores: Grid, horizons: Sequence[float], predicts: float | None) -> None:
    """Refuse grids that are no durations or scores or have too many bins, and times that end no interval."""
    check_times(times)
    if scores.unit != "number":
        raise ParameterError("`score_bounds` must be numbers")
    for name, grid, most in (("bins", times, MOST_BINS), ("score_bins", scores, MOST_SCORE_BINS)):
        if grid.bins > most:
            raise ParameterError(f"`{name}` must be at most {most}, got {grid.bins}")
    if len(horizons) > MOST_HORIZONS:
        raise ParameterError(f"`horizons` must be at most {MOST_HORIZONS} times, got {len(horizons)}")
    for horizon in horizons:
        place_of(times, horizon, "horizons")
    if predicts is not None:
        place_of(times, predicts, "predicts")
        if scores.low < 0 or scores.high > 1:
            raise ParameterError("`score_bounds` must be within 0 and 1 where the score is a predicted chance")


def place_of(grid: Grid, time: float, name: str = "horizon") -> int:
    """How many intervals there are up to a time."""
    place = int(np.searchsorted(grid.thresholds, time * (1 - 1e-12)))
    if place == grid.bins or not math.isclose(grid.thresholds[place], time, rel_tol=1e-9):
        raise ParameterError(f"`{name}` must be the upper end of an interval of time, got {time:g}")
    return place + 1


class Group(NamedTuple):
    """Records of some bins of the predicted chance: what was predicted and observed of them, with its interval."""

    low: float
    high: float
    records: float
    predicted: float
    observed: Value


def _strategy(known: Fields, name: str, read: Read) -> Any:
    return read_strategy(known.data[name], read["score_grid"].bins)


def _horizons(known: Fields, name: str, _: Read) -> tuple[float, ...]:
    given = known.data[name]
    if not isinstance(given, list) or not all(map(is_number, given)):
        raise DataError(f"the horizons of {known.what} must be a list of numbers")
    return tuple(map(float, given))


_GRID = Codec(lambda grid: grid.to_dict(), lambda known, name, _: read_grid(known.data[name]), {"type": "object"})
_STRATEGY = optional(Codec(lambda strategy: strategy.to_dict(), _strategy, {"type": "object"}))
_ADJACENCY = Codec(lambda adjacency: adjacency.value, lambda known, name, _: known.adjacency(), {"type": "string"})
_NUMBERS = Codec(lambda values: values.tolist(), lambda known, name, _: known.numbers(name), {"type": "array"})


@dataclass(frozen=True, eq=False, repr=False)
class ConcordanceEstimate(Estimate):
    """How well a risk score ranks and predicts times to an event that may be censored.

    Estimates are of the population that the records are from. Where noise may hide what they divide by they are NaN,
    and intervals hold everything that is possible.

    Fields:
        score: Column of risk scores.
        time: Column of times.
        event: Column that says what ended each observation.
        grid: Upper ends of the intervals of time, public.
        score_grid: Upper ends of the bins of the score, public.
        horizons: Times for which the table shows areas; some are chosen where there is none.
        predicts: The time up to which the score is the predicted chance of an event, if it is one.
        cumulative: Unbiased counts of records in bins up to each one, for every interval of time (with one more for all
            later times) and within it the censored, then the events; one after the other.
        strategy: What was measured of each of these classes; None without noise.
        adjacency: Which data sets are adjacent.
        total: Number of records if public, else None.
        confidence_level: Confidence level of printed intervals.
        provenance: Origin of the release: statistic, price and trust model; None until released.
    """

    schema: ClassVar[str] = "ogive.concordance/1"
    article: ClassVar[str] = "a concordance estimate"
    error_words: ClassVar[Mapping[str, str]] = {
        "harrell": "distance of Harrell's index from the exact one",
        "uno": "distance of Uno's index from the exact one",
        "auc": "root mean squared distance of the areas over time, where they are estimable",
    }

    score: str
    time: str
    event: str
    _: KW_ONLY
    grid: Grid = stored(_GRID)
    score_grid: Grid = stored(_GRID)
    horizons: tuple[float, ...] = stored(Codec(list, _horizons, {"type": "array"}))
    predicts: float | None
    cumulative: Float64 = stored(_NUMBERS)
    strategy: Strategy | None = stored(_STRATEGY)
    adjacency: Adjacency = stored(_ADJACENCY)
    total: int | None
    confidence_level: float
    provenance: Provenance | None = None

    def __post_init__(self) -> None:
        check_level(self.confidence_level)
        check_grids(self.grid, self.score_grid, self.horizons, self.predicts)
        if self.cumulative.shape != (2 * (self.grid.bins + 1) * self.score_grid.bins,):
            raise ParameterError("there must be a count for every interval, status and bin of the score")
        if self.total is not None and self.adjacency is not Adjacency.REPLACE:
            raise ParameterError("the number of records is public where a record is replaced, and nowhere else")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConcordanceEstimate) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.score, self.time, self.event, self.cumulative.tobytes()))

    def check_stored(self, known: Fields) -> None:
        """Refuse a stated price below that of the noise."""
        check_price(self.provenance, [(self.strategy, self.adjacency)])
        source = self.provenance
        if self.strategy is not None and source is not None and source.price is not None:
            least = class_curves_price(
                self.strategy, source.unit, public_labels=False, classes=2 * (self.grid.bins + 1)
            )
            if not at_least(source.price, least):
                raise DataError(
                    f"this estimate contradicts itself: its noise costs {least}, and its stated price is {source.price}"
                )

    # counts and their noise

    @property
    def private(self) -> bool:
        """Whether noise was added."""
        return self.strategy is not None

    @cached_property
    def _roots(self) -> Float64:
        """R with R R^T the covariance of the noise of one class's cumulative counts, shape (S, nodes)."""
        if self.strategy is None:
            return np.zeros((self.score_grid.bins, 1))
        return noise_roots(cast(Hashable, self.strategy))

    @cached_property
    def counts(self) -> Float64:
        """Unbiased counts of each interval, status (censored, event) and bin; shape (intervals + 1, 2, S)."""
        values = self.cumulative.reshape(self.grid.bins + 1, 2, -1)
        if self.total is not None and self.strategy is not None:  # what is known of the sum corrects all classes alike
            excess = values[..., -1].sum() - self.total
            along = self._roots @ self._roots[-1]
            values = values - excess * along / (along[-1] * values.shape[0] * 2)
        return np.diff(values, axis=-1, prepend=0.0)

    @property
    def raw(self) -> Float64:
        """The counts of all cells, added up in their order."""
        return np.cumsum(self.counts)

    @property
    def records(self) -> float:
        """Number of records, noisy where it is private; at least 0."""
        return max(0.0, float(self.counts.sum())) if self.total is None else float(self.total)

    def _noise(self, gradients: Float64) -> Float64:
        """R of the noise of functions with these gradients, shape (functions, nodes)."""
        weights = gradients.reshape(len(gradients), -1, self.score_grid.bins)
        rows = (weights - np.concatenate([weights[..., 1:], np.zeros_like(weights[..., :1])], axis=-1)) @ self._roots
        if self.total is not None and self.strategy is not None:
            rows = rows - (rows @ self._roots[-1]).mean(axis=1)[:, None, None] * self._roots[-1] / (
                self._roots[-1] @ self._roots[-1]
            )
        return rows.reshape(len(rows), -1)

    def _covariance(self, gradients: Float64) -> Float64:
        """Covariance of functions with these gradients: noise, and multinomial sampling of the records."""
        noise, flat, counts = self._noise(gradients), gradients.reshape(len(gradients), -1), self.counts.ravel()
        mean = flat @ counts
        sampling = (flat * counts) @ flat.T - np.outer(mean, mean) / max(counts.sum(), 1.0)
        return noise @ noise.T + self.rows_of_one * np.where(
            np.eye(len(flat), dtype=bool), np.maximum(sampling, 0), sampling
        )

    def _deviation(self, classes: int) -> float:
        """Standard deviation of the noise of the records of so many classes."""
        share = classes / (2 * len(self.counts)) if self.total is not None else 0.0
        return math.sqrt(max(0.0, float(np.square(self._roots[-1]).sum()) * classes * (1 - share)))

    def _clear(self, count: float, classes: int) -> bool:
        """Whether a count of so many classes is surely above 0."""
        least = max(_CLEAR * self._deviation(classes), _FEWEST) if self.private else 1e-9
        return bool(count >= least)

    @cached_property
    def _clear_up_to(self) -> int:
        """Intervals up to which noise cannot hide that records are under observation at their ends."""
        at_risk = np.cumsum(self.counts.sum(axis=(1, 2))[::-1])[::-1]
        remaining = at_risk - self.counts[:, indices.EVENT].sum(axis=1)
        for place in range(1, len(at_risk)):
            classes = 2 * (len(at_risk) - place)
            if not self._clear(at_risk[place], classes) or not self._clear(remaining[place - 1], classes + 1):
                return place - 1
        return self.grid.bins

    def _events_clear(self, horizon: int) -> bool:
        return self._clear(float(self.counts[:horizon, indices.EVENT].sum()), horizon)

    # measures

    def harrell(self, horizon: float | None = None, confidence_level: float | None = None) -> Value:
        """Harrell's concordance: the share of pairs of an event and a later record in which the event scores higher.

        Args:
            horizon: Events up to this upper end of an interval count; by default all within the bounds.
            confidence_level: Of its interval; by default that of the estimate.
        """
        place = self.grid.bins if horizon is None else place_of(self.grid, horizon)
        enough = self._events_clear(place) and self._clear(float(self.counts[1:].sum()), 2 * self.grid.bins)
        table = Table.until(self.counts, place)
        return self._number(indices.concordance(table, power=0) if enough else None, confidence_level)

    def uno(self, horizon: float | None = None, confidence_level: float | None = None) -> Value:
        """Uno's concordance, whose pairs have weights so that it does not depend on when records are censored.

        Args:
            horizon: Events up to this upper end of an interval count; by default up to the last one at whose beginning
                enough records are under observation.
            confidence_level: Of its interval; by default that of the estimate.
        """
        return self._number(self._uno(horizon), confidence_level)

    def _uno(self, horizon: float | None) -> Measure | None:
        last = min(self._clear_up_to + 1, self.grid.bins)
        place = last if horizon is None else place_of(self.grid, horizon)
        if place > last or not self._events_clear(place):
            return None
        return indices.concordance(Table.until(self.counts, place), power=2)

    def auc(self, horizon: float, confidence_level: float | None = None) -> Value:
        """Area below the ROC curve that tells events up to a horizon from records that have none up to it.

        Args:
            horizon: The upper end of an interval.
            confidence_level: Of its interval; by default that of the estimate.
        """
        return self._number(self._area(place_of(self.grid, horizon)), confidence_level)

    def _area(self, place: int) -> Measure | None:
        table = self._table(place)
        return None if table is None else indices.area(table)

    def _table(self, place: int) -> Table | None:
        """The counts up to a horizon at which enough had an event, and enough had none."""
        if place > self._clear_up_to or not self._events_clear(place):
            return None
        return Table.until(self.counts, place)

    def auc_band(self, confidence_level: float | None = None) -> tuple[Float64, Float64, Float64]:
        """Areas at all upper ends of intervals, with ends of a band that holds all of them at once, shape (bins,) each.

        Args:
            confidence_level: Of the band; by default that of the estimate.
        """
        level = self._level(confidence_level)
        measures = [self._area(place) for place in range(1, self.grid.bins + 1)]
        known = [place for place, each in enumerate(measures) if each is not None]
        value, low, high = np.full(self.grid.bins, math.nan), np.zeros(self.grid.bins), np.ones(self.grid.bins)
        if known:
            value[known] = [cast(Measure, measures[place]).value for place in known]
            covariance = self._covariance(np.stack([cast(Measure, measures[place]).gradient for place in known]))
            errors = np.sqrt(np.diag(covariance))
            scaled = covariance / np.maximum(np.outer(errors, errors), 1e-300)
            roots, axes = np.linalg.eigh(scaled)
            random = np.random.Generator(np.random.PCG64(_SEED))
            draws = random.standard_normal((_SIMULATIONS, len(known))) @ (axes * np.sqrt(np.maximum(roots, 0))).T
            z = float(np.quantile(np.abs(draws).max(axis=1), level, method="higher"))
            low[known], high[known] = value[known] - z * errors, value[known] + z * errors
        return np.clip(value, 0, 1), np.clip(low, 0, 1), np.clip(high, 0, 1)

    @cached_property
    def _predicted(self) -> Float64:
        """The middle of each bin of the score."""
        low, high = Binning(self.score, self.score_grid).cells()
        return (low + high) / 2

    def brier(self, horizon: float | None = None, confidence_level: float | None = None) -> Value:
        """Brier score of the score as the predicted chance of an event up to a horizon; 0.25 is that of always 1/2.

        Args:
            horizon: The upper end of an interval; by default `predicts`.
            confidence_level: Of its interval; by default that of the estimate.

        Raises:
            ParameterError: the score is no chance, or the horizon is missing or ends no interval.
        """
        table = self._table(self._predicts(horizon))
        return self._number(None if table is None else indices.brier(table, self._predicted), confidence_level)

    def calibration(
        self, horizon: float | None = None, groups: int = 5, confidence_level: float | None = None
    ) -> tuple[Group, ...]:
        """What was predicted, and observed by Kaplan and Meier, in groups of the predicted chance.

        Args:
            horizon: The upper end of an interval; by default `predicts`.
            groups: How many groups of about equally many records; fewer where bins are wide.
            confidence_level: Of intervals of what was observed; by default that of the estimate.

        Raises:
            ParameterError: the score is no chance, or the horizon is missing or ends no interval, or there is no group.
        """
        if groups < 1:
            raise ParameterError(f"`groups` must be at least 1, got {groups}")
        place = self._predicts(horizon)
        cuts = self._cuts(groups)
        low = Binning(self.score, self.score_grid).cells()[0]
        return tuple(
            self._group(place, slice(first, last), float(low[first]), confidence_level)
            for first, last in pairwise(cuts)
        )

    def _cuts(self, groups: int) -> list[int]:
        """Bins at which groups of about equally many records begin, and the end."""
        share = np.maximum.accumulate(np.cumsum(self.counts.sum(axis=(0, 1))))
        wanted = np.arange(1, groups) / groups * max(share[-1], 0.0)
        inner = np.searchsorted(share, wanted) + 1
        return sorted({0, *(int(cut) for cut in inner if cut < len(share)), len(share)})

    def _group(self, place: int, bins: slice, low: float, level: float | None) -> Group:
        counts = self.counts[:, :, bins]
        records, survive = float(counts.sum()), float(counts[place:].sum())
        high = float(self.score_grid.thresholds[bins.stop - 1])
        enough = all(
            self._clear(count, classes)
            for count, classes in ((survive, 2 * (len(self.counts) - place)), (records, 2 * len(self.counts)))
        )
        if not enough:
            return Group(low, high, max(records, 0.0), math.nan, self._number(None, level))
        table = Table.until(self.counts, place)
        predicted = indices.mean_prediction(table, bins, self._predicted).value
        return Group(low, high, records, predicted, self._number(indices.observed(table, bins), level))

    def mean_calibration(self, horizon: float | None = None, confidence_level: float | None = None) -> Value:
        """Observed chance of an event up to a horizon, less the mean of what was predicted (calibration in the large).

        Args:
            horizon: The upper end of an interval; by default `predicts`.
            confidence_level: Of its interval; by default that of the estimate.

        Raises:
            ParameterError: the score is no chance, or the horizon is missing or ends no interval.
        """
        place, every = self._predicts(horizon), slice(0, self.score_grid.bins)
        if place > self._clear_up_to:
            return self._number(None, confidence_level, signed=True)
        table = Table.until(self.counts, place)
        seen, predicted = indices.observed(table, every), indices.mean_prediction(table, every, self._predicted)
        gap = Measure(seen.value - predicted.value, seen.gradient - predicted.gradient)
        return self._number(gap, confidence_level, signed=True)

    def difference(
        self,
        other: ConcordanceEstimate,
        measure: Callable[[ConcordanceEstimate], Value] | None = None,
        *,
        same_records: bool,
        confidence_level: float | None = None,
    ) -> Value:
        """Difference of a measure of two scores, this one less the other.

        Args:
            other: The estimate of another score, or of other records.
            measure: What is compared, `lambda each: each.auc(24)` say; by default Uno's index.
            same_records: Whether both are of the same records. How their errors of sampling go together is then in
                neither release, and the interval holds whatever that is.
            confidence_level: Of its interval; by default that of the estimate.
        """
        one, two = ((measure or ConcordanceEstimate.uno)(each) for each in (self, other))
        errors = one.standard_error, two.standard_error
        error = sum(errors) if same_records else math.hypot(*errors)
        reach, value = normal_quantile(self._level(confidence_level)) * error, one.value - two.value
        if math.isnan(value):
            return Value(math.nan, -1.0, 1.0, math.inf)
        return Value(value, max(value - reach, -1.0), min(value + reach, 1.0), error)

    def _predicts(self, horizon: float | None) -> int:
        time = self.predicts if horizon is None else horizon
        if time is None:
            raise ParameterError("`horizon` must say up to which time the score is the predicted chance of an event")
        if self.score_grid.low < 0 or self.score_grid.high > 1:
            raise ParameterError("`score_bounds` must be within 0 and 1 where the score is a predicted chance")
        return place_of(self.grid, time)

    def _level(self, confidence_level: float | None) -> float:
        return self.confidence_level if confidence_level is None else float(check_level(confidence_level))

    def _number(self, measure: Measure | None, confidence_level: float | None, *, signed: bool = False) -> Value:
        """A measure with its interval: of Wilson's kind, with the noise beside the sampling error, if it is a share."""
        level, least = self._level(confidence_level), -1.0 if signed else 0.0
        if measure is None or not math.isfinite(measure.value):
            return Value(math.nan, least, 1.0, math.inf)
        gradient = measure.gradient[None]
        total = float(self._covariance(gradient)[0, 0])
        noise = float(np.square(self._noise(gradient)).sum())
        value, z, error = min(max(measure.value, least), 1.0), normal_quantile(level), math.sqrt(total)
        if signed:
            return Value(value, max(value - z * error, -1.0), min(value + z * error, 1.0), error)
        # all s with (value - s)^2 <= z^2 (s (1 - s) / n + noise), n the records of a share with this sampling error
        most = max(self.records, 1.0) / self.rows_of_one
        inside = min(max(value, 1e-9), 1 - 1e-9)
        q = z * z / min(max(inside * (1 - inside) / max(total - noise, 1e-12), 1.0), most)
        middle, square = 2 * value + q, value**2 - z * z * noise
        root = math.sqrt(max(middle**2 - 4 * (1 + q) * square, 0.0))
        low, high = ((middle + sign * root) / (2 * (1 + q)) for sign in (-1, 1))
        return Value(value, min(max(low, 0.0), value), max(min(high, 1.0), value), error)

    # for tables, plans and other programs

    @property
    def shown_horizons(self) -> tuple[float, ...]:
        """The horizons of the table."""
        if self.horizons:
            return self.horizons
        places = np.unique(np.linspace(0, self.grid.bins, SHOWN + 1).round().astype(int)[1:]) - 1
        return tuple(self.grid.thresholds[places].tolist())

    @property
    def defined(self) -> bool:
        """Whether anything is estimable."""
        return not math.isnan(self.harrell().value)

    def noise_share(self) -> float:
        """Noise of the number of records in half of all classes, as a share of the records."""
        if not self.private:
            return 0.0
        return self._deviation(len(self.counts)) / self.records if self.records > 0 else math.inf

    def errors(self, truth: ConcordanceEstimate) -> dict[str, float]:
        """Distances from the exact indices and areas; those of the useless index 1/2 where nothing is estimable."""
        result = {}
        for name in ("harrell", "uno"):
            value, exact = (getattr(each, name)().value for each in (self, truth))
            result[name] = abs((0.5 if math.isnan(value) else value) - exact)
        gap = self.auc_band()[0] - truth.auc_band()[0]
        known = gap[np.isfinite(gap)]
        return result | {"auc": float(np.sqrt(np.mean(known**2))) if len(known) else 0.5}

    def results(self) -> dict[str, Any]:
        """Indices and areas with their intervals, for other programs."""

        def plain(value: Value) -> dict[str, float | None]:
            return {name: each if math.isfinite(each) else None for name, each in value._asdict().items()}

        areas = [plain(self.auc(float(time))) for time in self.grid.thresholds]
        return {"harrell": plain(self.harrell()), "uno": plain(self.uno()), "auc": areas}
