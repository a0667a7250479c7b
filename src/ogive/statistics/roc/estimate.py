"""A released ROC curve: the estimate that can be asked, compared, drawn and stored."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self, Unpack, cast

import numpy as np

from ogive.columns import Label
from ogive.columns.axis import to_shares
from ogive.columns.grids import Grid
from ogive.core.arrays import Float64
from ogive.core.checks import among
from ogive.core.rooms import room
from ogive.errors import DataError, ParameterError
from ogive.privacy import Adjacency
from ogive.provenance import Provenance
from ogive.queries import ClassCurvesQuery
from ogive.showing.pictures import Style
from ogive.statistics.base import Estimate
from ogive.statistics.confidence import TARGETS, Target, check_level
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.ecdf.plan import CURVE_METRICS
from ogive.statistics.plain_json import Fields, check_price
from ogive.statistics.prediction import Errors, Metric, Prediction
from ogive.statistics.roc import points, uncertainty
from ogive.statistics.roc.area import RankTest
from ogive.statistics.roc.designs import BUDGETS, class_errors
from ogive.statistics.roc.points import PartialAuc, Rate
from ogive.statistics.roc.uncertainty import LiftBand, PrecisionRecallBand, RocBand, Uncertainty, whole_square
from ogive.statistics.significance import ALTERNATIVES, Alternative, HypothesisTest, check_independent_records
from ogive.strategies import Strategy

_TESTED = "Mann and Whitney's test: normal sampling with the ties of bins, simulated noise"
_WORST_SIZES = "the largest p-value of all class sizes that the noise allows"


class AucInterval(NamedTuple):
    """Ends between which the true area under the curve lies with a stated confidence."""

    low: float
    high: float


@dataclass(frozen=True, repr=False)
class RocEstimate(Estimate):
    """Estimated true and false positive rates of a score at every threshold of a public grid.

    Fields:
        negatives, positives: Cumulative counts of each class over the score, with independent noise.
        label: Column and values that determine the class of a record.
        positive_when: "high" or "low" scores.
        total: Number of records of both classes if public, else None.
        budget: "joint", or "split" for the paper's two separate releases.
        confidence_level: Confidence level of the printed interval.
        provenance: Origin of the release: statistic, price and trust model; None until released.

    `defined` is False if a class has no records, or if noise may account for all of them. Rates and area are then NaN,
    the band is the whole square and the interval is [0, 1].

    Raises:
        ParameterError: the two curves were measured differently, or a field is out of range.
    """

    schema: ClassVar[str] = "ogive.roc/1"
    article: ClassVar[str] = "a ROC curve"

    negatives: Curve
    positives: Curve
    label: Label
    positive_when: str
    total: int | None
    budget: str = "joint"
    confidence_level: float = 0.95
    provenance: Provenance | None = None

    def __post_init__(self) -> None:
        one, other = self.negatives, self.positives
        if (one.grid, one.strategy, one.adjacency, one.column) != (
            other.grid,
            other.strategy,
            other.adjacency,
            other.column,
        ) or (one.total is None) != (other.total is None):
            raise ParameterError("the curves of both classes must be measured alike")
        among(self.positive_when, "positive_when", points.ORIENTATIONS)
        among(self.budget, "budget", BUDGETS)
        if self.total is not None and self.total < 0:
            raise ParameterError(f"the number of records must be at least 0, got {self.total}")
        if one.total is not None and other.total is not None and self.total != one.total + other.total:
            raise ParameterError("the class sizes must add up to the number of records")
        _tail(self.confidence_level)

    def with_provenance(self, provenance: Provenance) -> Self:
        """Return the same estimate with its provenance."""
        return dataclasses.replace(
            self,
            provenance=provenance,
            negatives=dataclasses.replace(self.negatives, provenance=provenance),
            positives=dataclasses.replace(self.positives, provenance=provenance),
        )

    # What was estimated

    @property
    def grid(self) -> Grid:
        """Public thresholds of the score."""
        return self.negatives.grid

    @property
    def score(self) -> str:
        """The score's column."""
        return self.negatives.column

    @property
    def strategy(self) -> Strategy | None:
        """The strategy that was measured for each class; None without noise."""
        return self.negatives.strategy

    @property
    def adjacency(self) -> Adjacency:
        """Which data sets are adjacent."""
        return self.negatives.adjacency

    @property
    def private(self) -> bool:
        """Whether noise was added."""
        return self.strategy is not None

    @property
    def public_labels(self) -> bool:
        """Whether the size of each class is public."""
        return self.negatives.total is not None

    @property
    def classes(self) -> tuple[float, float]:
        """Numbers of negative and positive records; estimates unless public."""
        return self.negatives.records, self.positives.records

    @property
    def prevalence(self) -> float:
        """Share of positive records; NaN if there are no records."""
        negatives, positives = self.classes
        return positives / (negatives + positives) if negatives + positives > 0 else math.nan

    @cached_property
    def defined(self) -> bool:
        """Whether both classes have records, as far as the noise lets one see.

        A private class size must be above 3 standard deviations of its noise: below, noise may account for a
        whole class.
        """
        return self._uncertainty.classes_seen

    @cached_property
    def thresholds(self) -> Float64:
        """Threshold of each point of the curve, shape (N + 1,).

        With "high", positive is a score above it, and thresholds fall from the last of the grid to -inf; with
        "low", positive is a score at or below it, and they rise from -inf.
        """
        rising = np.concatenate(([-np.inf], self.grid.thresholds))
        values = rising if self.positive_when == "low" else np.ascontiguousarray(rising[::-1])
        values.flags.writeable = False
        return values

    @cached_property
    def fpr(self) -> Float64:
        """Share of the negatives called positive at each threshold, not decreasing from 0 to 1, shape (N + 1,)."""
        return self._rates(self.negatives)

    @cached_property
    def tpr(self) -> Float64:
        """Share of the positives called positive at each threshold, not decreasing from 0 to 1, shape (N + 1,)."""
        return self._rates(self.positives)

    def _rates(self, curve: Curve) -> Float64:
        if self.defined:
            values = points.rates(curve.cumulative, self.positive_when)
        else:
            values = np.full(self.grid.bins + 1, np.nan)
        values.flags.writeable = False
        return values

    @cached_property
    def auc(self) -> float:
        """Area under the curve: chance that a random positive is ranked above a random negative, ties one half."""
        return points.area(self.fpr, self.tpr) if self.defined else math.nan

    @property
    def tie_bound(self) -> float:
        """Largest effect of the grid on the area: half the probability that a random pair shares a bin.

        It is estimated from the released curve, so it is noisy too; `auc_interval` accounts for that noise. NaN where
        the curve is not defined.
        """
        return points.tie_bound(self.fpr, self.tpr) if self.defined else math.nan

    def __call__(self, fpr: Any) -> Any:
        """Share of true positives at shares of false positives in [0, 1]; straight lines between thresholds.

        Raises:
            ParameterError: a share is outside [0, 1].
        """
        wanted = to_shares(fpr, "fpr")
        if not self.defined:
            values = np.full(wanted.shape, np.nan)
        else:
            values = points.value_after(self.fpr, self.tpr, wanted.ravel()).reshape(wanted.shape)
        return values.item() if values.ndim == 0 else values

    # Error

    @cached_property
    def _uncertainty(self) -> Uncertainty:
        total = self.total if self.budget == "joint" else None
        return Uncertainty(
            self.negatives,
            self.positives,
            total=total,
            positive_when=self.positive_when,
            rows_of_one=self.rows_of_one,
        )

    def auc_interval(self, confidence_level: float | None = None, *, target: Target = "population") -> AucInterval:
        """Compute a confidence interval for the area of the exact scores, not only of their bins.

        It includes noise, the effect of binning and, for the population, sampling error. The level is approximate and
        is tested by simulation.

        Args:
            confidence_level: Confidence level, above 0 and at most 0.9999; by default that of the statistic.
            target: "population" (from which the records were drawn) or "sample" (the records themselves).

        Raises:
            ParameterError: an argument is out of range.

        Privacy:
            Post-processing.
        """
        tail = _tail(self.confidence_level if confidence_level is None else confidence_level)
        _check_target(target)
        if not self.defined:
            return AucInterval(0.0, 1.0)
        return AucInterval(*self._uncertainty.interval(self.auc, tail, target))

    def test(self, *, alternative: Alternative = "two-sided") -> HypothesisTest:
        """Test that the score has the same distribution in both classes: Mann and Whitney's test, noise included.

        The statistic is the area under the curve before smoothing, one half if both are alike. Without noise the
        p-value is that of `scipy.stats.mannwhitneyu(method="asymptotic", use_continuity=False)` on the binned scores.
        With noise it counts sampling and noise together. Where class sizes are private it is the largest p-value of
        all sizes that the noise allows. One that simulated noise cannot show is an upper bound (`p_value_is_bound`).

        Args:
            alternative: "two-sided", "greater" (an area above one half) or "less".

        Raises:
            ParameterError: the alternative is unknown, or the release kept several records of a person.

        Privacy:
            Post-processing.

        Source:
            docs/proofs/significance.md.
        """
        among(alternative, "alternative", ALTERNATIVES)
        check_independent_records(self.provenance)
        method = _TESTED if self.private else _TESTED.removesuffix(", simulated noise")
        result = self._uncertainty.test(alternative) if self.defined else RankTest(math.nan, math.nan, math.nan)
        return HypothesisTest(
            hypothesis=f"{self.score} is distributed alike in both classes of {self.label.column}",
            name="AUC before smoothing" if self.private else "AUC",
            statistic=result.area,
            expected=0.5,
            standard_error=result.standard_error,
            p_value=result.p_value,
            alternative=alternative,
            method=f"{method}; {_WORST_SIZES}" if self.private and not self.public_labels else method,
            provenance=self.provenance,
            p_value_is_bound=result.bound,
        )

    def band(self, confidence_level: float = 0.95, *, target: Target = "population") -> RocBand:
        """Compute two curves that enclose the whole true ROC curve with at least the stated confidence.

        Args:
            confidence_level: Confidence level, above 0 and at most 0.9999.
            target: "population" (from which the records were drawn; includes sampling error and noise) or "sample"
                (the records themselves; includes noise only).

        Raises:
            ParameterError: an argument is out of range.

        Privacy:
            Post-processing.
        """
        tail = _tail(confidence_level)
        _check_target(target)
        if not self.defined:
            return whole_square(float(1 - tail), target)
        return self._uncertainty.band(tail, target)

    # Reading

    def partial_auc(
        self,
        max_fpr: float = 1.0,
        *,
        min_fpr: float = 0.0,
        confidence_level: float | None = None,
        target: Target = "population",
    ) -> PartialAuc:
        """Compute the area over a range of false positive rates, such as the beginning of the curve.

        Intervals come from the band of the whole curve, so those of all ranges hold at once; for the whole range it
        is that of `auc_interval`, which is narrower.

        Args:
            max_fpr: End of the range, above 0 and at most 1.
            min_fpr: Start of the range, at least 0 and below its end.
            confidence_level: Confidence level, above 0 and at most 0.9999; by default that of the statistic.
            target: "population" or "sample"; see `band`.

        Raises:
            ParameterError: an argument is out of range.

        Privacy:
            Post-processing.

        Source:
            McClish 1989; docs/proofs/roc.md.
        """
        start, end = points.checked_range(min_fpr, max_fpr)
        level = self.confidence_level if confidence_level is None else confidence_level
        if (start, end) == (0.0, 1.0):
            value, ends = self.auc, tuple(self.auc_interval(level, target=target))
        else:
            ends = points.area_ends(self.band(level, target=target), start, end)
            value = points.partial_area(self.fpr, self.tpr, start, end) if self.defined else math.nan
        return PartialAuc(start, end, *points.around(value, *ends), float(level), target)

    def sensitivity_at(
        self,
        specificity: float,
        *,
        confidence_level: float | None = None,
        target: Target = "population",
        simultaneous: bool = False,
    ) -> Rate:
        """Compute the sensitivity at a fixed specificity, with an interval for this one number.

        The level of a pointwise interval is approximate, and is that of one rate which was chosen beforehand. Where
        several are shown together, or one is chosen after a look at the curve, take simultaneous ones.

        Args:
            specificity: Share of the negatives that are not called positive, in [0, 1].
            confidence_level: Confidence level, above 0 and at most 0.9999; by default that of the statistic.
            target: "population" or "sample"; see `band`.
            simultaneous: Whether intervals of all rates hold at once, those of the band of the whole curve, which are
                wider; else each holds by itself.

        Raises:
            ParameterError: an argument is out of range.

        Privacy:
            Post-processing.

        Source:
            docs/proofs/roc.md.
        """
        fpr = 1 - points.checked_rate(specificity, "specificity")
        level = self.confidence_level if confidence_level is None else confidence_level
        low, high = self._pointwise(0, fpr, level, target, simultaneous) or self.band(level, target=target)(fpr)
        tpr = points.highest_within(self.fpr, self.tpr, fpr) if self.defined else math.nan
        return points.around(tpr, float(low), float(high))

    def specificity_at(
        self,
        sensitivity: float,
        *,
        confidence_level: float | None = None,
        target: Target = "population",
        simultaneous: bool = False,
    ) -> Rate:
        """Compute the largest specificity at which the curve reaches a sensitivity, with an interval for this number.

        Its level is that of `sensitivity_at`.

        Args:
            sensitivity: Share of the positives that are called positive, in [0, 1].
            confidence_level: Confidence level, above 0 and at most 0.9999; by default that of the statistic.
            target: "population" or "sample"; see `band`.
            simultaneous: As of `sensitivity_at`.

        Raises:
            ParameterError: an argument is out of range.

        Privacy:
            Post-processing.
        """
        tpr = points.checked_rate(sensitivity, "sensitivity")
        level = self.confidence_level if confidence_level is None else confidence_level
        ends = self._pointwise(1, tpr, level, target, simultaneous)
        least, most = ends or points.rate_ends(self.band(level, target=target), tpr)
        fpr = points.first_reaching(self.fpr, self.tpr, tpr) if self.defined else math.nan
        return points.around(1 - fpr, 1 - most, 1 - least)

    def _pointwise(
        self, k: int, rate: float, confidence_level: float, target: Target, simultaneous: bool
    ) -> tuple[float, float] | None:
        """Ends of the other class's rate where that of class `k` is this; None where those of the band are wanted."""
        tail = _tail(confidence_level)
        _check_target(target)
        if simultaneous or not self.defined or rate in (0.0, 1.0) or not (self.private or target == "population"):
            return None
        return self._uncertainty.rate_ends(k, rate, tail, target)

    def precision_recall(self) -> points.PrecisionRecall:
        """Precision and recall at every threshold, from the same two curves.

        Raises:
            ParameterError: a class has no records.
        """
        self._need_classes("precision and recall")
        return points.precision_recall(self.thresholds, self.fpr, self.tpr, *self.classes)

    def lift(self) -> points.Lift:
        """Gain and lift at every threshold, from the same two curves.

        Raises:
            ParameterError: a class has no records.
        """
        self._need_classes("lift")
        return points.lift(self.thresholds, self.fpr, self.tpr, *self.classes)

    def precision_recall_band(
        self, confidence_level: float = 0.95, *, target: Target = "population"
    ) -> PrecisionRecallBand:
        """Compute a simultaneous band for precision and recall with at least the stated confidence.

        For the population, the records must be a random sample of it. In a case-control study the classes were
        selected, so the records carry no information on prevalence and precision.

        Args:
            confidence_level: Confidence level, above 0 and at most 0.9999.
            target: "population" or "sample"; see `band`.

        Raises:
            ParameterError: an argument is out of range, or a class has no records.

        Privacy:
            Post-processing.

        Source:
            docs/proofs/roc.md.
        """
        fpr, tpr, prevalence, level = self._readings(confidence_level, target, "precision and recall")
        precision = uncertainty.precision_ends(fpr, tpr, prevalence)
        return PrecisionRecallBand(self.thresholds, tpr, precision, prevalence, level, target)

    def lift_band(self, confidence_level: float = 0.95, *, target: Target = "population") -> LiftBand:
        """Compute a simultaneous band for gain and lift with at least the stated confidence.

        Args:
            confidence_level: Confidence level, above 0 and at most 0.9999.
            target: "population", of which the records must be a random sample, or "sample"; see `band`.

        Raises:
            ParameterError: an argument is out of range, or a class has no records.

        Privacy:
            Post-processing.

        Source:
            docs/proofs/roc.md.
        """
        fpr, tpr, prevalence, level = self._readings(confidence_level, target, "lift")
        flagged, lift = (make(fpr, tpr, prevalence) for make in (uncertainty.flagged_ends, uncertainty.lift_ends))
        return LiftBand(self.thresholds, flagged, tpr, lift, prevalence, level, target)

    def _readings(
        self, confidence_level: float, target: Target, what: str
    ) -> tuple[uncertainty.Ends, uncertainty.Ends, uncertainty.Prevalence, float]:
        tail = _tail(confidence_level)
        _check_target(target)
        self._need_classes(what)
        return *self._uncertainty.readings(tail, target), float(1 - tail)

    def _need_classes(self, what: str) -> None:
        if not self.defined:
            raise ParameterError(f"{what} is not defined: a class has no records, or noise may account for it")

    def distance(self, other: RocEstimate) -> float:
        """Area between two ROC curves, in [0, 1]; NaN where one is not defined."""
        if not (self.defined and other.defined):
            return math.nan
        return points.distance(self.fpr, self.tpr, other.fpr, other.tpr)

    def noise_share(self) -> float:
        """The larger of both classes' curves."""
        return max(self.negatives.noise_share(), self.positives.noise_share())

    def errors(self, truth: RocEstimate) -> dict[str, float]:
        """Distances from another curve.

        Returns:
            auc: Absolute difference of the areas under the curves.
            l1: Area between the curves.
        """
        return {"auc": abs(self.auc - truth.auc), "l1": self.distance(truth)}

    # Showing and storing

    @property
    def caption(self) -> str:
        """The guarantee in a clause, or "not private"."""
        if self.private and self.provenance is None:
            return f"private, {self.adjacency.words}"
        return super().caption

    def plot(
        self,
        ax: Any = None,
        *,
        confidence_level: float | None = 0.95,
        target: Target = "population",
        **style: Unpack[Style],
    ) -> Any:
        """Draw the curve and its band; returns matplotlib axes.

        Args:
            ax: Axes to draw into; new ones by default.
            confidence_level: Confidence level of the band; None for no band.
            target: Target of the band, "population" or "sample".
            style: Of the curve; see `ogive.plots.Style`.
        """
        options: dict[str, Any] = {"confidence_level": confidence_level, "target": target}
        return self.view().draw(ax, **options, **style)

    def plot_precision_recall(
        self,
        ax: Any = None,
        *,
        confidence_level: float | None = 0.95,
        target: Target = "population",
        **style: Unpack[Style],
    ) -> Any:
        """Draw precision against recall with its band; returns matplotlib axes.

        Args:
            ax: Axes to draw into; new ones by default.
            confidence_level: Confidence level of the band; None for no band.
            target: Target of the band, "population" or "sample".
            style: Of the curve; see `ogive.plots.Style`.

        Raises:
            ParameterError: matplotlib is not installed, an argument is out of range, or a class has no records.
        """
        band = None if confidence_level is None else self.precision_recall_band(confidence_level, target=target)
        return room(type(self), "view").draw_precision_recall(self, self.precision_recall(), band, ax, **style)

    def plot_lift(
        self,
        ax: Any = None,
        *,
        confidence_level: float | None = 0.95,
        target: Target = "population",
        **style: Unpack[Style],
    ) -> Any:
        """Draw lift against the share of records called positive, with its band; returns matplotlib axes.

        Args:
            ax: Axes to draw into; new ones by default.
            confidence_level: Confidence level of the band; None for no band.
            target: Target of the band, "population" or "sample".
            style: Of the curve; see `ogive.plots.Style`.

        Raises:
            ParameterError: matplotlib is not installed, an argument is out of range, or a class has no records.
        """
        band = None if confidence_level is None else self.lift_band(confidence_level, target=target)
        return room(type(self), "view").draw_lift(self, self.lift(), band, ax, **style)

    def to_dict(self) -> dict[str, Any]:
        """Plain data of an estimate; its provenance is written once."""
        return {
            "schema": self.schema,
            "label": self.label.to_dict(),
            "positive_when": self.positive_when,
            "total": self.total,
            "budget": self.budget,
            "confidence_level": self.confidence_level,
            "negatives": {**self.negatives.to_dict(), "provenance": None},
            "positives": {**self.positives.to_dict(), "provenance": None},
            "provenance": None if self.provenance is None else self.provenance.to_dict(),
        }

    @classmethod
    def _read(cls, data: Any) -> Self:
        known = Fields.of(data, cls.schema, cls.article, _NEEDED)
        label, curve = known.label(), data["negatives"]
        sizes = isinstance(curve, dict) and curve.get("total") is not None
        provenance = known.provenance(*((label.column,) if sizes else ()))
        return cls(
            label=label,
            positive_when=known.text("positive_when"),
            total=known.total(),
            budget=known.text("budget"),
            confidence_level=known.chance("confidence_level"),
            negatives=_class_curve(data["negatives"], provenance),
            positives=_class_curve(data["positives"], provenance),
            provenance=provenance,
        )


def _tail(confidence_level: float) -> Fraction:
    return 1 - check_level(confidence_level)


def _check_target(target: Target) -> None:
    among(target, "target", TARGETS)


_NEEDED = (
    "label", "positive_when", "total", "budget", "confidence_level", "negatives", "positives", "provenance",
)  # fmt: skip


def _class_curve(data: Any, provenance: Provenance | None) -> Curve:
    if isinstance(data, dict) and data.get("provenance") is not None:
        raise DataError("the curves of the classes have no provenance of their own")
    curve = dataclasses.replace(Curve.from_dict(data), provenance=provenance)
    check_price(provenance, [(curve.strategy, curve.adjacency)])
    return curve


# --- How ROC curves are planned: errors of each class's counts hold for all records, that of the area is simulated


class RocPrediction(Prediction):
    """Errors of the counts of each class before smoothing; of the area by simulation."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        **{name: CURVE_METRICS[name] for name in ("rmse", "ks", "ks_95")},
        "auc": Metric("AUC", "root mean squared difference of private and exact AUC, simulated", squared=True),
        "l1": Metric("area", "area between private and exact ROC curve, on average, simulated"),
    }
    deciding = ("auc", "ks", "rmse")
    labeled = True

    @classmethod
    def closer(cls, trusted: Collection[str], adjacency: Adjacency) -> str | None:
        """The area alone, whose noise is added to two sums over pairs instead of all counts."""
        if "central" not in trusted or adjacency is not Adjacency.REPLACE:
            return None
        return (
            "for the AUC without the curve, ustatistic with `kernel='auc'` errs less, by a third from 100 thresholds on"
        )

    def errors(self) -> Errors:
        """Errors of the counts of each class."""
        return class_errors(cast(ClassCurvesQuery, self.queries[-1]), cast(Any, self.statistic).budget, self.setting)
