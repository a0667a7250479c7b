"""Released measures of a risk score for censored times, with intervals that know the noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.core.arrays import Float64
from ogive.core.checks import among
from ogive.errors import ParameterError
from ogive.privacy import Adjacency
from ogive.provenance import Provenance
from ogive.statistics.base import Estimate
from ogive.statistics.concordance import indices
from ogive.statistics.concordance.indices import Measure, Table
from ogive.statistics.confidence import check_level
from ogive.statistics.curve.estimate import read_strategy
from ogive.statistics.plain_json import Codec, Fields, Read, finite, optional, stored
from ogive.statistics.survival.estimate import GRID, Value, check_curves_price, check_times
from ogive.statistics.survival.process import noise_roots, normal_quantile
from ogive.strategies import Strategy

MOST_BINS, MOST_SCORE_BINS = 100, 250
TIES = ("half", "omit")
_CLEAR, _FEWEST = 4.0, 3.0
"""Noise deviations, and records, by which a count must exceed 0 so that something is divided by it."""
_SEED, _SIMULATIONS = 0x636F6E63, 4000


def check_grids(times: Grid, scores: Grid, predicts: float | None) -> None:
    """Refuse grids that are no durations or scores, or have too many bins; and a prediction for another time."""
    check_times(times)
    if scores.unit != "number":
        raise ParameterError("`score_bounds` must be numbers")
    for name, grid, most in (("bins", times, MOST_BINS), ("score_bins", scores, MOST_SCORE_BINS)):
        if grid.bins > most:
            raise ParameterError(f"`{name}` must be at most {most}, got {grid.bins}")
    if predicts is not None and (scores.low < 0 or scores.high > 1):
        raise ParameterError("`score_bounds` must be within 0 and 1 where the score is a predicted chance")
    if predicts is not None:
        place_of(times, predicts, "predicts")


def place_of(grid: Grid, time: float, name: str = "horizon") -> int:
    """How many intervals there are up to a time."""
    place = int(np.abs(grid.thresholds - time).argmin())
    if not math.isclose(grid.thresholds[place], time, rel_tol=1e-9):
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
        predicts: The time up to which the score is the predicted chance of an event, if it is one.
        ties: Whether two events of one interval count one "half", or are omitted ("omit").
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
    grid: Grid = stored(GRID)
    score_grid: Grid = stored(GRID)
    predicts: float | None
    ties: str
    cumulative: Float64 = stored(_NUMBERS)
    strategy: Strategy | None = stored(_STRATEGY)
    adjacency: Adjacency = stored(_ADJACENCY)
    total: int | None
    confidence_level: float
    provenance: Provenance | None = None

    def __post_init__(self) -> None:
        check_level(self.confidence_level)
        check_grids(self.grid, self.score_grid, self.predicts)
        among(self.ties, "ties", TIES)
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
        check_curves_price(self.provenance, self.strategy, self.adjacency, 2 * (self.grid.bins + 1))

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
        if self.total is not None and self.private:  # what is known of the sum corrects all classes alike
            along = self._roots @ self._roots[-1]
            values = values - (values[..., -1].sum() - self.total) * along / (along[-1] * 2 * len(values))
        result: Float64 = np.diff(values, axis=-1, prepend=0.0)
        return result

    @property
    def raw(self) -> Float64:
        """The counts of all cells, added up in their order."""
        return np.asarray(np.cumsum(self.counts))

    @property
    def records(self) -> float:
        """Number of records, noisy where it is private; at least 0."""
        return max(0.0, float(self.counts.sum())) if self.total is None else float(self.total)

    def _noise(self, gradients: Float64) -> Float64:
        """R with R R^T the covariance of the noise of functions with these gradients, shape (functions, nodes)."""
        weights = gradients.reshape(len(gradients), -1, self.score_grid.bins)
        rows = (weights - np.concatenate([weights[..., 1:], np.zeros_like(weights[..., :1])], axis=-1)) @ self._roots
        if self.total is not None and self.private:
            last = self._roots[-1]
            rows = rows - (rows @ last).mean(axis=1)[:, None, None] * last / (last @ last)
        return rows.reshape(len(rows), -1)

    def _covariance(self, gradients: Float64) -> Float64:
        """Covariance of functions with these gradients: noise, and multinomial sampling of the records."""
        noise, flat, counts = self._noise(gradients), gradients.reshape(len(gradients), -1), self.counts.ravel()
        mean = flat @ counts
        sampling = (flat * counts) @ flat.T - np.outer(mean, mean) / max(counts.sum(), 1.0)
        np.fill_diagonal(sampling, np.maximum(np.diag(sampling), 0.0))
        return noise @ noise.T + self.rows_of_one * sampling

    def _deviation(self, classes: int) -> float:
        """Standard deviation of the noise of the records of so many classes."""
        share = classes / (2 * len(self.counts)) if self.total is not None else 0.0
        return math.sqrt(max(0.0, float(np.square(self._roots[-1]).sum()) * classes * (1 - share)))

    def _clear(self, counts: Float64, classes: int) -> bool:
        """Whether the sum of the counts of so many classes is surely above 0."""
        return bool(counts.sum() >= (max(_CLEAR * self._deviation(classes), _FEWEST) if self.private else 1e-9))

    @cached_property
    def _observed_up_to(self) -> int:
        """Intervals up to which noise cannot hide that records are under observation at their ends."""
        for place in range(1, len(self.counts)):
            after, classes = self.counts[place:], 2 * (len(self.counts) - place)
            if not self._clear(after, classes) or self.counts[place - 1, 0].sum() + after.sum() <= 0:
                return place - 1
        return self.grid.bins

    def _value(
        self, measure: Callable[[Table], Measure], place: int, last: int, level: float | None, least: float = 0.0
    ) -> Value:
        """A measure up to an interval with its interval; NaN and all that is possible where noise leaves nothing."""
        enough = 0 < place <= last and self._clear(self.counts[:place, indices.EVENT], place)
        found = measure(Table.until(self.counts, place)) if enough else None
        if found is None or not math.isfinite(found.value):
            return Value(math.nan, least, 1.0, math.inf)
        gradient = found.gradient[None]
        value, z, total = (
            min(max(found.value, least), 1.0),
            normal_quantile(self._level(level)),
            self._covariance(gradient).item(),
        )
        if not found.share:
            reach = z * math.sqrt(total)
            return Value(value, max(value - reach, least), min(value + reach, 1.0), math.sqrt(total))
        # all s with (value - s)^2 <= z^2 (s (1 - s) / n + noise), n the records of a share with this sampling error
        noise, inside = float(np.square(self._noise(gradient)).sum()), min(max(value, 1e-9), 1 - 1e-9)
        most = max(self.records, 1.0) / self.rows_of_one
        q = z * z / min(max(inside * (1 - inside) / max(total - noise, 1e-12), 1.0), most)
        middle, square = 2 * value + q, value**2 - z * z * noise
        root = math.sqrt(max(middle**2 - 4 * (1 + q) * square, 0.0))
        low, high = ((middle + sign * root) / (2 * (1 + q)) for sign in (-1, 1))
        return Value(value, min(max(low, 0.0), value), max(min(high, 1.0), value), math.sqrt(total))

    def _level(self, confidence_level: float | None) -> float:
        return self.confidence_level if confidence_level is None else float(check_level(confidence_level))

    # ranks

    def harrell(self, horizon: float | None = None, confidence_level: float | None = None) -> Value:
        """Harrell's concordance: the share of pairs of an event and a later record in which the event scores higher.

        Args:
            horizon: Events up to this upper end of an interval count; by default all within the bounds.
            confidence_level: Of its interval; by default that of the estimate.
        """
        place = self.grid.bins if horizon is None else place_of(self.grid, horizon)
        last = self.grid.bins if self._clear(self.counts[1:], 2 * self.grid.bins) else 0
        return self._value(partial(self._concordance, power=0), place, last, confidence_level)

    def uno(self, horizon: float | None = None, confidence_level: float | None = None) -> Value:
        """Uno's concordance, whose pairs have weights so that it does not depend on when records are censored.

        Args:
            horizon: As for `harrell`; by default the last at the beginning of whose interval noise cannot hide that
                records are under observation.
            confidence_level: Of its interval; by default that of the estimate.
        """
        last = min(self._observed_up_to + 1, self.grid.bins)
        place = last if horizon is None else place_of(self.grid, horizon)
        return self._value(partial(self._concordance, power=2), place, last, confidence_level)

    def _concordance(self, table: Table, power: int) -> Measure:
        tied = self._deviation(1) ** 2 if self.ties == "half" else None
        return indices.concordance(table, power=power, tied_noise=tied)

    def auc(self, horizon: float, confidence_level: float | None = None) -> Value:
        """Area below the ROC curve that tells events up to a horizon from records that have none up to it.

        Args:
            horizon: The upper end of an interval.
            confidence_level: Of its interval; by default that of the estimate.
        """
        return self._value(indices.area, place_of(self.grid, horizon), self._observed_up_to, confidence_level)

    def auc_band(self, confidence_level: float | None = None) -> tuple[Float64, Float64, Float64]:
        """Areas at all upper ends of intervals, and a band that holds all of them at once; shape (bins,) each.

        Args:
            confidence_level: Of the band; by default that of the estimate.
        """
        value = np.array([self.auc(float(time)).value for time in self.grid.thresholds])
        low, high, known = np.zeros_like(value), np.ones_like(value), np.flatnonzero(np.isfinite(value)).tolist()
        if len(known):
            covariance = self._covariance(
                np.stack([indices.area(Table.until(self.counts, place + 1)).gradient for place in known])
            )
            errors = np.sqrt(np.diag(covariance))
            roots, axes = np.linalg.eigh(covariance / np.maximum(np.outer(errors, errors), 1e-300))
            random = np.random.Generator(np.random.PCG64(_SEED))
            draws = random.standard_normal((_SIMULATIONS, len(known))) @ (axes * np.sqrt(np.maximum(roots, 0))).T
            level = self._level(confidence_level)
            reach = float(np.quantile(np.abs(draws).max(axis=1), level, method="higher")) * errors
            low[known], high[known] = np.maximum(value[known] - reach, 0), np.minimum(value[known] + reach, 1)
        return value, low, high

    # predicted chances

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
        place, last = self._predicts(horizon), self._observed_up_to
        return self._value(partial(indices.brier, predicted=self._predicted), place, last, confidence_level)

    def mean_calibration(self, horizon: float | None = None, confidence_level: float | None = None) -> Value:
        """Observed chance of an event up to a horizon, by Kaplan and Meier, less the mean of what was predicted.

        Args:
            horizon: The upper end of an interval; by default `predicts`.
            confidence_level: Of its interval; by default that of the estimate.

        Raises:
            ParameterError: as `brier`.
        """
        place, gap = self._predicts(horizon), partial(indices.gap, bins=slice(None), predicted=self._predicted)
        return self._value(gap, place, self._observed_up_to, confidence_level, -1.0)

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
        place, bounds = self._predicts(horizon), np.append(self.score_grid.low, self.score_grid.thresholds).tolist()
        shares = np.maximum.accumulate(np.cumsum(self.counts.sum(axis=(0, 1))))
        cuts = np.searchsorted(shares, np.arange(1, groups) / groups * max(shares[-1], 0.0)) + 1
        results = []
        for start, stop in pairwise(sorted({0, len(shares), *(int(cut) for cut in cuts if cut < len(shares))})):
            counts, bins = self.counts[:, :, start:stop], slice(start, stop)
            last = place if self._clear(counts[place:], 2 * (len(counts) - place)) else 0
            observed = self._value(partial(indices.observed, bins=bins), place, last, confidence_level)
            table = Table.until(self.counts, place)
            mean = indices.mean_prediction(table, bins, self._predicted).value if last else math.nan
            results.append(Group(bounds[start], bounds[stop], max(float(counts.sum()), 0.0), mean, observed))
        return tuple(results)

    def _predicts(self, horizon: float | None) -> int:
        time = self.predicts if horizon is None else horizon
        if time is None:
            raise ParameterError("`horizon` must say up to which time the score is the predicted chance of an event")
        check_grids(self.grid, self.score_grid, time)
        return place_of(self.grid, time)

    # two scores

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
            same_records: Whether both are of the same records. How their errors of sampling go together is in neither
                release then, and the interval holds whatever that is.
            confidence_level: Of its interval; by default that of the estimate.
        """
        one, two = ((measure or ConcordanceEstimate.uno)(each) for each in (self, other))
        errors, value = (one.standard_error, two.standard_error), one.value - two.value
        error = sum(errors) if same_records else math.hypot(*errors)
        reach = normal_quantile(self._level(confidence_level)) * error
        if math.isnan(value):
            return Value(math.nan, -1.0, 1.0, math.inf)
        return Value(value, max(value - reach, -1.0), min(value + reach, 1.0), error)

    # for tables, plans and other programs

    def noise_share(self) -> float:
        """Noise of the number of records in half of all classes, as a share of the records."""
        if not self.private:
            return 0.0
        return self._deviation(len(self.counts)) / self.records if self.records > 0 else math.inf

    def errors(self, truth: ConcordanceEstimate) -> dict[str, float]:
        """Distances from the exact indices and areas; those of the useless index 1/2 where nothing is estimable."""
        pairs = [(self.harrell().value, truth.harrell().value), (self.uno().value, truth.uno().value)]
        harrell, uno = (abs((0.5 if math.isnan(value) else value) - exact) for value, exact in pairs)
        gap = self.auc_band()[0] - truth.auc_band()[0]
        known = gap[np.isfinite(gap)]
        return {"harrell": harrell, "uno": uno, "auc": float(np.sqrt(np.mean(known**2))) if len(known) else 0.5}

    def results(self) -> dict[str, Any]:
        """Indices and areas with their intervals, for other programs."""

        def plain(value: Value) -> dict[str, Any]:
            return {name: finite(each) for name, each in value._asdict().items()}

        areas = [plain(self.auc(float(time))) for time in self.grid.thresholds]
        return {"harrell": plain(self.harrell()), "uno": plain(self.uno()), "auc": areas}
