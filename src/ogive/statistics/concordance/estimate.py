"""Released measures of a risk score for censored times, with intervals that know the noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.core.arrays import Float64
from ogive.core.checks import among
from ogive.errors import ParameterError
from ogive.privacy import Adjacency
from ogive.provenance import Provenance
from ogive.statistics.concordance import indices
from ogive.statistics.concordance.indices import Measure, Table
from ogive.statistics.confidence import check_level, normal_quantile, simulations_needed
from ogive.statistics.curve.estimate import read_strategy
from ogive.statistics.functionals import Change, ClassCounts, ScoreEstimate, Value, second_score, unknown, wilson_ends
from ogive.statistics.plain_json import Codec, Fields, Read, finite, optional, stored
from ogive.statistics.survival.estimate import GRID, check_times
from ogive.strategies import ReportedHistogram, ReportedTree, Strategy

MOST_BINS, MOST_SCORE_BINS = 100, 250
MEASURES = ("harrell", "uno", "auc", "brier", "mean_calibration")
TIES = ("half", "omit")
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
class ConcordanceEstimate(ScoreEstimate):
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
        other: The same of a second score of the same records; None of one score.
        provenance: Origin of the release: statistic, price and trust model; None until released.
    """

    schema: ClassVar[str] = "ogive.concordance/1"
    article: ClassVar[str] = "a concordance estimate"
    own = ("score", "cumulative")
    reported = ("harrell", "uno")
    error_words: ClassVar[Mapping[str, str]] = {
        "harrell": "distance of Harrell's index from the exact one",
        "uno": "distance of Uno's index from the exact one",
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
    other: ConcordanceEstimate | None = stored(second_score(lambda: ConcordanceEstimate), default=None)
    provenance: Provenance | None = None

    def __post_init__(self) -> None:
        check_level(self.confidence_level)
        check_grids(self.grid, self.score_grid, self.predicts)
        among(self.ties, "ties", TIES)
        if self.cumulative.shape != (2 * (self.grid.bins + 1) * self.score_grid.bins,):
            raise ParameterError("there must be a count for every interval, status and bin of the score")
        if isinstance(self.strategy, ReportedHistogram | ReportedTree):
            raise ParameterError("a concordance is not estimated from reports")
        self.check_scores(self.adjacency)

    def check_stored(self, known: Fields) -> None:
        """Refuse a stated price below that of the noise."""
        self.check_counts(self.adjacency)

    # counts and their noise

    @cached_property
    def classes(self) -> ClassCounts:
        """Counts of each interval and status over the score."""
        raw = self.cumulative.reshape(-1, self.score_grid.bins)
        return ClassCounts(raw, raw, self.strategy, None, self.total, self.rows_of_one)

    @cached_property
    def counts(self) -> Float64:
        """Unbiased counts of each interval, status (censored, event) and bin; shape (intervals + 1, 2, S)."""
        return self.classes.histograms.reshape(self.grid.bins + 1, 2, -1)

    @property
    def raw(self) -> Float64:
        """The counts of all cells, added up in their order."""
        return np.asarray(np.cumsum(self.counts))

    def _change(self, gradients: Float64) -> Change:
        return self.classes.change(gradients.reshape(len(gradients), *self.classes.raw.shape))

    def _covariance(self, gradients: Float64) -> Float64:
        """Covariance of functions with these gradients: noise, and multinomial sampling of the records.

        That of sampling is by counts without bias, which add up to the right number where most cells are empty.
        """
        noise, counts = self._change(gradients).through, self.counts.ravel()
        flat = gradients.reshape(len(gradients), -1)
        mean = flat @ counts
        sampling = (flat * counts) @ flat.T - np.outer(mean, mean) / max(counts.sum(), 1.0)
        np.fill_diagonal(sampling, np.maximum(np.diag(sampling), 0.0))
        result: Float64 = noise @ noise.T + self.rows_of_one * sampling
        return result

    def _clear(self, *cells: Any) -> bool:
        """Whether noise does not hide that there are records in some cells."""
        weights = np.zeros_like(self.counts)
        weights[cells] = 1.0
        return self.classes.clear(weights.reshape(self.classes.raw.shape))

    @cached_property
    def _observed_up_to(self) -> int:
        """Intervals up to which noise cannot hide that records are under observation at their ends."""
        for place in range(1, len(self.counts)):
            if not self._clear(slice(place, None)) or self.counts[place - 1, 0].sum() + self.counts[place:].sum() <= 0:
                return place - 1
        return self.grid.bins

    def _value(
        self,
        measure: Callable[[Table], Measure],
        place: int,
        last: int,
        level: float | None,
        least: float = 0.0,
        *,
        needs_events: bool = True,
    ) -> Value:
        """A measure up to an interval with its interval; NaN and all that is possible where noise leaves nothing."""
        enough = 0 < place <= last and (not needs_events or self._clear(slice(place), indices.EVENT))
        result = measure(Table.until(self.counts, place)) if enough else None
        if result is None or not math.isfinite(result.value):
            return unknown(least)
        return self._with_ends(result, normal_quantile(self.level(level)), least)

    def _with_ends(self, result: Measure, z: float, least: float = 0.0) -> Value:
        """A measure with its interval, which reaches as far as a normal error of `z` standard deviations."""
        gradient = result.gradient[None]
        total = self._covariance(gradient).item()
        value, error = min(max(result.value, least), 1.0), math.sqrt(total)
        if not result.records:
            return Value(value, max(value - z * error, least), min(value + z * error, 1.0), error)
        # all s with (value - s)^2 <= z^2 (s (1 - s) / n + noise), n the records of a share with this sampling error
        noise, inside = float(self._change(gradient).noise[0]), min(max(value, 1e-9), 1 - 1e-9)
        most = result.records / self.rows_of_one
        q = np.array(z * z / min(max(inside * (1 - inside) / max(total - noise, 1e-12), 1.0), most))
        low, high = (float(end) for end in wilson_ends(np.array(value), q, np.array(z * z * noise)))
        return Value(value, min(low, value), max(high, value), error)

    # ranks

    def harrell(self, horizon: float | None = None, confidence_level: float | None = None) -> Value:
        """Harrell's concordance: the share of pairs of an event and a later record in which the event scores higher.

        Args:
            horizon: Events up to this upper end of an interval count; by default all within the bounds.
            confidence_level: Of its interval; by default that of the estimate.
        """
        place = self.grid.bins if horizon is None else place_of(self.grid, horizon)
        last = self.grid.bins if self._clear(slice(1, None)) else 0
        return self._index(0, place, last, confidence_level)

    def uno(self, horizon: float | None = None, confidence_level: float | None = None) -> Value:
        """Uno's concordance, whose pairs have weights so that it does not depend on when records are censored.

        Args:
            horizon: As for `harrell`; by default the last at the beginning of whose interval noise cannot hide that
                records are under observation.
            confidence_level: Of its interval; by default that of the estimate.
        """
        last = min(self._observed_up_to + 1, self.grid.bins)
        place = last if horizon is None else place_of(self.grid, horizon)
        return self._index(2, place, last, confidence_level)

    def _index(self, power: int, place: int, last: int, level: float | None) -> Value:
        """An index of concordance; unknown where noise may hide that there are events and records later than them."""
        first = np.zeros_like(self.counts[None])
        first[0, 0, 0] = 1.0
        tied = float(self._change(first).noise[0]) if self.ties == "half" else None
        paired = self.ties == "half" or any(
            self._clear(slice(cut), indices.EVENT) and self._clear(slice(cut, None)) for cut in range(1, place + 1)
        )
        index = partial(indices.concordance, power=power, tied_noise=tied)
        return self._value(index, place, last if paired else 0, level)

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
        if known:
            level = check_level(self.level(confidence_level))
            needed = simulations_needed(level, share=Fraction(1), nodes=len(known), usual=_SIMULATIONS)
            areas = [indices.area(Table.until(self.counts, place + 1)) for place in known]
            covariance = self._covariance(np.stack([area.gradient for area in areas]))
            errors = np.sqrt(np.diag(covariance))
            correlation = covariance / np.maximum(np.outer(errors, errors), 1e-300)
            np.fill_diagonal(correlation, 1.0)  # of areas without an estimated error, too
            roots, axes = np.linalg.eigh(correlation)
            random = np.random.Generator(np.random.PCG64(_SEED))
            draws = random.standard_normal((needed, len(known))) @ (axes * np.sqrt(np.maximum(roots, 0))).T
            z = float(np.quantile(np.abs(draws).max(axis=1), float(level), method="higher"))
            ends = [self._with_ends(area, z) for area in areas]
            low[known], high[known] = [each.low for each in ends], [each.high for each in ends]
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
        score = partial(indices.brier, predicted=self._predicted)
        return self._value(score, place, last, confidence_level, needs_events=False)

    def mean_calibration(self, horizon: float | None = None, confidence_level: float | None = None) -> Value:
        """Observed chance of an event up to a horizon, by Kaplan and Meier, less the mean of what was predicted.

        Args:
            horizon: The upper end of an interval; by default `predicts`.
            confidence_level: Of its interval; by default that of the estimate.

        Raises:
            ParameterError: as `brier`.
        """
        place, gap = self._predicts(horizon), partial(indices.gap, bins=slice(None), predicted=self._predicted)
        return self._value(gap, place, self._observed_up_to, confidence_level, -1.0, needs_events=False)

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
            last = place if self._clear(slice(place, None), slice(None), bins) else 0
            chance = partial(indices.observed, bins=bins)
            observed = self._value(chance, place, last, confidence_level, needs_events=False)
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

    # for all measures

    def measure(self, name: str, confidence_level: float | None = None, *, horizon: float | None = None) -> Value:
        """One measure by its name, to compare scores and groups.

        Args:
            name: "harrell", "uno", "auc", "brier" or "mean_calibration".
            confidence_level: By default that of the estimate.
            horizon: As for the method of that name.

        Raises:
            ParameterError: the measure or the horizon is unknown, or one is missing.
        """
        among(name, "name", MEASURES)
        if name == "auc" and horizon is None:
            raise ParameterError("`horizon` must say up to which time events count for an AUC")
        result: Value = getattr(self, name)(horizon, confidence_level)
        return result

    # for tables, plans and other programs

    def noise_share(self) -> float:
        """Noise of the number of events, as a share of the records."""
        events = np.zeros_like(self.counts[None])
        events[0, :, indices.EVENT] = 1.0
        return math.sqrt(float(self._change(events).noise[0])) / max(self.records, 1e-9)

    def errors(self, truth: ConcordanceEstimate) -> dict[str, float]:
        """Distances from the exact indices; of what is not estimable, from the useless index 1/2."""
        pairs = {"harrell": (self.harrell(), truth.harrell()), "uno": (self.uno(), truth.uno())}
        return {name: _distance(one.value, exact.value) for name, (one, exact) in pairs.items()}

    def results(self) -> dict[str, Any]:
        """Value, interval and standard error of indices, and of the area at each time, for other programs."""
        areas = tuple(self.auc(float(time)) for time in self.grid.thresholds)
        return {**super().results(), "auc": finite(areas)}


def _distance(one: float, exact: float) -> float:
    """How far an index is from the exact one: as far as can be if only the exact one is unknown, 0 if both are."""
    if math.isnan(exact):
        return 0.0 if math.isnan(one) else 0.5
    return abs((0.5 if math.isnan(one) else one) - exact)
