"""Hypothesis tests of statistics of pairs, with the noise of the release.

**Independence.** If two columns are independent Kendall's tau is 0, and if scores of two classes are distributed alike
the AUC is one half (ties half). The variance of the exact statistic is then known from the numbers of records alone, up
to ties, which only make it smaller (`kernels.null_variance`); without privacy ties are counted, else the p-value is an
upper bound for ties. Where the number of records is private the estimated sampling error takes its place.

**Equality.** Two estimates of different records have the same value if their difference is 0, up to both errors and
the most that rounding to bins can have moved either.

The noise is known from the release: one Laplace variable where a mean over pairs was measured under a pure guarantee,
a normal variable under another. Counts of bins and reports add up many variables, which is close to normal; where few
counts have Laplace noise the larger of the p-values by the normal and by the Laplace law is taken. Values of disjoint
pairs of people are as many as there are pairs, so that Student's law is taken for them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr

from ogive.core.arrays import Float64
from ogive.errors import ParameterError
from ogive.kernels import null_variance
from ogive.privacy import PureDP
from ogive.queries.kernels import MISSED
from ogive.statistics.significance import Alternative, HypothesisTest, p_value, testable
from ogive.statistics.ustatistic.estimate import UstatisticEstimate

TAU = ("kendall", "kendall_b", "gamma")
AUC = ("auc", "auc_private")
DRAWS = 9999

_SEED = 0x6E756C6C  # public and fixed
_DEVIATIONS = 4


@dataclass(frozen=True)
class _Law:
    """Noise as independent parts: a normal one, and Laplace ones with these standard deviations."""

    normal: float
    laplace: tuple[float, ...] = ()

    @property
    def deviation(self) -> float:
        return math.hypot(self.normal, *self.laplace)

    def plus(self, other: _Law) -> _Law:
        """The law of the sum."""
        return _Law(math.hypot(self.normal, other.normal), (*self.laplace, *other.laplace))

    def draws(self) -> Float64 | None:
        """Draws of the Laplace parts; None where there is none."""
        if not any(self.laplace):
            return None
        random = np.random.Generator(np.random.PCG64(_SEED))
        return np.asarray(np.sum([random.laplace(0.0, each / math.sqrt(2), DRAWS) for each in self.laplace], axis=0))


@dataclass(frozen=True)
class _Null:
    """What a statistic is compared with: its distance, the deviation of sampling, and the laws that its noise may have.

    Fields:
        degrees: Of freedom where errors were estimated from few values; None elsewhere.
    """

    distance: float
    sampling: float
    laws: tuple[_Law, ...]
    degrees: int | None = None

    @property
    def deviation(self) -> float:
        return math.hypot(self.sampling, self.laws[0].deviation)

    def p_value(self, alternative: Alternative) -> float:
        """The largest of all laws."""
        if math.isnan(self.distance):
            return math.nan
        if self.degrees is None:
            return max(
                p_value(self.distance, math.hypot(self.sampling, law.normal), law.draws(), alternative)
                for law in self.laws
            )
        if not self.deviation:
            return math.nan
        distance = self.distance / self.deviation
        if alternative == "two-sided":
            return float(2 * stdtr(self.degrees, -abs(distance)))
        return float(stdtr(self.degrees, -distance if alternative == "greater" else distance))


def tests_alone(estimate: UstatisticEstimate) -> bool:
    """Whether the measure has a null hypothesis of its own, and the estimate tells enough to test it."""
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
    said = f"{first} and {last} are independent" if tau else f"{first} is distributed alike in both classes of {last}"
    variance = _variance(estimate)
    expected = 0.0 if tau else 0.5
    if variance is None:
        statistic, unit = estimate.value, 1.0
        null = _Null(estimate.value - expected, _sampling(estimate), _laws(estimate, estimate.randomization_error))
        name, counted = estimate.kernel, "estimated sampling error"
    else:
        null, statistic, unit = _of_means(estimate, math.sqrt(variance))
        name = "Kendall's tau-a" if tau else "AUC"
        counted = "variance of sampling under the null hypothesis, " + (
            "with ties" if estimate.null_variance is not None else "without ties, which would make it smaller"
        )
    null = replace(null, degrees=_degrees(estimate))
    return HypothesisTest(
        said,
        name,
        statistic,
        expected,
        null.deviation / unit,
        null.p_value(alternative),
        alternative,
        counted + _noise_words(estimate),
        estimate.provenance,
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
    known = [degrees for each in (one, other) if (degrees := _degrees(each)) is not None]
    null = _Null(shrunk, sampling, tuple(first.plus(second) for first, second in pairs), min(known, default=None))
    missed = MISSED * sum(each.method == "degrees" for each in (one, other))  # of values that were clipped
    private = one if one.private else other
    rounding = f"; rounding may account for {moved:.2g}" if moved else ""
    return HypothesisTest(
        f"{one.title} is the same for both groups of records",
        "difference",
        distance,
        0.0,
        null.deviation,
        min(1.0, null.p_value(alternative) + missed),
        alternative,
        f"estimated sampling errors{_noise_words(private)}{rounding}",
        private.provenance,
    )


def _of_means(estimate: UstatisticEstimate, sampling: float) -> tuple[_Null, float, float]:
    """The comparison in terms of the first mean, the statistic that is shown, and the unit of the comparison in it."""
    if estimate.kernel in TAU:
        first = estimate.means[0]
        laws = _laws(estimate, first.randomization_error)
        return _Null(first.value, sampling, laws), first.value, 1.0
    if estimate.kernel == "auc":
        laws = _laws(estimate, estimate.randomization_error)
        return _Null(estimate.value - 0.5, sampling, laws), estimate.value, 1.0
    ordered, different = estimate.means
    if estimate.method in ("exact", "kernel"):
        laws = _laws(estimate, ordered.randomization_error, different.randomization_error / 2)
    else:
        laws = _laws(estimate, estimate.randomization_error * different.value)
    return _Null(ordered.value - different.value / 2, sampling, laws), estimate.value, different.value


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
        return null_variance.pairs_in_order(negatives, positives) / (negatives * positives) ** 2
    n = estimate.records
    if n is None or n < 2:
        return None
    pairs = n * (n - 1) / 2
    if estimate.kernel in TAU:
        return null_variance.kendall(n) / pairs**2
    different = estimate.means[1]
    most = min(different.value + _DEVIATIONS * different.randomization_error, n / (2 * (n - 1)))
    return max(most, 0.0) * (n + 1) / (6 * n * (n - 1))


def _sampling(estimate: UstatisticEstimate) -> float:
    if estimate.sampling_is_included:
        return 0.0
    if estimate.sampling_error is None:
        raise ParameterError(f"the sampling error of {estimate.title} is not known, so it cannot be tested")
    return estimate.sampling_error


def _laws(estimate: UstatisticEstimate, *errors: float) -> tuple[_Law, ...]:
    """The laws that noise with these deviations of its independent parts may have."""
    normal = _Law(math.hypot(*errors))
    if estimate.noise_is_laplace:
        return (_Law(0.0, tuple(errors)),)
    pure = estimate.provenance is not None and isinstance(estimate.provenance.price, PureDP)
    if estimate.method == "cells" and pure:
        return normal, _Law(0.0, tuple(errors))
    return (normal,)


def _degrees(estimate: UstatisticEstimate) -> int | None:
    """Of freedom of errors that pairs of people show."""
    if estimate.method != "paired" or not estimate.records:
        return None
    fewest = estimate.records // 2 if estimate.classes is None else min(estimate.classes)
    return max(1, fewest - 1)


def _noise_words(estimate: UstatisticEstimate) -> str:
    if not estimate.private:
        return ""
    shapes: Sequence[str] = ["Laplace" if law.laplace else "normal" for law in _laws(estimate, 1.0)]
    law = "Student's law" if _degrees(estimate) is not None else f"{' and '.join(shapes)} noise"
    return f"; {law} of the release"
