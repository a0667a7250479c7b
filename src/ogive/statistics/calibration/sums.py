"""From noisy group sums to expected and observed counts that agree, and to the statistic; all linear but the last.

Expected and observed counts of a group add up to the same number of records. Where four sums were measured
with equal noise, r = (E0 + E1) - (O0 + O1) is noise only, and the best linear correction takes r / 4 from each
E and gives it to each O; then D1 = O1 - E1 = -D0 with half the variance. Where the number n of all records is
public, (n - sum of all groups) / (2 Q) is added to every expected and observed count, again the best linear
correction; it leaves D as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.noise import DiscreteGaussian, DiscreteLaplace, KeyedSource
from ogive.queries import GroupSumsQuery

GroupLaw = DiscreteLaplace | DiscreteGaussian

Constants = Literal["exact", "paper"]
CONSTANTS: tuple[Constants, ...] = get_args(Constants)


@dataclass(frozen=True)
class Sums:
    """Counts of the groups in records, shape (..., 2, Q), the negatives first.

    Fields:
        expected: Sums of 1 - p and of p.
        difference: Observed minus expected counts of both classes.
    """

    expected: Float64
    difference: Float64

    @property
    def observed(self) -> Float64:
        """Counts of labels 0 and 1."""
        return self.expected + self.difference


@dataclass(frozen=True)
class Measured:
    """What was measured of the groups, apart from the numbers.

    Fields:
        form: "counts" (four sums a group) or "difference" (three).
        bits: Fractional bits of what is not a count.
        expected, observed: Noise as in `GroupSumsQuery`; None where there is none.
        constants: "exact" makes sums agree; "paper" leaves them as measured.
    """

    form: str
    bits: int
    expected: GroupLaw | None
    observed: GroupLaw | None
    constants: str = "exact"

    @staticmethod
    def of(query: GroupSumsQuery, *, noisy: bool, constants: str) -> Measured:
        """Describe what a group sums query measures."""
        expected, observed = (query.expected, query.observed) if noisy else (None, None)
        return Measured(query.form, query.groups.bits, expected, observed, constants)

    @property
    def rows(self) -> int:
        """Number of measurements in each group."""
        return 4 if self.form == "counts" else 3

    @property
    def difference_variance(self) -> float:
        """Variance of the noise on each group's observed minus expected count."""
        fine = 4.0**-self.bits
        if self.expected is None or self.observed is None:
            return 0.0
        if self.form == "difference":
            return self.observed.variance * fine
        return (self.expected.variance * fine + self.observed.variance) / (2 if self.constants == "exact" else 1)

    @property
    def expected_variance(self) -> float:
        """Variance of the noise on each expected count, before a public total is used."""
        if self.expected is None:
            return 0.0
        agreed = self.form == "counts" and self.constants == "exact"
        return self.expected.variance * 4.0**-self.bits * (0.75 if agreed else 1.0)

    def consistent(self, values: Int64, total: int | None) -> Sums:
        """Make measurements of shape (..., 4 or 3, Q) agree: expected counts and differences."""
        fine = 2.0**-self.bits
        expected: Float64
        difference: Float64
        expected = np.multiply(values[..., :2, :], fine)
        groups = values.shape[-1]
        if self.form == "difference":
            change = values[..., 2, :] * fine
            difference = np.stack([-change, change], axis=-2)
        else:
            observed = values[..., 2:, :].astype(np.float64)
            if self.constants == "exact":
                excess = (expected.sum(axis=-2) - observed.sum(axis=-2))[..., None, :]
                expected = expected - excess / 4
                observed = observed + excess / 4
                change = (observed[..., 1, :] - observed[..., 0, :] + expected[..., 0, :] - expected[..., 1, :]) / 2
                difference = np.stack([-change, change], axis=-2)
            else:
                difference = observed - expected
        if total is not None and self.constants == "exact":
            lacking = total - expected.sum(axis=(-2, -1))
            expected = expected + lacking[..., None, None] / (2 * groups)
        return Sums(expected, difference)

    def noise(self, runs: int, groups: int, source: KeyedSource) -> Int64:
        """Independent draws of the noise of a whole release, shape (runs, 4 or 3, Q)."""
        if self.expected is None or self.observed is None:
            return np.zeros((runs, self.rows, groups), dtype=np.int64)
        parts = (
            law.sample(runs * rows * groups, source=source).reshape(runs, rows, groups)
            for law, rows in ((self.expected, 2), (self.observed, self.rows - 2))
        )
        return np.concatenate(list(parts), axis=1)


def statistic(difference: Float64, expected: Float64, floor: float) -> Float64:
    """Sum over groups and classes of difference^2 / max(expected, floor), shape (...)."""
    found: Float64 = np.sum(difference**2 / np.maximum(expected, floor), axis=(-2, -1))
    return found


def debiased(difference: Float64, expected: Float64, floor: float, variance: float) -> float:
    """The statistic with every squared difference lowered by the variance of its noise, at least to 0."""
    return float(np.sum(np.maximum(0.0, difference**2 - variance) / np.maximum(expected, floor)))
