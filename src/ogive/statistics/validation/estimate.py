"""A released validation: what can be asked of it, with intervals that know the noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self, Unpack

import numpy as np

from ogive.columns import Label
from ogive.columns.grids import Grid
from ogive.core.arrays import Bool, Float64
from ogive.core.checks import among, any_whole, array_of
from ogive.core.rooms import room
from ogive.errors import DataError, ParameterError, quoted
from ogive.provenance import Provenance
from ogive.showing.pictures import Style
from ogive.statistics.confidence import check_level, normal_quantile
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.functionals import ClassCounts, ScoreEstimate, Value, second_score, unknown
from ogive.statistics.plain_json import Codec, Fields, parse, stored, write
from ogive.statistics.roc.estimate import RocEstimate
from ogive.statistics.significance import check_independent_records
from ogive.statistics.validation import measures

LEAST_BINS, MOST_BINS = 2, 1024
GROUPS = 10
"""Groups of bins for reliability, resolution and the expected calibration error."""

MEASURES = (
    "brier", "reliability", "resolution", "uncertainty", "ece", "auc", "mean_difference", "calibration_in_the_large",
    "intercept", "slope", "prevalence",
)  # fmt: skip
_GROUPED = ("reliability", "resolution", "ece")
AT_THRESHOLD = ("sensitivity", "specificity", "ppv", "npv", "net_benefit", "treat_all")
Recalibrating = Literal["isotonic", "logistic"]


class DecisionCurve(NamedTuple):
    """Net benefit at several thresholds, shape (thresholds,) each; to treat nobody has a net benefit of 0."""

    thresholds: Float64
    net_benefit: Float64
    low: Float64
    high: Float64
    treat_all: Float64


def _probabilities(scores: Any) -> Float64:
    try:
        given = np.asarray(array_of(scores), dtype=np.float64)
    except (TypeError, ValueError):
        given = np.array(math.nan)
    if not ((given >= 0) & (given <= 1)).all():
        raise ParameterError("`scores` must be probabilities, from 0 to 1; clip or fill them as in the release")
    return given


class _Rule:
    """What is applied to scores, and stored; its fields are numbers but for a kind and a list of values."""

    schema: ClassVar[str]
    article: ClassVar[str]
    names: ClassVar[tuple[str, ...]]

    def to_json(self, path: str | Path | None = None) -> str:
        """JSON text; with a path, also written there."""
        return write({"schema": self.schema} | {name: getattr(self, name) for name in self.names}, path, public=True)

    @classmethod
    def from_json(cls, source: str | bytes | Path) -> Self:
        """Read from JSON text, or from a file if given a Path. The text need not be trusted."""
        known = Fields.of(parse(source), cls.schema, cls.article, cls.names)
        read = {"kind": known.text, "values": lambda name: tuple(known.numbers(name).tolist())}
        try:
            return cls(*(read.get(name, known.number)(name) for name in cls.names))
        except ParameterError as problem:
            raise DataError(f"{cls.article} contradicts itself: {problem}") from None


@dataclass(frozen=True)
class Recalibration(_Rule):
    """A map from scores to better calibrated ones: not decreasing, with values in [0, 1].

    Fields:
        kind: "isotonic" or "logistic".
        values: At the midpoints of bins of equal width from 0 to 1, between which it is straight; of a logistic map
            intercept and slope on the scale of log odds, the slope at least 0.
    """

    schema = "ogive.recalibration/1"
    article = "a recalibration"
    names = ("kind", "values")

    kind: Recalibrating
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        among(self.kind, "kind", ("isotonic", "logistic"))
        values = np.asarray(self.values, dtype=np.float64)
        logistic = self.kind == "logistic"
        wrong = (
            values.size != 2 or values[1] < 0 if logistic else values.size < LEAST_BINS or np.any(np.diff(values) < 0)
        )
        if not np.isfinite(values).all() or wrong or (not logistic and (values[0] < 0 or values[-1] > 1)):
            raise ParameterError("a recalibration needs values that do not decrease, within [0, 1]")

    def __call__(self, scores: Any) -> Any:
        """Recalibrated probabilities of scores in [0, 1], of the same shape."""
        given = _probabilities(scores)
        if self.kind == "isotonic":
            result = np.interp(given, measures.midpoints(len(self.values)), self.values)
        else:
            inside = np.clip(given, 1e-12, 1 - 1e-12)
            intercept, slope = self.values
            z = intercept + slope * np.log(inside / (1 - inside))
            result = 1 / (1 + np.exp(-np.clip(z, -700, 700)))
        return float(result) if np.ndim(result) == 0 else result


@dataclass(frozen=True)
class Conformal(_Rule):
    """Sets of labels of which the stated share holds the true label, with the stated confidence.

    Fields:
        coverage: Least share of future records whose set holds their label.
        confidence_level: Confidence of that statement, over the records and the noise.
        threshold: A set holds the negative label where the score is at most this, and the positive one where it is at
            least 1 less this.
    """

    schema = "ogive.conformal/1"
    article = "a rule for sets of labels"
    names = ("coverage", "confidence_level", "threshold")

    coverage: float
    confidence_level: float
    threshold: float

    def __post_init__(self) -> None:
        _check_share(self.coverage, "coverage")
        check_level(self.confidence_level)
        if not 0 <= self.threshold <= 1:
            raise ParameterError(f"`threshold` must be from 0 to 1, got {quoted(self.threshold)}")

    def __call__(self, scores: Any) -> tuple[Bool, Bool]:
        """Whether the set of each score holds the negative label, and whether it holds the positive one."""
        given = _probabilities(scores)
        return given <= self.threshold + 1e-12, given >= 1 - self.threshold - 1e-12


_LABEL = Codec(lambda label: label.to_dict(), lambda known, name, _: known.label(), {"type": "object"})


@dataclass(frozen=True, eq=False, repr=False)
class ValidationEstimate(ScoreEstimate):
    """How right predicted probabilities are: measures of error, calibration and decisions, with intervals.

    Estimates and intervals are for the population that the records are from. Where noise may hide that anybody is in a
    denominator a measure is NaN, and its interval holds everything that is possible.

    Fields:
        negatives, positives: Cumulative counts of each class over the score, with independent noise.
        label: Column and values that determine the class of a record.
        total: Number of records of both classes if public, else None.
        confidence_level: Confidence level of printed intervals.
        other: The same of a second model on the same records; None of one model.
        provenance: Origin of the release: statistic, price and trust model; None until released.
    """

    schema: ClassVar[str] = "ogive.validation/1"
    article: ClassVar[str] = "a validation"
    own = ("negatives", "positives")
    reported = MEASURES
    error_words: ClassVar[Mapping[str, str]] = {
        "brier": "distance of the Brier score from the exact one",
        "auc": "distance of the AUC from the exact one",
        "slope": "distance of the calibration slope from the exact one",
    }

    negatives: Curve
    positives: Curve
    _: KW_ONLY
    label: Label = stored(_LABEL)
    total: int | None
    confidence_level: float
    other: ValidationEstimate | None = stored(second_score(lambda: ValidationEstimate), default=None)
    provenance: Provenance | None = None

    def __post_init__(self) -> None:
        check_level(self.confidence_level)
        one, two = self.negatives, self.positives
        bins = one.grid.bins
        if not LEAST_BINS <= bins <= MOST_BINS or one.grid != Grid.linear(0, 1, bins=bins):
            raise ParameterError("the bins of a validation must have equal widths from 0 to 1")
        alike = ("grid", "strategy", "adjacency", "column", "total")
        if any(getattr(one, name) != getattr(two, name) for name in alike) or one.total is not None:
            raise ParameterError("the curves of both classes must be measured alike")
        if any(each.people or each.merged or each.provenance is not None for each in (one, two)):
            raise ParameterError("the curves of the classes are those of one release, which count rows")
        self.check_scores(one.adjacency)
        if self.other is not None and any(getattr(one, n) != getattr(self.other.negatives, n) for n in alike[:3]):
            raise ParameterError("a second score is measured in the same way")

    def check_stored(self, known: Fields) -> None:
        """Refuse a stated price below that of the noise."""
        self.check_counts(self.negatives.adjacency)

    # what was measured

    @property
    def score(self) -> str:
        """The column of probabilities."""
        return self.negatives.column

    @property
    def bins(self) -> int:
        """Number of bins."""
        return self.negatives.grid.bins

    @property
    def raw(self) -> Float64:
        """Unbiased cumulative counts of the negatives, then of all records; one after the other."""
        return np.concatenate([self.negatives.raw, self.negatives.raw + self.positives.raw])

    @cached_property
    def classes(self) -> ClassCounts:
        """Class histograms of the scores, with their covariance."""
        return ClassCounts.of((self.negatives, self.positives), self.total, self.rows_of_one)

    @cached_property
    def roc(self) -> RocEstimate:
        """The ROC curve of the same release: partial areas, precision, the band."""
        return RocEstimate(
            self.negatives, self.positives, self.label, "high", self.total,
            confidence_level=self.confidence_level, provenance=self.provenance,
        )  # fmt: skip

    @property
    def defined(self) -> bool:
        """Whether noise leaves records of both classes."""
        return all(self.classes.clear(each(self.bins)) for each in (measures.positives, measures.negatives))

    # measures

    def measure(
        self,
        name: str,
        confidence_level: float | None = None,
        *,
        threshold: float | None = None,
        groups: int | None = None,
    ) -> Value:
        """One measure, with its interval and standard error.

        Args:
            name: One of `MEASURES`, or of `AT_THRESHOLD` with a threshold.
            confidence_level: By default that of the estimate.
            threshold: A score above which records are called positive: an end of bins, from 0 to below 1. At 0
                everybody is called positive, a score of 0 included.
            groups: Groups of equal width for "reliability", "resolution" and "ece", by default 10, or one for each bin
                where there are fewer; a group of which noise may hide that anybody is in it joins the next.

        Raises:
            ParameterError: the measure or the threshold is unknown, or the groups are no number of bins.
        """
        among(name, "name", (*MEASURES, *AT_THRESHOLD))
        groups = min(GROUPS, self.bins) if groups is None else groups
        any_whole(groups, "groups", 2, self.bins if name in _GROUPED else None)
        threshold = self._place(threshold) if name in AT_THRESHOLD else None
        level = self.level(confidence_level)
        key = (name, level, threshold, groups)
        if key not in self._kept:
            self._kept[key] = self._measure(name, level, threshold, groups)
        return self._kept[key]

    @cached_property
    def _kept(self) -> dict[Any, Value]:
        """Measures that were computed before."""
        return {}

    def _measure(self, name: str, level: float, threshold: float | None, groups: int) -> Value:
        counts, bins = self.classes, self.bins
        if name in AT_THRESHOLD:
            assert threshold is not None, "settled by the caller"
            return measures.at_threshold(name, bins, threshold).estimate(counts, level)
        if name in ("brier", "mean_difference"):
            ratios = measures.brier(bins) if name == "brier" else measures.mean_difference(bins)
            return measures.between(counts, ratios, level)
        if name == "prevalence":
            return measures.Ratio(measures.positives(bins), np.ones((2, bins)), share=True).estimate(counts, level)
        if name == "uncertainty":
            return _uncertainty(self._measure("prevalence", level, None, groups))
        if name in _GROUPED:
            return measures.norm(counts, name, groups, level)
        if name == "auc":
            if not self.defined or not self.roc.defined:
                return unknown()
            low, high = self.roc.auc_interval(level)
            return Value(self.roc.auc, low, high, (high - low) / (2 * normal_quantile(level)))
        return measures.coefficient(counts, name, level) if self.defined else unknown(-math.inf, math.inf)

    def _place(self, threshold: Any) -> float:
        if not _real(threshold) or not 0 <= threshold < 1 or abs((threshold * self.bins + 0.5) % 1 - 0.5) > 1e-6:
            raise ParameterError(
                f"`threshold` must be a multiple of 1/{self.bins} from 0 to below 1, got {quoted(threshold)}"
            )
        return round(float(threshold) * self.bins) / self.bins

    @property
    def binning(self) -> float:
        """Most that a score differs from the midpoint of its bin."""
        return 0.5 / self.bins

    def decision_curve(
        self, thresholds: Any = None, confidence_level: float | None = None, *, together: bool = False
    ) -> DecisionCurve:
        """Net benefit over thresholds, beside treating everybody and treating nobody.

        Args:
            thresholds: Ends of bins from 0 to below 1, at least one; by default those up to one half.
            confidence_level: By default that of the estimate.
            together: Whether all intervals hold at once.

        Raises:
            ParameterError: there is no threshold, or one is no end of bins.
        """
        level = self.level(confidence_level)
        given = np.arange(self.bins // 2 + 1) / self.bins if thresholds is None else thresholds
        places = np.array([self._place(each) for each in np.atleast_1d(np.asarray(given, dtype=object)).tolist()])
        if not len(places):
            raise ParameterError("`thresholds` must hold at least one")
        least, nothing = -places / (1 - places), np.full(len(places), np.nan)
        if not self.classes.clear(np.ones((2, self.bins))):
            return DecisionCurve(places, nothing, least, np.ones(len(places)), nothing)
        histograms, number = self.classes.histograms, float(self.classes.histograms.sum())
        called, everybody = (
            np.stack([measures.at_threshold(name, self.bins, each).part for each in places])
            for name in ("net_benefit", "treat_all")
        )
        values, all_called = ((part * histograms).sum(axis=(1, 2)) / number for part in (called, everybody))
        low, high = self.classes.change((called - values[:, None, None]) / number).ends(
            values, level, together=together
        )
        low, high, values = (np.clip(each, least, 1.0) for each in (low, high, values))
        return DecisionCurve(places, values, low, high, all_called)

    def plot_decision_curve(self, thresholds: Any = None, ax: Any = None, **style: Unpack[Style]) -> Any:
        """Draw net benefit over thresholds with a band that holds all of it at once; returns matplotlib axes.

        Args:
            thresholds: As for `decision_curve`.
            ax: Axes to draw into; new ones by default.
            style: Of the curve; see `ogive.plots.Style`.

        Raises:
            ParameterError: matplotlib is not installed, noise leaves no curve, or a threshold is no end of a bin.
        """
        return room(type(self), "view").ValidationEstimateView(self).draw_decisions(thresholds, ax, **style)

    def threshold_for(self, sensitivity: float, confidence_level: float | None = None) -> tuple[float, float, float]:
        """The highest threshold that has at least this sensitivity, and the thresholds between which it lies.

        Args:
            sensitivity: Wanted share of the positives that are called positive, above 0 and below 1.
            confidence_level: By default that of the estimate.

        Returns:
            The threshold, NaN where noise leaves none, and the two ends of its interval.
        """
        _check_share(sensitivity, "sensitivity")
        values = [
            self.measure("sensitivity", confidence_level, threshold=place / self.bins) for place in range(self.bins)
        ]
        if math.isnan(values[0].value):
            return math.nan, 0.0, 1.0
        reached, sure, possible = (
            max((place for place, each in enumerate(values) if each[field] >= sensitivity), default=0)
            for field in (0, 1, 2)
        )
        # the true threshold may lie anywhere in the bin above the last end that has it
        return reached / self.bins, min(sure, reached) / self.bins, (max(possible, reached) + 1) / self.bins

    def conformal(self, coverage: float, confidence_level: float | None = None) -> Conformal:
        """Sets of labels that hold the true one of at least a share of future records, with stated confidence.

        Args:
            coverage: That share, above 0 and below 1.
            confidence_level: Over the records and the noise; by default that of the estimate. Where the noise or the
                number of records leaves less, a set holds both labels.

        Raises:
            ParameterError: the coverage is out of range, or a person may have several records.

        Source:
            docs/proofs/validation.md.
        """
        _check_share(coverage, "coverage")
        check_independent_records(self.provenance)
        level = self.level(confidence_level)
        place = measures.conformal_place(self.classes, coverage, level)
        return Conformal(float(coverage), level, place / self.bins)

    def recalibration(self, kind: Recalibrating = "isotonic") -> Recalibration:
        """A map that makes scores of the same model better calibrated on such records.

        Args:
            kind: "isotonic" for any map that does not decrease, "logistic" for a shift and a slope of log odds.

        Raises:
            ParameterError: noise leaves no map, or the kind is unknown.
        """
        among(kind, "kind", ("isotonic", "logistic"))
        if kind == "isotonic" and self.defined:
            return Recalibration(kind, tuple(measures.isotonic(self.classes.nonnegative).tolist()))
        intercept, slope = (self.measure(name).value for name in ("intercept", "slope"))
        if kind == "isotonic" or math.isnan(slope):
            raise ParameterError(
                "noise leaves no recalibration; use a larger privacy budget or more records"
                if self.private
                else "the records leave no recalibration; it needs records of both classes, whose scores overlap"
            )
        if slope <= 0:
            share = self.measure("prevalence").value
            intercept, slope = math.log(share / (1 - share)), 0.0
        return Recalibration(kind, (intercept, slope))

    # error

    def errors(self, truth: ValidationEstimate) -> dict[str, float]:
        """Distances of some measures from the exact ones; 1 where noise leaves none."""
        pairs = {name: (self.measure(name).value, truth.measure(name).value) for name in self.error_words}
        return {name: abs(one - two) if math.isfinite(one - two) else 1.0 for name, (one, two) in pairs.items()}

    def noise_share(self) -> float:
        """Noise of the number of positive records, as a share of it."""
        if not self.private:
            return 0.0
        weights = measures.positives(self.bins)
        count = float((weights * self.classes.histograms).sum())
        noise = math.sqrt(float(self.classes.change(weights[None]).noise[0]))
        return noise / count if count > 0 else math.inf


def _uncertainty(prevalence: Value) -> Value:
    """The variance of the outcome, with the values that it takes within the interval of its mean."""
    p, low, high, error = prevalence
    if math.isnan(p):
        return unknown(0.0, 0.25)
    ends = sorted((low * (1 - low), high * (1 - high)))
    most = 0.25 if low <= 0.5 <= high else ends[1]
    return Value(p * (1 - p), ends[0], most, error * abs(1 - 2 * p))


def _real(given: Any) -> bool:
    return isinstance(given, Real) and not isinstance(given, bool)


def _check_share(given: Any, name: str) -> None:
    if not _real(given) or not 0 < given < 1:
        raise ParameterError(f"`{name}` must be above 0 and below 1, got {quoted(given)}")
