"""A released survival function: what can be asked of it, with intervals that know the noise."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import numpy as np

from ogive.accounting import at_least, total_loss
from ogive.columns import LabelValue
from ogive.columns.axis import last_at_or_below, plain, to_numbers
from ogive.columns.grids import Grid
from ogive.core.arrays import Float64
from ogive.core.checks import among
from ogive.errors import DataError, ParameterError, quoted
from ogive.privacy import Adjacency
from ogive.provenance import Provenance
from ogive.queries import class_curves_price
from ogive.queries.aggregates import check_groups
from ogive.statistics import confidence
from ogive.statistics.base import Estimate
from ogive.statistics.confidence import Number, check_level, normal_quantile
from ogive.statistics.curve.estimate import Curve, read_grid
from ogive.statistics.functionals import noise_roots
from ogive.statistics.plain_json import Codec, Fields, Read, check_price, loss_of, nested, optional, stored, understated
from ogive.statistics.prediction import Metric, Prediction
from ogive.statistics.significance import Alternative, HypothesisTest
from ogive.statistics.sums.lattice import VALUES, read_values
from ogive.statistics.survival import process
from ogive.statistics.survival.process import Change, Ends, Process
from ogive.strategies import Strategy
from ogive.strategies.reported import ReportedTree

if TYPE_CHECKING:
    from ogive.records.imagined import Shape

Weights = Literal["log-rank", "gehan", "tarone-ware"]
WEIGHTS: tuple[Weights, ...] = ("log-rank", "gehan", "tarone-ware")
MOST_BINS, MOST_CAUSES = 1024, 16


def _curves(known: Fields, name: str, read: Read) -> tuple[Curve, ...]:
    given = known.data[name]
    if not isinstance(given, list) or len(given) != len(read["causes"]) + 1:
        raise DataError(f"{known.what} needs a curve of the censored and one of each cause")
    return tuple(Curve.from_dict(each) for each in given)


_CURVES = Codec(
    lambda curves: [each.to_dict() for each in curves], _curves, {"type": "array", "minItems": 2}, last=True
)
GRID = Codec(lambda grid: grid.to_dict(), lambda known, name, _: read_grid(known.data[name]), {"type": "object"})
_VALUE = Codec(
    lambda value: value,
    lambda known, name, _: read_values([known.data[name]], known)[0],
    {"type": ["number", "string", "boolean"]},
)


@dataclass(frozen=True, eq=False, repr=False)
class SurvivalEstimate(Estimate):
    """Share of the records without an event, over time, where observation may end before the event.

    Estimates are of the population that the records are from. They reach up to the threshold at which noise may hide
    that anybody is still at risk; from there on they are NaN, and intervals hold everything that is possible.

    Fields:
        time: Column of times.
        event: Column that says what ended each observation.
        grid: Public thresholds.
        causes: Values of `event` that are events.
        censored: Value of `event` of a censored record.
        curves: Distribution of the times of the censored and of each cause, with one threshold more.
        total: Number of records if public, else None.
        confidence_level: Confidence level of printed intervals.
        entries: Distribution of the times from which records are at risk; None where that is from the start.
        provenance: Origin of the release: statistic, price and trust model; None until released.
    """

    schema: ClassVar[str] = "ogive.survival/1"
    article: ClassVar[str] = "a survival estimate"
    error_words: ClassVar[Mapping[str, str]] = {
        "ks": "largest distance of the survival function from the exact one, where it is estimable",
        "rmse": "root mean squared distance of the survival function, where it is estimable",
    }

    time: str
    event: str
    _: KW_ONLY
    grid: Grid = stored(GRID)
    causes: tuple[LabelValue, ...] = stored(VALUES)
    censored: LabelValue = stored(_VALUE)
    curves: tuple[Curve, ...] = stored(_CURVES)
    total: int | None
    confidence_level: float
    entries: Curve | None = stored(optional(nested(Curve)), added=True, default=None)
    provenance: Provenance | None = None

    def __post_init__(self) -> None:
        check_level(self.confidence_level)
        check_times(self.grid)
        check_groups(self.event, (self.censored, *self.causes))
        if len(self.curves) != len(self.causes) + 1 or len(self.causes) > MOST_CAUSES:
            raise ParameterError("an estimate needs a curve of the censored and one of each cause")
        first = self.curves[0]
        if self.total is not None and first.adjacency is not Adjacency.REPLACE:
            raise ParameterError("the number of records is public where a record is replaced, and nowhere else")
        if any(each.people or each.merged or each.provenance is not None for each in self.curves):
            raise ParameterError("the curves of the classes are those of one release, which count rows")
        for each in self.curves:
            if each.grid.bins != self.grid.bins + 1 or not np.array_equal(each.thresholds[:-1], self.grid.thresholds):
                raise ParameterError("the thresholds of each curve must be those of the estimate and one more")
            if each.strategy != first.strategy or each.adjacency is not first.adjacency or each.total is not None:
                raise ParameterError("all curves must be of one measurement")
        entries = self.entries
        if entries is None:
            return
        if entries.people or entries.merged or entries.provenance is not None or entries.total is not None:
            raise ParameterError("the curve of entries is that of one release, which counts rows")
        if not np.array_equal(entries.thresholds, entry_grid(self.grid).thresholds):
            raise ParameterError("the thresholds of entries must be those of the estimate")
        alike = (entries.strategy is None) == (first.strategy is None) and entries.adjacency is first.adjacency
        if not alike or any(isinstance(each.strategy, ReportedTree) for each in (first, entries)):
            raise ParameterError("the entries must be measured where the times are, and not by reports")

    def check_stored(self, known: Fields) -> None:
        """Refuse a stated price below that of the noise."""
        first, entries = self.curves[0], None if self.entries is None else self.entries.strategy
        check_curves_price(self.provenance, first.strategy, first.adjacency, len(self.curves), entries)
        if isinstance(first.strategy, ReportedTree):
            first.strategy.check_noise(self.total)

    # what was measured

    @property
    def private(self) -> bool:
        """Whether noise was added."""
        return self.curves[0].strategy is not None

    @cached_property
    def _smoothed(self) -> Process:
        return self._process("cumulative")

    @cached_property
    def _raw(self) -> Process:
        return self._process("raw")

    def _process(self, counts: str) -> Process:
        values = np.stack([getattr(each, counts) for each in self.curves])
        late = () if self.entries is None else (getattr(self.entries, counts), self.entries.strategy)
        return Process(values, self.curves[0].strategy, self.total, self.rows_of_one, *late)

    @property
    def timeline(self) -> Float64:
        """The thresholds, shape (m,)."""
        return self.grid.thresholds

    @property
    def records(self) -> float:
        """Number of records, noisy where it is private; at least 0."""
        return max(0.0, self._smoothed.records)

    @property
    def estimable(self) -> int:
        """At how many thresholds the estimate is estimable."""
        return self._raw.estimable

    @property
    def censoring_times(self) -> Float64:
        """Estimable thresholds up to which records were censored since the one before, where the noise shows it."""
        return self.timeline[: self.estimable][self._raw.censored[: self.estimable]]

    @property
    def last_time(self) -> float:
        """The last threshold at which the estimate is estimable; NaN where there is none."""
        return float(self.timeline[self.estimable - 1]) if self.estimable else math.nan

    @property
    def defined(self) -> bool:
        """Whether the estimate is defined at any threshold."""
        return self.estimable > 0

    @property
    def raw(self) -> Float64:
        """Unbiased cumulative counts of the events of each cause, then of all records; one after the other."""
        return np.concatenate([*(each.raw for each in self.curves[1:]), sum(each.raw for each in self.curves)])

    def _at(self, values: Float64, t: Any, start: float) -> Any:
        """Values of a step function: `start` before the first threshold, NaN after the last estimable one."""
        numbers = to_numbers(self.grid, t)
        points = last_at_or_below(self.grid, numbers)
        result = np.concatenate(([start], values, np.full(self.grid.bins - len(values), math.nan)))[points + 1]
        return plain(np.where(numbers > self.grid.high, math.nan, np.where(numbers < 0, start, result)))

    # survival

    @cached_property
    def probabilities(self) -> Float64:
        """Survival at each threshold, not increasing, in [0, 1]; NaN where it is not estimable; shape (m,)."""
        known = np.minimum.accumulate(np.clip(self._smoothed_survival[: self.estimable], 0.0, 1.0))
        return np.append(known, np.full(self.grid.bins - len(known), math.nan))

    @cached_property
    def _smoothed_survival(self) -> Float64:
        return np.cumprod(1.0 - np.clip(self._rates().sum(axis=0), 0.0, 1.0))

    def _rates(self) -> Float64:
        """Share of those at risk with an event of each cause, of each bin, shape (causes, m)."""
        at, events = self._smoothed.at_risk, self._smoothed.events
        return np.divide(events, at, out=np.zeros_like(events), where=at > 0)

    def __call__(self, t: Any) -> Any:
        """Survival at each t: the chance of no event up to then.

        Args:
            t: Times, any shape.

        Returns:
            A float, or an array of the shape of t; NaN beyond the last threshold that is estimable.
        """
        return self._at(self.probabilities, t, 1.0)

    @cached_property
    def grouping(self) -> Float64:
        """How much too high survival may be at each threshold; who leaves within a bin is at risk in all of it.

        It is the distance from the estimate by which all of them leave at the start of their bin; 0 where times are
        whole numbers or days, of which each is a threshold.
        """
        size = self.estimable
        if self.grid.kind == "integers" or self.grid.unit == "date":
            return np.zeros(size)
        left = np.maximum(np.diff(self._smoothed.cumulative[0, :-1], prepend=0.0), 0.0)
        at = np.maximum(self._smoothed.at_risk - left, 1e-9)
        soonest = np.cumprod(1.0 - np.clip(self._smoothed.events.sum(axis=0) / at, 0.0, 1.0))
        gaps = np.maximum(self._smoothed_survival - soonest, 0.0)[:size]
        return np.asarray(np.maximum.accumulate(gaps))

    @cached_property
    def _change(self) -> Change:
        return self._raw.of_survival()

    def band(self, confidence_level: float | None = None) -> Ends:
        """Ends that hold the whole survival function at once, at every threshold, shape (m,) each.

        Args:
            confidence_level: By default that of the estimate.
        """
        return self._reaching(
            self._ends(self._raw.survival, self._change, confidence_level, falling=True, together=True)
        )

    def intervals(self, confidence_level: float | None = None) -> Ends:
        """Ends that hold survival at one threshold at a time, shape (m,) each."""
        return self._reaching(self._grouped(confidence_level))

    def _grouped(self, confidence_level: float | None = None) -> Ends:
        """The same of times at the ends of their bins, as files have them."""
        return self._ends(self._raw.survival, self._change, confidence_level, falling=True)

    def _reaching(self, ends: Ends) -> Ends:
        low = ends.low.copy()
        low[: self.estimable] -= self.grouping
        return Ends(np.maximum(low, 0.0), ends.high)

    def _ends(
        self, values: Float64, change: Change, asked: float | None, *, falling: bool, together: bool = False
    ) -> Ends:
        level = self._level(asked)
        key = (id(change), level, together)
        if key not in self._kept:
            z = normal_quantile(level)
            if together and len(values):
                z = float(np.quantile(change.largest(level), level, method="higher"))
            ends = process.probability_ends(values, change, z)
            self._kept[key] = process.whole(ends, self.grid.bins, falling=falling, together=together)
        return cast(Ends, self._kept[key])

    @cached_property
    def _kept(self) -> dict[Any, Any]:
        """Ends, and how incidences change, that were computed before."""
        return {}

    def interval(self, t: Any, confidence_level: float | None = None) -> tuple[Any, Any]:
        """Ends for survival at each t, one time at a time, each of the shape of t."""
        low, high = self.intervals(confidence_level)
        return self._at(low, t, 1.0), self._at(high, t, 1.0)

    def number(self, t: float, confidence_level: float | None = None) -> Number:
        """Survival at one time, with its interval and standard error."""
        value, (low, high) = float(self(t)), self.interval(t, confidence_level)
        point = int(last_at_or_below(self.grid, to_numbers(self.grid, t)))
        known = 0 <= point < self.estimable
        error = float(self._change.deviations[point]) if known else (math.nan if point >= 0 else 0.0)
        if math.isnan(value):
            low, high, error = 0.0, 1.0, math.inf
        return Number(f"survival at {t:g}", value, float(np.fmin(low, value)), float(np.fmax(high, value)), error)

    # times

    def quantile(self, p: float) -> float:
        """First threshold at which a share p has had the event; NaN where the estimate does not reach it."""
        if not 0 < p < 1:
            raise ParameterError(f"`p` must be above 0 and below 1, got {p}")
        reached = np.flatnonzero(self.probabilities[: self.estimable] <= 1 - p)
        return float(self.timeline[reached[0]]) if len(reached) else math.nan

    @property
    def median(self) -> float:
        """Median time to the event; NaN where half of the records never had it."""
        return self.quantile(0.5)

    def quantile_interval(self, p: float, confidence_level: float | None = None) -> tuple[float, float]:
        """Times between which the quantile lies: those at which the interval of survival holds 1 - p.

        The upper end is infinite where the estimate does not settle it. The true quantile may lie anywhere in the bin
        that ends at a threshold, so the lower end is the threshold before.
        """
        value, (low, high) = self.quantile(p), self.intervals(confidence_level)
        begin = max(self.grid.low - 1.0, 0.0) if self.grid.kind == "integers" else self.grid.low
        before = np.concatenate(([begin], self.timeline[:-1]))
        first, last = np.flatnonzero(low <= 1 - p), np.flatnonzero(high < 1 - p)
        start = float(before[first[0]]) if len(first) else float(self.timeline[-1])
        end = float(self.timeline[last[0]]) if len(last) else math.inf
        return float(np.fmin(start, value)), float(np.fmax(end, value))

    def restricted_mean(self, horizon: float | None = None, confidence_level: float | None = None) -> Number:
        """Mean of the time to the event up to a horizon, with its interval: the area below the survival function.

        On a grid of whole numbers survival is a step function, as for `lifelines`; on others it falls evenly within
        each bin, since events lie anywhere in it.

        Args:
            horizon: A threshold; by default the last one at which the estimate is estimable.
            confidence_level: By default that of the estimate.

        Raises:
            ParameterError: the horizon is not a threshold.
        """
        z = normal_quantile(self._level(confidence_level))
        end = self.last_time if horizon is None else float(horizon)
        what = f"restricted mean to {end:g}"
        if not self.estimable or end > self.last_time:
            return Number(what, math.nan, 0.0, float(end), math.inf)
        point = int(np.searchsorted(self.timeline, end))
        if point == len(self.timeline) or self.timeline[point] != end:
            raise ParameterError(f"`horizon` must be a threshold of the grid, got {end:g}")
        widths, gaps = np.zeros(self.estimable), np.diff(self.timeline[: point + 1], prepend=self.grid.low)
        early = 1.0 if self.grid.kind == "integers" else 0.5  # events lie within bins: the mean of both ends' survival
        start = self.grid.low + early * float(gaps[0])
        widths[: point + 1] = (1 - early) * gaps
        widths[:point] += early * gaps[1:]
        value = float(start + widths @ self.probabilities[: self.estimable])
        error = float(self._change.along(widths).deviations[0])
        center = float(start + widths @ self._raw.survival)
        low, high = max(0.0, center - z * error), min(end, center + z * error)
        return Number(what, value, min(low, value), max(high, value), error)

    def at_risk(self, t: Any) -> Any:
        """Number of records under observation at each t, noisy: who entered before t, and whose time is not below t."""
        numbers = np.asarray(to_numbers(self.grid, t))
        before = np.searchsorted(self.timeline, numbers, side="left")
        left = np.concatenate(([0.0], self._smoothed.cumulative[:, :-1].sum(axis=0)))
        entries = self._smoothed.entries
        entered = self.records if entries is None else entries[self._smoothed.entry_places[before]]
        return plain(np.maximum(entered - left[before], 0.0))

    # hazard and incidence

    def cumulative_hazard(self, t: Any) -> Any:
        """Nelson-Aalen estimate of the cumulative hazard at each t; NaN beyond the last threshold that is estimable."""
        hazard = self._rates().sum(axis=0)[: self.estimable]
        return self._at(np.cumsum(hazard), t, 0.0)

    def cumulative_hazard_interval(self, t: Any, confidence_level: float | None = None) -> tuple[Any, Any]:
        """Ends for the cumulative hazard at each t, one time at a time."""
        change, bins = self._raw.of_hazard(), self.grid.bins
        center, reach = np.cumsum(self._raw.hazard), normal_quantile(self._level(confidence_level)) * change.deviations
        ends = ((np.maximum(center - reach, 0.0), 0.0), (np.maximum(center + reach, 0.0), np.inf))
        low, high = (np.append(end, np.full(bins - len(end), beyond)) for end, beyond in ends)
        return self._at(low, t, 0.0), self._at(high, t, 0.0)

    def _cause(self, cause: LabelValue | None) -> int:
        if cause is None and len(self.causes) == 1:
            return 0
        if cause not in self.causes:
            raise ParameterError(f"`cause` must be one of {', '.join(map(str, self.causes))}, got {quoted(cause)}")
        return self.causes.index(cause)

    def cumulative_incidence(self, t: Any, cause: LabelValue | None = None) -> Any:
        """Aalen-Johansen estimate of the chance of an event of one cause up to each t, beside the other causes.

        Args:
            t: Times, any shape.
            cause: One of `causes`; it may be left out where there is only one.
        """
        place, estimable = self._cause(cause), self.estimable
        before = np.concatenate(([1.0], self._smoothed_survival[:-1]))
        return self._at(np.clip(np.cumsum(before * self._rates()[place])[:estimable], 0.0, 1.0), t, 0.0)

    def cumulative_incidence_interval(
        self, t: Any, cause: LabelValue | None = None, confidence_level: float | None = None
    ) -> tuple[Any, Any]:
        """Ends for the cumulative incidence at each t, one time at a time."""
        place = self._cause(cause)
        change = self._kept.setdefault(place, self._raw.of_incidence(place))
        low, high = self._ends(self._raw.incidence(place), change, confidence_level, falling=False)
        return self._at(low, t, 0.0), self._at(high, t, 0.0)

    # two groups

    def log_rank(
        self, other: SurvivalEstimate | Sequence[SurvivalEstimate], weights: Weights = "log-rank"
    ) -> HypothesisTest:
        """Test whether independent groups have one survival function, by observed less expected events.

        Args:
            other: The estimate of other records, on the same thresholds, or those of several other groups.
            weights: "log-rank" (equal weights), "gehan" (the number at risk) or "tarone-ware" (its square root).

        Returns:
            A test whose p-value counts the noise of all releases; without a statistic where noise leaves none. With
            more than two groups the statistic is a chi-square.

        Raises:
            ParameterError: the thresholds are not the same, the weights are unknown, or there is no other group.
        """
        among(weights, "weights", WEIGHTS)
        from scipy.special import chdtrc  # slow to import

        groups = [self, *([other] if isinstance(other, SurvivalEstimate) else other)]
        if len(groups) < 2:
            raise ParameterError("a log-rank test needs the estimate of at least one other group")
        if any(each.grid != self.grid for each in groups):
            raise ParameterError("groups are compared on the same thresholds; release all with equal bounds and bins")
        two, free = len(groups) == 2, len(groups) - 1
        value = error = p_value = math.nan
        if min(each.estimable for each in groups):
            differences, sampling, noise = process.weighted_log_rank([each._raw for each in groups], weights)
            spread = max(each.rows_of_one for each in groups) * sampling + noise
            differences, spread = differences[:free], spread[:free, :free]
            value, error = float(differences[0]), math.sqrt(spread[0, 0])
            p_value = math.erfc(abs(value) / error / math.sqrt(2)) if error > 0 else 1.0
            if not two:
                value = float(differences @ np.linalg.pinv(spread, hermitian=True) @ differences)
                error, p_value = math.sqrt(2 * free), float(chdtrc(free, value))
        method = f"the {weights} test, with the variance of the noise beside that of the events"
        null = f"{'both' if two else 'all'} groups have one distribution of {self.time}"
        what = (
            "observed less expected events of the first group" if two else f"chi-square with {free} degrees of freedom"
        )
        sides: Alternative = "two-sided" if two else "greater"
        expected = 0.0 if two else float(free)
        source = self.provenance and dataclasses.replace(self.provenance, where=None)  # one says which, and not of all
        return HypothesisTest(null, what, value, expected, error, p_value, sides, method, source)

    def difference(self, other: SurvivalEstimate, t: float, confidence_level: float | None = None) -> Number:
        """Difference of survival at one time between two independent groups, this one less the other."""
        result = self._compared(confidence.difference, other, "number", t, confidence_level)
        return result._replace(low=max(result.low, -1.0), high=min(result.high, 1.0))

    def ratio(self, other: SurvivalEstimate, t: float, confidence_level: float | None = None) -> Number:
        """Ratio of survival at one time of two independent groups, this one over the other."""
        return self._compared(confidence.ratio, other, "number", t, confidence_level)

    def restricted_mean_difference(
        self, other: SurvivalEstimate, horizon: float, confidence_level: float | None = None
    ) -> Number:
        """Difference of the restricted means up to a horizon, this one less the other."""
        return self._compared(confidence.difference, other, "restricted_mean", horizon, confidence_level)

    def restricted_mean_ratio(
        self, other: SurvivalEstimate, horizon: float, confidence_level: float | None = None
    ) -> Number:
        """Ratio of the restricted means up to a horizon, this one over the other."""
        return self._compared(confidence.ratio, other, "restricted_mean", horizon, confidence_level)

    def _compared(
        self, how: Callable[..., tuple[float, ...]], other: SurvivalEstimate, of: str, t: float, asked: float | None
    ) -> Number:
        level = self._level(asked)
        one, two = (getattr(each, of)(t, level) for each in (self, other))
        value, error, low, high = how(one, two, level)
        ratio = how is confidence.ratio
        what = f"{'ratio' if ratio else 'difference'}, {one.what}"
        return Number(what, value, max(low, 0.0) if ratio else low, high, error)

    # error

    def errors(self, truth: SurvivalEstimate) -> dict[str, float]:
        """Distances of the survival function from the exact one at the thresholds where both are estimable."""
        gap = np.abs(self.probabilities - truth.probabilities)
        known = gap[np.isfinite(gap)]
        if not len(known):
            return {"ks": 1.0, "rmse": 1.0}
        return {"ks": float(known.max()), "rmse": float(np.sqrt(np.mean(known**2)))}

    def noise_share(self) -> float:
        """Noise of the number at risk at the start, as a share of it."""
        if not self.private:
            return 0.0
        return float(self._raw.risk_noise[0]) / self.records if self.records > 0 else math.inf

    def results(self) -> dict[str, Any]:
        """Survival with its intervals, for other programs."""
        low, high = self._grouped()
        known = [None if math.isnan(each) else each for each in self.probabilities.tolist()]
        return {"survival": known, "low": low.tolist(), "high": high.tolist()}


def check_curves_price(
    source: Provenance | None,
    strategy: Strategy | None,
    adjacency: Adjacency,
    classes: int,
    entries: Strategy | None = None,
) -> None:
    """Refuse a stated price below that of the curves of all classes, and of the entries beside them."""
    check_price(source, [(strategy, adjacency)])
    reported = strategy is None or isinstance(strategy, ReportedTree)  # reports cost what was checked above
    if strategy is not None and not reported and source is not None and source.price is not None:
        least = class_curves_price(strategy, source.unit, public_labels=False, classes=classes)
        if entries is not None:
            least = total_loss([least, loss_of(entries, adjacency, source.max_rows_per_person)])
        if not at_least(source.price, least):
            raise understated(source, least)


# --- How survival is planned: simulated on times that may be censored


class SurvivalPrediction(Prediction):
    """Distances of the survival function, simulated on imagined times of which some are censored."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        "rmse": Metric("rmse", f"{SurvivalEstimate.error_words['rmse']}, simulated", squared=True),
        "ks": Metric("ks", f"{SurvivalEstimate.error_words['ks']}, simulated"),
    }
    deciding = ("rmse", "ks")
    shown = ("rmse", "ks")

    @classmethod
    def imagined(cls, statistic: Any, records: int, assumed: Mapping[str, float]) -> Shape:
        """Times of which some are censored."""
        from ogive.records.imagined import TimesShape  # slow to import

        super().imagined(statistic, records, assumed)  # which refuses what is about classes
        return TimesShape(records, late=statistic.entry is not None)

    def deviation(self, errors: Mapping[str, float]) -> float | None:
        """Standard deviation of the noise of the cumulative counts of one class, as a root mean square."""
        strategy = cast(SurvivalEstimate, self.rehearsal.estimate).curves[0].strategy
        if strategy is None:
            return None
        return float(np.sqrt(np.mean(np.square(noise_roots(cast(Any, strategy))).sum(axis=1))))


def beyond(grid: Grid) -> Grid:
    """The grid with one threshold more, above which times are not distinguished."""
    thresholds = grid.thresholds
    step = thresholds[-1] - (thresholds[-2] if grid.bins > 1 else grid.low)
    if grid.kind == "integers":
        return Grid.integers(grid.low, grid.high + 1)
    if grid.kind == "linear":
        result = Grid.linear(grid.low, grid.low + step * (grid.bins + 1), bins=grid.bins + 1)
        if np.array_equal(result.thresholds[:-1], thresholds):
            return result
    return Grid.explicit(
        (*thresholds.tolist(), float(thresholds[-1] + max(step, abs(thresholds[-1]) * 1e-9))), low=grid.low
    )


def entry_grid(grid: Grid) -> Grid:
    """The thresholds of entries; of whole numbers also the one before the first, so that all bins know who entered."""
    return Grid.integers(max(grid.low - 1, 0), grid.high + 1) if grid.kind == "integers" else beyond(grid)


def check_times(grid: Grid) -> None:
    """Refuse thresholds that are no durations, or too many."""
    if grid.bins > MOST_BINS:
        raise ParameterError(f"`bins` must be at most {MOST_BINS}, got {grid.bins}")
    if grid.unit != "number":
        raise ParameterError("`bounds` must be numbers: a time to an event is a duration, not a date")
    if grid.low < 0:
        raise ParameterError(f"`bounds` must be at least 0, got {grid.low:g}")
