"""A pairwise statistic with the three parts of its error: randomization, sampling and quantization."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

from scipy.special import log_ndtr, ndtr, ndtri

from ogive.core.checks import among
from ogive.core.rooms import room
from ogive.errors import DataError, ParameterError, quoted
from ogive.kernels.measures import CollisionEntropy
from ogive.privacy import PureDP
from ogive.provenance import CLEAR, Provenance
from ogive.queries.kernels import MISSED
from ogive.statistics.base import OF_RANGE, Estimate
from ogive.statistics.confidence import TARGETS, Target, check_level
from ogive.statistics.plain_json import Fields, finite, is_number, is_text, is_whole
from ogive.statistics.significance import ALTERNATIVES, Alternative, HypothesisTest, check_independent_records

# --- The reach of an interval, for a normal error with a Laplace part
#
# Let S be normal with mean 0 and deviation s, and E Laplace of scale b, independent of S. Then, for t >= 0,
#
#     P(S + E > t) = Q(t / s) + (exp(a - t / b) Phi(t / s - s / b) - exp(a + t / b) Q(t / s + s / b)) / 2,
#
# with a = s^2 / 2b^2, Phi the distribution function of a standard normal variable and Q = 1 - Phi.

_NEGLIGIBLE = 1e-3
"""Below this part of the normal deviation a Laplace scale changes the quantile by less than 1e-11 of itself."""


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

MOST_SURE = 1 - MISSED
"""Level from which intervals that may miss a clipped value have one end."""


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
        if sure > MOST_SURE:
            below, above = self._ends(self._reach(level, target) + self.quantization)
            below, above = (-math.inf, above) if self.kernel == CollisionEntropy.name else (below, math.inf)
        else:
            below, above = self._ends(self._reach(sure, target) + self.quantization)
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
            return cast(HypothesisTest, room(type(self), "null").independence(self, alternative))
        if not isinstance(other, UstatisticEstimate):
            raise ParameterError(f"`other` must be an estimate of the same kernel, got {type(other).__name__}")
        check_independent_records(other.provenance)
        return cast(HypothesisTest, room(type(self), "null").equality(self, other, alternative))

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

    # Plain data, which need not be trusted

    def to_dict(self) -> dict[str, Any]:
        """Plain data of an estimate; its errors of all parts together and its interval follow from the rest."""
        return {
            "schema": self.schema,
            "kernel": self.kernel,
            "columns": list(self.columns),
            "method": self.method,
            "value": self.value if self.defined else None,
            "means": [
                {"kernel": mean.kernel, "value": mean.value, "randomization_error": mean.randomization_error}
                for mean in self.means
            ],
            "randomization_error": self.randomization_error,
            "sampling_error": self.sampling_error,
            "quantization": self.quantization,
            "limits": finite(self.limits),
            "bins": list(self.bins),
            "records": self.records,
            "classes": None if self.classes is None else list(self.classes),
            "clipped": self.clipped,
            "confidence_level": self.confidence_level,
            **self._derived(),
            "provenance": None if self.provenance is None else self.provenance.to_dict(),
            **({} if self.null_variance is None else {"null_variance": self.null_variance}),
        }

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
        if data["method"] not in METHODS:
            raise DataError(f"the method of {known.what} must be one of {', '.join(METHODS)}")
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
        """Which field of those that people read does not follow from the rest."""
        for name, wanted in self._derived().items():
            got = data[name]
            written, expected = ([each] if not isinstance(each, list) else each for each in (got, wanted))
            fits = len(written) == len(expected) and all(
                one is other or (is_number(one) and is_number(other) and math.isclose(one, other, rel_tol=1e-9))
                for one, other in zip(written, expected, strict=True)
            )
            if not fits:
                return name
        return None


METHODS = ("exact", "kernel", "cells", "degrees", "krr", "unary", "haar", "hierarchy", "paired")

_WHAT = UstatisticEstimate.article
_MOST = 1000
_NEEDED = (
    "kernel", "columns", "method", "value", "means", "randomization_error", "sampling_error", "quantization", "limits",
    "bins", "records", "classes", "clipped", "confidence_level", "sampling_is_a_bound", "standard_error", "total_error",
    "interval", "provenance",
)  # fmt: skip


def _list(known: Fields, name: str) -> list[Any]:
    values = known.data[name]
    if not isinstance(values, list) or len(values) > _MOST:
        raise DataError(f"the field {quoted(name)} of {_WHAT} must be a list of at most {_MOST}")
    return values


def _texts(known: Fields, name: str) -> tuple[str, ...]:
    values = known.data[name]
    if not isinstance(values, list) or not 1 <= len(values) <= _MOST or not all(map(is_text, values)):
        raise DataError(f"the {name} of {known.what} must be a list of short texts")
    return tuple(values)


def _number(known: Fields, name: str) -> float:
    value = known.data[name]
    if not is_number(value):
        raise DataError(f"the field {quoted(name)} of {_WHAT} must be a finite number, got {quoted(value)}")
    return float(value)


def _error(known: Fields, name: str) -> float:
    value = _number(known, name)
    if value < 0:
        raise DataError(f"the field {quoted(name)} of {_WHAT} must be at least 0")
    return value


def _mean(data: Any) -> KernelMean:
    if not isinstance(data, dict) or set(data) != {"kernel", "value", "randomization_error"}:
        raise DataError(f"the means of {_WHAT} must be objects with 'kernel', 'value' and 'randomization_error'")
    if not is_text(data["kernel"]):
        raise DataError(f"the kernel of a mean of {_WHAT} must be a short text")
    mean = Fields(data, _WHAT)
    error = _error(mean, "randomization_error")
    return KernelMean(data["kernel"], _number(mean, "value"), error)


def _limits(values: Any) -> tuple[float, float]:
    if not isinstance(values, list) or len(values) != 2 or not all(end is None or is_number(end) for end in values):
        raise DataError(f"the limits of {_WHAT} must be two numbers, or null where there is none")
    low = -math.inf if values[0] is None else float(values[0])
    high = math.inf if values[1] is None else float(values[1])
    if not low <= high:
        raise DataError(f"the limits of {_WHAT} must not decrease")
    return low, high


def _sizes(known: Fields, name: str, *, least: int) -> tuple[int, ...]:
    values = _list(known, name)
    if not all(is_whole(value) and value >= least for value in values):
        raise DataError(f"the field {quoted(name)} of {_WHAT} must be a list of whole numbers from {least}")
    return tuple(values)


def _records(value: Any) -> int | None:
    if value is not None and not (is_whole(value) and value >= 0):
        raise DataError(f"the records of {_WHAT} must be a number of records or null")
    return value
