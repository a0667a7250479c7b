"""Smooth functions of the class histograms of one measurement, with what noise and sampling make uncertain.

`ClassCurvesQuery` measures the cumulative counts of each class with independent noise of one law. Let h be the class
histograms, shape (classes, bins). A function f moves, to first order, by sum of g (change of h), with g its gradient.

    noise       h changes by differences of the strategy's linear estimate of the noise, so that the variance of f is
                the squared length of g through that estimate, exactly
    sampling    records are drawn independently, so that h is multinomial: sum of h g^2 less (sum of h g)^2 / n, times
                the most records of one person; h is counted with two more records of each class, spread like all

Where the class sizes are public the noise is conditioned on them. Where only their sum is, the estimated sizes give up
the excess in equal parts, and each curve moves with its size by Cov / Var, as for ROC curves. Both corrections are
linear, so that the variance of what is left is exact as well.

Noise need not be normal. Quantiles of the standardized error, of one function or the largest of several, are those of
simulated errors from public random numbers: of the noise as it is drawn, and normal ones of sampling.

Intervals of a share are those of Wilson's kind, with noise beside the sampling error: of all s with

    (estimate - s)^2 <= z^2 (s (1 - s) / m + v),

where v is the variance of the noise and m the number of records of which a share would have that sampling error.

Intervals are for the population that the records are from. Where noise may hide that anybody is in a denominator there
is no number, and the interval is all that is possible.
"""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np

from ogive.accounting import at_least, total_loss
from ogive.core.arrays import Float64
from ogive.errors import DataError, ParameterError, quoted
from ogive.noise.laws import draw_public
from ogive.privacy import Adjacency
from ogive.queries import class_curves_price
from ogive.statistics.base import Estimate
from ogive.statistics.confidence import check_level, normal_quantile, simulations_needed
from ogive.statistics.plain_json import Codec, Fields, Read, check_price, codecs_of, finite, understated
from ogive.strategies import Strategy

SIMULATIONS = 4000
_SEED = 0x6675636E  # public and fixed
CLEAR = 4.0
"""Standard deviations of noise by which a denominator must exceed 0 for a quotient to be estimated."""
FEWEST = 3.0
"""Fewest records in the denominator of a quotient."""


class Value(NamedTuple):
    """A number with its interval; NaN and all possible values where noise leaves none."""

    value: float
    low: float
    high: float
    standard_error: float


def unknown(low: float = 0.0, high: float = 1.0) -> Value:
    """No number: everything between two ends is possible."""
    return Value(math.nan, low, high, math.inf)


class Function(NamedTuple):
    """The value of a function at class histograms, and its gradient there, shape (classes, bins)."""

    value: float
    gradient: Float64


@lru_cache(maxsize=16)
def noise_roots(strategy: Any, size_known: bool = False) -> Float64:
    """R with R R^T the covariance of the noise of a strategy's cumulative counts, shape (N, nodes)."""
    nodes = [level.nodes for level in strategy.levels]
    unit = np.eye(sum(nodes), dtype=np.int64)
    parts = tuple(np.split(unit, np.cumsum(nodes)[:-1], axis=-1))
    response = strategy.estimate(strategy.spread(parts), 0 if size_known else None)
    deviations = np.repeat([math.sqrt(level.law.variance) for level in strategy.levels], nodes)
    result: Float64 = (response * deviations[:, None]).T
    result.flags.writeable = False
    return result


def pull_of_size(strategy: Strategy) -> Float64:
    """How much each point of a curve moves with its size, Cov(i, N) / Var(N), shape (N,); the last is 1."""
    nothing = np.zeros(len(strategy.measure(np.zeros(strategy.size, dtype=np.int64))), dtype=np.int64)
    return strategy.estimate(nothing, 1)


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """Cumulative counts of the classes of one measurement.

    Fields:
        raw: Linear estimates without bias, shape (classes, bins).
        smoothed: The same made monotone and nonnegative.
        strategy: What was measured of each class; None without noise.
        sizes: Number of records of each class where it is public.
        total: Number of all records where it is public.
        rows_of_one: Most records of one person, which may all be alike.
    """

    raw: Float64
    smoothed: Float64
    strategy: Strategy | None
    sizes: tuple[int, ...] | None = None
    total: int | None = None
    rows_of_one: int = 1

    @classmethod
    def of(cls, curves: Sequence[Any], total: int | None = None, rows_of_one: int = 1) -> Self:
        """The counts of released curves of the classes, one after the other."""
        raw, smoothed = (np.stack([getattr(each, name) for each in curves]) for name in ("raw", "cumulative"))
        sizes = tuple(each.total for each in curves)
        known = None if None in sizes else cast("tuple[int, ...]", sizes)
        return cls(raw, smoothed, curves[0].strategy, known, total, rows_of_one)

    @property
    def _shares_excess(self) -> bool:
        return self.strategy is not None and self.sizes is None and self.total is not None

    @cached_property
    def cumulative(self) -> Float64:
        """Cumulative counts without bias that use what is public of the sizes, shape (classes, bins)."""
        if not self._shares_excess:
            return self.raw
        assert self.strategy is not None
        assert self.total is not None
        excess = (self.raw[:, -1].sum() - self.total) / len(self.raw)
        return np.asarray(self.raw - excess * pull_of_size(self.strategy))

    @cached_property
    def histograms(self) -> Float64:
        """Records of each class in each bin, without bias; noise may make them negative."""
        return np.diff(self.cumulative, prepend=0.0)

    @cached_property
    def nonnegative(self) -> Float64:
        """Records of each class in each bin, at least 0."""
        return np.maximum(np.diff(self.smoothed, prepend=0.0), 0.0)

    @cached_property
    def sampled(self) -> Float64:
        """The same with two more of each class, spread like all records, so that no class is sure never to occur."""
        h = self.nonnegative
        return np.asarray(h + 2 * h.sum(axis=0) / max(float(h.sum()), 1.0))

    @property
    def records(self) -> float:
        """Number of all records, at least 0."""
        return max(0.0, float(self.cumulative[:, -1].sum()))

    def clear(self, weights: Float64, fewest: float | None = None) -> bool:
        """Whether a weighted number of records is so large that noise does not hide that there are any."""
        noise = float(self.change(weights[None]).noise[0])
        count = float((weights * self.histograms).sum())
        least = (FEWEST if self.strategy is not None else 1.0) if fewest is None else fewest
        return count >= least and count > CLEAR * math.sqrt(noise)

    def change(self, gradients: Float64) -> Change:
        """How functions change that have these gradients, shape (functions, classes, bins)."""
        return Change(self, np.asarray(gradients, dtype=np.float64))

    def estimate(
        self,
        function: Callable[[Float64], Function],
        level: float,
        *,
        needs: Sequence[Float64] = (),
        within: tuple[float, float] = (-math.inf, math.inf),
        share_of: Callable[[Float64], float] | None = None,
    ) -> Value:
        """A function of the histograms with its interval, within limits.

        `needs` are weights of its denominators, each of which must be clear of noise. Of a share, `share_of` gives the
        number of records that it is a share of; its interval is of Wilson's kind.
        """
        if not all(self.clear(each) for each in needs):
            return unknown(*within)
        value, gradient = function(self.histograms)
        if not math.isfinite(value):
            return unknown(*within)
        change = self.change(gradient[None])
        values = np.array([value])
        if share_of is None:
            low, high = change.ends(values, level, within=within)
        else:
            low, high = change.share_ends(values, np.array([share_of(self.histograms)]), level)
        shown = min(max(value, within[0]), within[1])
        return Value(shown, min(float(low[0]), shown), max(float(high[0]), shown), float(change.deviations[0]))

    def errors(self, simulations: int, *, sampling: bool = True) -> Float64:
        """Errors of the histograms in imagined releases, shape (simulations, classes * bins); or of noise alone."""
        if (simulations, sampling) in self._drawn:
            return self._drawn[simulations, sampling]
        random = np.random.Generator(np.random.PCG64(_SEED))
        classes, bins = self.raw.shape
        errors = np.zeros((simulations, classes, bins))
        if self.strategy is not None:
            for place in range(classes):
                parts = tuple(draw_public(each.law, (simulations, each.nodes), random) for each in self.strategy.levels)
                size = None if self.sizes is None else 0
                errors[:, place] = self.strategy.estimate(self.strategy.spread(parts), size)
            if self._shares_excess:
                excess = errors[:, :, -1].sum(axis=1) / classes
                errors -= (excess[:, None] * pull_of_size(self.strategy))[:, None, :]
            errors = np.diff(errors, prepend=0.0, axis=-1)
        drawn: Float64 = errors.reshape(simulations, -1)
        if sampling:
            counts = self.sampled.ravel()
            normal = random.standard_normal((simulations, counts.size)) * np.sqrt(counts)
            normal -= normal.sum(axis=1, keepdims=True) * (counts / max(float(counts.sum()), 1e-9))
            drawn += math.sqrt(self.rows_of_one) * normal
        self._drawn.clear()
        self._drawn[simulations, sampling] = drawn
        return drawn

    @cached_property
    def _drawn(self) -> dict[tuple[int, bool], Float64]:
        return {}

    @cached_property
    def nodes(self) -> int:
        """Numbers that one imagined release takes."""
        levels = () if self.strategy is None else self.strategy.levels
        return self.raw.size + len(self.raw) * sum(each.nodes for each in levels)


@dataclass(frozen=True, eq=False)
class Change:
    """How functions of the histograms change, to first order.

    Fields:
        counts: Of which they are functions.
        gradients: By the histograms, shape (functions, classes, bins).
    """

    counts: ClassCounts
    gradients: Float64

    @cached_property
    def through(self) -> Float64:
        """R with R R^T the covariance of the noise of all functions, shape (functions, classes * nodes)."""
        counts = self.counts
        if counts.strategy is None:
            return np.zeros((len(self.gradients), 1))
        roots = noise_roots(cast(Hashable, counts.strategy), counts.sizes is not None)
        steps = np.diff(self.gradients, append=0.0)  # h_i = c_i - c_{i-1}
        through: Float64 = -steps @ roots
        if counts._shares_excess:
            pulled = -(steps @ pull_of_size(counts.strategy)).sum(axis=1) / len(counts.raw)
            through = through - pulled[:, None, None] * roots[-1]
        return through.reshape(len(through), -1)

    @cached_property
    def noise(self) -> Float64:
        """Variance of the noise, shape (functions,)."""
        return np.asarray(np.square(self.through).sum(axis=1))

    @cached_property
    def sampling(self) -> Float64:
        """Variance of the sampling error, shape (functions,)."""
        counts = self.counts.sampled
        mean = (self.gradients * counts).sum(axis=(1, 2))
        squares = (self.gradients**2 * counts).sum(axis=(1, 2))
        return np.asarray(self.counts.rows_of_one * np.maximum(squares - mean**2 / max(float(counts.sum()), 1e-9), 0.0))

    @cached_property
    def deviations(self) -> Float64:
        """Standard deviations of noise and sampling together, shape (functions,)."""
        return np.sqrt(self.noise + self.sampling)

    def quantiles(self, level: float, *, together: bool = False) -> Float64:
        """Quantile of the absolute standardized error of each, or of the largest of all, shape (functions,)."""
        counts = self.counts
        needed = simulations_needed(check_level(level), share=Fraction(1), nodes=counts.nodes, usual=SIMULATIONS)
        known = self.deviations > 1e-12 * max(float(self.deviations.max(initial=0.0)), 1e-300)
        result = np.zeros(len(self.gradients))
        if known.any():
            flat = self.gradients[known].reshape(int(known.sum()), -1)
            errors = np.abs(counts.errors(needed) @ flat.T) / self.deviations[known]
            if together:
                errors = errors.max(axis=1, keepdims=True)
            result[known] = np.quantile(errors, level, axis=0, method="higher")
        return result

    def ends(
        self,
        values: Float64,
        level: float,
        *,
        together: bool = False,
        within: tuple[float, float] = (-math.inf, math.inf),
    ) -> tuple[Float64, Float64]:
        """Ends of functions with these values, each or all at once, within limits; shape (functions,) each."""
        half = self.quantiles(level, together=together) * self.deviations
        return np.clip(values - half, *within), np.clip(values + half, *within)

    def share_ends(
        self, values: Float64, numbers: Float64, level: float, *, together: bool = False
    ) -> tuple[Float64, Float64]:
        """Ends of shares of these numbers of records, of Wilson's kind, between 0 and 1, shape (functions,) each."""
        z = self.quantiles(level, together=together)
        z = np.where(z > 0, z, normal_quantile(level))
        return wilson_ends(values, z * z * self.counts.rows_of_one / np.maximum(numbers, 1e-9), z * z * self.noise)


def wilson_ends(values: Float64, q: Float64, noise: Float64) -> tuple[Float64, Float64]:
    """Ends of all s in [0, 1] with (value - s)^2 <= q s (1 - s) + noise, shape (functions,) each."""
    middle, square = 2 * values + q, values**2 - noise
    root = np.sqrt(np.maximum(middle**2 - 4 * (1 + q) * square, 0.0))
    low, high = (np.clip((middle + sign * root) / (2 * (1 + q)), 0.0, 1.0) for sign in (-1, 1))
    return low, high


def difference_of_same(one: Value, other: Value, correlation: float) -> Value:
    """The difference of two numbers, whose errors may have up to this correlation with opposite sign.

    Noise of two measurements is independent; how sampling errors of the same records go together is not measured. At a
    correlation of 1 the interval holds whatever it is, and is wider than needed where both move alike.

    Source:
        Zou 2007, Toward using confidence intervals to compare correlations, for dependent estimates.
    """
    if math.isnan(one.value) or math.isnan(other.value):
        return unknown(one.low - other.high, one.high - other.low)
    value = one.value - other.value

    def half(a: float, b: float) -> float:
        return math.sqrt(a * a + b * b + 2 * correlation * a * b)

    low = value - half(one.value - one.low, other.high - other.value)
    high = value + half(one.high - one.value, other.value - other.low)
    error = half(one.standard_error, other.standard_error)
    return Value(value, low, high, error)


# --- One score, or two on the same records


def check_other(other: Any, *columns: str) -> None:
    """Refuse a second score that is no column, or one of the others."""
    if other is not None and (not isinstance(other, str) or other in columns):
        raise ParameterError(f"`other` must be the name of another column of scores, got {quoted(other)}")


def second_score(kind: Callable[[], Any]) -> Codec:
    """Of the estimate of a second score: fields of its own; all others are those of the first."""

    def write(other: Any) -> Any:
        codecs = codecs_of(kind())
        return None if other is None else {name: codecs[name][0].write(getattr(other, name)) for name in other.own}

    def read(known: Fields, name: str, before: Read) -> Any:
        data, own, codecs = known.data[name], kind().own, codecs_of(kind())
        if data is None:
            return None
        if not isinstance(data, dict) or data.keys() != set(own):
            raise DataError(f"the second score of {known.what} must have {' and '.join(own)}, and nothing else")
        fields = Fields(data, known.what)
        return kind()(**{**before, **{each: codecs[each][0].read(fields, each, before) for each in own}})

    return Codec(write, read, {"type": ["object", "null"]}, last=True)


class ScoreEstimate(Estimate):
    """Measures of a score, or of two on the same records: a dataclass with a field `other`, None of one score."""

    confidence_level: float
    own: ClassVar[tuple[str, ...]]
    """Fields that a second score has of its own."""
    reported: ClassVar[tuple[str, ...]]
    """Measures that other programs get."""
    other: Any

    @property
    @abstractmethod
    def classes(self) -> ClassCounts:
        """Counts of all classes, with their covariance."""

    @property
    @abstractmethod
    def raw(self) -> Float64:
        """Counts without bias, added up in their order."""

    @property
    def private(self) -> bool:
        """Whether noise was added."""
        return self.classes.strategy is not None

    @property
    def records(self) -> float:
        """Number of records, noisy where it is private; at least 0."""
        return self.classes.records

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.schema, self.raw.tobytes()))

    @abstractmethod
    def measure(self, name: str, confidence_level: float | None = None) -> Value:
        """A measure by its name."""

    def level(self, confidence_level: float | None) -> float:
        """A confidence level; by default that of the estimate."""
        return float(check_level(self.confidence_level if confidence_level is None else confidence_level))

    def check_scores(self, adjacency: Adjacency) -> None:
        """Refuse a total that is not public, and a second score that is the first, of other records or other bins."""
        own, other = cast(Any, self), self.other
        if own.total is not None and (own.total < 0 or adjacency is not Adjacency.REPLACE):
            raise ParameterError("the number of records is public where a record is replaced, and nowhere else")
        alike = {each.name for each in dataclasses.fields(own)} - {*self.own, "other", "provenance"}
        if other is not None and (
            any(getattr(own, name) != getattr(other, name, None) for name in alike)
            or (other.other, other.provenance) != (None, None)
            or other.score == own.score
        ):
            raise ParameterError("a second score is of the same records, in the same bins, at the same level")

    def check_counts(self, adjacency: Adjacency) -> None:
        """Refuse a stated price below that of the noise of all scores, and exact counts that are none."""
        scores = [each.classes for each in (self, self.other) if each is not None]
        source, strategy, classes = self.provenance, scores[0].strategy, len(scores[0].raw)
        check_price(source, [(strategy, adjacency)])
        if strategy is None and any((each.histograms < 0).any() for each in scores):
            raise ParameterError("exact counts are at least 0")
        if strategy is None and any(each.total not in (None, each.records) for each in scores):
            raise ParameterError("exact counts add up to the number of records")
        if strategy is not None and source is not None and source.price is not None:
            loss = class_curves_price(strategy, source.unit, public_labels=False, classes=classes)
            least = total_loss([loss] * len(scores))
            if not at_least(source.price, least):
                raise understated(source, least)

    @cached_property
    def second(self) -> Self | None:
        """The estimate of the second score, with the origin of this one."""
        source: Any = self.provenance
        return None if self.other is None else cast(Self, self.other.with_provenance(source))

    def difference(
        self,
        other: Self,
        name: str,
        confidence_level: float | None = None,
        *,
        same_records: bool = False,
        **where: Any,
    ) -> Value:
        """A measure of these records less that of other, independent ones, such as another group.

        Args:
            other: The estimate of the other records.
            name: As for `measure`.
            confidence_level: By default that of the estimate.
            same_records: Whether both are of the same records, with another score. How their errors of sampling go
                together is in no release then, and the interval holds whatever that is.
            where: What else says which measure it is, as for `measure`.
        """
        level = self.level(confidence_level)
        one, two = (each.measure(name, level, **where) for each in (self, other))
        return difference_of_same(one, two, float(same_records))

    def improvement(self, name: str, confidence_level: float | None = None, **where: Any) -> Value:
        """A measure of this score less that of the second one, on the same records.

        How the errors of both scores go together is not measured: the interval holds for any correlation, and is wider
        than it would have to be where both err alike.

        Args:
            name: As for `measure`.
            confidence_level: By default that of the estimate.
            where: What else says which measure it is, as for `measure`.

        Raises:
            ParameterError: there is no second score.
        """
        if self.second is None:
            raise ParameterError("there is no second score; release with `other=` to compare two")
        return self.difference(self.second, name, confidence_level, same_records=True, **where)

    def results(self) -> dict[str, Any]:
        """Value, both ends and standard error of measures, for other programs; of two scores also differences."""
        values: dict[str, Any] = {name: finite(self.measure(name)) for name in self.reported}
        if self.second is None:
            return values
        less = {name: finite(self.improvement(name)) for name in self.reported}
        return {**values, "improvement": less, "other": self.second.results()}
