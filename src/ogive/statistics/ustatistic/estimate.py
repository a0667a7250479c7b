"""A pairwise statistic with the three parts of its error: randomization, sampling and quantization."""

from __future__ import annotations

import dataclasses
import itertools
import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri, stdtr

from ogive.core.checks import among
from ogive.errors import DataError, ParameterError, quoted
from ogive.kernels.measures import CollisionEntropy
from ogive.kernels.ranks import in_order_variance, kendall_variance
from ogive.privacy import PureDP
from ogive.provenance import CLEAR, Provenance
from ogive.queries.kernels import MISSED
from ogive.statistics.base import OF_RANGE, Estimate
from ogive.statistics.confidence import TARGETS, Target, check_level
from ogive.statistics.plain_json import Fields, finite, is_number, is_text, is_whole
from ogive.statistics.significance import (
    ALTERNATIVES,
    Alternative,
    HypothesisTest,
    check_independent_records,
    exact_p_value,
    testable,
)

# --- The reach of an interval, for a normal error S of deviation s with a Laplace part E of scale b
#
#     P(S + E > t) = Q(t / s) + (exp(a - t / b) Phi(t / s - s / b) - exp(a + t / b) Q(t / s + s / b)) / 2,
#
# with a = s^2 / 2b^2, Phi the distribution function of a standard normal variable and Q = 1 - Phi.

# below this part of the normal deviation a Laplace scale changes the quantile by less than 1e-11 of itself
_NEGLIGIBLE = 1e-3


def normal_reach(level: float, deviation: float) -> float:
    """The distance that a normal error exceeds with probability 1 - level."""
    return float(ndtri((1 + level) / 2)) * deviation


def laplace_reach(level: float, normal: float, laplace: float) -> float:
    """The distance that a normal and a Laplace error together exceed with probability 1 - level, or a normal one.

    The larger of the two: where several Laplace variables make the noise, as in ratios, its law is between them.
    """
    least, scale = normal_reach(level, math.hypot(normal, laplace)), laplace / math.sqrt(2)
    half = (1 - level) / 2
    if scale <= _NEGLIGIBLE * normal or _beyond(least, normal, scale) <= half:
        return least
    # where either part is beyond its own bound with half of the probability, the sum is with at most all of it
    low, high = least, max(least, normal_reach(1 - half, normal) - scale * math.log(half))
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if _beyond(middle, normal, scale) > half else (low, middle)
    return high


def _beyond(t: float, normal: float, scale: float) -> float:
    """P(S + E > t)."""
    if normal <= 0:
        return math.exp(-t / scale) / 2
    z, ratio = t / normal, normal / scale
    tilt = ratio * ratio / 2
    near = math.exp(tilt - t / scale + float(log_ndtr(z - ratio)))
    far = math.exp(tilt + t / scale + float(log_ndtr(-z - ratio)))
    return float(ndtr(-z)) + (near - far) / 2


TITLES = {
    "gini": "Gini mean difference",
    "gini_coefficient": "Gini coefficient",
    "variance": "Variance",
    "collision": "Collision entropy",
    "collision_probability": "Collision probability",
    "kendall": "Kendall's tau-a",
    "kendall_b": "Kendall's tau-b",
    "gamma": "Goodman and Kruskal's gamma",
    "auc": "AUC",
    "auc_private": "AUC",
    "vus": "Volume under the ROC surface",
}
"""What people call the measures."""

MOST_SURE = 1 - MISSED  # level from which intervals that may miss a clipped value have one end


@dataclass(frozen=True)
class KernelMean:
    """The mean of one kernel over all pairs of different records, of which the value is made.

    Fields:
        kernel: Name of the kernel.
        value: Its mean, unbiased, so it may lie outside the kernel's range.
        randomization_error: Standard deviation of what the noise did to it.
    """

    kernel: str
    value: float
    randomization_error: float


@dataclass(frozen=True, repr=False)
class UstatisticEstimate(Estimate):
    """A statistic of pairs of records, such as Gini, Kendall's tau or an AUC.

    Fields:
        kernel: Name of the measure, for example "kendall".
        columns: The columns that were used.
        method: Method of the release: "exact", "kernel", "cells", "degrees", "krr", "unary", "haar", "hierarchy" or
            "paired".
        value: The statistic; NaN where a denominator is not positive, because of noise or of the records.
        means: Means of kernels from which the value was computed; empty if it was computed otherwise.
        randomization_error: Standard deviation of the noise, given the records; for ratios of means by the delta
            method.
        sampling_error: Standard deviation of the exact statistic around that of the population, or an upper bound of
            it (see `sampling_is_a_bound`); None if it could not be estimated.
        quantization: Largest change of the value by rounding to bins, whatever the values within bins; estimated from
            the same answer. 0 without rounding.
        limits: Smallest and largest possible value.
        bins: Numbers of bins or categories of the columns; empty without rounding.
        records: Number of records; None where it is private.
        classes: Number of records of each class, if public; else None.
        clipped: Whether a mean was clipped to the nearest value for which the statistic is defined.
        confidence_level: Confidence level of the printed interval.
        provenance: Origin of the release: statistic, price and trust model.
        null_variance: Without noise, variance of the first mean if the columns are independent, with the ties of these
            records; None where there is noise, or of other measures than Kendall's tau and an AUC.
        taken_as_normal: Whether intervals take Laplace noise for normal, as those did that were stored before December
            2026. Stored estimates keep the interval that they were stored with.
    """

    schema: ClassVar[str] = "ogive.ustatistic/1"
    article: ClassVar[str] = "a U-statistic"
    indent: ClassVar[int | None] = 1

    kernel: str
    columns: tuple[str, ...]
    method: str
    value: float
    means: tuple[KernelMean, ...]
    randomization_error: float
    sampling_error: float | None
    quantization: float
    limits: tuple[float, float]
    bins: tuple[int, ...]
    records: int | None
    classes: tuple[int, ...] | None = None
    clipped: bool = False
    confidence_level: float = 0.95
    provenance: Provenance | None = None
    null_variance: float | None = None
    taken_as_normal: bool = False

    @property
    def defined(self) -> bool:
        """Whether the value is defined; noise, or records that are all equal, can leave a ratio undefined."""
        return math.isfinite(self.value)

    @property
    def private(self) -> bool:
        """Whether the value carries noise."""
        return self.method != "exact" if self.provenance is None else self.provenance.trust != CLEAR

    @property
    def noise_is_laplace(self) -> bool:
        """Whether the noise of each mean is one Laplace variable, not a normal one and no sum of many."""
        source = self.provenance
        return self.method in ("kernel", "degrees") and source is not None and isinstance(source.price, PureDP)

    @property
    def sampling_is_a_bound(self) -> bool:
        """Whether `sampling_error` is an upper bound, because one mean does not determine the variance of pairs."""
        return self.method in ("exact", "kernel", "degrees")

    @property
    def sampling_is_included(self) -> bool:
        """Whether `randomization_error` includes the sampling error, which disjoint pairs do not separate."""
        return self.method == "paired" and self.sampling_error is None

    @property
    def standard_error(self) -> float:
        """Standard deviation around the population's value, up to `quantization`, which is a bias.

        It includes randomization and sampling, or randomization only if `sampling_error` is None.
        """
        return math.hypot(self.randomization_error, self.sampling_error or 0.0)

    @property
    def total_error(self) -> float:
        """Root of the squares of `standard_error` and `quantization`: at most the root mean squared error.

        It includes no sampling error if `sampling_error` is None.
        """
        return math.hypot(self.standard_error, self.quantization)

    @property
    def noise_beside(self) -> str:
        """The range of the value."""
        return OF_RANGE

    def noise_share(self) -> float:
        """Standard deviation of the noise, as a share of the distance of the smallest and the largest possible value.

        0 where that is infinite, or sampling is not told apart from noise, or there is no value.
        """
        low, high = self.limits
        if not self.defined or self.sampling_is_included or not 0 < high - low < math.inf:
            return 0.0
        return self.randomization_error / (high - low)

    @property
    def possible(self) -> bool:
        """Whether the value is within the possible range, up to rounding; noise can move it outside."""
        low, high = self.limits
        if not self.private or not self.defined or low <= self.value <= high:
            return True
        return any(math.isclose(self.value, limit, rel_tol=1e-9, abs_tol=1e-12) for limit in self.limits)

    def interval(self, confidence_level: Any = None, *, target: Target = "population") -> tuple[float, float]:
        """Confidence interval, widened by `quantization` on either side.

        Sampling is taken as normal. So is noise, unless it is one Laplace variable a mean: then the end is at the
        quantile of a normal and a Laplace variable together, or of a normal one if that is farther out.

        The interval of a collision entropy is computed for the probability, then transformed. In simulations, 93 to 97
        percent of the 95 % intervals from reports contained the true value. Coverage is higher for ratios with a noisy
        denominator, and as low as 88 percent for Gini's mean difference where the noise is a tenth to a sixth of the
        range (docs/proofs/pairwise.md gives the reason).

        Method "degrees" may clip a frequent value, with a probability of at most 0.001, and is then too small. Its
        intervals have room for that. Above a level of 0.998 they have no end on that side.

        Args:
            confidence_level: Above 0 and at most 0.9999; by default the estimate's own.
            target: "population", from which the records were drawn, or "sample", these records, for which only the
                randomization counts.

        Returns:
            Both ends, within `limits`; NaN where there is no value.

        Raises:
            ParameterError: the level or the target is invalid.
        """
        level = float(check_level(self.confidence_level if confidence_level is None else confidence_level))
        among(target, "target", TARGETS)
        if not self.defined:
            return math.nan, math.nan
        low, high = self.limits
        sure = level + MISSED if self.method == "degrees" and self.private else level
        certain = sure > MOST_SURE
        below, above = self._ends(self._reach(level if certain else sure, target) + self.quantization)
        if certain:
            below, above = (-math.inf, above) if self.kernel == CollisionEntropy.name else (below, math.inf)
        return min(max(below, low), high), max(min(above, high), low)

    def test(
        self, other: UstatisticEstimate | None = None, *, alternative: Alternative = "two-sided"
    ) -> HypothesisTest:
        """Test for no relation, or that two estimates are of one value, with sampling and noise.

        Alone, Kendall's tau (also tau-b and gamma) is tested against 0 and an AUC against one half. Without noise that
        of tau has the p-value of `scipy.stats.kendalltau(method="asymptotic")`; with noise ties are not known, and
        p-values are upper bounds for ties. An AUC in which ties count nothing is below one half where there are ties,
        and is not to be tested.

        With another estimate of the same kernel, of different records, both values are tested to be equal: Gini of
        two groups, for example.

        Args:
            other: Of different records; None for the test of no relation.
            alternative: "two-sided", "greater" (a value above the other, or above what is expected) or "less".

        Raises:
            ParameterError: the alternative is unknown, the kernel has no value of no relation, the estimates are of
                different kernels, their sampling error is not known, or several records of a person were kept.

        Privacy:
            Post-processing.

        Source:
            docs/proofs/significance.md.
        """
        among(alternative, "alternative", ALTERNATIVES)
        check_independent_records(self.provenance)
        if other is None:
            return independence(self, alternative)
        if not isinstance(other, UstatisticEstimate):
            raise ParameterError(f"`other` must be an estimate of the same kernel, got {type(other).__name__}")
        check_independent_records(other.provenance)
        return equality(self, other, alternative)

    def _reach(self, level: float, target: Target) -> float:
        sampling = (self.sampling_error or 0.0) if target == "population" else 0.0
        if self.noise_is_laplace and not self.taken_as_normal:
            return laplace_reach(level, sampling, self.randomization_error)
        return normal_reach(level, math.hypot(self.randomization_error, sampling))

    def _ends(self, reach: float) -> tuple[float, float]:
        if self.kernel != CollisionEntropy.name:
            return self.value - reach, self.value + reach
        # noise is even in the probability p, and p times as large there as in -ln p
        return self.value - math.log1p(reach), self.value - math.log1p(-reach) if reach < 1 else math.inf

    def errors(self, truth: UstatisticEstimate) -> dict[str, float]:
        """Distance from the exact value of the same records.

        Returns:
            value: Released minus exact value, signed.
        """
        return {"value": self.value - truth.value}

    @property
    def title(self) -> str:
        """Title of the statistic."""
        name = TITLES.get(self.kernel, f"Mean of the kernel {self.kernel}")
        return f"{name} of {' and '.join(self.columns)}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data of an estimate; its errors of all parts together and its interval follow from the rest."""
        data = {name: getattr(self, name) for name in _FIELDS} | {
            "columns": list(self.columns),
            "value": self.value if self.defined else None,
            "means": [{name: getattr(mean, name) for name in _PARTS} for mean in self.means],
            "limits": finite(self.limits),
            "bins": list(self.bins),
            "classes": None if self.classes is None else list(self.classes),
        }
        source = {"provenance": None if self.provenance is None else self.provenance.to_dict()}
        null = {} if self.null_variance is None else {"null_variance": self.null_variance}
        return {"schema": self.schema, **data, **self._derived(), **source, **null}

    def _derived(self) -> dict[str, Any]:
        return {
            "sampling_is_a_bound": self.sampling_is_a_bound,
            "standard_error": self.standard_error,
            "total_error": self.total_error,
            "interval": list(self.interval()) if self.defined else None,
        }

    @classmethod
    def _read(cls, data: Any) -> Self:
        known = Fields.of(data, cls.schema, cls.article, _NEEDED)
        _need(data["method"] in METHODS, f"the method of {known.what} must be one of {', '.join(METHODS)}")
        columns, classes = _texts(known, "columns"), data["classes"]
        estimate = cls(
            kernel=known.text("kernel"),
            columns=columns,
            method=data["method"],
            value=math.nan if data["value"] is None else _number(known, "value"),
            means=tuple(map(_mean, _list(known, "means"))),
            randomization_error=_error(known, "randomization_error"),
            sampling_error=None if data["sampling_error"] is None else _error(known, "sampling_error"),
            quantization=_error(known, "quantization"),
            limits=_limits(data["limits"]),
            bins=_sizes(known, "bins", least=1),
            records=_records(data["records"]),
            classes=None if classes is None else _sizes(known, "classes", least=0),
            clipped=known.flag("clipped"),
            confidence_level=known.chance("confidence_level"),
            provenance=known.provenance(*(() if classes is None else columns[-1:])),
            null_variance=_error(known, "null_variance") if "null_variance" in data else None,
        )
        for result in (estimate, dataclasses.replace(estimate, taken_as_normal=True)):
            wrong = result._contradiction(data)
            if wrong is None:
                return result
        raise DataError(f"the field {quoted(wrong)} of {known.what} contradicts the others")

    def _contradiction(self, data: dict[str, Any]) -> str | None:
        """Which derived field does not follow from the rest."""
        for name, derived in self._derived().items():
            written, expected = (each if isinstance(each, list) else [each] for each in (data[name], derived))
            fits = len(written) == len(expected) and all(
                one is other or (is_number(one) and is_number(other) and math.isclose(one, other, rel_tol=1e-9))
                for one, other in zip(written, expected, strict=True)
            )
            if not fits:
                return name
        return None


# --- Hypothesis tests with the noise of the release
#
# Independence: the variance of the exact statistic is known from the numbers of records up to ties, which only make it
# smaller; where these are private the estimated sampling error takes its place. Equality: the difference of two
# estimates is 0, up to both errors and the most that rounding can have moved either. Counts and reports add up many
# variables, which is close to normal; where few counts have Laplace noise the larger of the p-values by both laws
# counts. Values of disjoint pairs of people have Student's law. Source: docs/proofs/significance.md.

TAU = ("kendall", "kendall_b", "gamma")
AUC = ("auc", "auc_private")


@dataclass(frozen=True)
class _Law:
    """Noise as independent parts: a normal one, and Laplace ones with these standard deviations."""

    normal: float
    laplace: tuple[float, ...] = ()

    def plus(self, other: _Law) -> _Law:
        return _Law(math.hypot(self.normal, other.normal), (*self.laplace, *other.laplace))


def _compared(
    distance: float, sampling: float, laws: tuple[_Law, ...], degrees: int | None, alternative: Alternative
) -> tuple[float, float]:
    """Standard deviation of a distance and its p-value, the largest of all laws, or with `degrees` of freedom."""
    deviation = math.hypot(sampling, math.hypot(laws[0].normal, *laws[0].laplace))
    if math.isnan(distance) or (degrees is not None and not deviation):
        return deviation, math.nan
    if degrees is None:
        chances = [
            exact_p_value(distance, math.hypot(sampling, law.normal), np.array(law.laplace) / math.sqrt(2), alternative)
            for law in laws
        ]
        return deviation, max(chances)
    ratio = distance / deviation
    if alternative == "two-sided":
        return deviation, float(2 * stdtr(degrees, -abs(ratio)))
    return deviation, float(stdtr(degrees, -ratio if alternative == "greater" else ratio))


def tests_alone(estimate: UstatisticEstimate) -> bool:
    """Whether the measure has a null hypothesis of its own, and the estimate is enough to test it."""
    return (
        estimate.kernel in TAU + AUC
        and testable(estimate.provenance)
        and estimate.defined
        and bool(estimate.means or estimate.method == "hierarchy")
        and (_variance(estimate) is not None or estimate.sampling_error is not None or estimate.sampling_is_included)
    )


def independence(estimate: UstatisticEstimate, alternative: Alternative) -> HypothesisTest:
    """Test that two columns are independent, or that scores of two classes are distributed alike."""
    if estimate.kernel not in TAU + AUC:
        raise ParameterError(
            f"{estimate.title} has no value that tells of no relation; test that two estimates of it are equal, "
            "`estimate.test(other)`, or test a Kendall's tau or an AUC"
        )
    tau, first = estimate.kernel in TAU, estimate.columns[0]
    last = estimate.columns[-1]
    text = f"{first} and {last} are independent" if tau else f"{first} is distributed alike in both classes of {last}"
    variance = _variance(estimate)
    expected = 0.0 if tau else 0.5
    if variance is None:
        statistic, unit = estimate.value, 1.0
        distance, sampling = estimate.value - expected, _sampling(estimate)
        laws = _laws(estimate, estimate.randomization_error)
        name, counted = estimate.kernel, "estimated sampling error"
    else:
        sampling = math.sqrt(variance)
        distance, laws, statistic, unit = _of_means(estimate)
        name = "Kendall's tau-a" if tau else "AUC"
        counted = "variance of sampling under the null hypothesis, " + (
            "with ties" if estimate.null_variance is not None else "without ties, which would make it smaller"
        )
    deviation, chance = _compared(distance, sampling, laws, _freedom(estimate), alternative)
    note = counted + _noise_words(estimate)
    return HypothesisTest(
        text, name, statistic, expected, deviation / unit, chance, alternative, note, estimate.provenance
    )


def equality(one: UstatisticEstimate, other: UstatisticEstimate, alternative: Alternative) -> HypothesisTest:
    """Test that two estimates of different records have one value."""
    if other.kernel != one.kernel:
        raise ParameterError(f"{one.title} can be compared with an estimate of the same kernel, {one.kernel}, only")
    distance = one.value - other.value
    moved = one.quantization + other.quantization
    if alternative == "two-sided":
        shrunk = math.copysign(max(abs(distance) - moved, 0.0), distance) if not math.isnan(distance) else math.nan
    else:
        shrunk = distance - moved if alternative == "greater" else distance + moved
    pairs = itertools.product(*(_laws(each, each.randomization_error) for each in (one, other)))
    sampling = math.hypot(*(_sampling(each) if each.defined else 0.0 for each in (one, other)))
    known = [degrees for each in (one, other) if (degrees := _freedom(each)) is not None]
    laws = tuple(first.plus(second) for first, second in pairs)
    deviation, chance = _compared(shrunk, sampling, laws, min(known, default=None), alternative)
    missed = MISSED * sum(each.method == "degrees" for each in (one, other))  # of values that were clipped
    private = one if one.private else other
    rounding = f"; rounding may account for {moved:.2g}" if moved else ""
    text = f"{one.title} is the same for both groups of records"
    chance = min(1.0, chance + missed)
    note = f"estimated sampling errors{_noise_words(private)}{rounding}"
    source = private.provenance
    return HypothesisTest(text, "difference", distance, 0.0, deviation, chance, alternative, note, source)


def _of_means(estimate: UstatisticEstimate) -> tuple[float, tuple[_Law, ...], float, float]:
    """The distance in terms of the first mean, laws of its noise, the statistic that is shown, and its unit."""
    if estimate.kernel in TAU:
        first = estimate.means[0]
        return first.value, _laws(estimate, first.randomization_error), first.value, 1.0
    if estimate.kernel == "auc":
        return estimate.value - 0.5, _laws(estimate, estimate.randomization_error), estimate.value, 1.0
    ordered, different = estimate.means
    if estimate.method in ("exact", "kernel"):
        laws = _laws(estimate, ordered.randomization_error, different.randomization_error / 2)
    else:
        laws = _laws(estimate, estimate.randomization_error * different.value)
    return ordered.value - different.value / 2, laws, estimate.value, different.value


def _variance(estimate: UstatisticEstimate) -> float | None:
    """Variance of what `_of_means` compares, or an upper bound of it; None where the number of records is private."""
    if not estimate.means and estimate.kernel != "auc":
        return None
    if estimate.null_variance is not None:
        return estimate.null_variance
    if estimate.sampling_is_included:
        return 0.0  # the error of disjoint pairs is that of everything
    if estimate.kernel == "auc":
        if estimate.classes is None or 0 in estimate.classes:
            return None
        negatives, positives = estimate.classes
        return in_order_variance(negatives, positives) / (negatives * positives) ** 2
    n = estimate.records
    if n is None or n < 2:
        return None
    pairs = n * (n - 1) / 2
    if estimate.kernel in TAU:
        return kendall_variance(n) / pairs**2
    different = estimate.means[1]
    most = min(different.value + 4 * different.randomization_error, n / (2 * (n - 1)))
    return max(most, 0.0) * (n + 1) / (6 * n * (n - 1))


def _sampling(estimate: UstatisticEstimate) -> float:
    if estimate.sampling_is_included:
        return 0.0
    if estimate.sampling_error is None:
        raise ParameterError(f"the sampling error of {estimate.title} is not known, so it cannot be tested")
    return estimate.sampling_error


def _laws(estimate: UstatisticEstimate, *errors: float) -> tuple[_Law, ...]:
    normal = _Law(math.hypot(*errors))
    if estimate.noise_is_laplace:
        return (_Law(0.0, tuple(errors)),)
    pure = estimate.provenance is not None and isinstance(estimate.provenance.price, PureDP)
    if estimate.method == "cells" and pure:
        return normal, _Law(0.0, tuple(errors))
    return (normal,)


def _freedom(estimate: UstatisticEstimate) -> int | None:
    if estimate.method != "paired" or not estimate.records:
        return None
    fewest = estimate.records // 2 if estimate.classes is None else min(estimate.classes)
    return max(1, fewest - 1)


def _noise_words(estimate: UstatisticEstimate) -> str:
    if not estimate.private:
        return ""
    shapes = ["Laplace" if law.laplace else "normal" for law in _laws(estimate, 1.0)]
    law = "Student's law" if _freedom(estimate) is not None else f"{' and '.join(shapes)} noise"
    return f"; {law} of the release"


# --- Plain data, which need not be trusted

METHODS = ("exact", "kernel", "cells", "degrees", "krr", "unary", "haar", "hierarchy", "paired")

_WHAT = UstatisticEstimate.article
_PARTS = ("kernel", "value", "randomization_error")  # of a mean
_FIELDS = tuple(field.name for field in dataclasses.fields(UstatisticEstimate))[:14]  # before the provenance
_NEEDED = (*_FIELDS, "sampling_is_a_bound", "standard_error", "total_error", "interval", "provenance")


def _need(fits: bool, text: str) -> None:
    if not fits:
        raise DataError(text)


def _list(known: Fields, name: str) -> list[Any]:
    values = known.data[name]
    fits = isinstance(values, list) and len(values) <= 1000
    _need(fits, f"the field {quoted(name)} of {_WHAT} must be a list of at most 1000")
    return list(values)


def _texts(known: Fields, name: str) -> tuple[str, ...]:
    values = known.data[name]
    fits = isinstance(values, list) and 1 <= len(values) <= 1000 and all(map(is_text, values))
    _need(fits, f"the {name} of {known.what} must be a list of short texts")
    return tuple(values)


def _number(known: Fields, name: str) -> float:
    value = known.data[name]
    _need(is_number(value), f"the field {quoted(name)} of {_WHAT} must be a finite number, got {quoted(value)}")
    return float(value)


def _error(known: Fields, name: str) -> float:
    value = _number(known, name)
    _need(value >= 0, f"the field {quoted(name)} of {_WHAT} must be at least 0")
    return value


def _mean(data: Any) -> KernelMean:
    fits = isinstance(data, dict) and set(data) == set(_PARTS)
    _need(fits, f"the means of {_WHAT} must be objects with 'kernel', 'value' and 'randomization_error'")
    _need(is_text(data["kernel"]), f"the kernel of a mean of {_WHAT} must be a short text")
    mean = Fields(data, _WHAT)
    error = _error(mean, "randomization_error")
    return KernelMean(data["kernel"], _number(mean, "value"), error)


def _limits(values: Any) -> tuple[float, float]:
    fits = isinstance(values, list) and len(values) == 2 and all(end is None or is_number(end) for end in values)
    _need(fits, f"the limits of {_WHAT} must be two numbers, or null where there is none")
    low, high = (end if each is None else float(each) for each, end in zip(values, (-math.inf, math.inf), strict=True))
    _need(low <= high, f"the limits of {_WHAT} must not decrease")
    return low, high


def _sizes(known: Fields, name: str, *, least: int) -> tuple[int, ...]:
    values = _list(known, name)
    fits = all(is_whole(value) and value >= least for value in values)
    _need(fits, f"the field {quoted(name)} of {_WHAT} must be a list of whole numbers from {least}")
    return tuple(values)


def _records(value: Any) -> int | None:
    fits = value is None or (is_whole(value) and value >= 0)
    _need(fits, f"the records of {_WHAT} must be a number of records or null")
    return cast(int | None, value)
