"""A released calibration test: the Hosmer-Lemeshow statistic, its p-value, and the groups behind it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self, cast

import numpy as np
from scipy.special import chdtrc

from ogive.columns import Binning, Label
from ogive.columns.grids import Grid
from ogive.core.arrays import Float64, Int64
from ogive.errors import DataError, ParameterError
from ogive.provenance import Provenance
from ogive.queries import GroupSumsQuery
from ogive.queries.aggregates import MAX_FRACTIONAL_BITS, GroupSums
from ogive.queries.sums import FORMS
from ogive.statistics.base import Estimate
from ogive.statistics.calibration.sums import (
    CONSTANTS,
    SMALLEST_P_VALUE,
    Measured,
    Moments,
    Sums,
    Within,
    bootstrap_p_value,
    computed_p_value,
    debiased,
    share_intervals,
    simulations_of,
    statistic,
)
from ogive.statistics.confidence import check_level
from ogive.statistics.curve.estimate import Curve, read_grid
from ogive.statistics.plain_json import Fields, agreeing, check_price, finite, is_number, is_whole, noise_law
from ogive.statistics.prediction import Errors, Metric, Prediction

SURPRISING = 0.05
"""P-values below this are surprising under perfect calibration."""

_USELESS = 0.5
"""Groups whose intervals are wider than this on average carry little information: half of the range."""


@dataclass(frozen=True)
class CalibrationGroup:
    """One group of records with similar predicted probabilities, above `low` and at most `high`.

    Fields:
        low, high: Public ends of the group; the first group also holds 0.
        expected, observed: Estimated counts of negatives and positives; noise may make them negative.
        mean_predicted: Estimated mean probability, within the group's ends; NaN where no records are seen.
        observed_share: Estimated share of positives, in [0, 1]; NaN where no records are seen.
        interval: Ends for the chance of a positive label, which hold for all groups at once.
    """

    low: float
    high: float
    expected: tuple[float, float]
    observed: tuple[float, float]
    mean_predicted: float
    observed_share: float
    interval: tuple[float, float]

    @property
    def stands_out(self) -> bool:
        """Whether the interval does not hold the mean predicted probability."""
        return not math.isnan(self.mean_predicted) and not self.interval[0] <= self.mean_predicted <= self.interval[1]


@dataclass(frozen=True, eq=False)
class Reliability:
    """Observed against predicted shares, one point a group, shape (Q,) each.

    Fields:
        mean_predicted, observed_share: The points; NaN where no records are seen.
        low, high: Ends of the intervals of the observed shares.
        confidence_level: Probability that all intervals hold at once.
    """

    mean_predicted: Float64
    observed_share: Float64
    low: Float64
    high: Float64
    confidence_level: float


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Estimate):
    """Agreement of predicted probabilities with labels, per group and as one statistic.

    Fields:
        curve: Distribution of the probabilities, which determines the groups.
        label: Column and values that make a record positive.
        bounds: Thresholds of the groups, from 0 to 1.
        values: Noisy measurements of the groups, whole numbers, shape (4 or 3, Q); see `GroupSumsQuery`.
        measured: Form and noise of the measurements.
        total: Number of records if public, else None.
        p_value: Probability of a statistic at least as large under perfect calibration with the noise, or a bound of it
            (`p_value_is_bound`); NaN where the statistic is not defined. Valid for a model that was fitted on other
            records.
        degrees_of_freedom: Degrees of freedom of the chi-square reference.
        floor: Smallest expected count to divide by.
        confidence_level: Confidence level of the groups' intervals.
        provenance: Origin of the release: statistic, price and trust model; None until released.

    Raises:
        ParameterError: shapes do not fit, or a number is out of range.
    """

    schema: ClassVar[str] = "ogive.calibration/1"
    article: ClassVar[str] = "a calibration"

    curve: Curve
    label: Label
    bounds: Grid
    values: Int64
    measured: Measured
    total: int | None
    p_value: float
    degrees_of_freedom: int
    floor: float = 1.0
    confidence_level: float = 0.95
    provenance: Provenance | None = None

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.int64)
        if values.shape != (self.measured.rows, self.bounds.bins):
            raise ParameterError(
                f"{self.bounds.bins} groups need values of shape ({self.measured.rows}, {self.bounds.bins}), "
                f"got {values.shape}"
            )
        if not (math.isnan(self.p_value) or 0 <= self.p_value <= 1):
            raise ParameterError(f"a p-value is between 0 and 1, got {self.p_value}")
        grid = self.curve.grid
        if (grid.unit, grid.low, grid.high) != ("number", 0, 1):
            raise ParameterError("the curve of a calibration must be one of probabilities, from 0 to 1")
        if not np.isin(self.bounds.thresholds, grid.thresholds).all():
            raise ParameterError("the groups' ends must be thresholds of the curve")
        check_level(self.confidence_level)
        if (self.measured.expected is None) is self.curve.private:
            raise ParameterError("either both the curve and the sums carry noise or neither")
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Calibration):
            return NotImplemented
        names = [field.name for field in dataclasses.fields(self) if field.name not in ("values", "p_value")]
        return (
            all(getattr(self, name) == getattr(other, name) for name in names)
            and np.array_equal(self.values, other.values)
            and (self.p_value == other.p_value or (math.isnan(self.p_value) and math.isnan(other.p_value)))
        )

    def __hash__(self) -> int:
        return hash((self.bounds, self.values.tobytes()))

    def with_provenance(self, provenance: Provenance) -> Self:
        """Return the same estimate with its provenance."""
        return dataclasses.replace(self, provenance=provenance, curve=self.curve.with_provenance(provenance))

    def with_p_value(self) -> Self:
        """The same estimate with its p-value computed, or simulated where four counts were measured."""
        if not self.defined:
            return dataclasses.replace(self, p_value=math.nan)
        known = self.statistic, self.sums, self._within, self.measured
        if self.measured.form == "difference":
            return dataclasses.replace(self, p_value=computed_p_value(*known, floor=self.floor))
        return dataclasses.replace(self, p_value=bootstrap_p_value(*known, total=self.total, floor=self.floor))

    @property
    def p_value_is_bound(self) -> bool:
        """Whether the p-value is the smallest that is told, so that a smaller one may be true."""
        return self.p_value <= SMALLEST_P_VALUE or self.p_value == 1 / (simulations_of(self.bounds.bins) + 1)

    # The test

    @cached_property
    def _within(self) -> Within:
        return Within.of(self.curve, self.bounds.thresholds)

    @cached_property
    def _moments(self) -> Moments:
        return Moments.of(self.curve, self._within)

    @cached_property
    def _measured_sums(self) -> Sums:
        return self.measured.consistent(self.values, self.total)

    @cached_property
    def sums(self) -> Sums:
        """Expected and observed counts of every group, made to agree with each other and with the curve."""
        return self._within.sharpened(self._measured_sums, self.measured)

    @property
    def probability(self) -> str:
        """Column of the predicted probabilities."""
        return self.curve.column

    @property
    def private(self) -> bool:
        """Whether noise was added."""
        return self.curve.private

    @property
    def defined(self) -> bool:
        """Whether in any group the expected counts of both classes exceed the floor."""
        return bool(np.any(np.all(self.sums.expected > self.floor, axis=0)))

    @property
    def rejected(self) -> bool:
        """Whether so large a statistic is surprising under perfect calibration."""
        return self.p_value < SURPRISING

    @property
    def too_wide(self) -> bool:
        """Whether noise makes the intervals of the groups half as wide as all shares: almost any model agrees then.

        Not where the test rejects the model all the same.
        """
        if not self.private or not self.defined:
            return self.private
        if self.rejected:
            return False
        return float(np.mean([group.interval[1] - group.interval[0] for group in self.groups])) >= _USELESS

    @property
    def statistic(self) -> float:
        """Hosmer and Lemeshow's statistic of the published sums; NaN where not defined.

        Noise increases it. `debiased_statistic` corrects part of the increase, and `p_value` accounts for the noise.
        """
        if not self.defined:
            return math.nan
        return float(statistic(self.sums.difference, self.sums.expected, self.floor))

    @property
    def debiased_statistic(self) -> float:
        """The statistic with each squared difference reduced by the noise variance, and not below 0.

        It is closer to the statistic without noise, and still larger on average, since no group contributes less than
        0. NaN where not defined.
        """
        if not self.defined:
            return math.nan
        variance = self.measured.difference_variance
        return debiased(self.sums.difference, self.sums.expected, self.floor, variance)

    @property
    def chi_square_p_value(self) -> float:
        """P-value of the statistic by the chi-square law, which ignores the noise; not valid at small epsilon."""
        if not self.defined:
            return math.nan
        return float(chdtrc(self.degrees_of_freedom, self.statistic))

    # The groups

    @cached_property
    def groups(self) -> tuple[CalibrationGroup, ...]:
        """The groups in order of probability."""
        low = [self.bounds.low, *self.bounds.thresholds[:-1].tolist()]
        points = self.reliability()
        columns = (points.mean_predicted, points.observed_share, points.low, points.high)
        return tuple(
            CalibrationGroup(low[q], float(high), _pair(expected), _pair(observed), mean, share, (start, end))
            for q, (high, expected, observed, mean, share, start, end) in enumerate(
                zip(
                    self.bounds.thresholds,
                    self.sums.expected.T,
                    self.sums.observed.T,
                    *(column.tolist() for column in columns),
                    strict=True,
                )
            )
        )

    @cached_property
    def _points(self) -> tuple[Float64, Float64]:
        """Mean predicted probability and observed share of each group."""
        records = self.sums.expected.sum(axis=0)
        seen = records > 0
        scale = np.where(seen, records, 1.0)
        mean = np.where(seen, np.clip(self.sums.expected[1] / scale, self._within.low, self._within.high), np.nan)
        return mean, np.where(seen, np.clip(self.sums.observed[1] / scale, 0.0, 1.0), np.nan)

    def reliability(self, confidence_level: float | None = None, *, simultaneous: bool = True) -> Reliability:
        """Observed against predicted shares, with intervals that include noise and sampling error.

        Args:
            confidence_level: Confidence level of the intervals; by default that of the estimate.
            simultaneous: Whether the level is that of all intervals together, or of each one.

        Raises:
            ParameterError: the level is not above 0 and at most 0.9999.
        """
        level = self.confidence_level if confidence_level is None else confidence_level
        mean, share = map(np.copy, self._points)
        low, high = share_intervals(
            self.values,
            self._within,
            self.measured,
            self._moments,
            confidence_level=level,
            rows_of_one=self.rows_of_one,
            simultaneous=simultaneous,
        )
        return Reliability(mean, share, np.fmin(low, share), np.fmax(high, share), confidence_level=level)

    def noise_share(self) -> float:
        """The noise share of the curve of probabilities; 0 where the test rejects the model all the same."""
        return 0.0 if self.rejected else self.curve.noise_share()

    def errors(self, truth: Calibration) -> dict[str, float]:
        """Distances from the exact test, whose groups may have other limits.

        Between the exact groups, shares are interpolated by mean probability.

        Returns:
            statistic: Difference of the debiased and the exact statistic, relative to the exact one.
            observed: Largest difference of an observed share from the exact ones; NaN if no group is defined.
        """
        exact = truth.statistic
        gap = abs(self.debiased_statistic - exact)
        (across, mine), (known_at, theirs) = self._points, truth._points
        known, seen = ~np.isnan(theirs), ~np.isnan(mine)
        observed = math.nan
        if known.any() and seen.any():
            line = np.interp(across[seen], known_at[known], theirs[known])
            observed = float(np.abs(mine[seen] - line).max())
        return {"statistic": gap / exact if exact > 0 else (0.0 if gap == 0 else math.inf), "observed": observed}

    def to_dict(self) -> dict[str, Any]:
        """Plain data; `results` follow from the other fields and are not read back."""
        measured = self.measured
        return {
            "schema": self.schema,
            "curve": self.curve.to_dict(),
            "label": self.label.to_dict(),
            "bounds": self.bounds.to_dict(),
            "form": measured.form,
            "bits": measured.bits,
            "constants": measured.constants,
            "expected_noise": None if measured.expected is None else measured.expected.to_dict(),
            "observed_noise": None if measured.observed is None else measured.observed.to_dict(),
            "values": self.values.tolist(),
            "total": self.total,
            "p_value": finite(self.p_value),
            "degrees_of_freedom": self.degrees_of_freedom,
            "floor": self.floor,
            "confidence_level": self.confidence_level,
            "results": agreeing(self, self.results()),
            "provenance": None if self.provenance is None else self.provenance.to_dict(),
        }

    def results(self) -> dict[str, Any]:
        """The test, and each group; None where there is no number."""
        rows = [
            {
                "low": group.low,
                "high": group.high,
                "expected": list(group.expected),
                "observed": list(group.observed),
                "mean_predicted": finite(group.mean_predicted),
                "observed_share": finite(group.observed_share),
                "interval": list(group.interval),
            }
            for group in self.groups
        ]
        return {
            "defined": self.defined,
            "statistic": finite(self.statistic),
            "debiased_statistic": finite(self.debiased_statistic),
            "chi_square_p_value": finite(self.chi_square_p_value),
            "groups": rows,
        }

    @classmethod
    def _read(cls, data: Any) -> Self:
        known = Fields.of(data, cls.schema, cls.article, _NEEDED)
        bounds = read_grid(data["bounds"])
        if bounds.low != 0 or bounds.high != 1 or bounds.unit != "number":
            raise DataError("the groups of a calibration must reach from 0 to 1")
        measured = _measured(data)
        freedom, floor, p_value = data["degrees_of_freedom"], data["floor"], data["p_value"]
        if not (is_whole(freedom) and freedom >= 1):
            raise DataError("the field 'degrees_of_freedom' of a calibration must be a whole number of at least 1")
        if not (is_number(floor) and floor > 0):
            raise DataError("the field 'floor' of a calibration must be a number above 0")
        if p_value is not None and not (is_number(p_value) and 0 <= p_value <= 1):
            raise DataError("the field 'p_value' of a calibration must be between 0 and 1, or null")
        curve, provenance = Curve.from_dict(data["curve"]), known.provenance()
        label, sums = known.label(), None
        if measured.expected is not None and measured.observed is not None:
            groups = GroupSums(Binning(curve.column, bounds, "refuse"), label, measured.bits)
            sums = GroupSumsQuery(groups, measured.expected, measured.observed, measured.form)
        if curve.provenance != provenance:
            raise DataError("the curve of this calibration is of another release")
        check_price(provenance, [(curve.strategy, curve.adjacency)], None if sums is None else sums.price)
        estimate = cls(
            curve=curve,
            label=label,
            bounds=bounds,
            values=_values(data["values"], measured.rows, bounds.bins),
            measured=measured,
            total=known.total(),
            p_value=math.nan if p_value is None else float(p_value),
            degrees_of_freedom=freedom,
            floor=float(floor),
            confidence_level=known.chance("confidence_level"),
            provenance=provenance,
        )
        vars(estimate)["_results"] = data.get("results")
        return estimate


def _pair(counts: Float64) -> tuple[float, float]:
    negatives, positives = counts.tolist()
    return negatives, positives


# --- Plain data, which need not be trusted

_ALIKE = 1e-9  # numbers that differ by less are of another library

_NEEDED = (
    *("curve", "label", "bounds", "form", "bits", "constants", "expected_noise", "observed_noise", "values", "total"),
    *("p_value", "degrees_of_freedom", "floor", "confidence_level", "provenance"),
)


def _measured(data: dict[str, Any]) -> Measured:
    if data["form"] not in FORMS:
        raise DataError(f"the form of a calibration must be one of {', '.join(FORMS)}")
    if data["constants"] not in CONSTANTS:
        raise DataError(f"the constants of a calibration must be one of {', '.join(CONSTANTS)}")
    if not (is_whole(data["bits"]) and 0 <= data["bits"] <= MAX_FRACTIONAL_BITS):
        raise DataError(f"the bits of a calibration must be a whole number from 0 to {MAX_FRACTIONAL_BITS}")
    expected, observed = (noise_law(data[name], "a calibration") for name in ("expected_noise", "observed_noise"))
    if type(expected) is not type(observed):
        raise DataError("expected and observed sums must have noise of one kind, or none")
    return Measured(data["form"], data["bits"], expected, observed, data["constants"])


def _values(data: Any, rows: int, groups: int) -> Any:
    shaped = isinstance(data, list) and len(data) == rows
    if not shaped or not all(isinstance(row, list) and len(row) == groups and all(map(is_whole, row)) for row in data):
        raise DataError(f"the values of a calibration must be {rows} lists of {groups} whole numbers")
    return np.array(data, dtype=np.int64)


# --- How calibration tests are planned: by the noise on a group's observed minus expected labels


class HosmerLemeshowPrediction(Prediction):
    """Errors that hold for all records; with records given, those of the statistic by simulation."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        "difference": Metric(
            "D", "standard deviation of the noise on a group's observed minus expected labels, in records"
        ),
        "visible": Metric(
            "visible",
            "smallest miscalibration of one group that is detected through the noise with 95 % confidence, as a "
            "share of it",
        ),
        "observed": Metric("observed", "largest error of a group's observed share, simulated", squared=True),
        "statistic": Metric("statistic", "relative error of the debiased statistic, simulated", squared=True),
    }
    deciding = ("visible",)
    labeled = True
    runs = 40  # every release simulates a reference of its own

    decided = True

    def errors(self) -> Errors:
        """Noise on observed minus expected labels of a group, and the smallest miscalibration that stands out of it."""
        test: Any = self.statistic
        sums = Measured.of(cast(GroupSumsQuery, self.queries[-1]), noisy=True, constants=test.constants)
        spread = math.sqrt(sums.difference_variance)
        return Errors({"difference": spread, "visible": 1.96 * spread * test.groups / self.setting.records})
