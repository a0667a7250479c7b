"""A pairwise statistic with the three parts of its error: randomization, sampling and quantization."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from scipy.special import ndtri

from ogive.checks import among
from ogive.kernels.measures import CollisionEntropy
from ogive.provenance import CLEAR, Provenance
from ogive.statistics.base import OF_RANGE, Estimate
from ogive.statistics.confidence import TARGETS, Target, check_level

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
    """A pairwise statistic of some columns: Gini, Kendall's tau, an AUC ...

    Fields:
        kernel: Name of what was asked for, for example "kendall".
        columns: The columns that were looked at.
        method: How it was measured: "exact", "kernel", "cells", "krr", "unary", "haar", "hierarchy" or
            "paired".
        value: The statistic; NaN where it is undefined, since noise or the records leave nothing to divide by.
        means: Means of kernels that it was computed from; empty where it was computed from something else.
        randomization_error: Standard deviation of the noise, given the records; by the delta method where the value is
            a ratio of means.
        sampling_error: Standard deviation of the exact statistic of so many records around that of the
            population they came from, or a bound of it, as `sampling_is_a_bound` tells; None where it could not be
            estimated.
        quantization: How far rounding to bins may have moved the value, whatever the values within bins; estimated from
            the same answer. 0 where nothing was rounded.
        limits: Smallest and largest possible value.
        bins: Bins or categories of every column; empty where nothing was rounded to bins.
        records: Number of records; None where it is private.
        classes: Records of each class, where everybody may know them; else None.
        clipped: Whether a mean was moved to the nearest value for which the statistic is defined.
        confidence_level: Of the interval that is printed.
        provenance: What was released, at what price and under whose trust.
    """

    schema: ClassVar[str] = "ogive.ustatistic/1"
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

    @property
    def defined(self) -> bool:
        """Whether there is a value; noise, or records that are all alike, may leave a ratio without one."""
        return math.isfinite(self.value)

    @property
    def private(self) -> bool:
        """Whether the value carries noise."""
        return self.method != "exact" if self.provenance is None else self.provenance.trust != CLEAR

    @property
    def sampling_is_a_bound(self) -> bool:
        """Whether `sampling_error` is the most that it can be, because one mean does not tell how pairs vary."""
        return self.method in ("exact", "kernel")

    @property
    def sampling_is_included(self) -> bool:
        """Whether `randomization_error` has that of sampling in it: pairs without a common person do not tell which
        part of it is the sample's.
        """
        return self.method == "paired" and self.sampling_error is None

    @property
    def standard_error(self) -> float:
        """Standard deviation around the population's value, up to `quantization`, which is a bias.

        Counts randomization and sampling; randomization alone where `sampling_error` is None.
        """
        return math.hypot(self.randomization_error, self.sampling_error or 0.0)

    @property
    def total_error(self) -> float:
        """Root of the squares of `standard_error` and `quantization`: at most the root mean squared error.

        Counts no sampling where `sampling_error` is None.
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
        """Whether the value is one that records can have, but for rounding; noise moves it anywhere."""
        low, high = self.limits
        if not self.private or not self.defined or low <= self.value <= high:
            return True
        return any(math.isclose(self.value, limit, rel_tol=1e-9, abs_tol=1e-12) for limit in self.limits)

    def interval(self, confidence_level: Any = None, *, target: Target = "population") -> tuple[float, float]:
        """Confidence interval by the normal approximation, widened by `quantization` on either side.

        That of a collision entropy is the one of the probability whose logarithm it is. In trials of 95 % intervals
        from reports, 93 to 97 of 100 held the truth; more where a ratio's denominator is noisy, and down to 88 for
        Gini's mean difference where noise is a tenth to a sixth of the range (docs/proofs/pairwise.md says why).

        Args:
            confidence_level: Above 0 and at most 0.9999; by default the estimate's own.
            target: "population", which the records were drawn from, or "sample": these very records, for which
                only the randomization counts.

        Returns:
            Both ends, within `limits`; NaN where there is no value.

        Raises:
            ParameterError: the level or the target is none.
        """
        level = float(check_level(self.confidence_level if confidence_level is None else confidence_level))
        among(target, "target", TARGETS)
        if not self.defined:
            return math.nan, math.nan
        error = self.standard_error if target == "population" else self.randomization_error
        reach = float(ndtri((1 + level) / 2)) * error + self.quantization
        low, high = self.limits
        below, above = self._ends(reach)
        return min(max(below, low), high), max(min(above, high), low)

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
        """What was measured, in a few words."""
        name = TITLES.get(self.kernel, f"Mean of the kernel {self.kernel}")
        return f"{name} of {' and '.join(self.columns)}"
